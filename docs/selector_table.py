"""What the documentation's table says of each selector: from the classes and the measured ranks."""

from __future__ import annotations

from figures import look_up, number

import ufselect
from ufselect import GramSelector, UnsupervisedSelector

# What the columns of a method are for
GOALS = {
    "AutoSelector": "clusters or reconstruction",
    "BSUFS": "variance",
    "ConstrainedDSCOFS": "variance",
    "DOptimalLeverage": "reconstruction",
    "DSCOFS": "variance",
    "FSPCA": "variance",
    "GreedyProjection": "reconstruction",
    "IFPCA": "clusters",
    "InfFS": "variance",
    "LaplacianScore": "neighbourhoods",
    "MCFS": "clusters",
    "MaxVariance": "baseline",
    "NDFS": "clusters",
    "PCALeverage": "baseline",
    "RNE": "neighbourhoods",
    "RUFS": "clusters",
    "RandomSubset": "baseline",
    "ReconstructionSelector": "reconstruction",
    "SOGFS": "neighbourhoods",
    "SPCAFS": "variance",
    "SPCAPSD": "variance",
    "SPEC": "neighbourhoods",
    "TSFS": "clusters",
    "UDFS": "neighbourhoods",
}
HEADER = ("selector", "columns for", "also takes", "groups", "leading cost", "clusters", "reconstruction")
SAMPLED = {"AutoSelector", "LaplacianScore"}  # take some rows of a dask collection
GUIDED = "guide/Guided DSCOFS, held-out sets/selector=guided, as chosen, no number/random selections beaten"


def cells(selector: type[UnsupervisedSelector]) -> list[str]:
    """Return the cells of a selector's row after its name."""
    name = selector.__name__
    dask = "dask (a sample)" if name in SAMPLED else "dask" if issubclass(selector, GramSelector) else ""
    also = ("sparse" if selector.accepts_sparse else "", dask, "missing" if selector.accepts_missing else "")
    return [
        GOALS[name],
        ", ".join(filter(None, also)) or "–",
        "criterion" if "feature_groups" in selector.supports else "ranking",
        selector.cost,
        *(beaten(name, measure) for measure in ("held-out sets", "reconstruction")),
    ]


def rows_of_selectors() -> list[list[str]]:
    """Return the head and the rows of the table."""
    return [[*HEADER], *([f"`{name}`", *cells(getattr(ufselect, name))] for name in GOALS)]


def beaten(name: str, measure: str) -> str:
    """Return the per cent of random selections that a selector beats."""
    if name == "RandomSubset":
        return "50"
    if (name, measure) == ("AutoSelector", "held-out sets"):
        return f"{number(look_up(GUIDED)):.0f}"
    ranks = {row["method"]: row[measure] for row in look_up("methods/Methods")}
    return ranks.get(name, "not measured")
