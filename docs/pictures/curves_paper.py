import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import COLOURS, quiet

MARKERS = "s^DvPX*o"


def curves(metric):
    """Draw a panel for each data set, a line for each method."""
    rows = look_up(f"reproduction/curves_{metric}")
    sets = list(dict.fromkeys(row["Data set"] for row in rows))
    figure, axes = plt.subplots(-(-len(sets) // 2), 2, figsize=(8, 9.5), layout="constrained", sharex=True)
    for ax, name in zip(axes.flat, sets, strict=False):
        methods = [row for row in rows if row["Data set"] == name]
        everything = next(row for row in methods if row["Method"] == "All features")
        ax.axhline(float(everything["100"]), color="0.35", linestyle="--", linewidth=1, label="all columns")
        methods.remove(everything)
        for place, row in enumerate(methods):
            counts = [int(key) for key in row if key.isdigit()]
            is_ours = row["Method"] == "DSCOFS"
            look = {"color": "black", "linewidth": 2} if is_ours else {"color": COLOURS[place % len(COLOURS)]}
            values = [float(row[str(count)]) for count in counts]
            ax.plot(counts, values, marker=MARKERS[place], markersize=4, label=row["Method"], **look)
        ax.set_title(f"{name}, {metric.upper()}", fontsize=9)
        quiet(ax)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    for ax in axes.flat[len(sets) :]:
        ax.axis("off")
    for ax in axes.flat[len(sets) - 2 : len(sets)]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("number of columns")
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)


def accuracy():
    curves("acc")


def mutual_information():
    curves("nmi")
