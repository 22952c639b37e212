"""The number of components: given, or chosen from the data without labels."""

from __future__ import annotations

import numpy as np

from ufselect.exceptions import ConstantDataError
from ufselect.gram import GramOperator, Spectrum, suggest_n_components
from ufselect.selectors.base import resolve_auto

FIRST_GUESS = 32  # pairs of the first round: more than most data keep


def auto_n_components(gram: GramOperator) -> int:
    """Choose the number of components by the broken-stick rule; see `suggest_n_components`."""
    return _broken_stick(gram)[0]


def component_spectrum(gram: GramOperator, n_components: int | str) -> Spectrum:
    """Return the leading eigenpairs, as many as ``n_components`` says, ``"auto"`` included.

    Raises
    ------
    ValueError
        If more components are asked for than the centred data have rank.
    """
    if isinstance(n_components, str) and n_components == "auto":
        count, spectrum = _broken_stick(gram)
        return spectrum.head(count)
    count = resolve_auto("n_components", n_components, lambda: 1)
    spectrum = gram.eigenpairs(min(count, rank_limit(gram)))
    rank = spectrum.values.size
    if rank < count:
        raise ValueError(
            f"n_components={count} is more than the rank {rank} of the centred data; choose at most {rank}."
        )
    return spectrum


def rank_limit(gram: GramOperator) -> int:
    """Return an upper bound on the rank, refusing data without any variance."""
    limit = min(gram.n_samples - 1, int(np.count_nonzero(gram.diag() > 0)))
    if limit == 0:
        raise ConstantDataError
    return limit


def _broken_stick(gram: GramOperator) -> tuple[int, Spectrum]:
    """Widen the spectrum until the rule decides; most data need one round."""
    order = rank_limit(gram)
    trace = gram.trace()
    width = FIRST_GUESS
    while True:
        spectrum = gram.eigenpairs(min(width, order))
        reached_rank = spectrum.values.size < min(width, order)
        count = suggest_n_components(spectrum.values, trace, order)
        if count is None and reached_rank:
            count = spectrum.values.size
        if count is not None:
            return count, spectrum
        width *= 2
