"""PCA with two sparse copies, the problem of DSCOFS: its projections, start and Algorithm 1, and bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import lapack

from ufselect._columns import UnitRequest
from ufselect._solver.iterate import Descent
from ufselect.gram import GramOperator, Spectrum
from ufselect.gram.spectrum import (
    is_orthonormal,
    orthonormality_defect,
    polar_factor,
    random_orthonormal,
    rotate_towards,
)

PROVEN_GAP = 1e-10  # sums of eigenvalues that differ by less, relatively, differ by rounding
# Relative decrease of the objective at which extrapolation begins. A run that stops near the paper's
# tolerance is faster without it. A run to a settled selection takes a third of the steps with it, and fewer
# the earlier it begins.
LATE_ONSET = 1e-3
EARLY_ONSET = 1e-2
# Share of the last change that is added again while the supports still change. Of 0.85 to 0.98 this needed
# the fewest steps on seven real data sets, and ended at lower objectives than a slowly growing share.
MOMENTUM = 0.95
DEPTH = 5  # differences remembered; more gain nothing before a relative decrease of 1e-11


@dataclass(frozen=True)
class Support:
    """Which values of a flat array are kept, and the smallest of them."""

    mask: NDArray
    threshold: float


def largest(values: NDArray, count: int, last: Support | None = None) -> Support:
    """Mark exactly ``count`` of the largest values of a flat array; among equals the first come first.

    Given the support of similar values, only those above its threshold, or a little below, are ordered: from
    one iteration to the next the threshold hardly moves, which saves up to a fifth of a long run.
    """
    if count >= values.size:
        return Support(np.ones(values.size, dtype=bool), float(values.min(initial=np.inf)))
    if count <= 0:
        return Support(np.zeros(values.size, dtype=bool), np.inf)
    near = values
    if last is not None and last.threshold > 0:
        near = values.compress(values >= 0.97 * last.threshold)
        near = values if near.size < count else near
    threshold = np.partition(near, near.size - count)[near.size - count]
    mask = values >= threshold
    surplus = int(np.count_nonzero(mask)) - count
    if surplus:
        tied = np.flatnonzero(values == threshold)
        mask[tied[tied.size - surplus :]] = False
    return Support(mask, float(threshold))


def project_entries(
    matrix: NDArray, n_entries: int, last: Support | None = None, out: NDArray | None = None
) -> tuple[NDArray, Support]:
    """Return a nearest matrix with at most ``n_entries`` non-zero entries, and which entries it keeps.

    Ties go to the lower column, then row. ``last`` is the support of a similar matrix; the result may be
    written to ``out``, even if that is ``matrix`` itself.
    """
    support = largest(np.abs(matrix).ravel(order="F"), n_entries, last)
    return np.multiply(matrix, support.mask.reshape(matrix.shape, order="F"), out=out), support


def project_rows(
    matrix: NDArray, rules: UnitRequest, last: Support | None = None, out: NDArray | None = None
) -> tuple[NDArray, Support]:
    r"""Return a nearest matrix with at most r non-zero rows, or groups of rows, and which of them it keeps.

    With groups :math:`G_1, G_2, \dots` the set is :math:`\{Z : Z_{G_k} = 0 \text{ for all } k \notin K, |K|
    \le r, F \subseteq K\}`: the groups F are always kept and, of the others, those of largest
    :math:`\|Z_{G_k}\|_F`. Ties go to the lower index; ``last`` and ``out`` are as in `project_entries`.
    """
    support = largest(rules.weights(np.einsum("ij,ij->i", matrix, matrix)), rules.n_selected, last)
    return np.multiply(matrix, rules.units.of_rows(support.mask)[:, None], out=out), support


@dataclass(frozen=True, kw_only=True)
class SplitPCA(ABC):
    r"""PCA whose loadings X are pulled towards an entry-sparse copy Y and a row-sparse copy Z.

    .. math::

        \min_{X, Y, Z}\; -\mathrm{Tr}(X^\top S X) + \mu_1 \|X - Y\|_F^2 + \mu_2 \|X - Z\|_F^2 + g(Y) + h(Z)
        \quad\text{s.t.}\quad X^\top X = I

    A subclass is a choice of g and h: their proximal maps, `entry_step` and `row_step`, and their values,
    `penalty`, 0 for the indicator of a set.
    """

    gram: GramOperator  # S; all penalties are in its units
    mu_row: float
    mu_entry: float
    tau: float  # proximal weight τ₁ of the X-step
    memory: float  # proximal weight τ₂ = τ₃ of the Y- and the Z-step
    unit: float  # what counts as 1 in the stopping rule and in the bounds on step sizes
    leading_variance: float  # mean of the m largest eigenvalues, with which penalties are compared

    @abstractmethod
    def entry_step(self, X: NDArray, Y: NDArray, last: Support | None) -> tuple[NDArray, Support | None]:
        """Return the Y after X and the last Y, and its support (flat); None if all entries are kept."""

    @abstractmethod
    def row_step(self, X: NDArray, Z: NDArray, last: Support | None) -> tuple[NDArray, Support | None]:
        """Return the Z after X and the last Z, and the support of its rows; None if all are kept."""

    def penalty(self, Y: NDArray, Z: NDArray) -> float:
        """Return g(Y) + h(Z)."""
        return 0.0

    def pull(self, Y: NDArray, Z: NDArray) -> NDArray:
        r"""Return :math:`\mu_1 Y + \mu_2 Z`, which pulls X towards its sparse copies."""
        total = self.mu_entry * Y
        total += self.mu_row * Z
        return total

    def ascent(self, X: NDArray, product: NDArray, Y: NDArray, Z: NDArray) -> NDArray:
        r"""Return :math:`SX + \mu_1 Y + \mu_2 Z + \tau_1 X`, given ``product = S @ X``.

        It is half the negative gradient of the X-step at X, up to a multiple of X.
        """
        total = self.pull(Y, Z)
        total += self.tau * X
        total += product
        return total

    def objective(self, X: NDArray, product: NDArray | None, Y: NDArray, Z: NDArray) -> float:
        """Return f(X, Y, Z), given ``product = S @ X`` if it is known."""
        captured = self.gram.captured(X) if product is None else inner(X, product)
        to_entries = self.mu_entry * squared_distance(X, Y)
        return -captured + to_entries + self.mu_row * squared_distance(X, Z) + self.penalty(Y, Z)


@dataclass(frozen=True, kw_only=True)
class DoubleSparsePCA(SplitPCA):
    """Double-sparsity constrained PCA: Y has at most s entries, Z at most r rows that are not zero."""

    rules: UnitRequest  # r, the groups of rows that count as one in it, and those that Z always keeps
    n_entries: int  # s

    def entry_step(self, X: NDArray, Y: NDArray, last: Support | None) -> tuple[NDArray, Support | None]:
        if self.n_entries >= X.size:
            return X, None
        average = proximal_average(X, Y, self.memory)
        return project_entries(average, self.n_entries, last, out=average)

    def row_step(self, X: NDArray, Z: NDArray, last: Support | None) -> tuple[NDArray, Support | None]:
        if self.rules.n_selected >= self.rules.units.count:
            return X, None
        average = proximal_average(X, Z, self.memory)
        return project_rows(average, self.rules, last, out=average)


def penalty_unit(
    gram: GramOperator, spectrum: Spectrum, penalties: Mapping[str, float], *, is_relative: bool
) -> float:
    """Return a penalty of 1 in units of the operator; raise an error if penalties would overflow."""
    unit = float(spectrum.values[0]) if is_relative else 1 / gram.scale / gram.scale
    largest = float(np.finfo(gram.dtype).max) ** 0.4  # its square leaves a fifth of the range for sums
    for name, value in penalties.items():
        if not value * unit < largest:
            raise ValueError(
                f"{name}={value} is too large for data of this scale and would overflow; "
                f"use a value below {largest / unit:.0e}, or rescale X."
            )
    return unit


def proximal_average(X: NDArray, last: NDArray, memory: float) -> NDArray:
    """Return the paper's ``(X + τ last) / (1 + τ)``."""
    average = last - X
    average *= memory / (1 + memory)
    average += X
    return average


def squared_distance(first: NDArray, second: NDArray) -> float:
    """Return the squared Frobenius distance."""
    difference = first - second
    return inner(difference, difference)


def inner(first: NDArray, second: NDArray) -> float:
    """Return the Frobenius inner product, column by column: in float32 one long sum loses digits."""
    return float(np.vecdot(first.T, second.T).sum(dtype=np.float64))


@dataclass(frozen=True)
class Start:
    """A point with orthonormal columns and what is known about it."""

    point: NDArray
    product: NDArray | None = None  # S @ point
    is_informed: bool = False  # follows the data (loadings, an earlier solution); else a first step does

    def astype(self, dtype: DTypeLike) -> Start:
        """Return the start in another precision."""
        product = None if self.product is None else self.product.astype(dtype)
        return Start(self.point.astype(dtype), product, self.is_informed)


def pca_start(spectrum: Spectrum) -> Start:
    """Return the leading loadings, whose products with S are known."""
    return Start(spectrum.vectors, spectrum.vectors * spectrum.values, is_informed=True)


def best_random_start(gram: GramOperator, n_components: int, n_init: int, rng: np.random.Generator) -> Start:
    """Return, of ``n_init`` random orthonormal matrices, the one with the largest ``Tr(XᵀSX)``."""
    points = (random_orthonormal(gram.shape[0], n_components, rng) for _ in range(n_init))
    points = (point.astype(gram.dtype, copy=False) for point in points)
    starts = (Start(point, gram.matmat(point)) for point in points)
    return max(starts, key=lambda start: float(np.vdot(start.point, start.product)))


def given_start(point: NDArray, n_components: int, dtype: np.dtype) -> Start:
    """Return a user's starting point, one row per feature, in working precision."""
    point = point.astype(dtype)
    if point.shape[1:] != (n_components,):
        raise ValueError(
            f"init has shape {point.shape}; it must be (n_features, n_components) = "
            f"({len(point)}, {n_components})."
        )
    # Columns that float32 or printing has rounded are made exactly orthonormal.
    if not np.all(np.isfinite(point)) or not is_orthonormal(point, tol=1e-3):
        raise ValueError("The columns of init are not orthonormal; pass np.linalg.qr(init)[0] instead.")
    return Start(polar_factor(point))


@dataclass(frozen=True)
class PamState:
    """A point of the iteration."""

    X: NDArray
    Y: NDArray
    Z: NDArray
    product: NDArray  # S @ X
    ascent: NDArray  # half the negative gradient of the X-step
    objective: float
    entries: Support | None = None  # of Y, None if everything is kept
    rows: Support | None = None  # of Z
    trail: Trail | None = None  # the history for extrapolation, None before it begins

    def astype(self, dtype: DTypeLike) -> PamState:
        """Return the point in another precision, with orthonormal columns.

        Its momentum is kept: without it the first step would be short, and the run might end there.
        """
        trail = self.trail and Trail(self.trail.change.astype(dtype), self.trail.residual.astype(dtype))
        Y, Z = self.Y.astype(dtype), self.Z.astype(dtype)
        return replace(self, X=polar_factor(self.X.astype(dtype)), Y=Y, Z=Z, trail=trail)


# Returns the X after a state, given its ascent or an extrapolated one.
XStep = Callable[[SplitPCA, PamState, NDArray], NDArray]


class ProximalAlternatingMinimisation(Descent):
    """Update X on the Stiefel manifold, then its entry-sparse copy Y and its row-sparse copy Z, in turn.

    The state of another run is continued. From a start that does not depend on the data, a first X-step is
    made with Y = Z = X, before any sparsity, as in the authors' program. ``onset`` is the relative decrease
    of the objective at which extrapolation begins; 0 for never.
    """

    def __init__(
        self, problem: SplitPCA, start: Start | PamState, x_step: XStep, onset: float = LATE_ONSET
    ) -> None:
        self.problem, self.start, self.x_step, self.onset = problem, start, x_step, onset
        self.unit = problem.unit
        # The objective sums four terms, each rounded in the precision of the data.
        self.resolution = 4 * float(np.finfo(problem.gram.dtype).eps)

    def init(self) -> PamState:
        problem, start = self.problem, self.start
        if isinstance(start, PamState):
            X, Y, Z, product = start.X, start.Y, start.Z, problem.gram.matmat(start.X)
            objective = problem.objective(X, product, Y, Z)
            return replace(
                start, product=product, ascent=problem.ascent(X, product, Y, Z), objective=objective
            )
        X = np.asfortranarray(start.point)
        if start.is_informed:
            return self._complete(X, None, start.product)
        product = problem.gram.matmat(X) if start.product is None else start.product
        ascent = problem.ascent(X, product, X, X)
        return self._complete(self.x_step(problem, PamState(X, X, X, product, ascent, np.inf), ascent), None)

    def step(self, state: PamState) -> PamState:
        if state.trail is not None:
            point = state.trail.extrapolate(state.ascent)
            new = self._complete(self.x_step(self.problem, state, point), state)
            if new.objective < state.objective:
                is_smooth = _same(state.entries, new.entries) and _same(state.rows, new.rows)
                return replace(new, trail=state.trail.follow(point, new.ascent, state.ascent, is_smooth))
        new = self._complete(self.x_step(self.problem, state, state.ascent), state)
        if new.objective > state.objective:
            new = self._complete(polar_factor(state.ascent), state)
        if new.objective >= state.objective:
            return state  # stationary up to rounding
        decrease = state.objective - new.objective
        if state.trail is None and decrease > self.onset * (self.unit + abs(state.objective)):
            return new
        change = new.ascent - state.ascent
        return replace(new, trail=Trail(change, change))

    def _complete(self, X: NDArray, last: PamState | None, product: NDArray | None = None) -> PamState:
        """Make the Y- and Z-steps for a new X and evaluate the objective there."""
        problem = self.problem
        Y, entries = problem.entry_step(X, last.Y, last.entries) if last else problem.entry_step(X, X, None)
        Z, rows = problem.row_step(X, last.Z, last.rows) if last else problem.row_step(X, X, None)
        product = problem.gram.matmat(X) if product is None else product
        objective = problem.objective(X, product, Y, Z)
        return PamState(X, Y, Z, product, problem.ascent(X, product, Y, Z), objective, entries, rows)


def constraint_residuals(state: PamState) -> dict[str, float]:
    """Return the distances of X to its sparse copies."""
    return {
        "row": float(np.sqrt(squared_distance(state.X, state.Z))),
        "entry": float(np.sqrt(squared_distance(state.X, state.Y))),
    }


def _same(first: Support | None, second: Support | None) -> bool:
    return first is None or second is None or np.array_equal(first.mask, second.mask)


@dataclass
class Trail:
    """The last steps of an iteration, each of which maps a point to its image."""

    change: NDArray  # difference of the last two images
    residual: NDArray  # last image minus its point
    n_steps: int = 0  # without a change of supports; 0 if the last step changed them
    # Changes of the residual and of the image over each of the last of these steps, 2 × DEPTH × n_entries, in
    # any order, and the inner products of the former.
    differences: NDArray | None = None
    gram: NDArray | None = None

    def follow(self, point: NDArray, image: NDArray, last_image: NDArray, is_smooth: bool) -> Trail:
        """Return the trail after one more step, from ``point`` to ``image``, in place of this one."""
        change, residual = image - last_image, image - point
        if not is_smooth:
            return Trail(change, residual)
        if self.differences is None or self.gram is None:
            self.differences = np.empty((2, DEPTH, image.size), dtype=image.dtype)
            self.gram = np.zeros((DEPTH, DEPTH))
        place, last = self.n_steps % DEPTH, min(self.n_steps + 1, DEPTH)
        residuals, changes = self.differences[:, :last]
        residuals[place], changes[place] = (residual - self.residual).T.ravel(), change.T.ravel()
        self.gram[place, :last] = self.gram[:last, place] = residuals @ residuals[place]
        return Trail(change, residual, self.n_steps + 1, self.differences, self.gram)

    def extrapolate(self, image: NDArray) -> NDArray:
        r"""Return the point to try next instead of the last image.

        While supports change, this is heavy-ball momentum; afterwards it is Anderson's mixing (1965, J. ACM
        12): with residuals :math:`r_k` and images :math:`f_k`, the combination :math:`f_k - \sum_i \gamma_i
        \Delta f_i` whose weights minimise :math:`\|r_k - \sum_i \gamma_i \Delta r_i\|`.
        """
        last = min(self.n_steps, DEPTH)
        if self.differences is None or self.gram is None or not self.gram.trace() > 0:
            return image + MOMENTUM * self.change
        residuals, changes = self.differences[:, :last]
        gram = self.gram[:last, :last].copy()
        # Nearly parallel differences must not spoil the weights.
        gram.flat[:: last + 1] += max(1e-10, float(np.finfo(image.dtype).eps)) * gram.trace()
        weights = lapack.dposv(gram, residuals @ self.residual.T.ravel())[1]
        return image - (weights.astype(image.dtype) @ changes).reshape(image.T.shape).T


def make_x_step(name: str, problem: SplitPCA) -> XStep:
    """Return the X-step of that name; ``"auto"`` rotates the power step if penalties are small.

    Penalties that together stay below a tenth of the mean leading eigenvalue leave the rotation of X nearly
    free, and finding it at once saves up to nine products in ten. With larger penalties, the rotation that
    fits the last Y and Z best slows their change. On seven data sets the two are about equal between 0.1
    and 0.2.
    """
    if name == "auto":
        is_small = problem.mu_entry + problem.mu_row <= 0.1 * problem.leading_variance
        name = "rotated" if problem.mu_entry > 0 and is_small else "power"
    if name == "pencf":
        return PenCF()
    return rotated_power_step if name == "rotated" else power_step


def power_step(problem: SplitPCA, state: PamState, ascent: NDArray) -> NDArray:
    r"""Return :math:`\mathrm{polar}(SX + B)`, one step of the power method.

    On the manifold the X-step maximises :math:`\mathrm{Tr}(X^\top SX) + 2\mathrm{Tr}(X^\top B)`, which is
    convex because S is positive semidefinite. Its linearisation at X is maximised by the polar factor, so
    the step never increases the objective and needs no step size.
    """
    return polar_factor(ascent)


def rotated_power_step(problem: SplitPCA, state: PamState, ascent: NDArray) -> NDArray:
    r"""Return a power step after the best rotation within its span.

    .. math::

        Q = \mathrm{polar}(SX + B), \qquad X \leftarrow Q\,\mathrm{polar}(Q^\top(\mu_1 Y + \mu_2 Z))

    Rotating within a span does not change :math:`\mathrm{Tr}(X^\top SX)`, so the best rotation is known in
    closed form and needs no product with S. The power step alone rotates X by a share of about
    :math:`\mu/\lambda` per step, which takes hundreds of steps if the penalties are small compared with the
    eigenvalues.
    """
    X = polar_factor(ascent)
    if problem.mu_entry == 0:
        return X  # all rotations are equal, since Z rotates with X
    return rotate_towards(X, problem.pull(state.Y, state.Z))


class PenCF:
    r"""Solve the X-step to convergence by gradient steps on an exact penalty function.

    With l the objective of the X-step, :math:`\Lambda = \tfrac12(X^\top\nabla l + \nabla l^\top X)` and
    :math:`D = \nabla l - X\Lambda + \beta X(X^\top X - I)`, iterate :math:`X \leftarrow P_{ball}(X - \eta D)`
    with alternating Barzilai–Borwein steps :math:`\eta` (Xiao, Liu and Yuan 2022, Optim. Methods Softw. 37)
    until the Riemannian gradient has fallen by 10⁻⁸, or for 1,000 steps. These, the radius of the ball,
    :math:`\beta` and the largest step are those of the authors' program.

    An object serves one run. After 10,000 gradient steps, power steps follow, which also lower the objective:
    with penalties far above the size of the data no X-step may reach the tolerance.
    """

    n_left = 10_000

    def __call__(self, problem: SplitPCA, state: PamState, ascent: NDArray) -> NDArray:
        """Return a minimiser of the X-step, started at the state's X."""
        if self.n_left == 0:
            return polar_factor(ascent)
        X, linear = state.X, ascent - state.product
        weight = problem.mu_entry + problem.mu_row + problem.tau
        radius = 1.0001 * np.sqrt(X.shape[1])  # every orthonormal matrix has the norm sqrt(m)
        finfo = np.finfo(X.dtype)

        gradient = 2 * (weight * X - ascent)
        beta = 0.5 * float(np.linalg.norm(gradient)) / X.shape[1]
        direction, stationarity = penalty_direction(X, gradient, beta)
        # A gradient of the size of the rounding of SX + B is zero.
        target = max(1e-8 * stationarity, 64 * float(finfo.eps) * float(np.linalg.norm(ascent)))
        step = 0.01 * float(np.linalg.norm(X)) / max(float(np.linalg.norm(direction)), float(finfo.tiny))
        for iteration in range(min(1000, self.n_left)):
            if stationarity <= target:
                break
            self.n_left -= 1
            moved = X - step * direction
            norm = float(np.linalg.norm(moved))
            moved = moved * (radius / norm) if norm > radius else moved
            if np.linalg.norm(orthonormality_defect(moved)) > 0.1:
                moved = polar_factor(moved)  # too far from the manifold
            gradient = 2 * (weight * moved - problem.gram.matmat(moved) - linear)
            new_direction, stationarity = penalty_direction(moved, gradient, beta)
            step = barzilai_borwein(
                moved - X, new_direction - direction, 1000 / problem.unit, is_long=iteration % 2 == 0
            )
            X, direction = moved, new_direction
        return polar_factor(X)


def penalty_direction(X: NDArray, gradient: NDArray, beta: float) -> tuple[NDArray, float]:
    """Return D(X) and the norm of its part along the manifold, ``‖∇l − XΛ‖``."""
    mixed = X.T @ gradient
    along = gradient - X @ (0.5 * (mixed + mixed.T))
    return along + beta * (X @ orthonormality_defect(X)), float(np.linalg.norm(along))


def barzilai_borwein(
    change: NDArray, gradient_change: NDArray, largest: float, *, is_long: bool = True
) -> float:
    r"""Return Barzilai and Borwein's step, without its sign and at most ``largest``.

    With :math:`s` the last change of the point and :math:`y` that of the gradient, the long step is
    :math:`s^\top s / |s^\top y|` and the short one :math:`|s^\top y| / y^\top y`: both are one over the
    curvature along the last step (1988, IMA J. Numer. Anal. 8).
    """
    mixed = abs(float(np.vdot(change, gradient_change)))
    if is_long:
        above, below = float(np.vdot(change, change)), mixed
    else:
        above, below = mixed, float(np.vdot(gradient_change, gradient_change))
    return above / below if above < largest * below else largest


def variance_bound(spectrum: Spectrum, diagonal: NDArray, rules: UnitRequest, n_components: int) -> float:
    r"""Bound the variance that r features or groups can have along ``n_components`` orthonormal axes.

    .. math::

        \max_{X}\; \mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad X^\top X = I_m,\; \|X\|_{2,0} \le r

    is at most the sum of the m largest eigenvalues of S, at most the sum of the r largest diagonal entries,
    and at most the value of :func:`spectral_bound`. If rows come in groups, a group counts as one row, with
    the norm over it in each eigenvector and the sum over it in the diagonal of S. The spectrum has at least
    m pairs unless the rank is smaller.
    """
    units, n_rows = rules.units, rules.n_selected
    if not units.is_single:
        squares = np.square(spectrum.vectors, dtype=np.float64)
        norms = np.sqrt([units.sums(column) for column in squares.T]).T
        spectrum, diagonal = Spectrum(spectrum.values, norms, spectrum.error), units.sums(diagonal)
    eigenvalues = float(spectrum.values[:n_components].sum(dtype=np.float64))
    largest = float(np.sort(np.asarray(diagonal, dtype=np.float64))[::-1][:n_rows].sum())
    spectral = spectral_bound(spectrum, n_rows, n_components, is_complete=False)
    # Rounding must not make the bound too small.
    return min(eigenvalues, largest, spectral) * (1 + max(spectrum.error, 1e-12))


def spectral_bound(spectrum: Spectrum, n_rows: int, n_components: int, *, is_complete: bool) -> float:
    r"""Bound the variance by how much of each eigenvector r rows can hold.

    With eigenpairs :math:`(\lambda_k, v_k)` the variance is :math:`\sum_k \lambda_k \theta_k` with
    :math:`\theta_k = \|X^\top v_k\|^2`. An X with r non-zero rows has :math:`\theta_k \le t_k`, the sum of
    the r largest squared entries of :math:`v_k`, and orthonormal columns give :math:`\sum_k \theta_k \le m`.
    Filling the largest eigenvalues first solves this linear programme. It is the relaxation by projections on
    eigenvectors of Dey, Molinaro and Wang (2020, arXiv:2006.01242) and Wang and Dey (2020, ICML), with the
    bound on each projection that row sparsity gives. Unless the spectrum ``is_complete``, with all non-zero
    eigenvalues, the rest of m counts with the smallest given eigenvalue.
    """
    values = np.asarray(spectrum.values, dtype=np.float64)
    squares = np.asarray(spectrum.vectors, dtype=np.float64) ** 2
    first = len(squares) - n_rows
    shares = np.minimum(np.partition(squares, first, axis=0)[first:].sum(axis=0), 1.0)
    filled = np.minimum(np.cumsum(shares), n_components)
    theta = np.diff(filled, prepend=0.0)
    left = 0.0 if is_complete else float(n_components - filled[-1])
    return float(values @ theta) + left * float(values[-1])


def optimality_gap(captured: float, bound: float) -> float:
    """Return the largest share of the best possible variance that can be missing, between 0 and 1.

    It is 0 if the bound is reached up to rounding: the captured variance is then proven to be the best.
    """
    gap = 1 - captured / bound if bound > 0 else 0.0
    return float(min(gap, 1.0)) if gap > PROVEN_GAP else 0.0


def optimality_message(gap: float) -> str:
    """Return what a gap means."""
    if gap < 5e-4:  # would read 0.0 %
        return "provably the best possible, to within 0.05 %"
    return f"within {100 * gap:.1f} % of the best possible"
