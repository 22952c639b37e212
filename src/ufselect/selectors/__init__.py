"""The selectors: one method per file."""

from ufselect.selectors.baselines import MaxVariance, PCALeverage, RandomSubset
from ufselect.selectors.constrained_dscofs import ConstrainedDSCOFS
from ufselect.selectors.d_optimal import DOptimalLeverage
from ufselect.selectors.dscofs import DSCOFS
from ufselect.selectors.fspca import FSPCA
from ufselect.selectors.greedy import GreedyProjection
from ufselect.selectors.laplacian_score import LaplacianScore
from ufselect.selectors.path import DSCOFSPath, dscofs_path
from ufselect.selectors.rebuild import RebuildSelector
from ufselect.selectors.reconstructor import Reconstructor
from ufselect.selectors.rne import RNE
from ufselect.selectors.sogfs import SOGFS
from ufselect.selectors.spcafs import SPCAFS
from ufselect.selectors.spcapsd import SPCAPSD
from ufselect.selectors.tsfs import TSFS
from ufselect.selectors.udfs import UDFS

__all__ = [
    "DSCOFS",
    "FSPCA",
    "RNE",
    "SOGFS",
    "SPCAFS",
    "SPCAPSD",
    "TSFS",
    "UDFS",
    "ConstrainedDSCOFS",
    "DOptimalLeverage",
    "DSCOFSPath",
    "GreedyProjection",
    "LaplacianScore",
    "MaxVariance",
    "PCALeverage",
    "RandomSubset",
    "RebuildSelector",
    "Reconstructor",
    "dscofs_path",
]
