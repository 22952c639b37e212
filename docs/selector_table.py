"""A directive that lists every selector: one row a class, taken from the registry."""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from ufselect.registry import all_selectors


class SelectorTable(Directive):
    """Render name, table label, cost and needs of all selectors."""

    def run(self) -> list[nodes.Node]:
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 22 34 14 30", ""]
        lines += _row("class", "leading cost", "sparse data", "idea")
        for name, selector in all_selectors().items():
            idea = next(line.strip() for line in (selector.__doc__ or "").splitlines() if line.strip())
            lines += _row(
                f":class:`~ufselect.{name}`", selector.cost, "yes" if selector.accepts_sparse else "no", idea
            )
        container = nodes.container()
        self.state.nested_parse(StringList(lines, "selectors"), self.content_offset, container)
        return container.children


def _row(*cells: str) -> list[str]:
    first, *rest = cells
    return [f"   * - {first}", *(f"     - {cell}" for cell in rest)]


def setup(app: object) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("selector-table", SelectorTable)  # type: ignore[attr-defined]
    return {"parallel_read_safe": True}
