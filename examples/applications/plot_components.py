"""
Can ten pixels replace ten principal components?
================================================

No ten linear combinations of the pixels reconstruct the training images better by a linear map than ten
principal components. Single pixels can come as near on held-out images if the map back is nonlinear, and only
they need to be measured.
"""

# %%
# Ten numbers are kept of each digit: selected pixels, random pixels, or principal components, whose map back
# is linear, or nonlinear like that of the pixels.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from ufselect import RandomSubset, ReconstructionSelector, Reconstructor

train, test = train_test_split(load_digits().data, test_size=0.5, random_state=0)
total = np.sum((test - train.mean(axis=0)) ** 2)


def by_components(k):
    """Return held-out images, reconstructed from k principal components."""
    components = PCA(k).fit(train)
    return components.inverse_transform(components.transform(test))


def by_components_nonlinear(k):
    """Return the same by the nonlinear map that selected pixels get, from the k scores to all pixels."""
    components = PCA(k).fit(train)
    table, new = (np.hstack([components.transform(images), images]) for images in (train, test))
    reconstructor = Reconstructor(list(range(k)), regressor="kernel").fit(table)
    return reconstructor.inverse_transform(reconstructor.transform(new))[:, k:]


def by_pixels(selector):
    """Return held-out images, reconstructed from the pixels of a selector by a nonlinear map."""
    reconstructor = Reconstructor(selector, regressor="kernel").fit(train)
    return reconstructor.inverse_transform(reconstructor.transform(test))


def share(images):
    """Return the share of the variance of the held-out images that is reconstructed."""
    return 1 - np.sum((test - images) ** 2) / total


ways = {
    "selected pixels": lambda k: by_pixels(ReconstructionSelector(k)),
    "random pixels": lambda k: by_pixels(RandomSubset(k, random_state=0)),
    "principal components": by_components,
    "principal components, nonlinear map": by_components_nonlinear,
}
for name, way in ways.items():
    print(f"10 {name}: {share(way(10)):.0%} of the variance")

# %%
# Up to twenty numbers, selected pixels reconstruct as much as components do by their linear map. Components
# with a nonlinear map reconstruct more, but all 64 pixels must be measured to compute them.
counts = (5, 10, 15, 20, 30)
shares = {name: [share(way(k)) for k in counts] for name, way in ways.items()}
for name, values in shares.items():
    print(f"{name}:", *(f"{value:.0%}" for value in values))
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, values in shares.items():
    ax.plot(counts, values, "o-", label=name)
ax.set_xlabel("numbers kept of each image")
ax.set_ylabel("variance reconstructed, held out")
ax.legend(fontsize=8)
plt.show()
