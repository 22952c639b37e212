"""Unsupervised feature selection: keep the few columns that carry a table's structure, without labels."""

from ufselect.auto import AutoSelector
from ufselect.selectors import (
    DSCOFS,
    FSPCA,
    RNE,
    SOGFS,
    SPCAFS,
    SPCAPSD,
    TSFS,
    UDFS,
    DOptimalLeverage,
    GreedyProjection,
    LaplacianScore,
    MaxVariance,
    PCALeverage,
    RandomSubset,
    RebuildSelector,
    Reconstructor,
    dscofs_path,
)

__version__ = "0.1.0"

__all__ = [
    "DSCOFS",
    "FSPCA",
    "RNE",
    "SOGFS",
    "SPCAFS",
    "SPCAPSD",
    "TSFS",
    "UDFS",
    "AutoSelector",
    "DOptimalLeverage",
    "GreedyProjection",
    "LaplacianScore",
    "MaxVariance",
    "PCALeverage",
    "RandomSubset",
    "RebuildSelector",
    "Reconstructor",
    "__version__",
    "dscofs_path",
]
