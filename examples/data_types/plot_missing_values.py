"""
Select features with missing values
===================================

Many selectors, such as :class:`~ufselect.PCALeverage`, accept NaN without an imputer. Here four sensors at a
time fail for half of the rows, until up to 30 % of the values are missing. How many of the 20 columns
selected from the complete table are selected again?
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


def with_failures(share, rng):
    """Return the table with at least this share of its values missing."""
    incomplete = X.copy()
    while np.isnan(incomplete).mean() < share:
        rows, columns = rng.permutation(len(X))[: len(X) // 2], rng.permutation(X.shape[1])[:4]
        incomplete[np.ix_(rows, columns)] = np.nan
    return incomplete


shares = [0.02, 0.05, 0.1, 0.2, 0.3]
imputing = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), selector)
same = np.empty((2, 5, 5))
for place, share in enumerate(shares):
    for seed in range(5):
        incomplete = with_failures(share, np.random.default_rng(seed))
        same[0, place, seed] = (selector.fit(incomplete).get_support() & complete).sum()
        same[1, place, seed] = (imputing.fit(incomplete)[-1].get_support() & complete).sum()

# %%
# ``missing_`` records how many values were missing, and by how much the variance was corrected because
# imputed values vary less than observed ones.
print(selector.fit(incomplete).missing_)

# %%
# With NaN given to the selector, the selection changes little. Imputing the median lowers variances and
# correlations of the columns with missing values, so that others are selected. Bars are standard deviations
# over five patterns of failures.
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for values, name in zip(same, ("NaN given to the selector", "median imputation first"), strict=True):
    ax.errorbar(
        100 * np.array(shares),
        values.mean(axis=1),
        yerr=values.std(axis=1),
        marker="o",
        capsize=3,
        label=name,
    )
ax.axhline(20 * 20 / 64, color="0.4", linestyle=":", label="random columns, expected")
ax.set(ylim=(0, 20.8), xlabel="missing values, %", ylabel="same columns, of 20")
ax.legend(frameon=False, loc="lower left")
plt.show()
