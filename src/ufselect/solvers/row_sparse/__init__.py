"""The constrained problem: few rows, exactly; bounds and proofs."""
