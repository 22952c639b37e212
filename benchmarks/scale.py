"""Fits on data beyond memory, on a local dask cluster of two workers with one thread each.

    python benchmarks/scale.py                      # full size: 8 GB on disk, some minutes
    python benchmarks/scale.py --scale 0.01         # for CI
    python benchmarks/scale.py --only a d --plot docs/_static/scale.svg

(a) tall, dense: the whole fit against dask's own X.T @ X;  (b) sparse, many features: against AᵀAW;
(c) wide, in memory: against scikit-learn's randomised PCA;  (d) growth of time with n and d, and the cost
model fitted to it. CPU seconds are summed over workers and client: wall time on a shared machine is noise.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np
import zarr
from common import print_table
from scipy import sparse
from sklearn.decomposition import PCA

from ufselect import DSCOFS
from ufselect.blocks import open_blocks, reduce_data
from ufselect.exceptions import ApproximationWarning

N_COMPONENTS = 10
CHUNK_BYTES = 10**8
REPEATS = 2


def best(runs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the smallest wall time and the smallest CPU time of repeated runs."""
    return min(run[0] for run in runs), min(run[1] for run in runs)


def timed(client: distributed.Client, run: Callable[[], object]) -> tuple[float, float]:
    """Return wall seconds and CPU seconds of workers and client together."""
    cpu = sum(client.run(time.process_time).values()) + time.process_time()
    wall = time.perf_counter()
    run()
    wall = time.perf_counter() - wall
    return wall, sum(client.run(time.process_time).values()) + time.process_time() - cpu


def peak_gigabytes(client: distributed.Client) -> float:
    """Return the largest peak of resident memory of any worker since it started."""
    return max(client.run(_peak).values())


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


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


def write_dense(path: Path, n_samples: int, n_features: int) -> None:
    """Write float32 data as uncompressed zarr chunks of about 100 MB."""
    rows = min(n_samples, max(1, CHUNK_BYTES // (4 * n_features)))
    stored = zarr.create_array(
        path, shape=(n_samples, n_features), chunks=(rows, n_features), dtype="f4", compressors=None
    )
    for index, start in enumerate(range(0, n_samples, rows)):
        stop = min(start + rows, n_samples)
        stored[start:stop] = structured_rows(index, stop - start, n_features)


def tall(client: distributed.Client, folder: Path, scale: float) -> None:
    n_samples, n_features = max(2_000, int(2_000_000 * scale)), 1_000
    path = folder / "tall.zarr"
    write_dense(path, n_samples, n_features)
    X = open_blocks(path)
    DSCOFS(100, n_components=N_COMPONENTS, entry_sparsity=0.05).fit(X[: 2 * X.chunks[0][0]])  # imports
    fits, products, peak = [], [], 0.0
    for _ in range(REPEATS):
        fits.append(
            timed(client, lambda: DSCOFS(100, n_components=N_COMPONENTS, entry_sparsity=0.05).fit(path))
        )
        peak = peak or peak_gigabytes(client)
        products.append(timed(client, lambda: (X.T @ X).compute()))
    fit, product = best(fits), best(products)
    print_table(
        f"(a) {n_samples:,} × {n_features:,} float32, {X.nbytes / 1e9:.3g} GB in chunks of "
        f"{X.chunks[0][0]:,} rows",
        ("", "wall s", "CPU s", "peak GB a worker"),
        [
            ("whole DSCOFS fit", *fit, peak),
            ("dask X.T @ X", *product, ""),
            ("ratio", fit[0] / product[0], fit[1] / product[1], ""),
        ],
    )


def write_sparse(folder: Path, index: int, n_rows: int, n_features: int, n_stored: int) -> None:
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
    sparse.save_npz(folder / f"{index}.npz", block, compressed=False)


def read_sparse(path: str) -> sparse.csr_array:
    return sparse.load_npz(path)


def apply_gram(block: sparse.csr_array, vectors: np.ndarray) -> np.ndarray:
    return block.T @ (block @ vectors)


def wide_sparse(client: distributed.Client, folder: Path, scale: float) -> None:
    n_samples, n_features = max(20_000, int(1_000_000 * scale)), 20_000
    rows = 20_000
    n_blocks = n_samples // rows
    for index in range(n_blocks):
        write_sparse(folder, index, rows, n_features, n_features // 200)
    blocks = [dask.delayed(read_sparse)(str(folder / f"{index}.npz")) for index in range(n_blocks)]
    meta = sparse.csr_array((0, 0), dtype=np.float32)
    X = da.concatenate([da.from_delayed(block, (rows, n_features), meta=meta) for block in blocks])
    vectors = np.random.default_rng(0).standard_normal((n_features, 20)).astype(np.float32)
    shared = client.scatter(vectors, broadcast=True)
    products = [dask.delayed(apply_gram)(block, shared) for block in blocks]
    # Ten groups differ in nine directions.
    selector = DSCOFS(200, n_components=9, entry_sparsity=0.005)
    selector.fit(X[: 2 * rows])  # imports
    fits, baselines, peak = [], [], 0.0
    for _ in range(REPEATS):
        fits.append(timed(client, lambda: selector.fit(X)))
        peak = peak or peak_gigabytes(client)
        baselines.append(timed(client, lambda: dask.compute(dask.delayed(sum)(products))))
    fit, product = best(fits), best(baselines)
    passes = selector.reduction_.n_passes
    print_table(
        f"(b) sparse {n_blocks * rows:,} × {n_features:,}, 0.5 % filled",
        ("", "wall s", "CPU s", "peak GB a worker", "estimated error"),
        [
            (f"whole DSCOFS fit, {passes} passes", *fit, peak, selector.reduction_.subspace_error),
            ("one AᵀAW, 20 columns", *product, "", ""),
            ("ratio a pass", fit[0] / product[0] / passes, fit[1] / product[1] / passes, "", ""),
        ],
    )


def wide_dense(scale: float) -> None:
    n_samples, n_features = 1_000, max(2_000, int(500_000 * scale))
    X = structured_rows(0, n_samples, n_features)
    r = n_features // 100
    fit, pca = [], []
    for _ in range(2):
        start = time.process_time()
        DSCOFS(r, n_components=N_COMPONENTS, entry_sparsity=0.005).fit(X)
        fit.append(time.process_time() - start)
        start = time.process_time()
        PCA(N_COMPONENTS, svd_solver="randomized", random_state=0).fit(X)
        pca.append(time.process_time() - start)
    print_table(
        f"(c) {n_samples:,} × {n_features:,} float32 in memory, m = {N_COMPONENTS}",
        ("", "CPU s"),
        [("whole DSCOFS fit", min(fit)), ("randomised PCA", min(pca)), ("ratio", min(fit) / min(pca))],
    )


def growth(client: distributed.Client, folder: Path, scale: float, plot: str | None) -> None:
    n, d = max(2_000, int(200_000 * scale)), 500
    wide_n, wide_d = 10_500, 10_500
    sweeps = {
        "formed, n": [(n // 4, d), (n // 2, d), (n, d)],
        "formed, d": [(n // 4, d), (n // 4, 2 * d), (n // 4, 4 * d)],
        "sketched, n": [(wide_n, wide_d), (2 * wide_n, wide_d), (3 * wide_n, wide_d)],
        "sketched, d": [(wide_n, wide_d), (wide_n, 2 * wide_d), (wide_n, 3 * wide_d)],
    }
    if scale < 0.05:
        sweeps = {name: sizes for name, sizes in sweeps.items() if name.startswith("formed")}
    seconds: dict[tuple[int, int], float] = {}
    rows, slopes = [], {}
    for name, sizes in sweeps.items():
        for size in sizes:
            if size not in seconds:
                path = folder / f"{size[0]}x{size[1]}.zarr"
                write_dense(path, *size)
                seconds[size] = timed(client, partial(reduce_data, open_blocks(path)))[1]
        found = [seconds[size] for size in sizes]
        axis = 0 if name.endswith("n") else 1
        steps = [size[axis] for size in sizes]
        slopes[name] = float(np.polyfit(np.log(steps), np.log(found), 1)[0])
        cells = [f"{size[0]:,} × {size[1]:,}: {t:.3g} s" for size, t in zip(sizes, found, strict=True)]
        rows.append((name, *cells, slopes[name]))
    header = ("route, grows with", "small", "middle", "large", "log-log slope")
    print_table("(d) growth of the reduction, CPU s", header, rows)
    report_model(seconds)
    if plot:
        draw(sweeps, seconds, slopes, plot)


def report_model(seconds: dict[tuple[int, int], float]) -> None:
    """Fit c₀ + c₁ n d² (formed) and c₀ + c₁ n d (sketched) to the reductions, and extrapolate."""
    rows = []
    for name, cost, chosen in (
        ("formed", lambda n, d: n * d**2, [size for size in seconds if size[1] <= 10_000]),
        ("sketched", lambda n, d: n * d, [size for size in seconds if size[1] > 10_000]),
    ):
        if not chosen:
            continue
        design = np.array([[1.0, cost(*size)] for size in chosen])
        weights = 1 / np.array([seconds[size] for size in chosen])
        constant, unit = np.linalg.lstsq(design * weights[:, None], np.ones(len(chosen)), rcond=None)[0]
        rows.append((name, constant, unit, "n d²" if name == "formed" else "n d"))
        if name == "sketched":
            print(f"estimate for 10⁹ × 10⁵: {unit * 1e14 / 3600:.3g} core hours, 3 passes over 400 TB")
    print_table("Model", ("route", "constant, s", "s per unit", "unit"), rows)


def draw(sweeps: dict, seconds: dict, slopes: dict, path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for name, sizes in sweeps.items():
        axis = 0 if name.endswith("n") else 1
        steps = [size[axis] for size in sizes]
        label = f"{name[:-3]}: slope {slopes[name]:.2f}"
        axes[axis].loglog(steps, [seconds[size] for size in sizes], "o-", label=label)
    for axis, label in zip(axes, ("samples n", "features d"), strict=True):
        axis.set(xlabel=label, ylabel="CPU seconds of the reduction")
        axis.legend(frameon=False)
    figure.savefig(path)


def main() -> None:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of samples")
    parser.add_argument("--only", nargs="+", choices="abcd", default=list("abcd"))
    parser.add_argument("--dir", help="where to put the generated data; removed at the end")
    parser.add_argument("--plot", help="file for the figure of (d)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ApproximationWarning)
    parts = {"a": tall, "b": wide_sparse, "d": partial(growth, plot=options.plot)}
    for name in options.only:
        if name == "c":
            wide_dense(options.scale)
            continue
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
            parts[name](client, Path(folder), options.scale)


if __name__ == "__main__":
    main()
