"""
Rebuild images from 30 pixels
=============================

Which few columns let you rebuild the others? ``RebuildSelector`` chooses them, ``Reconstructor`` maps back to
all columns and says how well that works on rows it has not seen.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import RebuildSelector, Reconstructor
from ufselect.plotting import PixelsDisplay, ReconstructionDisplay

pixels = load_digits().data
train, test = pixels[:1200], pixels[1200:]
reconstructor = Reconstructor(RebuildSelector(n_features_to_select=30)).fit(train)
print(f"{reconstructor.score(test):.0%} of the variance of new images comes back from 30 of 64 pixels")

# %%
# New images, the same images rebuilt from 30 pixels, and the standard deviation of the error of each pixel.
rebuilt = reconstructor.inverse_transform(reconstructor.transform(test))
figure, axes = plt.subplots(2, 6, figsize=(9, 3.2), layout="constrained")
for column, image in enumerate(range(0, 500, 100)):
    for row, (values, title) in enumerate(((test, "new"), (rebuilt, "rebuilt"))):
        axes[row, column].imshow(values[image].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        axes[row, column].set_title(title, fontsize=8)
PixelsDisplay.from_estimator(reconstructor.selector_, (8, 8), background=train.mean(axis=0), ax=axes[0, 5])
axes[0, 5].set_title("measured", fontsize=8)
axes[1, 5].imshow(reconstructor.standard_deviations_.reshape(8, 8), cmap="viridis")
axes[1, 5].set_title("error", fontsize=8)
for panel in axes.flat:
    panel.set_axis_off()

# %%
# The error against the number of pixels, between random pixels and as many principal components, which need
# all pixels to be measured.
ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)

# %%
# How many are enough? ``"auto"`` holds out rows to find out. These images have no knee; the note says so.
curves = np.linspace(0, 1, 120)
rng = np.random.default_rng(0)
spectra = rng.random((200, 6)) @ np.exp(-((curves - rng.random((6, 1))) ** 2) / 0.01)
spectra += 0.01 * rng.standard_normal(spectra.shape)
few = RebuildSelector(n_features_to_select="auto").fit(spectra)
print(next(row["note"] for row in few.count_curve_ if row["chosen"]))
ReconstructionDisplay.from_count_curve(few)

# %%
# Pixels that may not lie next to each other, and cost more in the middle: the rules are never broken.
rows, columns = np.divmod(np.arange(64), 8)
prices = 1 + 3 * (np.hypot(rows - 3.5, columns - 3.5) < 2)
placed = RebuildSelector(
    n_features_to_select=30,
    costs=prices,
    budget=20,
    positions=np.column_stack([rows, columns]),
    min_distance=1.5,
).fit(train)
print(f"{placed.support_.sum()} pixels for {prices[placed.support_].sum()}")
PixelsDisplay.from_estimator(placed, (8, 8), background=train.mean(axis=0))
plt.show()
