"""Selections stay as they are recorded, and so does what the command line makes of files that hurt."""

from __future__ import annotations

import json

import pytest

from tests.golden.cases import NASTY, RECORD, SCORE_TOLERANCE, close, command_line, selections, selectors

GOLDEN = json.loads(RECORD.read_text(encoding="utf-8"))
FILES = [case.removeprefix("select ") for case in GOLDEN if case.startswith("select ")]


def test_every_selector_is_recorded():
    assert {case.partition(":")[0] for case in GOLDEN if ": " in case} >= selectors().keys()


@pytest.mark.parametrize("name", sorted({case.partition(":")[0] for case in GOLDEN if ": " in case}))
def test_selections(name):
    outcomes = selections(name)
    recorded = {
        case.partition(": ")[2]: cell for case, cell in GOLDEN.items() if case.startswith(f"{name}: ")
    }
    assert recorded.keys() <= outcomes.keys()
    for case, cell in recorded.items():
        outcome = outcomes[case]
        if isinstance(cell, dict):
            assert isinstance(outcome, dict), (case, outcome)
            outcome = {part: outcome[part] for part in cell}
            if "scores" in cell:
                assert close(outcome.pop("scores"), cell["scores"], SCORE_TOLERANCE), case
            cell = {part: cell[part] for part in outcome}
        assert outcome == cell, case


@pytest.mark.parametrize("name", FILES)
def test_files_that_hurt(name):
    if not NASTY.is_dir():
        pytest.skip("the files that hurt are not beside the project")
    cell = GOLDEN[f"select {name}"]
    outcome = command_line(NASTY / name)
    assert {part: outcome.get(part) for part in cell} == cell
