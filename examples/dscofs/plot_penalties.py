"""
DSCOFS: penalties and starting points
=====================================

The optimisation problem of DSCOFS has many stationary points. How much does the selection depend on the row
penalty ``mu_row`` and on the starting point ``init``?
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
leverage = PCALeverage(16, n_components=8).fit(X).support_


def accuracy(support):
    """Return the accuracy of K-means on some pixels; labels are used for this only."""
    return evaluate_selection(X, y, support, n_runs=5).acc_mean


supports = {
    init: [
        DSCOFS(
            16,
            n_components=8,
            mu_row=penalty,
            mu_entry=0.0,
            entry_sparsity=None,
            init=init,
            n_init=1,
            random_state=0,
            tol=1e-6,
            max_iter=5000,
        )
        .fit(X)
        .support_
        for penalty in penalties
    ]
    for init in ("pca", "random")
}
random_accuracies = [accuracy(RandomSubset(16, random_state=seed).fit(X).support_) for seed in range(10)]

# %%
# With a small penalty every start ends at the columns of PCA leverage. With a large one the selection is that
# of the starting point, and a random start is no better than random columns. This is why the default is
# ``init="pca"``; from there the penalty changes nothing here.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for init, selected in supports.items():
    left.semilogx(
        penalties, [(support & leverage).sum() for support in selected], "o-", label=f'init="{init}"'
    )
    right.semilogx(penalties, [accuracy(support) for support in selected], "o-")
left.set(xlabel="mu_row, relative to the largest eigenvalue", ylabel="shared with PCA leverage, of 16")
left.legend(frameon=False)
right.axhspan(min(random_accuracies), max(random_accuracies), color="0.85", label="random columns, 10 sets")
right.set(xlabel="mu_row, relative to the largest eigenvalue", ylabel="accuracy of K-means, %")
right.legend(frameon=False)
plt.show()
