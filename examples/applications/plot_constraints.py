"""
What do constraints cost?
=========================

We select sixteen of 64 pixels to reconstruct digits. Some may be installed already (``keep``), out of
reach (``exclude``), available only in tiles of four (``feature_groups``), or expensive (``costs`` and
``budget``). The other columns are selected given those in ``keep``. How much does each constraint cost?
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from ufselect import RandomSubset, ReconstructionSelector, Reconstructor
from ufselect.plotting import PixelsDisplay

train, test = train_test_split(load_digits().data, random_state=0)
rows, columns = np.divmod(np.arange(64), 8)
installed = np.flatnonzero((rows == 3) & (columns > 0) & (columns < 7))
out_of_reach = np.flatnonzero((columns >= 5) & (rows >= 5))
tiles = 4 * (rows // 2) + columns // 2
prices = np.where((columns == 3) | (columns == 4), 5, 1)  # the two columns in the middle
selectors = {
    "no constraint": ReconstructionSelector(16),
    "keep a row,\nexclude a corner": ReconstructionSelector(16, keep=installed, exclude=out_of_reach),
    "4 tiles of 4": ReconstructionSelector(4, feature_groups=tiles),
    "budget of 24,\nmiddle costs 5": ReconstructionSelector(16, costs=prices, budget=24),
    "random columns": RandomSubset(16, random_state=0),
}

# %%
# The percentages are shares of the variance of held-out digits that are explained.
figure, axes = plt.subplots(1, 5, figsize=(11, 2.9), layout="constrained")
for ax, (name, selector) in zip(axes, selectors.items(), strict=True):
    reconstructor = Reconstructor(selector, regressor="ridge").fit(train)
    PixelsDisplay.from_estimator(reconstructor.estimator_, (8, 8), background=train.mean(axis=0), ax=ax)
    ax.set_title(f"{name}\n{reconstructor.score(test):.0%}", fontsize=10)
plt.show()

# %%
# The share of random columns varies. Over twenty sets:
shares = [
    Reconstructor(RandomSubset(16, random_state=seed), regressor="ridge").fit(train).score(test)
    for seed in range(20)
]
print(f"random columns: {np.mean(shares):.0%} ± {np.std(shares):.0%}, at best {max(shares):.0%}")
