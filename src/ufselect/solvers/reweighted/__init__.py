"""The reweighted eigenproblem and its quadratics."""
