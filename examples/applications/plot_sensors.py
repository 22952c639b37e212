"""
Sensors on faces: how many, and what they cost
==============================================

A face has 625 pixels here. Measure a few, and rebuild the rest. PySensors, the package made for this
question, places its sensors by a QR decomposition with pivoting; ``RebuildSelector`` looks for the pixels
from which a linear map rebuilds the others best. Both in one process, on faces that took no part in the
choice (100 faces come with scikit-image as ``lfw_subset``).
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from pysensors.basis import SVD
from pysensors.optimizers import CCQR
from pysensors.reconstruction import SSPOR
from skimage.data import lfw_subset

from ufselect import PCALeverage, RebuildSelector, Reconstructor

side = 25
faces = lfw_subset()[:100].reshape(100, side * side)
order = np.random.default_rng(0).permutation(100)
train, test = faces[order[30:]], faces[order[:30]]


def error(pixels):
    """Return the error of rebuilding new faces from some pixels, 1 for the mean face."""
    chosen = RebuildSelector(len(pixels), keep=pixels)  # all of them are given
    return np.sqrt(1 - Reconstructor(chosen).fit(train).score(test))


def pivoted_qr(count):
    """Return the pixels that PySensors chooses."""
    model = SSPOR(
        basis=SVD(n_basis_modes=min(count, 69), algorithm="arpack", random_state=0), n_sensors=count
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(train - train.mean(axis=0), quiet=True).get_selected_sensors()


# %%
# The error against the number of pixels. The band is that of 20 random choices.
counts = [5, 10, 20, 30, 40]
rng = np.random.default_rng(0)
draws = np.array(
    [[error(rng.choice(side * side, count, replace=False)) for count in counts] for _ in range(20)]
)
curves = {
    "PCA leverage": [error(PCALeverage(count).fit(train).get_support(indices=True)) for count in counts],
    "PySensors, QR": [error(pivoted_qr(count)) for count in counts],
    "RebuildSelector": [
        error(RebuildSelector(count).fit(train).get_support(indices=True)) for count in counts
    ],
}
colours = {"PCA leverage": "#E69F00", "PySensors, QR": "#D55E00", "RebuildSelector": "#0072B2"}
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.fill_between(counts, draws.min(axis=0), draws.max(axis=0), color="0.88", label="random pixels, 20 draws")
for name, values in curves.items():
    axes.plot(counts, values, "o-", color=colours[name], label=name)
    print(f"{name}: {values[2]:.3f} with 20 pixels")
axes.set_xlabel("pixels measured")
axes.set_ylabel("error, 1 = mean face")
axes.set_ylim(top=1.03)
axes.legend(frameon=False, loc="upper right", ncols=2)
plt.show()

# %%
# What if pixels have a price, 1 in the corners and 10 in the middle of the face? ``costs`` and ``budget``
# say so. PySensors' cost-constrained QR weighs the costs by a factor; of 13 factors it gets the one that
# does best on the very faces it is judged by.
row, column = np.divmod(np.arange(side * side), side)
distance = np.hypot(row - 12, column - 12)
prices = 1 + 9 * (1 - distance / distance.max())
modes = (
    SVD(n_basis_modes=50, algorithm="arpack", random_state=0)
    .fit(train - train.mean(axis=0))
    .matrix_representation()
)
unit = np.linalg.norm(modes, axis=1).mean() / prices.mean()
orders = [
    CCQR(sensor_costs=weight * unit * prices).fit(modes).get_sensors()
    for weight in [0, *np.geomspace(1e-3, 10, 12)]
]


def affordable(ranked, budget):
    """Return the first pixels of an order that a budget pays for."""
    return ranked[np.cumsum(prices[ranked]) <= budget]


budgets = [25, 50, 100, 150]
placed = [RebuildSelector(200, costs=prices, budget=budget).fit(train) for budget in budgets]
priced = {
    "PySensors, CCQR": [min(error(affordable(ranked, b)) for ranked in orders) for b in budgets],
    "RebuildSelector": [error(selector.get_support(indices=True)) for selector in placed],
}
chance = [[error(affordable(rng.permutation(side * side), b)) for b in budgets] for _ in range(20)]

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", width_ratios=(1.5, 1, 1))
axes[0].fill_between(
    budgets, np.min(chance, axis=0), np.max(chance, axis=0), color="0.88", label="random pixels"
)
for name, colour in (("PySensors, CCQR", "#D55E00"), ("RebuildSelector", "#0072B2")):
    axes[0].plot(budgets, priced[name], "o-", color=colour, label=name)
axes[0].set_xlabel("budget")
axes[0].set_ylabel("error, 1 = mean face")
axes[0].legend(frameon=False)
chosen = {"no prices": RebuildSelector(30).fit(train).support_, "prices, budget 100": placed[2].support_}
for panel, (title, support) in zip(axes[1:], chosen.items(), strict=True):
    panel.imshow(train.mean(axis=0).reshape(side, side), cmap="gray")
    panel.scatter(column[support], row[support], s=28, color="#F0E442", edgecolors="black", linewidths=0.6)
    panel.set_title(f"{title}: {support.sum()} pixels for {prices[support].sum():.0f}", fontsize=10)
    panel.set_axis_off()
plt.show()

# %%
# Many of the pixels lie at the edge: backgrounds differ from picture to picture more than faces do, and
# rebuilding counts every pixel alike.
