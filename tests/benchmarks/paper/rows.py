"""Rows made by hand."""

from __future__ import annotations

import json

import numpy as np

from ufselect.compare.runner import statistics


def make_row(runs, method="A", count=10, start=None, nmi_runs=None, dataset="toy", features=None, **params):
    """Return a row of one start from its runs; NMI has the same ones unless others are given."""
    runs = [float(run) for run in np.atleast_1d(runs)]
    return {
        "dataset": dataset, "label": method, "method": method, "params": json.dumps(params, sort_keys=True),
        "n_features": count, "start": start, "n_starts": 1, "n_runs": len(runs),
        **statistics({"acc": [runs], "nmi": [runs if nmi_runs is None else nmi_runs]}),
        "seconds": 1.0, "note": "", "features": [tuple(range(count)) if features is None else features],
    }  # fmt: skip
