"""Files in the forms in which the sets are published."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from ufselect.datasets.loading import read_labelled

DATA = np.arange(12, dtype=float).reshape(4, 3) ** 2
LABELS = np.array([3, 1, 2, 2])


def assert_read(path):
    data, labels = read_labelled(path)
    np.testing.assert_array_equal(data, DATA)
    np.testing.assert_array_equal(labels, LABELS)
    assert (data.dtype, labels.dtype) == (np.float64, np.int64)
    assert data.flags.c_contiguous


@pytest.mark.parametrize(
    "variables",
    [
        {"X": DATA, "Y": LABELS[:, None]},
        {"X": DATA.T, "y": LABELS[None]},  # features as rows
        {"fea": DATA.astype(np.uint8), "gnd": LABELS[:, None].astype(np.uint8)},
        {"data": DATA, "label": LABELS.astype(float)},
        {"points": DATA, "truth": LABELS[:, None]},  # names unknown, shapes clear
        {"X": sparse.csc_array(DATA), "Y": LABELS},
        {"D": np.column_stack([DATA, LABELS])},  # one table, labels last
    ],
    ids=lambda variables: "-".join(variables),
)
def test_mat_files(tmp_path, variables):
    savemat(tmp_path / "set.mat", variables)
    assert_read(tmp_path / "set.mat")


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
def test_npz_files(tmp_path, dtype):
    np.savez_compressed(tmp_path / "set.npz", X=DATA.astype(dtype), y=LABELS)
    assert_read(tmp_path / "set.npz")


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("unpickled",)


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "set.npz", X=np.array([[Bomb(), 1]], dtype=object), y=[1])
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Bomb()))
    for name in ("set.npz", "raw.npz"):
        with pytest.raises(ValueError, match="pickled Python objects"):
            read_labelled(tmp_path / name)


def test_matlab_cells_are_refused(tmp_path):
    savemat(tmp_path / "set.mat", {"X": np.array([["a", 1]], dtype=object), "Y": [1]})
    with pytest.raises(ValueError, match=r"X in .* holds object values"):
        read_labelled(tmp_path / "set.mat")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"X": DATA, "y": LABELS[:2]}, "2 labels for data of shape"),
        ({"X": DATA, "y": LABELS + 0.5}, "not whole numbers"),
        ({"X": DATA, "y": LABELS * np.nan}, "not whole numbers"),
        ({"X": DATA[0], "y": LABELS}, "two-dimensional array X"),
        ({"y": LABELS}, "found y"),
        ({"p": DATA, "q": DATA, "y": LABELS}, "two-dimensional array X"),
        ({}, "found nothing"),
        ({"X": DATA.astype(str), "y": LABELS}, "plain numeric arrays"),
    ],
)
def test_unsuitable_contents_are_refused(tmp_path, variables, message):
    np.savez(tmp_path / "set.npz", **variables)
    with pytest.raises(ValueError, match=message):
        read_labelled(tmp_path / "set.npz")


@pytest.mark.parametrize("suffix", [".npz", ".mat"])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"<html>404</html>" * 40])
def test_damaged_files_are_refused(tmp_path, suffix, content):
    path = tmp_path / f"set{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"set\.(npz|mat) is"):
        read_labelled(path)


def test_version_7_3_is_explained(tmp_path):
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / "set.mat").write_bytes(header + bytes(512))
    with pytest.raises(ValueError, match="-v7"):
        read_labelled(tmp_path / "set.mat")
