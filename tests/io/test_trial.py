"""HDF5 and MATLAB files are opened by another process first, which may crash where this one must not."""

from __future__ import annotations

import struct
import subprocess
import sys

import numpy as np
import pytest

from ufselect.io import TableError, trial

h5py = pytest.importorskip("h5py")
X = np.random.default_rng(0).standard_normal((12, 5))


@pytest.fixture
def path(tmp_path):
    """Return the path of a file with a matrix, and with words in a heap."""
    path = tmp_path / "table.h5"
    with h5py.File(path, "w") as file:
        file["X"] = X
        file["names"] = [f"n{j}" for j in range(5)]
    return path


def test_a_whole_file_is_tried_once_until_it_changes(path, monkeypatch):
    started, run = [], subprocess.run
    monkeypatch.setattr(
        subprocess, "run", lambda *args, **options: started.append(1) or run(*args, **options)
    )
    trial.try_file(path)
    trial.try_file(path)
    assert len(started) == 1
    with h5py.File(path, "a") as file:
        file["more"] = X
    trial.try_file(path)
    assert len(started) == 2


@pytest.mark.parametrize("end", ["import ctypes; ctypes.string_at(0)", "import os; os.abort()"])
def test_a_file_on_which_the_library_crashes_is_refused_every_time(end, path, tmp_path, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text(f"{end}\n", encoding="utf-8")
    monkeypatch.setattr(trial, "__file__", str(program))
    for _ in range(2):
        with pytest.raises(TableError, match=r"table\.h5 is damaged: its library crashes or hangs"):
            trial.try_file(path)


def test_a_loop_of_the_hdf5_library_comes_to_an_end(path, monkeypatch):
    """Free space without length in the heap of words sends the library round for ever."""
    pytest.importorskip("dask")
    content = bytearray(path.read_bytes())
    place = content.index(b"GCOL") + 16
    while (index := struct.unpack_from("<H", content, place)[0]) != 0:
        assert index < 100
        place += 16 + -(-struct.unpack_from("<Q", content, place + 8)[0] // 8) * 8
    struct.pack_into("<Q", content, place + 8, 0)
    path.write_bytes(content)
    monkeypatch.setattr(trial, "SECONDS", 1.0)
    with pytest.raises(TableError, match=r"table\.h5 is damaged: its library crashes or hangs"):
        trial.try_file(path)


@pytest.mark.parametrize("executable", ["", None, "/opt/program/editor"])
def test_a_program_that_python_is_part_of_is_not_started_again(executable, path, monkeypatch):
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(subprocess, "run", None)
    trial.try_file(path)


def test_the_package_that_is_used_here_is_found_there(path, tmp_path, monkeypatch):
    """Modules are looked for where this process looks for them."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "h5py.py").write_text(
        "import os\nopen(os.environ['UFSELECT_SEEN'], 'w').close()\n", encoding="utf-8"
    )
    monkeypatch.setenv("UFSELECT_SEEN", str(tmp_path / "seen"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "elsewhere"), *sys.path])
    trial.try_file(path)
    assert (tmp_path / "seen").exists()
