"""How the time of every selector grows with rows and columns, beside PCA and rivals.

    python benchmarks/growth.py | python benchmarks/record.py growth      # minutes; --limit 60 for hours

Each fit has a process of its own, one BLAS thread and a limit of CPU seconds; a method that exceeds it is not
tried on larger tables. An interrupted run goes on from its log. A tenth of the columns is selected, at least
2 and at most 50. Rivals that are not installed are left out.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from common import print_table
from scipy import linalg
from sklearn.decomposition import PCA, TruncatedSVD

from ufselect._registry import all_selectors
from ufselect.base import GramSelector

ROWS, COLUMNS = (100, 1_000, 10_000, 100_000), (10, 100, 1_000, 10_000)
N_COMPONENTS = 10  # of the data; methods take as many where they have the parameter
# Below this the fixed part of a fit, checks and calls of NumPy, says nothing about growth.
SHORTEST = 0.02
Cell = tuple[int, int]
Known = dict[tuple[str, Cell], float]  # CPU seconds of a fit


def table(n_rows: int, n_columns: int) -> np.ndarray:
    """Return low-rank data with noise and means."""
    rng = np.random.default_rng([n_rows, n_columns])
    rank = min(N_COMPONENTS, n_columns // 2)
    scores = rng.standard_normal((n_rows, rank)) * np.geomspace(3, 1, rank)
    data = scores @ rng.standard_normal((rank, n_columns))
    data += rng.standard_normal(data.shape)
    data += rng.standard_normal(n_columns)
    return data


def methods() -> dict[str, Callable[[np.ndarray, int], object]]:
    """Return what is measured: fits of a table and a number of columns, PCA first."""
    found: dict[str, Callable[[np.ndarray, int], object]] = {
        "PCA": lambda X, k: PCA(min(N_COMPONENTS, X.shape[1] // 2)).fit(X),
        "TruncatedSVD": lambda X, k: TruncatedSVD(min(N_COMPONENTS, X.shape[1] // 2)).fit(X),
        "SciPy pivoted QR": lambda X, k: linalg.qr(X - X.mean(axis=0), mode="r", pivoting=True),
    }
    if find_spec("fastcan"):
        from fastcan import FastCan

        found["fastcan"] = lambda X, k: FastCan(k, verbose=0).fit(X, PCA(min(k, 10)).fit_transform(X))
    if find_spec("pysensors"):
        from pysensors.basis import SVD
        from pysensors.reconstruction import SSPOR

        found["PySensors"] = lambda X, k: SSPOR(SVD(n_basis_modes=k), n_sensors=k).fit(X, quiet=True)
    if find_spec("skmatter"):
        from skmatter.feature_selection import CUR, FPS

        found["skmatter CUR"] = lambda X, k: CUR(n_to_select=k).fit(X)
        found["skmatter FPS"] = lambda X, k: FPS(n_to_select=k).fit(X)
    for name, selector in all_selectors().items():
        found[name] = lambda X, k, selector=selector: make(selector, k, X.shape[1]).fit(X)
    return found


def make(selector: type, count: int, n_columns: int) -> Any:
    """Return a selector of so many columns, with as many components as the data have where it takes them."""
    made = selector(count)
    if getattr(made, "n_components", None) == "auto":
        made.set_params(n_components=min(N_COMPONENTS, count))
    return made


def measure(run: Callable[[], object], limit: float, answers: Any) -> None:
    """Send the CPU seconds of a fit."""
    warnings.simplefilter("ignore")
    signal.setitimer(signal.ITIMER_PROF, limit)  # ends the process, whatever it is in
    start = time.process_time()
    run()
    seconds = time.process_time() - start
    signal.setitimer(signal.ITIMER_PROF, 0)
    if seconds < 0.5:  # short ones again and again: clocks are coarse, and the first has more to do
        n_runs, start = 0, time.process_time()
        while time.process_time() - start < max(0.05, seconds):
            run()
            n_runs += 1
        seconds = (time.process_time() - start) / n_runs
    answers.send(seconds)


def is_beyond(known: Known, name: str, cell: Cell) -> bool:
    """Tell whether a method has exceeded the limit on this table or on a smaller one."""
    return any(
        method == name and seconds == np.inf and n <= cell[0] and d <= cell[1]
        for (method, (n, d)), seconds in known.items()
    )


def read(log: Path) -> Known:
    """Return what a log has."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {(name, (n, d)): seconds for name, n, d, seconds in map(json.loads, lines)}


def grid(limit: float, most: int, log: Path) -> None:
    """Append the seconds of each method and shape to a log, infinite beyond the limit; repeat none."""
    warnings.simplefilter("ignore")
    context = multiprocessing.get_context("fork")
    known = read(log)
    for fit in methods().values():  # what is imported late is imported here, once
        fit(table(60, 12), 2)
    cells = sorted(((n, d) for n in ROWS for d in COLUMNS if n * d <= most), key=np.prod)
    # Methods on rows last: they are the slow ones.
    for slow, (n, d) in product((False, True), cells):
        X, k = table(n, d), min(max(2, d // 10), 50)
        for name, fit in methods().items():
            if (
                (works_on(name) == "rows") != slow
                or (name, (n, d)) in known
                or is_beyond(known, name, (n, d))
            ):
                continue
            answers, channel = context.Pipe(duplex=False)
            child = context.Process(target=measure, args=(partial(fit, X, k), limit, channel))
            child.start()
            channel.close()
            child.join()
            try:
                known[name, (n, d)] = answers.recv()
            except EOFError:  # ended by the timer, or by an error that it has printed
                known[name, (n, d)] = np.inf
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, n, d, known[name, (n, d)]]) + "\n")


def works_on(name: str) -> str:
    """Return "Gram" or "rows" for a selector, nothing for a rival."""
    kind = all_selectors().get(name)
    return "" if kind is None else "Gram" if issubclass(kind, GramSelector) else "rows"


def exponents(times: dict[Cell, float]) -> tuple[float, float]:
    """Return the powers of n and d that fit the times best, NaN where too few are long enough."""
    chosen = {cell: value for cell, value in times.items() if SHORTEST <= value < np.inf}
    if len({n for n, _ in chosen}) < 2 or len({d for _, d in chosen}) < 2 or len(chosen) < 4:
        return np.nan, np.nan
    design = np.array([[1, np.log(n), np.log(d)] for n, d in chosen])
    return tuple(np.linalg.lstsq(design, np.log(list(chosen.values())), rcond=None)[0][1:])


def cliff(times: dict[Cell, float]) -> float:
    """Return how far the worst cell is above the geometric mean of its neighbours on both sides."""
    worst = 0.0
    for (n, d), value in times.items():
        for before, after in (((n // 10, d), (n * 10, d)), ((n, d // 10), (n, d * 10))):
            around = [max(times.get(cell, np.inf), SHORTEST) for cell in (before, after)]
            if SHORTEST <= value < np.inf:
                worst = max(worst, value / np.sqrt(around[0] * around[1]))
    return worst


def report(limit: float, log: Path) -> None:
    """Print what a log has."""
    known = read(log)
    cells = sorted({cell for _, cell in known})
    names = [name for name in methods() if any(key[0] == name for key in known)]
    header = ["method", *(f"{n:,} × {d:,}" for n, d in cells)]

    def cell_text(name: str, cell: Cell) -> object:
        seconds = known.get((name, cell), np.inf)
        if np.isfinite(seconds):
            return seconds
        return f"> {limit:g} s" if is_beyond(known, name, cell) else ""

    rows = [[name, *(cell_text(name, cell) for cell in cells)] for name in names]
    print_table("CPU seconds of a fit", header, rows)
    lines = []
    for name in names:
        times = {cell: known[name, cell] for cell in cells if (name, cell) in known}
        n_power, d_power = (f"{power:.1f}" if np.isfinite(power) else "" for power in exponents(times))
        cost = getattr(all_selectors().get(name), "cost", "")
        lines.append((name, works_on(name), cost, n_power, d_power, f"{cliff(times):.1f}"))
    header = ["method", "works on", "stated cost", "power of n", "power of d", "worst cell, over neighbours"]
    print_table("Growth", header, lines)


def main() -> None:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--limit", type=float, default=2.0, help="CPU seconds of a fit")
    parser.add_argument("--most", type=int, default=20_000_000, help="entries of the largest table")
    parser.add_argument("--log", type=Path, default=Path("growth.jsonl"), help="what is known already")
    options = parser.parse_args()
    grid(options.limit, options.most, options.log)
    report(options.limit, options.log)


if __name__ == "__main__":
    main()
