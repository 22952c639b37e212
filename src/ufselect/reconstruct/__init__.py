"""Select columns for reconstruction, and reconstruct the others from them."""
