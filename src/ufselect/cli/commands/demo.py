"""``ufselect demo``."""

from __future__ import annotations

from ufselect.cli import options as opt


def demo(force: opt.Force = False) -> None:
    """Choose 20 of the 64 pixels of scikit-learn's handwritten digits, and show them.

    Writes ufselect-demo.png and the report ufselect-demo.html to the current folder.
    """
    from ufselect.cli.demonstrating import run_demo

    run_demo(force)
