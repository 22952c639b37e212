"""
When all columns hide the clusters
==================================

Forty columns show six clusters. The other 160 columns vary more, along a few strong directions that have
nothing to do with the clusters, such as the light in photographs. When do selected columns show clusters that
all columns hide? The data are simulated, so that the number of such directions is known.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from ufselect import DSCOFS, AutoSelector, RandomSubset
from ufselect.metrics import evaluate_selection


def simulate(n_directions, seed=0):
    """Return rows in six clusters, and the clusters."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(6, size=600)
    informative = 1.32 * rng.standard_normal((6, 40))[clusters] + rng.standard_normal((600, 40))
    nuisance = 3 * rng.standard_normal((600, n_directions)) @ rng.standard_normal((n_directions, 160))
    return np.hstack([informative, nuisance + rng.standard_normal((600, 160))]), clusters


def accuracy(X, clusters, support):
    """Return the accuracy of K-means on some columns; the true clusters are used for this only."""
    return evaluate_selection(X, clusters, support, n_runs=10).acc_mean


directions = [0, 1, 2, 3, 4, 5]
curves = {"AutoSelector": [], "DSCOFS": [], "all columns": []}
random_accuracies = []
for count in directions:
    X, clusters = simulate(count)
    selector = AutoSelector(30, goal="clusters", n_clusters=6, random_state=0).fit(X)
    print(f"verdict with {count} nuisance directions: {selector.verdict_}")
    curves["AutoSelector"].append(accuracy(X, clusters, selector.support_))
    curves["DSCOFS"].append(accuracy(X, clusters, DSCOFS(30).fit(X).support_))
    curves["all columns"].append(accuracy(X, clusters, np.ones(200, dtype=bool)))
    random_supports = [RandomSubset(30, random_state=seed).fit(X).support_ for seed in range(5)]
    random_accuracies.append([accuracy(X, clusters, support) for support in random_supports])

# %%
# A single nuisance direction hides the clusters from K-means on all columns, on random columns and on those
# of DSCOFS, which follow the variance. ``AutoSelector`` joins rows to their neighbours in the leading
# principal components, and works as long as the clusters show there. When more directions hide them, its
# verdict says so. The verdict is about the clusters that held-out rows show in all columns, not about the
# true ones.
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
low, high = np.min(random_accuracies, axis=1), np.max(random_accuracies, axis=1)
ax.fill_between(directions, low, high, color="0.8", label="random columns, 5 sets")
for (name, values), style in zip(curves.items(), ("o-", "s--", "^:"), strict=True):
    ax.plot(directions, values, style, label=name)
ax.set(xlabel="nuisance directions", ylabel="accuracy of K-means, %", ylim=(0, 102))
ax.legend(frameon=False)
plt.show()
