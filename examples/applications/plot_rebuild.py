"""
Rebuild faces from 30 pixels
============================

Which few columns let you rebuild the others? ``RebuildSelector`` chooses them, ``Reconstructor`` maps back to
all columns and says how well that works on rows it has not seen. The 100 faces, 25 × 25 pixels each, come
with scikit-image.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from skimage.data import lfw_subset

from ufselect import RebuildSelector, Reconstructor
from ufselect.plotting import PixelsDisplay, ReconstructionDisplay

side = 25
faces = lfw_subset()[:100].reshape(100, side * side)
is_new = np.arange(100) % 4 == 0
train, test = faces[~is_new], faces[is_new]
reconstructor = Reconstructor(RebuildSelector(n_features_to_select=30)).fit(train)
print(f"{reconstructor.score(test):.0%} of the variance of new faces comes back from 30 of 625 pixels")

# %%
# New faces, the same faces rebuilt from 30 pixels, the pixels, and the error of each pixel in units of its
# standard deviation.
rebuilt = reconstructor.inverse_transform(reconstructor.transform(test))
figure, axes = plt.subplots(2, 6, figsize=(9, 3.2), layout="constrained")
for column, face in enumerate((1, 6, 11, 16, 21)):
    for row, (values, title) in enumerate(((test, "new"), (rebuilt, "rebuilt"))):
        axes[row, column].imshow(values[face].reshape(side, side), cmap="gray", vmin=0, vmax=1)
        axes[row, column].set_title(title, fontsize=8)
PixelsDisplay.from_estimator(
    reconstructor.selector_, (side, side), background=train.mean(axis=0), ax=axes[0, 5]
)
axes[0, 5].set_title("measured", fontsize=8)
axes[1, 5].imshow(reconstructor.column_errors_.reshape(side, side), cmap="viridis", vmin=0, vmax=1)
axes[1, 5].set_title("error", fontsize=8)
for panel in axes.flat:
    panel.set_axis_off()

# %%
# The error against the number of pixels, between random pixels and as many principal components, which need
# all pixels to be measured.
ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)

# %%
# How many are enough? ``"auto"`` holds out rows to find out, and takes the fewest columns within one standard
# error of the best count. For faces that is the largest tried, and the note says so.
rng = np.random.default_rng(0)
places = np.linspace(0, 1, 120)
spectra = rng.random((200, 6)) @ np.exp(-((places - rng.random((6, 1))) ** 2) / 0.01)
spectra += 0.01 * rng.standard_normal(spectra.shape)
few = RebuildSelector(n_features_to_select="auto").fit(spectra)
many = RebuildSelector(n_features_to_select="auto").fit(faces)
for name, selector in (("spectra", few), ("faces", many)):
    print(name, next(row["note"] for row in selector.count_curve_ if row["chosen"]), sep=": ")
ReconstructionDisplay.from_count_curve(few)

# %%
# Pixels that may not lie next to each other, and cost more in the middle: the rules are never broken.
rows, columns = np.divmod(np.arange(side * side), side)
prices = 1 + 3 * (np.hypot(rows - 12, columns - 12) < 6)
placed = RebuildSelector(
    n_features_to_select=30,
    costs=prices,
    budget=40,
    positions=np.column_stack([rows, columns]),
    min_distance=3,
).fit(train)
print(f"{placed.support_.sum()} pixels for {prices[placed.support_].sum()}")
PixelsDisplay.from_estimator(placed, (side, side), background=train.mean(axis=0))
plt.show()
