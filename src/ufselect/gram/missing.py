"""What was done about missing entries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MissingSummary:
    """How missing entries were dealt with, and how much that changed.

    Attributes
    ----------
    route : {"completed", "pairwise"}
        Filled in by a shrunken low-rank fit; or each entry of S from the rows where both features are
        observed.
    share : float
        Share of the entries of X that are missing.
    correction : float
        "completed": share of the total variance that was added because filled-in values vary less than
        observed ones do. "pairwise": relative change of S, in the Frobenius norm, that made it positive
        semidefinite.
    """

    route: str
    share: float
    correction: float
