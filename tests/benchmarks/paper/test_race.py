"""The race: a point is dropped only if it is most unlikely to win."""

from __future__ import annotations

import numpy as np
from benchmarks.paper.race import Race, contenders, leaders, place_of
from benchmarks.paper.shapes import shape_methods, shape_problem
from tests.benchmarks.paper.rows import make_row

from ufselect.compare import Protocol

N_RUNS = 50


def row(runs, number=0, method="A", **rest):
    return make_row(runs, method, point=number, **rest)


def test_leaders_are_the_best_of_each_metric_count_and_start():
    rows = [row([50, 52], 0, nmi_runs=[1, 1]), row([60, 62], 1, nmi_runs=[0, 0])]
    rows += [row([40, 42], 2, nmi_runs=[9, 9]), row([10, 12], 3, count=20)]
    assert leaders(rows) == {place_of(rows[1]), place_of(rows[2]), place_of(rows[3])}
    apart = [row([50, 52], 0, start=0), row([60, 62], 0, start=1)]
    assert leaders(apart) == {place_of(each) for each in apart}


def test_the_highest_mean_leads_and_ties_do_not_depend_on_the_order():
    rows = [row(runs, number) for number, runs in enumerate(([50, 52], [60, 62], [60, 62]))]
    for order in (rows, rows[::-1]):
        assert leaders(order) == {place_of(rows[1])}


def test_contenders_are_those_within_two_standard_errors():
    spread = np.array([-2.0, 0.0, 2.0])  # variance 4
    rows = [row(mean + spread, number) for number, mean in enumerate((60.0, 57.8, 57.7))]
    assert 2.2 < 2 * 2.0 * np.sqrt(1 / 3 - 1 / N_RUNS) < 2.3
    kept = contenders(rows, [row(np.full(N_RUNS, 60.0), 0)], N_RUNS)
    assert kept == {place_of(rows[0]), place_of(rows[1])}


def test_starts_and_methods_race_apart():
    low, high = row([50, 52], 0, start=0), row([90, 92], 0, start=1)
    assert place_of(low) in contenders([low, high], [row([91.0] * N_RUNS, 1, start=1)], N_RUNS)
    rows = [row([50, 52], 0, "A"), row([90, 92], 0, "B"), row([60, 62], 2, "B")]
    final = [row([51.0] * N_RUNS, 1, "A"), row([91.0] * N_RUNS, 1, "B")]
    assert contenders(rows, final, N_RUNS) == {place_of(rows[0]), place_of(rows[1])}


def test_one_run_drops_nothing_and_two_tell_their_spread():
    final = [row([90.0] * N_RUNS, 1)]
    rows = [row([50], 0), row([90], 1)]
    assert contenders(rows, final, N_RUNS) == {place_of(each) for each in rows}
    rows = [row([49, 51], 0), row([89, 91], 1)]
    assert contenders(rows, final, N_RUNS) == {place_of(rows[1])}


def test_more_points_hardly_ever_hurt():
    """Over many simulated grids, the race finds the best of all means; a superset is not worse."""
    rng = np.random.default_rng(0)
    lost = worse = 0
    for _ in range(25):
        runs = rng.normal(55, 1.5, (120, 1)) + rng.normal(0, 4, (120, N_RUNS))
        rows = {
            k: [row(each[:k], i) for i, each in enumerate(runs)] for k in (*Race(Protocol()).rounds, N_RUNS)
        }
        few, many = (_raced({k: each[:n] for k, each in rows.items()}) for n in (40, 120))
        lost += many < runs.mean(axis=1).max()
        worse += many < few
    assert lost <= 3  # one in forty for each of two rounds
    assert worse <= 1


def _raced(rows):
    """Return the best final mean of a race, as the runner makes it, from rows by number of runs."""
    first, second, last = rows
    ahead = leaders(rows[first])
    final = [each for each in rows[last] if place_of(each) in ahead]
    left = contenders(rows[first], final, last)
    left = contenders([each for each in rows[second] if place_of(each) in left], final, last)
    return max(each["acc_mean"] for each in rows[last] if place_of(each) in ahead | left)


def test_rounds_end_before_the_final_one():
    assert Race(Protocol()).rounds == (5, 15)
    assert Race(Protocol(n_runs=12)).rounds == (5,)
    assert Race(Protocol(), screening_runs=None).rounds == Race(Protocol(n_runs=5)).rounds == ()


def test_finalists_are_scored_as_without_a_race():
    protocol = Protocol(n_runs=8, max_points=12)
    problem = shape_problem("dartboard")
    method = shape_methods("dartboard", ["DSCOFS"], True, protocol)["DSCOFS", "oracle"]
    raced = Race(protocol, screening_runs=2).run(problem, [method])
    every = {place_of(row): row for row in Race(protocol, screening_runs=None).run(problem, [method]).rows}
    assert len(raced.screened) == len(every)
    assert {place_of(row) for row in raced.rows} < {*every}
    for row in raced.rows:
        assert row["acc_runs"] == every[place_of(row)]["acc_runs"]
