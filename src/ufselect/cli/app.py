"""The commands, and errors in one sentence."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Annotated

import typer

from ufselect.cli import apply, compare, demo, score, select
from ufselect.cli.options import with_records
from ufselect.cli.text import say

app = typer.Typer(
    name="ufselect",
    help="Select a small, informative subset of columns from unlabelled data.",
    epilog="Start with: ufselect demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
commands = (demo.demo, select.select, score.score, apply.apply, apply.reconstruct, compare.compare)
for command in commands:
    app.command()(with_records(command))


@app.callback(invoke_without_command=True)
def _program(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from ufselect import __version__

        sys.stdout.write(f"ufselect {__version__}\n")
        raise typer.Exit


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code: 0 fine, 1 failed, 2 wrongly called."""
    for stream in (sys.stdout, sys.stderr):  # write what their encoding lacks as escapes instead of failing
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(args=arguments, prog_name="ufselect")
    except (SystemExit, KeyboardInterrupt) as end:
        stop: BaseException | None = end
        while stop is not None and not isinstance(stop, KeyboardInterrupt):
            stop = stop.__context__  # typer turns an interrupt into an exit that says nothing
        if stop is None:
            code = getattr(end, "code", None)
            return code if isinstance(code, int) else int(code is not None)
        files = getattr(stop, "written", ())
        complete = f"these files are complete: {', '.join(map(str, files))}." if files else ""
        say(f"Interrupted; {complete or 'nothing was written.'}", fg="red")
        return 130  # 128 + the signal, as shells count
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exception(error)
        else:
            say(sentence_of(error), fg="red")
        return 1
    return 0


def sentence_of(error: Exception) -> str:
    """Return what went wrong and what to do."""
    if isinstance(error, MemoryError):
        return "Error: the data do not fit in memory; use fewer columns, or --stream for csv and parquet."
    if isinstance(error, OSError) and error.strerror:
        advice = "check the name and your permissions."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            advice = "free some space or choose another folder. Nothing was written."
        return f"Error: {error.filename or 'standard output'}: {error.strerror.lower()}; {advice}"
    text = " ".join(str(error).split())
    if isinstance(error, ValueError | ImportError | OSError | TypeError) and text:
        return f"Error: {text}"
    return (
        f"Error: {type(error).__name__}: {text}; run again with --debug to see where, and please report it."
    )
