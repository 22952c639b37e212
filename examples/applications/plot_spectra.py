"""
Select wavelengths from infrared spectra
========================================

Sixty infrared spectra of coffee have 1,841 points each. Could an instrument with 12 filters replace the
spectrometer? Filters cannot lie side by side, so ``min_distance`` keeps the points at least 50 apart. The
spectra come with the package chemotools.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from chemotools.datasets import load_coffee
from sklearn.model_selection import train_test_split

from ufselect import RandomSubset, ReconstructionSelector, Reconstructor

spectra = load_coffee()[0].to_numpy()
train, test = train_test_split(spectra, test_size=20, random_state=0)


def share_explained(selector):
    """Return the share of the variance of held-out spectra that is explained, by a linear map."""
    return Reconstructor(selector, regressor="ridge").fit(train).score(test)


random_shares = [share_explained(RandomSubset(12, random_state=seed)) for seed in range(20)]
print(f"12 selected points: {share_explained(ReconstructionSelector(12)):.2%} of the variance")
print(f"12 selected, 50 apart: {share_explained(ReconstructionSelector(12, min_distance=50)):.2%}")
print(f"12 random points: {np.mean(random_shares):.2%} ± {np.std(random_shares):.2%}")
equidistant = np.linspace(0, spectra.shape[1] - 1, 12).astype(int).tolist()
print(f"12 equidistant points: {share_explained(equidistant):.2%}")

# %%
# Top: three held-out spectra minus the mean spectrum, and their reconstructions from the 12 marked points.
# Bottom: the error of each point in units of its standard deviation.
reconstructor = Reconstructor(ReconstructionSelector(12, min_distance=50), regressor="ridge").fit(train)
points = np.flatnonzero(reconstructor.support_)
reconstructed = reconstructor.inverse_transform(reconstructor.transform(test))
figure, (above, below) = plt.subplots(
    2, 1, figsize=(8, 5), sharex=True, layout="constrained", height_ratios=[3, 1]
)
for place in range(3):
    measured, estimated = test[place] - reconstructor.mean_, reconstructed[place] - reconstructor.mean_
    above.plot(measured, color=f"C{place}", linewidth=4, alpha=0.3, label="held out" if place == 0 else None)
    above.plot(estimated, color=f"C{place}", linewidth=1, label="reconstructed" if place == 0 else None)
    above.plot(points, measured[points], "o", markersize=4, color=f"C{place}")
above.set(ylabel="intensity minus mean")
above.legend(frameon=False)
below.fill_between(np.arange(spectra.shape[1]), reconstructor.column_errors_, color="0.7")
below.plot(points, np.zeros(12), "k|", markersize=14)
below.set(xlabel="point of the spectrum", ylabel="error", ylim=(0, None))
plt.show()
