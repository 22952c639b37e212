"""The constraint sets of the solvers. Stateless."""

from ufselect.sets import entry_sparse, row_sparse, simplex, stiefel

__all__ = ["entry_sparse", "row_sparse", "simplex", "stiefel"]
