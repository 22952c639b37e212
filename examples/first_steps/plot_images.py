"""
Which pixels matter?
====================

Handwritten digits are 8 × 8 images. Without looking at the labels, DSCOFS keeps 20 of the 64 pixels; the
corners, which never vary, are the first to go.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from ufselect import DSCOFS
from ufselect.plotting import PixelsDisplay, ScoresDisplay

digits = load_digits()
selector = DSCOFS(n_features_to_select=20, n_components=10).fit(digits.data)
print(f"{selector.support_.sum()} of {digits.data.shape[1]} pixels in {selector.n_iter_} iterations")

# %%
# Left, the kept pixels over the mean image; right, the scores of the best.
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
PixelsDisplay.from_estimator(selector, (8, 8), background=digits.data.mean(axis=0), ax=left)
ScoresDisplay.from_estimator(selector, feature_names=digits.feature_names, n_shown=24, ax=right)
right.tick_params(axis="y", labelsize=7)

# %%
# A digit, and what is left of it with the kept pixels alone.
figure, (left, right) = plt.subplots(1, 2, figsize=(5, 2.6), layout="constrained")
left.imshow(digits.images[0], cmap="gray_r")
left.set_title("all 64 pixels")
kept = selector.inverse_transform(selector.transform(digits.data[:1]))
right.imshow(kept.reshape(8, 8), cmap="gray_r")
right.set_title("the 20 kept")
for axes in (left, right):
    axes.set_axis_off()
plt.show()
