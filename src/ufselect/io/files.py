"""Writes files whole or not at all, several together, and never over others unasked."""

from __future__ import annotations

import os
import platform
import signal
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ufselect.common.wording import Sentence, Setting
from ufselect.exceptions import TableError

Write = Callable[[Path], Any]
MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"


def check_outputs(paths: Iterable[Path | None], force: bool, source: Path | None = None) -> None:
    """Refuse, before any long work, outputs that could not be written.

    Raises
    ------
    TableError
        If a folder is absent, a file exists and ``force`` is not given, or an output is the input.
    """
    seen: set[Path] = set()
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise TableError(f"{path} is a folder; name a file in it.")
        folder = path.absolute().parent
        if not folder.is_dir():
            raise TableError(f"The folder {folder} does not exist; create it first.")
        if not os.access(folder, os.W_OK):
            raise TableError(f"{path} cannot be written: the folder {folder} is read-only; choose another.")
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise TableError(f"{path} is the input; choose another name for the output.")
        if path.exists() and not force:
            raise TableError(_exists(path))
        if path.absolute() in seen:
            raise TableError(f"{path} is named for two outputs; give each a name of its own.")
        seen.add(path.absolute())


def _exists(path: Path) -> Sentence:
    return Sentence(
        f"{path} exists already; choose another name or add ", Setting("force", True), " to replace it."
    )


def write_together(outputs: Mapping[Path, Write], force: bool = False) -> None:
    """Write several files beside their targets, and move them there when all are complete.

    Raises
    ------
    TableError
        If a target has appeared and ``force`` is not given.
    OSError
        If there is no room or no right to write; it names the target.
    """
    with _temporaries(outputs) as temporaries:
        for path, write in outputs.items():
            with _naming(path):
                write(temporaries[path])
        for path in outputs:
            if path.exists() and not force:
                raise TableError(_exists(path))
        with _uninterrupted():
            for path, temporary in temporaries.items():
                temporary.chmod(0o666 & ~_umask())
                temporary.replace(path)


def write_atomically(path: Path, write: Write, force: bool = False) -> None:
    """Write one file whole or not at all."""
    write_together({path: write}, force)


def write_text(path: Path, text: str, force: bool = False) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_atomically(path, lambda target: target.write_text(text, encoding="utf-8"), force)


@contextmanager
def _temporaries(paths: Iterable[Path]) -> Iterator[dict[Path, Path]]:
    made: dict[Path, Path] = {}
    try:
        for path in paths:
            clear_leftovers(path.absolute().parent)
            with _naming(path):
                handle, name = tempfile.mkstemp(
                    dir=path.absolute().parent, prefix=_prefix(os.getpid()), suffix=path.suffix
                )
            os.close(handle)
            made[path] = Path(name)
        yield made
    finally:
        for temporary in made.values():
            temporary.unlink(missing_ok=True)


def _prefix(process: int | str) -> str:
    return f".ufselect-{MACHINE}-{process}-"


def clear_leftovers(folder: Path) -> None:
    """Remove unfinished files of earlier runs on this machine that were killed."""
    for file in folder.glob(f"{_prefix('*')}*"):
        if not _alive(int(file.name.split("-")[2])):
            with suppress(OSError):  # another run may clear it at the same time
                file.unlink()


def _alive(process: int) -> bool:
    if os.name == "nt":
        return True  # where signal 0 would interrupt the process instead of asking
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let an error name the file that was asked for instead of the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put an interrupt off until a few files have been moved, so that they appear together."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
