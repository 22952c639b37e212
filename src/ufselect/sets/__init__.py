"""The constraint sets: project, contains, distance. Stateless."""

from ufselect.sets import entry_sparse, row_sparse, stiefel

__all__ = ["entry_sparse", "row_sparse", "stiefel"]
