"""
Remove correlated features
==========================

Many of the thirty measurements of a tumour are redundant: radius, perimeter and area are nearly functions of
each other. :class:`~ufselect.RedundancyFilter` selects columns so that every dropped one is correlated above
a threshold with a selected one, while no two selected ones are.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from ufselect import RedundancyFilter

tumours = load_breast_cancer(as_frame=True).data
redundancy = RedundancyFilter(max_correlation=0.9).set_output(transform="pandas")
selected = redundancy.fit_transform(tumours)
for dropped, (name, correlation) in redundancy.represented_by_.items():
    print(f"{dropped} is represented by {name} ({correlation:.2f})")

# %%
# The absolute correlations before and after: the dark blocks are gone.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, table in zip(axes, (tumours, selected), strict=True):
    image = ax.imshow(table.corr().abs(), cmap="Blues", vmin=0, vmax=1)
    ax.set_yticks(range(table.shape[1]), table.columns, fontsize=7)
    ax.set_xticks([])
    ax.set_title(f"{table.shape[1]} columns")
figure.colorbar(image, ax=axes, label="absolute correlation", shrink=0.7)
plt.show()
