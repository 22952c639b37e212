"""Where data sets are looked for, and what is refused."""

from __future__ import annotations

import functools
import hashlib
import logging
import threading
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy.io import savemat

from ufselect.datasets import DatasetUnavailableError, list_datasets, load_dataset, loading
from ufselect.datasets.catalogue import ENTRIES, Entry

pooch = pytest.importorskip("pooch", reason="needs pooch")

DATA = np.random.default_rng(0).standard_normal((6, 3))
LABELS = np.array([1, 1, 2, 2, 3, 3])
PUBLISHED = ("coil20", "usps", "lung_discrete", "glioma", "umist", "warppie10p", "isolet")
SHAPES = ("two_spiral", "banana", "dartboard")


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Put a small set into the catalogue, with empty folders for the user's data and the cache."""
    checksum = loading.content_sha256(DATA, LABELS)
    entry = Entry("Toy", 6, 3, 3, "Six points.", "someone/somewhere", "a folder/Toy Set.mat", checksum)
    monkeypatch.setitem(ENTRIES, "toy", entry)
    for variable, name in (("UFSELECT_DATA", "chosen"), ("UFSELECT_CACHE", "cache")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    return tmp_path


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise ConnectionError("no network in tests")

    monkeypatch.setattr(pooch, "retrieve", refuse)


@pytest.fixture
def server(toy, monkeypatch):
    """Serve a folder on this machine in place of the public source."""
    folder = toy / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        url = property(
            lambda entry: f"http://127.0.0.1:{http.server_port}/{entry.file_name.replace(' ', '%20')}"
        )
        monkeypatch.setattr(Entry, "url", url)
        yield folder
        http.shutdown()
        thread.join()


def assert_is_toy(bunch):
    np.testing.assert_array_equal(bunch.data, DATA)
    np.testing.assert_array_equal(bunch.target, LABELS)
    assert bunch.data.dtype == np.float64
    assert bunch.feature_names == ["toy_0", "toy_1", "toy_2"]
    assert "Six points." in bunch.DESCR


def test_all_names_are_listed():
    assert set(list_datasets()) == {
        *PUBLISHED,
        *SHAPES,
        "mstar_soc_cnn",
        "digits",
        "breast_cancer",
        "wine",
        "iris",
    }


@pytest.mark.parametrize("name", ["digits", "breast_cancer", "wine", "iris"])
def test_bundled_sets_need_no_file(name, monkeypatch, no_network):
    monkeypatch.delenv("UFSELECT_DATA", raising=False)
    bunch = load_dataset(name)
    assert bunch.data.dtype == np.float64
    assert bunch.data.shape == (bunch.target.size, len(bunch.feature_names))
    assert bunch.DESCR


def test_urls_are_quoted():
    assert ENTRIES["dartboard"].url == (
        "https://raw.githubusercontent.com/milaan9/Clustering-Datasets/HEAD/02.%20Synthetic/dartboard1.mat"
    )


def test_order_is_folder_then_cache_then_source(toy, server, caplog):
    caplog.set_level(logging.INFO, logger="ufselect")
    savemat(server / "Toy Set.mat", {"X": DATA, "Y": LABELS[:, None]})
    assert_is_toy(load_dataset("toy"))
    assert (toy / "cache" / "Toy Set.mat").exists()
    assert "downloading http" in caplog.text

    caplog.clear()
    (server / "Toy Set.mat").unlink()
    assert_is_toy(load_dataset("toy"))
    assert "not in the folder UFSELECT_DATA" in caplog.text
    assert "from the cache" in caplog.text

    caplog.clear()
    np.savez(toy / "chosen" / "toy.npz", X=DATA, y=LABELS)
    assert_is_toy(load_dataset("toy"))
    assert "from the folder UFSELECT_DATA" in caplog.text


@pytest.mark.parametrize("file_name", ["Toy Set.mat", "toy.mat"])
def test_original_file_in_the_folder(toy, no_network, file_name):
    savemat(toy / "chosen" / file_name, {"X": DATA, "Y": LABELS[:, None]})
    assert_is_toy(load_dataset("toy"))


def test_download_with_wrong_content_is_not_kept(toy, server):
    savemat(server / "Toy Set.mat", {"X": DATA + 1e-9, "Y": LABELS[:, None]})
    with pytest.raises(ValueError, match="SHA-256 differs"):
        load_dataset("toy")
    assert not list((toy / "cache").iterdir())
    savemat(server / "Toy Set.mat", {"X": DATA, "Y": LABELS[:, None]})
    assert_is_toy(load_dataset("toy"))


def test_missing_source_says_what_to_do(toy, server):
    with pytest.raises(DatasetUnavailableError, match=r"Put toy.npz .* or Toy Set.mat in a folder"):
        load_dataset("toy")


def test_without_pooch_the_install_line_is_given(toy, monkeypatch):
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    with pytest.raises(DatasetUnavailableError, match=r'pip install "ufselect\[data\]"'):
        load_dataset("toy")
    monkeypatch.delenv("UFSELECT_CACHE")
    np.savez(toy / "chosen" / "toy.npz", X=DATA, y=LABELS)
    assert_is_toy(load_dataset("toy"))


def test_default_cache_is_the_users(monkeypatch):
    monkeypatch.delenv("UFSELECT_CACHE", raising=False)
    assert str(loading._cache_folder()) == str(pooch.os_cache("ufselect"))


def test_content_of_alocal_file_is_verified(toy, no_network):
    np.savez(toy / "chosen" / "toy.npz", X=DATA, y=LABELS[::-1])
    with pytest.raises(ValueError, match="SHA-256 differs"):
        load_dataset("toy")


def test_file_known_by_its_git_id(toy, server, monkeypatch):
    """MSTAR_SOC_CNN's file is verified by the SHA-1 of "blob <size>\\0" and its bytes."""
    savemat(server / "Toy Set.mat", {"X": DATA.T, "Y": LABELS[:, None]})
    content = (server / "Toy Set.mat").read_bytes()
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    monkeypatch.setitem(ENTRIES, "toy", replace(ENTRIES["toy"], content_sha256=None, git_blob=blob))
    assert_is_toy(load_dataset("toy"))  # downloaded
    assert_is_toy(load_dataset("toy"))  # from the cache

    (toy / "cache" / "Toy Set.mat").unlink()
    (server / "Toy Set.mat").write_bytes(content + b"\0")
    with pytest.raises(ValueError, match=r"its id in git differs.*toy\.npz"):
        load_dataset("toy")
    assert not list((toy / "cache").iterdir())

    np.savez(toy / "chosen" / "toy.npz", X=DATA[:, :2], y=LABELS)
    with pytest.raises(ValueError, match="6 samples, 2 features and 3 classes, but Toy has 6, 3 and 3"):
        load_dataset("toy")
    np.savez(toy / "chosen" / "toy.npz", X=DATA, y=LABELS)
    assert_is_toy(load_dataset("toy"))  # unverified


def test_mstar_is_fetched_by_its_git_id(toy, monkeypatch):
    def refuse(url, **options):
        assert url.endswith("/zjj20212035/SPCA-PSD/git/blobs/e4e80ef197529d0af9c2430404045fc9da78dbe5")
        raise ConnectionError

    monkeypatch.setattr(pooch, "retrieve", refuse)
    with pytest.raises(DatasetUnavailableError, match=r"mstar_soc_cnn\.npz .* or MSTAR_SOC_CNN\.mat"):
        load_dataset("mstar_soc_cnn")
    assert all((entry.content_sha256 is None) == (name == "mstar_soc_cnn") for name, entry in ENTRIES.items())


def test_unknown_name_is_refused_with_a_guess():
    with pytest.raises(ValueError, match="Did you mean 'isolet'"):
        load_dataset("Isolett")


def test_folder_that_does_not_exist_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="UFSELECT_DATA names"):
        load_dataset("isolet")


@pytest.mark.parametrize("name", PUBLISHED + SHAPES)
def test_published_sets(name, real, monkeypatch, no_network, tmp_path):
    X, y = real(name)
    np.savez(tmp_path / f"{name}.npz", X=X, y=y)
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path))
    bunch = load_dataset(name)
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, y)
    assert loading.content_sha256(X, y) == ENTRIES[name].content_sha256
    assert np.unique(y).size == ENTRIES[name].n_classes
    if "image_shape" in bunch:
        assert np.prod(bunch.image_shape) == X.shape[1]
