import matplotlib.pyplot as plt
from figures import look_up, number

from ufselect.plotting.style import COLOURS, quiet

rows = [row for row in look_up("applications/cells") if "all" not in row["columns by"]][::-1]
figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained", sharey=True)
for ax, key, label in zip(
    axes,
    ("reconstructed", "K-means NMI"),
    ("variance of all genes\nreconstructed, per cent", "agreement with cell types\n(NMI), per cent"),
    strict=True,
):
    for place, row in enumerate(rows):
        random = row["columns by"].startswith("random")
        ax.scatter(number(row[key]), place, color="0.5" if random else COLOURS[0], s=40)
    ax.set_xlabel(label)
    ax.grid(axis="y", color="#dddddd", linewidth=0.5)
    ax.set_axisbelow(True)
    quiet(ax)
axes[0].set_yticks(range(len(rows)), [row["columns by"] for row in rows])
