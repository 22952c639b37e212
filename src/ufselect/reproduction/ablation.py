"""What the entry constraint adds: DSCOFS with it and without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ufselect.evaluation.choice import best
from ufselect.evaluation.keys import Params
from ufselect.evaluation.methods import Method
from ufselect.evaluation.runner import Outcome
from ufselect.evaluation.tables import Table
from ufselect.metrics import feature_similarity_rate
from ufselect.reproduction.paper import ABLATION, TITLES
from ufselect.selectors import DSCOFS

ROWS_ONLY = "DSCOFSRowsOnly"


@dataclass(frozen=True)
class Ablation:
    """Best accuracy with its NMI, without and with the entry constraint, and the features in common.

    ``fsr`` compares the first features, as many as the largest count, of the point that is best with the
    constraint and of the same point without it; in per cent.
    """

    acc_without: float
    nmi_without: float
    acc_with: float
    nmi_with: float
    fsr: float
    n_features: int


def rows_only(method: Method) -> Method:
    """Return DSCOFS's grid with the entry constraint taken out."""
    points = dict.fromkeys(_without(point) for point in method.points)
    return Method(ROWS_ONLY, "DSCOFS, rows only", DSCOFS, tuple(points), method.n_seeds)


def ablation(outcome: Outcome) -> Ablation:
    """Compare the best points of the two models on one data set."""
    double = best([row for row in outcome.rows if row.method == "DSCOFS"], "acc")
    single = best([row for row in outcome.rows if row.method == ROWS_ONLY], "acc")
    counts = [key[2] for key in outcome.subsets if key[0] == ROWS_ONLY]
    partner = _without(double.params)
    subsets = [
        outcome.subsets[method, params, max(counts), 0]
        for method, params in (("DSCOFS", double.params), (ROWS_ONLY, partner))
    ]
    return Ablation(
        acc_without=single.acc_mean,
        nmi_without=single.nmi_mean,
        acc_with=double.acc_mean,
        nmi_with=double.nmi_mean,
        fsr=100 * feature_similarity_rate(*subsets),
        n_features=max(counts),
    )


def ablation_table(found: Mapping[str, Ablation], datasets: Sequence[str]) -> Table:
    """Set the ablation beside the paper's."""
    body = []
    for name in datasets:
        theirs = ABLATION.get(name)
        paper = (
            ("–",) * 3
            if theirs is None
            else (
                f"{theirs.acc_without:.2f} → {theirs.acc_with:.2f}",
                f"{theirs.nmi_without:.2f} → {theirs.nmi_with:.2f}",
                f"{theirs.fsr}",
            )
        )
        ours = found.get(name)
        here = (
            ("not available", "–", "–")
            if ours is None
            else (
                f"{ours.acc_without:.2f} → {ours.acc_with:.2f}",
                f"{ours.nmi_without:.2f} → {ours.nmi_with:.2f}",
                f"{ours.fsr:.0f}",
            )
        )
        body.append((TITLES.get(name, name), *here, *paper))
    title = "DSCOFS without → with the entry constraint (oracle), and FSR, the common features in per cent."
    columns = ("Data set", "ACC", "NMI", "FSR", "ACC, paper", "NMI, paper", "FSR, paper")
    return Table("ablation", title, columns, tuple(body))


def _without(point: Params) -> Params:
    kept = {name: value for name, value in point.items() if name not in ("mu_entry", "entry_sparsity")}
    return Params({**kept, "entry_sparsity": None})
