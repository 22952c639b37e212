import matplotlib.pyplot as plt
from figures import look_up, number

from ufselect.plotting.style import COLOURS, quiet

LABELS = {
    "in memory": "ufselect",
    "outside memory": "ufselect, outside memory",
    "5 nearest neighbours": "5 nearest neighbours first",
    "median imputation": "medians first",
}
rows = look_up("missing_values/usps, the held-out set")
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for ax, pattern in zip(axes, ("at random", "in blocks"), strict=True):
    of_pattern = [row for row in rows if row["missing"] == pattern]
    for (key, label), color in zip(LABELS.items(), (*COLOURS[:2], "0.5", "0.75"), strict=True):
        ax.plot(
            [row["share"] for row in of_pattern],
            [number(row[key]) for row in of_pattern],
            "o-",
            color=color,
            label=label,
        )
    ax.set(title=f"missing {pattern}", xlabel="missing values", ylim=(40, 100))
    quiet(ax)
axes[0].set_ylabel("columns as without missing values, %")
axes[0].legend(loc="lower left", frameon=False, fontsize=9)
