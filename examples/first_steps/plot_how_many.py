"""
Variance rebuilt against the number of columns
==============================================

How much of the table comes back from 5, 10, 20 … columns? The curve of a method means little by itself:
random columns are the floor, as many principal components, which need all columns, the ceiling.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from ufselect import PCALeverage, RandomSubset, RebuildSelector, Reconstructor

pixels = load_digits().data
train, test = pixels[:1200], pixels[1200:]
counts = [2, 5, 10, 15, 20, 30, 45]


def rebuilt(selector):
    """Return the share of the variance of new images that comes back, in per cent."""
    return 100 * Reconstructor(selector).fit(train).score(test)


# %%
curves = {
    "RebuildSelector": [rebuilt(RebuildSelector(count)) for count in counts],
    "PCA leverage": [rebuilt(PCALeverage(count, n_components=10)) for count in counts],
}
blind = np.array([[rebuilt(RandomSubset(count, random_state=seed)) for count in counts] for seed in range(6)])
components = PCA(max(counts)).fit(train)
centred = test - components.mean_
parts = np.square(centred @ components.components_.T).sum(axis=0).cumsum() / np.square(centred).sum()

# %%
# Columns that score high one by one repeat each other, so PCA leverage needs more of them for the same.
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
axes.plot(
    counts, 100 * parts[np.array(counts) - 1], color="#333333", linestyle=":", label="principal components"
)
for (name, curve), colour in zip(curves.items(), ("#0072B2", "#E69F00"), strict=True):
    axes.plot(counts, curve, marker="o", color=colour, label=name)
axes.fill_between(
    counts, blind.min(axis=0), blind.max(axis=0), color="#BBBBBB", alpha=0.6, label="random, 6 draws"
)
axes.set(xlabel="pixels kept, of 64", ylabel="variance of new images rebuilt, %", ylim=(0, 101))
axes.legend(loc="lower right")
plt.show()
