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

digits = load_digits()
selector = DSCOFS(n_features_to_select=20, n_components=10).fit(digits.data)
print(f"{selector.support_.sum()} of {digits.data.shape[1]} pixels in {selector.n_iter_} iterations")

# %%
# Left, the score of each pixel; right, a digit with only the kept pixels.
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
image = left.imshow(selector.scores_.reshape(8, 8), cmap="cividis")
figure.colorbar(image, ax=left, shrink=0.8)
left.set_title("score")
middle.imshow(digits.images[0], cmap="gray_r")
middle.set_title("all 64 pixels")
kept = selector.inverse_transform(selector.transform(digits.data[:1]))
right.imshow(kept.reshape(8, 8), cmap="gray_r")
right.set_title("the 20 kept")
for axes in (left, middle, right):
    axes.set_axis_off()
plt.show()
