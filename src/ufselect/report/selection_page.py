"""The page of a selection: one file, nothing from the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ufselect.plotting import ConvergenceDisplay, LoadingsDisplay, PixelsDisplay, ScoresDisplay
from ufselect.plotting.heat_map import heat_map
from ufselect.plotting.svg import percent, signed
from ufselect.report.data_table import MOST_DROPPED, dropped_table, kept_table, runners_table
from ufselect.report.explanation import FAINT, REFIT_SHARE, Explanation
from ufselect.report.measures import Kept
from ufselect.report.score_words import score_words
from ufselect.report.strip import strip
from ufselect.report.template import HOME, render

# Rows and columns of a heat map that a page has room for.
MOST_CELLS = 40
# Nogueira, Sechidis and Brown (2018) call stabilities from these on excellent and intermediate.
EXCELLENT, INTERMEDIATE = 0.75, 0.4
# What the criterion of a choice among methods says, by its goal.
CRITERIA = {
    "clusters": "Goal: columns that show the groups of samples. Each candidate chose its columns; the "
    "criterion says how well groups found by these columns agree with groups of neighbours in the whole "
    "table, 1 for the same groups and 0 for none in common. No labels were used.",
    "rebuild": "Goal: columns from which the others can be rebuilt. Each candidate chose its columns; the "
    "criterion is the share of the variance of samples left out that a linear model rebuilds from them. No "
    "labels were used.",
}
# Half a point is what rounding to whole points hides.
LEAST_GAIN = 0.5


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

    Raises
    ------
    ImportError
        If Jinja2 is not installed.
    """
    e = explanation
    charts = _charts(e)
    told = {} if record is None else record
    return render(
        HOME,
        "selection.html",
        title=title,
        tab_title=f"{title}: {e.n_selected} of {e.n_features} features",
        summary=_summary(e, told.get("goal")),
        facts=_facts(e),
        links=_links(e, charts, told),
        leads={
            **_leads(e),
            "candidates": CRITERIA.get(told.get("goal", ""), ""),
            "counts": _counts(told.get("count")),
        },
        tables={"kept": kept_table(e), "dropped": dropped_table(e), "runners": runners_table(e)},
        charts=charts,
        notes=[*notes, *([e.refit_note] if e.refit_note else [])],
        settings=_settings(e, record),
        created=told.get("created"),
        verdicts=told.get("verdicts", ()),
        candidates=told.get("tuning", ()),
        has_stability=any(isinstance(row.get("stability"), float) for row in told.get("tuning", ())),
        clusters=told.get("clusters", ()),
        command=told.get("command"),
    )


def _summary(e: Explanation, goal: str | None) -> str:
    kept = (
        f"{e.method} kept {e.n_selected} of {e.n_features:,} features of {e.n_samples:,} samples"
        f"{', without labels' if e.is_unsupervised else ''}"
    )
    if goal == "clusters":
        return f"{kept}, to show the groups of samples."
    gain = 100 * (e.variance.selection - float(e.variance.random.mean()))
    plural = "" if round(abs(gain)) == 1 else "s"
    verdict = (
        f"{abs(gain):.0f} point{plural} {'more' if gain > 0 else 'less'} than random subsets of the same size"
        if abs(gain) >= LEAST_GAIN
        else "as much as random subsets of the same size"
    )
    return (
        f"{kept}. From them a linear model rebuilds {percent(e.variance.selection)} of the variance of all "
        f"features, {verdict}."
    )


def _facts(e: Explanation) -> list[tuple[str, str, str]]:
    """Return the most important numbers: value, what it is, how to read it."""
    facts = [
        (f"{e.n_selected} of {e.n_features:,}", "features kept", f"by {e.method}"),
        (percent(e.variance.selection), "of the variance rebuilt", _against(e.variance)),
    ]
    if e.neighbourhood is not None:
        facts.append((percent(e.neighbourhood.selection), "of neighbours kept", _against(e.neighbourhood)))
    if e.stability is not None:
        facts.append(
            (signed(e.stability), "stability", f"{_stability_word(e.stability)}; 1 is identical, 0 chance")
        )
    return facts


def _against(kept: Kept) -> str:
    return f"random subsets: {percent(float(kept.random.mean()))}"


def _stability_word(value: float) -> str:
    return "excellent" if value >= EXCELLENT else "intermediate" if value >= INTERMEDIATE else "poor"


def _charts(e: Explanation) -> dict[str, str | None]:
    """Return the pictures as SVG, None for those that this selection does not have."""
    names = [e.feature_names[j] for j in e.ranked[:MOST_CELLS]]
    return {
        "scores": None
        if e.scores is None
        else ScoresDisplay.from_selected(e.selected, e.scores, e.feature_names).to_svg(),
        "pixels": None
        if e.image_shape is None
        else PixelsDisplay(e.selected.support, e.image_shape, e.image_order, e.mean_image).to_svg(
            e.feature_names
        ),
        "counts": None if e.counts is None else e.counts.to_svg(),
        "variance": strip(e.variance, "Variance rebuilt"),
        "neighbourhood": None if e.neighbourhood is None else strip(e.neighbourhood, "Neighbours kept"),
        "loadings": None
        if e.loadings is None
        else LoadingsDisplay(e.loadings[:MOST_CELLS, :MOST_CELLS], names).to_svg(),
        "redundancy": None
        if e.redundancy is None
        else heat_map(
            e.among_kept[: len(names), : len(names)],
            names,
            names,
            f"Correlations among {len(names)} kept features",
            tilt=True,
        ),
        "convergence": None
        if e.history is None or e.history.size < 2
        else ConvergenceDisplay(e.history).to_svg(),
    }


def _links(
    e: Explanation, charts: Mapping[str, str | None], told: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return anchor and name of each section that the page has."""
    links = [
        ("features", "Features", True),
        ("clusters", "Clusters", told.get("clusters")),
        ("pixels", "Pixels", charts["pixels"]),
        ("counts", "How many", charts["counts"]),
        ("kept-share", "What is kept", True),
        ("loadings", "Acting together", charts["loadings"]),
        ("redundancy", "Redundancy", charts["redundancy"]),
        ("stability", "Stability", e.frequencies is not None),
        ("candidates", "What else was tried", told.get("tuning")),
        ("convergence", "Search", charts["convergence"]),
        ("settings", "Data and settings", True),
    ]
    return [(anchor, name) for anchor, name, there in links if there]


def _leads(e: Explanation) -> dict[str, str]:
    """Return what each section says first."""
    return {
        "features": f"Best first. {score_words(e.method)} A kept feature stands for the dropped ones that "
        f"correlate (r) with it more than with any other kept feature, by {FAINT} or more in size. "
        f"{_alone(e)} Means and deviations are in the table's own units.",
        "dropped": f"Dropped features, {_shown_of_dropped(e)}",
        "loadings": "The method looks for a few directions along which the table varies, the components. A "
        "weight says how strongly a feature takes part in one: blue with it, orange against it."
        f"{_best_shown(e, ' features')}",
        "redundancy": _redundancy(e),
        "stability": _stability(e),
        "convergence": _convergence(e),
    }


def _counts(found: Mapping[str, Any] | None) -> str:
    """Return how to read the curve of counts, and why the chosen one was chosen where a record says so."""
    reading = (
        "Error of rebuilding the other features on rows left out, 1 for no better than the mean; the chosen "
        "number has the large mark."
    )
    return reading if found is None else f"{reading} {found['chosen']} were chosen ({found['why']})."


def _alone(e: Explanation) -> str:
    dropped, alone = e.n_features - e.n_selected, e.n_alone()
    if not dropped:
        return ""
    if not alone:
        return "Every dropped feature has such a one."
    return f"{alone:,} of the {dropped:,} dropped features correlate so with none."


def _shown_of_dropped(e: Explanation) -> str:
    count = e.n_features - e.n_selected
    return f"the first {MOST_DROPPED} of {count:,}" if count > MOST_DROPPED else f"all {count}"


def _best_shown(e: Explanation, what: str = "") -> str:
    return f" The best {MOST_CELLS}{what} are shown." if e.n_selected > MOST_CELLS else ""


def _redundancy(e: Explanation) -> str:
    if e.redundancy is None:
        return ""
    return (
        "On average a kept feature's largest correlation with another one is "
        f"{e.redundancy.selection:.2f} in size (random subsets: {float(e.redundancy.random.mean()):.2f}). "
        f"Low means that they say different things.{_best_shown(e)}"
    )


def _stability(e: Explanation) -> str:
    if e.frequencies is None:
        return ""
    always = int(np.sum(e.frequencies[e.ranked] == 1))
    index = (
        f" Their agreement is {e.stability:.2f}, {_stability_word(e.stability)}: 1 for identical selections, "
        "about 0 for random ones (the index of Nogueira, Sechidis and Brown, 2018)."
        if e.stability is not None
        else ""
    )
    return (
        f"The selection was repeated {e.n_resamples} times on {100 * REFIT_SHARE:.0f} % of the rows. "
        f"{always} of the {e.n_selected} kept features were chosen every time.{index}"
    )


def _convergence(e: Explanation) -> str:
    if e.history is None:
        return ""
    steps = f"{e.history.size - 1} iterations"
    if e.converged in (True, None):
        return f"The objective over {steps}; the stopping rule was met."
    return f"The method stopped after {steps} before its stopping rule was met; raise max_iter or loosen tol."


def _settings(e: Explanation, record: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    """Return the small tables of the last section."""
    parameters = {name: _shown(value) for name, value in e.parameters.items()}
    if record is None:
        return {"Parameters": parameters}
    data = {name: value for name, value in record["data"].items() if name != "left_out" and value is not None}
    scaling = {"Scaling": record["scaling"]} if "scaling" in record else {}
    return {"Data": data, **scaling, "Parameters": parameters, "Versions": record["versions"]}


def _shown(value: Any) -> str:
    return f"array of shape {value.shape}" if isinstance(value, np.ndarray) else str(value)
