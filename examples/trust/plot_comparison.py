"""
Comparing selections honestly
=============================

Whether a selection is good depends on what it is for. For clusters, run K-means on the kept columns many
times and compare with the known classes, beside all columns and many random subsets. Labels are used for
scoring only.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import DSCOFS, AutoSelector, MaxVariance, PCALeverage, RandomSubset
from ufselect.metrics import evaluate_selection

X, y = load_digits(return_X_y=True)
selectors = {
    "AutoSelector": AutoSelector(20, n_clusters=10, random_state=0),
    "DSCOFS": DSCOFS(20, n_components=10),
    "PCA leverage": PCALeverage(20, n_components=10),
    "Max variance": MaxVariance(20),
}
records = {"All columns": evaluate_selection(X, y, np.arange(64), n_runs=20)}
for name, selector in selectors.items():
    records[name] = evaluate_selection(X, y, np.flatnonzero(selector.fit(X).support_), n_runs=20)
draws = [RandomSubset(20, random_state=seed).fit(X).support_ for seed in range(20)]
blind = [evaluate_selection(X, y, np.flatnonzero(draw), n_runs=5).acc_mean for draw in draws]
for name, record in records.items():
    print(f"{name:13s} ACC {record.acc_mean:.1f} ± {record.acc_std:.1f}   NMI {record.nmi_mean:.1f}")
print(f"random        ACC {np.mean(blind):.1f} ± {np.std(blind):.1f}, the best of 20 draws {max(blind):.1f}")

# %%
# A third of the pixels, chosen without labels, is about as good as all of them, and nineteen of twenty
# random draws are worse. The best of many draws is not: whoever picks it by the labels reports luck.
# Differences between the methods are within the spread of K-means.
figure, axes = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
names = list(records)
low, high = np.quantile(blind, [0.05, 0.95])
axes.axhspan(low, high, color="#BBBBBB", alpha=0.5, label="random: nine of ten draws")
axes.plot(np.full(len(blind), len(names)), blind, "_", color="#666666", markersize=12)
axes.errorbar(
    range(len(names)),
    [records[name].acc_mean for name in names],
    yerr=[records[name].acc_std for name in names],
    fmt="o",
    color="#0072B2",
    capsize=4,
)
axes.set_xticks(range(len(names) + 1), [*names, "random"], rotation=15)
axes.set_ylabel("clustering accuracy, %")
axes.legend(loc="lower left")
plt.show()
