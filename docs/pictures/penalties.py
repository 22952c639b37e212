import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import DSCOFS
from ufselect.plotting.style import COLOURS, quiet

pixels = load_digits().data
default = DSCOFS(20).fit(pixels).support_


def shared(**parameters):
    """Return how many of the 20 columns a fit with other parameters has in common with the default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a share that does not bind
        return (DSCOFS(20, **parameters).fit(pixels).support_ & default).sum()


figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True, layout="constrained")
penalties, shares = np.geomspace(1e-4, 100, 13), (0.02, 0.04, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3)
for ax, name, values, chosen in (
    (axes[0], "mu_row", penalties, 0.01),
    (axes[1], "mu_entry", penalties, 0.1),
    (axes[2], "entry_sparsity", shares, 0.125),
):
    ax.plot(values, [shared(**{name: each}) for each in values], "o-", ms=4, color=COLOURS[0])
    ax.axvline(chosen, color="0.8", zorder=0)
    ax.set(
        xlabel=name,
        ylim=(0, 20.8),
        yticks=(0, 5, 10, 15, 20),
        xscale="linear" if name == "entry_sparsity" else "log",
    )
    quiet(ax)
axes[0].set_ylabel("of 20 columns as by default")
