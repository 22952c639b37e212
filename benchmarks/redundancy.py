"""RedundancyFilter beside feature-engine's SmartCorrelatedSelection and the pandas loop that people write.

Prints CPU seconds of one thread, and whether the result keeps what it promises: no selected pair above the
threshold, every dropped column above it with a selected one, the same columns in another order of columns.

    python benchmarks/redundancy.py [--columns 2000]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ufselect import RedundancyFilter


def pandas_loop(frame: pd.DataFrame) -> list[str]:
    """Drop each column that exceeds the threshold with an earlier one, the recipe of many answers."""
    correlations = frame.corr().abs()
    upper = correlations.where(np.triu(np.ones(correlations.shape, dtype=bool), k=1))
    return [column for column in frame if not (upper[column] > 0.95).any()]


def feature_engine(frame: pd.DataFrame) -> list[str]:
    """Select by feature-engine, the column of largest variance of each group."""
    from feature_engine.selection import SmartCorrelatedSelection

    rule = SmartCorrelatedSelection(threshold=0.95, selection_method="variance")
    return list(rule.fit_transform(frame).columns)


def ours(frame: pd.DataFrame) -> list[str]:
    """Select by RedundancyFilter."""
    return list(RedundancyFilter(0.95).fit(frame).get_feature_names_out())


def chained(n_rows: int, n_columns: int) -> pd.DataFrame:
    """Return columns in groups of four near-copies, and chains in which only neighbours are near."""
    rng = np.random.default_rng(0)
    base = rng.standard_normal((n_rows, n_columns // 8))
    copies = np.hstack([base + 0.1 * rng.standard_normal(base.shape) for _ in range(4)])
    steps = np.cumsum([0.22 * rng.standard_normal(base.shape) for _ in range(4)], axis=0) + base[None]
    X = np.hstack([copies, *steps])[:, rng.permutation(8 * base.shape[1])]
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=2000)
    frame = chained(1000, parser.parse_args().columns)
    r = np.abs(np.corrcoef(frame.to_numpy().T))
    np.fill_diagonal(r, 0)
    heads = ["", "columns", "seconds", "pairs above .95", "dropped, not represented", "same in another order"]
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|")
    for rule in (ours, feature_engine, pandas_loop):
        with threadpool_limits(1):
            started = time.process_time()
            try:
                selected = rule(frame)
            except ImportError:
                print(f"| {rule.__name__} | not installed | | | | |")
                continue
            seconds = time.process_time() - started
            again = rule(frame[frame.columns[::-1]])
        mask = frame.columns.isin(selected)
        left = int((r[np.ix_(mask, mask)] > 0.95).sum() // 2)
        alone = int((r[np.ix_(~mask, mask)].max(axis=1) <= 0.95).sum())
        same = "yes" if set(again) == set(selected) else "no"
        print(
            f"| {rule.__name__} | {len(selected)} | {seconds:.2f} | {left} | {alone} | {same} |", flush=True
        )


if __name__ == "__main__":
    main()
