"""The data sets of the published comparisons, and shapes hidden among noise."""

from ufselect.datasets.loading import DatasetUnavailableError, list_datasets, load_dataset
from ufselect.datasets.shapes import make_noisy_shapes

__all__ = ["DatasetUnavailableError", "list_datasets", "load_dataset", "make_noisy_shapes"]
