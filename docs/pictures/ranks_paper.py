import matplotlib.pyplot as plt
import numpy as np
from figures import look_up
from scipy.stats import studentized_range

from ufselect.plotting.style import quiet

ranks = sorted((float(row["Rank here"]), row["Method"]) for row in look_up("reproduction/ranks_paper"))
k = len(ranks)
critical_difference = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * 7))
figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
best = ranks[0][0]
ax.axvspan(best, best + critical_difference, color="C0", alpha=0.12)
for place, (rank, name) in enumerate(ranks):
    ax.plot(rank, place, "o", color="C0" if name == "DSCOFS" else "0.5")
    ax.annotate(
        f"{name} {rank:.2f}", (rank, place), (8, 0), textcoords="offset points", va="center", fontsize=8
    )
ax.set(xlim=(1, 8), yticks=[], ylim=(len(ranks) - 0.5, -0.5), xlabel="average rank by ACC, seven sets")
quiet(ax)
