"""Sparse matrices whose index arrays lie: compiled code would crash on them, so every reader refuses them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from ufselect import MaxVariance
from ufselect.common.sparse_structure import canonical_csr, sparse_damage
from ufselect.io import read_table

GOOD = sparse.random_array((8, 6), density=0.5, format="csr", rng=np.random.default_rng(0))
SENTENCE = "damaged sparse matrix"


def damaged(fault: str) -> dict[str, np.ndarray]:
    parts = {"data": GOOD.data.copy(), "indices": GOOD.indices.copy(), "indptr": GOOD.indptr.copy()}
    if fault == "index too large":
        parts["indices"][3] = 2_000_000_000
    elif fault == "negative index":
        parts["indices"][3] = -5
    elif fault == "indptr falls":
        parts["indptr"][3] = parts["indptr"][5] + 1
    elif fault == "indptr too short":
        parts["indptr"] = parts["indptr"][:-2]
    elif fault == "indptr past the end":
        parts["indptr"][-1] += 1000
    elif fault == "fewer indices":
        parts["indices"] = parts["indices"][:-3]
    return parts


FAULTS = (
    "index too large",
    "negative index",
    "indptr falls",
    "indptr too short",
    "indptr past the end",
    "fewer indices",
)


def matrix_of(fault: str) -> sparse.csr_array:
    """Build the matrix behind the back of SciPy's own checks, as readers of files do."""
    matrix = GOOD.copy()
    for name, values in damaged(fault).items():
        setattr(matrix, name, values)
    return matrix


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault):
    assert sparse_damage(GOOD) is None
    assert sparse_damage(matrix_of(fault)) is not None


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
def test_sound_matrices_pass(kind):
    assert sparse_damage(GOOD.asformat(kind)) is None


@pytest.mark.parametrize("fault", FAULTS)
def test_npz(fault, tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, format=np.array(b"csr"), shape=np.array(GOOD.shape), **damaged(fault))
    with pytest.raises(ValueError, match=r"table\.npz"):
        read_table(path)


@pytest.mark.parametrize("fault", ["index too large", "negative index"])
def test_mat(fault, tmp_path):
    path = tmp_path / "table.mat"
    turned = sparse.csc_array((8, 6))
    for name, values in damaged(fault).items():
        setattr(turned, name, values)
    turned.indptr = GOOD.T.tocsr().indptr  # of the right length; it is the indices that lie
    savemat(path, {"X": turned})
    with pytest.raises(ValueError, match=SENTENCE):
        read_table(path)


def test_mat_with_an_unknown_type_of_element_does_not_reach_the_compiled_reader(tmp_path):
    path = tmp_path / "table.mat"
    savemat(path, {"X": np.ones((4, 3))})
    content = bytearray(path.read_bytes())
    values_tag = content.rindex((9).to_bytes(4, "little") + (96).to_bytes(4, "little"))
    content[values_tag] = 200
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"table\.mat is not a readable"):
        read_table(path)


@pytest.mark.parametrize("fault", [*FAULTS, "no shape"])
@pytest.mark.parametrize("suffix", [".h5", ".h5ad"])
def test_hdf5(fault, suffix, tmp_path):
    h5py, anndata = pytest.importorskip("h5py"), pytest.importorskip("anndata")
    pytest.importorskip("dask")
    path = tmp_path / f"table{suffix}"
    anndata.AnnData(sparse.csr_matrix(GOOD)).write_h5ad(path)
    with h5py.File(path, "a") as file:
        for name, values in damaged(fault).items():
            del file["X"][name]
            file["X"][name] = values
        if fault == "no shape":
            del file["X"].attrs["shape"]
        if suffix == ".h5":
            del file["obs"], file["var"]
    read = read_table if suffix == ".h5ad" else MaxVariance(2).fit
    with pytest.raises(ValueError, match=rf"table\{suffix}"):
        read(path)


@pytest.mark.parametrize("fault", FAULTS)
def test_blocks_of_a_dask_array(fault):
    dask_array = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    meta = sparse.csr_array((0, 0))
    block = dask_array.from_delayed(dask.delayed(matrix_of)(fault), GOOD.shape, meta=meta)
    with pytest.raises(ValueError, match=SENTENCE):
        MaxVariance(2).fit(block)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_data_in_memory(fault, method):
    with pytest.raises(ValueError, match=SENTENCE):
        getattr(MaxVariance(2), method)(matrix_of(fault))


def test_external_links_are_not_followed(tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("dask")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = np.eye(4)
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["X"] = h5py.ExternalLink("secret.h5", "X")
    with pytest.raises(ValueError, match="another file, which is not followed"):
        MaxVariance(2).fit(tmp_path / "link.h5")


def test_a_canonical_matrix_is_not_copied_and_others_are_left_alone():
    assert np.shares_memory(canonical_csr(GOOD).data, GOOD.data)
    unsorted = sparse.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3)
    )
    for part in (unsorted.data, unsorted.indices, unsorted.indptr):
        part.flags.writeable = False
    flags = dict(vars(unsorted))
    own = canonical_csr(unsorted)
    assert own.toarray().tolist() == [[5.0, 0.0, 1.0]]
    assert own.has_canonical_format
    assert vars(unsorted).keys() == flags.keys()
    assert unsorted.indices.tolist() == [2, 0, 0]


@pytest.mark.parametrize("suffix", [".npz", ".mat"])
def test_files_that_unpack_to_too_much_are_refused(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"table{suffix}"
    if suffix == ".npz":
        np.savez_compressed(path, X=np.zeros((100, 10)))
    else:
        savemat(path, {"X": np.zeros((100, 10))}, do_compression=True)
    monkeypatch.setattr("ufselect.io.damage.UNPACKED_BYTES", 1000)
    with pytest.raises(ValueError, match=rf"table\{suffix}"):
        read_table(path)
