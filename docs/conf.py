"""Sphinx settings."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from external_names import inventories

import ufselect

project = "ufselect"
author = "the ufselect developers"
copyright = "2026, the ufselect developers"
version = release = ufselect.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "inserts",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]
myst_enable_extensions = ["alert", "dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]
# Defaults such as "auto" are shown as they are typed.
smartquotes = False

pages_of_evidence = [
    "methods/published",
    "reproduction",
    "tasks/fewer_sensors",
    "trust/index",
    "trust/benchmarks",
]

# Every reference has a target: an unresolved one is an error.
nitpicky = True
intersphinx_mapping = inventories()

# Shipped with the site, so that formulas need no network.
mathjax_path = "mathjax/tex-chtml.js"

autosummary_generate = True
autosummary_context = {
    "documented_methods": [
        "fit", "partial_fit", "transform", "fit_transform", "inverse_transform", "predict", "fit_predict",
        "score", "curve", "fewer", "get_support", "get_feature_names_out", "from_estimator",
        "from_count_curve", "plot", "update", "merge", "to_markdown", "support", "ranking", "summary",
    ],
    # Worked out when they are asked for
    "computed_attributes": ["explained_variance_ratio_", "optimality_gap_", "optimality_message_"],
    "pictures": sorted(path.stem for path in (HERE / "pictures").glob("*.py")),
}  # fmt: skip
# The signature shows names and defaults; the types stand in the table of parameters.
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

plot_formats = ["png"]
plot_html_show_formats = False
plot_html_show_source_link = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [
        "../examples/first_steps",
        "../examples/data_types",
        "../examples/applications",
        "../examples/trust",
        "../examples/dscofs",
    ],
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"plot_",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("ufselect",),
    "download_all_examples": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
}

# Where the source lives, for links to it; without the variable the site has no such links.
repository = os.environ.get("UFSELECT_REPOSITORY", "").rstrip("/")

# Pages of wide tables use the whole width.
pages_with_wide_tables = ["methods/index", "methods/published"]


def sidebar(*further: str) -> dict[str, list[str]]:
    """Return what stands to the right of a page."""
    return {"**": ["page-toc", *further]} | {page: [*further] for page in pages_with_wide_tables}


html_theme = "pydata_sphinx_theme"
html_title = f"ufselect {version}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_theme_options = {
    "logo": {"text": "ufselect"},
    "header_links_before_dropdown": 6,
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "switcher": {"json_url": "_static/switcher.json", "version_match": version},
    "check_switcher": False,
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": sidebar(),
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "changelog": [], "contributing": [], "reproduction": []}
html_show_sourcelink = False
if repository:
    html_context = {
        "edit_page_url_template": "{{ repository }}/edit/main/docs/{{ file_name }}",
        "repository": repository,
    }
    html_theme_options |= {
        "use_edit_page_button": True,
        "secondary_sidebar_items": sidebar("edit-this-page"),
        "icon_links": [
            {"name": "Repository", "url": repository, "icon": "fa-solid fa-code-branch"},
            {"name": "Questions and defects", "url": f"{repository}/issues", "icon": "fa-solid fa-bug"},
        ],
    }
