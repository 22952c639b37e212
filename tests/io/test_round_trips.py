"""What is written in a format is read back as it was, whatever the values and names."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.io import savemat

from ufselect.io import ReadOptions, read_table

pandas = pytest.importorskip("pandas")
KEEP = ReadOptions(keep_constant=True)

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters='",;\t|'), min_size=2
).filter(lambda name: not any(character.isdigit() for character in name) and not name.startswith("#"))
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def tables(draw, elements=FINITE, dtype=np.float64):
    """Draw values, distinct names and distinct ids."""
    shape = draw(st.tuples(st.integers(2, 6), st.integers(1, 5)))
    values = draw(hnp.arrays(dtype, shape, elements=elements))
    taken = st.lists(NAMES, min_size=shape[1], max_size=shape[1], unique_by=str.lower)
    return values, draw(taken), [f"s{i}" for i in range(shape[0])]


def frame_of(values, names, ids):
    frame = pandas.DataFrame(values, columns=names)
    frame.insert(0, "sample_id", ids)
    return frame


def written(suffix, write):
    """Return the table that is read from a file of that ending."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        write(path)
        return read_table(path, KEEP)


def assert_same(table, values, names, ids):
    np.testing.assert_array_equal(table.data, values)
    assert table.feature_names == names
    assert table.ids.tolist() == ids


@pytest.mark.parametrize(
    ("suffix", "marks"),
    [
        (".csv", {"sep": ",", "decimal": "."}),
        (".csv", {"sep": ";", "decimal": ","}),
        (".tsv", {"sep": "\t", "decimal": "."}),
        (".csv.gz", {"sep": ",", "decimal": "."}),
    ],
)
@given(content=tables(st.floats(-1e9, 1e9, width=64)))
@settings(max_examples=6)
def test_text(suffix, marks, content):
    values, names, ids = content
    frame = frame_of(values, names, ids)
    table = written(suffix, lambda path: frame.to_csv(path, index=False, **marks))
    assert_same(table, values, names, ids)


@given(content=tables())
def test_parquet(content):
    pytest.importorskip("pyarrow")
    frame = frame_of(*content)
    assert_same(written(".parquet", lambda path: frame.to_parquet(path, index=False)), *content)


@given(content=tables(), dtype=st.sampled_from([np.float32, np.float64, np.int16]))
def test_npy(content, dtype):
    with np.errstate(all="ignore"):
        values = np.nan_to_num(content[0].astype(dtype), nan=0, posinf=0, neginf=0)
    table = written(".npy", lambda path: np.save(path, values))
    np.testing.assert_array_equal(table.data, values)


@given(content=tables())
def test_npz(content):
    values, names, ids = content
    save = {"X": values, "feature_names": np.array(names), "ids": np.array(ids)}
    assert_same(written(".npz", lambda path: np.savez(path, **save)), values, names, ids)


@given(content=tables(st.sampled_from([0.0, 0.0, 1.0, -2.5])))
def test_sparse_npz(content):
    values = content[0]
    table = written(".npz", lambda path: sparse.save_npz(path, sparse.csr_array(values)))
    assert sparse.issparse(table.data)
    np.testing.assert_array_equal(table.data.toarray(), values)


@given(content=tables())
@settings(max_examples=5)  # each is tried in a process of its own
def test_mat(content):
    values = content[0]
    labels = np.arange(values.shape[0])[:, None] % 2
    table = written(".mat", lambda path: savemat(path, {"fea": values, "gnd": labels}))
    np.testing.assert_array_equal(table.data, values)
    np.testing.assert_array_equal(table.labels, labels.ravel())


@pytest.mark.filterwarnings("ignore")
@given(content=tables(st.floats(-1e6, 1e6, width=32), np.float32), as_sparse=st.booleans())
@settings(max_examples=8)
def test_h5ad(content, as_sparse):
    anndata = pytest.importorskip("anndata")
    values, names, ids = content
    matrix = sparse.csr_matrix(values) if as_sparse else values
    cells = anndata.AnnData(matrix, pandas.DataFrame(index=ids), pandas.DataFrame(index=names))
    table = written(".h5ad", lambda path: cells.write_h5ad(path))
    assert sparse.issparse(table.data) == as_sparse
    dense = table.data.toarray() if as_sparse else table.data
    assert_same(replace(table, data=dense), values, names, ids)
