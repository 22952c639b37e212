"""``ufselect reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ufselect.cli import options as opt
from ufselect.cli.commands.compare import grid
from ufselect.cli.console import errors, output, working
from ufselect.cli.methods import find_method


def reproduce(
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Folder of tables, figures and the page index.html.")
    ] = Path("ufselect-reproduction"),
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", help="A data set; may be repeated. The paper's without it."),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", "-m", help="A method; may be repeated. All without it.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A short version on data that need no download.")
    ] = False,
    exact: Annotated[bool, typer.Option("--exact", help="50 runs for every parameter; takes days.")] = False,
    jobs: opt.Jobs = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Discard the results in the folder and start anew.")
    ] = False,
) -> None:
    """Repeat the experiments of the DSCOFS paper; a run that was stopped is taken up again.

    Example: ufselect reproduce --quick -o study
    """
    from ufselect import reproduction
    from ufselect.reproduction.study_page import publish

    methods = [find_method(name).__name__ for name in method] if method else None
    with working("Reproducing:"):
        study = reproduction.reproduce(
            folder,
            datasets=dataset or None,
            methods=methods,
            quick=quick,
            exact=exact,
            n_jobs=jobs,
            resume=not fresh,
            publish=publish,
        )
    output().print(grid(study.tables[0]), highlight=False)
    errors().print(f"Wrote {folder / 'index.html'}; open it in a browser.", markup=False, highlight=False)
