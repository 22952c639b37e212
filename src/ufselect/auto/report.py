"""What AutoSelector says about its choice: a table, a verdict, and the clusters in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.auto.pool import Candidate
from ufselect.auto.reference import Reference

ALL_FEATURES = "all features"
RANDOM_SUBSETS = "random subsets"
SKIPPED = "skipped: the time budget was used up"
STOPPED = "stopped early: too far behind"
# Standard errors by which the winner, the best of several, must be ahead of random subsets to count.
SURE = 3.0
# For rebuilding, where it has to be ahead of every draw too, spreads of the draws: a share of the variance
# cannot be larger than 1, and three spreads of random subsets can lie beyond.
AHEAD = 2.0
# Share of the way from Gaussian data to a perfect cut below which there are no clusters to select for.
# Selections are fitted to the clusters that they are judged by, so on noise too they are far ahead of random.
NO_CLUSTERS = 0.2
# Columns named per cluster: enough to recognise it, few enough to read.
N_TELLING = 5


@dataclass(frozen=True)
class Trial:
    """A candidate, as fitted or None if there was no time for it, its features and their values.

    Attributes
    ----------
    seconds, pace : float
        Seconds of all of it, and of one value.
    stability : float or None
        Share of its features that it chooses from both halves of the rows, where a tie asked for it.
    """

    candidate: Candidate
    estimator: Any
    features: NDArray
    values: NDArray
    seconds: float
    pace: float = 0.0
    stability: float | None = None

    @property
    def mean(self) -> float:
        """Mean value."""
        return float(self.values.mean())

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return standard_error(self.values)


def standard_error(values: NDArray) -> float:
    """Return the standard error of a mean over runs."""
    return 0.0 if values.size < 2 else float(values.std(ddof=1) / np.sqrt(values.size))


@dataclass(frozen=True)
class Comparison:
    """Selections that were not chosen by anyone: all features, and features drawn at random.

    Attributes
    ----------
    all_features, random : ndarray
        Values of all features, one per run, and of random subsets, one per draw.
    share : float or None
        How far the clusters are from Gaussian data to a perfect cut, None where there are none to find.
    """

    all_features: NDArray
    random: NDArray
    share: float | None = None

    @property
    def has_no_clusters(self) -> bool:
        """Whether clusters were looked for that are not there."""
        return self.share is not None and self.share < NO_CLUSTERS

    @property
    def error(self) -> float:
        """How far the mean of the draws may be off.

        For clusters its standard error: the question is what one may expect of a random subset, and their
        spread is no doubt about that but what makes choosing worthwhile. For rebuilding the spread: a
        choice that learned nothing is judged by new rows, as one more draw.
        """
        spread = float(self.random.std(ddof=1)) if self.random.size > 1 else 0.0
        return spread if self.share is None else spread / float(np.sqrt(self.random.size))

    def told(self) -> str:
        """Say in words what random subsets are worth."""
        meaning = "spread of" if self.share is None else "standard error of the mean of"
        figures = f"{self.random.mean():.3f} ± {self.error:.3f}"
        return f"random subsets {figures} ({meaning} {self.random.size} draws)"


def report(trials: list[Trial], winner: Trial, comparison: Comparison) -> list[dict[str, Any]]:
    """Return one row per candidate, the best first, and the two lines to compare with."""
    rows = [_row(trial, winner) for trial in trials]
    everything = comparison.all_features
    rows += [
        _line(ALL_FEATURES, everything, standard_error(everything), "for comparison"),
        _line(
            RANDOM_SUBSETS,
            comparison.random,
            comparison.error,
            "for comparison; the spread is over the draws",
        ),
    ]
    rows.sort(key=lambda row: (not row["selected"], np.isnan(row["criterion"]), -row["criterion"]))
    return rows


def _row(trial: Trial, winner: Trial) -> dict[str, Any]:
    row = _line(trial.candidate.name, trial.values, trial.error, "", trial.seconds)
    row["selected"] = trial is winner
    row["tied"] = is_tied(trial, winner)
    row["stability"] = trial.stability
    row["note"] = _note(trial, winner, tied=row["tied"])
    return row


def _line(name: str, values: NDArray, error: float, note: str, seconds: float = 0.0) -> dict[str, Any]:
    return {
        "candidate": name,
        "criterion": float(values.mean()),
        "criterion_std": float(values.std()),
        "criterion_error": error,
        "seconds": seconds,
        "selected": False,
        "tied": False,
        "stability": None,
        "note": note,
    }


def is_tied(trial: Trial, winner: Trial, share: float = 1.0) -> bool:
    """Tell whether a trial is behind the winner by at most a share of the difference's standard error."""
    if trial is winner or trial.estimator is None:
        return False
    return winner.mean - trial.mean <= share * _error_of_difference(trial, winner)


def _error_of_difference(one: Trial, other: Trial) -> float:
    """Return the standard error of the difference of two means; values of the same runs are pairs."""
    if one.values.size != other.values.size:
        return float(np.hypot(one.error, other.error))
    return standard_error(one.values - other.values)


def _note(trial: Trial, winner: Trial, *, tied: bool) -> str:
    if trial.estimator is None:
        return SKIPPED
    if trial is winner:
        return "the winner" if trial.stability is None else f"the winner: {_stable(trial)}"
    behind = _behind(winner.mean - trial.mean)
    if trial.stability is not None:
        return f"{behind}: a tie; {_stable(trial)}"
    if tied:
        return f"{behind}: a tie"
    return f"{behind}; {STOPPED}" if trial.values.size < winner.values.size else behind


def _behind(difference: float) -> str:
    return f"{abs(difference):.3f} {'below' if difference >= 0 else 'above'} the winner"


def _stable(trial: Trial) -> str:
    return f"{trial.stability:.0%} of its columns are chosen from both halves of the rows"


def is_better_than_random(trial: Trial, comparison: Comparison) -> bool:
    """Tell whether a trial is ahead of random subsets beyond doubt.

    What rebuilds less than the mean of the columns does is no better, whatever random subsets do.
    """
    if comparison.has_no_clusters:
        return False
    if comparison.share is None and trial.mean <= max(0.0, float(comparison.random.max())):
        return False
    return trial.mean > float(comparison.random.mean()) + _slack(trial, comparison)


def is_beyond_doubt(trial: Trial, comparison: Comparison) -> bool:
    """Tell whether more random subsets would not change whether a trial is better than they are.

    Twice the distance that is asked for: the standard error of six draws is itself uncertain, and Student's
    distribution leaves as much doubt at that distance as the normal one at the distance asked for.
    """
    if comparison.has_no_clusters:
        return True
    distance = abs(trial.mean - float(comparison.random.mean()))
    return distance > 2 * SURE * float(np.hypot(trial.error, comparison.error))


def _slack(trial: Trial, comparison: Comparison) -> float:
    times = AHEAD if comparison.share is None else SURE
    return times * float(np.hypot(trial.error, comparison.error))


def verdict(
    winner: Trial, comparison: Comparison, measure: str, *, all_compete: bool, n_rivals: int = 1
) -> str:
    """Say in one sentence whether the selection is worth having, and how a tie of rivals was broken."""
    everything = float(comparison.all_features.mean())
    reason = f"({measure}: {winner.mean:.3f}, {comparison.told()}, all features {everything:.3f})"
    if n_rivals > 1:
        reason += f"; of {n_rivals} candidates that tie it is the most stable, {_stable(winner)}"
    if comparison.has_no_clusters:
        return (
            "No clusters to speak of, so none to choose columns by: keep all columns. The graph of the rows "
            f"is cut hardly more cleanly than that of Gaussian data {reason}."
        )
    if not is_better_than_random(winner, comparison):
        return f"No better than random: keep all columns {reason}."
    if all_compete and winner.mean < everything - _slack(winner, comparison):
        return f"Better than random, but all columns carry more {reason}."
    return f"{winner.candidate.name}: better than random subsets {reason}."


def describe_clusters(reference: Reference, labels: NDArray, selected: NDArray, names: NDArray) -> list[dict]:
    """Return, for each cluster, its size and the selected columns that tell it from the rest.

    A column tells a cluster by the distance of its mean there from its mean elsewhere, in units of its
    standard deviation within clusters; the sign says whether it is high or low.
    """
    rows, sizes = reference.rows, np.bincount(reference.labels)
    means = rows.cluster_means(reference.labels)[:, selected]
    within = reference.scatters[1][selected] / rows.shape[0]
    others = -means * (sizes / np.maximum(rows.shape[0] - sizes, 1))[:, None]
    floor = np.finfo(float).eps * max(float(within.max()), np.finfo(float).tiny)
    distance = (means - others) / np.sqrt(np.maximum(within, floor))
    found = []
    for cluster, size in enumerate(np.bincount(labels, minlength=sizes.size)):
        telling = np.argsort(-np.abs(distance[cluster]), kind="stable")[:N_TELLING]
        columns = [(str(names[selected[k]]), float(distance[cluster, k])) for k in telling]
        found.append({"cluster": cluster, "size": int(size), "columns": columns})
    return found
