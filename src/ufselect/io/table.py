"""A table as it was read: numbers, names, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.io.dialect import Dialect
from ufselect.io.wording import listed


@dataclass(frozen=True)
class LeftOut:
    """A column that takes no part in the selection, and why."""

    name: str
    reason: str


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
    source : Path or None
        Where the table was read from.
    sha256 : str
        Checksum of the file.
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
    source: Path | None = None
    sha256: str = ""
    image_shape: tuple[int, int] | None = field(default=None)
    image_order: str = "C"

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_features)."""
        return self.data.shape

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
            image_shape=None,
        )

    def with_notes(self, *notes: str) -> Table:
        """Return the table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def left_out_sentences(self) -> list[str]:
        """Return what was left out, one sentence a reason."""
        sentences = []
        for reason, count in Counter(column.reason for column in self.left_out).items():
            names = [column.name for column in self.left_out if column.reason == reason]
            plural = "s" if count > 1 else ""
            sentences.append(f"Left out {count} column{plural} ({reason}): {listed(names)}.")
        return sentences
