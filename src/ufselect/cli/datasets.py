"""``ufselect datasets``: the data sets that have a name."""

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
    debug: opt.Debug = False,
) -> None:
    """List the data sets that have a name, and where they are."""
    from ufselect.cli.text import grid, output, working
    from ufselect.datasets import list_datasets, load_dataset

    if fetch is not None:
        with working(f"Fetching {fetch} …"):
            loaded = load_dataset(fetch)
        rows, columns = loaded.data.shape
        output().print(f"{fetch}: {rows} samples, {columns} features, ready.", highlight=False)
        return
    found = [_row(name) for name in list_datasets()]
    if as_json:
        output().print_json(data=found)
        return
    header = ("name", "samples>", "features>", "classes>", "where")
    output().print(grid(None, header, [tuple(row.values()) for row in found]), highlight=False)
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
