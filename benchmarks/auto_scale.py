"""AutoSelector on many rows: extra peak memory, CPU time and what it finds.

    python benchmarks/auto_scale.py [--scale 0.01] [--json benchmarks/results/auto_scale.json]

200,000 × 1,000 dense rows in single precision with ten clusters in 60 columns, under two strong directions
that the other columns carry; and 100,000 × 20,000 sparse rows, 1 % filled, with ten clusters in 200 columns.
Extra memory is the largest resident size during the fit less that before it.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from common import print_table
from numpy.typing import NDArray
from scipy import sparse

from ufselect import AutoSelector
from ufselect.metrics import normalized_mutual_info

N_CLUSTERS = 10
N_SELECTED = 50
BLOCK_ROWS = 5_000
PAGE_BYTES = 4096


def resident_gigabytes() -> float:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES / 2**30


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """Fill a record with extra peak memory, wall and CPU seconds of what happens inside."""
    record: dict[str, float] = {}
    ended = threading.Event()
    start = peak = resident_gigabytes()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.01):
            peak = max(peak, resident_gigabytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    wall, cpu = time.perf_counter(), time.process_time()
    yield record
    record["wall_seconds"] = time.perf_counter() - wall
    record["cpu_seconds"] = time.process_time() - cpu
    ended.set()
    watcher.join()
    record["extra_gigabytes"] = peak - start


def dense_rows(n_rows: int, n_features: int = 1_000, n_telling: int = 60) -> tuple[NDArray, NDArray, int]:
    """Return rows with clusters in the first columns and a nuisance in the others, and the clusters."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLUSTERS, size=n_rows)
    centres = 3 * rng.standard_normal((N_CLUSTERS, n_telling), dtype=np.float32)
    nuisance = 6 * rng.standard_normal((2, n_features - n_telling), dtype=np.float32)
    X = np.empty((n_rows, n_features), dtype=np.float32)
    for start in range(0, n_rows, BLOCK_ROWS):
        block = X[start : start + BLOCK_ROWS]
        block[:] = rng.standard_normal(block.shape, dtype=np.float32)
        block[:, :n_telling] += centres[y[start : start + BLOCK_ROWS]]
        block[:, n_telling:] += rng.standard_normal((len(block), 2), dtype=np.float32) @ nuisance
    return X, y, n_telling


def sparse_rows(n_rows: int, n_features: int = 20_000, n_telling: int = 200) -> tuple[Any, NDArray, int]:
    """Return counts, 1 % filled, of which a fifth lie in columns of the row's cluster, and the clusters."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLUSTERS, size=n_rows)
    n_stored, window = n_features // 100, n_telling // N_CLUSTERS
    indices = rng.integers(0, n_features, (n_rows, n_stored), dtype=np.int32)
    own = rng.random((n_rows, n_stored)) < 0.2
    indices[own] = (y[:, None].astype(np.int32) * window + indices % window)[own]
    values = 1 + rng.poisson(1.0, indices.shape).astype(np.float32)
    pointers = np.arange(n_rows + 1, dtype=np.int32) * n_stored
    X = sparse.csr_array((values.ravel(), indices.ravel(), pointers), shape=(n_rows, n_features))
    X.sum_duplicates()
    return X, y, n_telling


def one_fit(X: Any, y: NDArray, n_telling: int) -> dict[str, float]:
    """Fit once and return what was measured."""
    with measured() as record:
        selector = AutoSelector(N_SELECTED, n_clusters=N_CLUSTERS, random_state=0).fit(X)
    return {
        **record,
        "nmi_of_labels": normalized_mutual_info(y, selector.labels_),
        "telling_columns": int(selector.support_[:n_telling].sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    for name, make, n_rows in (
        ("dense, 1,000 columns", dense_rows, 200_000),
        ("sparse, 20,000 columns", sparse_rows, 100_000),
    ):
        X, y, n_telling = make(max(2_000, int(n_rows * options.scale)))
        results[f"{X.shape[0]:,} rows, {name}"] = one_fit(X, y, n_telling)
        del X
    header = list(next(iter(results.values())))
    rows = [[name, *(float(result[key]) for key in header)] for name, result in results.items()]
    print_table(f"AutoSelector, {N_SELECTED} columns", ["", *header], rows)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
