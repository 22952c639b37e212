"""Truncated conjugate gradients inside and at the edge of the region."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.dscofs.examples import tangent_direction

from ufselect.sets import stiefel
from ufselect.solvers import StiefelNewton
from ufselect.solvers.dscofs.model import StiefelModel, norm
from ufselect.solvers.dscofs.truncated_cg import truncated_cg


def test_truncated_cg_solves_the_newton_equation_inside_and_stops_at_the_edge(model):
    solution = StiefelNewton().minimise(model)
    near = stiefel.project(solution + 1e-3 * tangent_direction(model, 3))
    model = StiefelModel.at(model.gram, model.linear, near, model.gram.matmat(near))
    inside = truncated_cg(model, radius=10.0, goal=1e-12, max_products=100)
    residual = model.gradient + model.hessian(inside.direction, inside.product)
    assert not inside.reached_edge
    assert norm(residual) <= 0.1 * norm(model.gradient)
    np.testing.assert_allclose(inside.product, model.gram.matmat(inside.direction), atol=1e-10)
    edge = truncated_cg(model, radius=1e-6, goal=1e-12, max_products=100)
    assert edge.reached_edge
    assert norm(edge.direction) == pytest.approx(1e-6)
    assert edge.decrease > 0
