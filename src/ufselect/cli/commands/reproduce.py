"""``ufselect reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ufselect.cli import options as opt


def reproduce(
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Folder of tables, figures and the page index.html.")
    ] = Path("ufselect-reproduction"),
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", help="A data set; may be repeated. The paper's without it."),
    ] = None,
    method: opt.StudyMethods = None,
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
    opt.jobs(jobs)
    from ufselect.cli.comparing import grid
    from ufselect.cli.console import output
    from ufselect.cli.methods import find_method
    from ufselect.cli.reporting import run_study, study_settings

    methods = [find_method(name).__name__ for name in method] if method else None
    study = run_study(folder, study_settings(dataset, methods, quick, exact), jobs, fresh)
    output().print(grid(study.tables[0]), highlight=False)
