"""The version, and the environment for bug reports."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from ufselect import __version__
from ufselect.cli.console import output

REQUIRED = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
OPTIONAL = ("typer", "rich", "pandas", "matplotlib", "pyarrow", "anndata", "h5py", "pooch", "dask", "torch")


def show_version(verbose: bool) -> None:
    """Print the version, or everything that a bug report should name."""
    if not verbose:
        sys.stdout.write(f"ufselect {__version__}\n")
        return
    from rich.table import Table as Grid

    grid = Grid(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in environment().items():
        grid.add_row(name, value)
    output().print(grid, highlight=False)


def environment() -> dict[str, str]:
    """Return versions, platform and linear algebra libraries by name."""
    from threadpoolctl import threadpool_info

    found = {
        "ufselect": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": str(os.cpu_count()),
    }
    for package in (*REQUIRED, *OPTIONAL):
        found[package] = _version(package)
    for pool in threadpool_info():
        found[f"threads ({pool['prefix']})"] = (
            f"{pool['num_threads']}, {pool['internal_api']} {pool['version'] or ''}"
        )
    return found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
