from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from ufselect.evaluation import Protocol
from ufselect.evaluation.compare import QUICK
from ufselect.registry import all_selectors
from ufselect.reproduction import reproduce

pytest.importorskip("scikit_posthocs")
pytest.importorskip("matplotlib")

SETS = ["iris", "digits"]
SMALL = replace(Protocol(), **{**QUICK, "n_runs": 3, "screening_runs": 2, "max_points": 4})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    from ufselect.reproduction.study_page import publish

    folder = tmp_path_factory.mktemp("study")
    study = reproduce(
        folder,
        SETS,
        ["DSCOFS", "MaxVariance"],
        quick=True,
        protocol=SMALL,
        publish=publish,
    )
    return study, folder


def test_folder_holds_tables_figures_log_and_page(made):
    study, folder = made
    names = {path.name for path in (folder / "tables").iterdir()}
    assert {f"{table.name}.{end}" for table in study.tables for end in ("csv", "md", "tex")} == names
    figures = {path.stem for path in (folder / "figures").glob("*.png")}
    assert figures == {path.stem for path in (folder / "figures").glob("*.pdf")}
    assert figures == {
        "curves_acc",
        "curves_nmi",
        "critical_difference",
        "boxes_acc",
        "boxes_nmi",
        "time",
        "loadings",
        "convergence",
        "sensitivity_acc",
        "sensitivity_nmi",
        "shapes",
        "pixels",
    }
    assert "iris: fits" in (folder / "run.log").read_text()
    assert set(json.loads((folder / "summary.json").read_text())["means"]) >= {"oracle", "fixed"}


def test_page_stands_alone(made):
    _, folder = made
    page = (folder / "index.html").read_text()
    assert all(source.startswith("data:") for source in re.findall(r' (?:src|href)="([^"#][^"]*)"', page))
    assert not re.search(r"https?://|url\(", page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert page.count("<script") == len(scripts) == 1
    assert f"script-src 'sha256-{digest}'" in html.unescape(page)
    assert page.count("<figcaption>") == len(list((folder / "figures").glob("*.png")))
    for word in ("quick version", "Mode oracle", "Mode fixed", "seeding k-means++"):
        assert word in page


def test_resuming_changes_nothing(made):
    study, folder = made
    again = reproduce(folder, SETS, ["DSCOFS", "MaxVariance"], quick=True, protocol=SMALL)
    assert [table.body for table in again.tables] == [table.body for table in study.tables]


def test_drawing_never_fits(made, tmp_path, monkeypatch):
    """Figures and page come from the study's findings alone."""
    from ufselect.reproduction.study_page import publish

    study, folder = made

    def refuse(self, *args, **kwargs):
        raise AssertionError("a drawing has fitted a selector")

    for selector in all_selectors().values():
        monkeypatch.setattr(selector, "fit", refuse)
    publish(study, tmp_path)
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {path.name for path in (folder / "figures").iterdir()}
    captions = json.loads((tmp_path / "figures" / "captions.json").read_text(encoding="utf-8"))
    assert set(captions) == {name[:-4] for name in drawn if name.endswith(".png")}
    assert "X masked by Y and Z" in captions["loadings"]["caption"]
    assert all("mean over starts" in captions[f"sensitivity_{m}"]["caption"] for m in ("acc", "nmi"))


def test_a_resumed_study_fits_nothing(made, monkeypatch):
    study, folder = made

    def refuse(self, *args, **kwargs):
        raise AssertionError("a resumed study has fitted a selector")

    for selector in all_selectors().values():
        monkeypatch.setattr(selector, "fit", refuse)
    again = reproduce(folder, SETS, ["DSCOFS", "MaxVariance"], quick=True, protocol=SMALL)
    assert again.seconds == study.seconds
    assert again.planes == study.planes
    for name, inside in study.dissections.items():
        np.testing.assert_array_equal(again.dissections[name].objective, inside.objective)
        np.testing.assert_array_equal(again.dissections[name].matrices["double"], inside.matrices["double"])


def test_oracle_is_never_below_its_own_average(made):
    study, _ = made
    means = study.summary["means"]["oracle"]["acc"]
    assert means["BestRandomSubset"] > means["RandomSubset"]


def test_both_spaces_have_an_ablation(made):
    study, _ = made
    for found in study.ablations["digits"].values():
        assert 0 <= found.fsr <= 100
        assert 0 <= found.fsr_twin <= 100
    assert set(study.ablations["digits"]) == {"DSCOFS", "DSCOFSPaperGrid"}


def test_the_papers_grid_is_run_from_starts_of_its_own(made):
    study, _ = made
    method = study.methods["digits"]["DSCOFSPaperGrid"]
    assert all(p["penalty_scale"] == "absolute" and p["init"] == "random" for p in method.points)
    rows = [row for row in study.outcomes["oracle"]["digits"].rows if row.method == method.key]
    assert {row.start for row in rows} == {0, 1}


def test_stability_is_one_for_a_sure_choice(made):
    study, _ = made
    assert study.stabilities["iris"]["MaxVariance"] == 1
    assert abs(study.stabilities["digits"]["RandomSubset"]) < 0.3


def test_banana_is_easier_than_chance(made):
    study, _ = made
    solved = {(r.kind, r.method): r for r in study.shapes}
    assert solved["banana", "DSCOFS"].fixed >= 1 > solved["banana", "RandomSubset"].fixed
    assert all(r.oracle >= r.fixed for r in study.shapes)


def test_missing_sets_keep_their_place(tmp_path, monkeypatch):
    from ufselect.datasets import DatasetUnavailableError
    from ufselect.reproduction import study as module

    load = module.load_dataset

    def without_mstar(name):
        if name == "mstar_soc_cnn":
            raise DatasetUnavailableError("MSTAR is nowhere.")
        return load(name)

    monkeypatch.setattr(module, "load_dataset", without_mstar)
    study = reproduce(tmp_path, ["iris", "mstar_soc_cnn"], ["MaxVariance"], quick=True, protocol=SMALL)
    assert study.unavailable == {"mstar_soc_cnn": "MSTAR is nowhere."}
    main = study.tables[0]
    assert main.columns[2] == "MSTAR_SOC_CNN"
    assert {row[2] for row in main.body} == {"not available"}
    with pytest.raises(DatasetUnavailableError, match="None of the data sets"):
        reproduce(tmp_path / "none", ["mstar_soc_cnn"], quick=True)


def test_random_starts_are_averaged(made):
    study, _ = made
    row = next(row for row in study.rows("fixed") if row.method == "DSCOFSRandomStart")
    assert row.n_starts == SMALL.n_starts
    assert all(row.method != "DSCOFSRandomStart" for row in study.rows("oracle"))
