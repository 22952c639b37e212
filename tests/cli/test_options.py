"""What would have no effect, or would write where nobody looks, is refused or said before any work."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import call_and_read as call

FAST = "-m MaxVariance"


@pytest.fixture(autouse=True)
def folder(folder):
    values = np.random.default_rng(0).standard_normal((12, 4)).round(3) * [4, 3, 2, 1]
    lines = ["a,b,c,d", *(",".join(map(str, row)) for row in values)]
    Path("t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("t.tsv").write_text("\n".join(lines).replace(",", "\t") + "\n", encoding="utf-8")
    return folder


def test_apply_offers_no_filling_and_says_what_it_copies(folder, capsys):
    assert call(f"select t.csv -k 2 {FAST} -o picked.csv", capsys)[0] == 0
    Path("gaps.csv").write_text("a,b,c,d\n1.5,,3,4\n2.5,3,4,\n3.5,4,5,6\n", encoding="utf-8")
    code, _, err = call("apply picked.json gaps.csv -o out.csv --impute median", capsys)
    assert (code, "No such option: --impute" in err) == (2, True)
    assert "--impute" not in call("apply --help", capsys)[1]
    code, _, err = call("apply picked.json gaps.csv -o out.csv", capsys)
    assert code == 0
    assert "1 missing value in 1 column was left as it is." in err
    assert Path("out.csv").read_text(encoding="utf-8") == "a,b\n1.5,\n2.5,3\n3.5,4\n"
    code, _, err = call("apply picked.json t.csv -o full.csv", capsys)
    assert (code, "missing" in err) == (0, False)


def test_tabs_become_commas_in_csv_and_this_is_said(capsys):
    said = "is written with commas between fields; the input has tabs."
    code, _, err = call(f"select t.tsv -k 2 {FAST} -o out.csv", capsys)
    assert (code, f"out.csv {said}" in err) == (0, True)
    assert Path("out.csv").read_text(encoding="utf-8").startswith("a,b\n")
    assert f"out.csv {said}" in json.loads(Path("out.json").read_text(encoding="utf-8"))["assumed"]
    code, _, err = call("apply out.json t.tsv -o other.csv", capsys)
    assert (code, f"other.csv {said}" in err) == (0, True)
    assert Path("other.csv").read_bytes() == Path("out.csv").read_bytes()
    code, out, err = call(f"select t.tsv -k 2 {FAST} -o - --quiet", capsys)
    assert (code, err) == (0, "")
    assert out.startswith("a\tb\n")


def test_comparing_all_has_the_default_method_and_says_which_are_left_out(capsys):
    line = "compare iris -k 2 --runs 1"
    code, out, err = call(line, capsys)
    assert code == 0
    assert "AutoSelector" in out
    assert "Reconstruction" in out
    left_out = "ConstrainedDSCOFS, TSFS"
    assert f"All methods but {left_out} were compared; name these with -m." in err
    assert f"all but {left_out.replace(', TSFS', ' and TSFS')}." in " ".join(
        call("compare --help", capsys)[1].split()
    )
    assert "Compared are all" not in call(f"{line} -m DSCOFS", capsys)[2]


def test_moved_data_are_asked_for_by_the_option_that_names_them(capsys):
    assert call(f"select t.csv -k 2 {FAST} -o picked.csv", capsys)[0] == 0
    Path("t.csv").rename("moved.csv")
    code, _, err = call("select --from picked.json -o again.csv", capsys)
    assert code == 1
    assert "say where they are now: ufselect select DATA --from picked.json" in err
    assert call("select moved.csv --from picked.json -o again.csv", capsys)[0] == 0


def test_a_named_data_set_is_found_again(capsys):
    assert call(f"select wine -k 2 {FAST} -o picked.csv", capsys)[0] == 0
    assert call("select --from picked.json -o again.csv", capsys)[0] == 0
