"""A method chosen among several: the goal, the candidates, ties and clusters on terminal, JSON and page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from ufselect import AutoSelector
from ufselect.cli.app import run
from ufselect.cli.choosing import standing, tie_sentence

ROWS = 90
GROUPS = np.repeat([0, 1, 2], ROWS // 3)


def table() -> str:
    """Return three groups that the columns a and b tell apart, between columns of noise."""
    rng = np.random.default_rng(1)
    centres = np.array([[0, 6], [6, 0], [-6, -6]])[GROUPS]
    values = np.hstack([rng.standard_normal((ROWS, 4)), centres + rng.standard_normal((ROWS, 2))])
    names = ["n1", "n2", "n3", "n4", "a", "b"]
    lines = [",".join(names), *(",".join(f"{v:.4f}" for v in row) for row in values)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("t.csv").write_text(table(), encoding="utf-8")
    return tmp_path


def call(line: str) -> int:
    return run(line.split())


def candidate(name: str, **figures) -> dict:
    return {"candidate": name, "criterion": 0.5, "selected": False, "tied": False, "note": "", **figures}


def rows(n_tied: int, n_others: int) -> list[dict]:
    tied = [candidate(f"t{i}", tied=True) for i in range(n_tied)]
    others = [candidate(f"o{i}", criterion=0.1) for i in range(n_others - n_tied)]
    compared = [candidate("all features", criterion=0.9), candidate("random subsets")]
    late = [candidate("late", criterion=float("nan"), note="skipped: the time budget was used up")]
    return [candidate("best", selected=True, criterion=0.6), *tied, *others, *compared, *late]


def test_a_script_reads_the_verdict_of_a_choice_by_its_name(folder, capsys):
    assert call("select t.csv -k 2 --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"].endswith(".")
    assert found["better_than_random"] == (": better than random subsets" in found["verdict"])
    assert any(found["verdict"] in line for line in found["verdicts"])
    assert call("select t.csv -k 2 -m MaxVariance --json") == 0
    assert "verdict" not in json.loads(capsys.readouterr().out)


def test_what_a_tie_means_depends_on_how_many_are_tied():
    assert tie_sentence(rows(0, 8)) is None
    few = tie_sentence(rows(1, 11))
    assert few == "1 of 11 other candidates is tied with best, which was taken (t0)."
    many = tie_sentence(rows(10, 11))
    assert many.startswith("10 of 11 other candidates are tied with best, which was taken (t0; t1; t2; …)")
    assert many.endswith("which of them is taken matters little here.")
    steady = [{**row, "stability": 0.7} for row in rows(2, 11)]
    assert "which was taken by its stability (t0; t1)" in tie_sentence(steady)


def test_standing_is_said_in_a_word():
    words = [standing(row) for row in rows(1, 2)]
    assert words == ["chosen", "tied", "", "for comparison", "for comparison", "skipped"]
    assert (
        standing(candidate("x", note="0.1 below the winner; stopped early: too far behind"))
        == "stopped early"
    )


@pytest.fixture
def chosen(folder, capsys):
    line = "tune t.csv -k 2 --clusters 3 -o out.csv --report page.html --resamples 0"
    assert call(line) == 0
    out = capsys.readouterr().out
    record = json.loads(Path("out.json").read_text(encoding="utf-8"))
    return out, record, Path("page.html").read_text(encoding="utf-8")


def test_goal_candidates_and_verdict_are_everywhere(chosen):
    out, record, page = chosen
    assert record["goal"] == "clusters"
    names = [row["candidate"] for row in record["tuning"]]
    assert names[-2:] == ["all features", "random subsets"]
    assert [row["standing"] for row in record["tuning"]][-2:] == ["for comparison"] * 2
    assert record["tuning"][0]["standing"] == "chosen"
    assert f"{len(names) - 2} candidates for the goal 'clusters'" in out
    for row in record["tuning"]:
        assert f"{row['criterion']:.3f} ± {row['criterion_error']:.3f}" in out
        assert f"<td>{row['criterion']:.3f}</td>" in page
    verdict = next(line for line in record["verdicts"] if line.startswith("Goal: finding groups of rows."))
    assert "random subsets" in verdict
    assert "rebuild" not in verdict
    assert verdict in out
    assert "Goal: finding groups of rows." in page
    assert "the share of the variance" not in page.split("What else was tried")[-1]
    assert "to show the groups of samples" in page


def test_clusters_have_sizes_and_the_columns_that_tell_them(chosen):
    out, record, page = chosen
    assert sorted(found["size"] for found in record["clusters"]) == [30, 30, 30]
    assert {column["name"] for found in record["clusters"] for column in found["columns"]} == {"a", "b"}
    assert "3 clusters" in out
    for found in record["clusters"]:
        best = found["columns"][0]
        assert f"{best['name']} {best['distance']:+.1f}" in out
        distance = f"{best['distance']:+.1f}".replace("-", "−")
        assert f'{best["name"]} <span class="r">{distance}</span>' in page
    values = np.loadtxt(table().splitlines()[1:], delimiter=",")[:, 4:]
    inside = [group == GROUPS for group in range(3)]
    signs = {tuple(np.sign(values[rows].mean(axis=0) - values[~rows].mean(axis=0))) for rows in inside}
    found_signs = {
        tuple(np.sign({c["name"]: c["distance"] for c in found["columns"]}[name]) for name in "ab")
        for found in record["clusters"]
    }
    assert found_signs == signs


def test_select_shows_the_best_candidates_and_those_for_comparison(folder, capsys):
    assert call("select t.csv -k 2") == 0
    out = capsys.readouterr().out
    assert "more candidates; tune and --report show them all" in out
    assert out.count("for comparison") == 2


def test_rebuilding_has_words_of_its_own_and_no_clusters(folder, capsys):
    assert call("select t.csv -k 2 --for rebuild --report page.html --resamples 0 --json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["goal"], record["clusters"]) == ("rebuild", [])
    assert record["verdicts"][0].startswith("Goal: rebuilding the other columns.")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "share of the variance of samples left out" in page
    assert "The clusters" not in page


def test_the_verdict_is_that_of_the_library(folder, capsys):
    noise = np.random.default_rng(0).standard_normal((40, 8))
    np.save("noise.npy", noise)
    assert call("select noise.npy -k 4 --json") == 0
    said = json.loads(capsys.readouterr().out)["verdicts"][0]
    fitted = AutoSelector(4, random_state=0, max_correlation=0.999).fit(noise)
    assert said == f"Goal: finding groups of rows. {fitted.verdict_}"


def test_candidates_without_time_leave_valid_json(folder, capsys):
    line = "select t.csv -k 2 --param time_budget=1e-9"
    assert call(f"{line} --json") == 0
    text = capsys.readouterr().out
    tuning = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))["tuning"]
    assert [row["criterion"] for row in tuning if row["standing"] == "skipped"] != []
    assert all(row["criterion"] is None for row in tuning if row["standing"] == "skipped")
    assert call(f"{line} --report p.html --resamples 0") == 0
    assert "skipped" in Path("p.html").read_text(encoding="utf-8")
