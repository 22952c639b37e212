"""The commands, gathered; errors, said in one sentence."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from ufselect.cli.commands import apply, compare, datasets, demo, report, reproduce, select, tune
from ufselect.cli.console import allow_any_text, say
from ufselect.cli.sharing import with_debug

INTERRUPTED, TERMINATED = 130, 143  # 128 + the signal, as shells count

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
    apply.apply,
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
        from ufselect.cli.environment import show_version

        show_version(verbose)
        raise typer.Exit


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code: 0 fine, 1 failed, 2 wrongly called."""
    allow_any_text()
    try:
        with _ending_on_terminate():
            app(args=arguments, prog_name="ufselect")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt as stop:
        files = getattr(stop, "written", ())
        written = (
            f"these files are complete: {', '.join(map(str, files))}." if files else "nothing was written."
        )
        say(f"Interrupted; {written}", style="red")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exception(error)
        else:
            say(sentence_of(error), style="red")
        return 1
    return 0


@contextmanager
def _ending_on_terminate() -> Iterator[None]:
    """End in order when told to, so that unfinished files are removed."""

    def end(number: int, frame: Any) -> None:
        raise SystemExit(TERMINATED)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # not in the main thread, where signals do not arrive anyway
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def sentence_of(error: Exception) -> str:
    """Return what went wrong and what to do."""
    from ufselect.cli.flags import with_flags

    if isinstance(error, MemoryError):
        return "Error: the data do not fit in memory; use fewer columns, or --stream for csv and parquet."
    if isinstance(error, OSError) and error.strerror:
        name = error.filename or "standard output"
        return f"Error: {name}: {error.strerror.lower()}; {_file_advice(error)}"
    text = " ".join(with_flags(getattr(error, "sentence", str(error))).split())
    if isinstance(error, ValueError | ImportError | OSError | TypeError) and text:
        return f"Error: {text}"
    return (
        f"Error: {type(error).__name__}: {text}; run again with --debug to see where, and please report it."
    )


def _file_advice(error: OSError) -> str:
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room or choose another place. Nothing was written."
    return "check the name and your rights to it."
