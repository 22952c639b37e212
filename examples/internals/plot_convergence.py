"""
When to stop
============

The objective never rises. The default tolerance, that of the paper, stops early, when the selection
still differs from the settled one in a few features; a tight tolerance settles it.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import DSCOFS

X = load_digits().data
settled = DSCOFS(20, n_components=10, tol=1e-9, max_iter=2000).fit(X)
early = DSCOFS(20, n_components=10).fit(X)
changed = np.count_nonzero(early.support_ & ~settled.support_)
print(f"default: {early.n_iter_} iterations; settled: {settled.n_iter_}; {changed} of 20 features change")

# %%
history = settled.objective_history_
gap = (history - history[-1]) / abs(history[-1])
figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
axes.semilogy(np.arange(len(gap) - 1), gap[:-1], color="#0072B2")
axes.axvline(early.n_iter_, color="#D55E00", linestyle="--", label="default tolerance stops here")
axes.set_xlabel("iteration")
axes.set_ylabel("relative distance to the final objective")
axes.legend()
plt.show()
