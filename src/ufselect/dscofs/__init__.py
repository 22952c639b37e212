"""DSCOFS: double-sparsity constrained PCA."""
