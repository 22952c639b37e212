"""The modules of the public names, and the list of selectors, to which `register` adds."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.base import UnsupervisedSelector

# Modules by class name, so that one class can be imported without the others. The order is that of tables,
# baselines first.
SELECTORS = {
    "RandomSubset": "ufselect.published.baselines",
    "PCALeverage": "ufselect.published.baselines",
    "MaxVariance": "ufselect.published.baselines",
    "DOptimalLeverage": "ufselect.reconstruct.greedy",
    "GreedyProjection": "ufselect.reconstruct.greedy",
    "ReconstructionSelector": "ufselect.reconstruct.selector",
    "LaplacianScore": "ufselect.published.laplacian_score",
    "SPEC": "ufselect.published.spec",
    "MCFS": "ufselect.published.mcfs",
    "InfFS": "ufselect.published.inffs",
    "IFPCA": "ufselect.published.ifpca",
    "UDFS": "ufselect.published.udfs",
    "NDFS": "ufselect.published.ndfs",
    "RUFS": "ufselect.published.ndfs",
    "SOGFS": "ufselect.published.sogfs",
    "RNE": "ufselect.published.rne",
    "FSPCA": "ufselect.published.fspca",
    "SPCAFS": "ufselect.published.spcafs",
    "SPCAPSD": "ufselect.published.spcapsd",
    "TSFS": "ufselect.published.tsfs",
    "BSUFS": "ufselect.published.bsufs",
    "DSCOFS": "ufselect.dscofs.estimator",
    "ConstrainedDSCOFS": "ufselect.dscofs.constrained",
    "AutoSelector": "ufselect.auto",
}
# What ``from ufselect import …`` offers.
PUBLIC = SELECTORS | {
    "RedundancyFilter": "ufselect.redundancy",
    "GraphClustering": "ufselect.clusters",
    "StableSelector": "ufselect.assessment.stable_selector",
    "Reconstructor": "ufselect.reconstruct.reconstructor",
    "DSCOFSPath": "ufselect.dscofs.path",
    "dscofs_path": "ufselect.dscofs.path",
    "UnsupervisedSelector": "ufselect.base",
    "GramSelector": "ufselect.base",
    "Assessment": "ufselect.assessment.held_out",
    "assess": "ufselect.assessment.held_out",
    "gram_from_covariance": "ufselect.gram",
    "register": "ufselect._registry",
}

_registered: dict[str, type[UnsupervisedSelector]] = {}


def all_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return the selectors by class name, sorted: this package's, installed ones and registered ones.

    An installed package adds selectors through the entry point group ``ufselect.selectors``; a script or
    notebook adds one to its own process with `register`.
    """
    from importlib.metadata import entry_points  # its import takes half as long as that of ufselect

    selectors = {name: getattr(import_module(module), name) for name, module in SELECTORS.items()}
    for entry_point in entry_points(group="ufselect.selectors"):
        _add(selectors, entry_point.load())
    return dict(sorted({**selectors, **_registered}.items()))


def register(selector: type[UnsupervisedSelector]) -> type[UnsupervisedSelector]:
    """Add a selector of your own to the comparisons, checks and tables of this process.

    Parameters
    ----------
    selector : type
        A subclass of :class:`~ufselect.UnsupervisedSelector` or :class:`~ufselect.GramSelector` with
        ``label`` and ``cost``.

    Returns
    -------
    type
        The class itself, so that ``register`` can be used as a decorator.

    Raises
    ------
    TypeError, ValueError
        If ``selector`` is not a selector class, or if another selector has its name.

    See Also
    --------
    UnsupervisedSelector : Base class for a method that needs the rows of the data.
    GramSelector : Base class for a method that needs only their Gram matrix.
    """
    known = {name: other for name, other in all_selectors().items() if other is not selector}
    _add(known, selector)
    _registered[selector.__name__] = selector
    return selector


def _add(known: dict[str, type[UnsupervisedSelector]], selector: type[UnsupervisedSelector]) -> None:
    """Add a selector from outside to the known ones, or raise an error that says what is wrong with it."""
    from ufselect.base import UnsupervisedSelector

    if not inspect.isclass(selector) or not issubclass(selector, UnsupervisedSelector):
        raise TypeError(f"{selector!r} is not a subclass of ufselect.UnsupervisedSelector.")
    if inspect.isabstract(selector):
        missing = ", ".join(sorted(selector.__abstractmethods__))
        raise TypeError(f"{selector.__name__} does not implement {missing}; define it in the class.")
    for attribute in ("label", "cost"):
        if not getattr(selector, attribute, None):
            raise TypeError(f"{selector.__name__} has no {attribute}; set it as a class attribute.")
    if selector.__name__ in known:
        raise ValueError(f"Another selector is called {selector.__name__}; choose another name.")
    known[selector.__name__] = selector
