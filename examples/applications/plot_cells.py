"""
Select a gene panel from single-cell data
=========================================

Which 50 of 765 genes predict the others, and do they show the types of blood cells, if nobody has annotated
them yet? The 700 cells ``pbmc68k_reduced`` come with scanpy. The annotated cell types are used at the end
only, to score the panels.
"""

# %%
# ``ufselect.anndata.select`` writes its selection into the AnnData object, as scanpy's functions do.
import warnings

import matplotlib.pyplot as plt
import numpy as np
import scanpy

import ufselect
from ufselect import DSCOFS, ReconstructionSelector
from ufselect.metrics import evaluate_selection

warnings.filterwarnings("ignore", category=FutureWarning)
cells = scanpy.datasets.pbmc68k_reduced().raw.to_adata()  # logarithms of normalised counts, sparse
ufselect.anndata.select(cells, ReconstructionSelector(50))
print("first genes:", *cells.var.sort_values("rank").index[:10])

# %%
# Other panels of 50 genes: by DSCOFS, by normalised dispersion as scanpy computes it (its better flavour on
# these cells), and 20 sets of random genes.
X = cells.X.toarray()
scanpy.pp.highly_variable_genes(cells, n_top_genes=50, flavor="cell_ranger")
panels = {
    "all 765 genes": np.ones(765, dtype=bool),
    "ReconstructionSelector": cells.var["selected"].to_numpy(),
    "DSCOFS": DSCOFS(50).fit(X).support_,
    "scanpy, dispersion": cells.var["highly_variable"].to_numpy(),
}


def agreement(genes):
    """Return the agreement (NMI) of K-means on some genes with the annotated cell types, in per cent."""
    return evaluate_selection(X, cells.obs["bulk_labels"].to_numpy(), genes, n_runs=10).nmi_mean


agreements = {name: agreement(genes) for name, genes in panels.items()}
rng = np.random.default_rng(0)
random_genes = [agreement(rng.choice(765, 50, replace=False)) for _ in range(20)]
for name, nmi in agreements.items():
    print(f"{name}: {nmi:.0f} %")
print(f"random genes: {np.mean(random_genes):.0f} ± {np.std(random_genes):.0f} %")

# %%
# All three panels show the cell types about as well as all genes do, and better than random genes.
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.axvspan(min(random_genes), max(random_genes), color="0.88")
ax.text(np.mean(random_genes), 1.5, "20 sets of\nrandom genes", ha="center", va="center")
ax.plot(list(agreements.values()), list(agreements), "o", markersize=9)
ax.margins(y=0.12)
ax.invert_yaxis()
ax.set_xlabel("agreement of K-means with cell types (NMI), %")
plt.show()
