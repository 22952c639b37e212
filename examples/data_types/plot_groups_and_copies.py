"""
Columns that go together, columns that repeat each other
========================================================

Some columns only come together: the categories of one variable, the bands of one instrument, the pixels of
one tile. ``groups`` selects them whole or not at all. Others say the same twice; with ``max_correlation`` a
column that is too much like a better one waits its turn.
"""

# %%
# Groups: the sixteen tiles of two by two pixels, of which six may be kept. They are 24 pixels; as many single
# pixels fall into more tiles. The share of the variance of all pixels that a regression rebuilds on new
# digits says what the constraint costs.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ufselect import FSPCA, GreedyProjection

train, test = train_test_split(load_digits().data, random_state=0)
rows, columns = np.divmod(np.arange(64), 8)
tiles = 4 * (rows // 2) + columns // 2


def rebuilt(pixels):
    """Share of the variance of all pixels, in per cent."""
    model = Ridge().fit(train[:, pixels], train)
    error = np.square(test - model.predict(test[:, pixels])).sum()
    return 100 * (1 - error / np.square(test - train.mean(axis=0)).sum())


single = GreedyProjection(24, target="features").fit(train)
whole = GreedyProjection(6, target="features", groups=tiles).fit(train)
print(f"The single pixels lie in {np.unique(tiles[single.support_]).size} tiles.")

# %%
# Copies: thirty measurements of cell nuclei, many of them nearly the same, such as radius, perimeter and
# area. A method that follows variance takes them all.
cells = load_breast_cancer()
X = StandardScaler().fit_transform(cells.data)
free = FSPCA(8, n_components=2).fit(X)
limited = FSPCA(8, n_components=2, max_correlation=0.8).fit(X)

# %%
# Above, single pixels and whole tiles; below, how alike the selected measurements are, without a limit and
# with one.
figure, axes = plt.subplots(2, 2, figsize=(8.5, 6.6), layout="constrained", height_ratios=(1, 1.1))
for axis, selector, title in zip(axes[0], (single, whole), ("24 pixels", "6 tiles"), strict=True):
    axis.imshow(selector.support_.reshape(8, 8), cmap="Blues", vmin=0, vmax=1.4)
    axis.set_title(f"{title}: {rebuilt(selector.support_):.1f} % rebuilt", fontsize=10)
    axis.set_xticks(np.arange(-0.5, 8, 2), [])
    axis.set_yticks(np.arange(-0.5, 8, 2), [])
    axis.grid(color="0.6", linewidth=0.8)
    axis.tick_params(length=0)
for axis, selector, title in zip(axes[1], (free, limited), ("no limit", "limit 0.8"), strict=True):
    chosen = np.flatnonzero(selector.support_)
    alike = np.abs(np.corrcoef(X[:, chosen], rowvar=False))
    image = axis.imshow(alike, cmap="Oranges", vmin=0, vmax=1)
    axis.set_yticks(range(len(chosen)), cells.feature_names[chosen], fontsize=8)
    axis.set_xticks([])
    axis.set_title(f"{title}: correlations up to {np.max(alike - np.eye(len(chosen))):.2f}", fontsize=10)
figure.colorbar(image, ax=axes[1, 1], label="absolute correlation", shrink=0.8)
plt.show()
