"""The experiments of the paper, in one call."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ufselect.datasets import DatasetUnavailableError, load_dataset
from ufselect.evaluation.choice import choose
from ufselect.evaluation.compare import QUICK
from ufselect.evaluation.events import Listener, as_listener
from ufselect.evaluation.methods import (
    ALL_FEATURES,
    BEST_DRAW,
    Method,
    choose_methods,
    random_start,
)
from ufselect.evaluation.protocol import PAPER_COUNTS, Problem, Protocol, default_counts, make_problem
from ufselect.evaluation.rank_test import RankTest, rank_test, score_matrix
from ufselect.evaluation.runner import Outcome, Runner
from ufselect.evaluation.store import ResultStore
from ufselect.evaluation.tables import method_labels
from ufselect.registry import missing_requirements
from ufselect.reproduction.ablation import PAPER_ROWS_ONLY, ROWS_ONLY, TWINS, ablation, rows_only
from ufselect.reproduction.dissection import dissect
from ufselect.reproduction.findings import Study, timed_of
from ufselect.reproduction.paper import FIGURE_SETS, TITLES
from ufselect.reproduction.paper import TSFS as TSFS_SETS
from ufselect.reproduction.paper_grid import N_STARTS, PAPER_GRID, paper_grid
from ufselect.reproduction.paper_ranks import paper_rank_test
from ufselect.reproduction.resampling import bootstrap_stability
from ufselect.reproduction.rivals import AS_RUN, rivals_as_run, teacher_student
from ufselect.reproduction.study_tables import study_tables
from ufselect.reproduction.synthetic import drawn_planes, shape_results
from ufselect.reproduction.timing import seconds_of_fits
from ufselect.selectors import TSFS

# They come with scikit-learn, so that the short version needs no network.
QUICK_SETS = ("digits", "breast_cancer", "wine")
# Enough for K-means to find ten classes, and few enough for SOGFS to take seconds.
QUICK_SAMPLES = 400
# Data sets that figures with a panel per set show where none of the paper's is there; more fit no page.
SHOWN_SETS = 4
N_BOOTSTRAP, N_DRAWS = 10, 20
QUICK_BOOTSTRAP = QUICK_DRAWS = 3
N_QUICK_STARTS = 2
STUDY_MODES = ("oracle", "fixed", "auto")
# Draws, and second settings of methods that are ranked already.
UNRANKED = (ALL_FEATURES, BEST_DRAW, "RandomSubset", ROWS_ONLY, PAPER_ROWS_ONLY, PAPER_GRID, *AS_RUN.values())
logger = logging.getLogger("ufselect.evaluation")


def reproduce(
    output_dir: str | Path,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    exact: bool = False,
    n_jobs: int = 1,
    resume: bool = True,
    client: Any = None,
    progress: Listener | bool | None = None,
    publish: Callable[[Study, Path], None] | None = None,
    protocol: Protocol | None = None,
) -> Study:
    """Run the experiments of the DSCOFS paper and write their tables.

    The folder gets ``results.sqlite`` (every row), ``run.log``, ``tables/`` (csv, Markdown, LaTeX) and
    ``summary.json``; with ``publish=ufselect.reproduction.study_page.publish`` also ``figures/`` and
    ``index.html``.

    Parameters
    ----------
    output_dir : path-like
        Folder of the results; made if absent.
    datasets : sequence of str, default=None
        Names for :func:`ufselect.datasets.load_dataset`. None takes the paper's eight; those that cannot be
        had keep their place in the tables. With ``quick``, sets that come with scikit-learn.
    methods : sequence of str, default=None
        Class names or labels; None for all that can run here. The baselines are always there.
    quick : bool, default=False
        A short version for the machinery, not for its numbers: few runs, few parameter points.
    exact : bool, default=False
        Score every parameter point with 50 runs instead of screening with five first.
    n_jobs : int, default=1
        Processes.
    resume : bool, default=True
        Take up the results in the folder. False starts anew.
    client : dask.distributed.Client, default=None
        A cluster to use instead of processes.
    progress : bool or callable, default=None
        As in :func:`~ufselect.evaluation.compare`.
    publish : callable, default=None
        Called with the study and the folder after the tables have been written.
    protocol : Protocol, default=None
        Other settings than those of the paper.

    Returns
    -------
    Study
        Everything found; ``Study.summary`` holds the means.

    Raises
    ------
    DatasetUnavailableError
        If none of the data sets can be had.
    """
    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    if not resume:
        for old in folder.glob("results.sqlite*"):
            old.unlink()
    protocol = protocol or _protocol(quick, exact)
    names = tuple(datasets or (QUICK_SETS if quick else TITLES))
    with _log_file(folder / "run.log"), ResultStore(folder / "results.sqlite") as store:
        problems, images, unavailable = _load(names, protocol, quick)
        runner = Runner(store, protocol, n_jobs, client, as_listener(progress))
        study = _run(runner, names, problems, images, unavailable, methods, quick)
    for table in study.tables:
        table.write(folder / "tables")
    (folder / "summary.json").write_text(json.dumps(study.summary, indent=1), encoding="utf-8")
    if publish is not None:
        publish(study, folder)
    return study


def _protocol(quick: bool, exact: bool) -> Protocol:
    protocol = replace(Protocol(), **QUICK) if quick else Protocol()
    return replace(protocol, screening_runs=None) if exact else protocol


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


def _load(
    names: Sequence[str], protocol: Protocol, quick: bool
) -> tuple[dict[str, Problem], dict[str, Bunch], dict[str, str]]:
    problems, images, unavailable = {}, {}, {}
    for name in names:
        try:
            bunch = load_dataset(name)
        except DatasetUnavailableError as error:
            unavailable[name] = str(error)
            logger.info("%s", error)
            continue
        X, y = bunch.data, bunch.target
        if quick and len(X) > QUICK_SAMPLES:
            kept = np.random.RandomState(0).permutation(len(X))[:QUICK_SAMPLES]
            X, y = X[kept], y[kept]
        counts = protocol.counts if X.shape[1] > max(PAPER_COUNTS) else default_counts(X.shape[1])
        problems[name] = make_problem(name, X, y, counts[1::2] if quick else counts)
        if "image_shape" in bunch:
            images[name] = Bunch(image_shape=bunch.image_shape, image_order=bunch.image_order)
    if not problems:
        raise DatasetUnavailableError(
            "None of the data sets can be had: "
            + " ".join(unavailable.values())
            + " Or pass quick=True for sets that come with scikit-learn."
        )
    return problems, images, unavailable


def _run(
    runner: Runner,
    names: tuple[str, ...],
    problems: dict[str, Problem],
    images: dict[str, Bunch],
    unavailable: dict[str, str],
    wanted: Sequence[str] | None,
    quick: bool,
) -> Study:
    outcomes: dict[str, dict[str, Outcome]] = {mode: {} for mode in STUDY_MODES}
    methods: dict[str, dict[str, Method]] = {}
    stabilities, ablations = {}, {}
    for name, problem in problems.items():
        for mode in STUDY_MODES:
            chosen = choose_methods(wanted, mode, problem, runner.protocol)
            if mode == "oracle":
                chosen = [
                    *(method for method in chosen if method.key != "TSFS"),
                    *_of_the_paper(chosen, problem, wanted, runner.protocol, quick),
                ]
                methods[name] = {method.key: method for method in chosen}
            if mode == "fixed":
                chosen += [random_start(method) for method in chosen if method.key == "DSCOFS"]
                stabilities[name] = bootstrap_stability(
                    runner, problem, chosen, QUICK_BOOTSTRAP if quick else N_BOOTSTRAP
                )
            counts = problem.counts if mode == "oracle" else problem.counts[-1:]
            outcomes[mode][name] = runner.run(replace(problem, counts=counts), chosen)
        if "DSCOFS" in methods[name]:
            found = outcomes["oracle"][name]
            ablations[name] = {method: ablation(found, method) for method in TWINS}
    shown = [name for name in problems if name in FIGURE_SETS] or list(problems)[:SHOWN_SETS]
    study = Study(
        protocol=runner.protocol,
        datasets=names,
        unavailable=unavailable,
        problems=problems,
        outcomes=outcomes,
        methods=methods,
        tables=[],
        test=_rank_test(outcomes["oracle"]),
        paper_test=paper_rank_test(outcomes["oracle"]),
        ablations=ablations,
        stabilities=stabilities,
        shapes=shape_results(runner, wanted, QUICK_DRAWS if quick else N_DRAWS, tuned=not quick),
        dissections={name: dissect(runner, problems[name]) for name in shown},
        seconds=_seconds(runner, problems, methods, outcomes["oracle"]),
        planes=drawn_planes(runner),
        images=images,
        quick=quick,
    )
    return replace(study, tables=study_tables(study))


def _of_the_paper(
    chosen: Sequence[Method],
    problem: Problem,
    wanted: Sequence[str] | None,
    protocol: Protocol,
    quick: bool,
) -> Iterator[Method]:
    """Yield what the paper runs beside the methods' own search spaces, for those among the chosen."""
    keys = {method.key: method for method in chosen}
    if "DSCOFS" in keys:
        yield rows_only(keys["DSCOFS"])
        grid = paper_grid(problem, N_QUICK_STARTS if quick else N_STARTS)
        if quick:  # every so many points, since the whole grid takes minutes
            grid = replace(grid, points=grid.points[:: -(-len(grid.points) // protocol.max_points)])
        yield grid
        yield rows_only(grid)
    for method in rivals_as_run(problem):
        if any(AS_RUN.get(key) == method.key for key in keys):
            yield method
    named = wanted is not None and "TSFS" in keys
    if named or (wanted is None and problem.name in TSFS_SETS and not missing_requirements(TSFS)):
        yield teacher_student(problem)


def _seconds(
    runner: Runner,
    problems: dict[str, Problem],
    methods: dict[str, dict[str, Method]],
    outcomes: dict[str, Outcome],
) -> dict[str, float]:
    """Time the fits that give each method its best accuracy on the data set of the paper's figure."""
    name = timed_of(problems)
    best = choose(outcomes[name].rows, "oracle", "acc")
    rows = [row for row in best.values() if row.method not in UNRANKED]
    return seconds_of_fits(runner, problems[name], methods[name], rows)


def _rank_test(outcomes: dict[str, Outcome]) -> RankTest | None:
    """Rank the selectors that have a figure on every data set; random draws take no part."""
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    chosen = choose(rows, "oracle", "acc")
    labels = {m: label for m, label in method_labels(rows).items() if m not in UNRANKED}
    complete = [m for m in labels if all((name, m) in chosen for name in outcomes)]
    if len(outcomes) < 2 or len(complete) < 3:
        return None
    return rank_test(score_matrix(chosen, list(outcomes), complete, "acc"), [labels[m] for m in complete])
