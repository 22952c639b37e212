"""The parts of the page; every word from outside is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ufselect.report import svg
from ufselect.report.explanation import Explanation
from ufselect.report.keeping import Kept
from ufselect.report.svg import number, percent

Cell = tuple[str, float | str]  # finished HTML, and the value to sort by
MOST_DROPPED = 500
MOST_CELLS = 40
NAMED_SPOKEN_FOR = 2
FILTER_FROM = 10
MINOR = ("Mean", "Deviation", "Closest kept")


def section(anchor: str, title: str, lead: str, body: str) -> str:
    """Return a titled part; ``lead`` is plain text, ``body`` finished HTML."""
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-title"><h2 '
        f'id="{anchor}-title">{escape(title)}</h2>'
        f'<p class="lead">{escape(lead)}</p>{body}</section>'
    )


def cards(facts: Iterable[tuple[str, str, str]]) -> str:
    """Return the most important numbers: value, what it is, how to read it."""
    items = "".join(
        f'<li><span class="value">{escape(value)}</span><span class="what">{escape(what)}</span>'
        f'<span class="how">{escape(how)}</span></li>'
        for value, what, how in facts
    )
    return f'<ul class="cards">{items}</ul>'


def key_facts(e: Explanation) -> list[tuple[str, str, str]]:
    """Return the numbers of the cards."""
    facts = [(f"{e.n_selected} of {e.n_features:,}", "features kept", f"by {e.method}")]
    facts.append((percent(e.variance.selection), "of the variance rebuilt", _against(e.variance)))
    if e.neighbourhood is not None:
        facts.append((percent(e.neighbourhood.selection), "of neighbours kept", _against(e.neighbourhood)))
    if e.stability is not None:
        facts.append(
            (f"{e.stability:.2f}", "stability", f"{stability_word(e.stability)}; 1 is identical, 0 chance")
        )
    return facts


def _against(kept: Kept) -> str:
    return f"random subsets: {percent(float(kept.random.mean()))}"


def stability_word(value: float) -> str:
    """Return Nogueira's benchmark of a stability index in a word."""
    return "excellent" if value >= 0.75 else "intermediate" if value >= 0.4 else "poor"


def features_table(e: Explanation) -> str:
    """Return the kept features as a table to sort and filter."""
    columns = [("Rank", True), ("Feature", False), ("Score", True), ("Mean", True), ("Deviation", True)]
    if e.frequencies is not None:
        columns.append(("Chosen again", True))
    columns += [("Closest kept", True), ("Stands for", True)]
    rows = [_feature_row(e, place) for place in range(e.n_selected)]
    return data_table("kept", "Kept features", columns, rows)


def _feature_row(e: Explanation, place: int) -> list[Cell]:
    """Return cells as (finished HTML, value to sort by)."""
    feature = int(e.ranked[place])
    score = float(e.scores[feature])
    row: list[Cell] = [
        (str(place + 1), place + 1),
        (escape(e.feature_names[feature]), e.feature_names[feature]),
        (f"{bar(_bar_share(e, score))}<span>{number(score)}</span>", score),
        (number(float(e.means[place]), 3), float(e.means[place])),
        (number(float(e.deviations[place]), 3), float(e.deviations[place])),
    ]
    if e.frequencies is not None:
        share = float(e.frequencies[feature])
        row.append((f"{bar(share)}<span>{percent(share)}</span>", share))
    row += [_closest(e, place), _spoken_for(e, place)]
    return row


def _bar_share(e: Explanation, score: float) -> float:
    low, high = min(0.0, float(e.scores.min())), float(e.scores.max())
    return (score - low) / (high - low) if high > low else 1.0


def bar(share: float) -> str:
    """Return a small bar beside a number that says the same."""
    return f'<span class="bar" aria-hidden="true"><span style="width:{100 * share:.0f}%"></span></span>'


def _closest(e: Explanation, place: int) -> Cell:
    others = np.abs(e.among_kept[place]).copy()
    others[place] = -1.0
    if others.size == 1:
        return "–", -1.0
    other = int(np.argmax(others))
    r = float(e.among_kept[place, other])
    return _pair(e.feature_names[e.ranked[other]], r), abs(r)


def _pair(name: str, r: float) -> str:
    """Return a name with a correlation."""
    shown = f"{r:.2f}".replace("-", "−")
    return f'<span class="pair">{escape(name)} <span class="r">r = {shown}</span></span>'


def _spoken_for(e: Explanation, place: int) -> Cell:
    found = e.stands_for(place)
    if not found.size:
        return "itself", 0
    named = [_pair(e.feature_names[j], float(e.spoken_r[j])) for j in found[:NAMED_SPOKEN_FOR]]
    more = f' <span class="r">and {found.size - len(named)} more</span>' if found.size > len(named) else ""
    return f"<strong>{found.size}</strong> · {'; '.join(named)}{more}", int(found.size)


def dropped_table(e: Explanation) -> str:
    """Return the dropped features with the kept one that speaks for each."""
    order = np.argsort(e.ranking)[e.n_selected : e.n_selected + MOST_DROPPED]
    columns = [
        ("Rank", True),
        ("Feature", False),
        ("Score", True),
        ("Spoken for by", False),
        ("Correlation", True),
    ]
    rows: list[list[Cell]] = []
    for feature in order:
        speaker = e.feature_names[e.ranked[e.speaker[feature]]]
        r = float(e.spoken_r[feature])
        rows.append(
            [
                (str(int(e.ranking[feature])), int(e.ranking[feature])),
                (escape(e.feature_names[feature]), e.feature_names[feature]),
                (number(float(e.scores[feature])), float(e.scores[feature])),
                (escape(speaker), speaker),
                (f"{bar(abs(r))}<span>{f'{r:.2f}'.replace('-', '−')}</span>", abs(r)),
            ]
        )
    count = e.n_features - e.n_selected
    shown = f"the first {MOST_DROPPED} of {count:,}" if count > MOST_DROPPED else f"all {count}"
    table = data_table("dropped", "Dropped features", columns, rows)
    return f"<details><summary>Dropped features, {shown}</summary>{table}</details>"


def data_table(
    name: str,
    caption: str,
    columns: Sequence[tuple[str, bool]],
    rows: Sequence[Sequence[Cell]],
    sorted_by: tuple[int, str] = (0, "ascending"),
) -> str:
    """Return a table that the page's script sorts and filters."""
    order = {sorted_by[0]: f' aria-sort="{sorted_by[1]}"'}
    head = "".join(
        f'<th scope="col"{order.get(j, "")} class="{_kind(title, numeric)}">'
        f'<button type="button">{escape(title)}<span class="arrow" aria-hidden="true"></span></button></th>'
        for j, (title, numeric) in enumerate(columns)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<{_tag(j)} class="{_kind(*columns[j])}" '
            f'data-value="{escape(str(value))}">{cell}</{_tag(j, True)}>'
            for j, (cell, value) in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    hidden = " hidden" if len(rows) <= FILTER_FROM else ""
    return (
        f'<div class="tools"{hidden}><label for="{name}-filter">Filter</label>'
        f'<input type="search" id="{name}-filter" data-table="{name}" autocomplete="off" spellcheck="false">'
        f'<output for="{name}-filter" id="{name}-shown" aria-live="polite">{len(rows)} of '
        f"{len(rows)} shown</output></div>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table id="{name}"><caption class="unseen">{escape(caption)}; the buttons in the head '
        "sort it.</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _kind(title: str, numeric: bool) -> str:
    """Return the class of a column's cells; minor ones are hidden on narrow screens."""
    return ("num" if numeric else "word") + (" minor" if title in MINOR else "")


def _tag(column: int, closing: bool = False) -> str:
    return ("th" if closing else 'th scope="row"') if column == 1 else "td"


def pairs(title: str, values: Mapping[str, Any]) -> str:
    """Return names and values as a small table."""
    rows = "".join(
        f'<tr><th scope="row">{escape(str(name))}</th><td>{escape(str(value))}</td></tr>'
        for name, value in values.items()
    )
    return f'<div class="pairs"><h3>{escape(title)}</h3><table>{rows}</table></div>'


def loadings_section(e: Explanation) -> str:
    """Return the heat map of the loadings."""
    assert e.loadings is not None
    shown = e.loadings[:MOST_CELLS, :MOST_CELLS]
    names = [e.feature_names[j] for j in e.ranked[:MOST_CELLS]]
    rest = f" The best {len(names)} features are shown." if e.n_selected > len(names) else ""
    chart = svg.heat_map(
        shown,
        names,
        [str(k + 1) for k in range(shown.shape[1])],
        f"Loadings of {len(names)} features on {shown.shape[1]} components",
    )
    lead = (
        "How strongly each kept feature takes part in each component: blue with it, orange against it." + rest
    )
    return section(
        "loadings",
        "Loadings",
        lead,
        f'<div class="scroll" tabindex="0" role="region" aria-label="Loadings">{chart}</div>{LEGEND}',
    )


def redundancy_section(e: Explanation) -> str:
    """Return how much the kept features repeat each other."""
    assert e.redundancy is not None
    shown = min(e.n_selected, MOST_CELLS)
    names = [e.feature_names[j] for j in e.ranked[:shown]]
    values = e.among_kept[:shown, :shown].copy()
    chart = svg.heat_map(values, names, names, f"Correlations among {shown} kept features", tilt=True)
    rest = f" The best {shown} are shown." if e.n_selected > shown else ""
    lead = (
        "On average a kept feature's largest correlation with another one is "
        f"{e.redundancy.selection:.2f} in size "
        f"(random subsets: {float(e.redundancy.random.mean()):.2f}). Low means that they say "
        f"different things.{rest}"
    )
    return section(
        "redundancy",
        "Redundancy among the kept",
        lead,
        f'<div class="scroll" tabindex="0" role="region" aria-label="Correlations">{chart}</div>{LEGEND}',
    )


LEGEND = (
    '<p class="legend" aria-hidden="true"><span class="swatch minus"></span> below zero '
    '<span class="swatch plus"></span> above zero, stronger is further from it</p>'
)
