"""Selecting in an AnnData object equals selecting in its matrix, and is written where scanpy's users look."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import VarianceThreshold

from ufselect import DSCOFS, AutoSelector, GreedyProjection, MaxVariance, PCALeverage
from ufselect.anndata import select

anndata = pytest.importorskip("anndata")
pandas = pytest.importorskip("pandas")

# anndata 0.13 asks pandas 3 for an option that pandas warns of
pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated")

NAMES = [f"g{j}" for j in range(30)]


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    rate = rng.gamma(0.5, 2.0, size=30) * np.where(np.arange(60)[:, None] % 3 == np.arange(30) % 3, 4, 1)
    return rng.poisson(rate).astype(np.float32)


@pytest.fixture
def cells(counts):
    return anndata.AnnData(
        counts,
        obs=pandas.DataFrame({"donor": list("ab") * 30}, index=[f"c{i}" for i in range(60)]),
        var=pandas.DataFrame({"length": np.arange(30)}, index=NAMES),
        layers={"log": np.log1p(counts), "counts": sparse.csr_matrix(counts)},
    )


def test_it_writes_what_the_selector_selects(cells, counts):
    assert select(cells, DSCOFS(7, n_components=2)) is None
    direct = DSCOFS(7, n_components=2).fit(counts)
    np.testing.assert_array_equal(cells.var["selected"], direct.support_)
    np.testing.assert_array_equal(cells.var["rank"], direct.ranking_)
    assert cells.var["selected"].dtype == bool
    assert cells.shape == (60, 30)
    assert list(cells.var_names) == NAMES
    assert list(cells.var["length"]) == list(range(30))
    assert cells.uns["ufselect"]["selector"] == "DSCOFS(n_components=2, n_features_to_select=7)"


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_sparse_counts_are_fitted_as_they_are(cells, counts, kind):
    cells.X = kind(counts)
    select(cells, MaxVariance(5))
    np.testing.assert_array_equal(cells.var["rank"], MaxVariance(5).fit(counts).ranking_)
    assert sparse.issparse(cells.X)


def test_a_layer_is_fitted_in_place_of_the_matrix(cells, counts):
    select(cells, MaxVariance(5), layer="log")
    expected = MaxVariance(5).fit(np.log1p(counts))
    np.testing.assert_array_equal(cells.var["rank"], expected.ranking_)
    assert not np.array_equal(expected.ranking_, MaxVariance(5).fit(counts).ranking_)
    assert cells.uns["ufselect"]["layer"] == "log"
    select(cells, MaxVariance(5))
    assert "layer" not in cells.uns["ufselect"]


def test_a_copy_leaves_the_original_alone(cells):
    given = cells.copy()
    changed = select(cells, MaxVariance(5), copy=True)
    assert list(cells.var.columns) == ["length"]
    assert not cells.uns
    assert changed.var["selected"].sum() == 5
    np.testing.assert_array_equal(cells.X, given.X)


@pytest.mark.parametrize("copy", [False, True])
def test_a_subset_has_the_selected_genes_alone(cells, counts, copy):
    returned = select(cells, MaxVariance(5), subset=True, copy=copy)
    support = MaxVariance(5).fit(counts).support_
    smaller = returned if copy else cells
    assert list(smaller.var_names) == list(np.array(NAMES)[support])
    np.testing.assert_array_equal(smaller.X, counts[:, support])
    assert smaller.layers["counts"].shape == (60, 5)
    assert cells.shape == ((60, 30) if copy else (60, 5))


@pytest.mark.parametrize("layer", ["log", "counts"])
def test_genes_are_kept_left_out_and_grouped_by_name(cells, layer):
    given = GreedyProjection(6, keep=["g3"], exclude=["g4", "g5"], feature_groups={"pair": ["g6", "g7"]})
    select(cells, given, layer=layer)
    by_index = GreedyProjection(6, keep=[3], exclude=[4, 5], feature_groups={"pair": [6, 7]})
    np.testing.assert_array_equal(cells.var["rank"], by_index.fit(cells.layers[layer]).ranking_)
    assert cells.var.loc["g3", "rank"] == 1
    assert given.keep == ["g3"]
    assert not hasattr(given, "support_")


def test_batches_come_from_a_column_of_the_cells(cells, counts):
    cells.X = counts + 50 * (np.arange(30) < 3) * (cells.obs["donor"] == "b").to_numpy()[:, None]
    select(cells, PCALeverage(3, n_components=2))
    plain = cells.var["selected"].to_numpy()
    select(cells, PCALeverage(3, n_components=2), batch_key="donor")
    expected = PCALeverage(3, n_components=2).fit(cells.X, batch=cells.obs["donor"])
    np.testing.assert_array_equal(cells.var["selected"], expected.support_)
    assert not np.array_equal(plain, expected.support_)
    assert cells.uns["ufselect"]["batch_key"] == "donor"


def test_the_verdict_is_written_and_everything_survives_a_file(cells, tmp_path):
    select(cells, AutoSelector(5, goal="clusters", n_clusters=3, random_state=0), layer="log")
    cells.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pandas.testing.assert_frame_equal(back.var, cells.var)
    assert dict(back.uns["ufselect"]) == cells.uns["ufselect"]
    assert back.uns["ufselect"]["verdict"] in ("yes", "no", "unclear")


def test_any_scikit_learn_selector_will_do(cells, counts):
    select(cells, VarianceThreshold(5.0))
    kept = counts.var(axis=0) > 5
    np.testing.assert_array_equal(cells.var["selected"], kept)
    assert sorted(cells.var["rank"]) == list(range(1, 31))
    assert cells.var["rank"][kept].max() == kept.sum()


@pytest.mark.parametrize(
    ("selector", "given", "sentence"),
    [
        (MaxVariance(3), {"layer": "logs"}, r"adata has no layer 'logs'; did you mean 'log'\?"),
        (MaxVariance(3), {"batch_key": "day"}, r"adata\.obs has no column 'day'; there are donor\."),
        (MaxVariance(3, keep=["g33"]), {}, r"keep has 'g33', which is not a column of X; did you mean 'g3'"),
        (
            MaxVariance(3, feature_groups={"p": ["h"]}),
            {},
            r"feature_groups\['p'\] has 'h', which is not a column",
        ),
    ],
)
def test_what_is_not_there_is_refused(cells, selector, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        select(cells, selector, **given)
    assert list(cells.var.columns) == ["length"]


def test_what_is_no_selector_or_no_anndata_is_refused(cells, counts):
    with pytest.raises(TypeError, match=r"adata must be an AnnData object, not ndarray\."):
        select(counts, MaxVariance(3))
    with pytest.raises(TypeError, match=r"selector must be a selector with fit and get_support, .* not 50\."):
        select(cells, 50)


def test_empty_and_stored_matrices_are_refused(cells, tmp_path):
    cells.write_h5ad(tmp_path / "cells.h5ad")
    stored = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match=r"adata is on disk; read it with adata\.to_memory\(\)"):
        select(stored, MaxVariance(3))
    stored.file.close()
    cells.X = None
    with pytest.raises(ValueError, match=r"adata\.X is empty; name a layer: there are log, counts\."):
        select(cells, MaxVariance(3))


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_repeated_names_are_refused_only_where_names_are_needed(cells):
    cells.var_names = ["g0", "g0", *NAMES[2:]]
    select(cells, MaxVariance(3))
    with pytest.raises(ValueError, match=r"Gene names are not unique; call adata\.var_names_make_unique"):
        select(cells, MaxVariance(3, keep=["g0"]))


def test_without_anndata_the_line_to_install_it_is_given(cells, monkeypatch):
    def absent(module):
        if module == "anndata":
            raise ImportError(module)
        return import_module(module)

    monkeypatch.setattr("ufselect._utils.imports.import_module", absent)
    with pytest.raises(ImportError, match=r'needs anndata: pip install "ufselect\[tables\]"'):
        select(cells, MaxVariance(3))
