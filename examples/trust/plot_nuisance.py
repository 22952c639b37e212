"""
When all columns are the worst choice
=====================================

Six groups show in forty columns. The other 160 are loud and have nothing to do with the groups: a few
strong directions, as light is on photographs. K-means on all columns follows those, and so do random
subsets and methods that look for variance. ``AutoSelector`` judges by the neighbours of the rows
instead.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from ufselect import DSCOFS, AutoSelector, RandomSubset
from ufselect.metrics import evaluate_selection


def loud(n_directions, seed=0):
    """Return rows in six groups, and the groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(6, size=600)
    quiet = 1.32 * rng.standard_normal((6, 40))[groups] + rng.standard_normal((600, 40))
    noise = 3 * rng.standard_normal((600, n_directions)) @ rng.standard_normal((n_directions, 160))
    X = np.hstack([quiet, noise + rng.standard_normal((600, 160))])
    return X[:, rng.permutation(200)], groups


def accuracy(X, groups, columns):
    """Return the accuracy of K-means on some columns; the groups are used for this alone."""
    return evaluate_selection(X, groups, np.flatnonzero(columns), n_runs=10).acc_mean


# %%
directions = [0, 1, 2, 3, 4, 5, 6]
found = {"AutoSelector": [], "DSCOFS": [], "all columns": []}
blind = []
for count in directions:
    X, groups = loud(count)
    selector = AutoSelector(30, n_clusters=6, random_state=0).fit(X)
    found["AutoSelector"].append(accuracy(X, groups, selector.support_))
    found["DSCOFS"].append(accuracy(X, groups, DSCOFS(30).fit(X).support_))
    found["all columns"].append(accuracy(X, groups, np.ones(200)))
    draws = [RandomSubset(30, random_state=seed).fit(X).support_ for seed in range(5)]
    blind.append([accuracy(X, groups, draw) for draw in draws])
    if count == 3:
        print(selector.verdict_)

# %%
# It works as long as the groups show among the leading principal components, from which the neighbours
# are taken. Where too many directions are louder, it fails with the rest, and its verdict does not tell:
# it knows the graph, not the groups.
blind = np.array(blind)
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
for (name, values), (colour, line) in zip(
    found.items(), (("#0072B2", "-"), ("#E69F00", "--"), ("#333333", ":")), strict=True
):
    axes.plot(directions, values, marker="o", color=colour, linestyle=line, label=name)
axes.fill_between(
    directions, blind.min(axis=1), blind.max(axis=1), color="#BBBBBB", alpha=0.6, label="random, 5 draws"
)
axes.set(xlabel="loud directions that mean nothing", ylabel="accuracy of K-means, %", ylim=(0, 102))
axes.legend()
plt.show()
