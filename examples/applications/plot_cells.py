"""
Fifty genes for blood cells
===========================

Which 50 genes of 765 tell the cells of blood apart, if nobody has named the cells yet? The data come with
scanpy: ``pbmc68k_reduced``, 700 cells. ``ufselect.anndata.select`` takes an AnnData object and writes its
choice into it, as scanpy's functions do. The names of the cell types are used at the end alone, to see how
well it went.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
import scanpy

import ufselect
from ufselect import AutoSelector, PCALeverage, RebuildSelector
from ufselect.metrics import evaluate_selection, neighbours_kept

warnings.filterwarnings("ignore", category=FutureWarning)
given = scanpy.datasets.pbmc68k_reduced()
cells = given.raw.to_adata()  # logarithms of normalised counts, sparse; the file's X is scaled by gene
cells.obsm["X_umap"] = given.obsm["X_umap"]

ufselect.anndata.select(cells, AutoSelector(50, random_state=0))
print(cells.uns["ufselect"]["verdict"])
print("first genes:", *cells.var.sort_values("rank").index[:10])

# %%
# Beside it: the genes of largest normalised dispersion, which most analyses take, those of PCA leverage,
# and random genes. K-means runs 50 times on each choice.
X = cells.X.toarray()
types = cells.obs["bulk_labels"].to_numpy()
scanpy.pp.highly_variable_genes(cells, n_top_genes=50)
choices = {
    "all 765 genes": np.ones(765, dtype=bool),
    "PCA leverage": PCALeverage(50).fit(X).support_,
    "scanpy, dispersion": cells.var["highly_variable"].to_numpy(),
    "RebuildSelector": RebuildSelector(50).fit(X).support_,
    "AutoSelector": cells.var["selected"].to_numpy(),
}
colours = ["0.3", "#E69F00", "#D55E00", "#56B4E9", "#0072B2"]


def judged(support):
    """Return how well K-means finds the cell types (NMI), and the share of neighbours kept, in per cent."""
    return evaluate_selection(X, types, support).nmi_mean, 100 * neighbours_kept(X, support)


rng = np.random.default_rng(0)
drawn = np.array([judged(rng.choice(765, 50, replace=False)) for _ in range(20)])
scores = {name: judged(support) for name, support in choices.items()}
for name, (nmi, kept) in scores.items():
    print(f"{name}: NMI {nmi:.1f} %, neighbours kept {kept:.0f} %")

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
for place, (panel, title) in enumerate(
    zip(axes, ("NMI of K-means with cell types, %", "neighbours kept, %"), strict=True)
):
    shown = [(name, scores[name][place], colour) for name, colour in zip(choices, colours, strict=True)]
    shown = [row for row in shown if not (place == 1 and row[0].startswith("all"))]
    panel.axvspan(drawn[:, place].min(), drawn[:, place].max(), color="0.9", label="20 random subsets")
    for name, value, colour in shown:
        panel.plot(value, name, "o", color=colour, markersize=9)
    panel.set_xlabel(title)
axes[1].legend(frameon=False, loc="lower right")

# %%
# Do the genes make sense? The mean of the twelve best in each cell type.
best = cells.var.sort_values("rank").index[:12]
names = sorted(set(types))
means = np.array([X[types == kind][:, cells.var_names.get_indexer(best)].mean(axis=0) for kind in names])
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
image = axes.imshow(means, cmap="viridis", aspect="auto")
axes.set_xticks(range(len(best)), best, rotation=60, ha="right")
axes.set_yticks(range(len(names)), names)
figure.colorbar(image, label="mean of log counts")

# %%
# A panel that exists already is extended, not replaced: ``keep`` names its genes. ``RebuildSelector`` adds
# what the panel does not tell. On cells left out, the share of the variance of all genes that comes back:
panel = ["CD8A", "CD79A", "NKG7", "GNLY", "LYZ", "CST3", "FCER1A"]
order = rng.permutation(700)
train, test = cells[order[200:]].copy(), cells[order[:200]]


def share(chosen):
    """Return the share of the variance of cells left out that comes back, in per cent."""
    given = [cells.var_names.get_loc(gene) for gene in chosen]
    fit = ufselect.Reconstructor(RebuildSelector(len(given), keep=given)).fit(train.X.toarray())
    return 100 * fit.score(test.X.toarray())


ufselect.anndata.select(train, RebuildSelector(50, keep=panel))
extended = train.var_names[train.var["selected"]]
by_dispersion = cells.var["dispersions_norm"].drop(panel).nlargest(43).index
results = {
    "the panel alone": share(panel),
    "panel + dispersion": share([*panel, *by_dispersion]),
    "panel, extended": share(extended),
}
random_genes = [
    share([*panel, *rng.choice(cells.var_names.drop(panel), 43, replace=False)]) for _ in range(10)
]
figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
axes.axvspan(min(random_genes), max(random_genes), color="0.9", label="panel + random, 10 draws")
for (name, value), colour in zip(results.items(), ("0.3", "#D55E00", "#0072B2"), strict=True):
    axes.plot(value, name, "o", color=colour, markersize=9)
    print(f"{name}: {value:.1f} %")
axes.set_xlabel("variance of all genes rebuilt, %")
axes.legend(frameon=False, loc="lower left")
axes.set_ylim(2.6, -0.6)
plt.show()
