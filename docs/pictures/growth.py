import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import quiet

NAMED = {"PCA": "black", "DSCOFS": "C3", "ReconstructionSelector": "C2", "AutoSelector": "C4"}
OTHERS = {"Gram": ("C0", "-"), "rows": ("0.7", "-"), "": ("C1", "--")}  # by what a selector works on
LABELS = {"Gram": "others, by the Gram matrix", "rows": "others, by the rows", "": "other libraries"}

works_on = {row["method"]: row["works on"] for row in look_up("growth/Growth")}
figure, axes = plt.subplots(1, 2, figsize=(8.6, 4.2), sharey=True, layout="constrained")
for row in look_up("growth/CPU seconds of a fit"):
    name = row.pop("method")
    seconds = {
        tuple(int(side.replace(",", "")) for side in shape.split(" × ")): float(cell)
        for shape, cell in row.items()
        if cell and ">" not in cell
    }
    color, line = (NAMED[name], "-") if name in NAMED else OTHERS[works_on.get(name, "")]
    for ax, side, fixed in ((axes[0], 0, 100), (axes[1], 1, 1_000)):
        points = sorted((shape[side], value) for shape, value in seconds.items() if shape[1 - side] == fixed)
        if points:
            width, order = (2.5, 3) if name in NAMED else (0.8, 2)
            ax.loglog(*zip(*points, strict=True), line, color=color, lw=width, zorder=order)
axes[0].set(xlabel="rows (100 columns)", ylabel="CPU seconds of a fit")
axes[1].set(xlabel="columns (1,000 rows)")
for name, color in NAMED.items():
    axes[0].plot([], [], color=color, lw=2.5, label=name)
for kind, (color, line) in OTHERS.items():
    axes[0].plot([], [], line, color=color, lw=0.8, label=LABELS[kind])
figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
for ax in axes:
    quiet(ax)
