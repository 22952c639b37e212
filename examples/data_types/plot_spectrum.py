"""
A spectrum: columns that clump, columns that spread
===================================================

Neighbouring wavelengths carry the same peak. A method that scores each wavelength by itself takes
several neighbours from one peak and none from another; one that asks what a wavelength adds to those
already chosen spreads over all of them.
"""

# %%
# Two hundred spectra of six substances at 150 wavelengths, one of them far stronger than the others.
import matplotlib.pyplot as plt
import numpy as np

from ufselect import PCALeverage, RandomSubset, RebuildSelector, Reconstructor

rng = np.random.default_rng(1)
wavelengths = np.linspace(400, 700, 150)
centres = np.array([430, 480, 530, 570, 620, 665])
bands = np.exp(-(((wavelengths - centres[:, None]) / np.array([[14, 10, 22, 9, 12, 10]]).T) ** 2))
strength = np.array([0.6, 0.5, 3.0, 0.5, 0.7, 0.4])
spectra = rng.gamma(2.0, 0.5, (200, 6)) * strength @ bands + 0.02 * rng.standard_normal((200, 150))
train, test = spectra[:140], spectra[140:]

counts = [4, 6, 8, 10, 12]
makers = {
    "PCA leverage": lambda count: PCALeverage(count, n_components=6),
    "RebuildSelector": RebuildSelector,
    "RebuildSelector, 20 nm apart": lambda count: RebuildSelector(
        count, positions=wavelengths.reshape(-1, 1), min_distance=20
    ),
}


def error(selector):
    """Return the error of rebuilding new spectra, in units of that of the mean spectrum."""
    return np.sqrt(1 - Reconstructor(selector).fit(train).score(test))


blind = [[error(RandomSubset(count, random_state=seed)) for count in counts] for seed in range(20)]

# %%
# Left, eight wavelengths by each method, below the mean spectrum. Right, the error on new spectra
# against the number of wavelengths; the band holds the middle half of twenty random choices.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=[3, 2])
left.fill_between(wavelengths, spectra.mean(axis=0), color="#E3E6EA")
for place, (name, make) in enumerate(makers.items()):
    chosen = wavelengths[make(8).fit(train).support_]
    left.plot(chosen, np.full(chosen.size, -0.3 - 0.3 * place), "o", color=f"C{place}", label=name)
    right.plot(counts, [error(make(count)) for count in counts], marker="o", color=f"C{place}")
left.set(xlabel="wavelength, nm", yticks=[])
left.spines[["left", "top", "right"]].set_visible(False)
left.legend(fontsize=8, loc="upper left")
low, high = np.quantile(blind, [0.25, 0.75], axis=0)
right.fill_between(counts, low, high, color="#BBBBBB", alpha=0.6, label="random, middle half of 20")
right.set(xlabel="wavelengths", ylabel="error on new spectra", yscale="log")
right.legend(fontsize=8)
plt.show()
