"""Select a small, informative subset of columns from unlabelled data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ufselect._registry import PUBLIC

if TYPE_CHECKING:  # for editors and type checkers, which cannot follow the names of the registry
    from ufselect._registry import register as register
    from ufselect.assessment.held_out import Assessment as Assessment
    from ufselect.assessment.held_out import assess as assess
    from ufselect.assessment.stable_selector import StableSelector as StableSelector
    from ufselect.auto import AutoSelector as AutoSelector
    from ufselect.base import GramSelector as GramSelector
    from ufselect.base import UnsupervisedSelector as UnsupervisedSelector
    from ufselect.clusters import GraphClustering as GraphClustering
    from ufselect.dscofs.constrained import ConstrainedDSCOFS as ConstrainedDSCOFS
    from ufselect.dscofs.estimator import DSCOFS as DSCOFS
    from ufselect.dscofs.path import DSCOFSPath as DSCOFSPath
    from ufselect.dscofs.path import dscofs_path as dscofs_path
    from ufselect.gram import gram_from_covariance as gram_from_covariance
    from ufselect.published.baselines import MaxVariance as MaxVariance
    from ufselect.published.baselines import PCALeverage as PCALeverage
    from ufselect.published.baselines import RandomSubset as RandomSubset
    from ufselect.published.bsufs import BSUFS as BSUFS
    from ufselect.published.fspca import FSPCA as FSPCA
    from ufselect.published.ifpca import IFPCA as IFPCA
    from ufselect.published.inffs import InfFS as InfFS
    from ufselect.published.laplacian_score import LaplacianScore as LaplacianScore
    from ufselect.published.mcfs import MCFS as MCFS
    from ufselect.published.ndfs import NDFS as NDFS
    from ufselect.published.ndfs import RUFS as RUFS
    from ufselect.published.rne import RNE as RNE
    from ufselect.published.sogfs import SOGFS as SOGFS
    from ufselect.published.spcafs import SPCAFS as SPCAFS
    from ufselect.published.spcapsd import SPCAPSD as SPCAPSD
    from ufselect.published.spec import SPEC as SPEC
    from ufselect.published.tsfs import TSFS as TSFS
    from ufselect.published.udfs import UDFS as UDFS
    from ufselect.reconstruct.greedy import DOptimalLeverage as DOptimalLeverage
    from ufselect.reconstruct.greedy import GreedyProjection as GreedyProjection
    from ufselect.reconstruct.reconstructor import Reconstructor as Reconstructor
    from ufselect.reconstruct.selector import ReconstructionSelector as ReconstructionSelector
    from ufselect.redundancy import RedundancyFilter as RedundancyFilter

__version__ = "0.1.0"
__all__ = [*sorted(PUBLIC), "__version__"]

_ROOMS = frozenset(
    [
        "anndata",
        "compare",
        "datasets",
        "exceptions",
        "gram",
        "io",
        "metrics",
        "pipeline",
        "plotting",
        "preprocessing",
        "report",
    ]
)


def __getattr__(name: str) -> Any:
    """Import a name on first use: scikit-learn takes two seconds, for which ``--help`` should not wait."""
    if name in _ROOMS:
        return import_module(f"ufselect.{name}")
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    if name.endswith("Display"):
        return getattr(import_module("ufselect.plotting"), name)
    raise AttributeError(f"module 'ufselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
