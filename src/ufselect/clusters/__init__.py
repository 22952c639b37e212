"""Clusters of rows without labels."""

from ufselect.clusters.clustering import GraphClustering

__all__ = ["GraphClustering"]
