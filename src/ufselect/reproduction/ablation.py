"""What the entry constraint adds: DSCOFS with it and without it, at equally many parameter points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ufselect.evaluation.choice import best_of_each_start
from ufselect.evaluation.keys import Params
from ufselect.evaluation.methods import Method
from ufselect.evaluation.rows import Row, mean_over_starts
from ufselect.evaluation.runner import Outcome
from ufselect.evaluation.tables import Table
from ufselect.metrics import feature_similarity_rate
from ufselect.reproduction.paper import ABLATION, TITLES
from ufselect.reproduction.paper_grid import PAPER_GRID
from ufselect.selectors import DSCOFS

ROWS_ONLY = "DSCOFSRowsOnly"
PAPER_ROWS_ONLY = "DSCOFSPaperGridRowsOnly"
# Each model with its entry constraint taken out.
TWINS = {"DSCOFS": ROWS_ONLY, PAPER_GRID: PAPER_ROWS_ONLY}
# With the eight starts 96 points, as many as our space has with the entry constraint; its two values of the
# row penalty are among them, so that each point has its twin.
ROW_PENALTIES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True)
class Ablation:
    """Best accuracy with its NMI, without and with the entry constraint, and the features in common.

    Attributes
    ----------
    acc_without, nmi_without, acc_with, nmi_with : float
        In per cent; means over the starts where labels choose anew for each.
    noise : float
        Twice the standard error of the difference of the two accuracies by the K-means runs alone.
    acc_with_as_few : float
        Expected best accuracy with the constraint if only as many of its points had been tried as there are
        without.
    n_without, n_with : int
        Parameter points at each number of features.
    fsr : float
        Features in common, in per cent, of the best points of the two models, as in the paper.
    fsr_twin : float
        The same of the best point with the constraint and itself without, from the same start.
    n_features : int
        How many features are compared.
    """

    acc_without: float
    nmi_without: float
    acc_with: float
    nmi_with: float
    noise: float
    acc_with_as_few: float
    n_without: int
    n_with: int
    fsr: float
    fsr_twin: float
    n_features: int


def rows_only(method: Method) -> Method:
    """Return DSCOFS without the entry constraint, with as many points where the penalties are our own.

    The published grid keeps its own row penalties, since there the paper's budget is the question.
    """
    if method.key == PAPER_GRID:
        points = dict.fromkeys(_without(point) for point in method.points)
        label = "DSCOFS, paper's grid, rows only"
        return Method(PAPER_ROWS_ONLY, label, DSCOFS, tuple(points), method.n_seeds, starts_apart=True)
    points = dict.fromkeys(
        Params({**_without(point), "mu_row": penalty}) for point in method.points for penalty in ROW_PENALTIES
    )
    return Method(ROWS_ONLY, "DSCOFS, rows only", DSCOFS, tuple(points), method.n_seeds)


def ablation(outcome: Outcome, method: str = "DSCOFS") -> Ablation:
    """Compare the best points of a model and its twin on one data set."""
    twin = TWINS[method]
    double = best_of_each_start([row for row in outcome.rows if row.method == method], "acc")
    single = best_of_each_start([row for row in outcome.rows if row.method == twin], "acc")
    count = max(key[2] for key in outcome.subsets if key[0] == twin)
    partners = {row.start: row for row in single}
    shared = [_common(outcome, (method, row), (twin, partners[row.start].params), count) for row in double]
    own = [_common(outcome, (method, row), (twin, _without(row.params)), count) for row in double]
    n_without, n_with = (
        len({row.params for row in outcome.screened if row.method == m}) for m in (twin, method)
    )
    with_, without = mean_over_starts(double), mean_over_starts(single)
    return Ablation(
        acc_without=without.acc_mean,
        nmi_without=without.nmi_mean,
        acc_with=with_.acc_mean,
        nmi_with=with_.nmi_mean,
        noise=2 * float(np.hypot(_standard_error(double), _standard_error(single))),
        acc_with_as_few=_expected_best(outcome.screened, method, double, min(1.0, n_without / n_with)),
        n_without=n_without,
        n_with=n_with,
        fsr=float(np.mean(shared)),
        fsr_twin=float(np.mean(own)),
        n_features=count,
    )


def expected_maximum(values: Sequence[float], n_drawn: int) -> float:
    """Return the mean over all choices of ``n_drawn`` of the values of the largest among them.

    Examples
    --------
    >>> from ufselect.reproduction.ablation import expected_maximum
    >>> round(expected_maximum([1.0, 2.0, 3.0], 2), 3)  # of {1,2}, {1,3}, {2,3}
    2.667
    """
    rising = np.sort(np.asarray(values, dtype=np.float64))
    n_values = rising.size
    # The largest of a draw is the i-th smallest with probability C(i-1, k-1) / C(n, k).
    chances = np.zeros(n_values)
    chances[-1] = n_drawn / n_values
    for i in range(n_values - 1, n_drawn - 1, -1):
        chances[i - 1] = chances[i] * (i - n_drawn + 1) / i
    return float(chances @ rising)


def _expected_best(screened: Sequence[Row], method: str, best: Sequence[Row], share: float) -> float:
    """Return the accuracy to expect of a share of the points, from the scores of the screening.

    Screening scores flatter; their fall from the best of all points to the expected best of few is taken
    from the final accuracy of the best.
    """
    falls = []
    for row in best:
        own = [r.acc_mean for r in screened if (r.method, r.start) == (method, row.start)]
        n_drawn = max(1, round(share * len(own)))
        falls.append(max(own) - expected_maximum(own, n_drawn))
    return float(np.mean([row.acc_mean for row in best]) - np.mean(falls))


def _common(outcome: Outcome, first: tuple[str, Row], second: tuple[str, Params], count: int) -> float:
    method, row = first
    seed = row.start or 0
    subsets = outcome.subsets[method, row.params, count, seed], outcome.subsets[(*second, count, seed)]
    return 100 * feature_similarity_rate(*subsets)


def _standard_error(rows: Sequence[Row]) -> float:
    variances = [np.var(row.acc_runs, ddof=1) / len(row.acc_runs) for row in rows]
    return float(np.sqrt(np.sum(variances)) / len(rows))


def ablation_table(
    found: Mapping[str, Ablation], datasets: Sequence[str], name: str = "ablation", space: str = "ours"
) -> Table:
    """Set the ablation beside the paper's."""
    body = []
    for dataset in datasets:
        theirs, ours = ABLATION.get(dataset), found.get(dataset)
        paper = (
            ("–",) * 3
            if theirs is None
            else (
                f"{theirs.acc_without:.2f} → {theirs.acc_with:.2f}",
                f"{theirs.nmi_without:.2f} → {theirs.nmi_with:.2f}",
                f"{theirs.fsr}",
            )
        )
        here = (
            ("not available", *("–",) * 5)
            if ours is None
            else (
                f"{ours.acc_without:.2f} → {ours.acc_with:.2f}",
                f"{ours.acc_with - ours.acc_without:+.2f} ± {ours.noise:.2f}",
                f"{ours.acc_with_as_few:.2f}",
                f"{ours.nmi_without:.2f} → {ours.nmi_with:.2f}",
                f"{ours.fsr:.0f}",
                f"{ours.fsr_twin:.0f}",
            )
        )
        body.append((TITLES.get(dataset, dataset), *here, *paper))
    title = f"DSCOFS without → with the entry constraint, {space} (oracle). {_verdict(found)}"
    columns = (
        "Data set", "ACC", "Gain ± noise", "ACC with, as few points", "NMI", "FSR", "FSR, same start",
        "ACC, paper", "NMI, paper", "FSR, paper",
    )  # fmt: skip
    return Table(name, title, columns, tuple(body))


def _verdict(found: Mapping[str, Ablation]) -> str:
    """Say on how many sets the constraint raises the accuracy, and on how many by more than noise."""
    if not found:
        return ""
    gains = [(each.acc_with - each.acc_without, each.noise) for each in found.values()]
    points = {(each.n_without, each.n_with) for each in found.values()}
    budget = " or ".join(f"{few} and {many}" for few, many in sorted(points))
    return (
        f"{budget} points at each number of features. The constraint raises ACC on "
        f"{sum(gain > 0 for gain, _ in gains)} of {len(gains)} sets, by more than noise on "
        f"{sum(gain > noise for gain, noise in gains)}; it lowers it by more than noise on "
        f"{sum(gain < -noise for gain, noise in gains)}."
    )


def _without(point: Params) -> Params:
    kept = {name: value for name, value in point.items() if name not in ("mu_entry", "entry_sparsity")}
    return Params({**kept, "entry_sparsity": None})
