"""What the entry constraint adds: DSCOFS with it and without it, at equally many parameter points."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from benchmarks.paper.choice import best, best_of_each_start
from benchmarks.paper.methods import TWINS, without_entries
from benchmarks.paper.printed import ABLATION, TITLES
from benchmarks.paper.race import RaceOutcome, place_of

from ufselect.compare.compare import Table
from ufselect.compare.runner import Row, params_text
from ufselect.metrics import feature_similarity_rate


def ablation(outcome: RaceOutcome, method: str = "DSCOFS") -> dict[str, Any]:
    """Compare the best points by accuracy of a model and of its twin without the entry constraint.

    Returns
    -------
    dict
        ``acc_without``, ``nmi_without``, ``acc_with`` and ``nmi_with`` in per cent, means over the starts
        where labels choose anew for each; ``noise``, twice the standard error of the difference of the two
        accuracies by the K-means runs alone; ``acc_with_as_few``, the expected best accuracy with the
        constraint if only as many of its points had been tried as there are without; ``n_without`` and
        ``n_with``, parameter points at each number of features; ``fsr``, features in common, in per cent, of
        the best points of the two models, as in the paper; ``fsr_twin``, the same of the best point with the
        constraint and itself without, from the same start.
    """
    twin = TWINS[method]
    double, single = ([row for row in outcome.rows if row["method"] == key] for key in (method, twin))
    with_, without = best(double, "acc"), best(single, "acc")
    double, single = best_of_each_start(double, "acc"), best_of_each_start(single, "acc")
    features = {place_of(row): row["features"][0] for row in outcome.screened}
    count = max(place[2] for place in features if place[0] == twin)
    partners = {row["start"]: row["params"] for row in single}

    def common(row: Row, params: str) -> float:
        places = (method, row["params"], count, row["start"]), (twin, params, count, row["start"])
        return 100 * feature_similarity_rate(*(features[place] for place in places))

    twins = [params_text(without_entries(json.loads(row["params"]))) for row in double]
    n_without, n_with = (
        len({row["params"] for row in outcome.screened if row["method"] == key}) for key in (twin, method)
    )
    share = min(1.0, n_without / n_with)
    return {
        "acc_without": without["acc_mean"],
        "nmi_without": without["nmi_mean"],
        "acc_with": with_["acc_mean"],
        "nmi_with": with_["nmi_mean"],
        "noise": 2 * float(np.hypot(_standard_error(double), _standard_error(single))),
        "acc_with_as_few": with_["acc_mean"] - _expected_fall(outcome.screened, double, share),
        "n_without": n_without,
        "n_with": n_with,
        "fsr": float(np.mean([common(row, partners[row["start"]]) for row in double])),
        "fsr_twin": float(np.mean([common(row, params) for row, params in zip(double, twins, strict=True)])),
    }


def expected_maximum(values: Sequence[float], n_drawn: int) -> float:
    """Return the mean over all choices of ``n_drawn`` of the values of the largest among them.

    Examples
    --------
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


def _expected_fall(screened: Sequence[Row], chosen: Sequence[Row], share: float) -> float:
    """Return how much accuracy a share of the points would lose, by the scores of the screening.

    Screening scores flatter; only their fall from the best of all points to the expected best of few counts.
    """
    falls = []
    for row in chosen:
        key = (row["method"], row["start"])
        accuracies = [each["acc_mean"] for each in screened if (each["method"], each["start"]) == key]
        falls.append(max(accuracies) - expected_maximum(accuracies, max(1, round(share * len(accuracies)))))
    return float(np.mean(falls))


def _standard_error(rows: Sequence[Row]) -> float:
    variances = [np.var(row["acc_runs"], ddof=1) / len(row["acc_runs"]) for row in rows]
    return float(np.sqrt(np.sum(variances)) / len(rows))


def ablation_table(
    ablations: Mapping[str, dict[str, Any]],
    datasets: Sequence[str],
    name: str = "ablation",
    space: str = "ours",
) -> Table:
    """Set the ablation beside the paper's."""
    body = []
    for dataset in datasets:
        here, paper = ("not available", *("–",) * 5), ("–",) * 3
        if dataset in ablations:
            result = ablations[dataset]
            here = (
                f"{result['acc_without']:.2f} → {result['acc_with']:.2f}",
                f"{result['acc_with'] - result['acc_without']:+.2f} ± {result['noise']:.2f}",
                f"{result['acc_with_as_few']:.2f}",
                f"{result['nmi_without']:.2f} → {result['nmi_with']:.2f}",
                f"{result['fsr']:.0f}",
                f"{result['fsr_twin']:.0f}",
            )
        if dataset in ABLATION:
            acc_without, acc_with, nmi_without, nmi_with, fsr = ABLATION[dataset]
            paper = (f"{acc_without:.2f} → {acc_with:.2f}", f"{nmi_without:.2f} → {nmi_with:.2f}", f"{fsr}")
        body.append((TITLES.get(dataset, dataset), *here, *paper))
    gains = [(each["acc_with"] - each["acc_without"], each["noise"]) for each in ablations.values()]
    points = sorted({(each["n_without"], each["n_with"]) for each in ablations.values()})
    title = (
        f"DSCOFS without → with the entry constraint, {space}, tuned with labels. "
        f"{' or '.join(f'{few} and {many}' for few, many in points)} points at each number of features. The "
        f"constraint raises ACC on {sum(gain > 0 for gain, _ in gains)} of {len(gains)} sets, beyond "
        f"noise on {sum(gain > noise for gain, noise in gains)}; it lowers ACC beyond noise on "
        f"{sum(gain < -noise for gain, noise in gains)}."
    )
    columns = (
        "Data set", "ACC", "Gain ± noise", "ACC with, as few points", "NMI", "FSR", "FSR, same start",
        "ACC, paper", "NMI, paper", "FSR, paper",
    )  # fmt: skip
    return Table(name, title, columns, tuple(body))
