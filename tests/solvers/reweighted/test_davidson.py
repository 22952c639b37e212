"""The block method for lowest eigenvectors."""

from __future__ import annotations

import numpy as np

from ufselect.solvers.reweighted.davidson import lowest_eigenvectors


def test_a_start_far_from_the_answer_is_overcome():
    diagonal = np.arange(1.0, 31.0)
    start = np.eye(30)[:, 10:20] + 1e-6
    found = lowest_eigenvectors(lambda v: 0 * v, lambda v: v, diagonal, start, 2)
    np.testing.assert_allclose(np.abs(found[:2, :2]), np.eye(2), atol=1e-6)
