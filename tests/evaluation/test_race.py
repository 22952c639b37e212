"""The race: a point is dropped only if it is most unlikely to win."""

from __future__ import annotations

import numpy as np

from ufselect.evaluation.keys import Params
from ufselect.evaluation.protocol import Protocol
from ufselect.evaluation.race import contenders, leaders, place_of
from ufselect.evaluation.rows import Row

N_RUNS = 50


def row(runs, number=0, method="A", count=10, start=None):
    runs = tuple(float(run) for run in runs)
    nmi = tuple(-run for run in runs)
    return Row(
        dataset="toy", method=method, label=method, params=Params({"point": number}), n_features=count,
        n_starts=1, n_runs=len(runs), acc_mean=float(np.mean(runs)), acc_std=float(np.std(runs)),
        acc_start_std=0.0, nmi_mean=float(np.mean(nmi)), nmi_std=1.0, nmi_start_std=0.0, seconds=0.0,
        subsets=("s",), acc_runs=runs, nmi_runs=nmi, note="", start=start,
    )  # fmt: skip


def test_leaders_are_the_best_of_each_metric_count_and_start():
    rows = [row([50, 52], 0), row([60, 62], 1), row([40, 42], 2), row([10, 12], 3, count=20)]
    # NMI is the negative of ACC here, so the worst by ACC leads by NMI.
    assert leaders(rows, 1) == {place_of(rows[1]), place_of(rows[2]), place_of(rows[3])}
    apart = [row([50, 52], 0, start=0), row([60, 62], 0, start=1)]
    assert leaders(apart, 1) == {place_of(each) for each in apart}


def test_the_highest_mean_leads_and_ties_do_not_depend_on_the_order():
    rows = [replace_nmi(row(runs, number)) for number, runs in enumerate(([50, 52], [60, 62], [60, 62]))]
    for order in (rows, rows[::-1]):
        assert leaders(order, 1) == {place_of(rows[1])}


def test_contenders_are_those_within_two_standard_errors():
    spread = np.array([-2.0, 0.0, 2.0])  # variance 4
    rows = [row(mean + spread, number) for number, mean in enumerate((60.0, 57.8, 57.7))]
    final = [row(np.full(N_RUNS, 60.0), 0)]
    # By NMI, the negative, all are at least as good as the finished point.
    slack = 2 * 2.0 * np.sqrt(1 / 3 - 1 / N_RUNS)
    assert 2.2 < slack < 2.3
    kept = contenders([replace_nmi(each) for each in rows], [replace_nmi(each) for each in final], N_RUNS)
    assert kept == {place_of(rows[0]), place_of(rows[1])}


def replace_nmi(each):
    """Make NMI equal to ACC, so that one metric decides."""
    from dataclasses import replace

    return replace(each, nmi_runs=each.acc_runs, nmi_mean=each.acc_mean)


def test_starts_race_apart():
    low, high = row([50, 52], 0, start=0), row([90, 92], 0, start=1)
    final = [row([91.0] * N_RUNS, 1, start=1), row([-91.0] * N_RUNS, 2, start=1)]
    assert place_of(low) in contenders([low, high], final, N_RUNS)


def test_methods_race_apart():
    rows = [row([50, 52], 0, "A"), row([90, 92], 0, "B"), row([60, 62], 2, "B")]
    final = [row([51.0] * N_RUNS, 1, "A"), row([91.0] * N_RUNS, 1, "B")]
    kept = contenders([replace_nmi(each) for each in rows], [replace_nmi(each) for each in final], N_RUNS)
    assert kept == {place_of(rows[0]), place_of(rows[1])}


def test_one_run_drops_nothing():
    rows = [row([50], 0), row([90], 1)]
    assert contenders(rows, [row([90.0] * N_RUNS, 1)], N_RUNS) == {place_of(each) for each in rows}


def test_two_runs_are_enough_to_know_their_spread():
    rows = [row([49, 51], 0), row([89, 91], 1)]
    final = [row([90.0] * N_RUNS, 1)]
    kept = contenders([replace_nmi(each) for each in rows], [replace_nmi(each) for each in final], N_RUNS)
    assert kept == {place_of(rows[1])}


def test_more_points_hardly_ever_hurt():
    """Over many simulated grids, the race finds the best of all means; a superset is not worse."""
    rng = np.random.default_rng(0)
    protocol = Protocol()
    lost = worse = 0
    for _ in range(200):
        runs = rng.normal(55, 1.5, (120, 1)) + rng.normal(0, 4, (120, N_RUNS))
        found = [_raced(runs[:n], protocol) for n in (40, 120)]
        lost += found[1] < runs.mean(axis=1).max()
        worse += found[1] < found[0]
    assert lost <= 12  # one in forty for each of two rounds
    assert worse <= 6


def _raced(runs, protocol):
    """Return the best final mean of a race, as the runner makes it."""
    rows = {k: [replace_nmi(row(each[:k], i)) for i, each in enumerate(runs)] for k in (*protocol.rounds, 50)}
    first, second = protocol.rounds
    ahead = leaders(rows[first], protocol.finalists)
    final = [each for each in rows[50] if place_of(each) in ahead]
    left = contenders(rows[first], final, N_RUNS)
    left = contenders([each for each in rows[second] if place_of(each) in left], final, N_RUNS)
    return max(each.acc_mean for each in rows[50] if place_of(each) in ahead | left)


def test_rounds_end_before_the_final_one():
    assert Protocol().rounds == (5, 15)
    assert Protocol(n_runs=12).rounds == (5,)
    assert Protocol(screening_runs=None).rounds == Protocol(n_runs=5).rounds == ()
    assert Protocol(screening_runs=None).is_exact
    assert not Protocol().is_exact
