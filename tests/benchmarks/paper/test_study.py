"""A small study: its outputs, and that a second run and the drawing compute nothing."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("scikit_posthocs")
pytest.importorskip("matplotlib")

from benchmarks.paper.page import publish
from benchmarks.paper.race import RaceOutcome
from benchmarks.paper.rank_test import RankTest
from benchmarks.paper.study import Study, reproduce
from sklearn.utils import Bunch
from tests.evaluation.rows import make_row

from benchmarks.paper import __main__ as command
from benchmarks.paper import study as module
from ufselect.datasets import DatasetUnavailableError
from ufselect.evaluation import Protocol
from ufselect.evaluation.protocol import QUICK, make_problem
from ufselect.registry import all_selectors

SETS, METHODS = ["iris", "digits", "mstar_soc_cnn"], ["DSCOFS", "MaxVariance"]
SMALL = replace(Protocol(), **{**QUICK, "n_runs": 4, "max_points": 3})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "load_dataset", without_mstar(module.load_dataset))
        study = reproduce(folder, SETS, METHODS, quick=True, protocol=SMALL, publish=publish)
    return study, folder


def without_mstar(load):
    def loaded(name):
        if name == "mstar_soc_cnn":
            raise DatasetUnavailableError("MSTAR is nowhere.")
        found = load(name)
        return Bunch(**{**found, "data": found.data[:200], "target": found.target[:200]})

    return loaded


def test_folder_holds_tables_figures_rows_log_and_page(made):
    study, folder = made
    names = {path.name for path in (folder / "tables").iterdir()}
    assert {f"{table.name}.{end}" for table in study.tables for end in ("csv", "md", "tex")} == names
    figures = {path.stem for path in (folder / "figures").glob("*.png")}
    assert figures == {path.stem for path in (folder / "figures").glob("*.pdf")}
    assert figures == {
        "curves_acc", "curves_nmi", "critical_difference", "boxes_acc", "boxes_nmi", "time", "loadings",
        "convergence", "sensitivity_acc", "sensitivity_nmi", "shapes", "pixels",
    }  # fmt: skip
    captions = json.loads((folder / "figures" / "captions.json").read_text(encoding="utf-8"))
    assert set(captions) == figures
    assert "iris: fits" in (folder / "run.log").read_text()
    assert set(json.loads((folder / "summary.json").read_text())["means"]) == {"oracle", "fixed", "auto"}
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == sum(len(study.rows(mode)) for mode in study.outcomes)


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
    for word in ("quick version", "Mode oracle", "Mode fixed", "seeding k-means++", "MSTAR is nowhere"):
        assert word in page


def test_resuming_fits_nothing_and_changes_nothing(made, monkeypatch):
    study, folder = made

    def refuse(self, *args, **kwargs):
        raise AssertionError("a resumed study has fitted a selector")

    for selector in all_selectors().values():
        monkeypatch.setattr(selector, "fit", refuse)
    monkeypatch.setattr(module, "load_dataset", without_mstar(module.load_dataset))
    again = reproduce(folder, SETS, METHODS, quick=True, protocol=SMALL)
    assert again.tables == study.tables
    assert again.seconds == study.seconds
    assert again.planes == study.planes
    for name, inside in study.dissections.items():
        np.testing.assert_array_equal(again.dissections[name]["double"], inside["double"])


def test_missing_sets_keep_their_place(made, tmp_path, monkeypatch):
    study, _ = made
    assert study.unavailable == {"mstar_soc_cnn": "MSTAR is nowhere."}
    main = study.tables[0]
    assert main.columns[3] == "MSTAR_SOC_CNN"
    assert {row[3] for row in main.body} == {"not available"}
    monkeypatch.setattr(module, "load_dataset", without_mstar(module.load_dataset))
    with pytest.raises(DatasetUnavailableError, match="None of the data sets"):
        reproduce(tmp_path, ["mstar_soc_cnn"], quick=True)


def test_experiments_find_what_they_must(made):
    study, _ = made
    means = study.summary["means"]["oracle"]["acc"]
    assert means["BestRandomSubset"] > means["RandomSubset"]
    assert set(study.ablations["digits"]) == {"DSCOFS", "DSCOFSPaperGrid"}
    assert all(0 <= found["fsr"] <= 100 for found in study.ablations["digits"].values())
    assert study.stabilities["iris"]["MaxVariance"] == 1
    assert abs(study.stabilities["digits"]["RandomSubset"]) < 0.3
    solved = {(result["kind"], result["method"]): result for result in study.shapes}
    assert solved["banana", "DSCOFS"]["fixed"] >= 1 > solved["banana", "RandomSubset"]["fixed"]
    assert all(result["oracle"] >= result["fixed"] for result in study.shapes)


def test_starts_of_the_paper_are_kept_apart_and_others_averaged(made):
    study, _ = made
    method = study.methods["digits"]["DSCOFSPaperGrid"]
    assert all(p["penalty_scale"] == "absolute" and p["init"] == "random" for p in method.points)
    rows = [row for row in study.rows("oracle") if row["method"] == method.key]
    assert {row["start"] for row in rows} == {0, 1}
    row = next(row for row in study.rows("fixed") if row["method"] == "DSCOFSRandomStart")
    assert row["n_starts"] == SMALL.n_starts
    assert all(row["method"] != "DSCOFSRandomStart" for row in study.rows("oracle"))


def test_the_summary_has_what_programs_read():
    X, y = np.arange(24.0).reshape(6, 4), np.arange(6) % 2
    problems = {name: make_problem(name, X, y, [2]) for name in ("isolet", "usps")}

    def row(dataset, method, acc, count=100):
        return make_row([acc], method, count, nmi_runs=[acc - 10], dataset=dataset)

    oracle = {
        name: [row(name, "DSCOFS", best), row(name, "DSCOFS", 10.0, 20), row(name, "UDFS", 40.0)]
        for name, best in (("isolet", 60.0), ("usps", 70.0005))
    }
    fixed = {name: [row(name, "DSCOFS", 55.0)] for name in problems}
    outcomes = {
        mode: {name: RaceOutcome(rows, rows, {}) for name, rows in by_set.items()}
        for mode, by_set in (("oracle", oracle), ("fixed", fixed))
    }
    test = RankTest(("a", "b"), np.ones(2), 1.0, 0.03125, 0.5, np.ones((2, 2)), 2, 0.05)
    study = Study(Protocol(), 5, False, ("isolet", "usps", "glioma"), {"glioma": "GLIOMA is nowhere."})
    study.problems, study.outcomes, study.test = problems, outcomes, test
    assert json.loads(json.dumps(study.summary)) == {
        "format": 1,
        "datasets": ["isolet", "usps"],
        "unavailable": {"glioma": "GLIOMA is nowhere."},
        "means": {
            "oracle": {"acc": {"DSCOFS": 65.0, "UDFS": 40.0}, "nmi": {"DSCOFS": 55.0, "UDFS": 30.0}},
            "fixed": {"acc": {"DSCOFS": 55.0}, "nmi": {"DSCOFS": 45.0}},
        },
        "friedman_p": 0.03125,
    }


def test_the_command_passes_on_what_is_asked(made, tmp_path, monkeypatch, capsys):
    study, _ = made
    asked = {}

    def noting(folder, **settings):
        asked.update(settings, folder=folder)
        return study

    monkeypatch.setattr(command, "reproduce", noting)
    arguments = ["--quick", "--dataset", "wine", "-m", "UDFS", "--jobs", "2", "-o", str(tmp_path)]
    assert command.main(arguments) == 0
    assert (asked["datasets"], asked["methods"], asked["n_jobs"]) == (["wine"], ["UDFS"], 2)
    assert asked["quick"]
    assert asked["resume"]
    assert "| DSCOFS |" in capsys.readouterr().out
    assert json.loads((tmp_path / "settings.json").read_text())["datasets"] == ["wine"]
    monkeypatch.undo()
    assert command.main(["-m", "nonsense", "--quick", "--dataset", "wine", "-o", str(tmp_path)]) == 1
    assert "Unknown method" in capsys.readouterr().err
