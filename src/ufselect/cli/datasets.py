"""``ufselect datasets``: list the data sets that can be given by name."""

from __future__ import annotations

from ufselect.cli import options as opt


def datasets(as_json: opt.AsJson = False, debug: opt.Debug = False) -> None:
    """List the data sets that can be given by name."""
    from ufselect.cli.text import grid, output
    from ufselect.datasets import list_datasets, load_dataset
    from ufselect.datasets.catalogue import ENTRIES
    from ufselect.datasets.loading import local_file

    found: list[dict[str, str | int]] = []
    for name in list_datasets():
        if name in ENTRIES:
            entry = ENTRIES[name]
            shape = (entry.n_samples, entry.n_features, entry.n_classes)
            where = "on this machine" if local_file(name, entry) is not None else "to be fetched"
        else:
            loaded = load_dataset(name)
            shape, where = (*loaded.data.shape, len(set(loaded.target))), "with scikit-learn"
        found.append(
            dict(zip(("name", "samples", "features", "classes", "where"), (name, *shape, where), strict=True))
        )
    if as_json:
        output().print_json(data=found)
        return
    header = ("name", "samples>", "features>", "classes>", "where")
    output().print(grid(None, header, [tuple(row.values()) for row in found]))
    output().print("ufselect select NAME uses one, and downloads it first if necessary.")
