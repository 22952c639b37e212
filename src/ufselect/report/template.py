"""One look, one content policy and one place of escaping for every page."""

from __future__ import annotations

import base64
import hashlib
from importlib import import_module
from importlib.resources import files
from typing import Any

HOME = "ufselect.report"
FOLDER = "templates"


def render(package: str, name: str, **content: Any) -> str:
    """Fill in a template that extends ``base.html``.

    All values are escaped: text from data, names of features among it, is shown as text and cannot run. The
    page's own script is the only one its content security policy allows, and nothing can be loaded.

    Parameters
    ----------
    package : str
        Package in whose folder ``templates`` the template lies.
    name : str
        Its file.
    content : any
        What it names.

    Returns
    -------
    str
        One HTML document that needs no other file.

    Raises
    ------
    ImportError
        If Jinja2 is not installed.
    """
    script = _asset("page.js")
    shell = {"script": script, "style": _asset("page.css"), "policy": _policy(script)}
    return _environment(package).get_template(name).render(**shell, **content)


def _environment(package: str) -> Any:
    try:
        jinja2 = import_module("jinja2")
    except ImportError as error:
        raise ImportError('Pages need Jinja2: pip install "ufselect[cli]".') from error
    folders = [jinja2.PackageLoader(place, FOLDER) for place in dict.fromkeys((package, HOME))]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(folders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _asset(name: str) -> str:
    return files(HOME).joinpath(FOLDER, name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
