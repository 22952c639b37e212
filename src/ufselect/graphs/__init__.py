"""k-nearest-neighbour graphs, affinities, Laplacians and reconstruction weights."""

from ufselect.graphs.adaptive import adaptive_weights, mean_graph
from ufselect.graphs.affinity import heat_affinity
from ufselect.graphs.laplacian import graph_laplacian, incidence, laplacian_quotients
from ufselect.graphs.lle import lle_weights
from ufselect.graphs.neighbors import balanced_neighbors, nearest_neighbors, usable_neighbors
from ufselect.graphs.spectral import smoothest_vectors

__all__ = [
    "adaptive_weights",
    "balanced_neighbors",
    "graph_laplacian",
    "heat_affinity",
    "incidence",
    "laplacian_quotients",
    "lle_weights",
    "mean_graph",
    "nearest_neighbors",
    "smoothest_vectors",
    "usable_neighbors",
]
