"""A record of what is selected, which a redesign must not change: see ``__main__``."""
