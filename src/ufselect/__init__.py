"""Unsupervised feature selection: keep the few columns that carry a table's structure, without labels."""

from ufselect.auto import AutoSelector, GraphClustering, PartitionSelector
from ufselect.selectors import (
    DSCOFS,
    FSPCA,
    RNE,
    SOGFS,
    SPCAFS,
    SPCAPSD,
    TSFS,
    UDFS,
    ConstrainedDSCOFS,
    DOptimalLeverage,
    DSCOFSPath,
    GreedyProjection,
    LaplacianScore,
    MaxVariance,
    PCALeverage,
    RandomSubset,
    dscofs_path,
)
from ufselect.selectors.base import Fitted, GramSelector, UnsupervisedSelector

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
    "ConstrainedDSCOFS",
    "DOptimalLeverage",
    "DSCOFSPath",
    "Fitted",
    "GramSelector",
    "GraphClustering",
    "GreedyProjection",
    "LaplacianScore",
    "MaxVariance",
    "PCALeverage",
    "PartitionSelector",
    "RandomSubset",
    "UnsupervisedSelector",
    "__version__",
    "dscofs_path",
]
