import matplotlib.pyplot as plt
import numpy as np

from ufselect import DSCOFS, StableSelector
from ufselect.plotting.style import COLOURS, quiet

rng = np.random.default_rng(0)  # the table of the page
X = rng.standard_normal((120, 60))
X[:, :6] += 2 * rng.standard_normal((120, 1))
stable = StableSelector(DSCOFS(10), random_state=0).fit(X)
order = np.argsort(-stable.frequencies_)
colours = np.where(stable.support_[order], COLOURS[0], "0.75")

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.bar(range(60), stable.frequencies_[order], color=colours, width=0.8)
ax.axhline(stable.error_bound_.threshold, color=COLOURS[1])
ax.text(59.5, stable.error_bound_.threshold + 0.02, "threshold", ha="right", color=COLOURS[1])
ax.set(xlabel="60 columns, by frequency", ylabel="share of fits that select it", ylim=(0, 1.05), xticks=[])
quiet(ax)
