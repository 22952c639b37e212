"""A table as it was read: numbers, names, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ufselect.common.wording import Sentence, Setting, listed
from ufselect.io.dialect import Dialect

NOT_NUMBERS = "not numbers"


@dataclass(frozen=True)
class LeftOut:
    """A column that takes no part in the selection, and why."""

    name: str
    reason: str


class Rows(Protocol):
    """Rows in a file, from which columns can be copied as they are written there."""

    names: list[str]
    unnamed: list[bool]
    dialect: Dialect | None
    missing: frozenset[str]
    decimal: str

    def frames(self, positions: Sequence[int]) -> Iterator[Any]:
        """Yield data frames of some columns, in that order."""


@dataclass(frozen=True)
class SourceColumns:
    """Where the columns of a table stand in its file.

    Attributes
    ----------
    rows : Rows
        The file.
    features, texts : tuple of int
        Positions of the features, and of columns that are carried along.
    id_position, label_position : int or None
        Of the row ids and the classes.
    """

    rows: Rows
    features: tuple[int, ...]
    texts: tuple[int, ...] = ()
    id_position: int | None = None
    label_position: int | None = None


@dataclass(frozen=True)
class Table:
    """Numeric data with everything that belongs to it.

    Attributes
    ----------
    data : ndarray or CSR array of shape (n_samples, n_features)
        The features, in the order of the file.
    feature_names : list of str
        Their names, all distinct.
    whole : ndarray of bool
        Which features hold whole numbers, so that they are written as such.
    ids, labels : ndarray or None
        The values of the id and the label column.
    id_name, label_name : str or None
        The names of these columns.
    left_out : tuple of LeftOut
        Columns that are no features.
    notes : tuple of str
        What the reader decided by itself, in sentences.
    dialect : Dialect or None
        How a text file was written.
    columns : SourceColumns or None
        Where the columns stand in the file, if they can be copied from there.
    fills : mapping of str to float
        By feature, the value that was filled in for missing ones.
    source : Path or None
        Where the table was read from.
    sha256 : str
        Checksum of the file.
    n_rows : int or None
        Rows of the file, if ``data`` holds only a sample of them.
    batches, weights : ndarray or None
        For each row the batch it belongs to and how much it counts, if columns of these were named.
    groups : tuple of str or None
        For each feature the text column whose value it stands for, None for other features; None if all are.
    """

    data: Any
    feature_names: list[str]
    whole: NDArray[np.bool_]
    ids: NDArray | None = None
    labels: NDArray | None = None
    id_name: str | None = None
    label_name: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    dialect: Dialect | None = None
    columns: SourceColumns | None = None
    fills: Mapping[str, float] = field(default_factory=dict)
    source: Path | None = None
    sha256: str = ""
    n_rows: int | None = None
    batches: NDArray | None = None
    weights: NDArray | None = None
    groups: tuple[str | None, ...] | None = None
    image_shape: tuple[int, int] | None = None
    image_order: str = "C"

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_features) of the file, of which ``data`` may be a sample."""
        return (self.data.shape[0] if self.n_rows is None else self.n_rows, self.data.shape[1])

    def without(self, columns: NDArray[np.bool_], reasons: Sequence[str]) -> Table:
        """Return the table without some features; ``reasons`` has one entry for each that goes."""
        if not columns.any():
            return self
        gone = np.flatnonzero(columns)
        left_out = [LeftOut(self.feature_names[j], why) for j, why in zip(gone, reasons, strict=True)]
        keep = ~columns
        return replace(
            self,
            data=self.data[:, keep],
            feature_names=[name for name, kept in zip(self.feature_names, keep, strict=True) if kept],
            whole=self.whole[keep],
            left_out=(*self.left_out, *left_out),
            columns=None if self.columns is None else _kept(self.columns, keep),
            groups=None if self.groups is None else tuple(self.groups[j] for j in np.flatnonzero(keep)),
            image_shape=None,
        )

    def with_notes(self, *notes: str) -> Table:
        """Return the table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def left_out_sentences(self, with_carried: bool = True) -> list[str]:
        """Return what was left out, one sentence a reason, with what is carried to the output."""
        sentences = []
        for reason, count in Counter(column.reason for column in self.left_out).items():
            names = [column.name for column in self.left_out if column.reason == reason]
            plural = "s" if count > 1 else ""
            sentence = f"Left out {count} column{plural} ({reason}): {listed(names)}."
            sentences.append(
                _carried(sentence, count) if with_carried and self._carries(names[0]) else sentence
            )
        return sentences

    def _carries(self, name: str) -> bool:
        columns = self.columns
        return columns is not None and name in {columns.rows.names[j] for j in columns.texts}


def _carried(sentence: str, count: int) -> Sentence:
    be = "They are" if count > 1 else "It is"
    return Sentence(
        f"{sentence} {be} copied to the output (", Setting("drop_text", True), " to leave text out)."
    )


def _kept(columns: SourceColumns, keep: NDArray[np.bool_]) -> SourceColumns:
    features = tuple(position for position, stays in zip(columns.features, keep, strict=True) if stays)
    return replace(columns, features=features)
