"""k-nearest-neighbour graphs, affinities, Laplacians and reconstruction weights."""

from ufselect.graphs.laplacian import (
    clusters_asked,
    graph_laplacian,
    heat_affinity,
    incidence,
    laplacian_quotients,
    normalized_laplacian,
    smoothest_normalized_pairs,
    smoothest_vectors,
)
from ufselect.graphs.neighbors import balanced_neighbors, nearest_neighbors, neighbor_matrix, usable_neighbors

__all__ = [
    "balanced_neighbors",
    "clusters_asked",
    "graph_laplacian",
    "heat_affinity",
    "incidence",
    "laplacian_quotients",
    "nearest_neighbors",
    "neighbor_matrix",
    "normalized_laplacian",
    "smoothest_normalized_pairs",
    "smoothest_vectors",
    "usable_neighbors",
]
