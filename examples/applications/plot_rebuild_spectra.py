"""
Rebuild spectra from 12 wavelengths
===================================

60 infrared spectra of coffee from three countries, measured at 1841 points. Could an instrument that measures
12 of them say as much? Filters cannot lie side by side, so the 12 are at least 50 points apart. The spectra
come with the package chemotools.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from chemotools.datasets import load_coffee

from ufselect import RebuildSelector, Reconstructor
from ufselect.plotting import ReconstructionDisplay

spectra = load_coffee()[0].to_numpy()
points = np.arange(spectra.shape[1])
is_new = points[: len(spectra)] % 3 == 0
train, test = spectra[~is_new], spectra[is_new]
reconstructor = Reconstructor(RebuildSelector(n_features_to_select=12, min_distance=50)).fit(train)
chosen = np.flatnonzero(reconstructor.support_)
print(f"{chosen.size} of {points.size} points, at least {np.diff(chosen).min()} apart")
print(f"{reconstructor.score(test):.2%} of the variance of new spectra comes back")

# %%
# Four new spectra, less the mean of all, so that their differences can be seen; the same rebuilt from the 12
# points; and below the error of each point in units of its standard deviation.
rebuilt = reconstructor.inverse_transform(reconstructor.transform(test))
figure, (above, below) = plt.subplots(
    2, 1, figsize=(8, 5), sharex=True, layout="constrained", height_ratios=[3, 1]
)
for place, row in enumerate((0, 6, 12, 18)):
    above.plot(test[row] - reconstructor.mean_, color=f"C{place}", linewidth=4, alpha=0.3)
    above.plot(rebuilt[row] - reconstructor.mean_, color=f"C{place}", linewidth=1)
    above.plot(chosen, (test[row] - reconstructor.mean_)[chosen], ".", color=f"C{place}")
above.set(ylabel="less the mean", title="pale: the whole new spectrum; thin: rebuilt from 12 points of it")
below.fill_between(points, reconstructor.column_errors_, color="0.6")
below.plot(chosen, np.zeros(chosen.size), "k|", markersize=14)
below.set(xlabel="point of the spectrum; marks: measured", ylabel="error", ylim=(0, None))

# %%
# The error against the number of points, beside random points and as many principal components, which need
# the whole spectrum.
display = ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)
display.ax_.set(ylim=(1e-2, 1), yscale="log")
plt.show()
