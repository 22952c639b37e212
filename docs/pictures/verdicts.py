import matplotlib.pyplot as plt
from figures import look_up, number

from ufselect.plotting.style import COLOURS, quiet

figure, axes = plt.subplots(1, 2, figsize=(9, 5.6), layout="constrained")
for ax, goal, title in zip(axes, ("clusters", "reconstruct"), ("clusters", "reconstruction"), strict=True):
    names = []
    for structure, colour in (("with", COLOURS[0]), ("without", "0.5")):
        for row in look_up("calibration/" + f"{goal}, {structure} structure"):
            ax.scatter(number(row["yes"]), len(names), color=colour, s=30)
            names.append(row["data"])
        ax.scatter([], [], color=colour, label=f"{structure} structure")
    ax.set_yticks(range(len(names)), names, size=8)
    ax.invert_yaxis()
    ax.set_xlim(-4, 104)
    ax.set_title(title, size=11)
    ax.set_xlabel('tables with a "yes", per cent')
    ax.grid(axis="y", color="#dddddd", linewidth=0.5)
    ax.set_axisbelow(True)
    quiet(ax)
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
