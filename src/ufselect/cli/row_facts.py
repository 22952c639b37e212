"""What a method must be able to take beside numbers: gaps, batches and weights of rows."""

from __future__ import annotations

import inspect
from typing import Any

from numpy.typing import NDArray
from scipy import sparse

from ufselect.exceptions import TableError
from ufselect.gram.factory import has_missing
from ufselect.io.reading import ReadOptions
from ufselect.io.table import Table

INSTEAD = "use select --method DSCOFS"
ROUTES = {
    "completed": "filled in from the other columns by a low-rank fit",
    "pairwise": "passed over, each pair of columns being compared by the rows that have both",
}


def asked_of_rows(reading: ReadOptions) -> list[str]:
    """Return what the options of reading ask a method to take."""
    asked = {
        "missing": reading.impute == "keep",
        "batch": reading.batch_column is not None,
        "sample_weight": reading.weight_column is not None,
    }
    return [name for name, is_asked in asked.items() if is_asked]


def check_rows(selector: Any, *asked: str | None) -> None:
    """Refuse a method that cannot take what is asked: "missing", "batch" or "sample_weight".

    Raises
    ------
    TableError
        With another method.
    """
    name = type(selector).__name__.replace("AutoSelector", "--method auto")
    taken = inspect.signature(selector.fit).parameters
    if "missing" in asked and not selector.accepts_missing:
        raise TableError(f"{name} needs every value; fill in with --impute median, or {INSTEAD}.")
    for fact, flag in (("batch", "--batch"), ("sample_weight", "--weights")):
        if fact in asked and fact not in taken:
            raise TableError(f"{name} cannot take {flag} into account; {INSTEAD}.")


def row_metadata(table: Table) -> dict[str, NDArray]:
    """Return what ``fit`` is to be told of the rows."""
    given = {"batch": table.batches, "sample_weight": table.weights}
    return {name: values for name, values in given.items() if values is not None}


def has_gaps(table: Table) -> bool:
    """Whether values are missing in the data as they are to be used."""
    values = table.data.data if sparse.issparse(table.data) else table.data
    return has_missing(values)


def missing_words(selector: Any) -> list[str]:
    """Return a sentence on what was done about missing values in the choice, if there were any."""
    summary = getattr(selector, "missing_", None)
    if summary is None:
        return []
    share = f"{summary.share:.1%}" if summary.share >= 0.001 else "Less than 0.1%"
    return [f"{share} of the values are missing; for the choice they were {ROUTES[summary.route]}."]
