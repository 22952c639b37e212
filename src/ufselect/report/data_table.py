"""The tables of the selection page: what each cell shows, and the value by which it is sorted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ufselect.plotting.scores_display import score_range, score_share
from ufselect.plotting.svg import number, percent, signed
from ufselect.report.explanation import Explanation

# Longer tables make a page slow to sort; the record of the run has all.
MOST_DROPPED = 5000  # rows of a closed part of the page; a file of --ranking holds all
MOST_RUNNERS = 100
# A table of at most this many rows is seen at a glance and needs no filter.
FILTER_FROM = 10
NAMED_STANDS_FOR = 2
LONGEST_LINE = 18  # letters of a name before it may break
MARGIN = 3  # digits that the padding of a cell and the width of capitals take
# Columns that narrow screens hide.
MINOR = ("Mean", "Deviation", "Closest kept")


@dataclass(frozen=True)
class Column:
    """A heading, and whether its values are numbers."""

    title: str
    numeric: bool = True

    @property
    def kind(self) -> str:
        """The class of its cells."""
        return ("num" if self.numeric else "word") + (" minor" if self.title in MINOR else "")


@dataclass(frozen=True)
class Cell:
    """Words, the value to sort by, and what goes with the words.

    ``share`` is the length of a small bar, ``pairs`` are names with correlations, of which ``n_more`` are
    not named.
    """

    text: str
    value: float | str
    share: float | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    n_more: int = 0


@dataclass(frozen=True)
class DataTable:
    """A table that the page's script sorts and filters."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sorted_by: int = 0
    direction: str = "ascending"

    @property
    def name_width(self) -> int:
        """Letters of a name that stay on one line: all of Ensembl's, not all of a sentence."""
        return MARGIN + min(LONGEST_LINE, max(len(row[1].text) for row in self.rows))

    @property
    def is_short(self) -> bool:
        """Whether it needs no filter."""
        return len(self.rows) <= FILTER_FROM


def kept_table(e: Explanation) -> DataTable:
    """Return the kept features."""
    columns = [Column("Rank"), Column("Feature", False)]
    columns += [Column("Score")] if e.scores is not None else []
    columns += [Column("Mean"), Column("Deviation")]
    columns += [Column("Chosen again")] if e.frequencies is not None else []
    columns += [Column("Closest kept"), Column("Stands for")]
    rows = tuple(_kept_row(e, place) for place in range(e.n_selected))
    return DataTable("kept", "Kept features", tuple(columns), rows)


def dropped_table(e: Explanation) -> DataTable | None:
    """Return the dropped features with the kept one that is closest to each; None where all are kept."""
    if e.n_features == e.n_selected:
        return None
    columns = [Column("Rank"), Column("Feature", False)]
    columns += [Column("Score")] if e.scores is not None else []
    columns += [Column("Spoken for by", False), Column("Correlation")]
    order = np.argsort(e.ranking)[e.n_selected : e.n_selected + MOST_DROPPED]
    rows = tuple(_dropped_row(e, feature) for feature in order)
    return DataTable("dropped", "Dropped features", tuple(columns), rows)


def runners_table(e: Explanation) -> DataTable | None:
    """Return the dropped features that some resamples chose; None where there are none."""
    if e.frequencies is None:
        return None
    often = np.argsort(-e.frequencies, kind="stable")
    runners = [j for j in often if not e.selected.support[j] and e.frequencies[j] > 0]
    rows = tuple(
        (*_rank_and_name(e, j), _share_cell(float(e.frequencies[j]))) for j in runners[:MOST_RUNNERS]
    )
    columns = (Column("Rank"), Column("Feature", False), Column("Chosen"))
    return DataTable("runners", "Runners-up", columns, rows, 2, "descending") if rows else None


def _kept_row(e: Explanation, place: int) -> tuple[Cell, ...]:
    feature = int(e.ranked[place])
    mean, deviation = float(e.means[place]), float(e.deviations[place])
    again = () if e.frequencies is None else (_share_cell(float(e.frequencies[feature])),)
    return (
        *_rank_and_name(e, feature),
        *_score_cell(e, feature, with_bar=True),
        Cell(number(mean, 3), mean),
        Cell(number(deviation, 3), deviation),
        *again,
        _closest(e, place),
        _stands_for(e, place),
    )


def _dropped_row(e: Explanation, feature: int) -> tuple[Cell, ...]:
    closest = e.feature_names[e.ranked[e.closest[feature]]]
    r = float(e.closest_r[feature])
    return (
        *_rank_and_name(e, feature),
        *_score_cell(e, feature, with_bar=False),
        Cell(closest, closest),
        Cell(signed(r), abs(r), share=abs(r)),
    )


def _rank_and_name(e: Explanation, feature: int) -> tuple[Cell, Cell]:
    rank, name = int(e.ranking[feature]), e.feature_names[feature]
    return Cell(str(rank), rank), Cell(name, name)


def _score_cell(e: Explanation, feature: int, with_bar: bool) -> tuple[Cell, ...]:
    if e.scores is None:
        return ()
    score = float(e.scores[feature])
    return (Cell(number(score), score, score_share(score, *score_range(e.scores)) if with_bar else None),)


def _share_cell(share: float) -> Cell:
    return Cell(percent(share), share, share)


def _closest(e: Explanation, place: int) -> Cell:
    """Return the kept feature that is closest to another kept one."""
    others = np.abs(e.among_kept[place]).copy()
    others[place] = -1.0
    if others.size == 1:
        return Cell("–", -1.0)
    other = int(np.argmax(others))
    r = float(e.among_kept[place, other])
    return Cell("", abs(r), pairs=((e.feature_names[e.ranked[other]], signed(r)),))


def _stands_for(e: Explanation, place: int) -> Cell:
    found = e.stands_for(place)
    if not found.size:
        return Cell("itself", 0)
    named = tuple((e.feature_names[j], signed(float(e.closest_r[j]))) for j in found[:NAMED_STANDS_FOR])
    return Cell(str(found.size), int(found.size), pairs=named, n_more=found.size - len(named))
