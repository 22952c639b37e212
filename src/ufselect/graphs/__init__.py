"""k-nearest-neighbour graphs, affinities, Laplacians and reconstruction weights."""

from ufselect.graphs.affinity import heat_affinity
from ufselect.graphs.laplacian import graph_laplacian, incidence, laplacian_quotients
from ufselect.graphs.lle import lle_weights
from ufselect.graphs.neighbors import nearest_neighbors, usable_neighbors

__all__ = [
    "graph_laplacian",
    "heat_affinity",
    "incidence",
    "laplacian_quotients",
    "lle_weights",
    "nearest_neighbors",
    "usable_neighbors",
]
