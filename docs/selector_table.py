"""A directive that lists every selector: one row a class, taken from the registry."""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sklearn.utils.validation import has_fit_parameter

from ufselect.registry import all_selectors
from ufselect.selectors.base import UnsupervisedSelector


class SelectorTable(Directive):
    """Render name, cost and abilities of all selectors."""

    def run(self) -> list[nodes.Node]:
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 18 24 8 11 11 10 18", ""]
        lines += _row(
            "class", "leading cost", "sparse data", "keep", "groups", "gaps, weights, batches", "idea"
        )
        for name, selector in all_selectors().items():
            lines += _row(f":class:`~ufselect.{name}`", *cells(selector))
        container = nodes.container()
        self.state.nested_parse(StringList(lines, "selectors"), self.content_offset, container)
        return container.children


def cells(selector: type[UnsupervisedSelector]) -> list[str]:
    """Return cost, whether sparse data are taken, where keep and groups enter, what rows may be, the idea."""
    idea = next(line.strip() for line in (selector.__doc__ or "").splitlines() if line.strip())
    sparse = "yes" if selector.accepts_sparse else "no"
    wishes = ["criterion" if wish in selector.honours else "ranking" for wish in ("keep", "groups")]
    return [selector.cost, sparse, *wishes, _rows(selector), idea]


def _rows(selector: type[UnsupervisedSelector]) -> str:
    """Return which of missing values, weights and batches of rows a selector takes."""
    taken = {
        "gaps": selector.accepts_missing,
        "weights": has_fit_parameter(selector, "sample_weight"),
        "batches": has_fit_parameter(selector, "batch"),
    }
    return ", ".join(name for name, is_taken in taken.items() if is_taken) or "none"


def _row(*entries: str) -> list[str]:
    first, *rest = entries
    return [f"   * - {first}", *(f"     - {cell}" for cell in rest)]


def setup(app: object) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("selector-table", SelectorTable)  # type: ignore[attr-defined]
    return {"parallel_read_safe": True}
