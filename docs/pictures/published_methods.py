import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import COLOURS, quiet

rows = look_up("methods/Methods")[::-1]
figure, ax = plt.subplots(figsize=(7, 0.28 * len(rows) + 1), layout="constrained")
ax.axvline(50, color="#333333", linewidth=1)
for kind, colour, marker in zip(("images", "genes", "other"), COLOURS, "os^", strict=False):
    ax.scatter([float(row[kind]) for row in rows], range(len(rows)), color=colour, marker=marker, label=kind)
ax.set_yticks(range(len(rows)), [row["method"] for row in rows])
for label in ax.get_yticklabels():
    label.set_fontweight("bold" if label.get_text() == "DSCOFS" else "normal")
ax.set_xlim(0, 100)
ax.set_xlabel("random selections of the same size with a lower ACC, per cent")
ax.grid(axis="y", color="#dddddd", linewidth=0.5)
ax.set_axisbelow(True)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
quiet(ax)
