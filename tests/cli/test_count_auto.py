"""``-k auto``: the number of features from the data, in the table, the record and the report."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from ufselect.cli.app import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5)) @ rng.standard_normal((5, 30)) + 0.1 * rng.standard_normal((120, 30))
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header=",".join(f"c{j}" for j in range(30)), comments="")
    return tmp_path


def test_the_count_is_chosen_recorded_and_drawn(folder):
    line = "select t.csv -k auto --method RebuildSelector -o picked.csv --report page.html"
    assert run(line.split()) == 0
    record = json.loads((folder / "picked.json").read_text(encoding="utf-8"))
    assert record["request"]["n_features"] == "auto"
    assert len(record["result"]["features"]) == pytest.approx(5, abs=1)
    assert "How many features are enough" in (folder / "page.html").read_text(encoding="utf-8")
    assert run(["select", "--from", "picked.json", "-o", "again.csv"]) == 0
    assert (folder / "again.csv").read_bytes() == (folder / "picked.csv").read_bytes()


def test_the_curve_of_a_choice_among_methods_is_on_terminal_json_record_and_page(folder, capsys):
    line = "select t.csv -k auto --for rebuild -o picked.csv --report page.html --resamples 0"
    assert run(line.split()) == 0
    out = capsys.readouterr().out
    record = json.loads((folder / "picked.json").read_text(encoding="utf-8"))
    count = record["count"]
    assert count["chosen"] == record["result"]["n_selected"] == pytest.approx(5, abs=1)
    assert count["why"].startswith("knee: the error falls much more slowly")
    assert [row["count"] for row in count["curve"]] == list(range(1, 16))
    sentence = f"-k auto asks for {count['chosen']} columns by the error of rebuilding rows left out"
    assert f"{sentence} ({count['why']})." in record["verdicts"]
    assert sentence in out
    marked = [row for row in out.splitlines() if "chosen" in row and f" {count['chosen']} │ " in row]
    assert len(marked) == 1
    assert f"{count['curve'][count['chosen'] - 1]['error']:.3f} ±" in marked[0]
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert 'href="#counts"' in page
    assert page.count("are chosen.") == 1
    assert f"{count['chosen']} were chosen ({count['why']})" in page
    assert run(["select", "t.csv", "-k", "auto", "--for", "rebuild", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["count"] == count
    assert run(["report", "picked.json", "-o", "again.html", "--resamples", "0"]) == 0
    assert f"{count['chosen']} were chosen" in (folder / "again.html").read_text(encoding="utf-8")


def test_a_given_count_has_no_curve(folder, capsys):
    assert run(["select", "t.csv", "-k", "3", "--for", "rebuild", "--json"]) == 0
    assert "count" not in json.loads(capsys.readouterr().out)


def test_a_named_method_has_no_rows_to_hold_out_of_blocks(folder, capsys, monkeypatch):
    sentence = "which a table that is read in blocks does not have; give -k a number, or --no-stream."
    line = ["select", "t.csv", "-k", "auto", "-m", "RebuildSelector"]
    monkeypatch.setattr("ufselect.cli.data.should_stream", lambda *_: True)
    assert run(line) == 1
    assert sentence in capsys.readouterr().err
    monkeypatch.setattr("ufselect.cli.selecting.open_data", None)  # as is asked for, nothing is read
    assert run([*line, "--stream"]) == 1
    assert sentence in capsys.readouterr().err


def test_a_count_found_on_a_sample_stays_for_all_rows(folder, capsys):
    assert run(["select", "t.csv", "-k", "auto", "--for", "rebuild", "--stream", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["result"]["n_selected"] == record["count"]["chosen"]


@pytest.mark.parametrize("command", ["select", "tune"])
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("", "-k: auto finds the number of columns for --for rebuild alone; give a number, or add --for reb"),
        ("--for clusters", "-k: auto finds the number of columns for --for rebuild alone"),
        ("--for rebuild --categorical onehot", "-k: auto and --categorical go together with --method Rebui"),
    ],
)
def test_a_goal_without_a_curve_is_refused_before_anything_is_read(
    folder, capsys, monkeypatch, command, options, sentence
):
    monkeypatch.setattr("ufselect.cli.data.open_data", None)
    assert run([command, "t.csv", "-k", "auto", *options.split()]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_the_goal_may_be_a_parameter(folder, capsys):
    assert run(["select", "t.csv", "-k", "auto", "--param", "goal=rebuild", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["count"]["chosen"] == pytest.approx(5, abs=1)


def test_too_few_rows_to_hold_out_are_said_with_flags(folder, capsys):
    lines = (folder / "t.csv").read_text(encoding="utf-8").splitlines()[:9]
    (folder / "few.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run(["select", "few.csv", "-k", "auto", "--for", "rebuild"]) == 1
    err = capsys.readouterr().err
    assert "-k auto holds out rows and needs at least 10 of them, not 8; give -k a number." in err


def test_a_method_that_cannot_says_so(folder, capsys):
    assert run(["select", "t.csv", "-k", "auto", "--method", "DSCOFS"]) != 0
    assert "DSCOFS does not choose the number of features" in capsys.readouterr().err
