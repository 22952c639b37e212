"""Published methods, one a module; only the registry imports them."""
