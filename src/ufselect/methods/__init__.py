"""The selectors: a method, its mathematics included, is one module. `ufselect.registry` lists them."""
