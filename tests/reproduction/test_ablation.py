"""The ablation: the best point of each model, and the features that one point shares with itself."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from ufselect.evaluation.keys import Params
from ufselect.reproduction.ablation import ROWS_ONLY, ablation

FIRST = Params({"init": "pca", "mu_entry": 0.1, "mu_row": 0.01, "entry_sparsity": 0.1})
SECOND = Params({"init": "pca", "mu_entry": 0.1, "mu_row": 0.1, "entry_sparsity": 0.1})
FIRST_ROWS = Params({"init": "pca", "mu_row": 0.01, "entry_sparsity": None})
SECOND_ROWS = Params({"init": "pca", "mu_row": 0.1, "entry_sparsity": None})


def row(method, params, acc):
    return SimpleNamespace(method=method, params=params, acc_mean=acc, nmi_mean=acc + 5, n_features=4)


def test_fsr_compares_the_best_point_with_itself_without_the_constraint():
    outcome = SimpleNamespace(
        rows=[
            row("DSCOFS", FIRST, 60.0),
            row("DSCOFS", SECOND, 70.0),
            row(ROWS_ONLY, FIRST_ROWS, 65.0),
            row(ROWS_ONLY, SECOND_ROWS, 50.0),
        ],
        subsets={
            ("DSCOFS", FIRST, 4, 0): np.array([0, 1, 2, 3]),
            ("DSCOFS", SECOND, 4, 0): np.array([0, 1, 2, 9]),
            (ROWS_ONLY, FIRST_ROWS, 4, 0): np.array([0, 1, 2, 9]),
            (ROWS_ONLY, SECOND_ROWS, 4, 0): np.array([0, 5, 6, 7]),
        },
    )
    found = ablation(outcome)
    assert (found.acc_without, found.acc_with) == (65.0, 70.0)
    assert (found.nmi_without, found.nmi_with) == (70.0, 75.0)
    assert found.fsr == 25.0  # of SECOND with its own twin, not with the best point of the other model
    assert found.n_features == 4
