"""The points among which labels choose: all of a space, thinned only where it is too large."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

from ufselect import DSCOFS, UDFS
from ufselect.evaluation.spaces import SPACES, parameter_points

PROBLEM = SimpleNamespace(n_components=3, n_classes=3)


def test_the_space_of_dscofs_is_whole_within_the_budget():
    points = parameter_points(DSCOFS, PROBLEM, max_points=100)
    assert len(set(points)) == len(points) == 96
    expected = [dict(pair for part in point for pair in part.items()) for point in _product("DSCOFS")]
    assert [{**point} for point in points] == [{"n_components": 3, **point} for point in expected]


def test_a_published_grid_is_taken_as_it_is():
    points = parameter_points(UDFS, PROBLEM, max_points=100)
    names = list(UDFS.paper_grid)
    assert [tuple(point[name] for name in names) for point in points] == list(
        itertools.product(*UDFS.paper_grid.values())
    )


def test_a_space_beyond_the_budget_is_thinned_to_it():
    whole = parameter_points(DSCOFS, PROBLEM, max_points=100)
    thinned = parameter_points(DSCOFS, PROBLEM, max_points=10)
    assert len(thinned) == 10
    assert set(thinned) < set(whole)


def _product(name):
    return itertools.product(*SPACES[name])
