"""Fits to data beyond memory, on a local dask cluster of two workers with one thread each.

    python benchmarks/scale.py | python benchmarks/record.py scaling    # 8 GB on disk, some minutes
    python benchmarks/scale.py --scale 0.01                             # a hundredth of the rows

A tall table, a sparse one with many features and a wide one in memory are each compared with one product or
one PCA of the same data. The cost of the randomised route is then fitted to tables of five sizes. CPU seconds
are the total of workers and client; of two runs the faster one counts.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np
import zarr
from common import cpu_seconds, print_table
from scipy import sparse
from sklearn.decomposition import PCA

from ufselect import DSCOFS
from ufselect.exceptions import ApproximationWarning
from ufselect.gram import reduce_data

N_COMPONENTS = 10
COLUMNS = ("data", "fit of DSCOFS, CPU s", "compared with", "CPU s", "ratio", "peak of a worker, GB")


def cluster_seconds(client: distributed.Client, run: Callable[[], object]) -> float:
    """Return the CPU seconds of workers and client together."""
    before = sum(client.run(time.process_time).values()) + time.process_time()
    run()
    return sum(client.run(time.process_time).values()) + time.process_time() - before


def peak_gigabytes() -> float:
    """Return the largest resident memory of this process since it started."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def compared(
    client: distributed.Client, fit: Callable[[], object], other: Callable[[], object]
) -> tuple[float, float, float]:
    """Return CPU seconds of a fit and of what it is compared with, and the peak memory of a worker."""
    first = cluster_seconds(client, fit)
    peak = max(client.run(peak_gigabytes).values())  # before the other has run
    seconds = [cluster_seconds(client, other), cluster_seconds(client, other)]
    return min(first, cluster_seconds(client, fit)), min(seconds), peak


def structured_rows(index: int, n_rows: int, n_features: int) -> np.ndarray:
    """Return one block of low-rank data with noise and a mean."""
    rng = np.random.default_rng([index, n_features])
    loadings = np.random.default_rng(n_features).standard_normal((N_COMPONENTS, n_features), dtype=np.float32)
    scores = rng.standard_normal((n_rows, N_COMPONENTS), dtype=np.float32)
    scores *= np.geomspace(3, 1, N_COMPONENTS, dtype=np.float32)
    block = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    block += scores @ loadings
    block += 5
    return block


def dense_on_disk(folder: Path, n_samples: int, n_features: int) -> da.Array:
    """Write float32 data as uncompressed zarr chunks of about 100 MB, and open them."""
    path = folder / f"{n_samples}x{n_features}.zarr"
    rows = min(n_samples, max(1, 10**8 // (4 * n_features)))
    stored = zarr.create_array(
        path, shape=(n_samples, n_features), chunks=(rows, n_features), dtype="f4", compressors=None
    )
    for index, start in enumerate(range(0, n_samples, rows)):
        stop = min(start + rows, n_samples)
        stored[start:stop] = structured_rows(index, stop - start, n_features)
    return da.from_zarr(path)


def tall(client: distributed.Client, folder: Path, scale: float) -> Sequence[object]:
    n_samples, n_features = max(2_000, int(2_000_000 * scale)), 1_000
    X = dense_on_disk(folder, n_samples, n_features)
    selector = DSCOFS(100, n_components=N_COMPONENTS, entry_sparsity=0.05)
    selector.fit(X[: 2 * X.chunks[0][0]])  # imports
    fit, product, peak = compared(client, lambda: selector.fit(X), lambda: (X.T @ X).compute())
    name = f"{n_samples:,} × {n_features:,} float32, {X.nbytes / 1e9:.3g} GB on disk"
    return name, fit, "dask's `X.T @ X`", product, fit / product, peak


def write_sparse(path: Path, index: int, n_rows: int, n_features: int, n_stored: int) -> None:
    """Write one CSR block whose rows fall into ten groups with features of their own."""
    rng = np.random.default_rng(index)
    indices = rng.integers(0, n_features, (n_rows, n_stored), dtype=np.int32)
    own = rng.random((n_rows, n_stored)) < 0.3
    window = n_features // 40
    group = rng.integers(0, 10, n_rows, dtype=np.int32)[:, None] * window
    indices[own] = (group + indices % window)[own]
    values = 1 + rng.poisson(1.0, indices.shape).astype(np.float32)
    indptr = np.arange(n_rows + 1, dtype=np.int32) * n_stored
    block = sparse.csr_array((values.ravel(), indices.ravel(), indptr), shape=(n_rows, n_features))
    block.sum_duplicates()
    sparse.save_npz(path, block, compressed=False)


def apply_gram(block: sparse.csr_array, vectors: np.ndarray) -> np.ndarray:
    return block.T @ (block @ vectors)


def wide_sparse(client: distributed.Client, folder: Path, scale: float) -> Sequence[object]:
    rows, n_features = 20_000, 20_000
    paths = [folder / f"{index}.npz" for index in range(max(1, int(1_000_000 * scale) // rows))]
    for index, path in enumerate(paths):
        write_sparse(path, index, rows, n_features, n_features // 200)
    blocks = [dask.delayed(sparse.load_npz)(str(path)) for path in paths]
    meta = sparse.csr_array((0, 0), dtype=np.float32)
    X = da.concatenate([da.from_delayed(block, (rows, n_features), meta=meta) for block in blocks])
    vectors = np.random.default_rng(0).standard_normal((n_features, 20)).astype(np.float32)
    shared = client.scatter(vectors, broadcast=True)
    product = dask.delayed(sum)([dask.delayed(apply_gram)(block, shared) for block in blocks])
    selector = DSCOFS(200, n_components=9, entry_sparsity=0.005)  # ten groups differ in nine directions
    selector.fit(X[: 2 * rows])  # imports
    fit, once, peak = compared(client, lambda: selector.fit(X), lambda: dask.compute(product))
    passes = selector.reduction_.n_passes
    name = f"{len(paths) * rows:,} × {n_features:,} sparse, 0.5 % filled"
    return name, fit, f"{passes} products AᵀAW with 20 columns", passes * once, fit / once / passes, peak


def wide_dense(scale: float) -> Sequence[object]:
    n_samples, n_features = 1_000, max(2_000, int(500_000 * scale))
    X = structured_rows(0, n_samples, n_features)
    selector = DSCOFS(n_features // 100, n_components=N_COMPONENTS, entry_sparsity=0.005)
    pca = PCA(N_COMPONENTS, svd_solver="randomized", random_state=0)
    fit, other = (cpu_seconds(partial(each.fit, X), repeats=2) for each in (selector, pca))
    name = f"{n_samples:,} × {n_features:,} float32, in memory"
    return name, fit, "scikit-learn's randomised PCA", other, fit / other, "–"


def sketch_cost(client: distributed.Client, folder: Path) -> Sequence[object]:
    """Fit c₀ + c₁ n d to the CPU seconds of the randomised route, and extrapolate."""
    cells, seconds = [], []
    for n, d in ((1, 1), (2, 1), (3, 1), (1, 2), (1, 3)):
        X = dense_on_disk(folder, 10_500 * n, 10_500 * d)
        cells.append(float(X.shape[0] * X.shape[1]))
        seconds.append(cluster_seconds(client, partial(reduce_data, X)))
    design = np.column_stack([np.ones(len(cells)), cells]) / np.array(seconds)[:, None]
    constant, per_entry = np.linalg.lstsq(design, np.ones(len(cells)), rcond=None)[0]
    return f"{constant:.2g}", f"{1e9 * per_entry:.2g}", f"{round(per_entry * 1e14 / 3600, -2):.0f}"


def main() -> None:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of samples")
    parser.add_argument("--dir", help="where to put the generated data; removed at the end")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ApproximationWarning)

    def on_cluster(part: Callable[..., Sequence[object]], *arguments: object) -> Sequence[object]:
        with (
            tempfile.TemporaryDirectory(dir=options.dir) as folder,
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                memory_limit="1.5GB",
                dashboard_address=":0",
                local_directory=folder,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            return part(client, Path(folder), *arguments)

    rows = [
        on_cluster(tall, options.scale),
        on_cluster(wide_sparse, options.scale),
        wide_dense(options.scale),
    ]
    print_table("Compared with one product", COLUMNS, rows)
    columns = ("constant, CPU s", "CPU s per 10⁹ entries", "core hours for 10⁹ × 10⁵")
    print_table("Randomised route", columns, [on_cluster(sketch_cost)])


if __name__ == "__main__":
    main()
