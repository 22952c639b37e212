"""
Batches and weights
===================

Samples come from several days or donors, and the strongest directions only tell those apart; or they are not
a fair sample of what they stand for. ``fit`` takes a batch label and a weight for each row.
"""

# %%
# Three scanners have read the digits, each with a stain of its own: a few pixels are brighter on all of its
# images. Nothing about the digits has changed, but the stained pixels vary most.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import PCALeverage

digits = load_digits()
X = digits.data
selector = PCALeverage(n_features_to_select=16, n_components=8)
fair = selector.fit(X).support_

rng = np.random.default_rng(0)
scanner = rng.integers(0, 3, len(X))
stains = 12 * (rng.random((3, 64)) < 0.12)
scanned = X + stains[scanner]
by_batch = {
    "clean images": fair,
    "stained": selector.fit(scanned).support_,
    "stained, batch=scanner": selector.fit(scanned, batch=scanner).support_,
}

# %%
# A second collection has 170 zeros and 20 of each other digit. A weight for each image, here one over the
# number of its kind, restores the shares in which they are wanted; any knowledge of how rows were drawn will
# do. Over ten such collections:


def unfair(seed):
    """Select from a collection as it is, and with weights."""
    rng = np.random.default_rng(seed)
    kinds = [rng.permutation(np.flatnonzero(digits.target == digit)) for digit in range(10)]
    drawn = np.concatenate([kind[: 170 if digit == 0 else 20] for digit, kind in enumerate(kinds)])
    weights = 1 / np.bincount(digits.target[drawn])[digits.target[drawn]]
    return selector.fit(X[drawn]).support_, selector.fit(X[drawn], sample_weight=weights).support_


common = np.array([[(each & fair).sum() for each in unfair(seed)] for seed in range(10)])
print("of 16 pixels in common with all images, as it is and weighted:", common.mean(axis=0))
by_weight = dict(zip(("all images", "170 zeros, 20 of each", "weighted"), (fair, *unfair(0)), strict=True))

# %%
# Blue pixels are also selected from the clean images, or from all of them; orange ones are not. The lower
# line shows the first collection.
figure, axes = plt.subplots(2, 3, figsize=(8, 5.6), layout="constrained")
for line, chosen in zip(axes, (by_batch, by_weight), strict=True):
    for axis, (title, support) in zip(line, chosen.items(), strict=True):
        picture = np.ones((64, 3))
        picture[support & fair] = (0.2, 0.4, 0.8)
        picture[support & ~fair] = (0.95, 0.55, 0.2)
        axis.imshow(picture.reshape(8, 8, 3))
        axis.set_title(f"{title}\n{(support & fair).sum()} of 16", fontsize=10)
        axis.set_xticks(np.arange(-0.5, 8), [])
        axis.set_yticks(np.arange(-0.5, 8), [])
        axis.grid(color="0.85", linewidth=0.6)
        axis.tick_params(length=0)
plt.show()
