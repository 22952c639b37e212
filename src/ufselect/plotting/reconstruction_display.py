"""How the error of rebuilding all columns falls with the number of columns they are rebuilt from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.common.seeds import generator
from ufselect.plotting.style import DROPPED, INK, KEPT, new_axes, quiet
from ufselect.plotting.svg import CHART_WIDTH, frame, line, number, tick
from ufselect.solvers.rebuild.baselines import component_errors, random_errors


@dataclass
class ReconstructionDisplay:
    """Relative error of rebuilding against the number of columns, between random columns and PCA.

    Use :meth:`from_estimator`, or :meth:`from_count_curve` for a selector that chose its count.

    Parameters
    ----------
    counts : ndarray
        Numbers of columns.
    errors : ndarray
        Errors in units of the error of the mean.
    spread : ndarray, optional
        Their standard errors.
    random : ndarray of shape (n_draws, n_counts), optional
        Errors of random columns.
    floor : ndarray, optional
        Errors of as many principal components.
    chosen : int, optional
        A count to mark.

    Attributes
    ----------
    ax_, figure_
        Where :meth:`plot` has drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import RebuildSelector, Reconstructor
    >>> from ufselect.plotting import ReconstructionDisplay
    >>> pixels = load_digits().data
    >>> reconstructor = Reconstructor(RebuildSelector(10)).fit(pixels[:1200])
    >>> display = ReconstructionDisplay.from_estimator(reconstructor, pixels[1200:])
    >>> display.ax_.get_xlabel()
    'number of columns'
    """

    counts: NDArray
    errors: NDArray
    spread: NDArray | None = None
    random: NDArray | None = None
    floor: NDArray | None = None
    chosen: int | None = None

    @classmethod
    def from_estimator(
        cls,
        reconstructor: Any,
        X: Any,
        *,
        X_train: Any = None,
        counts: int | Sequence[int] | None = None,
        n_draws: int = 10,
        random_state: Any = 0,
        ax: Any = None,
    ) -> ReconstructionDisplay:
        """Draw the error of rebuilding rows from fewer and fewer of the selected columns.

        Parameters
        ----------
        reconstructor : Reconstructor
            After ``fit``.
        X : array-like of shape (n_samples, n_features)
            Rows, best not among those of ``fit``.
        X_train : array-like of shape (n_samples, n_features), optional
            The rows of ``fit``: with them random columns are drawn as a band, and principal components
            as a floor.
        counts : int or sequence of int, optional
            One or several numbers of columns; by default up to ten, evenly spread.
        n_draws : int, default=10
            Random sets of columns.
        random_state : int, RandomState, Generator or None, default=0
            Seed of the random columns.
        ax : matplotlib Axes, optional
            Where to draw; into new ones without it.

        Returns
        -------
        ReconstructionDisplay

        Raises
        ------
        TypeError
            If the estimator selects columns but does not rebuild the others.
        """
        if not hasattr(reconstructor, "curve"):
            name = type(reconstructor).__name__
            raise TypeError(
                f"{name} does not rebuild columns; give a fitted Reconstructor, as in "
                f"Reconstructor({name}(…)).fit(X)."
            )
        curve = reconstructor.curve(X, counts)
        places = np.array([row["count"] for row in curve])
        errors = np.array([row["error"] for row in curve])
        if X_train is None:
            return cls(places, errors).plot(ax=ax)
        train, test = np.asarray(X_train, dtype=np.float64), np.asarray(X, dtype=np.float64)
        random = random_errors(train, test, places.tolist(), n_draws, generator(random_state))
        floor = component_errors(train, test, places.tolist())
        return cls(places, errors, random=random, floor=floor).plot(ax=ax)

    @classmethod
    def from_count_curve(cls, selector: Any, *, ax: Any = None) -> ReconstructionDisplay:
        """Draw the held-out errors by which a selector chose its number of columns, and mark that.

        Parameters
        ----------
        selector : estimator
            A selector with ``count_curve_``, after ``fit`` with ``n_features_to_select="auto"``.
        ax : matplotlib Axes, optional
            Where to draw; into new ones without it.

        Returns
        -------
        ReconstructionDisplay

        Raises
        ------
        ValueError
            If the selector did not choose its count.
        """
        return cls.of_counts(selector).plot(ax=ax)

    @classmethod
    def of_counts(cls, selector: Any) -> ReconstructionDisplay:
        """Arrange the errors by which a selector chose its count, and draw nothing."""
        rows = getattr(selector, "count_curve_", None)
        if rows is None:
            raise ValueError(
                f'{type(selector).__name__} has no count_curve_; fit it with n_features_to_select="auto".'
            )
        counts, errors, spread = (
            np.array([row[name] for row in rows]) for name in ("count", "error", "standard_error")
        )
        chosen = next(row["count"] for row in rows if row["chosen"])
        return cls(counts, errors, spread, chosen=chosen)

    def plot(self, *, ax: Any = None) -> ReconstructionDisplay:
        """Draw with matplotlib."""
        ax = new_axes() if ax is None else ax
        if self.random is not None:
            low, high = self.random.min(axis=0), self.random.max(axis=0)
            ax.fill_between(self.counts, low, high, color=DROPPED, alpha=0.5, label="random columns")
        if self.floor is not None:
            ax.plot(self.counts, self.floor, color=INK, linestyle=":", label="as many principal components")
        ax.plot(self.counts, self.errors, color=KEPT, marker="o", markersize=3, label="selected columns")
        if self.spread is not None:
            band = (self.errors - self.spread, self.errors + self.spread)
            ax.fill_between(self.counts, *band, color=KEPT, alpha=0.2, label="± 1 standard error")
        if self.chosen is not None:
            ax.axvline(self.chosen, color=INK, linewidth=1, linestyle="--", label=f"{self.chosen} columns")
        ax.set(xlabel="number of columns", ylabel="error in units of that of the mean")
        ax.set_ylim(0, max(1.0, float(np.max(self.errors))))
        ax.legend(frameon=False)
        quiet(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_svg(self) -> str:
        """Return the errors as SVG for a page, the chosen count marked."""
        width, height, left, bottom, top = CHART_WIDTH, 240.0, 56.0, 204.0, 14.0
        most = float(self.counts[-1])
        tallest = max(1.0, float(np.max(self.errors)))

        def place(count: float, error: float) -> tuple[float, float]:
            return left + (width - left - 10) * count / most, bottom - (bottom - top) * error / tallest

        points = [place(count, error) for count, error in zip(self.counts, self.errors, strict=True)]
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        marks = "".join(
            f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{6 if count == self.chosen else 2.5}" class="kept" '
            f'data-tip="{count} columns: error {number(float(error))}"/>'
            for (x, y), count, error in zip(points, self.counts, self.errors, strict=True)
        )
        axis = (
            line(left, bottom, width - 8, bottom)
            + tick(left - 6, top + 6, number(tallest), "end")
            + tick(left - 6, bottom, "0", "end")
            + tick(width - 8, bottom + 18, f"{int(most)} columns", "end")
        )
        title = "Error of rebuilding rows left out against the number of columns"
        title += f"; {self.chosen} are chosen." if self.chosen is not None else "."
        drawn = f'<polyline points="{path}" class="curve" fill="none" stroke="currentColor"/>'
        return frame(width, height, title, axis + drawn + marks)
