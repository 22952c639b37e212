"""
What the starting point does
============================

The problem has many stationary points. With small penalties every start ends near the PCA loadings; with
large ones the selection is that of the start. This is why the default start is deterministic and data-
driven.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import DSCOFS

warnings.filterwarnings("ignore", message="The entry constraint cannot bind")

X = load_digits().data
penalties = np.logspace(-4, 2, 9)
starts = {"PCA": "pca", **{f"random {seed}": seed for seed in range(4)}}
reference = DSCOFS(16, n_components=8, mu_row=1e-6, mu_entry=1e-6, tol=1e-6, max_iter=2000).fit(X).support_


def kept(start, penalty):
    """Count features shared with plain PCA leverage."""
    common = {"mu_row": penalty, "mu_entry": 0.0, "entry_sparsity": None, "tol": 1e-6, "max_iter": 5000}
    init = {"init": "pca"} if start == "pca" else {"init": "random", "n_init": 1, "random_state": start}
    selector = DSCOFS(16, n_components=8, **common, **init).fit(X)
    return np.count_nonzero(selector.support_ & reference)


# %%
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, start in starts.items():
    shared = [kept(start, penalty) for penalty in penalties]
    style = {"color": "#0072B2", "linewidth": 2.5} if start == "pca" else {"color": "#999999"}
    axes.semilogx(penalties, shared, marker="o", label=name, **style)
axes.set_xlabel("row penalty, in units of the largest eigenvalue")
axes.set_ylabel("features shared with PCA leverage, of 16")
axes.legend()
plt.show()
