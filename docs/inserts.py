"""What the build inserts into pages: figures, tables, the table of selectors, csv files, pictures."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from figures import figure, look_up_table
from selector_table import HEADER, cells
from sphinx.util.docutils import SphinxDirective, SphinxRole

from ufselect._registry import all_selectors

NOT_THERE = (KeyError, ValueError, IndexError, FileNotFoundError)


class Figure(SphinxRole):
    """One number: the role ``fig`` with its name."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            return [nodes.Text(figure(self.text))], []
        except NOT_THERE as error:
            message = self.inliner.reporter.error(f"No figure {self.text!r} in the results: {error!r}.")
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]


class ResultTable(SphinxDirective):
    """A table of a result file, with ``columns`` and ``rows``; with ``:commit:`` its code below."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"commit": directives.flag}

    def run(self) -> list[nodes.Node]:
        try:
            table = look_up_table(self.arguments[0])
            shown = [  # not those in which nothing is available
                place
                for place in range(len(table["columns"]))
                if any(row[place] != "not available" for row in table["rows"])
            ]
            columns, *rows = ([each[place] for place in shown] for each in (table["columns"], *table["rows"]))
            rows = [[unbroken(str(cell)) for cell in row] for row in rows]
            lines = markdown_table(columns, rows)
            if "commit" in self.options:
                lines += ["", f"*Code: {table['code']}*"]
        except NOT_THERE as error:
            raise self.error(f"No table {self.arguments[0]!r} in the results: {error!r}.") from error
        return self.parse_text_to_nodes("\n".join(lines))


class SelectorTable(SphinxDirective):
    """Goal, abilities, cost and measured gains of all selectors."""

    def run(self) -> list[nodes.Node]:
        rows = [
            [f"{{class}}`~ufselect.{name}`", *cells(selector)] for name, selector in all_selectors().items()
        ]
        return self.parse_text_to_nodes("\n".join(markdown_table(list(HEADER), rows)))


def unbroken(cell: str) -> str:
    """Keep a number and its uncertainty in one line, with spaces that do not break."""
    return re.sub(" ([±→]) ", "\u00a0\\1\u00a0", cell)


def markdown_table(columns: list[str], rows: list[list[Any]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return [f"| {' | '.join(map(str, cells))} |" for cells in (columns, ["---"] * len(columns), *rows)]


def offer_tables(app: Any, doctree: nodes.document, page: str) -> None:
    """Write each table of a page of evidence as csv, and link it below the table."""
    if app.builder.format != "html" or page not in app.config.pages_of_evidence:
        return
    folder = Path(app.outdir) / "_tables"
    folder.mkdir(exist_ok=True)
    up = "../" * page.count("/")
    for place, table in enumerate(list(doctree.findall(nodes.table)), start=1):
        name = f"{page.replace('/', '-')}-{place}.csv"
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(
                [entry.astext().replace("\u00a0", " ") for entry in row.findall(nodes.entry)]
                for row in table.findall(nodes.row)
            )
        link = f'<p class="csv"><a download href="{up}_tables/{name}">csv</a></p>'
        table.parent.insert(table.parent.index(table) + 1, nodes.raw("", link, format="html"))


def renew_pictures(app: Any) -> None:
    """Draw the pictures of README, home and first result from the commands that these pages show.

    The page of the report is photographed by Chromium; without it the stored picture stays.
    """
    pictures = Path(app.srcdir) / "_static"
    first_result = (Path(app.srcdir) / "start" / "first_result.md").read_text(encoding="utf-8")
    table, command = (
        re.search(rf"^```{language}\n(.*?)^```$", first_result, re.MULTILINE | re.DOTALL)[1]
        for language in ("python", "sh")
    )
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    with TemporaryDirectory() as folder, chdir(folder):
        with redirect_stdout(None):
            exec(table, {})
        for arguments in (["demo"], command.split()[1:]):
            subprocess.run([sys.executable, "-m", "ufselect", *arguments], check=True, capture_output=True)
        shutil.copy("ufselect-demo.png", pictures / "demo.png")
        if browser is not None:
            options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
            screen = ("--window-size=960,1645", f"--screenshot={pictures / 'report.png'}")
            page = Path("page.html").resolve().as_uri()
            subprocess.run([browser, *options, *screen, page], check=True, capture_output=True)


def setup(app: Any) -> dict[str, bool]:
    """Register role, directive and downloads."""
    app.add_role("fig", Figure())
    app.add_directive("result-table", ResultTable)
    app.add_directive("selector-table", SelectorTable)
    app.add_config_value("pages_of_evidence", [], "html")
    if app.tags.has("pictures"):  # an ordinary build leaves the source as it is
        app.connect("builder-inited", renew_pictures)
    app.connect("doctree-resolved", offer_tables)
    return {"parallel_read_safe": True}
