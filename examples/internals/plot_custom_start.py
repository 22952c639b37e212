"""
Large penalties give back the start
===================================

The problem of DSCOFS has many stationary points. With small penalties every start ends at the columns of
PCA leverage; with large ones the selection is that of the start, and random starts are then no better
than random columns. This is why the default start is made from the data.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import DSCOFS, PCALeverage, RandomSubset
from ufselect.metrics import evaluate_selection

X, y = load_digits(return_X_y=True)
X, y = X[:900], y[:900]
penalties = np.logspace(-4, 2, 5)
starts = {"PCA": "pca", "graph of neighbours": "graph", "random": "random"}
reference = PCALeverage(16, n_components=8).fit(X).support_


def fitted(start, penalty, seed):
    """Fit with rows penalised alone."""
    return DSCOFS(
        16, n_components=8, mu_row=penalty, mu_entry=0.0, entry_sparsity=None, tol=1e-6, max_iter=5000,
        init=start, n_init=1, random_state=seed,
    ).fit(X)  # fmt: skip


def accuracy(columns):
    """Return the accuracy of K-means on some pixels."""
    return evaluate_selection(X, y, np.flatnonzero(columns), n_runs=5).acc_mean


blind = [accuracy(RandomSubset(16, random_state=seed).fit(X).support_) for seed in range(10)]

# %%
# Left, what is shared with PCA leverage. Right, what the columns are worth. From the PCA start the
# penalty changes nothing here: the result is PCA leverage at any strength. From random starts large
# penalties lead down to random columns. Other columns than those of PCA come from the graph of
# neighbours (``init="graph"``), which gains on data where strong directions are a nuisance, not on
# these.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for (name, start), colour in zip(starts.items(), ("#0072B2", "#009E73", "#999999"), strict=True):
    seeds = range(2) if start == "random" else range(1)
    for seed in seeds:
        supports = [fitted(start, penalty, seed).support_ for penalty in penalties]
        label = name if seed == 0 else None
        shared = [np.count_nonzero(support & reference) for support in supports]
        left.semilogx(penalties, shared, marker="o", color=colour, label=label)
        right.semilogx(penalties, [accuracy(each) for each in supports], marker="o", color=colour)
left.set(xlabel="row penalty, in units of the largest eigenvalue", ylabel="shared with PCA leverage, of 16")
left.legend()
right.axhspan(min(blind), max(blind), color="#BBBBBB", alpha=0.5, label="random columns, 10 draws")
right.set(xlabel="row penalty", ylabel="accuracy of K-means, %")
right.legend()
plt.show()
