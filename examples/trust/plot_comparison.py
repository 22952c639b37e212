"""
Comparing selections honestly
=============================

Whether a selection is good depends on what it is for. For clustering, run K-means on the kept features
many times and compare with the known classes, next to all features, random subsets and plain PCA
leverage. The labels are used for scoring only.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import DSCOFS, MaxVariance, PCALeverage, RandomSubset
from ufselect.metrics import evaluate_selection

X, y = load_digits(return_X_y=True)
X, y = X[:800], y[:800]
selectors = {
    "DSCOFS": DSCOFS(20, n_components=10),
    "PCA leverage": PCALeverage(20, n_components=10),
    "Max variance": MaxVariance(20),
    "Random": RandomSubset(20, random_state=0),
}
records = {"All features": evaluate_selection(X, y, np.arange(64), n_runs=20)}
for name, selector in selectors.items():
    records[name] = evaluate_selection(X, y, np.flatnonzero(selector.fit(X).support_), n_runs=20)
for name, record in records.items():
    print(f"{name:13s} ACC {record.acc_mean:.1f} ± {record.acc_std:.1f}   NMI {record.nmi_mean:.1f}")

# %%
# One seed proves little: the spread over K-means runs is part of the result.
figure, axes = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
names = list(records)
axes.bar(
    names,
    [records[name].acc_mean for name in names],
    yerr=[records[name].acc_std for name in names],
    color=["#999999", "#0072B2", "#56B4E9", "#E69F00", "#BBBBBB"],
    capsize=4,
)
axes.set_ylabel("clustering accuracy, %")
axes.tick_params(axis="x", rotation=20)
plt.show()
