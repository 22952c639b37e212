"""``ufselect demo``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.columns import Columns
from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from ufselect.cli import options as opt
from ufselect.cli.console import errors, output, working
from ufselect.cli.data import open_data
from ufselect.cli.outputs import write_report
from ufselect.cli.run import Request, run_selection
from ufselect.cli.run_record import record_of
from ufselect.cli.show import feature_table, pixel_map
from ufselect.io import ReadOptions
from ufselect.io.writing import check_outputs, write_atomically

PICTURE, PAGE = Path("ufselect-demo.png"), Path("ufselect-demo.html")
DEMO = Request("DSCOFS", 20, {"n_components": 10})


def demo(force: opt.Force = False) -> None:
    """Choose 20 of the 64 pixels of scikit-learn's handwritten digits, and show them.

    Writes ufselect-demo.png and the report ufselect-demo.html to the current folder.
    """
    check_outputs((PICTURE, PAGE), force)
    options = ReadOptions()
    table = open_data("digits", options, quiet=True)
    with working("DSCOFS on 1797 images of 8 × 8 pixels:"):
        run = run_selection(table, DEMO, verbose=True)
    shape = table.image_shape or (8, 8)
    picture = Group(
        Text("Pixels kept", style="bold"), Text(), pixel_map(run.selector.support_, shape, table.image_order)
    )
    output().print(Columns([feature_table(run), Panel(picture)]), highlight=False)

    digits = np.asarray(table.labels)
    with working("Drawing …"):
        from ufselect.plotting.images import pixel_figure

        examples = [int(np.argmax(digits == digit)) for digit in (0, 2, 3, 5, 8, 9)]
        figure = pixel_figure(
            run.selector,
            run.data,
            shape,
            order=table.image_order,
            examples=examples,
            feature_names=table.feature_names,
        )
        write_atomically(PICTURE, lambda target: figure.savefig(target, dpi=160), force)
    write_report(run, record_of(run, options), PAGE, force, resamples=10)
    errors().print(f"Wrote {PICTURE} and {PAGE}; open the page in a browser.", highlight=False)
    errors().print(
        "Next, your own table: ufselect select table.csv -k 20 -o picked.csv --report page.html",
        highlight=False,
    )
