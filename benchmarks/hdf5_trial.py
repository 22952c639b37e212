"""What the trial of an HDF5 file in a process of its own adds to reading it.

``python benchmarks/hdf5_trial.py | python benchmarks/record.py hdf5_trial``

Processor seconds of the process that walks through the file, least of three, and of reading the same file
as a table, from a disk cache that is warm. The large file has 1.25e8 entries, 1 GB of values and indices.
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
from anndata import AnnData
from scipy import sparse

from ufselect.io import ReadOptions, read_table, trial

N_COLUMNS = 20_000
SIZES = {"small": (200, 0.1), "large": (62_500, 0.1)}


def write(path: Path, n_rows: int, density: float, compression: str | None) -> None:
    """Write counts; each row holds as many, at places that move from row to row."""
    per_row = int(density * N_COLUMNS)
    places = np.arange(per_row, dtype=np.int32) * (N_COLUMNS // per_row)
    shifts = np.arange(n_rows, dtype=np.int32) % (N_COLUMNS // per_row)
    indices = (places + shifts[:, None]).ravel()
    values = np.resize(np.random.default_rng(0).poisson(2, 100_003).astype(np.float32), indices.size)
    indptr = np.arange(0, indices.size + 1, per_row, dtype=np.int64)
    AnnData(sparse.csr_matrix((values, indices, indptr), shape=(n_rows, N_COLUMNS))).write_h5ad(
        path, compression=compression
    )


def walk_seconds(path: Path) -> float:
    """Return the processor time of a trial."""
    trial._ended.cache_clear()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    trial.try_file(path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def read_seconds(path: Path) -> float:
    """Return the processor time of reading, without the trial."""
    started = time.process_time()
    read_table(path, ReadOptions(guess=False))
    return time.process_time() - started


def main() -> None:
    print(f"# Trial of HDF5 files\n\nh5py {h5py.__version__}, HDF5 {h5py.version.hdf5_version}\n")
    print("| file | MB | trial, s | reading, s |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.h5ad"
        for size, (n_rows, density) in SIZES.items():
            for compression in (None, "gzip"):
                write(path, n_rows, density, compression)
                walked = min(walk_seconds(path) for _ in range(3))
                name = f"{size}, {compression or 'not compressed'}"
                megabytes = path.stat().st_size / 1e6
                print(f"| {name} | {megabytes:.0f} | {walked:.2f} | {read_seconds(path):.1f} |", flush=True)
                path.unlink()


if __name__ == "__main__":
    main()
