"""
Rebuild cells from 100 genes
============================

A panel for spatial measurements has room for some hundred genes. Which ones let the expression of the others
be told? 700 blood cells with 765 genes, a part of a set of 10x Genomics, come with the package scanpy.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
import scanpy

from ufselect import RebuildSelector, Reconstructor
from ufselect.plotting import ReconstructionDisplay

warnings.filterwarnings("ignore", category=FutureWarning)
# Logarithms of normalised counts, not scaled: a gene counts by how much it varies.
cells = scanpy.datasets.pbmc68k_reduced().raw.to_adata()
expression = cells.X.toarray().astype(float)
genes, types = cells.var_names.to_numpy(), cells.obs["bulk_labels"].to_numpy().astype(str)
is_new = np.arange(len(expression)) % 3 == 0
train, test, test_types = expression[~is_new], expression[is_new], types[is_new]
reconstructor = Reconstructor(RebuildSelector(n_features_to_select=100)).fit(train)
rebuilt = reconstructor.inverse_transform(reconstructor.transform(test))
print(f"{reconstructor.score(test):.0%} of the variance of single new cells comes back")

# %%
# Much of a single cell is noise, which nothing can rebuild. Below is what the cells of a type have in common:
# means over the new cells of each type, less the mean of all, of genes that were not measured. Types that
# differ much from the others come back; the kinds of T cells, which differ little, do not.
hidden = ~reconstructor.support_
names = np.unique(test_types)
means = np.array(
    [
        [(values - train.mean(axis=0))[test_types == name][:, hidden].mean(axis=0) for name in names]
        for values in (test, rebuilt)
    ]
)
agreement = np.corrcoef(means[0].ravel(), means[1].ravel())[0, 1]
print(f"correlation of the means of types, genes that were not measured: {agreement:.2f}")
order = np.argsort(np.argmax(means[0], axis=0))
figure, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for ax, values, title in zip(axes, means, ("measured", "rebuilt from 100 other genes"), strict=True):
    picture = ax.imshow(values[:, order], aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1, interpolation="none")
    ax.set_yticks(range(names.size), names, fontsize=7)
    ax.set_title(title, fontsize=9)
axes[1].set_xlabel("genes that were not measured")
figure.colorbar(picture, ax=axes, label="less the mean")

# %%
# Which genes come back, and which do not: the error of each in units of its standard deviation. Genes at 1
# are rebuilt by their mean.
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.hist(reconstructor.column_errors_[hidden], bins=40, color="0.6")
best = np.argsort(np.where(hidden, reconstructor.column_errors_, np.inf))[:5]
ax.set(xlabel="error of a gene that was not measured", ylabel="genes")
ax.set_title("rebuilt best: " + ", ".join(genes[best]), fontsize=9)

# %%
# The error against the number of genes, beside random panels and as many principal components.
ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train, counts=[5, 10, 20, 40, 70, 100])
plt.show()
