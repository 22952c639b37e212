"""What the documentation's table says of each selector: from the registry and the measured gains."""

from __future__ import annotations

from figures import look_up, number, results
from sklearn.utils.validation import has_fit_parameter

from ufselect import GramSelector
from ufselect.methods._base import UnsupervisedSelector

# What the columns of a method are for; a method from outside the package says it in its own documentation.
GOALS = {
    "AutoSelector": "clusters or rebuilding",
    "BSUFS": "variance",
    "ConstrainedDSCOFS": "variance",
    "DOptimalLeverage": "rebuilding",
    "DSCOFS": "variance",
    "FSPCA": "variance",
    "GreedyProjection": "rebuilding",
    "IFPCA": "clusters",
    "InfFS": "variance",
    "LaplacianScore": "neighbourhoods",
    "MCFS": "clusters",
    "MaxVariance": "baseline",
    "NDFS": "clusters",
    "PCALeverage": "baseline",
    "PartitionSelector": "clusters",
    "RNE": "neighbourhoods",
    "RUFS": "clusters",
    "RandomSubset": "baseline",
    "RebuildSelector": "rebuilding",
    "SOGFS": "neighbourhoods",
    "SPCAFS": "variance",
    "SPCAPSD": "variance",
    "SPEC": "neighbourhoods",
    "TSFS": "clusters",
    "UDFS": "neighbourhoods",
}
HEADER = (
    "selector", "columns for", "sparse", "dask", "missing values", "groups", "leading cost",
    "gain in ACC", "gain in rebuilding",
)  # fmt: skip


def cells(selector: type[UnsupervisedSelector]) -> list[str]:
    """Return the cells of a selector's row after its name."""
    sampled = selector.__name__ in {
        "AutoSelector",
        "LaplacianScore",
        "PartitionSelector",
    }  # they draw rows from a collection
    return [
        GOALS.get(selector.__name__, "–"),
        _word(selector.accepts_sparse),
        "a sample" if sampled else _word(issubclass(selector, GramSelector)),
        _word(selector.accepts_missing),
        "criterion" if "groups" in selector.supports else "ranking",
        selector.cost,
        *(gain(selector.__name__, measure) for measure in ("ACC", "rebuilt")),
    ]


def row_abilities(selector: type[UnsupervisedSelector]) -> str:
    """Return which of missing values, weights and batches of rows a selector takes."""
    taken = {
        "gaps": selector.accepts_missing,
        "weights": has_fit_parameter(selector, "sample_weight"),
        "batches": has_fit_parameter(selector, "batch"),
    }
    return ", ".join(name for name, is_taken in taken.items() if is_taken) or "none"


def gain(name: str, measure: str) -> str:
    """Return the mean gain over random subsets on the bundled sets, in points."""
    tables = [{row["method"]: row for row in look_up(f"bundled/{title}")} for title in results("bundled")]
    measured = [rows for rows in tables if name in rows and not rows[name]["ACC"].startswith("needs")]
    if not measured:
        return "not measured"
    gains = [number(rows[name][measure]) - number(rows["RandomSubset"][measure]) for rows in measured]
    return f"{sum(gains) / len(gains):+.1f}".replace("-", "−")


def _word(is_so: bool) -> str:
    return "yes" if is_so else "no"
