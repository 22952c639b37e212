"""Files as bytes: read compressed or damaged ones, and write files completely or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ufselect._utils.imports import import_extra
from ufselect.exceptions import TableError

MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
ENDINGS = tuple(MAGIC.values())
TEXT_WRITTEN = (".csv", ".tsv", ".txt")
WRITTEN = (".csv", ".tsv", ".parquet", ".npz", ".h5ad")
EXISTS = "{} exists already; choose another name or add --force to replace it."


def written_as(path: Path) -> tuple[str, str]:
    """Return the format that a file's ending names, and the ending of its compression."""
    name, packing = path, ""
    if path.suffix.lower() in ENDINGS:
        name, packing = path.with_suffix(""), path.suffix.lower()
    kind = name.suffix.lower()
    if kind in TEXT_WRITTEN or (kind in WRITTEN and not packing):
        return kind, packing
    raise TableError(
        f"{path} must end in {', '.join(WRITTEN)}; the ending selects the format. "
        f"Text can be compressed: .csv{', .csv'.join(ENDINGS)}."
    )


def packed_as(path: Path) -> str | None:
    """Return the ending that fits a file's first bytes, or None if it is not compressed."""
    with path.open("rb") as file:
        start = file.read(max(map(len, MAGIC)))
    return next((ending for magic, ending in MAGIC.items() if start.startswith(magic)), None)


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacking it on the way."""
    with path.open("rb") as raw, _unpacking(raw, packed_as(path)) as file:
        yield file


@contextmanager
def _unpacking(raw: IO[bytes], ending: str | None) -> Iterator[IO[bytes]]:
    openers: dict[str | None, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    if ending is None:
        yield raw
    elif ending == ".zst":
        pyarrow = import_extra("pyarrow", "Reading zst", "tables")
        with pyarrow.input_stream(raw, compression="zstd") as stream:
            yield io.BufferedReader(stream)
    else:
        with openers[ending](raw) as file:
            yield file


@contextmanager
def open_packing(path: Path, ending: str) -> Iterator[Any]:
    """Open a file for writing bytes, compressed by its ending; the same content gives the same bytes."""
    if ending == ".zst":
        pyarrow = import_extra("pyarrow", "Writing zst", "tables")
        with pyarrow.output_stream(str(path), compression="zstd") as stream:
            yield stream
    elif ending == ".gz":
        # no name and no time in the gzip header
        with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            yield packed
    else:
        writers: dict[str, Any] = {".bz2": bz2.open, ".xz": lzma.open}
        with writers.get(ending, open)(path, "wb") as file:
            yield file


def check_claim(n_bytes: int, path: Path, large: int = 2**30) -> None:
    """Refuse data of more than ``large`` bytes and 200 times its file, which no table reaches."""
    parts = path.rglob("*") if path.is_dir() else [path]
    if n_bytes > large and n_bytes > 200 * sum(part.stat().st_size for part in parts):
        raise TableError(
            f"{path} is damaged, or made to fill the memory: it unpacks to {n_bytes / 2**30:,.1f} GiB or "
            "more; write it again, in parts if it is really that large."
        )


def check_unpacked(path: Path, large: int = 2**28) -> None:
    """Refuse a compressed file that unpacks to far more than text does, before it is parsed.

    A small file is unpacked completely, a large one only as long as its ratio is suspicious.
    """
    size, ending = path.stat().st_size, packed_as(path)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            check_claim(sum(member.file_size for member in packed.infolist()), path, large)
    elif ending is not None:
        n_bytes = 0
        with path.open("rb") as raw, _unpacking(raw, ending) as file:
            while n_bytes <= 2 * large and (block := file.read(2**24)):
                n_bytes += len(block)
                if 100 * size > large and n_bytes < 100 * raw.tell():
                    return
            check_claim(n_bytes * size // raw.tell(), path, large)


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Turn any error of another library while it reads a file into one sentence with the file's name.

    Damaged bytes can raise errors of any type, so all are caught; the original error is the cause. Absent or
    forbidden files, missing extras, too little memory and our own errors pass unchanged.
    """
    try:
        yield
    except (TableError, ImportError, PermissionError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, FileNotFoundError) and not path.exists():
            raise  # if only a part is absent, such as of a zarr store, the file is damaged
        raise TableError(f"{path} is not a readable {kind} file; write or copy it again.") from error


def refuse_damage(damage: str | None, path: Path) -> None:
    """Raise an error that names the file if its sparse matrix is damaged."""
    if damage is not None:
        raise TableError(f"{path} holds a damaged sparse matrix: {damage}; write the file again.")


def check_stored(matrix: Any, path: Path) -> Any:
    """Return a matrix that was read from a file; refuse a sparse one with damaged index arrays."""
    from scipy import sparse  # heavy, and outputs are checked before

    from ufselect._utils.validation import sparse_damage

    if sparse.issparse(matrix):
        refuse_damage(sparse_damage(matrix), path)
        check_claim(8 * max(matrix.shape), path)  # converting it takes memory for each row and column
    return matrix


def check_outputs(paths: Iterable[Path | None], force: bool, source: Path | None = None) -> None:
    """Refuse, before any work, outputs that cannot be written or would replace other files."""
    seen: set[Path] = set()
    for path in paths:
        if path is None:
            continue
        folder, wrong = path.absolute().parent, None
        if path.is_dir():
            wrong = f"{path} is a folder; name a file in it."
        elif not folder.is_dir():
            wrong = f"The folder {folder} does not exist; create it first."
        elif not os.access(folder, os.W_OK):
            wrong = f"{path} cannot be written: the folder {folder} is read-only; choose another."
        elif source is not None and path.exists() and source.exists() and path.samefile(source):
            wrong = f"{path} is the input; choose another name for the output."
        elif path.exists() and not force:
            wrong = EXISTS.format(path)
        elif path.resolve() in seen:
            wrong = f"{path} is named for two outputs; give each a name of its own."
        if wrong is not None:
            raise TableError(wrong)
        seen.add(path.resolve())


def write_together(outputs: Mapping[Path, Callable[[Path], Any]], force: bool = False) -> None:
    """Write several files beside their targets, and move them there when all are complete."""
    made: dict[Path, Path] = {}
    try:
        for path, write in outputs.items():
            folder = path.absolute().parent
            try:
                handle, name = tempfile.mkstemp(dir=folder, prefix=".ufselect-", suffix=path.suffix)
                os.close(handle)
                made[path] = Path(name)
                write(made[path])
            except OSError as error:
                if error.errno is None:
                    raise
                # name the file that was asked for instead of the temporary one
                raise type(error)(error.errno, error.strerror, str(path)) from error
        for path in outputs:
            if path.exists() and not force:
                raise TableError(EXISTS.format(path))
        mask = os.umask(0)
        os.umask(mask)
        for path, temporary in made.items():
            temporary.chmod(0o666 & ~mask)
            temporary.replace(path)
    finally:
        for temporary in made.values():
            temporary.unlink(missing_ok=True)
