"""Columns from which the others can be reconstructed."""
