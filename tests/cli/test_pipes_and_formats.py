"""Pipes, compression and the formats that come and go."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy import sparse
from scipy.io import mmwrite
from tests.cli.commands import call
from tests.cli.hard_tables import FEATURES, ROWS, VALUES, tables

from ufselect.io import ReadOptions, read_table

PLAIN = tables()["zeros.csv"]
FAST = "-m MaxVariance"


class Pipe(io.TextIOWrapper):
    """Standard output that remembers its bytes."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8", write_through=True)


@pytest.fixture
def folder(folder):
    Path("t.csv").write_bytes(PLAIN)
    return folder


def through_pipes(content, options, folder, monkeypatch) -> bytes:
    """Return what the command writes to a pipe for what it reads from one."""
    out = Pipe()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    monkeypatch.setattr(sys, "stdout", out)
    assert call(f"select - {options} -o - --quiet") == 0
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    return out.bytes.getvalue()


def test_from_pipe_to_pipe(folder, monkeypatch):
    assert call(f"select t.csv -k 2 {FAST} -o file.csv") == 0
    for content in (PLAIN, gzip.compress(PLAIN), bz2.compress(PLAIN), lzma.compress(PLAIN)):
        written = through_pipes(content, f"-k 2 {FAST}", folder, monkeypatch)
        assert written == Path("file.csv").read_bytes()
    np.savez("t.npz", X=VALUES)
    frame = pandas.DataFrame(VALUES, columns=list(FEATURES))
    frame.to_parquet("t.parquet")
    frame.to_excel("t.xlsx", index=False)
    for name in ("t.npz", "t.parquet", "t.xlsx"):
        written = through_pipes(Path(name).read_bytes(), f"-k 5 {FAST}", folder, monkeypatch)
        np.testing.assert_array_equal(pandas.read_csv(io.BytesIO(written)).to_numpy(), VALUES)


def test_compressed_outputs(folder):
    assert call(f"select t.csv -k 2 {FAST} -o plain.csv") == 0
    for ending, unpack in (("gz", gzip.decompress), ("bz2", bz2.decompress), ("xz", lzma.decompress)):
        assert call(f"select t.csv -k 2 {FAST} -o packed.csv.{ending} --force") == 0
        assert unpack(Path(f"packed.csv.{ending}").read_bytes()) == Path("plain.csv").read_bytes()
        assert Path("packed.json").exists()


def test_zst_both_ways(folder):
    pytest.importorskip("pyarrow")
    assert call(f"select t.csv -k 5 {FAST} -o packed.csv.zst") == 0
    table = read_table("packed.csv.zst")
    np.testing.assert_array_equal(table.data, VALUES)
    assert table.ids.tolist()[1] == "00001"


def test_text_is_carried_into_every_format_or_dropped(folder):
    Path("n.csv").write_bytes(tables()["notes.csv"])
    notes = ["a  b", "q, r", *["ü"] * (ROWS - 2)]
    assert call(f"select n.csv -k 2 {FAST} -o x.npz") == 0
    with np.load("x.npz") as arrays:
        assert arrays["text_note"].tolist() == notes
    assert call(f"select n.csv -k 2 {FAST} -o y.npz --drop-text") == 0
    with np.load("y.npz") as arrays:
        assert "text_note" not in arrays
    assert call(f"select n.csv -k 2 {FAST} -o x.parquet --force") == 0
    assert pandas.read_parquet("x.parquet")["note"].tolist() == notes
    anndata = pytest.importorskip("anndata")
    assert call(f"select n.csv -k 2 {FAST} -o x.h5ad --force") == 0
    assert anndata.read_h5ad("x.h5ad").obs["note"].tolist() == notes


def test_workbooks(folder, capsys):
    pytest.importorskip("openpyxl")
    frame = pandas.DataFrame(VALUES, columns=list(FEATURES))
    frame.insert(0, "id", [f"{i:05}" for i in range(ROWS)])
    with pandas.ExcelWriter("book.xlsx") as book:
        frame.to_excel(book, sheet_name="first", index=False)
        (frame.iloc[:, 1:] * 2).to_excel(book, sheet_name="second", index=False)
    table = read_table("book.xlsx")
    np.testing.assert_array_equal(table.data, VALUES)
    assert table.ids.tolist()[1] == "00001"
    np.testing.assert_array_equal(read_table("book.xlsx", ReadOptions(sheet="second")).data, 2 * VALUES)
    assert call("select book.xlsx --sheet third") == 1
    assert "no sheet 'third'; it has first, second" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_h5ad_out_flags_the_chosen_genes_and_keeps_the_rest(folder):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    counts = sparse.csr_matrix(rng.poisson(1.0, (20, 8)).astype(np.float32))
    cells = anndata.AnnData(
        counts,
        pandas.DataFrame({"batch": ["x"] * 20}, index=[f"c{i}" for i in range(20)]),
        pandas.DataFrame(index=[f"g{j}" for j in range(8)]),
    )
    cells.layers["doubled"] = cells.X * 2
    cells.write_h5ad("cells.h5ad")
    assert call(f"select cells.h5ad -k 3 {FAST} --scale none -o out.h5ad") == 0
    out = anndata.read_h5ad("out.h5ad")
    assert out.shape == (20, 8)
    assert out.obs["batch"].tolist() == ["x"] * 20
    np.testing.assert_array_equal(out.layers["doubled"].toarray(), 2 * counts.toarray())
    best = np.argsort(-counts.toarray().std(axis=0))[:3]
    assert set(out.var_names[out.var["selected"]]) == {f"g{j}" for j in best}
    layer = read_table("cells.h5ad", ReadOptions(layer="doubled"))
    np.testing.assert_array_equal(layer.data.toarray(), 2 * counts.toarray())
    assert call(f"select t.csv -k 2 {FAST} -o from_text.h5ad") == 0
    assert anndata.read_h5ad("from_text.h5ad").obs_names[1] == "00001"


@pytest.mark.parametrize("packed", [False, True])
def test_tenx_folders(folder, packed):
    counts = np.random.default_rng(0).poisson(0.5, (12, 7))
    counts[0] = np.arange(7)
    place = folder / "tenx"
    place.mkdir()
    text = io.BytesIO()
    mmwrite(text, sparse.coo_matrix(counts.T))
    files = {
        "matrix.mtx": text.getvalue(),
        "features.tsv": "".join(f"ENSG{j}\tGENE{j}\tGene Expression\n" for j in range(7)).encode(),
        "barcodes.tsv": "".join(f"AAAC-{i}\n" for i in range(12)).encode(),
    }
    for name, content in files.items():
        (place / (f"{name}.gz" if packed else name)).write_bytes(
            gzip.compress(content) if packed else content
        )
    table = read_table(place, ReadOptions(keep_constant=True))
    np.testing.assert_array_equal(table.data.toarray(), counts)
    assert table.feature_names == [f"GENE{j}" for j in range(7)]
    assert table.ids.tolist() == [f"AAAC-{i}" for i in range(12)]
    assert call(f"select tenx -k 2 {FAST} -o out.csv") == 0


def test_sparse_files_have_clusters_and_can_be_compared(folder):
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, (40, 12)) * rng.integers(0, 2, (40, 12))
    labels = np.arange(40) % 2
    counts[labels == 1, :3] += 5
    sparse.save_npz("s.npz", sparse.csr_array(counts.astype(float)))
    assert call("select s.npz -k 3 --clusters 2") == 0
    anndata = pytest.importorskip("anndata")
    obs = pandas.DataFrame({"cluster": [f"k{i}" for i in labels]}, index=[f"c{i}" for i in range(40)])
    var = pandas.DataFrame(index=[f"g{j}" for j in range(12)])
    anndata.AnnData(sparse.csr_matrix(counts.astype(np.float32)), obs, var).write_h5ad("s.h5ad")
    assert call("compare s.h5ad -k 3 -m max-variance --runs 2") == 0


def test_ranking_and_names(folder):
    text = PLAIN.decode().replace("id,a", "id,flat,a").splitlines()
    rows = [text[0], *(line.replace(",", ",1,", 1) for line in text[1:])]
    Path("f.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert call(f"select f.csv -k 2 {FAST} --ranking r.csv --names n.txt") == 0
    ranking = pandas.read_csv("r.csv")
    order = np.argsort(-VALUES.std(axis=0))
    assert ranking["column"].tolist() == [*(FEATURES[j] for j in order), "flat"]
    assert ranking["selected"].tolist() == [True, True, False, False, False, False]
    assert ranking["left_out_because"].tolist()[-1] == "constant"
    assert Path("n.txt").read_text(encoding="utf-8").split() == [FEATURES[j] for j in order[:2]]
    r = np.corrcoef(VALUES.T)[order[2], order[:2]]
    assert ranking["correlation"][2] == pytest.approx(r[np.abs(r).argmax()], abs=1e-6)


def test_apply_takes_the_same_columns_from_another_table(folder, capsys):
    assert call(f"select t.csv -k 2 {FAST} -o picked.csv --scale standard") == 0
    record = json.loads(Path("picked.json").read_text(encoding="utf-8"))
    chosen = sorted(feature["name"] for feature in record["result"]["features"])
    new = pandas.read_csv(io.BytesIO(PLAIN), dtype=str)[["id", *reversed(FEATURES)]]
    new.to_csv("new.csv", index=False)
    assert call("apply picked.json new.csv -o out.csv") == 0
    assert "another order" in capsys.readouterr().err
    assert Path("out.csv").read_bytes() == Path("picked.csv").read_bytes()
    assert call("apply picked.json new.csv -o scaled.csv --scaled") == 0
    scaled = pandas.read_csv("scaled.csv", dtype={"id": str})
    places = [FEATURES.index(name) for name in chosen]
    expected = (VALUES[:, places] - VALUES[:, places].mean(axis=0)) / VALUES[:, places].std(axis=0)
    np.testing.assert_allclose(scaled[chosen].to_numpy(), expected, atol=1e-12)
    assert scaled["id"].tolist()[1] == "00001"
    new.drop(columns=chosen[0]).to_csv("less.csv", index=False)
    assert call("apply picked.json less.csv -o no.csv") == 1
    assert f"lacks 1 of 2 columns: {chosen[0]}; give a table" in capsys.readouterr().err
    new[chosen[0]] = "word"
    new.to_csv("words.csv", index=False)
    assert call("apply picked.json words.csv -o no.csv") == 1
    assert f"no usable numbers in {chosen[0]} (not numbers)" in capsys.readouterr().err
    assert not Path("no.csv").exists()


def test_comparison_has_a_row_for_every_count_and_numbers_in_csv(folder, capsys):
    labels = ["u", "v", ""] * (ROWS // 3)
    lines = PLAIN.decode().splitlines()
    text = [f"{lines[0]},kind", *(f"{line},{label}" for line, label in zip(lines[1:], labels, strict=True))]
    Path("l.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    line = "compare l.csv --labels kind -k 2 -k 3 -m max-variance --runs 2 --seed 3 -o c.csv"
    assert call(line) == 0
    shown = capsys.readouterr()
    assert "10 rows without a value of kind were left out" in shown.err
    found = pandas.read_csv("c.csv")
    assert found[found["method"] == "Max variance"]["n_features"].tolist() == [2, 3]
    assert found["acc_mean"].dtype == float
