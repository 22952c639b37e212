"""
Missing values
==============

Selectors that work through the Gram matrix take NaN as it comes: no imputer is needed before them. Here a
growing share of a table is removed, and the columns selected from what is left are compared with those of
the whole table.
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

shares = [0.01, 0.05, 0.1, 0.2, 0.3, 0.4]
common = {"ufselect, NaN as they are": [], "median imputation first": []}
for share in shares:
    gaps = np.random.default_rng(0).random(X.shape) < share
    gapped = np.where(gaps, np.nan, X)
    native = selector.fit(gapped)
    common["ufselect, NaN as they are"].append((native.get_support() & complete).sum())
    filled = make_pipeline(SimpleImputer(strategy="median"), selector).fit(gapped)
    common["median imputation first"].append((filled[-1].get_support() & complete).sum())

# %%
# What was done is on record: how much was missing, and how much variance was added because filled-in values
# vary less than observed ones.
print(selector.fit(gapped).missing_)

# %%
# Most pixels are the same even with two fifths of the table gone. The median pulls all columns towards
# themselves, and those with the most structure lose the most.
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, counts in common.items():
    axes.plot(100 * np.array(shares), counts, marker="o", label=name)
axes.set_ylim(0, 20.5)
axes.set_xlabel("missing, per cent of all values")
axes.set_ylabel("of 20 columns, in common")
axes.legend()
plt.show()
