"""Names of other projects that the documentation refers to, as inventories that need no network."""

from __future__ import annotations

import zlib
from pathlib import Path
from tempfile import mkdtemp

NAMES: dict[str, tuple[str, dict[str, str]]] = {
    "python": (
        "https://docs.python.org/3/",
        {
            "exc:TypeError": "library/exceptions.html#TypeError",
            "exc:ValueError": "library/exceptions.html#ValueError",
        },
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        {"class:numpy.memmap": "reference/generated/numpy.memmap.html"},
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        {"class:pandas.DataFrame": "reference/api/pandas.DataFrame.html"},
    ),
    "dask": (
        "https://docs.dask.org/en/stable/",
        {"class:dask.array.Array": "generated/dask.array.Array.html"},
    ),
    "sklearn": (
        "https://scikit-learn.org/stable/",
        {
            f"{role}:sklearn.{name}": f"modules/generated/sklearn.{name}.html"
            for role, name in (
                ("class", "cluster.KMeans"),
                ("class", "decomposition.PCA"),
                ("function", "metrics.normalized_mutual_info_score"),
                ("class", "model_selection.GridSearchCV"),
                ("class", "pipeline.Pipeline"),
                ("class", "preprocessing.StandardScaler"),
            )
        },
    ),
}


def inventories() -> dict[str, tuple[str, str]]:
    """Write an inventory for each project and return what intersphinx is to read."""
    folder = Path(mkdtemp(prefix="inventories-"))
    mapping = {}
    for project, (address, places) in NAMES.items():
        path = folder / f"{project}.inv"
        path.write_bytes(inventory(project, places))
        mapping[project] = (address, str(path))
    return mapping


def inventory(project: str, places: dict[str, str]) -> bytes:
    """Return a file in Sphinx's format: ``role:name`` to the place of its description."""
    head = (
        "# Sphinx inventory version 2\n"
        f"# Project: {project}\n"
        "# Version: \n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    lines = "".join(
        f"{name} py:{role} 1 {place} -\n"
        for (role, _, name), place in ((key.partition(":"), place) for key, place in places.items())
    )
    return head.encode() + zlib.compress(lines.encode())
