"""HDF5 files are walked through by another process first, which may crash or loop where this one must not."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.io.test_hdf5_heaps import objects, with_length

from ufselect import MaxVariance
from ufselect.io import TableError, hdf5_trial, hdf5_walk

h5py = pytest.importorskip("h5py")
X = np.random.default_rng(0).standard_normal((12, 5))


@pytest.fixture
def path(tmp_path):
    """Return the path of a file with a matrix, and with words in a heap."""
    path = tmp_path / "table.h5"
    with h5py.File(path, "w") as file:
        file["X"] = X
        file["names"] = [f"n{j}" for j in range(5)]
        file["X"].attrs["kind"] = "numbers"
    return path


@pytest.fixture
def runs(monkeypatch):
    """Count the processes that are started."""
    started = []
    run = subprocess.run

    def counted(command, **options):
        started.append(command)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    return started


def program(monkeypatch, tmp_path, lines):
    """Let the trial run another program."""
    target = tmp_path / "program.py"
    target.write_text(lines, encoding="utf-8")
    monkeypatch.setattr(hdf5_walk, "__file__", str(target))


def test_a_whole_file_is_tried_once_until_it_changes(path, runs):
    hdf5_trial.try_hdf5(path)
    hdf5_trial.try_hdf5(path)
    assert len(runs) == 1
    with h5py.File(path, "a") as file:
        file["more"] = X
    hdf5_trial.try_hdf5(path)
    assert len(runs) == 2


@pytest.mark.parametrize(
    "end",
    ["import ctypes; ctypes.string_at(0)", "import os; os.abort()", "import os; os._exit(3)"],
    ids=["segfault", "abort", "exit"],
)
def test_a_file_on_which_the_walk_dies_is_refused_every_time(end, path, tmp_path, monkeypatch, runs):
    program(monkeypatch, tmp_path, f"print('begun', flush=True)\n{end}\n")
    for n_runs in (1, 2):
        with pytest.raises(TableError, match=r"table\.h5 is damaged: .* crashes on it; copy or"):
            hdf5_trial.try_hdf5(path)
        assert len(runs) == n_runs


def test_a_loop_of_the_hdf5_library_comes_to_an_end(path, monkeypatch):
    pytest.importorskip("dask")
    content = path.read_bytes()
    (place,) = (place for place, index, _ in objects(content) if index == 0)
    path.write_bytes(with_length(content, place, 0))
    monkeypatch.setattr(hdf5_trial, "WALK_SECONDS", 1.0)
    with pytest.raises(TableError, match=r"table\.h5 is damaged, or .* finds no end within 1 s; copy"):
        MaxVariance(2).fit(path)


@pytest.mark.parametrize("executable", ["", None, "/opt/program/editor", "/nowhere/python"])
def test_without_python_to_start_a_file_is_read_with_a_warning(executable, path, monkeypatch, runs):
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.warns(RuntimeWarning, match=r"table\.h5 could not be tried .* may crash"):
        hdf5_trial.try_hdf5(path)
    assert len(runs) == (executable == "/nowhere/python")  # another program would start itself again


def test_a_python_that_does_not_start_says_nothing_about_the_file(path, tmp_path, monkeypatch):
    program(monkeypatch, tmp_path, "import no_such_module\n")
    with pytest.warns(RuntimeWarning, match="could not be tried"):
        hdf5_trial.try_hdf5(path)


def test_the_package_that_is_used_here_is_found_there(path, tmp_path, monkeypatch):
    """Modules are looked for where this process looks for them."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "h5py.py").write_text(
        "import os\nopen(os.environ['UFSELECT_SEEN'], 'w').close()\n", encoding="utf-8"
    )
    monkeypatch.setenv("UFSELECT_SEEN", str(tmp_path / "seen"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "elsewhere"), *sys.path])
    hdf5_trial.try_hdf5(path)
    assert (tmp_path / "seen").exists()


class Read:
    """Notes what is read of arrays."""

    def __init__(self, monkeypatch):
        self.rows = {}
        self.indices = []
        get = h5py.Dataset.__getitem__

        def noted(array, where, **options):
            rows = range(array.shape[0])
            rows = rows[where] if isinstance(where, slice) else rows if where == () else rows[where[0] : 1]
            self.rows.setdefault(array.name, []).extend(rows)
            return get(array, where, **options)

        monkeypatch.setattr(h5py.Dataset, "__getitem__", noted)
        monkeypatch.setattr(hdf5_walk, "_walk_chunks", lambda array: self.indices.append(array.name))


def test_the_walk_reads_small_arrays_and_words_whole_and_the_ends_of_others(path, monkeypatch):
    with h5py.File(path, "a") as file:
        group = file.create_group("inner")
        group["words"] = [f"n{j}" for j in range(30)]
        group.create_dataset("chunks", data=np.ones((30, 2)), chunks=(4, 2))
        group["long"] = np.ones((2, 100))
    read = Read(monkeypatch)
    monkeypatch.setattr(hdf5_walk, "READ_BYTES", 480)
    hdf5_walk.walk(str(path))
    assert read.rows["/X"] == list(range(12))
    assert read.rows["/inner/words"] == list(range(30))
    monkeypatch.setattr(hdf5_walk, "READ_BYTES", 128)
    read.rows.clear()
    read.indices.clear()
    hdf5_walk.walk(str(path))
    assert read.rows["/X"] == [0, 11]
    assert read.rows["/inner/words"] == list(range(30))
    assert read.rows["/inner/chunks"] == [*range(4), *range(26, 30)]
    assert read.rows["/inner/long"] == [0]
    assert read.indices == ["/inner/chunks"]


def test_the_walk_goes_on_after_an_error(path, monkeypatch):
    read = Read(monkeypatch)
    noted = h5py.Dataset.__getitem__

    def failing(array, where, **options):
        if array.name == "/X":
            raise OSError
        return noted(array, where, **options)

    monkeypatch.setattr(h5py.Dataset, "__getitem__", failing)
    hdf5_walk.walk(str(path))
    assert list(read.rows) == ["/names"]


def test_the_walk_does_not_read_other_files(tmp_path, monkeypatch):
    (tmp_path / "secret.bin").write_bytes(np.eye(4).tobytes())
    with h5py.File(tmp_path / "outside.h5", "w") as file:
        file.create_dataset("X", (4, 4), dtype="f8", external=[(str(tmp_path / "secret.bin"), 0, 128)])
    read = Read(monkeypatch)
    hdf5_walk.walk(str(tmp_path / "outside.h5"))
    assert not read.rows
