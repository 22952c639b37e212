"""Displays: each holds the data it shows; ``from_estimator`` reads them from a fitted estimator and draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ufselect._utils.validation import generator
from ufselect.dscofs.path import DSCOFSPath
from ufselect.plotting.style import COLOURS, DROPPED, INK, SELECTED, matplotlib, plain, quiet
from ufselect.published.baselines import RandomSubset
from ufselect.reconstruct.known_share import KnownShare
from ufselect.reconstruct.reconstructor import Reconstructor


@dataclass(frozen=True)
class Selected:
    """Support, ranks and scores of a fitted selector of any library."""

    support: NDArray
    ranking: NDArray  # 1, 2, …, the selected features first
    scores: NDArray | None  # higher is better

    @property
    def columns(self) -> NDArray[np.intp]:
        """The selected features, best first."""
        return np.argsort(self.ranking)[: int(self.support.sum())]


def selected_by(selector: Any) -> Selected:
    """Read a fitted scikit-learn selector.

    Selected features are ranked by ``ranking_``. If it is absent or has ties, ``scores_`` decides, then the
    position.
    """
    if not hasattr(selector, "get_support"):
        raise TypeError(
            f"{type(selector).__name__} has no get_support; pass a fitted selector such as DSCOFS or "
            "scikit-learn's SelectKBest."
        )
    check_is_fitted(selector)
    support = np.asarray(selector.get_support())

    def by_feature(name: str) -> NDArray | None:
        values = np.asarray(getattr(selector, name, None))
        return values if values.shape == support.shape and values.dtype.kind in "iuf" else None

    scores, ranks = by_feature("scores_"), by_feature("ranking_")
    by_score = np.zeros(support.size) if scores is None else np.nan_to_num(-scores, nan=np.inf)
    by_rank = np.zeros(support.size) if ranks is None else ranks
    order = np.lexsort((np.arange(support.size), by_score, by_rank, ~support))
    ranking = np.empty(support.size, dtype=np.intp)
    ranking[order] = np.arange(1, support.size + 1)
    return Selected(support, ranking, scores)


def feature_names_of(
    selector: Any, given: Sequence[str] | None, n_features: int, shown: NDArray
) -> list[str]:
    """Return the given names of some features, else those seen in ``fit``, else positions."""
    names = given if given is not None else getattr(selector, "feature_names_in_", range(n_features))
    if len(names) != n_features:
        raise ValueError(
            f"{len(names)} feature names were given for {n_features} features; give one for each feature."
        )
    return [str(names[j]) for j in shown]


class Display(ABC):
    """Base of all displays; drawing sets ``ax_`` and ``figure_``."""

    ax_: Any
    figure_: Any

    def plot(self, *, ax: Any = None) -> Self:
        """Draw into matplotlib Axes, new ones by default, and set ``ax_`` and ``figure_``."""
        self.ax_ = matplotlib("pyplot").subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw the data of the display."""


@dataclass
class ScoresDisplay(Display):
    """Plot scores as bars, best first, with the selected features in colour.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Scores in the order of the ranks.
    feature_names : sequence of str
        Names in the same order.
    n_selected : int
        How many of them are selected.

    See Also
    --------
    LoadingsDisplay : Loadings of the selected features on each component.
    ufselect.report.explain : What each selected column represents, with the evidence on held-out rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import DSCOFS
    >>> from ufselect.plotting import ScoresDisplay
    >>> wine = scale(load_wine().data)
    >>> selector = DSCOFS(n_features_to_select=5, n_components=2, entry_sparsity=None).fit(wine)
    >>> display = ScoresDisplay.from_estimator(selector, n_shown=8)
    >>> len(display.ax_.patches)
    8
    """

    scores: NDArray
    feature_names: Sequence[str]
    n_selected: int

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[str] | None = None, n_shown: int = 30, ax: Any = None
    ) -> ScoresDisplay:
        """Draw the scores of a fitted selector.

        Parameters
        ----------
        selector : estimator
            Any fitted scikit-learn selector with ``scores_``.
        feature_names : sequence of str, optional
            Names of all features; by default those seen in ``fit``, else their positions.
        n_shown : int, default=30
            Most bars to draw.
        ax : matplotlib Axes, optional
            Axes to draw into; new ones by default.
        """
        selected = selected_by(selector)
        if selected.scores is None:
            raise ValueError(f"{type(selector).__name__} has no scores to plot; use a selector with scores_.")
        order = np.argsort(selected.ranking)
        names = feature_names_of(selector, feature_names, order.size, order)
        return cls(selected.scores[order], names, int(selected.support.sum())).plot(n_shown=n_shown, ax=ax)

    def plot(self, *, n_shown: int = 30, ax: Any = None) -> Self:
        """Draw the bars, the best at the top."""
        self._n_shown = min(n_shown, self.scores.size)
        return super().plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        n_shown = self._n_shown
        colours = [SELECTED if place < self.n_selected else DROPPED for place in range(n_shown)]
        ax.barh(np.arange(n_shown), self.scores[:n_shown], color=colours, height=0.75)
        ax.set_yticks(np.arange(n_shown), [plain(name) for name in self.feature_names[:n_shown]])
        ax.set_ylim(n_shown - 0.4, -0.6)
        ax.set(xlabel="score", title=f"{self.n_selected} of {self.scores.size} features selected")
        quiet(ax)


@dataclass
class LoadingsDisplay(Display):
    """Plot the loadings of the selected features as a heat map, one column per component.

    Parameters
    ----------
    loadings : ndarray of shape (n_shown, n_components)
        Loadings of the features to show.
    feature_names : sequence of str
        Their names.

    See Also
    --------
    ScoresDisplay : One score per feature, for any selector with ``scores_``.
    """

    loadings: NDArray
    feature_names: Sequence[str]

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[str] | None = None, n_shown: int = 40, ax: Any = None
    ) -> LoadingsDisplay:
        """Draw the loadings of a fitted selector.

        Parameters
        ----------
        selector : estimator
            A fitted scikit-learn selector with ``components_``.
        feature_names : sequence of str, optional
            Names of all features; by default those seen in ``fit``, else their positions.
        n_shown : int, default=40
            Most features to show, best first.
        ax : matplotlib Axes, optional
            Axes to draw into; new ones by default.
        """
        selected = selected_by(selector)
        if not hasattr(selector, "components_"):
            raise ValueError(
                f"{type(selector).__name__} has no loadings to plot; use a selector with components_."
            )
        shown = selected.columns[:n_shown]
        names = feature_names_of(selector, feature_names, selected.support.size, shown)
        return cls(np.asarray(selector.components_)[:, shown].T, names).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        n_components = self.loadings.shape[1]
        heat_map(ax, self.loadings, self.feature_names, "loading")
        ax.set_xticks(np.arange(n_components), [str(number) for number in range(1, n_components + 1)])
        ax.set(xlabel="component", title="loadings of the selected features")


def heat_map(ax: Any, values: NDArray, row_names: Sequence[str], label: str) -> None:
    """Draw signed values as cells, red above zero and blue below."""
    limit = float(np.abs(values).max()) or 1.0
    image = ax.imshow(values, aspect="auto", interpolation="nearest", cmap="RdBu_r", vmin=-limit, vmax=limit)
    ax.set_yticks(np.arange(values.shape[0]), [plain(name) for name in row_names])
    ax.figure.colorbar(image, ax=ax, label=label)


@dataclass
class ConvergenceDisplay(Display):
    """Plot the objective over the iterations of one fit.

    Parameters
    ----------
    history : ndarray of shape (n_iterations + 1,)
        Objective at the start and after each iteration.
    converged : bool
        Whether the stopping rule was met.

    See Also
    --------
    ReconstructionDisplay : Reconstruction error against the number of columns.
    """

    history: NDArray
    converged: bool = True

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw the objective of a fitted selector.

        Parameters
        ----------
        selector : estimator
            A fitted iterative selector, with ``objective_history_``.
        ax : matplotlib Axes, optional
            Axes to draw into; new ones by default.
        """
        check_is_fitted(selector)
        if not hasattr(selector, "objective_history_"):
            raise ValueError(
                f"{type(selector).__name__} does not iterate and has no convergence to plot; use another."
            )
        history = np.asarray(selector.objective_history_)
        return cls(history, bool(getattr(selector, "converged_", True))).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        steps = np.arange(self.history.size)
        ax.plot(steps, self.history, color=SELECTED, marker="o", markersize=3.5, linewidth=1.6)
        ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(integer=True))
        ended = "converged" if self.converged else "stopped before convergence"
        title = f"{ended} after {self.history.size - 1} iterations"
        ax.set(xlabel="iteration", ylabel="objective", title=title)
        quiet(ax)


# Name and colour of each state, in the order of `SelectionPathDisplay.states`.
STATES = (("not selected", "white"), ("selected", SELECTED), ("enters", COLOURS[2]), ("leaves", COLOURS[1]))


@dataclass
class SelectionPathDisplay(Display):
    """Plot which features are selected, enter or leave as the feature count grows.

    Parameters
    ----------
    masks : ndarray of shape (n_counts, n_shown)
        Which of the shown features each count selects.
    counts : sequence of int
        The counts.
    feature_names : sequence of str
        Names of the shown features.

    See Also
    --------
    ufselect.dscofs_path : Fits DSCOFS for several feature counts.
    ReconstructionDisplay : Reconstruction error against the number of columns.
    """

    masks: NDArray
    counts: Sequence[int]
    feature_names: Sequence[str]

    @classmethod
    def from_estimator(
        cls,
        path: DSCOFSPath,
        *,
        entry_sparsity: float | int | None = None,
        feature_names: Sequence[str] | None = None,
        n_shown: int = 40,
        ax: Any = None,
    ) -> SelectionPathDisplay:
        """Draw which features are selected for each feature count of a path.

        Parameters
        ----------
        path : DSCOFSPath
            From :func:`ufselect.dscofs_path`.
        entry_sparsity : float, int or None, optional
            Which of the path's entry sparsities to show; the first if it is not one of them.
        feature_names : sequence of str, optional
            Names of all features; by default their positions.
        n_shown : int, default=40
            Most features to show: those selected for the most counts.
        ax : matplotlib Axes, optional
            Axes to draw into; new ones by default.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from ufselect import dscofs_path
        >>> from ufselect.plotting import SelectionPathDisplay
        >>> path = dscofs_path(load_wine().data, (2, 4, 6), (0.5,), n_components=2)
        >>> SelectionPathDisplay.from_estimator(path).masks.sum(axis=1)
        array([2, 4, 6])
        """
        sparsity = entry_sparsity if entry_sparsity in path.entry_sparsity else path.entry_sparsity[0]
        masks = np.array([path.support(count, sparsity) for count in path.n_features_to_select])
        ranks = path.ranking(path.n_features_to_select[-1], sparsity)
        shown = np.lexsort((ranks, -masks.sum(axis=0)))[: min(n_shown, int(masks.any(axis=0).sum()))]
        names = feature_names_of(path, feature_names, masks.shape[1], shown)
        return cls(masks[:, shown], path.n_features_to_select, names).plot(ax=ax)

    def states(self) -> NDArray[np.intp]:
        """Return for each count and feature 0 if not selected, 1 if selected, 2 if it enters, 3 if it leaves.

        A feature enters or leaves by comparison with the previous count; at the first count none does.
        """
        selected = np.asarray(self.masks, dtype=bool)
        before = np.vstack([selected[:1], selected[:-1]])
        return np.select([selected & before, selected & ~before, ~selected & before], [1, 2, 3])

    def _draw(self, ax: Any) -> None:
        colours = matplotlib("colors").ListedColormap([colour for _, colour in STATES])
        ax.pcolormesh(
            self.states().T, cmap=colours, vmin=0, vmax=len(STATES) - 1, edgecolors="#E3E6EA", linewidth=0.6
        )
        square = matplotlib("patches").Patch
        keys = [square(facecolor=colour, label=name) for name, colour in STATES[1:]]
        ax.legend(handles=keys, loc="lower left", fontsize="small")
        ax.set_xticks(np.arange(len(self.counts)) + 0.5, [str(count) for count in self.counts])
        ax.set_yticks(np.arange(len(self.feature_names)) + 0.5, [plain(name) for name in self.feature_names])
        ax.invert_yaxis()
        ax.set(xlabel="number of features", title="features selected along the path")
        quiet(ax)


@dataclass
class RedundancyDisplay(Display):
    """Plot how many columns each selected column represents.

    Parameters
    ----------
    counts : ndarray of shape (n_shown,)
        Number of columns that each selected column represents, itself included, largest first.
    feature_names : sequence of str
        Names of these selected columns.
    n_selected, n_features : int
        Number of selected columns and of all columns.

    See Also
    --------
    ufselect.RedundancyFilter : The selector to fit first.
    """

    counts: NDArray
    feature_names: Sequence[str]
    n_selected: int
    n_features: int

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[str] | None = None, n_shown: int = 30, ax: Any = None
    ) -> RedundancyDisplay:
        """Draw the groups of redundant columns that a fitted filter found.

        Parameters
        ----------
        selector : RedundancyFilter
            A fitted filter.
        feature_names : sequence of str, optional
            Names of all columns; by default those seen in ``fit``, else their positions.
        n_shown : int, default=30
            Most groups to show.
        ax : matplotlib Axes, optional
            Axes to draw into; new ones by default.
        """
        check_is_fitted(selector)
        representatives = selector.representatives_
        columns, counts = np.unique(representatives[representatives >= 0], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:n_shown]
        names = feature_names_of(selector, feature_names, representatives.size, columns[order])
        return cls(counts[order], names, columns.size, representatives.size).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        places = np.arange(len(self.counts))
        ax.barh(places, self.counts, color=DROPPED, height=0.75)
        ax.barh(places, 1, color=SELECTED, height=0.75)
        ax.set_yticks(places, [plain(name) for name in self.feature_names])
        ax.invert_yaxis()
        ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(integer=True))
        ax.set_xlabel("columns represented, itself included")
        ax.set_title(f"{self.n_selected} of {self.n_features} columns represent the others")
        quiet(ax)


@dataclass
class PixelsDisplay(Display):
    """Plot the selected pixels over an image.

    Parameters
    ----------
    support : ndarray of shape (n_features,)
        Mask of the selected pixels.
    image_shape : (int, int)
        Rows and columns of the images.
    order : {"C", "F"}, default="C"
        "F" if the pixels run down the columns first.
    background : ndarray of shape (n_features,), optional
        An image to draw beneath, such as the mean of the data.

    See Also
    --------
    ScoresDisplay : Scores of features that are not pixels.
    """

    support: NDArray
    image_shape: tuple[int, int]
    order: str = "C"
    background: NDArray | None = None

    def __post_init__(self) -> None:
        n_rows, n_columns = self.image_shape
        if n_rows * n_columns != self.support.size:
            raise ValueError(
                f"An image of {n_rows} × {n_columns} pixels does not fit {self.support.size} features; set "
                "image_shape to the size of the images."
            )

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        image_shape: tuple[int, int],
        *,
        order: str = "C",
        background: NDArray | None = None,
        ax: Any = None,
    ) -> PixelsDisplay:
        """Draw the pixels that a fitted selector selects.

        Parameters
        ----------
        selector : estimator
            Any scikit-learn selector, fitted on images.
        image_shape, order, background
            As for the class.
        ax : matplotlib Axes, optional
            Axes to draw into; new ones by default.
        """
        return cls(selected_by(selector).support, image_shape, order, background).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        base = np.zeros(self.support.size) if self.background is None else np.asarray(self.background, float)
        # the darkest pixel beneath gets 40 % of full black, so that the selected ones stand out
        ax.imshow(
            self._picture(base), cmap="Greys", vmax=float(base.max()) / 0.4 or 1.0, interpolation="nearest"
        )
        rectangle = matplotlib("patches").Rectangle
        edge = min(1.2, 12 / max(self.image_shape))
        for row, column in np.argwhere(self._picture(self.support)):
            place = (column - 0.5, row - 0.5)
            ax.add_patch(rectangle(place, 1, 1, facecolor=SELECTED, edgecolor="white", linewidth=edge))
        ax.set(
            xticks=[], yticks=[], title=f"{int(self.support.sum())} of {self.support.size} pixels selected"
        )

    def _picture(self, values: NDArray) -> NDArray:
        return np.reshape(values, self.image_shape, order=self.order)  # type: ignore[call-overload]


@dataclass
class ReconstructionDisplay(Display):
    """Plot the share of the variance that so many columns explain, beside random columns and PCA.

    Parameters
    ----------
    counts : ndarray
        Numbers of columns.
    shares : ndarray
        Shares of the variance of all columns explained by so many selected ones.
    random : ndarray of shape (n_draws, n_counts), optional
        Shares of random columns.
    components : ndarray, optional
        Shares of as many principal components.
    chosen : int, optional
        A count to mark.

    See Also
    --------
    ufselect.Reconstructor : Fits the map from the selected columns to all others.
    ufselect.assess : Compares a selection with random columns on held-out rows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import ReconstructionSelector, Reconstructor
    >>> from ufselect.plotting import ReconstructionDisplay
    >>> pixels = load_digits().data
    >>> reconstructor = Reconstructor(ReconstructionSelector(10)).fit(pixels[:1200])
    >>> display = ReconstructionDisplay.from_estimator(reconstructor, pixels[1200:])
    >>> display.ax_.get_xlabel()
    'number of columns'
    """

    counts: NDArray
    shares: NDArray
    random: NDArray | None = None
    components: NDArray | None = None
    chosen: int | None = None

    @classmethod
    def from_estimator(
        cls,
        reconstructor: Any,
        X: Any,
        *,
        X_train: Any = None,
        counts: int | Sequence[int] | None = None,
        n_draws: int = 5,
        random_state: Any = 0,
        ax: Any = None,
    ) -> ReconstructionDisplay:
        """Draw the share of the variance explained by fewer and fewer of the selected columns.

        Parameters
        ----------
        reconstructor : Reconstructor
            A fitted reconstructor.
        X : array-like of shape (n_samples, n_features)
            Rows to reconstruct, preferably held out from ``fit``.
        X_train : array-like of shape (n_samples, n_features), optional
            The rows of ``fit``. If given, random columns are drawn as a band and principal components as
            a dotted line.
        counts : int or sequence of int, optional
            One or several numbers of columns; by default up to ten, evenly spread.
        n_draws : int, default=5
            Number of sets of random columns, reconstructed by the same kind of map.
        random_state : int, RandomState, Generator or None, default=0
            Seed of the random columns.
        ax : matplotlib Axes, optional
            Axes to draw into; new ones by default.
        """
        if not hasattr(reconstructor, "curve"):
            name = type(reconstructor).__name__
            raise TypeError(
                f"{name} does not reconstruct columns; give a fitted Reconstructor, as in "
                f"Reconstructor({name}(…)).fit(X)."
            )
        curve = reconstructor.curve(X, counts)
        places, shares = curve["n_features"], curve["score"]
        if X_train is None:
            return cls(places, shares).plot(ax=ax)
        train, test = np.asarray(X_train, dtype=np.float64), np.asarray(X, dtype=np.float64)
        fitted, seeds = reconstructor.regressor_, generator(random_state).integers(2**31, size=n_draws)
        regressor = fitted if isinstance(fitted, str) else reconstructor.regressor  # the same kind of map
        draws = [RandomSubset(int(places.max()), random_state=int(seed)) for seed in seeds]
        fits = [Reconstructor(draw, regressor).fit(train) for draw in draws]
        random = np.array([fit.curve(test, places.tolist())["score"] for fit in fits])
        measure = KnownShare(train, test)
        components = np.array([measure.of_components(int(count)) for count in places])
        return cls(places, shares, random=random, components=components).plot(ax=ax)

    @classmethod
    def from_count_curve(cls, selector: Any, *, ax: Any = None) -> ReconstructionDisplay:
        """Draw the share of the variance explained by so many columns, and mark the number a selector chose.

        Parameters
        ----------
        selector : estimator
            A selector with ``count_curve_``, fitted with ``n_features_to_select="auto"``.
        ax : matplotlib Axes, optional
            Axes to draw into; new ones by default.
        """
        curve = getattr(selector, "count_curve_", None)
        if curve is None:
            raise ValueError(
                f'{type(selector).__name__} has no count_curve_; fit it with n_features_to_select="auto".'
            )
        return cls.of_counts(curve).plot(ax=ax)

    @classmethod
    def of_counts(cls, curve: Mapping[str, NDArray], marked: int | None = None) -> ReconstructionDisplay:
        """Return the display of a ``count_curve_`` without drawing it."""
        chosen = int(curve["n_features"][curve["chosen"]][0])
        return cls(
            curve["n_features"], curve["score"], curve["random"][None], curve["components"], marked or chosen
        )

    def _draw(self, ax: Any) -> None:
        if self.random is not None:
            low, high = self.random.min(axis=0), self.random.max(axis=0)
            ax.fill_between(self.counts, low, high, color=DROPPED, lw=2, alpha=0.5, label="random columns")
        if self.components is not None:
            ax.plot(self.counts, self.components, color=INK, linestyle=":", label="principal components")
        ax.plot(self.counts, self.shares, color=SELECTED, marker="o", markersize=3, label="selected columns")
        if self.chosen is not None:
            ax.axvline(self.chosen, color=INK, linewidth=1, linestyle="--", label=f"{self.chosen} columns")
        ax.set(xlabel="number of columns", ylabel="share of the variance explained")
        ax.set_ylim(min(0.0, float(np.min(self.shares))), 1.0)
        ax.legend(frameon=False)
        quiet(ax)
