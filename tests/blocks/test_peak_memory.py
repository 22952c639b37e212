"""How much memory a fit takes beside the data, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

MIB = 2**20
CHILD = textwrap.dedent(
    """
    import resource, sys
    from pathlib import Path
    import numpy as np
    from scipy import sparse
    from ufselect import PCALeverage

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    route, folder = sys.argv[1], Path(sys.argv[2])
    rng = np.random.default_rng(0)
    small = rng.standard_normal((100, 20))
    if route == "sparse":
        make = lambda n, d: sparse.random_array((n, d), density=0.02, format="csr", rng=rng)
    else:
        make = lambda n, d: rng.standard_normal((n, d))
    shape = (200_000, 2_000) if route == "sparse" else (400, 40_000) if route == "wide" else (160_000, 100)
    if route == "memmap":
        mapped = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=float, shape=shape)
        for start in range(0, shape[0], 10_000):
            mapped[start : start + 10_000] = make(10_000, shape[1])
        mapped.flush()
        del mapped
        X = np.load(folder / "X.npy", mmap_mode="r")
        n_bytes = X.nbytes
    elif route == "dask":
        import dask, dask.array as da
        dask.config.set(scheduler="threads", num_workers=2)
        X = da.random.default_rng(0).standard_normal(shape, chunks=(5_000, shape[1]))
        small = da.from_array(small)
        n_bytes = X.nbytes
    else:
        X = make(*shape)
        n_bytes = X.data.nbytes + X.indices.nbytes if route == "sparse" else X.nbytes
    PCALeverage(2, n_components=2).fit(small)  # libraries are loaded, the peak is that of the data
    before = peak()
    PCALeverage(5, n_components=5).fit(X)
    print(int(n_bytes), int(peak() - before))
    """
)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in other units elsewhere")
@pytest.mark.parametrize(
    ("route", "ratio"),
    [
        ("dense", 0.25),  # S is formed of blocks of rows
        ("wide", 1.5),  # one centred copy
        ("sparse", 1.5),  # a product with it beside it
        ("memmap", 0.5),  # blocks of rows
        ("dask", 0.5),  # blocks that are made and reduced, not the whole
    ],
)
def test_peak_memory_beside_the_data(route, ratio, tmp_path):
    command = [sys.executable, "-c", CHILD, route, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    n_bytes, grown = map(int, ended.stdout.split())
    assert n_bytes > 90 * MIB
    assert grown <= ratio * n_bytes + 20 * MIB, f"{grown / n_bytes:.2f} of the data"
