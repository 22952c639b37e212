"""k-nearest-neighbour graphs, affinities, Laplacians and reconstruction weights."""

from ufselect.graphs.neighbors import nearest_neighbors

__all__ = ["nearest_neighbors"]
