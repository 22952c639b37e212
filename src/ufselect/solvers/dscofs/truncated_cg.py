"""Truncated conjugate gradients for a trust-region step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.solvers.dscofs.model import StiefelModel, norm
from ufselect.solvers.dscofs.problem import inner

LINEAR_FALL = 0.1  # fall of the residual that is always asked for


@dataclass(frozen=True)
class TrustRegionStep:
    """A tangent direction, S times it, the decrease that the model predicts, and how it ended."""

    direction: NDArray
    product: NDArray
    decrease: float
    reached_edge: bool
    n_products: int


def truncated_cg(model: StiefelModel, radius: float, goal: float, max_products: int) -> TrustRegionStep:
    r"""Minimise the quadratic model over tangent directions of norm at most ``radius``.

    Preconditioned conjugate gradients from zero [1]_; they stop at the edge of the region, on a direction of
    negative curvature (followed to the edge), or when the residual has fallen to ``goal``, or from
    :math:`\rho_0` to :math:`\rho_0 \min(0.1, \sqrt{\rho_0 / \|SX + B\|})`, which makes the outer iteration
    converge superlinearly.

    References
    ----------
    .. [1] T. Steihaug (1983), "The conjugate gradient method and trust regions in large scale optimization",
       SIAM Journal on Numerical Analysis 20(3).
    """
    residual = model.gradient
    first = norm(residual)
    target = max(goal, first * min(LINEAR_FALL, float(np.sqrt(first / norm(model.ascent)))))
    step = np.zeros_like(residual)
    step_product = np.zeros_like(residual)
    step_hessian = np.zeros_like(residual)
    preconditioned = model.tangent(model.precondition(residual))
    direction = -preconditioned
    energy = inner(residual, preconditioned)
    reached_edge = False
    n_products = 0
    while n_products < max_products:
        product = model.gram.matmat(direction)
        n_products += 1
        hessian = model.hessian(direction, product)
        curvature = inner(direction, hessian)
        length = energy / curvature if curvature > 0 else np.inf
        to_edge = _distance_to_edge(step, direction, radius)
        reached_edge = length >= to_edge
        length = min(length, to_edge)
        step = step + length * direction
        step_product = step_product + length * product
        step_hessian = step_hessian + length * hessian
        residual = residual + length * hessian
        if reached_edge or norm(residual) <= target:
            break
        preconditioned = model.tangent(model.precondition(residual))
        last_energy, energy = energy, inner(residual, preconditioned)
        direction = -preconditioned + (energy / last_energy) * direction
    decrease = -inner(model.gradient, step) - 0.5 * inner(step, step_hessian)
    return TrustRegionStep(step, step_product, decrease, reached_edge, n_products)


def _distance_to_edge(step: NDArray, direction: NDArray, radius: float) -> float:
    """Return the positive t with ``‖step + t direction‖ = radius``."""
    a = inner(direction, direction)
    b = inner(step, direction)
    c = max(radius**2 - inner(step, step), 0.0)
    root = np.sqrt(b * b + a * c)
    return float(c / (b + root)) if b > 0 else float((root - b) / a)
