"""The whole page: one file, nothing from the network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from ufselect.report import sections, svg
from ufselect.report.explanation import FAINT, Explanation
from ufselect.report.sections import section
from ufselect.report.svg import percent

RUNNER_COLUMNS = (("Rank", True), ("Feature", False), ("Chosen", True))


def report_html(
    explanation: Explanation,
    *,
    title: str = "Selection",
    notes: Sequence[str] = (),
    record: Mapping[str, Any] | None = None,
) -> str:
    """Return the report as one HTML document.

    All text that comes from data, names of features among it, is shown as text and cannot run. The page's own
    script is the only one its content security policy allows, and nothing can be loaded.

    Parameters
    ----------
    explanation : Explanation
        From :func:`explain`.
    title : str
        What was selected from, such as the file's name.
    notes : sequence of str
        Remarks on the data and the fit.
    record : mapping, optional
        The record of the run, for the page's last section.

    Returns
    -------
    str
    """
    e = explanation
    parts = _parts(e, notes, record)
    links = "".join(f'<li><a href="#{anchor}">{escape(name)}</a></li>' for anchor, name, _ in parts)
    script = _asset("page.js")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}: {e.n_selected} of {e.n_features} features</title>"
        f"<style>{_asset('page.css')}</style></head><body>"
        '<a class="skip" href="#main">Skip to the report</a>'
        f'<header><div class="top"><p class="brand">ufselect</p>'
        '<button type="button" id="theme" aria-pressed="false">Dark</button></div>'
        f'<h1>{escape(title)}</h1><p class="summary">{escape(_summary(e))}</p>'
        f"{sections.cards(sections.key_facts(e))}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>'
        f'<main id="main">{"".join(body for _, _, body in parts)}</main>'
        f"{_footer(record)}"
        f'<div id="tip" role="tooltip" hidden></div><script>{script}</script></body></html>\n'
    )


def _asset(name: str) -> str:
    return files("ufselect.report").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _summary(e: Explanation) -> str:
    mean = float(e.variance.random.mean())
    gain = 100 * (e.variance.selection - mean)
    verdict = (
        f"{abs(gain):.0f} points {'more' if gain > 0 else 'less'} than random subsets of the same size"
        if abs(gain) >= 0.5
        else "as much as random subsets of the same size"
    )
    return (
        f"{e.method} kept {e.n_selected} of {e.n_features:,} features of {e.n_samples:,} samples, "
        "without labels. "
        f"From them a linear model rebuilds {percent(e.variance.selection)} of the variance of all "
        f"features, {verdict}."
    )


def _parts(
    e: Explanation, notes: Sequence[str], record: Mapping[str, Any] | None
) -> list[tuple[str, str, str]]:
    """Return anchor, name and HTML of each section."""
    parts = [("features", "Features", _features(e))]
    if e.image_shape is not None and e.mean_image is not None:
        parts.append(("pixels", "Pixels", _pixels(e)))
    parts.append(("kept-share", "What is kept", _kept(e)))
    if e.loadings is not None:
        parts.append(("loadings", "Loadings", sections.loadings_section(e)))
    if e.redundancy is not None:
        parts.append(("redundancy", "Redundancy", sections.redundancy_section(e)))
    if e.frequencies is not None:
        parts.append(("stability", "Stability", _stability(e)))
    if e.history is not None and e.history.size > 1:
        parts.append(("convergence", "Convergence", _convergence(e)))
    parts.append(("settings", "Data and settings", _settings(e, notes, record)))
    return parts


def _features(e: Explanation) -> str:
    order = np.argsort(e.ranking)
    chart = svg.scores_chart(e.scores[order], e.n_selected, [e.feature_names[j] for j in order])
    lead = (
        "Best first. A kept feature stands for the dropped ones that correlate (r) with it more than with "
        f"any other kept feature, by {FAINT} or more in size. {_unspoken(e)}"
    )
    dropped = sections.dropped_table(e) if e.n_features > e.n_selected else ""
    figure = (
        f"<figure>{chart}<figcaption>Scores of all features; the kept ones in colour.</figcaption></figure>"
    )
    return section("features", "The features, and why", lead, sections.features_table(e) + figure + dropped)


def _unspoken(e: Explanation) -> str:
    dropped, alone = e.n_features - e.n_selected, e.unspoken()
    if not dropped:
        return ""
    if not alone:
        return "Every dropped feature has such a one."
    return f"{alone:,} of the {dropped:,} dropped features correlate so with none."


def _pixels(e: Explanation) -> str:
    assert e.image_shape is not None
    assert e.mean_image is not None
    support = e.ranking <= e.n_selected
    chart = svg.pixel_chart(support, e.mean_image, e.feature_names, e.image_shape, e.image_order)
    return section(
        "pixels", "The pixels", "Kept pixels in colour, over the mean image.", f"<figure>{chart}</figure>"
    )


def _kept(e: Explanation) -> str:
    body = '<div class="columns"><div><h3>Variance</h3>' + svg.strip(e.variance, "Variance rebuilt")
    body += (
        "<p>Share of the variance of all features that a linear model rebuilds from the kept ones.</p></div>"
    )
    if e.neighbourhood is not None:
        body += "<div><h3>Neighbourhoods</h3>" + svg.strip(e.neighbourhood, "Neighbours kept")
        body += (
            "<p>Share of each sample's ten nearest neighbours among all features that are still "
            "among its ten "
            "nearest by the kept ones.</p></div>"
        )
    body += "</div>"
    return section(
        "kept-share",
        "How much of the data they keep",
        "The selection against random subsets of the same size and against all features.",
        body,
    )


def _stability(e: Explanation) -> str:
    assert e.frequencies is not None
    always = int(np.sum(e.frequencies[e.ranked] == 1))
    index = (
        f" Nogueira's index is {e.stability:.2f}, {sections.stability_word(e.stability)}: 1 for "
        "identical selections, "
        "about 0 for random ones."
        if e.stability is not None
        else ""
    )
    lead = (
        f"The selection was repeated {e.n_resamples} times on 80 % of the rows. {always} of the "
        f"{e.n_selected} kept "
        f"features were chosen every time.{index}"
    )
    runners = [
        j
        for j in np.argsort(-e.frequencies, kind="stable")
        if e.ranking[j] > e.n_selected and e.frequencies[j] > 0
    ]
    rows: list[list[sections.Cell]] = [
        [
            (str(int(e.ranking[j])), int(e.ranking[j])),
            (escape(e.feature_names[j]), e.feature_names[j]),
            (
                f"{sections.bar(float(e.frequencies[j]))}<span>{percent(float(e.frequencies[j]))}</span>",
                float(e.frequencies[j]),
            ),
        ]
        for j in runners[:100]
    ]
    table = (
        f"<h3>Not kept, but chosen on some of the samples</h3>"
        f"{sections.data_table('runners', 'Runners-up', RUNNER_COLUMNS, rows, (2, 'descending'))}"
        if rows
        else "<p>No other feature was ever chosen.</p>"
    )
    return section("stability", "Stability under resampling", lead, table)


def _convergence(e: Explanation) -> str:
    assert e.history is not None
    steps = f"{e.history.size - 1} iterations"
    lead = (
        f"The objective over {steps}; the stopping rule was met."
        if e.converged in (True, None)
        else f"The method stopped after {steps} before its stopping rule was met; raise max_iter "
        "or loosen tol."
    )
    return section("convergence", "Convergence", lead, f"<figure>{svg.convergence_chart(e.history)}</figure>")


def _settings(e: Explanation, notes: Sequence[str], record: Mapping[str, Any] | None) -> str:
    remarks = "".join(f"<li>{escape(sentence)}</li>" for sentence in notes)
    body = f'<ul class="notes">{remarks}</ul>' if remarks else ""
    tables = sections.pairs("Parameters", {name: _shown(value) for name, value in e.parameters.items()})
    if record is not None:
        data = {
            name: value for name, value in record["data"].items() if name != "left_out" and value is not None
        }
        tables = sections.pairs("Data", data) + tables + sections.pairs("Versions", record["versions"])
    return section(
        "settings",
        "Data and settings",
        "What is needed to repeat the run.",
        f'{body}<div class="columns">{tables}</div>',
    )


def _shown(value: Any) -> str:
    return f"array of shape {value.shape}" if isinstance(value, np.ndarray) else str(value)


def _footer(record: Mapping[str, Any] | None) -> str:
    when = f" on {escape(str(record['created']))}" if record is not None and "created" in record else ""
    return f"<footer><p>Made by ufselect{when}. This page needs no network and sends nothing.</p></footer>"
