"""``-k auto``: the number of features from the data, in the table, the record and the report."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.cli.commands import run


@pytest.fixture
def folder(folder):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5)) @ rng.standard_normal((5, 30)) + 0.1 * rng.standard_normal((120, 30))
    np.savetxt(folder / "t.csv", X, delimiter=",", header=",".join(f"c{j}" for j in range(30)), comments="")
    return folder


def test_the_curve_is_on_terminal_json_record_and_page(folder, capsys):
    assert (
        run(["select", "t.csv", "-k", "auto", "-o", "picked.csv", "--report", "page.html", "--details"]) == 0
    )
    out = capsys.readouterr().out
    record = json.loads((folder / "picked.json").read_text(encoding="utf-8"))
    count = record["count"]
    assert 5 <= count["chosen"] == record["result"]["n_selected"] <= 10
    assert count["curve"]["n_features"] == list(range(1, 16))
    assert count["why"] in out
    marked = [row for row in out.splitlines() if row.rstrip().endswith("selected, -k auto")]
    assert len(marked) == 1
    assert f"{100 * count['curve']['score'][count['chosen'] - 1]:.0f} %" in marked[0]
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert count["why"] in page
    assert run(["select", "t.csv", "-k", "auto", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["count"] == count
    assert "How many columns are enough" in page
    assert record["request"]["n_features"] == "auto"
    assert run(["select", "--from", "picked.json", "-o", "again.csv", "--report", "again.html"]) == 0
    assert (folder / "again.csv").read_bytes() == (folder / "picked.csv").read_bytes()
    assert count["why"] in (folder / "again.html").read_text(encoding="utf-8")


def test_the_curve_and_substitutes_are_there_for_a_given_number_too(folder, capsys):
    assert run(["select", "t.csv", "-k", "3", "--details", "--report", "page.html", "-o", "picked.csv"]) == 0
    out, record = capsys.readouterr().out, json.loads((folder / "picked.json").read_text(encoding="utf-8"))
    curve, assessed = record["count"]["curve"], record["assessment"]["table"]
    at = [curve[name][2] for name in ("score", "random", "components")]
    np.testing.assert_allclose(at, [row["mean"] for row in assessed], atol=0.06)
    (marked,) = [row for row in out.splitlines() if row.rstrip().endswith(" selected")]
    assert marked.split()[0] == "3"
    (flat,) = [row for row in out.splitlines() if row.rstrip().endswith("-k auto")]
    assert flat.split()[0] == str(record["count"]["chosen"])
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert record["count"]["why"] in page
    for feature in record["result"]["features"]:
        assert feature["substitute"]["name"] in page
        assert -0.02 < feature["substitute"]["cost"] < 0.3


def test_a_method_without_greedy_steps_has_no_curve(folder, capsys):
    assert run(["select", "t.csv", "-k", "3", "-m", "PCALeverage", "--json"]) == 0
    assert "count" not in json.loads(capsys.readouterr().out)


def test_a_count_found_on_a_sample_stays_for_all_rows(folder, capsys):
    assert run(["select", "t.csv", "-k", "auto", "--for", "reconstruct", "--stream", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["result"]["n_selected"] == record["count"]["chosen"]


def test_a_number_that_was_found_is_assessed_as_a_given_one(folder, capsys):
    tables = []
    for turn in range(2):
        k = str(tables[0]["n"]) if turn else "auto"
        assert run(["select", "t.csv", "-k", k, "--json"]) == 0
        record = json.loads(capsys.readouterr().out)
        tables.append({"n": record["result"]["n_selected"], "table": record["assessment"]["table"]})
    assert tables[0] == tables[1]
