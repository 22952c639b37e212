"""The public names, imported when the first of them is used."""

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
    RebuildSelector,
    Reconstructor,
    dscofs_path,
)
from ufselect.selectors.base import Fitted, UnsupervisedSelector
from ufselect.selectors.gram_selector import GramSelector
from ufselect.stability import StableSelector

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
    "RebuildSelector",
    "Reconstructor",
    "StableSelector",
    "UnsupervisedSelector",
    "dscofs_path",
]
