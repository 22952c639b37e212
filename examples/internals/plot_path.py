"""
The whole path at once: what enters and what leaves
===================================================

How does the selection change with the number of columns? ``dscofs_path`` answers for a whole grid of
counts in a fraction of the time of separate fits, because the inner products of the columns, their
decomposition and the starting points are shared.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from ufselect import dscofs_path
from ufselect.plotting import SelectionPathDisplay

data = load_breast_cancer()
X = scale(data.data)
counts = tuple(range(2, 21, 2))
paths = {
    "default tolerance": dscofs_path(X, counts, ("auto",), n_components=4),
    "settled": dscofs_path(X, counts, ("auto",), n_components=4, tol=1e-9, max_iter=3000),
}

# %%
# Each line is a measurement. Green where it enters as the count grows, orange where it leaves again to
# make room for others. At the default tolerance the path is nested; settled, a selection of ten is not
# always a part of one of twelve.
figure, axes = plt.subplots(1, 2, figsize=(10, 5.5), layout="constrained")
for ax, (title, path) in zip(axes, paths.items(), strict=True):
    SelectionPathDisplay.from_estimator(path, feature_names=data.feature_names, ax=ax)
    ax.set_title(title)
    ax.tick_params(axis="y", labelsize=8)
plt.show()
