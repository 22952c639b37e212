"""
Missing values
==============

Selectors that work through the Gram matrix take NaN as it comes: no imputer is needed before them. Here a few
sensors at a time fail for half of the samples, until a third of the table is gone, and the columns selected
from what is left are compared with those of the whole table.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from ufselect import PCALeverage

X = load_digits().data
selector = PCALeverage(n_features_to_select=20, n_components=10)
complete = selector.fit(X).get_support()


def with_failures(X, share, rng):
    """Return the data without four columns of half the rows, again and again."""
    gapped = X.copy()
    while np.isnan(gapped).mean() < share:
        rows, columns = rng.permutation(len(X))[: len(X) // 2], rng.permutation(X.shape[1])[:4]
        gapped[np.ix_(rows, columns)] = np.nan
    return gapped


shares = [0.02, 0.05, 0.1, 0.2, 0.3]
draws = range(5)
common = {"NaN as they are": np.empty((5, 5)), "median imputation first": np.empty((5, 5))}
imputing = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), selector)
for place, share in enumerate(shares):
    for draw in draws:
        gapped = with_failures(X, share, np.random.default_rng(draw))
        native, filled = selector.fit(gapped).get_support(), imputing.fit(gapped)[-1].get_support()
        common["NaN as they are"][place, draw] = (native & complete).sum()
        common["median imputation first"][place, draw] = (filled & complete).sum()

# %%
# What was done is on record: how much was missing, and how much variance was added because filled-in values
# vary less than observed ones.
print(selector.fit(gapped).missing_)

# %%
# The selection hardly changes. Filling in the median instead takes variance and correlation from the columns
# with gaps, so that others are chosen.
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, counts in common.items():
    axes.errorbar(
        100 * np.array(shares),
        counts.mean(axis=1),
        yerr=counts.std(axis=1),
        marker="o",
        capsize=3,
        label=name,
    )
axes.set_ylim(0, 20.8)
axes.set_xlabel("missing, per cent of all values")
axes.set_ylabel("of 20 columns, the same")
axes.legend()
plt.show()
