"""BSUFS: bi-sparse unsupervised feature selection, the loop of DSCOFS with two other proximal maps."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import iterate, run_attributes
from ufselect.base import NON_NEGATIVE, POSITIVE, FitResult, GramSelector, Interval, StrOptions
from ufselect.dscofs.algorithm import (
    EARLY_ONSET,
    LATE_ONSET,
    ProximalAlternatingMinimisation,
    SplitPCA,
    Support,
    constraint_residuals,
    make_x_step,
    pca_start,
    penalty_unit,
    proximal_average,
)
from ufselect.gram import GramOperator
from ufselect.gram.spectrum import component_spectrum


def power_threshold(q: float) -> float:
    r"""Return the size up to which ``shrink(sizes, 1, q)`` is 0.

    For a weight w, multiply it by :math:`w^{1/(2-q)}`. At the threshold the two minima, at 0 and at
    :math:`(2 - 2q)^{1/(2-q)}`, are equally deep.
    """
    other = (2 * (1 - q)) ** (1 / (2 - q))
    return other + q * other ** (q - 1)


def shrink(sizes: NDArray, weight: float, q: float) -> NDArray:
    r"""Return the minimiser of :math:`w\,u^q + \tfrac12 (u - v)^2` over u ≥ 0 for sizes v, with q in [0, 1).

    It is 0 up to a threshold, where it jumps. Beyond, it is the larger root of :math:`u + w q u^{q-1} = v`,
    found by Newton's method from v; the left side is convex, so the iterates never pass the root.
    """
    beyond = sizes > power_threshold(q) * weight ** (1 / (2 - q))
    v = sizes[beyond]
    u = v.copy()
    for _ in range(60):  # about six are enough, except near the threshold
        slope = weight * q * u ** (q - 1)
        change = (u + slope - v) / (1 + (q - 1) * slope / u)
        u = u - change
        if np.all(change <= 4 * np.finfo(u.dtype).eps * u):
            break
    result = np.zeros_like(sizes)
    result[beyond] = u
    return result


@dataclass(frozen=True, kw_only=True)
class BiSparsePCA(SplitPCA):
    r"""PCA whose copies are penalised by :math:`\lambda_1 \|Y\|_q^q` and :math:`\lambda_2 \|Z\|_{2,p}^p`."""

    weight_entry: float
    weight_row: float
    q: float
    p: float

    def entry_step(self, X: NDArray, Y: NDArray, last: Support | None) -> tuple[NDArray, Support]:
        average = proximal_average(X, Y, self.memory)
        sizes = shrink(np.abs(average), self.weight_entry / (2 * self.mu_entry * (1 + self.memory)), self.q)
        return np.copysign(sizes, average), Support((sizes > 0).ravel(order="F"), 0.0)

    def row_step(self, X: NDArray, Z: NDArray, last: Support | None) -> tuple[NDArray, Support]:
        average = proximal_average(X, Z, self.memory)
        norms = np.sqrt(np.einsum("ij,ij->i", average, average))
        sizes = shrink(norms, self.weight_row / (2 * self.mu_row * (1 + self.memory)), self.p)
        factors = np.divide(sizes, norms, out=np.zeros_like(norms), where=norms > 0)
        return average * factors[:, None], Support(sizes > 0, 0.0)

    def penalty(self, Y: NDArray, Z: NDArray) -> float:
        entries, rows = np.abs(Y[Y != 0]), np.linalg.norm(Z[Z.any(axis=1)], axis=1)
        sums = [np.sum(sizes**q, dtype=np.float64) for sizes, q in ((entries, self.q), (rows, self.p))]
        return float(self.weight_entry * sums[0] + self.weight_row * sums[1])


@dataclass(kw_only=True, eq=False, repr=False)
class BSUFS(GramSelector):
    r"""Select features by PCA with penalties on the entries and on the rows of the loadings.

    Use bi-sparse feature selection [1]_ instead of `DSCOFS` to set penalties on entries and rows rather than
    limits on their numbers. The penalties determine how many rows are not zero; ``n_features_to_select`` only
    cuts the ranking. The two penalties and two exponents cannot be tuned without labels.

    Only linear structure is found. Features with large units dominate: standardise first unless units are
    comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_components}
    weight_entry, weight_row : float or "auto", default="auto"
        Penalties λ₁ on entries and λ₂ on rows. ``"auto"`` sets entries and rows of the copies to zero if they
        are smaller than the root mean square of all entries or rows of X.
    q, p : float, default=0.5
        Exponents of the entry and row penalties, in [0, 1); 0 counts the nonzero entries or rows.
    mu_entry, mu_row : float, default=0.1 and 0.01
        Weights μ₁ and μ₂, above 0, of the distances between X and its sparse copies; half the β of [1]_.
    penalty_scale : {"relative", "absolute"}, default="relative"
        Whether λ, μ and ``tau`` are in units of the largest eigenvalue of S, which makes them comparable
        across data sets, or absolute as in [1]_.
    tau : float, default=1e-3
        Proximal weight of all three steps.
    {max_iter}
    tol : float, default=1e-4
        Stop once the relative decrease of the objective is at most this. The default is that of [1]_.
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of X; larger is better.
    {ranking_and_support}
    components_ : ndarray of shape (n_components, n_features)
        The transpose of X.
    row_sparse_components_, entry_sparse_components_ : ndarray of shape (n_components, n_features)
        The transposes of Z and Y.
    n_components_ : int
        The m used.
    constraint_residuals_ : dict
        ``‖X − Z‖`` as "row" and ``‖X − Y‖`` as "entry".
    {iterations}

    See Also
    --------
    DSCOFS : Limit the number of entries and rows instead of penalising them.
    SPCAFS : Penalise rows only.
    ReconstructionSelector : Select columns from which the others can be reconstructed.

    Notes
    -----
    With an entry-sparse copy Y and a row-sparse copy Z of the orthonormal loadings X, the problem is

    .. math::

        \min_{X, Y, Z}\; -\mathrm{Tr}(X^\top S X) + \lambda_1 \|Y\|_q^q + \lambda_2 \|Z\|_{2,p}^p
            + \mu_1 \|X - Y\|_F^2 + \mu_2 \|X - Z\|_F^2 \quad\text{s.t.}\quad X^\top X = I.

    1. Start from the PCA loadings.
    2. Make a step of X on the Stiefel manifold, as `DSCOFS` does: one product with S and a polar factor.
    3. Set Y and Z to the proximal maps of the two penalties at the mean of X and the last copy, the copy with
       weight ``tau``. Each entry and each row norm is shrunk separately. Repeat from 2. The objective never
       rises.

    Model, splitting and proximal maps are those of [1]_. This implementation differs in making one step of X
    instead of solving a trust-region problem, in extrapolation, start, relative units and ``"auto"``, and in
    ranking by X, which orders the nonzero rows of Z as Z does and then ranks the others.

    An iteration costs as much as one of `DSCOFS`: 2 d² m operations for d ≤ n features, 4 n d m otherwise.

    References
    ----------
    .. [1] X. Xiu, C. Huang, P. Shang, W. Liu (2025), "Bi-sparse unsupervised feature selection", IEEE
       Transactions on Image Processing 34. doi:10.1109/TIP.2025.3620667

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import BSUFS
    >>> pixels = load_digits().data
    >>> BSUFS(n_features_to_select=20, n_components=10).fit_transform(pixels).shape
    (1797, 20)
    """

    label = "BSUFS"
    cost = "n d² + iterations · d² m (tall), iterations · n d m (wide)"
    is_nested = True
    copies_wide_data = False
    feature_axes: ClassVar = {"components_": 1, "row_sparse_components_": 1, "entry_sparse_components_": 1}

    row_sparse_components_: NDArray = field(init=False)
    entry_sparse_components_: NDArray = field(init=False)
    constraint_residuals_: dict[str, float] = field(init=False)

    _parameter_constraints: ClassVar = {
        "weight_entry": [NON_NEGATIVE, StrOptions({"auto"})],
        "weight_row": [NON_NEGATIVE, StrOptions({"auto"})],
        "q": [Interval(Real, 0, 1, closed="left")],
        "p": [Interval(Real, 0, 1, closed="left")],
        "mu_entry": [POSITIVE],
        "mu_row": [POSITIVE],
        "penalty_scale": [StrOptions({"relative", "absolute"})],
        "tau": [NON_NEGATIVE],
    }

    n_components: int | str = "auto"
    weight_entry: float | str = "auto"
    weight_row: float | str = "auto"
    q: float = 0.5
    p: float = 0.5
    mu_entry: float = 0.1
    mu_row: float = 0.01
    penalty_scale: str = "relative"
    tau: float = 1e-3
    max_iter: int = 100
    tol: float = 1e-4
    verbose: bool = False

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        spectrum = component_spectrum(gram, self.n_components)
        d, m = spectrum.vectors.shape
        # X has m columns of norm 1: the mean of its squared entries is 1/d, that of its squared rows m/d.
        penalties = {
            "mu_row": self.mu_row,
            "mu_entry": self.mu_entry,
            "tau": self.tau,
            "weight_entry": self._weight(self.weight_entry, self.mu_entry, self.q, 1 / d),
            "weight_row": self._weight(self.weight_row, self.mu_row, self.p, m / d),
        }
        unit = penalty_unit(gram, spectrum, penalties, is_relative=self.penalty_scale == "relative")
        problem = BiSparsePCA(
            gram=gram,
            q=float(self.q),
            p=float(self.p),
            memory=self.tau,
            unit=unit,
            leading_variance=float(spectrum.values.mean()),
            **{name: float(value) * unit for name, value in penalties.items()},
        )
        method = ProximalAlternatingMinimisation(
            problem,
            pca_start(spectrum),
            make_x_step("auto", problem),
            EARLY_ONSET if self.tol <= 1e-5 else LATE_ONSET,
        )
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        return np.linalg.norm(result.state.X, axis=1), {
            "components_": result.state.X.T,
            "row_sparse_components_": result.state.Z.T,
            "entry_sparse_components_": result.state.Y.T,
            "n_components_": m,
            "constraint_residuals_": constraint_residuals(result.state),
            **run_attributes("BSUFS", result, gram.scale),
        }

    def _weight(self, weight: float | str, mu: float, exponent: float, mean_square: float) -> float:
        """Return λ; for "auto", the λ whose threshold is the root of the mean square."""
        if not isinstance(weight, str):
            return weight
        return 2 * mu * (1 + self.tau) * (np.sqrt(mean_square) / power_threshold(exponent)) ** (2 - exponent)
