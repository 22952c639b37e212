"""
Feature selection across batches
================================

Rows from several days, donors or instruments differ in ways that have nothing to do with the question, and a
method that looks for variance selects the columns that show these differences. ``fit(X, batch=…)`` uses the
variation within batches only.
"""

# %%
# Three scanners have read the digits, each with stains of its own: some pixels are brighter on all of its
# images. The digits have not changed, but the stained pixels vary most.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import PCALeverage
from ufselect.plotting import PixelsDisplay

X = load_digits().data
rng = np.random.default_rng(0)
scanner = rng.integers(0, 3, len(X))
stains = 12 * (rng.random((3, 64)) < 0.12)
scanned = X + stains[scanner]

selector = PCALeverage(n_features_to_select=16, n_components=8)
supports = {
    "clean images": selector.fit(X).support_,
    "scanned": selector.fit(scanned).support_,
    "scanned, batch=scanner": selector.fit(scanned, batch=scanner).support_,
}

# %%
# The selected pixels, drawn over the variance of each pixel. With ``batch`` they are those of the clean
# images.
figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained")
for ax, (name, support) in zip(axes, supports.items(), strict=True):
    data = X if name == "clean images" else scanned
    PixelsDisplay(support, (8, 8), background=data.var(axis=0)).plot(ax=ax)
    same = (support & supports["clean images"]).sum()
    ax.set_title(f"{name}\n{same} of 16 as from clean images", fontsize=10)
plt.show()
