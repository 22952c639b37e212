"""Encodings of the terminal, and the installed command in processes: pipes, signals, a full disk."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.hard_tables import tables

from ufselect.cli.app import run
from ufselect.io import files

COMMAND = [sys.executable, "-m", "ufselect"]
FAST = ["-k", "2", "-m", "MaxVariance"]


@pytest.fixture
def folder(tmp_path):
    for name in ("plain.csv", "zeros.csv", "latin1.csv"):
        (tmp_path / name).write_bytes(tables()[name])
    return tmp_path


def started(arguments: list[str], folder: Path, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts if os.name == "posix" else None,
    )


def heed_interrupts() -> None:
    """Undo what a shell does to commands in the background, the tests among them: they ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def printed(line: list[str], encoding: str, monkeypatch) -> str:
    """Return what a terminal of an encoding gets."""
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    monkeypatch.setattr(sys, "stdout", out)
    assert run(line) == 0
    monkeypatch.undo()
    return out.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_any_encoding_of_the_terminal(folder, encoding, monkeypatch):
    """UTF-8 is that of the installed command below."""
    table = str(folder / "latin1.csv")
    shown = printed(["select", table, *FAST], encoding, monkeypatch)
    assert ("Größe" in shown) == (encoding != "ascii")
    assert set(re.findall(r"\\x..", shown)) <= {r"\xf6", r"\xdf", r"\xe4"}  # of the names, not of our marks
    record = json.loads(printed(["select", table, *FAST, "--json"], encoding, monkeypatch))
    assert {feature["name"] for feature in record["result"]["features"]} == {"Größe", "Länge"}


INSTALLED = Path(sys.executable).with_name("ufselect")


@pytest.mark.skipif(not INSTALLED.exists(), reason="the command is not installed beside this Python")
def test_the_installed_command_is_the_program():
    said = [
        subprocess.run([*command, "--help"], capture_output=True, check=True).stdout
        for command in ([str(INSTALLED)], COMMAND)
    ]
    assert said[0] == said[1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_behind_a_pipe_is_one_sentence(folder):
    command = [*COMMAND, "select", "plain.csv", *FAST, "-o", "-", "-q"]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 1
    assert b"standard output: no space left on device; free some space" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_a_true_pipe(folder):
    process = started(["select", "-", *FAST, "-o", "-", "-q"], folder)
    out, err = process.communicate((folder / "zeros.csv").read_bytes())
    assert (process.returncode, err) == (0, b"")
    lines = out.decode().splitlines()
    assert lines[0].startswith("id,")
    assert lines[1].startswith("00000,")


def test_a_reader_may_have_seen_enough(folder):
    with started(["select", "plain.csv", *FAST], folder) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_nothing_behind(folder, tmp_path_factory, number):
    spool = tmp_path_factory.mktemp("spool")
    arguments = ["select", "-", *FAST, "-o", "out.csv", "--report", "page.html"]
    process = started(arguments, folder, TMPDIR=str(spool))
    while not list(spool.glob("ufselect-*/*")) and process.poll() is None:
        time.sleep(0.05)  # until it waits for standard input
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 128 + number
    assert b"Traceback" not in err
    assert (b"Interrupted; nothing was written." in err) == (number == signal.SIGINT)
    assert sorted(path.name for path in folder.iterdir()) == ["latin1.csv", "plain.csv", "zeros.csv"]
    assert not list(spool.iterdir())


def test_an_interrupt_while_the_result_is_shown_names_the_files(folder, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr("ufselect.cli.select.show", interrupted)
    assert run(["select", "plain.csv", *FAST, "-o", "out.csv"]) == 130
    assert "Interrupted; these files are complete: out.csv, out.json." in capsys.readouterr().err


def test_an_interrupt_while_modules_are_imported_is_one_sentence(folder):
    code = (
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'numpy':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from ufselect.cli import main\n"
        "main()\n"
    )
    line = [sys.executable, "-c", code, "select", "plain.csv", "-o", "out.csv"]
    ended = subprocess.run(line, cwd=folder, capture_output=True, check=False, preexec_fn=heed_interrupts)
    assert (ended.returncode, ended.stderr) == (130, b"Interrupted; nothing was written.\n")


def test_a_full_disk_never_crashes_hdf5(folder):
    resource = pytest.importorskip("resource")
    pytest.importorskip("anndata")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    command = [*COMMAND, "select", "plain.csv", *FAST, "-o", "out.h5ad"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=False, preexec_fn=small_files)
    assert ended.returncode == 1
    assert b"Error: out.h5ad: file too large" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert not (folder / "out.h5ad").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_without_writer_says_what_is_waited_for(folder):
    os.mkfifo(folder / "pipe")
    process = started(["select", "pipe", *FAST, "-o", "out.csv"], folder)
    assert process.stderr is not None
    assert process.stderr.readline() == "Waiting for data from pipe …\n".encode()
    (folder / "pipe").write_bytes((folder / "plain.csv").read_bytes())
    process.communicate()
    assert (process.returncode, (folder / "out.csv").exists()) == (0, True)


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="file names are Unicode")
def test_file_names_of_dots_or_broken_utf8(folder):
    plain = (folder / "plain.csv").read_bytes()
    for name in ("..csv", "...csv", os.fsdecode(b"a\xff.csv")):
        (folder / name).write_bytes(plain)
        line = ["select", name, *FAST, "-o", "out.csv", "--report", "page.html", "--force"]
        process = started(line, folder, MPLBACKEND="x")
        _, err = process.communicate()
        assert process.returncode == 0, err
        process = started(["select", "--from", "out.json", "-o", "again.csv", "--force"], folder)
        assert process.communicate()[1].endswith(b"again.json\n")
    process = started(["select", "..csv", *FAST, "-o", "x.csv", "--names", "sub/../x.csv"], folder)
    (folder / "sub").mkdir()
    assert b"named for two outputs" in process.communicate()[1]


def test_outputs_appear_together_or_not_at_all(tmp_path):
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("mine", encoding="utf-8")

    def interrupted(target: Path) -> None:
        raise KeyboardInterrupt

    outputs = {old: lambda target: target.write_text("other", encoding="utf-8"), new: interrupted}
    with pytest.raises(KeyboardInterrupt):
        files.write_together(outputs, force=True)
    assert [path.name for path in tmp_path.glob("*.txt")] == ["old.txt"]
    assert old.read_text(encoding="utf-8") == "mine"


def test_nothing_heavy_is_imported_for_help_and_mistakes(folder):
    code = (
        "import sys\n"
        "from ufselect.cli.app import run\n"
        "open('old.csv', 'w').close()\n"
        "mistakes = ('absent.csv', 'old.csv -o old.csv', 'old.csv --report page.pdf', 'old.csv --save-map')\n"
        "for line in ('--help', '--version', 'select --help', *(f'select {each}' for each in mistakes)):\n"
        "    run(line.split())\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'matplotlib', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (None, "complete"),
        ("ufselect select --method Lap", "LaplacianScore"),
        ("ufselect select dig", "digits"),
        ("ufselect select --scale s", "standard"),
    ],
)
def test_completion_knows_methods_data_sets_and_choices(words, expected, monkeypatch, capsys):
    monkeypatch.setenv("_UFSELECT_COMPLETE", "complete_bash" if words else "source_bash")
    monkeypatch.setenv("COMP_WORDS", words or "")
    monkeypatch.setenv("COMP_CWORD", str(len((words or "").split()) - 1))
    run([])
    assert expected in capsys.readouterr().out
