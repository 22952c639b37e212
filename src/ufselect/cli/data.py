"""The table that a command works on: a file, standard input or a data set by name; and where it writes."""

from __future__ import annotations

import atexit
import shutil
import sys
import zipfile
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from tempfile import mkdtemp
from threading import Timer
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ufselect.io import Table

FILE_KINDS = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"PK\x03\x04": ".npz", b"\x89HDF": ".h5ad"}
WAIT = 3.0  # seconds without data after which it is said what is waited for


def check_data(name: str) -> None:
    """Refuse a table that is neither a file nor a data set, before anything heavy is imported."""
    from ufselect.datasets.catalogue import names
    from ufselect.exceptions import TableError

    if name == "-" or Path(name).exists() or name in names():
        return
    close = get_close_matches(name.lower(), names(), n=1)
    advice = f"did you mean the data set {close[0]}?" if close else "check the name and the folder."
    raise TableError(f"There is no file {name}; {advice}")


def check_files(
    files: Mapping[str, Path | None], force: bool, data: str | None, as_json: bool = False
) -> None:
    """Refuse outputs, given by their options, that cannot be written or would mix on standard output."""
    from ufselect.io.files import check_outputs

    for option, path in files.items():
        if str(path) == "-" and option != "-o":
            words = "it needs the name of a file; only the table goes to standard output (-o -)."
            raise typer.BadParameter(words, param_hint=option)
    if as_json and str(files.get("-o")) == "-":
        words = "-o - writes the table to standard output too; give -o a file, or --record one for the JSON."
        raise typer.BadParameter(words, param_hint="--json")
    named = [path for path in files.values() if path is not None and str(path) != "-"]
    check_outputs(named, force, None if data is None else Path(data))


def open_data(name: str, *arguments: Any, **options: Any) -> Table:
    """Read a file, standard input or a data set by name, as :func:`~ufselect.pipeline.read_data` does."""
    from ufselect.cli.text import working
    from ufselect.pipeline import read_data

    path = local_file(name)
    with working(f"Reading {path.name} …" if path.exists() else f"Loading {name} …"):
        return read_data(path, *arguments, **options)


def local_file(name: str) -> Path:
    """Return the path of a file; store standard input or a named pipe in a temporary one."""
    from ufselect.cli.text import say, working
    from ufselect.io.files import MAGIC

    if name != "-" and not Path(name).is_fifo():
        return Path(name)
    waiting = Timer(WAIT, say, [f"Waiting for data from {'standard input' if name == '-' else name} …"])
    waiting.daemon = True
    with working("Reading …"):
        folder = mkdtemp(prefix="ufselect-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder) / ("standard-input" if name == "-" else "pipe")
        waiting.start()
        with sys.stdin.buffer if name == "-" else open(name, "rb") as stream, path.open("wb") as file:
            file.write(stream.read(1))
            waiting.cancel()
            shutil.copyfileobj(stream, file)
    with path.open("rb") as file:
        start = file.read(8)
    packing = next((ending for magic, ending in MAGIC.items() if start.startswith(magic)), "")
    kind = next((ending for magic, ending in FILE_KINDS.items() if start.startswith(magic)), ".csv")
    if kind == ".npz":
        with zipfile.ZipFile(path) as archive:
            kind = ".xlsx" if "[Content_Types].xml" in archive.namelist() else kind
    return path.rename(path.with_name(f"{path.name}{kind}{packing}"))
