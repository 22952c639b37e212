import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from ufselect import RandomSubset, ReconstructionSelector, Reconstructor
from ufselect.plotting.style import COLOURS, quiet

warnings.simplefilter("ignore")  # neighbouring wavelengths repeat each other
rng = np.random.default_rng(0)
grid = np.linspace(0, 1, 120)  # the spectra of the page
bands = np.exp(-((grid - rng.random((6, 1))) ** 2) / 0.01)
spectra = rng.random((200, 6)) @ bands + 0.01 * rng.standard_normal((200, 120))
enough = ReconstructionSelector("auto").fit(spectra).support_.sum()
train, test = spectra[:140], spectra[140:]
counts = [*range(2, 10), 11, 13, 16, 20]


def unknown(columns):
    """Return the share of the variance that some columns do not explain, in per cent."""
    return 100 * (1 - Reconstructor(columns, "ridge").fit(train).score(test))


def unknown_from_components(count):
    model = PCA(count).fit(train)
    left = test - model.inverse_transform(model.transform(test))
    return 100 * np.sum(left**2) / np.sum((test - train.mean(axis=0)) ** 2)


figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.plot(
    counts,
    [unknown_from_components(each) for each in counts],
    "--",
    color="0.3",
    label="principal components",
)
ax.plot(
    counts,
    [unknown(ReconstructionSelector(each)) for each in counts],
    "o-",
    color=COLOURS[0],
    label="selected",
)
random = [np.mean([unknown(RandomSubset(each, random_state=seed)) for seed in range(10)]) for each in counts]
ax.plot(counts, random, "o-", color="0.6", label="random columns")
ax.axvline(enough, color=COLOURS[1], lw=1, zorder=0)
ax.annotate(f'"auto": {enough}', (enough, 10), xytext=(5, 0), textcoords="offset points", color=COLOURS[1])
ax.set(xlabel="columns", ylabel="variance not explained, %", yscale="log", xticks=range(2, 21, 2))
ax.yaxis.set_major_formatter("{x:g}")
ax.legend(loc="upper right", frameon=False)
quiet(ax)
