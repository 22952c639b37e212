"""The lines of code in the guide run as they stand, and do what the text beside them says."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from sklearn.cluster import KMeans
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline

import ufselect
from ufselect.cli import main

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
PAGES = ["wishes.md", "missing_weights_batches.md", "stability.md", "requests.md"]
N_CELLS = 40
GENES = [f"{family}{j}" for family in ("MT-", "RPS", "RPL") for j in range(5)]
GENES += [f"GENE{j}" for j in range(590)]
FEW = [f"GENE{j}" for j in range(60)]  # where a page asks for hundreds of fits


def blocks(page, language):
    """Return the code blocks of a page, each with the text since the last one."""
    pattern = rf"(.*?)^```{language}\n(.*?)^```$"
    text = (GUIDE / page).read_text()
    return re.findall(pattern, text, flags=re.DOTALL | re.MULTILINE)


def make_cells():
    rng = np.random.default_rng(0)
    levels = rng.standard_normal((N_CELLS, 6)) @ rng.standard_normal((6, len(GENES)))
    cells = pd.DataFrame(levels + rng.standard_normal(levels.shape), columns=GENES)
    cells["GENE2"] = 2 * cells["GENE1"]
    colours, shapes = rng.integers(0, 2, N_CELLS), rng.integers(0, 2, N_CELLS)
    for name, codes in {"colour": ("red", "green"), "shape": ("round", "flat")}.items():
        chosen = colours if name == "colour" else shapes
        for code, value in enumerate(codes):
            cells[f"{name}_{value}"] = (chosen == code).astype(float)
    return cells


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Return what the pages take for granted, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    X = make_cells()
    gapped = X.mask(rng.random(X.shape) < 0.05)
    known = {
        "X": X,
        "X_with_nan": gapped,
        "y": X["GENE0"] + rng.standard_normal(N_CELLS),
        "panel": GENES[100:240],
        "wanted": ["GENE7", "GENE8"],
        "unwanted": ["GENE9", "MT-0"],
        "donors": np.arange(N_CELLS) % 3,
        "counts": rng.integers(1, 4, N_CELLS),
        "selector": ufselect.MaxVariance(20),
        "sklearn": sklearn,
        "make_pipeline": make_pipeline,
        "KMeans": KMeans,
        "SelectFromModel": SelectFromModel,
        "LassoCV": LassoCV,
    }
    for name in ("panel", "wanted", "unwanted"):
        (tmp_path / f"{name}.txt").write_text("\n".join(known[name]))
    X.filter(regex="GENE|MT|RP").to_csv(tmp_path / "cells.csv", index=False)
    words = pd.DataFrame({"colour": ["red", "green"] * 20, "shape": ["flat"] * 30 + ["round"] * 10})
    X.iloc[:, 20:24].assign(**words).to_csv(tmp_path / "mixed.csv", index=False)
    return {**{name: getattr(ufselect, name) for name in ufselect.__all__}, **known}


@pytest.mark.parametrize("page", PAGES)
def test_python_lines_run(page, names):
    _, *found = blocks(page, "python")  # the first makes a table, in place of which this has its own
    assert found
    cells = make_cells()[FEW] if page == "stability.md" else make_cells()
    # Threads, for eight processes start more slowly than they fit.
    with warnings.catch_warnings(), sklearn.config_context(), parallel_config("threading"):
        warnings.simplefilter("ignore")  # too few cells for some of the numbers
        for text, code in found:
            names["X"] = cells
            exec(code, names)
            check = CHECKS.get(request_in(text)) if page == "requests.md" else None
            if check is not None:
                check(names["selector"], names)


@pytest.mark.parametrize("page", ["wishes.md", "requests.md"])
def test_commands_run(page, names, monkeypatch):
    found = blocks(page, "sh")
    assert found
    for _, code in found:
        monkeypatch.setattr("sys.argv", shlex.split(code))
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code


def test_every_request_is_checked():
    asked = [request_in(text) for text, _ in blocks("requests.md", "python")]
    assert sorted(filter(None, asked)) == sorted(CHECKS)


def request_in(text):
    """Return the number of the last request that a text names; None before the first."""
    return ([None] + re.findall(r"/(?:issues|pull)/(\d+)\)", text))[-1]


def selected(selector):
    return set(selector.get_feature_names_out())


def check_lists(selector, names):
    assert set(names["wanted"]) <= selected(selector)
    assert not set(names["unwanted"]) & selected(selector)


def check_panel(count):
    def check(selector, names):
        assert set(names["panel"]) <= selected(selector)
        assert selector.support_.sum() == count

    return check


def check_no_technical_genes(selector, names):
    assert not [gene for gene in selected(selector) if not gene.startswith(("GENE", "colour", "shape"))]


def check_kept(selector, names):
    assert {"GENE3", "GENE5"} <= selected(selector)


def check_whole(selector, names):
    colours = {"colour_red", "colour_green"}
    assert colours <= selected(selector) or not colours & selected(selector)


def check_one_variable(selector, names):
    assert {name.split("_")[0] for name in selected(selector)} in ({"colour"}, {"shape"})
    assert len(selected(selector)) == 2


def check_no_copies(selector, names):
    values = names["X"][list(selected(selector))].corr().abs().to_numpy()
    np.fill_diagonal(values, 0)
    assert values.max() <= 0.95


def check_gaps(selector, names):
    assert selector.missing_.share > 0
    assert selector.support_.sum() == 20


def check_fifty(selector, names):
    assert selector.support_.sum() == 50


def check_frequencies(selector, names):
    assert selector.frequencies_.max() <= 1


CHECKS = {
    "129": check_lists,
    "389": check_panel(500),
    "396": check_panel(240),
    "410": check_no_technical_genes,
    "1098": check_kept,
    "956": check_whole,
    "8480": check_one_variable,
    "13405": check_no_copies,
    "134": check_gaps,
    "27609": check_gaps,
    "614": check_fifty,
    "7308": check_fifty,
    "33": check_frequencies,
}
