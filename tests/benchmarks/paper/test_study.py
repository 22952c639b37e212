"""A small study: its outputs, and that a second run and the drawing compute nothing."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from benchmarks.paper.study import reproduce
from matplotlib.figure import Figure
from sklearn.utils import Bunch

from benchmarks.paper import __main__ as command
from benchmarks.paper import shapes
from benchmarks.paper import study as module
from ufselect import UnsupervisedSelector
from ufselect.compare import Protocol
from ufselect.datasets import DatasetUnavailableError

SETS, METHODS = ["iris", "digits", "mstar_soc_cnn"], ["DSCOFS", "MaxVariance"]
SMALL = Protocol(n_runs=4, max_points=3, n_starts=2)


@pytest.fixture(scope="module", autouse=True)
def undrawn():
    """Make the figures and leave their drawing to matplotlib's own tests; it takes longer than the study.

    The points of Banana are generated, whether the published ones are at hand or not.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "local_file", lambda name, entry: None)
        patch.setattr(Figure, "savefig", lambda figure, path, **_: path.touch())
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory, undrawn):
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "load_dataset", without_mstar(module.load_dataset))
        study = reproduce(folder, SETS, METHODS, quick=True, protocol=SMALL)
    return study, folder


def without_mstar(load):
    def loaded(name):
        if name == "mstar_soc_cnn":
            raise DatasetUnavailableError("MSTAR is nowhere.")
        found = load(name)
        return Bunch(**{**found, "data": found.data[:150], "target": found.target[:150]})

    return loaded


def test_folder_holds_tables_figures_rows_and_log(made):
    study, folder = made
    names = {path.name for path in (folder / "tables").iterdir()}
    assert {f"{table.name}.md" for table in study.tables} == names
    assert all(
        "\nCode: ufselect " in path.read_text(encoding="utf-8") for path in (folder / "tables").iterdir()
    )
    figures = {path.stem for path in (folder / "figures").glob("*.png")}
    assert figures == {path.stem for path in (folder / "figures").glob("*.pdf")}
    assert figures == {
        "boxes_acc", "boxes_nmi", "curves_acc", "curves_nmi", "loadings", "convergence", "sensitivity_acc",
        "sensitivity_nmi", "shapes", "time",
    }  # fmt: skip
    assert "iris: fits" in (folder / "run.log").read_text()
    assert (folder / ".gitignore").read_text() == "*\n"  # wherever it is, a clone stays clean
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == sum(len(study.rows(mode)) for mode in study.outcomes)


def test_resuming_fits_nothing_and_changes_nothing(made, monkeypatch):
    study, folder = made

    def refuse(self, *args, **kwargs):
        raise AssertionError("a resumed study has fitted a selector")

    monkeypatch.setattr(UnsupervisedSelector, "fit", refuse)
    monkeypatch.setattr(module, "load_dataset", without_mstar(module.load_dataset))
    again = reproduce(folder, SETS, METHODS, quick=True, protocol=SMALL)
    assert again.tables[:-1] == study.tables[:-1]  # the last one says what the run took
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
    for name in study.problems:
        rows = [row for row in study.rows("oracle") if row["dataset"] == name]
        best, mean = (
            max(row["acc_mean"] for row in rows if row["method"] == method)
            for method in ("BestRandomSubset", "RandomSubset")
        )
        assert best > mean
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
    printed = capsys.readouterr()
    assert "| DSCOFS |" in printed.out
    for words in (
        "wine: comes with scikit-learn",
        str(tmp_path),
        "minutes with 2 processes",
        "A short version",
    ):
        assert words in printed.err
    assert json.loads((tmp_path / "settings.json").read_text())["datasets"] == ["wine"]
    with pytest.raises(SystemExit):  # the stored results change by a run of all seven sets only
        command.main(["--dataset", "wine", "--publish", "-o", str(tmp_path)])
    monkeypatch.undo()
    assert command.main(["-m", "nonsense", "--quick", "--dataset", "wine", "-o", str(tmp_path)]) == 1
    assert "Unknown method" in capsys.readouterr().err
