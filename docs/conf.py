"""Sphinx settings."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import ufselect

project = "ufselect"
author = "the ufselect developers"
copyright = "2026, the ufselect developers"
version = release = ufselect.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    "selector_table",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "guide/bundled_table.md"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
# Equations of a page are numbered and linked by name only where they are referred to.
suppress_warnings = ["config.cache"]

autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [
        "../examples/first_steps",
        "../examples/data_types",
        "../examples/applications",
        "../examples/trust",
        "../examples/internals",
    ],
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "ufselect"
html_static_path = ["_static"]
html_theme_options = {
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "changelog": []}
