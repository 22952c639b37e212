"""``ufselect score``: how good a list of columns is, what it lacks and what to add."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pytest
from tests.cli.commands import run


@pytest.fixture
def folder(folder):
    """Three blocks of five columns; the list has two of the first block and none of the third."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((200, 3))
    values = np.repeat(factors, 5, axis=1) + 0.2 * rng.standard_normal((200, 15))
    pandas.DataFrame(values, columns=[f"{b}{j}" for b in "abc" for j in range(5)]).to_csv(
        "t.csv", index=False
    )
    (folder / "panel.txt").write_text("# mine\na0\na1\nb0\n", encoding="utf-8")
    return folder


def test_a_list_is_compared_and_completed(folder, capsys):
    assert run(["score", "t.csv", "--columns", "panel.txt", "--add", "1"]) == 0
    out = capsys.readouterr().out
    assert "your columns" in out
    assert "as many columns that ufselect selects" in out
    assert "random columns" in out
    assert "Columns that yours do not represent: 5" in out
    assert "Add next, in this order: c" in out
    assert run(["score", "t.csv", "--columns", "panel.txt", "--add", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns"] == ["a0", "a1", "b0"]
    assert {each["name"] for each in found["not_represented"]} == {f"c{j}" for j in range(5)}
    assert found["add"][0].startswith("c")
    shares = {row["columns"]: row["mean"] for row in found["table"]}
    assert shares["as many columns that ufselect selects"] > shares["your columns"]


def test_of_a_bad_list_no_selector_is_blamed(folder, capsys):
    assert run(["score", "t.csv", "--columns", "a0,a1,a2,a3,a4,b0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "no"
    assert "selector" not in found["message"]


def test_a_list_for_clusters(folder, capsys):
    rng = np.random.default_rng(0)
    values = 6 * rng.standard_normal((3, 12))[np.arange(75) % 3] + rng.standard_normal((75, 12))
    pandas.DataFrame(values).add_prefix("v").to_csv("blobs.csv", index=False)
    assert run(["score", "blobs.csv", "--columns", "v0,v1", "--clusters", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["goal"] == "clusters"
    assert [row["columns"] for row in found["table"]][:2] == [
        "your columns",
        "as many columns that ufselect selects",
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--columns a9", "--columns a9 matches no column of the table"),
        ("--columns @none.txt", "There is no file none.txt for --columns"),
        ("--columns panel.txt --add 13", "--add 13 is more than the 12 other columns"),
        ("--columns *", "The list has all columns"),
    ],
)
def test_what_cannot_be_scored_is_said(folder, capsys, line, sentence):
    assert run(["score", "t.csv", *line.split()]) == 1
    assert sentence in capsys.readouterr().err
