"""Columns from which the others can be rebuilt: greedy steps, exchanges, shrinkage, costs and places."""
