"""How much memory a fit takes beside the data, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

MIB = 2**20
# One program loads the libraries and forks once a route: the peak of a process never falls.
CHILD = textwrap.dedent(
    """
    import json, os, resource, sys
    from pathlib import Path
    import numpy as np
    from scipy import sparse
    from ufselect import PCALeverage

    rng = np.random.default_rng(0)
    folder = Path(sys.argv[1])

    def dense():
        return rng.standard_normal((160_000, 100))

    def wide():
        return rng.standard_normal((400, 40_000))

    def thin():
        columns = 50 * np.arange(40) + rng.integers(0, 50, (100_000, 40))
        ends = np.arange(0, columns.size + 1, 40, dtype=np.int32)
        values = rng.standard_normal(columns.size)
        return sparse.csr_array((values, columns.ravel().astype(np.int32), ends), shape=(100_000, 2_000))

    def blocks():
        import dask, dask.array
        dask.config.set(scheduler="threads", num_workers=2)
        return dask.array.random.default_rng(0).standard_normal((160_000, 100), chunks=(5_000, 100))

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def measure(make):
        X = make()
        small = X[:100, :20]
        PCALeverage(2, n_components=2).fit(small)  # what is loaded late is in memory, too
        before = peak()
        PCALeverage(5, n_components=5).fit(X)
        n_bytes = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
        return int(n_bytes), int(peak() - before)

    for make in (dense, wide, thin, blocks):
        child = os.fork()
        if child == 0:
            (folder / f"{make.__name__}.json").write_text(json.dumps(measure(make)))
            os._exit(0)
        os.waitpid(child, 0)
    """
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    subprocess.run([sys.executable, "-c", CHILD, str(folder)], check=True, timeout=300)
    return folder


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in other units elsewhere")
@pytest.mark.parametrize(
    ("route", "ratio"),
    [
        ("dense", 0.25),  # S is formed of blocks of rows
        ("wide", 1.5),  # one centred copy
        ("thin", 3.0),  # three numbers a stored entry for the diagonal
        ("blocks", 0.5),  # blocks that are made and reduced, not the whole
    ],
)
def test_peak_memory_beside_the_data(route, ratio, measured):
    n_bytes, grown = json.loads((measured / f"{route}.json").read_text())
    assert n_bytes > 40 * MIB
    assert grown <= ratio * n_bytes + 20 * MIB, f"{grown / n_bytes:.2f} of the data"
