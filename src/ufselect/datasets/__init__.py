"""The data sets of the published comparisons, and shapes hidden among noise."""

from typing import TYPE_CHECKING

from ufselect._utils.imports import lazy

if TYPE_CHECKING:
    from ufselect.datasets.loading import list_datasets, load_dataset
    from ufselect.datasets.shapes import make_noisy_shapes
    from ufselect.exceptions import DatasetUnavailableError

__all__ = ["DatasetUnavailableError", "list_datasets", "load_dataset", "make_noisy_shapes"]
__getattr__ = lazy(
    "ufselect.datasets",
    {
        **dict.fromkeys(["list_datasets", "load_dataset"], "ufselect.datasets.loading"),
        "make_noisy_shapes": "ufselect.datasets.shapes",
        "DatasetUnavailableError": "ufselect.exceptions",
    },
)
