import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import COLOURS, quiet

MARKERS = "s^DvPX*o"
tables = {metric: look_up(f"reproduction/curves_{metric.lower()}") for metric in ("ACC", "NMI")}
sets = list(dict.fromkeys(row["Data set"] for row in tables["ACC"]))
figure, axes = plt.subplots(
    len(sets), 2, figsize=(8, 2.3 * len(sets) + 0.6), layout="constrained", sharex=True, squeeze=False
)
for column, (metric, rows) in enumerate(tables.items()):
    for ax, name in zip(axes[:, column], sets, strict=True):
        place = 0
        for row in (row for row in rows if row["Data set"] == name):
            counts = [int(key) for key in row if key.isdigit()]
            values = [float(row[str(count)]) for count in counts]
            if row["Method"] == "All features":
                ax.axhline(values[0], color="0.35", linestyle="--", linewidth=1, label="all columns")
                continue
            is_ours = row["Method"] == "DSCOFS"
            look = {"color": "black", "linewidth": 2} if is_ours else {"color": COLOURS[place % len(COLOURS)]}
            ax.plot(
                counts,
                values,
                marker=MARKERS[place % len(MARKERS)],
                markersize=4,
                label=row["Method"],
                **look,
            )
            place += 1
        ax.set_title(f"{name}, {metric}", fontsize=9)
        quiet(ax)
for ax in axes[-1]:
    ax.set_xlabel("number of columns")
handles, labels = axes[0, 0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
