import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import quiet

CRITICAL_DIFFERENCE = 3.97  # Nemenyi, eight methods, seven sets, level 0.05
ranks = sorted((float(row["Rank here"]), row["Method"]) for row in look_up("reproduction/ranks_paper"))
figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
best = ranks[0][0]
ax.axvspan(best, best + CRITICAL_DIFFERENCE, color="C0", alpha=0.12)
for place, (rank, name) in enumerate(ranks):
    ax.plot(rank, place, "o", color="C0" if name == "DSCOFS" else "0.5")
    ax.annotate(
        f"{name} {rank:.2f}", (rank, place), (8, 0), textcoords="offset points", va="center", fontsize=8
    )
ax.set(xlim=(1, 8), yticks=[], ylim=(len(ranks) - 0.5, -0.5), xlabel="average rank by ACC, seven sets")
quiet(ax)
