"""Sparse matrices whose index arrays lie: compiled code would crash on them, so every reader refuses them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from ufselect import MaxVariance
from ufselect.io import read_table, write_selection

GOOD = sparse.random_array((8, 6), density=0.5, format="csr", rng=np.random.default_rng(0))
SENTENCE = "damaged sparse matrix"


def changed(values: np.ndarray, place: int, value: int) -> np.ndarray:
    values = values.copy()
    values[place] = value
    return values


FAULTS = {
    "index too large": {"indices": changed(GOOD.indices, 3, 2_000_000_000)},
    "negative index": {"indices": changed(GOOD.indices, 3, -5)},
    "indptr falls": {"indptr": changed(GOOD.indptr, 3, GOOD.indptr[5] + 1)},
    "indptr too short": {"indptr": GOOD.indptr[:-2]},
    "indptr past the end": {"indptr": changed(GOOD.indptr, -1, GOOD.nnz + 1000)},
    "fewer indices": {"indices": GOOD.indices[:-3]},
    "spare values": {"data": np.append(GOOD.data, 1.0)},
    "spare indices": {"indices": np.append(GOOD.indices, 0)},
    "values in rows": {"data": np.tile(GOOD.data[:, None], 2)},
}


def damaged(fault: str) -> dict[str, np.ndarray]:
    whole = {name: getattr(GOOD, name).copy() for name in ("data", "indices", "indptr")}
    return whole | FAULTS.get(fault, {})


def matrix_of(fault: str) -> sparse.csr_array:
    """Build the matrix behind the back of SciPy's own checks, as readers of files do."""
    matrix = GOOD.copy()
    for name, values in damaged(fault).items():
        setattr(matrix, name, values)
    return matrix


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_data_in_memory(fault, method):
    with pytest.raises(ValueError, match=SENTENCE):
        getattr(MaxVariance(2), method)(matrix_of(fault))


def test_a_matrix_of_repeated_and_unsorted_entries_is_left_alone():
    parts = (np.array([4.0, 2.0, 3.0, 9.0]), np.array([2, 0, 0, 1]), np.array([0, 3, 4]))
    for part in parts:
        part.flags.writeable = False
    unsorted = sparse.csr_array(parts, shape=(2, 3))
    flags = dict(vars(unsorted))
    assert MaxVariance(1).fit(unsorted).get_support().tolist() == [False, True, False]
    assert MaxVariance(2).fit(unsorted).get_support().tolist() == [True, True, False]
    assert vars(unsorted).keys() == flags.keys()
    assert unsorted.indices.tolist() == [2, 0, 0, 1]


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if "spare" not in fault])
def test_npz(fault, tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, format=np.array(b"csr"), shape=np.array(GOOD.shape), **damaged(fault))
    with pytest.raises(ValueError, match=r"table\.npz"):
        read_table(path)


def test_mat(tmp_path):
    path = tmp_path / "table.mat"
    turned = sparse.csc_array((8, 6))
    for name, values in damaged("index too large").items():
        setattr(turned, name, values)
    turned.indptr = GOOD.T.tocsr().indptr  # of the right length; it is the indices that lie
    savemat(path, {"X": turned})
    with pytest.raises(
        ValueError, match=rf"table\.mat is not a readable|{SENTENCE}"
    ):  # SciPy's check or ours
        read_table(path)


def test_mat_with_an_unknown_type_of_element_does_not_crash_this_process(tmp_path):
    path = tmp_path / "table.mat"
    savemat(path, {"X": np.ones((4, 3))})
    content = bytearray(path.read_bytes())
    values_tag = content.rindex((9).to_bytes(4, "little") + (96).to_bytes(4, "little"))
    content[values_tag] = 200
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"table\.mat is damaged: its library crashes"):
        read_table(path)


@pytest.mark.parametrize("fault", ["negative index", "indptr past the end", "no shape", "wide shape"])
def test_hdf5(fault, tmp_path):
    h5py, anndata = pytest.importorskip("h5py"), pytest.importorskip("anndata")
    path = tmp_path / "table.h5ad"
    anndata.AnnData(sparse.csr_matrix(GOOD)).write_h5ad(path)
    with h5py.File(path, "a") as file:
        for name, values in damaged(fault).items():
            del file["X"][name]
            file["X"][name] = values
        if fault == "no shape":
            del file["X"].attrs["shape"]
        elif fault == "wide shape":
            file["X"].attrs["shape"] = np.array([8, 3_523_215_372])
    with pytest.raises(ValueError, match=r"table\.h5ad"):
        read_table(path)


@pytest.mark.parametrize("fault", ["index too large", "fewer indices"])
def test_blocks_of_a_dask_array(fault):
    dask_array = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    meta = sparse.csr_array((0, 0))
    block = dask_array.from_delayed(dask.delayed(matrix_of)(fault), GOOD.shape, meta=meta)
    with pytest.raises(ValueError, match=SENTENCE):
        MaxVariance(2).fit(block)


def test_a_matlab_file_that_claims_more_rows_than_it_has_bytes_is_refused(tmp_path):
    path = tmp_path / "table.mat"
    savemat(path, {"X": sparse.csc_array((np.ones(3), ([0, 1, 2], [0, 1, 2])), shape=(1_717_986_918, 4))})
    with pytest.raises(
        ValueError, match=r"table\.mat is damaged, .* unpacks to 12\.8 GiB or more; write it again"
    ):
        read_table(path)


def test_data_that_lie_in_other_files_are_not_followed(tmp_path):
    h5py, anndata = pytest.importorskip("h5py"), pytest.importorskip("anndata")
    (tmp_path / "secret.bin").write_bytes(np.eye(4).tobytes())
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = np.eye(4)
    layout = h5py.VirtualLayout((4, 4), dtype="f8")
    layout[:] = h5py.VirtualSource(tmp_path / "secret.h5", "X", (4, 4))
    path = tmp_path / "cells.h5ad"
    for kind in ("link", "external", "virtual"):
        anndata.AnnData(np.eye(4)).write_h5ad(path)
        with h5py.File(path, "a") as file:
            del file["X"]
            if kind == "link":
                file["X"] = h5py.ExternalLink("secret.h5", "X")
            elif kind == "external":
                file.create_dataset("X", (4, 4), "f8", external=[(str(tmp_path / "secret.bin"), 0, 128)])
            else:
                file.create_virtual_dataset("X", layout)
        with pytest.raises(ValueError, match="in another file; give that file"):
            read_table(path)


def test_arrays_that_claim_far_more_than_is_stored_are_refused(tmp_path):
    """Rows that are not there read as zeros, hours of them."""
    path = tmp_path / "table.h5ad"
    pytest.importorskip("anndata").AnnData(np.eye(4)).write_h5ad(path)
    with pytest.importorskip("h5py").File(path, "a") as file:
        del file["X"]
        stored = file.create_dataset("X", (4, 4), "f8", chunks=(10, 4), maxshape=(None, 4))
        stored.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        stored[:] = 1
        stored.resize((2**26, 4))
    with pytest.raises(ValueError, match=r"table\.h5ad .* unpacks to 2\.0 GiB or more; write it again"):
        read_table(path)


def test_what_is_copied_from_a_damaged_h5ad_file_is_named(tmp_path):
    """Parts that reading does not need are met when all is copied."""
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(np.eye(4), uns={"note": "x"}).write_h5ad(path)
    with h5py.File(path, "a") as file:
        file["uns"]["note"].attrs["encoding-type"] = "strange"
    table = read_table(path)
    with pytest.raises(ValueError, match=r"cells\.h5ad is not a readable AnnData file; write"):
        write_selection(table, [1], tmp_path / "chosen.h5ad")


def write_tenx(folder, content):
    folder.mkdir()
    (folder / "matrix.mtx").write_bytes(content)
    (folder / "features.tsv").write_text("a\nb\n")
    (folder / "barcodes.tsv").write_text("c\nd\n")


MATRIX = b"%%MatrixMarket matrix coordinate integer general\n%\n2 2 2\n1 1 3\n2 2 4"


@pytest.mark.parametrize("end", [b"", b" ", b"\n", b" \n"])
def test_a_matrix_of_10x_is_read_to_its_end(end, tmp_path):
    write_tenx(tmp_path / "cells", MATRIX + end)
    assert read_table(tmp_path / "cells").data.toarray().tolist() == [[3, 0], [0, 4]]


@pytest.mark.parametrize(
    "content", [MATRIX + b"\n] 1 2", MATRIX + b"\n1 2 5", MATRIX[:-5], MATRIX[:60], b"", b"x"]
)
def test_a_damaged_matrix_of_10x_is_refused(content, tmp_path):
    write_tenx(tmp_path / "cells", content)
    with pytest.raises(ValueError, match=r"cells.* .*\.$"):
        read_table(tmp_path / "cells")


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_indices_without_a_sign_are_read_as_any_others(form, tmp_path):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    X = sparse.random_array((20, 6), density=0.4, format=form, rng=np.random.default_rng(0))
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(X=X).write_h5ad(path)
    with h5py.File(path, "a") as file:
        for name in ("indices", "indptr"):
            values = file["X"][name][()].astype(np.uint32)
            del file["X"][name]
            file["X"].create_dataset(name, data=values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_table(path).data
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), X.toarray())
