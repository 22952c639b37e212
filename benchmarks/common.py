"""What the benchmarks share: data, CPU seconds of one thread, tables."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ufselect
from ufselect.gram import GramOperator

REAL_SETS = ("coil20", "usps", "lung_discrete", "glioma", "umist", "warppie10p", "isolet")
# Samples, features and classes, to generate a stand-in where the real data are absent.
SHAPES = {
    "coil20": (1440, 1024, 20),
    "usps": (1000, 256, 10),
    "lung_discrete": (73, 325, 7),
    "glioma": (50, 4434, 4),
    "umist": (575, 644, 20),
    "warppie10p": (210, 2420, 10),
    "isolet": (1560, 617, 26),
}
DATA_DIR = Path(os.environ.get("UFSELECT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def load(name: str) -> tuple[np.ndarray, int]:
    """Return the data and the number of classes; generated data of the same shape where it is absent."""
    path = DATA_DIR / f"{name}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as stored:
            return stored["X"].astype(np.float64), int(np.unique(stored["y"]).size)
    n_samples, n_features, n_classes = SHAPES[name]
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((n_samples, 3 * n_classes)) * np.geomspace(5, 0.5, 3 * n_classes)
    data = scores @ rng.standard_normal((3 * n_classes, n_features))
    return data + 0.5 * rng.standard_normal((n_samples, n_features)), n_classes


def data_source() -> str:
    """Say which data the figures stand for."""
    return "real data sets" if (DATA_DIR / "isolet.npz").exists() else "GENERATED data of the same shapes"


def code_version() -> str:
    """Return the version of the code and, in a clone, its commit, with a + if files were changed since."""
    command = ("git", "describe", "--always", "--exclude=*", "--dirty=+")
    try:
        commit = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ufselect.__version__
    return f"{ufselect.__version__}, commit {commit.stdout.strip()}"


class CountingGram:
    """A Gram operator that counts its products; everything else is passed on."""

    def __init__(self, gram: GramOperator) -> None:
        self.gram = gram
        self.n_products = 0

    def matmat(self, vectors: np.ndarray) -> np.ndarray:
        """Return ``S @ vectors`` and count one."""
        self.n_products += 1
        return self.gram.matmat(vectors)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gram, name)


def cpu_seconds(run: Callable[[], object], repeats: int = 5) -> float:
    """Return the smallest CPU time of several runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def three_digits(value: float) -> str:
    """Return a number with three digits, large ones as 1,250."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if "e+" in text else text


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        cells = [three_digits(cell) if isinstance(cell, float) else str(cell) for cell in row]
        print("| " + " | ".join(cells) + " |", flush=True)
