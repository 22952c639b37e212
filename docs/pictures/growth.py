import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import quiet

NAMED = {
    "PCA": ("black", "-"),
    "DSCOFS": ("C3", "-"),
    "ReconstructionSelector": ("C2", "-"),
    "AutoSelector": ("C4", "-"),
    "PySensors": ("C1", "--"),
    "fastcan": ("C0", "--"),
    "skmatter CUR": ("C5", "--"),
}

figure, axes = plt.subplots(1, 2, figsize=(8.6, 4), sharey=True, layout="constrained")
for ax, side, fixed in ((axes[0], 0, 100), (axes[1], 1, 1_000)):
    others = {}
    for row in look_up("growth/CPU seconds of a fit"):
        name = row.pop("method")
        points = {
            shape[side]: float(cell)
            for text, cell in row.items()
            if (shape := tuple(int(each.replace(",", "")) for each in text.split(" × ")))[1 - side] == fixed
            and cell
            and ">" not in cell
        }
        if name in NAMED:
            color, line = NAMED[name]
            ax.loglog(points.keys(), points.values(), line, color=color, lw=2, label=name)
        else:
            for size, seconds in points.items():
                others.setdefault(size, []).append(seconds)
    sizes = sorted(others)
    low, high = ([choose(others[size]) for size in sizes] for choose in (min, max))
    ax.fill_between(sizes, low, high, color="0.9", label="all other selectors", zorder=0)
    quiet(ax)
axes[0].set(xlabel="rows (100 columns)", ylabel="CPU seconds of a fit")
axes[1].set(xlabel="columns (1,000 rows)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
