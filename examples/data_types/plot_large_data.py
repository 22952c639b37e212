"""
Feature selection on data larger than memory
============================================

A dask array is read block by block and reduced to the products of all pairs of columns. How do time and
memory grow with the number of rows?
"""

# %%
import time
import tracemalloc

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from ufselect import DSCOFS

rows = np.array([10_000, 20_000, 40_000, 80_000])


def walks(n_rows):
    """Return random walks that are generated when a block is read, so that they are never all in memory."""
    steps = da.random.default_rng(0).standard_normal((n_rows, 100), chunks=(5_000, 100))
    return steps.cumsum(axis=1)


seconds, peaks = [], []
with dask.config.set(scheduler="synchronous"):
    DSCOFS(20).fit(walks(5_000))  # imports and first calls
    for n_rows in rows:
        start = time.process_time()
        DSCOFS(20).fit(walks(n_rows))
        seconds.append(time.process_time() - start)
        tracemalloc.start()
        selector = DSCOFS(20).fit(walks(n_rows))
        peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
print(selector.reduction_)

# %%
# Time grows with the number of rows, memory only slightly.
figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
left.plot(rows, seconds, marker="o", label="fit")
left.set(xlabel="rows", ylabel="CPU seconds")
right.plot(rows, peaks, marker="o", label="peak during fit")
right.plot(rows, rows * 100 * 8 / 1e6, ":", color="0.3", label="whole table")
right.set(xlabel="rows", ylabel="memory, MB")
for ax in (left, right):
    ax.set_xticks(rows, [f"{count:,}" for count in rows], fontsize=8)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
plt.show()
