"""DSCOFS: the penalised problem, its starts, its steps."""
