"""
DSCOFS: how the selection changes with the number of columns
============================================================

``dscofs_path`` fits a whole grid of counts in a fraction of the time of separate fits, because the Gram
matrix, its decomposition and starting points are shared. Is a small selection always part of a larger one?
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from ufselect import dscofs_path
from ufselect.plotting import SelectionPathDisplay

data = load_breast_cancer()
X = scale(data.data)
counts = range(2, 21, 2)
paths = {
    "default tolerance": dscofs_path(X, counts, ["auto"], n_components=4),
    "tol=1e-9": dscofs_path(X, counts, ["auto"], n_components=4, tol=1e-9, max_iter=3000),
}

# %%
# Green marks a column that enters as the count grows, orange one that leaves again. At the default tolerance
# the selections are nested. Iterated to convergence, three columns leave at 20.
figure, axes = plt.subplots(1, 2, figsize=(10, 5.5), layout="constrained")
for ax, (title, path) in zip(axes, paths.items(), strict=True):
    SelectionPathDisplay.from_estimator(path, feature_names=data.feature_names, ax=ax)
    ax.set_title(title)
    ax.tick_params(axis="y", labelsize=8)
plt.show()
