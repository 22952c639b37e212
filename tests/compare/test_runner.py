from __future__ import annotations

import csv
import io
import json
import warnings
from dataclasses import replace

import joblib
import numpy as np
import pytest

from ufselect import DSCOFS, AutoSelector
from ufselect._registry import all_selectors
from ufselect.compare import Comparison, Protocol, compare, runner
from ufselect.compare.compare import Table
from ufselect.compare.methods import Method, choose_methods, default_counts, make_problem
from ufselect.compare.runner import fit_families, fit_points
from ufselect.metrics import evaluate_selection

COUNTS = [2, 4, 6]


def without_seconds(result):
    return [{**row, "seconds": 0.0} for row in result.rows]


def test_scores_are_those_of_the_metric(blobs):
    X, y = blobs
    result = compare(X, y, ["MaxVariance"], COUNTS, n_runs=4)
    row = next(row for row in result.rows if row["method"] == "MaxVariance" and row["n_features"] == 4)
    expected = evaluate_selection(X, y, np.argsort(-X.std(axis=0))[:4], 4, "k-means++", 0)
    assert row["acc_mean"] == pytest.approx(expected.acc_mean)
    assert row["nmi_std"] == pytest.approx(expected.nmi_std)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, selector in all_selectors().items() if selector.is_nested])
def test_one_fit_serves_all_counts_of_nested_methods(name, blobs):
    selector = all_selectors()[name]
    settings = {"random_state": 0} if selector.is_stochastic else {}
    small = selector(n_features_to_select=2, **settings).fit(blobs[0])
    large = selector(n_features_to_select=6, **settings).fit(blobs[0])
    np.testing.assert_array_equal(small.ranking_, large.ranking_)


def fits(X, method, counts):
    """Return the families of a method's grid, and the selections of all of them."""
    families = list(fit_families(method, counts, X.shape[1]))
    return families, [each for family in families for each in fit_points(X, method.selector, *family)]


@pytest.mark.parametrize("counts", [COUNTS, [4]])
def test_points_that_share_a_fit_select_as_by_themselves(blobs, counts):
    X, _ = blobs
    points = tuple(
        {"n_components": 3, "mu_row": mu, "entry_sparsity": a, "init": "random", "penalty_scale": scale}
        for mu in (0.1, 100.0)
        for a in (0.2, 0.4)
        for scale in ("absolute", "relative")
    )
    families, selections = fits(X, Method("DSCOFS", "DSCOFS", DSCOFS, points, n_seeds=2), counts)
    assert len(families) == 4  # two scales, two seeds
    assert len(selections) == 2 * len(points) * len(counts)
    for each in selections:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = DSCOFS(each["n_features"], random_state=each["seed"], **json.loads(each["params"])).fit(X)
        assert each["features"] == tuple(np.flatnonzero(alone.support_))


def test_starts_that_are_kept_apart_have_rows_of_their_own(blobs):
    problem = make_problem("p", *blobs, [2, 4])
    points = tuple({"n_components": 3, "mu_row": mu, "init": "random"} for mu in (0.1, 100.0))
    apart = Method("apart", "apart", DSCOFS, points, n_seeds=3, starts_apart=True)
    joint = replace(apart, key="joint", starts_apart=False)
    rows = runner.Runner(Protocol(n_runs=4)).run(problem, [apart, joint])[0]
    first = runner.params_text(points[0])
    own = [r for r in rows if (r["method"], r["params"], r["n_features"]) == ("apart", first, 4)]
    assert [row["start"] for row in own] == [0, 1, 2]
    together = next(r for r in rows if (r["method"], r["params"], r["n_features"]) == ("joint", first, 4))
    assert together["acc_mean"] == pytest.approx(np.mean([row["acc_mean"] for row in own]))
    assert together["start"] is None


def test_a_point_that_fails_is_recorded_and_spares_the_others(blobs):
    points = tuple({"n_components": 3, "entry_sparsity": a} for a in (0.01, 0.5))
    method = Method("DSCOFS", "DSCOFS", DSCOFS, points)
    _, (bad, good) = fits(blobs[0], method, [4])
    assert bad["features"] == ()
    assert "entry_sparsity" in bad["note"]
    assert len(good["features"]) == 4
    rows, failures = runner.Runner(Protocol(n_runs=2)).run(make_problem("p", *blobs, [4]), [method])
    assert list(failures) == [("DSCOFS", runner.params_text(points[0]))]
    assert {row["params"] for row in rows} == {runner.params_text(points[1])}


def test_equal_subsets_are_clustered_once(blobs, monkeypatch):
    X, y = blobs
    clustered = []

    def counting(X, y, features, *rest):
        clustered.append(tuple(features))
        return evaluate_selection(X, y, features, *rest)

    monkeypatch.setattr(runner, "evaluate_selection", counting)
    result = compare(X, y, ["MaxVariance", "DSCOFS"], COUNTS, mode="oracle", quick=True)
    assert len(clustered) == len(set(clustered))
    assert len(clustered) < sum(row["n_starts"] for row in result.rows)


def test_processes_give_the_same_rows(blobs):
    X, y = blobs
    one, two = (compare(X, y, ["MaxVariance"], [2, 4], n_runs=2, n_jobs=n) for n in (1, 2))
    assert without_seconds(one) == without_seconds(two)


def test_a_dask_cluster_gives_the_same_rows(blobs):
    distributed = pytest.importorskip("distributed")
    X, y = blobs
    one = compare(X, y, ["MaxVariance"], [2], n_runs=2)
    cluster = distributed.Client(processes=False, n_workers=1, dashboard_address=":0")
    with cluster, joblib.parallel_config(backend="dask"):
        two = compare(X, y, ["MaxVariance"], [2], n_runs=2)
    assert without_seconds(one) == without_seconds(two)


def test_random_methods_average_over_starts(blobs):
    X, y = blobs
    result = compare(X, y, ["MaxVariance"], [3], n_runs=3)
    random, variance = (
        next(row for row in result.rows if row["method"] == name) for name in ("RandomSubset", "MaxVariance")
    )
    assert random["n_starts"] == len(random["features"]) == 10
    assert random["acc_start_std"] > 0
    assert (variance["n_starts"], variance["acc_start_std"]) == (1, 0.0)
    assert random["acc_mean"] == pytest.approx(np.mean(random["acc_runs"]))


def test_rows_are_a_flat_table(blobs):
    pandas = pytest.importorskip("pandas")
    rows = compare(*blobs, ["MaxVariance"], [3], n_runs=2).rows
    assert all(row.keys() == rows[0].keys() for row in rows)
    assert pandas.DataFrame(rows).set_index("label").loc["Max variance", "n_features"] == 3
    assert json.loads(json.dumps(rows))[0]["label"] == "All features"


def test_baselines_are_always_there_and_a_named_method_once(blobs):
    problem = make_problem("p", *blobs, COUNTS)
    for mode in ("fixed", "oracle", "auto"):
        keys = [method.key for method in choose_methods(["AutoSelector"], mode, problem, Protocol())]
        assert {"AllFeatures", "RandomSubset", "PCALeverage"} <= set(keys)
        assert keys.count("AutoSelector") == 1
        assert ("BestRandomSubset" in keys) == (mode == "oracle")
    assert "AutoSelector" not in [m.key for m in choose_methods(None, "fixed", problem, Protocol())]


def test_auto_mode_is_the_choice_without_labels(blobs):
    X, y = blobs
    result = compare(X, y, ["MaxVariance"], [4], mode="auto", n_runs=3)
    row = next(row for row in result.rows if row["method"] == "AutoSelector")
    alone = AutoSelector(4, goal="clusters", n_clusters=3, random_state=0).fit(X)
    assert row["features"] == [tuple(np.flatnonzero(alone.support_))]
    assert "method and parameters found without labels" in result.table().title


def test_budget_bounds_every_method(blobs):
    problem = make_problem("p", *blobs, COUNTS)
    for method in choose_methods(None, "oracle", problem, Protocol(max_points=5)):
        assert len({runner.params_text(point) for point in method.points}) == len(method.points) <= 5


def test_progress_counts_to_the_end(blobs):
    events = []
    compare(*blobs, ["MaxVariance"], [2], n_runs=2, progress=events.append)
    last = {event.stage: (event.done, event.total) for event in events}
    assert all(done == total for done, total in last.values())
    assert "about 0 s left" in str(events[-1])
    assert str(events[0]).startswith("data: fits 1/")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "best"}, "mode must be one of"),
        ({"methods": ["Nonsense"]}, "Unknown method"),
        ({"counts": [500]}, "None of the counts"),
        ({"seeding": "magic"}, "seeding must be one of"),
        ({"n_runs": 0}, "n_runs must be an integer of at least 1"),
    ],
)
def test_bad_settings_are_refused_at_once(blobs, change, message):
    with pytest.raises(ValueError, match=message):
        compare(*blobs, **change)


def test_one_class_is_refused(blobs):
    with pytest.raises(ValueError, match="only one class"):
        compare(blobs[0], np.zeros(60))


@pytest.mark.parametrize("n_features", [3, 13, 64, 1024])
def test_default_counts_fit(n_features):
    counts = default_counts(n_features)
    assert list(counts) == sorted(set(counts))
    assert 1 <= counts[0] <= counts[-1] < n_features


def test_a_line_for_each_count_or_the_best_count_by_each_metric():
    scores = {10: (60.0, 1.0), 20: (60.0, 2.0), 5: (50.0, 0.0)}
    rows = [
        {"label": "A", "n_features": n, "acc_mean": acc, "nmi_mean": nmi, "acc_std": 0.5, "nmi_std": 0.0}
        for n, (acc, nmi) in scores.items()
    ]
    fixed, oracle = (Comparison(rows, mode, Protocol(n_runs=7)).table() for mode in ("fixed", "oracle"))
    assert [line[1] for line in fixed.body] == ["5", "10", "20"]
    assert fixed.body[1] == ("A", "10", "60.00 ± 0.50", "1.00 ± 0.00")
    assert oracle.body == (("A", "60.00 ± 0.50 (10)", "2.00 ± 0.00 (20)"),)
    assert [len(table.columns) for table in (fixed, oracle)] == [4, 3]
    assert "K-means runs: 7; parameters and number of features tuned with the labels" in oracle.title


def test_forms_of_a_table():
    table = Table("t", "A & B", ("x", "y_1"), (("a, b", "1 ± 2"),))
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [["x", "y_1"], ["a, b", "1 ± 2"]]
    assert table.to_markdown() == "**A & B**\n\n| x | y_1 |\n| --- | --- |\n| a, b | 1 ± 2 |\n"
    assert table.to_latex().splitlines() == [
        r"\begin{table}", r"\caption{A \& B}", r"\begin{tabular}{lr}", r"\toprule", r"x & y\_1 \\",
        r"\midrule", r"a, b & 1 $\pm$ 2 \\", r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ]  # fmt: skip
