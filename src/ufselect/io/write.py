"""Write selections: the same cells, rows and names as in the input."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.imports import import_extra
from ufselect.exceptions import TableError
from ufselect.io.files import TEXT_WRITTEN, open_packing, write_together, written_as
from ufselect.io.numbers import NumberReader
from ufselect.io.table import Table, dense
from ufselect.io.text import Dialect

MARK_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "blanks", "|": "bars"}


def write_selection(
    table: Table, selected: NDArray[np.intp], path: Path, force: bool = False, drop_text: bool = False
) -> None:
    """Write the selected columns of a table: same names, same rows, same order; completely or not at all.

    The ending of ``path`` selects format and compression. From text to text, cells are copied as they are
    written in the input. Ids and text columns (unless ``drop_text``) come before the features, labels after
    them. A file that exists is replaced only with ``force``.
    """
    write_together({path: lambda target: write_columns(table, selected, target, path, drop_text)}, force)


def write_columns(
    table: Table, selected: NDArray[np.intp], target: Path, path: Path, drop_text: bool = False
) -> None:
    """Write the selected columns to ``target``, in the format of ``path``."""
    kind, packing = written_as(path)
    if table.n_rows is not None and kind in (".npz", ".h5ad"):
        raise TableError(
            "A table that is read in blocks can only be written as .csv, .tsv or .parquet; use one of these."
        )
    if kind in TEXT_WRITTEN:
        with open_packing(target, packing) as file:
            write_text(table, selected, kind, file, drop_text)
        return
    if kind == ".parquet":
        import_extra("pyarrow", "Writing Parquet", "tables")
        _typed_frame(table, selected, drop_text).to_parquet(target, index=False)
        return
    texts = () if table.columns is None else table.columns.labels[table.labels is not None :]
    texts = (*(() if table.columns is None or drop_text else table.columns.texts), *texts)
    cells = _cells(table, texts)
    carried = {table.columns.rows.names[j]: np.array(cells[j].astype(str)) for j in texts}  # type: ignore[union-attr]
    carried |= table.added
    if kind == ".h5ad":
        from ufselect.io.h5ad import write_h5ad

        write_h5ad(table, selected, target, carried)
        return
    arrays: dict[str, Any] = {"X": _values(table, selected), "y": table.labels, "ids": table.ids}
    arrays["feature_names"] = np.array([table.feature_names[j] for j in selected], dtype=str)
    arrays |= {f"text_{name}": values for name, values in carried.items()}
    with target.open("wb") as file:  # objects would need a pickle
        plain = {
            name: a.astype(str) if a.dtype == object else a for name, a in arrays.items() if a is not None
        }
        np.savez_compressed(file, **plain)


def _side_columns(table: Table, drop_text: bool) -> tuple[list[int], list[int]]:
    """Return the positions of the columns before and after the features."""
    columns = table.columns
    if columns is None:
        return [], []
    before = [] if columns.id_position is None else [columns.id_position]
    before += [] if drop_text else list(columns.texts)
    return before, list(columns.labels)


def _cells(table: Table, positions: Sequence[int]) -> Any:
    """Return columns of the source as a data frame, named by their positions."""
    pandas = import_extra("pandas", "Writing tables", "cli")
    if table.columns is None or not positions:
        return pandas.DataFrame()
    return pandas.concat(list(table.columns.rows.blocks(positions)), ignore_index=True)


def _values(table: Table, selected: NDArray[np.intp]) -> NDArray:
    """Return the selected columns, read again if the table holds only a sample of the rows."""
    if table.n_rows is None or table.columns is None:
        return dense(table.data[:, selected])
    rows = table.columns.rows
    reader = NumberReader(range(len(selected)), rows.decimal, rows.missing)
    return reader.read(_cells(table, [table.columns.features[j] for j in selected]))


def _typed_frame(table: Table, selected: NDArray[np.intp], drop_text: bool) -> Any:
    """Return a data frame of numbers, with the other columns as they are in the source."""
    taken = {table.feature_names[j] for j in selected}

    def free(name: str) -> str:
        """Return a name for ids or labels that no selected column has."""
        return free(f"{name}_") if name in taken else name

    before, behind = _side_columns(table, drop_text)
    sides, values = _cells(table, [*before, *behind]), _values(table, selected)
    names = [] if table.columns is None else table.columns.rows.names
    columns = {names[j]: sides[j] for j in before}
    if table.columns is None and table.ids is not None:
        columns[free(table.id_name or "id")] = table.ids
    for j, column in zip(selected, values.T, strict=True):
        whole = table.whole[j] and np.all(column == np.rint(column))
        columns[table.feature_names[j]] = column.astype(np.int64) if whole else column
    columns |= {names[j]: sides[j] for j in behind}
    if table.columns is None and table.labels is not None:
        columns[free(table.label_name or "label")] = table.labels
    columns |= {free(name): values for name, values in table.added.items()}
    return import_extra("pandas", "Writing tables", "cli").DataFrame(columns)


def separator_of(kind: str, dialect: Dialect | None) -> str:
    """Return the separator for a file with an ending.

    A tab for .tsv. For .csv a comma, or a semicolon if the input has semicolons or decimal commas, as
    spreadsheets do. For others that of the input.
    """
    if kind == ".tsv":
        return "\t"
    if dialect is None:
        return ","
    if kind != ".csv" or dialect.mark in ",;":
        return dialect.mark
    return ";" if dialect.decimal == "," else ","


def separator_notes(table: Table, path: Path) -> list[str]:
    """Return a note if a table is written with another separator than that of the input."""
    if table.dialect is None or str(path) == "-" or (kind := written_as(path)[0]) not in TEXT_WRITTEN:
        return []
    marks = separator_of(kind, table.dialect), table.dialect.mark
    now, before = (MARK_NAMES.get(mark, repr(mark)) for mark in marks)
    if now == before:
        return []
    return [f"{path.name} is written with {now} between fields; the input has {before}."]


def write_text(table: Table, selected: NDArray[np.intp], kind: str, file: Any, drop_text: bool) -> None:
    """Write to an open binary file, with the separator for an ending."""
    dialect, columns = table.dialect, table.columns
    frames: Iterable[Any] = [_typed_frame(table, selected, drop_text)]
    blank = None  # ids that had no name in a text file get none
    if dialect is not None and columns is not None:
        frames = _copied(table, selected, drop_text)
        place = columns.id_position
        blank = columns.rows.names[place] if place is not None and columns.rows.unnamed[place] else None
    is_marked = dialect is not None and dialect.encoding == "utf-8-sig"
    encoding = "utf-8-sig" if is_marked else "utf-8"
    text = io.TextIOWrapper(file, encoding=encoding, newline="", write_through=True)
    for number, frame in enumerate(frames):
        frame.to_csv(
            text,
            index=False,
            header=["" if name == blank else name for name in frame.columns] if number == 0 else False,
            sep=separator_of(kind, dialect),
            decimal="." if dialect is None else dialect.decimal,
            lineterminator="\n",
        )
    text.flush()
    text.detach()


def _copied(table: Table, selected: NDArray[np.intp], drop_text: bool) -> Iterator[Any]:
    """Yield the cells of the source, with missing ones filled if that was asked for."""
    columns = table.columns
    assert columns is not None
    before, behind = _side_columns(table, drop_text)
    fills = {columns.features[j]: table.fills.get(table.feature_names[j]) for j in selected}
    start = 0
    for frame in columns.rows.blocks([*before, *fills, *behind]):
        for position, fill in fills.items():
            if fill is not None:
                gone = columns.rows.missing.where(frame[position], columns.rows.decimal)
                frame.loc[gone, position] = repr(fill).replace(".", columns.rows.decimal)
        frame = frame.rename(columns=dict(enumerate(columns.rows.names)))
        for name, values in table.added.items():
            frame[f"{name}_" if name in frame else name] = values[start : start + len(frame)]
        start += len(frame)
        yield frame


def ranked_rows(rows: Sequence[dict[str, Any]], path: Path, target: Path) -> None:
    """Write one line per record as text; absent entries are left empty."""
    pandas = import_extra("pandas", "Writing tables", "cli")
    kind, packing = written_as(path)
    text = pandas.DataFrame(rows, dtype=object).to_csv(
        index=False, sep=separator_of(kind, None), lineterminator="\n"
    )
    with open_packing(target, packing) as file:
        file.write(text.encode())
