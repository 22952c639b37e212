r"""How many features that are chosen by chance a threshold on selection frequencies lets through, at most.

A feature has *low selection probability* if a half-sample selects it with a probability of at most
:math:`\theta = q / p`, with q features selected of p on average: no more often than a blind draw would. For
the features selected in a share τ > ½ of the 2B half-samples of B complementary pairs, the expected number of
those of low selection probability is at most [1]_, [2]_

.. math:: \frac{1}{2\tau - 1}\,\frac{q^2}{p}

whatever the method and the data, and, if the distribution of a frequency over the draws of rows is unimodal
and :math:`\theta \le 1/\sqrt 3`, at most :math:`C(\tau, B)\, q^2 / p` with

.. math::

    C(\tau, B) = \begin{cases}
        \frac{1}{2\,(2\tau - 1 - 1/(2B))}, &
            \tfrac12 + \min\{\theta^2,\, \tfrac{1}{2B} + \tfrac34 \theta^2\} < \tau \le \tfrac34, \\
        \frac{4\,(1 - \tau + 1/(2B))}{1 + 1/B}, & \tfrac34 < \tau \le 1.
    \end{cases}

References
----------
.. [1] N. Meinshausen, P. Bühlmann (2010), "Stability selection", Journal of the Royal Statistical Society B
   72(4).
.. [2] R. D. Shah, R. J. Samworth (2013), "Variable selection with error control: another look at stability
   selection", Journal of the Royal Statistical Society B 75(1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ErrorBound:
    """What a threshold promises.

    Attributes
    ----------
    threshold : float
        Share τ of the half-samples.
    n_selected : float
        Features q that a half-sample selects, on average.
    worst_case : float
        Most features of low selection probability to expect among those above the threshold, whatever the
        data.
    unimodal : float
        The same where frequencies have unimodal distributions; ``worst_case`` where that says no more.
    """

    threshold: float
    n_selected: float
    worst_case: float
    unimodal: float


def error_bound(threshold: float, n_selected: float, n_features: int, n_pairs: int) -> ErrorBound:
    """Return the bounds for a threshold above ½; both are infinite at ½ and below."""
    by_chance = n_selected**2 / n_features
    if threshold <= 0.5:
        return ErrorBound(threshold, n_selected, np.inf, np.inf)
    worst_case = by_chance / (2 * threshold - 1)
    unimodal = by_chance * _unimodal_constant(threshold, n_selected / n_features, n_pairs)
    return ErrorBound(threshold, n_selected, worst_case, min(worst_case, unimodal))


def _unimodal_constant(threshold: float, theta: float, n_pairs: int) -> float:
    """Return C(τ, B), infinite where the theorem does not hold."""
    half_step = 1 / (2 * n_pairs)
    lowest = 0.5 + min(theta**2, half_step + 0.75 * theta**2)
    if theta > 1 / np.sqrt(3):
        return np.inf
    if threshold > 0.75:
        return 4 * (1 - threshold + half_step) / (1 + 1 / n_pairs)
    excess = 2 * threshold - 1 - half_step
    return 1 / (2 * excess) if threshold > lowest and excess > 0 else np.inf


def smallest_threshold(max_false: float, n_selected: float, n_features: int, n_pairs: int) -> ErrorBound:
    """Return the bound of the smallest frequency above ½ that keeps to ``max_false``, or else that of 1."""
    for count in range(n_pairs + 1, 2 * n_pairs + 1):
        bound = error_bound(count / (2 * n_pairs), n_selected, n_features, n_pairs)
        if bound.unimodal <= max_false:
            break
    return bound
