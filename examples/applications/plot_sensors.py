"""
Sensor placement: reconstruct faces from 30 pixels
==================================================

Which 30 of 625 pixels must be measured to reconstruct a whole face? ``ReconstructionSelector`` selects them,
``Reconstructor`` maps them back to all pixels and scores the map on held-out faces. The 100 faces come with
scikit-image.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from skimage.data import lfw_subset
from sklearn.model_selection import train_test_split

from ufselect import RandomSubset, ReconstructionSelector, Reconstructor
from ufselect.plotting import PixelsDisplay

shape = (25, 25)
train, test = train_test_split(lfw_subset()[:100].reshape(100, 625), test_size=30, random_state=0)
selected = Reconstructor(ReconstructionSelector(n_features_to_select=30)).fit(train)
random = [Reconstructor(RandomSubset(30, random_state=seed)).fit(train) for seed in range(10)]
shares = [each.score(test) for each in random]
print(f"variance of held-out faces reconstructed from 30 selected pixels: {selected.score(test):.0%}")
print(f"from 30 random pixels: {np.mean(shares):.0%} ± {np.std(shares):.0%}")

# %%
# Sensors placed by another package can be scored in the same way. PySensors uses a QR decomposition with
# pivoting.
from pysensors.basis import SVD
from pysensors.reconstruction import SSPOR

pivoted = SSPOR(basis=SVD(n_basis_modes=30, random_state=0), n_sensors=30)
sensors = pivoted.fit(train - train.mean(axis=0), quiet=True).get_selected_sensors()
print(f"from 30 pixels by PySensors: {Reconstructor(sensors.tolist()).fit(train).score(test):.0%}")

# %%
# Held-out faces, reconstructed from the selected pixels and from one of the sets of random pixels. Many
# selected pixels lie at the edge, because backgrounds vary more than faces do and every pixel counts equally.
figure = plt.figure(figsize=(8, 5.4), layout="constrained")
parts = figure.subfigures(3, 1)
rows = {
    "held-out faces": None,
    f"from 30 selected pixels: {selected.score(test):.0%} of the variance": selected,
    f"from 30 random pixels: {random[0].score(test):.0%} of the variance": random[0],
}
for part, (title, reconstructor) in zip(parts, rows.items(), strict=True):
    part.suptitle(title, fontsize=10)
    axes, faces = part.subplots(1, 6), test[:5]
    if reconstructor is not None:
        faces = reconstructor.inverse_transform(reconstructor.transform(faces))
        PixelsDisplay(reconstructor.support_, shape, background=train.mean(axis=0)).plot(ax=axes[0])
        axes[0].set_title("")
    for ax, face in zip(axes[1:], faces, strict=True):
        ax.imshow(face.reshape(shape), cmap="gray", vmin=0, vmax=1)
    for ax in axes:
        ax.set_axis_off()
plt.show()
