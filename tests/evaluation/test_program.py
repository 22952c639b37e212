"""A changed line gives the methods that run through it a new name, and only those."""

from __future__ import annotations

import sys

import pytest

from ufselect.evaluation import ResultStore, compare, program
from ufselect.evaluation.program import program_of, reach


@pytest.fixture
def forget():
    """Sources are read once per process; these tests change them."""
    caches = (program.program_of, program.reach, program._imports, program._source)
    yield lambda: [cache.cache_clear() for cache in caches]
    [cache.cache_clear() for cache in caches]


def test_reach_is_what_a_fit_loads():
    """In a fresh process, importing a module loads what `reach` names, packages aside."""
    import subprocess

    module = "ufselect.solvers.sogfs"
    code = f"import sys, {module}; print(*[m for m in sys.modules if m.startswith('ufselect')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert reach(module) <= set(loaded.stdout.split())
    assert {module, "ufselect.solvers.iterate"} <= reach("ufselect.selectors.sogfs")
    assert "ufselect.selectors.rne" not in reach("ufselect.selectors.sogfs")


def test_a_changed_solver_renames_its_methods_only(monkeypatch, forget):
    modules = ("ufselect.selectors.sogfs",), ("ufselect.selectors.baselines",)
    before = [program_of(names) for names in modules]
    source = program._source

    def edited(name):
        return source(name) + ("\n# edited" if name == "ufselect.solvers.sogfs" else "")

    forget()
    with monkeypatch.context() as patch:
        patch.setattr(program, "_source", edited)
        after = [program_of(names) for names in modules]
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_code_without_a_file_is_known_for_one_session(monkeypatch, forget):
    first = program_of((), ("__nowhere__",))
    forget()
    monkeypatch.setattr(program, "SESSION", "another")
    assert program_of((), ("__nowhere__",)) != first


def test_rows_of_a_changed_program_are_computed_anew(blobs, tmp_path, monkeypatch, forget):
    X, y = blobs
    path = tmp_path / "r.sqlite"
    compare(X, y, ["MaxVariance"], [2], n_runs=2, store=path)
    source = program._source
    forget()
    with monkeypatch.context() as patch:
        patch.setattr(program, "_source", lambda name: source(name) + "\n")
        compare(X, y, ["MaxVariance"], [2], n_runs=2, store=path)
    with ResultStore(path) as store:
        programs = {row.program for row in store.selections() if row.method == "MaxVariance"}
        scored = {row.program for row in store.scores()}
    assert len(programs) == len(scored) == 2
