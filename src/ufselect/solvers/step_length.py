"""Step lengths of gradient methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def barzilai_borwein(
    change: NDArray, gradient_change: NDArray, largest: float, *, is_long: bool = True
) -> float:
    r"""Return Barzilai and Borwein's step, without its sign and at most ``largest``.

    With :math:`s` the last change of the point and :math:`y` that of the gradient, the long step is
    :math:`s^\top s / |s^\top y|` and the short one :math:`|s^\top y| / y^\top y`: both are one over the
    curvature along the last step [1]_.

    References
    ----------
    .. [1] J. Barzilai and J. M. Borwein (1988), "Two-point step size gradient methods", IMA Journal of
       Numerical Analysis 8(1).
    """
    mixed = abs(float(np.vdot(change, gradient_change)))
    if is_long:
        above, below = float(np.vdot(change, change)), mixed
    else:
        above, below = mixed, float(np.vdot(gradient_change, gradient_change))
    return above / below if above < largest * below else largest
