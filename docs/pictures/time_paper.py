import matplotlib.pyplot as plt
from figures import look_up

from ufselect.plotting.style import quiet

figure, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
for row in look_up("reproduction/time"):
    seconds, accuracy = float(row["CPU seconds"]), float(row["ACC"])
    ax.semilogx(seconds, accuracy, "o", color="C0" if row["Method"] == "DSCOFS" else "0.5")
    ax.annotate(row["Method"], (seconds, accuracy), (6, 3), textcoords="offset points", fontsize=8)
ax.margins(x=0.2, y=0.1)
ax.set(xlabel="CPU seconds of one fit, one thread", ylabel="ACC on Isolet, per cent")
quiet(ax)
