"""
The whole path at once
======================

How does the selection change with the number of features and the entry sparsity? ``dscofs_path`` answers
for a whole grid in a fraction of the time of separate fits, because the Gram matrix, its decomposition
and the starting points are shared.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from ufselect import dscofs_path
from ufselect.plotting import SelectionPathDisplay

X = load_digits().data
counts = tuple(range(4, 41, 4))
shares = (0.05, 0.1, 0.2, 0.4, 0.8)
path = dscofs_path(X, counts, shares, n_components=10)

# %%
# Each line is a pixel; it is drawn where the pixel belongs to the selection. Most pixels, once chosen,
# stay.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 7.5), layout="constrained")
for axes, share in ((left, 0.05), (right, 0.4)):
    SelectionPathDisplay.from_estimator(path, entry_sparsity=share, ax=axes)
    axes.set_title(f"entry sparsity {share}")
left.set_ylabel("pixel, most often chosen first")
plt.show()
