"""``--keep``, ``--exclude``, ``--max-correlation`` and ``--categorical`` as people type them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.cli.commands import call, chosen

from ufselect.io import ReadOptions, read_table

METHOD = "-m PCALeverage"


@pytest.fixture
def folder(folder):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + 0.3 * rng.standard_normal((60, 12))
    values[:, 8] = values[:, 7] = values[:, 6] = values[:, 5]
    names = ["MT-1", "MT-2", *(f"g{j}" for j in range(2, 12))]
    colour = np.array(["red", "green", "blue"])[(values[:, 2] > 0).astype(int) + (values[:, 3] > 0)]
    colour[4] = ""
    lines = [",".join(["sample", *names, "colour", "note", "constant"])]
    lines += [
        ",".join([f"s{i}", *(f"{v:.4f}" for v in row), colour[i], f"text {i}", "1"])
        for i, row in enumerate(values)
    ]
    (folder / "cells.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_names_patterns_and_files(folder):
    (folder / "panel.txt").write_text("# our panel\ng3\n\ng11\n", encoding="utf-8")
    for panel in ("panel.txt", "@panel.txt"):
        line = f"select cells.csv -k 5 {METHOD} --keep {panel} --keep g2 --exclude MT-*,constant"
        assert call(f"{line} -o picked.csv --force") == 0
        names = chosen("picked.json")
        assert set(names[:3]) == {"g2", "g3", "g11"}
        assert not any(name.startswith("MT-") for name in names)
    request = json.loads((folder / "picked.json").read_text(encoding="utf-8"))["request"]
    assert request["keep"] == ["g3", "g11", "g2"]
    assert call("select --from picked.json -o again.csv") == 0
    assert (folder / "again.csv").read_bytes() == (folder / "picked.csv").read_bytes()


def test_copies_are_not_chosen_unless_asked(folder, capsys):
    copies = {"g5", "g6", "g7", "g8"}
    assert call(f"select cells.csv -k 9 {METHOD} -o picked.csv") == 0
    assert len(copies & set(chosen("picked.json"))) == 1
    assert "3 columns repeat another exactly: g6, g7, g8." in capsys.readouterr().err
    assert call(f"select cells.csv -k 9 {METHOD} --max-correlation 1 -o picked.csv --force") == 0
    assert len(copies & set(chosen("picked.json"))) > 1


def test_text_columns_become_groups(folder, capsys):
    assert call(f"select cells.csv -k 3 {METHOD} --categorical onehot --keep colour -o picked.csv") == 0
    names = chosen("picked.json")
    assert {"colour=blue", "colour=green", "colour=red"} <= set(names)
    assert len(names) == 5
    error = capsys.readouterr().err
    assert "-k counts the columns of one text column (colour) as one: 3 selected are 5 columns." in error
    assert "colour became 3 columns of zeros and ones" in error
    assert "note" in error  # every value once: no category
    table = read_table("cells.csv", ReadOptions(categorical="onehot"))
    first = table.feature_names.index("colour=blue")
    onehot = table.data[:, first : first + 3]
    assert onehot[4].tolist() == [0, 0, 0]  # missing
    assert np.all(np.delete(onehot, 4, axis=0).sum(axis=1) == 1)
    assert table.groups[first] == "colour"
    assert table.groups[0] is None
    written = read_table("picked.csv")
    np.testing.assert_array_equal(written.data[:, written.feature_names.index("colour=blue")], onehot[:, 0])


def test_every_goal_takes_constraints(folder):
    for goal in ("-m auto", "--clusters 2", "--for redundancy"):
        count = "" if "redundancy" in goal else "-k 4"
        assert call(f"select cells.csv {goal} {count} --keep g2 --exclude g3 -o picked.csv --force") == 0
        names = chosen("picked.json")
        assert "g2" in names
        assert "g3" not in names


def test_names_with_line_breaks_are_not_written_one_a_line(tmp_path, capsys):
    values = np.random.default_rng(0).standard_normal((30, 3))
    rows = "\n".join(",".join(map(str, row)) for row in values)
    (tmp_path / "table.csv").write_text(f'"two\nlines",red,blue\n{rows}\n', encoding="utf-8")
    assert call(f"select table.csv -k 3 {METHOD} --names names.txt") == 1
    assert "'two\\nlines' has a line break in its name; use --ranking" in " ".join(
        capsys.readouterr().err.split()
    )
    assert not (tmp_path / "names.txt").exists()
