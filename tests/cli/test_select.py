"""``ufselect select`` as people call it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import call, call_and_read

from ufselect.io import read_table


@pytest.fixture
def folder(folder):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 15)) + 0.2 * rng.standard_normal((40, 15))
    lines = ["sample," + ",".join(f"g{j}" for j in range(15)) + ",class,note"]
    lines += [
        f"s{i}," + ",".join(f"{v:.4f}" for v in row) + f",{'uv'[i % 2]},text" for i, row in enumerate(values)
    ]
    (folder / "cells.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    small = np.random.default_rng(0).standard_normal((12, 4)).round(3) * [4, 3, 2, 1]
    small = ["a,b,c,d", *(",".join(map(str, row)) for row in small)]
    (folder / "t.csv").write_text("\n".join(small) + "\n", encoding="utf-8")
    (folder / "t.tsv").write_text("\n".join(small).replace(",", "\t") + "\n", encoding="utf-8")
    return folder


FAST = "-m MaxVariance"


def test_the_whole_way(folder, capsys):
    assert call("select cells.csv -k 5 -o picked.csv --report page.html") == 0
    out, err = capsys.readouterr()
    picked, full = read_table("picked.csv"), read_table("cells.csv")
    record = json.loads((folder / "picked.json").read_text(encoding="utf-8"))
    names = [feature["name"] for feature in record["result"]["features"]]
    assert sorted(names, key=lambda name: int(name[1:])) == picked.feature_names
    columns = [full.feature_names.index(name) for name in picked.feature_names]
    np.testing.assert_array_equal(picked.data, full.data[:, columns])
    assert picked.ids.tolist() == full.ids.tolist()
    assert all(name in out for name in names)
    assert "Only copied to the output: 1 column (not numbers): note" in err
    assert "class is taken as the labels" in err
    assert "<!DOCTYPE html>" in (folder / "page.html").read_text(encoding="utf-8")
    assert record["outputs"] == {"table": "picked.csv", "record": "picked.json", "report": "page.html"}


def test_a_record_is_repeated_exactly_and_changed_data_are_refused(folder, capsys):
    arguments = "select cells.csv -k 4 -m random-subset --seed 11 -o a.csv"
    assert call(arguments) == 0
    assert call("select --from a.json -o b.csv") == 0
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert "The same columns in the same order" in capsys.readouterr().err
    text = (folder / "cells.csv").read_text(encoding="utf-8")
    (folder / "cells.csv").write_text(text.replace("s0,", "s99,"), encoding="utf-8")
    assert call("select --from a.json -o c.csv") == 1
    assert "SHA-256 differs" in capsys.readouterr().err
    assert call("select --from a.json -o c.csv --new-data") == 0


def test_json_is_all_that_is_printed(folder, capsys):
    assert call("select cells.csv -k 20% -m MaxVariance --json") == 0
    out, err = capsys.readouterr()
    record = json.loads(out)
    assert record["result"]["n_selected"] == 3
    assert record["request"]["method"] == "MaxVariance"
    assert err.strip() == ""


def test_parameters_reach_the_method(folder, capsys):
    settings = "--param n_components=2 --param entry_sparsity=none --param init=random"
    assert call(f"select cells.csv -k 5 -m DSCOFS {settings} --json") == 0
    parameters = json.loads(capsys.readouterr().out)["parameters"]
    assert (parameters["n_components"], parameters["entry_sparsity"], parameters["init"]) == (
        2,
        None,
        "random",
    )


def test_names_with_markup_are_printed_as_they_are(folder, capsys):
    text = (folder / "cells.csv").read_text(encoding="utf-8").replace("g3", "[red]g3[/red]", 1)
    (folder / "cells.csv").write_text(text, encoding="utf-8")
    assert call("select cells.csv -k 15") == 0
    assert "[red]g3[/red]" in capsys.readouterr().out


def test_module_and_missing_packages(folder):
    call = [sys.executable, "-m", "ufselect", "--version"]
    assert subprocess.run(call, capture_output=True, text=True, check=True).stdout.startswith("ufselect ")
    code = (
        "import sys; from importlib.machinery import PathFinder\n"
        "real = PathFinder.find_spec\n"
        "PathFinder.find_spec = classmethod(lambda cls, name, *a: None if name in ('typer', "
        "'rich') else real(name, *a))\n"
        "from ufselect.cli import main\n"
        "main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.strip() == 'The command line needs typer and rich: pip install "ufselect[cli]"'


def test_a_record_finds_its_data_from_elsewhere_and_takes_no_other_settings(folder, capsys, monkeypatch):
    assert call(f"select wine -k 2 {FAST} -o wine.csv") == 0
    assert call("select --from wine.json -o again.csv") == 0
    assert call("select cells.csv -k 4 -o a.csv") == 0
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    capsys.readouterr()
    assert call("select --from ../a.json --json") == 0
    assert json.loads(capsys.readouterr().out)["repeats"]["same_features"] is True
    assert call("select --from ../a.json -k 5") == 2
    assert "give no others" in capsys.readouterr().err
    (folder / "cells.csv").rename("moved.csv")
    code, _, err = call_and_read("select --from ../a.json -o b.csv", capsys)
    assert code == 1
    assert "say where they are now: ufselect select DATA --from ../a.json" in err
    assert call("select moved.csv --from ../a.json -o b.csv") == 0


def test_apply_offers_no_filling_and_says_what_it_copies(folder, capsys):
    assert call_and_read(f"select t.csv -k 2 {FAST} -o picked.csv", capsys)[0] == 0
    Path("gaps.csv").write_text("a,b,c,d\n1.5,,3,4\n2.5,3,4,\n3.5,4,5,6\n", encoding="utf-8")
    code, _, err = call_and_read("apply picked.json gaps.csv -o out.csv --impute median", capsys)
    assert (code, "No such option: --impute" in err) == (2, True)
    assert "--impute" not in call_and_read("apply --help", capsys)[1]
    code, _, err = call_and_read("apply picked.json gaps.csv -o out.csv", capsys)
    assert code == 0
    assert "1 missing value in 1 column was left as it is." in err
    assert Path("out.csv").read_text(encoding="utf-8") == "a,b\n1.5,\n2.5,3\n3.5,4\n"
    code, _, err = call_and_read("apply picked.json t.csv -o full.csv", capsys)
    assert (code, "missing" in err) == (0, False)


def test_tabs_become_commas_in_csv_and_this_is_said(capsys):
    said = "is written with commas between fields; the input has tabs."
    code, _, err = call_and_read(f"select t.tsv -k 2 {FAST} -o out.csv", capsys)
    assert (code, f"out.csv {said}" in err) == (0, True)
    assert Path("out.csv").read_text(encoding="utf-8").startswith("a,b\n")
    assert f"out.csv {said}" in json.loads(Path("out.json").read_text(encoding="utf-8"))["assumed"]
    code, _, err = call_and_read("apply out.json t.tsv -o other.csv", capsys)
    assert (code, f"other.csv {said}" in err) == (0, True)
    assert Path("other.csv").read_bytes() == Path("out.csv").read_bytes()
    code, out, err = call_and_read(f"select t.tsv -k 2 {FAST} -o - --quiet", capsys)
    assert (code, err) == (0, "")
    assert out.startswith("a\tb\n")
