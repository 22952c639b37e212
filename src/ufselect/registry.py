"""The list of all selectors, open to others by `register`, and with it the public names of the package."""

from __future__ import annotations

import inspect
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

from ufselect.assessment import Assessment, StableSelector, assess
from ufselect.auto import AutoSelector, PartitionSelector
from ufselect.blocks import gram_from_covariance
from ufselect.clusters import GraphClustering
from ufselect.methods._base import GramSelector, UnsupervisedSelector
from ufselect.methods.baselines import MaxVariance, PCALeverage, RandomSubset
from ufselect.methods.bsufs import BSUFS
from ufselect.methods.dscofs.constrained import ConstrainedDSCOFS
from ufselect.methods.dscofs.estimator import DSCOFS
from ufselect.methods.dscofs.path import DSCOFSPath, dscofs_path
from ufselect.methods.fspca import FSPCA
from ufselect.methods.greedy import DOptimalLeverage, GreedyProjection
from ufselect.methods.ifpca import IFPCA
from ufselect.methods.inffs import InfFS
from ufselect.methods.laplacian_score import LaplacianScore
from ufselect.methods.mcfs import MCFS
from ufselect.methods.ndfs import NDFS
from ufselect.methods.rebuild.reconstructor import Reconstructor
from ufselect.methods.rebuild.selector import RebuildSelector
from ufselect.methods.redundancy import RedundancyFilter
from ufselect.methods.rne import RNE
from ufselect.methods.rufs import RUFS
from ufselect.methods.sogfs import SOGFS
from ufselect.methods.spcafs import SPCAFS
from ufselect.methods.spcapsd import SPCAPSD
from ufselect.methods.spec import SPEC
from ufselect.methods.tsfs import TSFS
from ufselect.methods.udfs import UDFS

# In the order of tables: baselines first.
SELECTORS: tuple[type[UnsupervisedSelector], ...] = (
    RandomSubset, PCALeverage, MaxVariance, DOptimalLeverage, GreedyProjection, RebuildSelector,
    LaplacianScore, SPEC, MCFS, InfFS, IFPCA, UDFS, NDFS, RUFS, SOGFS, RNE, FSPCA, SPCAFS, SPCAPSD, TSFS,
    BSUFS, DSCOFS, ConstrainedDSCOFS, PartitionSelector, AutoSelector,
)  # fmt: skip

_registered: dict[str, type[UnsupervisedSelector]] = {}


def all_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return the selectors by class name, sorted: this package's, installed ones and registered ones.

    A package offers selectors to every environment it is installed in by the entry point group
    ``ufselect.selectors``; a script or notebook offers one to its own process by `register`.
    """
    found = {selector.__name__: selector for selector in SELECTORS}
    for entry_point in entry_points(group="ufselect.selectors"):
        _add(found, entry_point.load())
    return dict(sorted({**found, **_registered}.items()))


def register(selector: type[UnsupervisedSelector]) -> type[UnsupervisedSelector]:
    """Make a selector from outside the package known to comparisons, checks and tables in this process.

    Parameters
    ----------
    selector : type
        A subclass of :class:`~ufselect.UnsupervisedSelector` or :class:`~ufselect.GramSelector` with
        ``label`` and ``cost``.

    Returns
    -------
    type
        The class itself, so that this serves as a decorator.

    Raises
    ------
    TypeError, ValueError
        If it is no selector, or if another one has its name.

    Examples
    --------
    ::

        @register
        class LeastVariance(GramSelector):
            label = "Least variance"
            cost = "n d"

            def __init__(self, n_features_to_select=0.1):
                self.n_features_to_select = n_features_to_select

            def _fit_gram(self, gram, request):
                return -gram.diag()
    """
    known = {name: other for name, other in all_selectors().items() if other is not selector}
    _add(known, selector)
    _registered[selector.__name__] = selector
    return selector


def missing_requirements(selector: type[UnsupervisedSelector]) -> list[str]:
    """Return the optional packages that a selector needs and that are not installed."""
    return [name for name in selector.requires if find_spec(name) is None]


def _add(known: dict[str, type[UnsupervisedSelector]], selector: type[UnsupervisedSelector]) -> None:
    """Add a selector from outside to those known, or say what is wrong with it."""
    if not inspect.isclass(selector) or not issubclass(selector, UnsupervisedSelector):
        raise TypeError(f"{selector!r} is not a subclass of ufselect.UnsupervisedSelector.")
    if inspect.isabstract(selector):
        raise TypeError(f"{selector.__name__} lacks {', '.join(sorted(selector.__abstractmethods__))}.")
    for attribute in ("label", "cost"):
        if not getattr(selector, attribute, None):
            raise TypeError(f"{selector.__name__} has no {attribute}; set it as a class attribute.")
    if selector.__name__ in known:
        raise ValueError(f"Another selector is called {selector.__name__}; choose another name.")
    known[selector.__name__] = selector


# What ``from ufselect import …`` offers.
_public: tuple[Any, ...] = (
    *SELECTORS, RedundancyFilter, GraphClustering, StableSelector, Reconstructor, DSCOFSPath, dscofs_path,
    UnsupervisedSelector, GramSelector, Assessment, assess, gram_from_covariance, register,
)  # fmt: skip
PUBLIC: dict[str, Any] = {each.__name__: each for each in _public}
