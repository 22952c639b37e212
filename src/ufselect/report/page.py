"""The report as one HTML file that loads nothing from the network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from ufselect._utils.imports import import_extra
from ufselect.plotting import (
    PixelsDisplay,
    ReconstructionDisplay,
    ScoresDisplay,
)
from ufselect.plotting.displays import heat_map
from ufselect.plotting.style import COLOURS, DROPPED, INK, SELECTED, figure_svg, matplotlib, plain, quiet
from ufselect.report.explanation import LEAST_CORRELATION, Explanation, relative_scores

MOST_CELLS = 40  # rows and columns of a heat map that a page has room for


def report_html(
    explanation: Explanation, *, title: str = "Selection", record: Mapping[str, Any] | None = None
) -> str:
    """Return the report as one HTML document.

    Text from the data, such as column names, is escaped and cannot run. The content security policy allows
    only the page's own script, and nothing can be loaded.

    Parameters
    ----------
    explanation : Explanation
        From :func:`explain`.
    title : str
        Name of the data, such as the file's name.
    record : mapping, optional
        The record of a run of the command line; adds its settings and assumptions.

    Returns
    -------
    str

    Raises
    ------
    ImportError
        If Jinja2 is not installed.

    See Also
    --------
    explain : Makes the explanation of a fitted selector.
    ufselect.plotting.ScoresDisplay : A single figure instead of a page.
    """
    e = explanation
    told = {} if record is None else record
    shown = {
        name: f"array of shape {value.shape}" if isinstance(value, np.ndarray) else str(value)
        for name, value in e.parameters.items()
    }
    settings: dict[str, Mapping[str, Any]] = {"Parameters": shown}
    if record is not None:
        data = {
            name: each for name, each in record["data"].items() if name != "left_out" and each is not None
        }
        settings = {"Data": data, "Scaling": record["scaling"], **settings, "Versions": record["versions"]}
    return render(
        title=title,
        tab_title=f"{title}: {e.n_selected} of {e.n_features} columns",
        summary=f"{e.n_selected} of {e.n_features:,} columns {e.purpose} ({e.n_samples:,} rows).",
        verdict=e.verdict,
        message=told.get("message", e.message),
        cards=_cards(e),
        pictures=_pictures(e),
        represents=_represents(e),
        tables={"selected": selected_table(e), "dropped": dropped_table(e)},
        clusters=e.clusters,
        charts=_charts(e),
        flattens="" if e.counts is None else e.enough[1],
        assumed=told.get("assumed", ()),
        settings=settings,
        created=told.get("created"),
        command=told.get("command"),
    )


def render(**content: Any) -> str:
    """Fill in the template of the page; all values are escaped."""
    jinja2 = import_extra("jinja2", "A report", "cli")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ufselect.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    assets = files("ufselect.report").joinpath("templates")
    script, style = (assets.joinpath(each).read_text(encoding="utf-8") for each in ("page.js", "page.css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = environment.get_template("selection.html")
    return page.render(script=script, style=style, policy=policy, **content)


def number(value: float, digits: int = 4) -> str:
    """Return a number rounded to a few digits."""
    return (f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.{digits}g}").replace("-", "−")


def signed(value: float) -> str:
    """Return a number with two decimals and a minus sign."""
    return f"{value:.2f}".replace("-", "−")


def percent(share: float) -> str:
    """Return a share in per cent."""
    if 0.999 < share < 1:
        return ">\u00a099.9\u00a0%"
    digits = 0 if share in (0, 1) or 0.1 <= share <= 0.99 else 1
    return f"{100 * share:.{digits}f}\u00a0%"


@dataclass(frozen=True)
class Cell:
    """A cell: its text and the value to sort by.

    ``share`` is the length of a small bar, ``pairs`` are names with correlations, and ``n_more`` is how many
    more there are.
    """

    text: str
    value: float | str
    share: float | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    n_more: int = 0


def data_table(name: str, titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> dict[str, Any]:
    """Return a table that the page's script sorts and filters; titles that end in ``>`` are over numbers."""
    minor = ("Mean>", "Deviation>", "Selected again>", "Best substitute (loss)")  # hidden on narrow screens
    kinds = [("num" if title.endswith(">") else "word") + " minor" * (title in minor) for title in titles]
    return {
        "name": name,
        "caption": f"{name.capitalize()} columns",
        "columns": list(zip((title.rstrip(">") for title in titles), kinds, strict=True)),
        "rows": rows,
        # in letters: long enough for Ensembl ids, not for whole sentences
        "name_width": 3 + min(18, max(len(row[1].text) for row in rows)),
    }


def selected_table(e: Explanation) -> dict[str, Any]:
    """Return the selected columns with what each represents."""
    titles = ["Rank>", "Column", "Represents", "Mean>", "Deviation>"]
    titles += ["Selected again>"] if e.frequencies is not None else []
    titles += ["Best substitute (loss)"] if e.substitutes else []
    rows = []
    for place, j in enumerate(e.ranked):
        found = e.represents(place)
        named = tuple((e.feature_names[i], signed(float(e.closest_r[i]))) for i in found[:3])
        words = Cell("", int(found.size), pairs=named, n_more=found.size - len(named))
        mean, deviation = float(e.means[j]), float(e.deviations[j])
        cells = [
            Cell(str(place + 1), place + 1),
            Cell(e.feature_names[j], e.feature_names[j]),
            words if found.size else Cell("itself", 0),
            Cell(number(mean, 3), mean),
            Cell(number(deviation, 3), deviation),
        ]
        if e.frequencies is not None:
            again = float(e.frequencies[j])
            cells.append(Cell(percent(again), again, again))
        if e.substitutes:
            other, cost = e.substitutes[place] if place < len(e.substitutes) else (-1, np.nan)
            instead = e.feature_names[other] if other >= 0 else "–" if cost != cost else "none needed"
            loss = "" if cost != cost or other < 0 else f" ({percent(max(cost, 0.0))})"
            cells.append(Cell(instead + loss, instead))
        rows.append(cells)
    return data_table("selected", titles, rows)


def dropped_table(e: Explanation) -> dict[str, Any] | None:
    """Return the dropped columns with what represents each; None if no column is dropped."""
    if not e.dropped.any():
        return None
    rows = []
    order = np.argsort(e.selected.ranking)
    for j in order[e.dropped[order]][:5000]:  # a file of --ranking has all
        r, share = float(e.closest_r[j]), float(e.explained[j])
        closest = e.feature_names[e.ranked[e.closest[j]]]
        known = max(share, 0.0) if share == share else -1.0
        cells = [
            Cell(str(e.selected.ranking[j]), int(e.selected.ranking[j])),
            Cell(e.feature_names[j], e.feature_names[j]),
            Cell(closest, closest),
            Cell(signed(r), abs(r), abs(r)),
            Cell(percent(known), known, known) if known >= 0 else Cell("–", -1.0),
        ]
        rows.append(cells)
    titles = ("Rank>", "Column", "Closest selected column", "Correlation>", "Explained by all selected>")
    return data_table("dropped", titles, rows)


def _represents(e: Explanation) -> str:
    dropped = int(e.dropped.sum())
    if not dropped:
        return "No column is dropped."
    words = (
        "A selected column represents the dropped columns that correlate most with it, if the absolute "
        f"correlation is at least {LEAST_CORRELATION}."
    )
    if e.frequencies is not None:
        words += " Selected again: how often it was selected from other rows."
    if e.substitutes:
        words += " Loss: the share of the variance no longer explained with the substitute."
    alone = int(np.sum(e.dropped & (np.abs(e.closest_r) < LEAST_CORRELATION)))
    be = "is" if alone == 1 else "are"
    return words + f" {alone:,} of the {dropped:,} dropped columns {be} represented by none." * (alone > 0)


def _cards(e: Explanation) -> list[tuple[str, str, str]]:
    """Return the main figures for the goal: value, what it is, how to read it."""
    cards = [(f"{e.n_selected} of {e.n_features:,}", "columns selected", f"by {e.method}")]
    a = e.assessment
    if e.goal == "redundancy":
        sizes = [e.represents(place).size for place in range(e.n_selected)]
        assert e.selected.scores is not None
        largest = signed(1 - float(e.selected.scores[e.selected.support].min()))
        cards.append((f"{int(e.dropped.sum()):,}", "columns dropped", "each repeats a selected one"))
        cards.append((largest, "largest correlation", "of two selected columns"))
        cards.append((str(max(sizes)), "most repeats", "of one column"))
        return cards
    if a is None or not a.table:
        return cards
    ours, random = a.mean("selected"), a.mean("random columns")
    if e.goal == "clusters":
        cards.append((str(a.n_clusters), "clusters of rows", "in the whole table"))
        how = f"all columns: {signed(a.mean('all columns'))}, random ones: {signed(random)}; 1 is perfect"
        cards.append((signed(ours), "agreement with them on held-out rows", how))
    else:
        components = percent(max(a.mean("principal components"), 0))
        how = f"random columns: {percent(max(random, 0))}, principal components: {components}"
        cards.append((percent(max(ours, 0)), "of the variance explained on held-out rows", how))
        how_many = f"better than random columns: {a.verdict}"
        cards.append((percent(a.beaten), "of random sets of columns beaten", how_many))
    if a.stability is not None:
        share = f"about {5 * round(20 * a.same_columns)} %"
        cards.append((share, "of the columns stay the same", "selected again from other rows"))
    return cards


def _axes(width: float, height: float) -> Any:
    return matplotlib("figure").Figure(figsize=(width, height), layout="constrained").subplots()


def _pictures(e: Explanation) -> list[tuple[str, str]]:
    """Return pictures of the data, each with its caption: the rows, a mean curve, or a mask of pixels."""
    found = []
    if e.image_shape is not None:
        pixels = PixelsDisplay(e.selected.support, e.image_shape, e.image_order, e.means).plot(ax=_axes(4, 4))
        words = f"The {e.n_selected} selected pixels over the mean image"
        found.append((figure_svg(pixels.ax_.figure, "pixels", words), f"{words}."))
    if e.positions is not None:
        ax, chosen = _axes(9, 3.2), e.selected.support
        ax.fill_between(
            e.positions, e.means - e.deviations, e.means + e.deviations, color=DROPPED, alpha=0.35
        )
        ax.plot(e.positions, e.means, color=INK, linewidth=1.2)
        ax.plot(e.positions[chosen], e.means[chosen], "o", color=SELECTED, markersize=6)
        ax.vlines(e.positions[chosen], *ax.get_ylim(), color=SELECTED, linewidth=0.7, alpha=0.5)
        quiet(ax)
        words = "The mean of the rows with one standard deviation, and the selected columns on it"
        found.append((figure_svg(ax.figure, "curve", words), f"{words}."))
    if (not found or e.row_clusters is not None) and e.goal != "redundancy" and len(e.rows) >= 3:
        ax = _axes(6, 4.2)
        labels = np.zeros(len(e.rows), dtype=int) if e.row_clusters is None else e.row_clusters
        for place, label in enumerate(np.unique(labels)):
            rows, turn = e.rows[labels == label], place // len(COLOURS)
            colour = COLOURS[place % len(COLOURS)]
            face = colour if turn % 2 == 0 else "none"
            ax.plot(*rows.T, "os^Dv"[turn % 5], ms=3.5, color=colour, mfc=face, alpha=0.7, label=str(label))
        ax.set(xlabel="first leading direction of all columns", ylabel="second")
        if 1 < np.unique(labels).size <= 16:
            ax.legend(
                title="cluster", frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5)
            )
        quiet(ax)
        words = "The rows along the two leading directions of the table"
        words += "" if e.row_clusters is None else ", coloured by cluster"
        found.append((figure_svg(ax.figure, "rows", words), f"{words}."))
    return found


def _charts(e: Explanation) -> dict[str, str | None]:
    """Return the other charts as SVG; None for those that do not apply."""
    names = [e.feature_names[j] for j in e.ranked[:MOST_CELLS]]
    charts: dict[str, str | None] = dict.fromkeys(["assessed", "counts", "scores", "among"])

    def keep(name: str, ax: Any, title: str) -> None:
        charts[name] = figure_svg(ax.figure, name, title)

    if e.assessment is not None and e.assessment.table:
        ax = _axes(6, 1.9)
        table = e.assessment.table
        places, means = np.arange(len(table)), [row["mean"] for row in table]
        colours = [SELECTED] + [DROPPED] * (len(table) - 1)
        ax.barh(places, means, xerr=[row["spread"] for row in table], color=colours, ecolor=INK)
        ax.set_yticks(places, [row["columns"] for row in table])
        ax.invert_yaxis()
        what = "share of the variance explained on held-out rows"
        what = what if e.goal == "reconstruct" else "agreement with the clusters of held-out rows"
        ax.set_xlabel(what)
        quiet(ax)
        keep("assessed", ax, what)
    if e.counts is not None:
        curve = ReconstructionDisplay.of_counts(e.counts, marked=e.n_selected).plot(ax=_axes(6, 3.4))
        keep("counts", curve.ax_, "Share of the variance explained against the number of columns")
    if e.selected.scores is not None and e.goal != "redundancy":
        order, n_shown = np.argsort(e.selected.ranking), min(MOST_CELLS, e.n_features)
        bars = ScoresDisplay(
            relative_scores(e.selected.scores)[order], [e.feature_names[j] for j in order], e.n_selected
        )
        bars.plot(n_shown=n_shown, ax=_axes(6, 1.2 + 0.19 * n_shown))
        keep("scores", bars.ax_, f"Scores of the best {n_shown} of {e.n_features} columns, from 0 to 100")
    if e.n_selected > 1:
        ax = _axes(6.4, 1.8 + 0.19 * len(names))
        heat_map(ax, e.among[: len(names), : len(names)], names, "correlation")
        ax.set_xticks(np.arange(len(names)), [plain(name, 17) for name in names], rotation=60, ha="right")
        keep("among", ax, f"Correlations among {len(names)} selected columns")
    return charts
