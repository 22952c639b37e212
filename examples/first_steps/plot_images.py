"""
Digits kept and rebuilt
=======================

Handwritten digits are 8 × 8 images. Twenty of the 64 pixels are chosen without labels, and new images
are rebuilt from these alone.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import RandomSubset, RebuildSelector, Reconstructor

pixels = load_digits().data
train, test = pixels[:1200], pixels[1200:]
reconstructor = Reconstructor(RebuildSelector(n_features_to_select=20)).fit(train)
kept = reconstructor.selector_.support_

# %%
# The same with twenty random pixels, ten times: the line to beat.
blind = [Reconstructor(RandomSubset(20, random_state=seed)).fit(train) for seed in range(10)]
shares = [each.score(test) for each in blind]
print(f"comes back from 20 chosen pixels: {reconstructor.score(test):.0%} of the variance of new images")
print(f"from 20 random ones: {np.mean(shares):.0%} ± {np.std(shares):.0%}")

# %%
# From the top: new digits; what is measured of them, with a frame around every kept pixel, so that a
# kept white pixel can be told from one that is dropped; the digits rebuilt from that; and rebuilt from
# random pixels.
shown = test[[3, 7, 16, 40, 55, 82]]
rows = {
    "new": shown,
    "measured": shown,
    "rebuilt": reconstructor.inverse_transform(reconstructor.transform(shown)),
    "rebuilt,\nrandom pixels": blind[0].inverse_transform(blind[0].transform(shown)),
}
figure, axes = plt.subplots(4, 6, figsize=(7.5, 5.2), layout="constrained")
for line, (title, images) in zip(axes, rows.items(), strict=True):
    for ax, image in zip(line, images, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
        if title == "measured":
            dropped = np.where(kept, np.nan, 1.0).reshape(8, 8)
            ax.imshow(dropped, cmap="Greys", vmin=0, vmax=4)
            for row, column in np.argwhere(kept.reshape(8, 8)):
                ax.add_patch(
                    plt.Rectangle(
                        (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#0072B2", linewidth=1.3
                    )
                )
    line[0].set_ylabel(title, rotation=0, ha="right", va="center")
plt.show()
