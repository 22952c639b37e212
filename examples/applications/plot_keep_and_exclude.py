"""
Columns that must stay, columns that must not
=============================================

A panel is given, say because its sensors are already installed, and more may be added; some places are out of
bounds. ``keep`` and ``exclude`` say so, and the choice takes the panel into account: it adds what the panel
does not tell.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split

from ufselect import GreedyProjection

X = load_digits().data
train, test = train_test_split(X, random_state=0)
rows, columns = np.divmod(np.arange(64), 8)
panel = np.flatnonzero((rows == 3) & (columns > 0) & (columns < 7))  # a line of sensors
forbidden = np.flatnonzero((columns >= 5) & (rows >= 5))  # a corner that cannot be reached

free = GreedyProjection(16, target="features").fit(train)
extended = GreedyProjection(16, target="features", keep=panel, exclude=forbidden).fit(train)

# %%
# What would it cost to choose without knowing the panel, and append the best pixels to it? The share of the
# variance of all pixels that a regression on the chosen ones rebuilds on new digits tells.
order = np.argsort(free.ranking_)
candidates = order[~np.isin(order, np.append(panel, forbidden))]
appended = np.append(panel, candidates[: 16 - panel.size])


def share(pixels):
    """Share of the total variance rebuilt, all pixels together."""
    model = Ridge().fit(train[:, pixels], train)
    error = np.square(test - model.predict(test[:, pixels])).sum()
    return 100 * (1 - error / np.square(test - train.mean(axis=0)).sum())


chosen = {
    "the panel alone": panel,
    "panel, best appended": appended,
    "panel, extended": np.flatnonzero(extended.support_),
    "free choice": np.flatnonzero(free.support_),
}

# %%
# Red pixels are the panel, blue ones were added, hatched ones are out of bounds.
figure, axes = plt.subplots(1, 4, figsize=(10, 3.1), layout="constrained")
for ax, (title, pixels) in zip(axes, chosen.items(), strict=True):
    picture = np.ones((8, 8, 3))
    picture[rows[pixels], columns[pixels]] = (0.2, 0.4, 0.8)
    if title != "free choice":
        picture[rows[panel], columns[panel]] = (0.8, 0.25, 0.2)
    ax.imshow(picture)
    ax.set_title(f"{title}\n{len(pixels)} pixels, {share(pixels):.1f} %", fontsize=10)
    ax.set_xticks(np.arange(-0.5, 8), [])
    ax.set_yticks(np.arange(-0.5, 8), [])
    ax.grid(color="0.85", linewidth=0.6)
    ax.tick_params(length=0)
    if title != "free choice":
        ax.fill_between([4.5, 7.5], 4.5, 7.5, facecolor="none", edgecolor="0.6", hatch="///", linewidth=0)
plt.show()
