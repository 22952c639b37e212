import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import COLOURS, quiet

# Which dots have their name beside them, and where, in points
NAMED = {
    "ReconstructionSelector": (5, 3), "GreedyProjection": (5, 3), "TSFS": (5, 3), "MCFS": (5, 3),
    "NDFS": (5, 4), "DOptimalLeverage": (5, -9), "RUFS": (-28, -10), "MaxVariance": (5, 3),
    "DSCOFS": (-12, 6), "RNE": (5, 3), "UDFS": (5, 3),
    "IFPCA": (5, 3), "SOGFS": (5, 3),
}  # fmt: skip
figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
ax.axhline(50, color="#333333", linewidth=1)
ax.axvline(50, color="#333333", linewidth=1)
for row in look_up("methods/Methods"):
    name, place = row["method"], (float(row["held-out sets"]), float(row["reconstruction"]))
    colour = COLOURS[0] if name in {"ReconstructionSelector", "DSCOFS"} else "0.4"
    ax.scatter(*place, color=colour, s=22)
    if name in NAMED:
        ax.annotate(name, place, NAMED[name], textcoords="offset points", size=9, color=colour)
ax.set_xlim(25, 78)
ax.set_xlabel("clusters: random column sets beaten on held-out sets, per cent (± 7)")
ax.set_ylabel("reconstruction: random column sets beaten, per cent")
quiet(ax)
