"""
Data larger than memory: time and memory
========================================

A dask array is read block by block and reduced to the inner products of its columns. Time grows with the
number of rows; memory does not.
"""

# %%
import time
import tracemalloc

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from ufselect import DSCOFS

COLUMNS, CHUNK = 100, 5_000
rows = [10_000, 20_000, 40_000, 80_000]


def walks(n_rows):
    """Return random walks that are made when a block is read: nothing of this size is ever in memory."""
    steps = da.random.default_rng(0).standard_normal((n_rows, COLUMNS), chunks=(CHUNK, COLUMNS))
    return steps.cumsum(axis=1)


seconds, peaks = [], []
with dask.config.set(scheduler="synchronous"):
    DSCOFS(20).fit(walks(CHUNK))  # imports and first calls
    for n_rows in rows:
        started = time.process_time()
        selector = DSCOFS(20).fit(walks(n_rows))
        seconds.append(time.process_time() - started)
        tracemalloc.start()
        DSCOFS(20).fit(walks(n_rows))
        peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
print(selector.reduction_)

# %%
# Dotted: the slope that time would have if it grew with the rows, and the memory that the whole table
# would take.
size = np.array(rows) * COLUMNS * 8 / 1e6
figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
left.loglog(rows, seconds, marker="o", color="#0072B2", label="fit")
left.loglog(
    rows, seconds[-1] * np.array(rows) / rows[-1], ":", color="#333333", label="in proportion to the rows"
)
left.set(ylabel="CPU seconds")
right.loglog(rows, peaks, marker="o", color="#0072B2", label="peak of the fit")
right.loglog(rows, size, ":", color="#333333", label="the whole table")
right.set(ylabel="memory, MB")
for ax in (left, right):
    ax.set_xlabel("rows")
    ax.set_xticks(rows, [f"{count:,}" for count in rows], minor=False)
    ax.minorticks_off()
    ax.legend(fontsize=8)
plt.show()
