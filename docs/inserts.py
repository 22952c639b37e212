"""What the build adds to pages: links to the reference, csv files, pictures."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docutils import nodes
from sphinx import addnodes

LINKS = nodes.reference | addnodes.pending_xref


def public_names() -> dict[str, str]:
    """Return where each public class, and each function with a name of several words, is described."""
    names, module = {}, ""
    for line in (Path(__file__).parent / "api.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif re.fullmatch(r"   ([A-Z]\w+|[a-z]+_\w+)", line):
            names[line.strip()] = f"{module}.{line.strip()}"
    return names


def link_names(app: Any, doctree: nodes.document) -> None:
    """Link the first mention of a public name in each section to the reference."""
    if app.env.docname.startswith(("api", "auto_examples")):
        return
    known, linked = app.config.linked_names, set()
    for literal in list(doctree.findall(nodes.literal)):
        name, parent = literal.astext(), literal.parent
        while not isinstance(parent, nodes.section | nodes.document | nodes.title | LINKS):
            parent = parent.parent
        if name not in known or isinstance(parent, nodes.title | LINKS) or (parent, name) in linked:
            continue
        linked.add((parent, name))
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=known[name], refdoc=app.env.docname, refexplicit=True
        )
        literal.replace_self(link)
        link += literal


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
            screen = ("--window-size=1200,1645", f"--screenshot={pictures / 'report.png'}")
            page = Path("page.html").resolve().as_uri()
            subprocess.run([browser, *options, *screen, page], check=True, capture_output=True)


def setup(app: Any) -> dict[str, bool]:
    """Register what changes pages."""
    app.add_config_value("pages_of_evidence", [], "html")
    app.add_config_value("linked_names", public_names(), "env")
    app.connect("doctree-read", link_names)
    if app.tags.has("pictures"):  # an ordinary build leaves the source as it is
        app.connect("builder-inited", renew_pictures)
    app.connect("doctree-resolved", offer_tables)
    return {"parallel_read_safe": True}
