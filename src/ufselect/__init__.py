"""Select a small, informative subset of columns from unlabelled data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ufselect.registry import PUBLIC

if TYPE_CHECKING:  # for editors and type checkers, which cannot follow the names of the registry
    from ufselect.assessment import Assessment as Assessment
    from ufselect.assessment import StableSelector as StableSelector
    from ufselect.assessment import assess as assess
    from ufselect.auto import AutoSelector as AutoSelector
    from ufselect.auto import PartitionSelector as PartitionSelector
    from ufselect.blocks import gram_from_covariance as gram_from_covariance
    from ufselect.clusters import GraphClustering as GraphClustering
    from ufselect.methods._base import GramSelector as GramSelector
    from ufselect.methods._base import UnsupervisedSelector as UnsupervisedSelector
    from ufselect.methods.baselines import MaxVariance as MaxVariance
    from ufselect.methods.baselines import PCALeverage as PCALeverage
    from ufselect.methods.baselines import RandomSubset as RandomSubset
    from ufselect.methods.bsufs import BSUFS as BSUFS
    from ufselect.methods.dscofs.constrained import ConstrainedDSCOFS as ConstrainedDSCOFS
    from ufselect.methods.dscofs.estimator import DSCOFS as DSCOFS
    from ufselect.methods.dscofs.path import DSCOFSPath as DSCOFSPath
    from ufselect.methods.dscofs.path import dscofs_path as dscofs_path
    from ufselect.methods.fspca import FSPCA as FSPCA
    from ufselect.methods.greedy import DOptimalLeverage as DOptimalLeverage
    from ufselect.methods.greedy import GreedyProjection as GreedyProjection
    from ufselect.methods.ifpca import IFPCA as IFPCA
    from ufselect.methods.inffs import InfFS as InfFS
    from ufselect.methods.laplacian_score import LaplacianScore as LaplacianScore
    from ufselect.methods.mcfs import MCFS as MCFS
    from ufselect.methods.ndfs import NDFS as NDFS
    from ufselect.methods.ndfs import RUFS as RUFS
    from ufselect.methods.rebuild.reconstructor import Reconstructor as Reconstructor
    from ufselect.methods.rebuild.selector import RebuildSelector as RebuildSelector
    from ufselect.methods.redundancy import RedundancyFilter as RedundancyFilter
    from ufselect.methods.rne import RNE as RNE
    from ufselect.methods.sogfs import SOGFS as SOGFS
    from ufselect.methods.spcafs import SPCAFS as SPCAFS
    from ufselect.methods.spcapsd import SPCAPSD as SPCAPSD
    from ufselect.methods.spec import SPEC as SPEC
    from ufselect.methods.tsfs import TSFS as TSFS
    from ufselect.methods.udfs import UDFS as UDFS
    from ufselect.registry import register as register

__version__ = "0.1.0"
__all__ = [*sorted(PUBLIC), "__version__"]

_ROOMS = frozenset(
    ["anndata", "blocks", "datasets", "evaluation", "exceptions", "metrics", "plotting", "preprocessing"]
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
