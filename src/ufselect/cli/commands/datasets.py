"""``ufselect datasets``."""

from __future__ import annotations

from typing import Annotated

import typer

from ufselect.cli import options as opt


def datasets(
    fetch: Annotated[
        str | None,
        typer.Option("--fetch", metavar="NAME", help="Make sure that a data set is on this machine."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the data sets that have a name, and where they are."""
    from rich.table import Table as Grid

    from ufselect.cli.console import output, working
    from ufselect.datasets import list_datasets, load_dataset

    if fetch is not None:
        with working(f"Fetching {fetch} …"):
            loaded = load_dataset(fetch)
        rows, columns = loaded.data.shape
        output().print(f"{fetch}: {rows} samples, {columns} features, ready.", highlight=False)
        return
    rows_ = [_row(name) for name in list_datasets()]
    if as_json:
        output().print_json(data=rows_)
        return
    grid = Grid()
    for title, justify in (
        ("name", "left"),
        ("samples", "right"),
        ("features", "right"),
        ("classes", "right"),
        ("where", "left"),
    ):
        grid.add_column(title, justify=justify)  # type: ignore[arg-type]
    for row in rows_:
        grid.add_row(*(str(value) for value in row.values()))
    output().print(grid, highlight=False)
    output().print("ufselect datasets --fetch NAME gets one; ufselect select NAME uses it.", highlight=False)


def _row(name: str) -> dict[str, str | int]:
    from ufselect.datasets import load_dataset
    from ufselect.datasets.catalogue import ENTRIES
    from ufselect.datasets.loading import local_file

    if name in ENTRIES:
        entry = ENTRIES[name]
        shape = (entry.n_samples, entry.n_features, entry.n_classes)
        where = "on this machine" if local_file(name, entry) is not None else "to be fetched"
    else:
        loaded = load_dataset(name)
        shape = (*loaded.data.shape, len(set(loaded.target)))
        where = "with scikit-learn"
    return {"name": name, "samples": shape[0], "features": shape[1], "classes": shape[2], "where": where}
