"""
Compare feature selection methods with random columns
=====================================================

How well do 20 of 64 pixels, selected without labels, show the ten digits? K-means runs on the selected
columns, and its clusters are compared with the classes, as are those from all columns and from random
columns. Labels are used for scoring only.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import DSCOFS, AutoSelector, LaplacianScore, PCALeverage, RandomSubset, ReconstructionSelector
from ufselect.metrics import evaluate_selection

X, y = load_digits(return_X_y=True)
selectors = {
    "AutoSelector": AutoSelector(20, goal="clusters", n_clusters=10, random_state=0),
    "ReconstructionSelector": ReconstructionSelector(20),
    "DSCOFS": DSCOFS(20, n_components=10),
    "PCALeverage": PCALeverage(20, n_components=10),
    "LaplacianScore": LaplacianScore(20),
}
scores = {name: evaluate_selection(X, y, selector.fit(X).support_) for name, selector in selectors.items()}
scores["all columns"] = evaluate_selection(X, y, np.ones(64, dtype=bool))
random_accuracies = [
    evaluate_selection(X, y, RandomSubset(20, random_state=seed).fit(X).support_, n_runs=10).acc_mean
    for seed in range(40)
]
for name, result in scores.items():
    beaten = np.mean(np.array(random_accuracies) < result.acc_mean)
    print(
        f"{name}: {result.acc_mean:.0f} ± {result.acc_std:.0f} %, better than {beaten:.0%} of random columns"
    )

# %%
# Bars are standard deviations over runs of K-means. All selections are better than nearly all random columns,
# and about as good as all columns; the differences between them are within the spread. One data set says
# little about a method: :doc:`over many sets </methods/published>` DSCOFS is in the middle of the field, and
# the Laplacian score no better than random columns.
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.plot(random_accuracies, np.full(40, len(scores)), "|", color="0.5", markersize=14)
for place, result in enumerate(scores.values()):
    ax.errorbar(result.acc_mean, place, xerr=result.acc_std, fmt="o", color="C0", capsize=3)
ax.set_yticks(range(len(scores) + 1), [*scores, "random columns, 40 sets"])
ax.invert_yaxis()
ax.set_xlabel("clustering accuracy, %")
plt.show()
