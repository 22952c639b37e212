"""The other commands."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch
from tests.cli.commands import call, call_and_read, run

import ufselect


def test_demo(folder, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    digits = sklearn.datasets.load_digits()
    fewer = Bunch(**{**digits, "data": digits.data[:850], "target": digits.target[:850]})
    monkeypatch.setattr(sklearn.datasets, "load_digits", lambda: fewer)
    assert call("demo") == 0
    out, err = capsys.readouterr()
    assert sum(line.count("██") for line in out.splitlines()) == 20
    ours, random, components = map(int, re.findall(r"(\d+) %", out)[:3])
    assert components > ours > random
    assert "These 20 columns explain" in out
    assert "finds the ten digits with an accuracy of" in out
    assert (folder / "ufselect-demo.png").read_bytes().startswith(b"\x89PNG")
    assert "pixel_2_2" in (folder / "ufselect-demo.html").read_text(encoding="utf-8")
    assert "ufselect select table.csv" in err
    assert call("demo") == 1
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["demo", "select", "score", "apply", "reconstruct", "compare"])
def test_every_command_explains_itself(command, capsys):
    assert run([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Usage: ufselect " + command in out
    assert "--debug" in out


@pytest.mark.parametrize(
    ("line", "words"), [("", "select"), ("--version", f"ufselect {ufselect.__version__}")]
)
def test_help_and_version(line, words, capsys):
    call(line)
    shown = capsys.readouterr()
    assert words in shown.out + shown.err


def test_report_of_a_record(folder, capsys):
    assert call("select wine -k 4 --scale standard -o w.csv") == 0
    for flags, code in (("", 0), ("", 1), ("--force", 0)):
        assert call(f"select --from w.json --report w.html {flags}".strip()) == code
    page = (folder / "w.html").read_text(encoding="utf-8")
    assert "alcohol" in page
    assert "4 of 13 columns" in page
    assert "w.html exists already" in capsys.readouterr().err


def test_compare(folder, capsys):
    line = "compare wine -k 4 -m max-variance --runs 2 -o acc.md"
    assert call(line) == 0
    out = capsys.readouterr().out
    for word in ("ACC", "NMI", "All features", "Random", "PCA leverage", "Max variance"):
        assert word in out
    assert "Max variance" in (folder / "acc.md").read_text(encoding="utf-8")
    np.save(folder / "x.npy", np.random.default_rng(0).standard_normal((20, 5)))
    assert call("compare x.npy") == 1
    assert "--labels" in capsys.readouterr().err


def test_comparing_all_has_the_default_method_and_says_which_are_left_out(capsys):
    line = "compare iris -k 2 --runs 1"
    code, out, err = call_and_read(line, capsys)
    assert code == 0
    assert "AutoSelector" in out
    assert "Reconstruction" in out
    left_out = "ConstrainedDSCOFS, TSFS"
    assert f"All methods but {left_out} were compared; name these with -m." in err
    assert f"all but {left_out.replace(', TSFS', ' and TSFS')}." in " ".join(
        call_and_read("compare --help", capsys)[1].split()
    )
    assert "Compared are all" not in call_and_read(f"{line} -m DSCOFS", capsys)[2]
