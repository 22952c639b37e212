"""
Stability selection
===================

Another sample of rows would give another selection. ``StableSelector`` fits a selector to random halves of
the rows and selects the columns that recur in most of them.
"""

# %%
# Twelve pixels of 300 digits, by PCA leverage and, for comparison, at random.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import PCALeverage, RandomSubset, StableSelector

warnings.filterwarnings("ignore", "No column is selected")  # of random columns none is stable
X = load_digits().data[:300]
selectors = {
    "PCALeverage": PCALeverage(n_features_to_select=12, n_components=8),
    "random columns": RandomSubset(n_features_to_select=12, random_state=0),
}
fitted = {
    name: StableSelector(selector, n_resamples=50, random_state=0).fit(X)
    for name, selector in selectors.items()
}
for name, stable in fitted.items():
    print(f"{name}: {stable.support_.sum()} stable columns, stability {stable.stability_:.2f}")
bound = stable.error_bound_.unimodal
print(f"threshold {stable.threshold_:.2f}; at most {bound:.1f} stable columns are expected by chance")

# %%
# How often each pixel is selected; dots mark the stable ones. Six of the twelve pixels of PCA leverage are
# stable. Others alternate with correlated neighbours; ``max_correlation`` or more rows can help.
figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
for ax, (name, stable) in zip(axes, fitted.items(), strict=True):
    image = ax.imshow(stable.frequencies_.reshape(8, 8), vmin=0, vmax=1, cmap="Blues")
    rows, columns = np.divmod(np.flatnonzero(stable.support_), 8)
    ax.plot(columns, rows, "o", color="C1")
    ax.set(title=f"{name}: {rows.size} stable", xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="share of fits that select it")
plt.show()
