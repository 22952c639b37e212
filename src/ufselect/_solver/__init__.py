"""Iterations, projections and reweighted eigenproblems that several methods share."""
