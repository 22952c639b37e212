"""Descriptions of parameters and attributes that many selectors share, written once."""

from __future__ import annotations

import inspect
import re

SHARED = {
    "n_features_to_select": """\
n_features_to_select : int or float, default=0.1
    Number r of features to select, or their share.""",
    "n_components": """\
n_components : int or "auto", default="auto"
    Number m of components. ``"auto"`` keeps a component while its share of the variance is larger than that
    of a piece of a stick broken at random.""",
    "n_neighbors": """\
n_neighbors : int, default=5
    Number k of neighbours; lowered to n_samples − 1, with a warning, if there are fewer samples.""",
    "random_start": """\
random_state : int, RandomState, Generator or None, default=None
    Seed of the random start.""",
    "verbose": """\
verbose : bool, default=False
    Log each iteration.""",
    "constraints": """\
keep, exclude : sequence of str or int, default=None
    Columns, by name or index, that are always or never selected. Excluded columns have no part in the fit.
groups : sequence or dict, default=None
    One label per column, None for a column of its own; or names of groups with their columns. A group is
    selected as a whole or not at all, and counts as one feature.
max_correlation : float, default=None
    Skip columns whose absolute correlation with a higher-ranked one exceeds this, unless too few remain. For
    data in memory, ``duplicates_`` then lists the sets of identical columns.""",
    "placement": """\
costs : array-like of shape (n_features,), optional
    What each column costs, above 0. Greedy steps then take the largest gain per cost.
budget : float, optional
    What all selected columns may cost together.
regions : array-like of shape (n_features,), optional
    A label for each column.
quotas : mapping, optional
    For a label the most columns it may hold, or a pair of the least and the most.
positions : array-like of shape (n_features,) or (n_features, n_dimensions), optional
    Where each column lies; by default at its number. Pixels have two coordinates, wavelengths one.
min_distance : float, optional
    Least distance between the positions of two selected columns.""",
    "count_curve": """\
count_curve_ : list of dict
    With ``n_features_to_select="auto"``: for each ``count`` tried the held-out ``error`` of reconstructing
    the other columns, in units of the error of their means, its ``standard_error``, and whether it was
    ``chosen``: the smallest within one standard error of the least error, with a ``note`` beside it.""",
    "ranking_and_support": """\
ranking_ : ndarray of shape (n_features,)
    Rank of each feature, 1 for the best.
support_ : ndarray of shape (n_features,)
    Mask of the selected features.""",
}


def with_shared(docstring: str) -> str:
    """Return a docstring with the shared descriptions in place of lines such as ``{constraints}``."""
    text = inspect.cleandoc(docstring)
    return re.sub(r"^\{(\w+)\}$", lambda match: SHARED.get(match[1], match[0]), text, flags=re.MULTILINE)
