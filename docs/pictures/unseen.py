import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import COLOURS, quiet

rows = sorted(look_up("unseen/Sets"), key=lambda row: float(row["random columns"]))
places = range(len(rows))
figure, ax = plt.subplots(figsize=(7, 0.27 * len(rows) + 1), layout="constrained")
for place, row in enumerate(rows):
    ends = sorted(float(row[key]) for key in ("random columns", "components"))
    ax.plot(ends, (place, place), color="#dddddd", lw=3, zorder=0)
for key, label, color, marker in (
    ("random columns", "random columns", "0.5", "o"),
    ("selected, linear map", "ReconstructionSelector", COLOURS[0], "D"),
    ("components", "principal components of all columns", COLOURS[1], "|"),
):
    ax.scatter([float(row[key]) for row in rows], places, color=color, marker=marker, label=label, s=45)
ax.set_yticks(places, [row["set"].replace("_", " ") for row in rows])
ax.set_xlim(25, 101)
ax.set_xlabel("variance of all columns explained on held-out rows, per cent")
ax.legend(loc="lower right", frameon=False)
quiet(ax)
