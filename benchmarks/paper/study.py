"""The experiments of the paper, in one call."""

from __future__ import annotations

import csv
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.common import code_version
from benchmarks.paper.ablation import ablation
from benchmarks.paper.choice import best_of_each_start, grouped
from benchmarks.paper.experiments import bootstrap_stability, dissect, seconds_of_fits
from benchmarks.paper.figures import write_figures
from benchmarks.paper.methods import (
    AS_RUN,
    N_STARTS,
    TWINS,
    paper_grid,
    random_start,
    rivals_as_run,
    rows_only,
    teacher_student,
)
from benchmarks.paper.printed import FIGURE_SETS, TITLES
from benchmarks.paper.printed import TSFS as TSFS_SETS
from benchmarks.paper.race import Race, RaceOutcome
from benchmarks.paper.shapes import drawn_planes, shape_results
from benchmarks.paper.tables import EIGHT, study_tables
from numpy.typing import NDArray

from ufselect.compare.compare import Table
from ufselect.compare.methods import (
    PAPER_COUNTS,
    QUICK,
    Method,
    Problem,
    Protocol,
    choose_methods,
    default_counts,
    make_problem,
)
from ufselect.compare.runner import Row
from ufselect.datasets import DatasetUnavailableError, load_dataset

# They come with scikit-learn, so that the short version needs no network.
QUICK_SETS = ("digits", "breast_cancer", "wine")
logger = logging.getLogger("ufselect.compare")


@dataclass
class Study:
    """All that a reproduction found.

    ``datasets`` are those asked for, ``unavailable`` says why some could not be had; ``problems``,
    ``methods`` (of the oracle runs), ``ablations`` (of our space and of the published grid) and
    ``stabilities`` are by data set, ``outcomes`` by mode and data set. ``seconds`` are those of the fit
    behind the best accuracy of the paper's methods, from the first start; ``minutes`` what each part of the
    run took.
    """

    protocol: Protocol
    screening_runs: int | None
    quick: bool
    datasets: tuple[str, ...]
    unavailable: dict[str, str] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict, repr=False)
    outcomes: dict[str, dict[str, RaceOutcome]] = field(default_factory=dict, repr=False)
    methods: dict[str, dict[str, Method]] = field(default_factory=dict, repr=False)
    ablations: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    stabilities: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    minutes: dict[str, float] = field(default_factory=dict)
    shapes: list[dict[str, Any]] = field(default_factory=list, repr=False)
    dissections: dict[str, dict[str, NDArray]] = field(default_factory=dict, repr=False)
    planes: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict, repr=False)
    tables: list[Table] = field(default_factory=list, repr=False)

    def rows(self, mode: str) -> list[Row]:
        """Return the final rows of a mode over all data sets."""
        return [row for outcome in self.outcomes[mode].values() for row in outcome.rows]


def reproduce(
    output_dir: str | Path,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    exact: bool = False,
    n_jobs: int | None = None,
    progress: Callable[..., object] | bool | None = None,
    protocol: Protocol | None = None,
) -> Study:
    """Run the experiments of the DSCOFS paper and write their tables and figures.

    The folder gets ``tables/`` in Markdown, each with the commit of the code, ``figures/`` as PNG and PDF,
    ``rows.csv`` (every row), ``run.log`` and ``cache/``, from which a run of the same commit that was stopped
    continues.

    ``datasets`` are names for :func:`ufselect.datasets.load_dataset`; None takes the paper's eight, of which
    those that cannot be had keep their place in the tables, or with ``quick`` sets that come with
    scikit-learn. ``methods`` are class names or labels; None takes all that can run here. ``quick`` is a
    short version for the machinery, not for its numbers; ``exact`` scores every parameter point with 50 runs
    instead of screening with five first. ``progress`` is as in :func:`~ufselect.compare.compare`;
    ``protocol`` has other settings than those of the paper.

    Raises
    ------
    DatasetUnavailableError
        If none of the data sets can be had.
    """
    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")  # a clone stays clean, whatever the folder
    if protocol is None:
        protocol = Protocol(**QUICK) if quick else Protocol()
    screening_runs = None if exact else 3 if quick else 5
    study = Study(protocol, screening_runs, quick, tuple(datasets or (QUICK_SETS if quick else TITLES)))
    with _log_file(folder / "run.log"):
        _load(study)
        store = folder / "cache" / code_version().replace(" ", "_")  # a changed program starts anew
        _run(study, Race(protocol, store, n_jobs, progress, screening_runs), methods)
    (folder / "tables").mkdir(exist_ok=True)
    for table in study.tables:
        text = f"{table.to_markdown()}\nCode: ufselect {code_version()}.\n"
        (folder / "tables" / f"{table.name}.md").write_text(text, encoding="utf-8")
    write_figures(study, folder / "figures")
    rows = [{"mode": mode, **row} for mode in study.outcomes for row in study.rows(mode)]
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return study


@contextmanager
def _log_file(path: Path) -> Iterator[None]:
    """Write the log of a run to a file beside its results."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        handler.close()


def _load(study: Study) -> None:
    """Load what can be had of the data sets."""
    if not study.quick:
        with suppress(DatasetUnavailableError):  # the points of Banana are then generated
            load_dataset("banana")
    for name in study.datasets:
        try:
            bunch = load_dataset(name)
        except DatasetUnavailableError as error:
            study.unavailable[name] = str(error)
            logger.info("%s", error)
            continue
        X, y = bunch.data, bunch.target
        if study.quick:  # 400 are enough for K-means to find ten classes, and few enough for SOGFS
            kept = np.random.RandomState(0).permutation(len(X))[:400] if len(X) > 400 else slice(None)
            X, y = X[kept], y[kept]
        counts = PAPER_COUNTS if X.shape[1] > max(PAPER_COUNTS) else default_counts(X.shape[1])
        study.problems[name] = make_problem(name, X, y, counts[1::2] if study.quick else counts)
    if not study.problems:
        raise DatasetUnavailableError(
            "None of the data sets can be had: "
            + " ".join(study.unavailable.values())
            + " Use --quick for sets that come with scikit-learn."
        )


def _run(study: Study, runner: Race, request: Sequence[str] | None) -> None:
    """Carry out the experiments, one after the other."""
    problems, quick = study.problems, study.quick
    study.outcomes = {mode: {} for mode in ("oracle", "fixed")}
    # Data sets that figures with a panel per set show where none of the paper's is there; more fit no page.
    shown = [name for name in problems if name in FIGURE_SETS] or list(problems)[:4]
    for name, problem in problems.items():
        with _timed(study, name):
            for mode, outcomes in study.outcomes.items():
                chosen = choose_methods(request, mode, problem, runner.protocol)
                if mode == "oracle":
                    chosen = [
                        *(method for method in chosen if method.key != "TSFS"),
                        *_of_the_paper(chosen, problem, request, runner.protocol, quick),
                    ]
                    study.methods[name] = {method.key: method for method in chosen}
                if mode == "fixed":
                    chosen += [random_start(method) for method in chosen if method.key == "DSCOFS"]
                    study.stabilities[name] = bootstrap_stability(runner, problem, chosen, 3 if quick else 10)
                counts = problem.counts if mode == "oracle" else problem.counts[-1:]
                outcomes[name] = runner.run(replace(problem, counts=counts), chosen)
            outcome = study.outcomes["oracle"][name]
            if "DSCOFS" in study.methods[name]:
                study.ablations[name] = {method: ablation(outcome, method) for method in TWINS}
            as_run = {AS_RUN.get(method, method) for method in EIGHT}
            groups = {key: rows for (key,), rows in grouped(outcome.rows, "method").items() if key in as_run}
            timed = [best_of_each_start(rows, "acc")[0] for rows in groups.values()]
            study.seconds[name] = seconds_of_fits(runner, problem, timed)
            if name in shown:
                study.dissections[name] = dissect(runner, problem)
    with _timed(study, "synthetic sets"):
        study.shapes = shape_results(runner, request, 3 if quick else 20, tuned=not quick)
        study.planes = drawn_planes(runner)
    study.tables = study_tables(study)


@contextmanager
def _timed(study: Study, part: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    study.minutes[part] = (time.monotonic() - started) / 60


def _of_the_paper(
    chosen: Sequence[Method],
    problem: Problem,
    request: Sequence[str] | None,
    protocol: Protocol,
    quick: bool,
) -> Iterator[Method]:
    """Yield what the paper runs beside the methods' own search spaces, for those among the chosen."""
    keys = {method.key: method for method in chosen}
    if "DSCOFS" in keys:
        yield rows_only(keys["DSCOFS"])
        grid = paper_grid(problem, 2 if quick else N_STARTS)
        if quick:  # every so many points, since the whole grid takes minutes
            grid = replace(grid, points=grid.points[:: -(-len(grid.points) // protocol.max_points)])
        yield grid
        yield rows_only(grid)
    for method in rivals_as_run(problem):
        if any(AS_RUN.get(key) == method.key for key in keys):
            yield method
    named = request is not None and "TSFS" in keys
    if named or (request is None and problem.name in TSFS_SETS):
        yield teacher_student(problem)
