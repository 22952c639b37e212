"""Text columns with few values as numbers: zeros and ones for each value, or places on a scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ufselect._utils.imports import import_extra
from ufselect._utils.validation import listed
from ufselect.exceptions import TableError
from ufselect.io.table import NOT_NUMBERS, ReadOptions, Table

SCALES = tuple(
    tuple(line.split(", "))
    for line in """\
strongly disagree, disagree, somewhat disagree, neutral, somewhat agree, agree, strongly agree
completely disagree, disagree, slightly disagree, neither agree nor disagree, slightly agree, agree, \
completely agree
very dissatisfied, dissatisfied, somewhat dissatisfied, neutral, somewhat satisfied, satisfied, very satisfied
very unlikely, unlikely, neutral, likely, very likely
very poor, poor, fair, good, very good, excellent
very bad, bad, neutral, good, very good
never, almost never, rarely, seldom, sometimes, often, usually, very often, almost always, always
not at all, a little, slightly, somewhat, moderately, quite a bit, very much, extremely
not important, slightly important, moderately important, important, very important
none, mild, moderate, severe, very severe
very low, low, medium, high, very high
no, maybe, yes
xs, s, m, l, xl, xxl""".splitlines()
)
NO_ANSWER = frozenset(
    ["no answer", "don't know", "dont know", "not applicable", "prefer not to say", "refused", "other"]
)


def with_categories(table: Table, options: ReadOptions) -> Table:
    """Return the table with numbers for its text columns; a column with one value, or too many, stays out."""
    source = table.columns
    reasons = {column.name: column.reason for column in table.left_out}
    if source is None or sparse.issparse(table.data):
        return table
    positions = [j for j in source.texts if reasons.get(source.rows.names[j]) == NOT_NUMBERS]
    if not positions:
        return table
    pandas = import_extra("pandas", "Reading categories", "cli")
    frame = pandas.concat(list(source.rows.blocks(positions)), ignore_index=True).astype(object)
    words = {}
    for j in positions:
        cells = frame[j].where(~source.rows.missing.where(frame[j])).map(str, na_action="ignore").str.strip()
        if 1 < cells.nunique() <= min(50, len(cells) // 2):
            words[j] = cells
    make = _with_places if options.categorical == "ordinal" else _with_indicators
    return make(table, words, options.orders) if words else table


def _with_indicators(table: Table, words: dict[int, Any], orders: Any) -> Table:
    """Return the table with a column of zeros and ones for each value; missing values are zero in all."""
    pandas = import_extra("pandas", "Reading categories", "cli")
    texts = {table.columns.rows.names[j]: cells for j, cells in words.items()}  # type: ignore[union-attr]
    blocks = [pandas.get_dummies(cells, name, "=", dtype=table.data.dtype) for name, cells in texts.items()]
    names = [name for block in blocks for name in block.columns]
    clash = set(names) & set(table.feature_names)
    if clash:
        raise TableError(
            f"The table already has a column {min(clash)}, the name of a one-hot column; rename it."
        )
    groups = [name for name, block in zip(texts, blocks, strict=True) for _ in block.columns]
    note = (
        f"{listed(list(texts))} became {len(names)} columns of zeros and ones, one for each value; those of "
        "one text column are selected together and count as one."
    )
    return replace(
        table,
        data=np.hstack([table.data, *blocks]),
        feature_names=[*table.feature_names, *names],
        whole=np.append(table.whole, np.ones(len(names), dtype=bool)),
        groups=(*[None] * table.shape[1], *groups),
        left_out=tuple(column for column in table.left_out if column.name not in texts),
        columns=None,  # the file does not have these columns
    ).with_notes(note)


def _with_places(table: Table, words: dict[int, Any], orders: Sequence[Sequence[str]]) -> Table:
    """Return the table with answers on a scale as whole numbers from 1; cells stay words in text output."""
    source = table.columns
    assert source is not None
    names, scales = source.rows.names, [[word.lower() for word in scale] for scale in (*orders, *SCALES)]
    answers: dict[int, dict[int, Any]] = {}  # by scale, the columns with their answers
    for j, cells in words.items():
        folded = cells.str.lower()
        values = set(folded.dropna()) - NO_ANSWER
        fitting = (number for number, scale in enumerate(scales) if len(values) > 1 and values <= set(scale))
        if (number := next(fitting, None)) is not None:
            answers.setdefault(number, {})[j] = folded.where(folded.isin(values))
    columns = dict(zip(source.features, table.data.T, strict=True))
    whole, notes = dict(zip(source.features, table.whole, strict=True)), []
    for number, texts in answers.items():
        used = set().union(*(cells.dropna() for cells in texts.values()))
        places = {word: place for place, word in enumerate((w for w in scales[number] if w in used), 1)}
        for j, cells in texts.items():
            columns[j], whole[j] = cells.map(places).to_numpy(dtype=table.data.dtype), False
        notes.append(
            f"1 to {len(places)} stand for {' < '.join(places)} in {listed([names[j] for j in texts])}."
        )
    unknown = [names[j] for j in words if j not in columns]
    if unknown:
        notes.append(f"No order is known for the values of {listed(unknown)}; give it with --order.")
    features, recoded = tuple(sorted(columns)), {names[j] for texts in answers.values() for j in texts}
    return replace(
        table,
        data=np.column_stack([columns[j] for j in features]),
        feature_names=[names[j] for j in features],
        whole=np.array([whole[j] for j in features]),
        left_out=tuple(column for column in table.left_out if column.name not in recoded),
        columns=replace(source, features=features, texts=tuple(j for j in source.texts if j not in columns)),
    ).with_notes(*notes)
