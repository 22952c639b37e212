"""Applications on real data that come with packages, each beside the tool of its field."""
