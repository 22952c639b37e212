"""The commands, gathered; errors, said in one sentence."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from ufselect.cli.commands import compare, datasets, demo, report, reproduce, select, tune
from ufselect.cli.console import errors
from ufselect.cli.environment import show_version
from ufselect.cli.flags import with_flags
from ufselect.cli.sharing import with_debug
from ufselect.io import TableError

app = typer.Typer(
    name="ufselect",
    help="Unsupervised feature selection: keep the few columns that carry a table's structure.",
    epilog="Start with: ufselect demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo.demo,
    select.select,
    tune.tune,
    compare.compare,
    reproduce.reproduce,
    report.report,
    datasets.datasets,
):
    app.command()(with_debug(command))


@app.callback(invoke_without_command=True)
def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version; with -v the environment.")
    ] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="With --version: say more.")] = False,
) -> None:
    if version:
        show_version(verbose)
        raise typer.Exit


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code: 0 fine, 1 failed, 2 wrongly called."""
    try:
        app(args=arguments, prog_name="ufselect")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        errors().print("Interrupted.", style="red")
        return 130
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        sys.stderr.close()
        return 0
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exception(error)
        else:
            _say(_sentence(error))
        return 1
    return 0


def _say(sentence: str) -> None:
    errors().print(sentence, style="red", markup=False, highlight=False, soft_wrap=True)


def _sentence(error: Exception) -> str:
    """Return what went wrong and what to do, on one line."""
    if isinstance(error, MemoryError):
        return (
            "Error: the data do not fit in memory; use fewer columns or rows, or store them as float32 .npy."
        )
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"Error: {error.filename}: {error.strerror.lower()}; check the name and your rights to it."
    worded = with_flags(error.sentence) if isinstance(error, TableError) else str(error)
    text = " ".join(worded.split())
    if isinstance(error, ValueError | ImportError | OSError | TypeError) and text:
        return f"Error: {text}"
    return (
        f"Error: {type(error).__name__}: {text}; run again with --debug to see where, and please report it."
    )
