# ruff: noqa: F401
"""The public names, imported when the first of them is used; ``ufselect.__all__`` lists them."""

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
