from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from ufselect.auto import AutoSelector
from ufselect.evaluation import ResultStore, compare, runner
from ufselect.evaluation.fitting import FitTask, fit_tasks, run_fit
from ufselect.evaluation.keys import Params, data_key, subset_key
from ufselect.evaluation.methods import Method, choose_methods
from ufselect.evaluation.protocol import Protocol, default_counts, make_problem
from ufselect.metrics import evaluate_selection
from ufselect.registry import all_selectors, missing_requirements
from ufselect.selectors import DSCOFS

COUNTS = [2, 4, 6]


def store_rows(path):
    with ResultStore(path) as store:
        return [replace(row, seconds=0.0) for row in store.selections()], list(store.scores())


def test_scores_are_those_of_the_metric(blobs):
    X, y = blobs
    result = compare(X, y, ["MaxVariance"], COUNTS, n_runs=4)
    row = next(row for row in result.rows if row.method == "MaxVariance" and row.n_features == 4)
    expected = evaluate_selection(X, y, np.argsort(-X.std(axis=0))[:4], 4, "k-means++", 0)
    assert row.acc_mean == pytest.approx(expected.acc_mean)
    assert row.nmi_std == pytest.approx(expected.nmi_std)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, selector in all_selectors().items() if selector.is_nested])
def test_one_fit_serves_all_counts_of_nested_methods(name, blobs):
    selector = all_selectors()[name]
    if missing_requirements(selector):
        pytest.skip("needs an extra")
    settings = {"random_state": 0} if selector.is_stochastic else {}
    small = selector(n_features_to_select=2, **settings).fit(blobs[0])
    large = selector(n_features_to_select=6, **settings).fit(blobs[0])
    np.testing.assert_array_equal(small.ranking_, large.ranking_)


def test_a_path_task_gives_the_subsets_of_separate_fits(blobs):
    X, _ = blobs
    points = [
        Params({"n_components": 3, "mu_entry": mu, "entry_sparsity": a})
        for mu in (0.1, 1.0)
        for a in (0.2, 0.4)
    ]
    method = Method("DSCOFS", "DSCOFS", DSCOFS, tuple(points))
    tasks = list(fit_tasks(method, COUNTS, X.shape[1]))
    assert len(tasks) == 2
    rows = [row for task in tasks for row in run_fit(X, "d", task)]
    assert len(rows) == len(points) * len(COUNTS)
    for row in rows:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = DSCOFS(row.n_features, **row.params).fit(X)
        assert row.features == tuple(np.flatnonzero(alone.support_))


def test_a_task_of_many_row_penalties_shares_the_gram_operator(blobs):
    X, _ = blobs
    points = tuple(
        Params(
            {"n_components": 3, "mu_row": mu, "entry_sparsity": a, "init": "random", "penalty_scale": scale}
        )
        for mu in (0.1, 100.0)
        for a in (0.2, 0.4)
        for scale in ("absolute", "relative")
    )
    method = Method("DSCOFS", "DSCOFS", DSCOFS, points, n_seeds=2)
    tasks = list(fit_tasks(method, [4], X.shape[1]))
    assert len(tasks) == 4  # two scales, two seeds
    for task in tasks:
        for row in run_fit(X, "d", task):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                alone = DSCOFS(4, random_state=row.seed, **row.params).fit(X)
            assert row.features == tuple(np.flatnonzero(alone.support_))


def test_starts_that_are_kept_apart_have_rows_of_their_own(blobs, tmp_path):
    problem = make_problem("p", *blobs, [2, 4])
    points = tuple(Params({"n_components": 3, "mu_row": mu, "init": "random"}) for mu in (0.1, 100.0))
    apart = Method("apart", "apart", DSCOFS, points, n_seeds=3, starts_apart=True)
    joint = replace(apart, key="joint", starts_apart=False)
    protocol = Protocol(n_runs=4, screening_runs=None)
    with ResultStore(tmp_path / "r.sqlite") as store:
        rows = runner.Runner(store, protocol).run(problem, [apart, joint]).rows
    by_start = [row for row in rows if row.method == "apart"]
    assert [row.start for row in by_start if row.params == points[0] and row.n_features == 4] == [0, 1, 2]
    together = next(r for r in rows if (r.method, r.params, r.n_features) == ("joint", points[0], 4))
    own = [row.acc_mean for row in by_start if row.params == points[0] and row.n_features == 4]
    assert together.acc_mean == pytest.approx(np.mean(own))
    assert together.start is None


def test_a_point_that_fails_is_recorded_and_spares_the_others(blobs):
    X, _ = blobs
    points = tuple(Params({"n_components": 3, "entry_sparsity": a}) for a in (0.01, 0.5))
    bad, good = run_fit(X, "d", FitTask("DSCOFS", DSCOFS, points, (4,), 0, "v"))
    assert (bad.status, bad.features) == ("failed", ())
    assert "entry_sparsity" in bad.note
    assert good.status == "ok"
    assert len(good.features) == 4


def test_equal_subsets_are_clustered_once(blobs, monkeypatch):
    X, y = blobs
    clustered = []

    def counting(X, y, features, *rest):
        clustered.append(subset_key(features))
        return evaluate_selection(X, y, features, *rest)

    monkeypatch.setattr(runner, "evaluate_selection", counting)
    result = compare(X, y, ["MaxVariance", "DSCOFS"], COUNTS, mode="oracle", exact=True, quick=True)
    assert len(clustered) == len(set(clustered))
    assert len(clustered) < sum(row.n_starts for row in result.rows)


def test_a_second_run_computes_nothing(blobs, tmp_path, monkeypatch):
    X, y = blobs
    first = compare(X, y, ["DSCOFS"], COUNTS, mode="oracle", quick=True, store=tmp_path / "r.sqlite")
    monkeypatch.setattr(runner, "run_fit", None)
    monkeypatch.setattr(runner, "run_scores", None)
    second = compare(X, y, ["DSCOFS"], COUNTS, mode="oracle", quick=True, store=tmp_path / "r.sqlite")
    assert first.rows == second.rows


def test_processes_give_the_same_rows(blobs, tmp_path):
    X, y = blobs
    for name, n_jobs in (("one", 1), ("two", 2)):
        compare(X, y, ["DSCOFS"], [2, 4], mode="oracle", quick=True, n_jobs=n_jobs, store=tmp_path / name)
    assert store_rows(tmp_path / "one") == store_rows(tmp_path / "two")


def test_a_dask_client_gives_the_same_rows(blobs, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    X, y = blobs
    compare(X, y, ["MaxVariance"], [2], quick=True, store=tmp_path / "one")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.Client(
            processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as c:
            compare(X, y, ["MaxVariance"], [2], quick=True, client=c, store=tmp_path / "two")
    assert store_rows(tmp_path / "one") == store_rows(tmp_path / "two")


def test_screening_scores_finalists_like_exact_mode(blobs):
    X, y = blobs
    screened = compare(X, y, ["DSCOFS"], COUNTS, mode="oracle", quick=True)
    exact = compare(X, y, ["DSCOFS"], COUNTS, mode="oracle", quick=True, exact=True)
    by_point = {(row.method, row.params, row.n_features): row.acc_mean for row in exact.rows}
    assert len(screened.rows) <= len(exact.rows)
    for row in screened.rows:
        assert row.acc_mean == by_point[row.method, row.params, row.n_features]


def test_random_methods_average_over_starts(blobs):
    X, y = blobs
    result = compare(X, y, ["MaxVariance"], [3], n_runs=3)
    random, variance = (
        next(row for row in result.rows if row.method == name) for name in ("RandomSubset", "MaxVariance")
    )
    assert random.n_starts == 10
    assert random.acc_start_std > 0
    assert (variance.n_starts, variance.acc_start_std) == (1, 0.0)
    assert random.acc_mean == pytest.approx(np.mean(random.acc_runs))


def test_baselines_are_always_there(blobs):
    X, y = blobs
    problem = make_problem("p", X, y, COUNTS)
    for mode in ("fixed", "oracle"):
        keys = [m.key for m in choose_methods(["MaxVariance"], mode, problem, Protocol())]
        assert {"AllFeatures", "RandomSubset", "PCALeverage"} <= set(keys)
    assert "BestRandomSubset" in keys


def test_auto_mode_is_the_choice_without_labels(blobs):
    X, y = blobs
    result = compare(X, y, ["MaxVariance"], [4], mode="auto", n_runs=3)
    row = next(row for row in result.rows if row.method == "AutoSelector")
    alone = AutoSelector(4, n_clusters=3, random_state=0).fit(X)
    assert row.subsets == (subset_key(np.flatnonzero(alone.support_)),)
    assert "Mode auto" in result.tables["acc"].title


def test_budget_bounds_every_method(blobs):
    problem = make_problem("p", *blobs, COUNTS)
    for method in choose_methods(None, "oracle", problem, Protocol(max_points=5)):
        assert len(method.points) <= 5
        assert len(set(method.points)) == len(method.points)


def test_progress_counts_to_the_end(blobs):
    events = []
    compare(*blobs, ["MaxVariance"], [2], n_runs=2, progress=events.append)
    last = {event.stage: (event.done, event.total) for event in events}
    assert all(done == total for done, total in last.values())
    assert events[-1].left == 0
    assert "data: " in str(events[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "best"}, "mode must be one of"),
        ({"methods": ["Nonsense"]}, "Unknown method"),
        ({"counts": [500]}, "None of the counts"),
        ({"seeding": "magic"}, "seeding must be one of"),
        ({"n_runs": 0}, "n_runs must be at least 1"),
    ],
)
def test_bad_settings_are_refused_at_once(blobs, change, message):
    with pytest.raises(ValueError, match=message):
        compare(*blobs, **change)


def test_one_class_is_refused(blobs):
    with pytest.raises(ValueError, match="one class only"):
        compare(blobs[0], np.zeros(60))


def test_hashes_tell_data_apart_and_ignore_label_names(blobs):
    X, y = blobs
    assert data_key(X, y) == data_key(X.copy(), np.array(["a", "b", "c"])[y])
    assert data_key(X, y) != data_key(X + 1e-9, y)
    assert subset_key(np.array([3, 1])) == subset_key(np.array([1, 3]))
    assert str(Params({"b": np.float64(1.5), "a": 2})) == '{"a": 2, "b": 1.5}'
    with pytest.raises(TypeError, match="cannot be stored"):
        Params({"a": np.zeros(2)})


@pytest.mark.parametrize("n_features", [3, 13, 64, 1024])
def test_default_counts_fit(n_features):
    counts = default_counts(n_features)
    assert list(counts) == sorted(set(counts))
    assert 1 <= counts[0] <= counts[-1] < n_features
