"""What ``demo`` does: pixels of handwritten digits, on the terminal, in a picture and on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.columns import Columns
from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from ufselect.cli.console import errors, output, working
from ufselect.cli.data import open_data
from ufselect.cli.outputs import explained, page
from ufselect.cli.run import Request, Run, run_selection
from ufselect.cli.run_record import record_of
from ufselect.cli.show import feature_table, pixel_map
from ufselect.cli.verdicts import verdicts
from ufselect.io import ReadOptions
from ufselect.io.files import check_outputs, write_together

PICTURE, PAGE = Path("ufselect-demo.png"), Path("ufselect-demo.html")
DEMO = Request("DSCOFS", 20, {"n_components": 10})
SHOWN_DIGITS = (0, 2, 3, 5, 8, 9)
RESAMPLES = 10


def run_demo(force: bool) -> None:
    """Run it."""
    check_outputs((PICTURE, PAGE), force)
    options = ReadOptions()
    table = open_data("digits", options, quiet=True).table
    with working("DSCOFS on 1797 images of 8 × 8 pixels:"):
        run = run_selection(table, DEMO, verbose=True)
    shape = table.image_shape or (8, 8)
    picture = Group(
        Text("Pixels kept", style="bold"), Text(), pixel_map(run.selector.support_, shape, table.image_order)
    )
    output().print(Columns([feature_table(run), Panel(picture)]), highlight=False)
    with working("Drawing …"):
        figure = _figure(run, shape)
        explanation = explained(run, RESAMPLES)
        text = page(run, record_of(run, options, verdicts(run, explanation), ["demo"]), explanation)
        write_together(
            {
                PICTURE: lambda target: figure.savefig(target, dpi=160, format="png"),
                PAGE: lambda target: target.write_text(text, encoding="utf-8"),
            },
            force,
        )
    errors().print(f"Wrote {PICTURE} and {PAGE}; open the page in a browser.", highlight=False)
    errors().print(
        "Next, your own table: ufselect select table.csv -k 20 -o picked.csv --report page.html",
        highlight=False,
    )


def _figure(run: Run, shape: tuple[int, int]) -> Any:
    from ufselect.plotting.images import pixel_figure

    digits = np.asarray(run.table.labels)
    return pixel_figure(
        run.selector,
        run.prepared.data,
        shape,
        order=run.table.image_order,
        examples=[int(np.argmax(digits == digit)) for digit in SHOWN_DIGITS],
        feature_names=run.table.feature_names,
    )
