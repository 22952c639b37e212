"""How good a selection is: clustering quality, what it keeps of the data, agreement and stability."""

from ufselect.assessment.clustering import (
    SelectionScore,
    clustering_accuracy,
    evaluate_selection,
)
from ufselect.assessment.label_free import neighbours_kept, variance_reconstructed
from ufselect.assessment.stability import feature_similarity_rate, selection_stability

__all__ = [
    "SelectionScore",
    "clustering_accuracy",
    "evaluate_selection",
    "feature_similarity_rate",
    "neighbours_kept",
    "selection_stability",
    "variance_reconstructed",
]
