"""Robust neighbourhood embedding."""
