"""The format of ``summary.json``: programs that read it must find what the golden record has."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import numpy as np

from ufselect.evaluation.keys import Params
from ufselect.evaluation.protocol import Protocol, make_problem
from ufselect.evaluation.rank_test import RankTest
from ufselect.evaluation.rows import Row
from ufselect.evaluation.runner import Outcome
from ufselect.reproduction import Study

GOLDEN = Path(__file__).with_name("golden") / "summary.json"


def row(dataset, method, acc, n_features=100):
    return Row(
        dataset=dataset, method=method, label=method, params=Params(), n_features=n_features, n_starts=1,
        n_runs=2, acc_mean=acc, acc_std=1.0, acc_start_std=0.0, nmi_mean=acc - 10, nmi_std=1.0,
        nmi_start_std=0.0, seconds=0.1, subsets=("s",), acc_runs=(acc,), nmi_runs=(acc,), note="",
    )  # fmt: skip


def study():
    X, y = np.arange(24.0).reshape(6, 4), np.arange(6) % 2
    problems = {name: make_problem(name, X, y, [2]) for name in ("isolet", "usps")}
    oracle = {
        name: [row(name, "DSCOFS", best), row(name, "DSCOFS", 10.0, 20), row(name, "UDFS", 40.0)]
        for name, best in (("isolet", 60.0), ("usps", 70.0005))
    }
    fixed = {name: [row(name, "DSCOFS", 55.0)] for name in problems}
    outcomes = {
        mode: {name: Outcome(rows, rows, {}, {}) for name, rows in by_set.items()}
        for mode, by_set in (("oracle", oracle), ("fixed", fixed))
    }
    rest = {item.name: {} for item in fields(Study)}
    found = {
        "protocol": Protocol(),
        "datasets": ("isolet", "usps", "glioma"),
        "unavailable": {"glioma": "GLIOMA is nowhere."},
        "problems": problems,
        "outcomes": outcomes,
        "test": RankTest(("a", "b"), np.ones(2), 1.0, 0.03125, 0.5, np.ones((2, 2)), 2, 0.05),
        "quick": False,
    }
    return Study(**{**rest, **found})


def test_the_summary_is_the_golden_record():
    assert json.loads(json.dumps(study().summary)) == json.loads(GOLDEN.read_text(encoding="utf-8"))
