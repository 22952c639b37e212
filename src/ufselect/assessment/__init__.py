"""How good a selection is: on held-out rows, over resamples, against classes."""
