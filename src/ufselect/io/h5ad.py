"""Single-cell tables: AnnData's h5ad."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.extras import import_extra
from ufselect.exceptions import TableError
from ufselect.io.damage import readable
from ufselect.io.hdf5_heaps import check_heaps
from ufselect.io.hdf5_trial import try_hdf5
from ufselect.io.naming import distinct_names, find_column
from ufselect.io.roles import ColumnRoles, is_label, look_at_typed
from ufselect.io.row_columns import batch_labels, row_weights
from ufselect.io.stores import check_stored, find_matrix, open_hdf5
from ufselect.io.table import Table


def read_h5ad(path: Path, roles: ColumnRoles, layer: str | None = None) -> Table:
    """Read the main matrix or a layer of an AnnData file with its names; sparse data stay sparse."""
    anndata = import_extra("anndata", "Reading h5ad", "tables")
    with readable(path, "AnnData"):
        check_heaps(path)  # at once, where a trial would wait for the end of a loop
    with open_hdf5(path) as file, readable(path, "AnnData"):
        if not {"X", "obs", "var"} <= set(file):
            raise TableError(
                f"{path} is not an AnnData file, which has X, obs and var; write it with AnnData."
            )
        name = "X" if layer is None else f"layers/{layer}"
        matrix = check_stored(anndata.io.read_elem(find_matrix(file, name, path)), path)
        cells, genes = anndata.io.read_elem(file["obs"]), anndata.io.read_elem(file["var"])
    _check_lengths(matrix, cells, genes, path)
    names, notes = distinct_names([str(name) for name in genes.index])
    label_name = _label_name(cells, roles)
    ids = _column(cells, roles.id_column, "id_column")
    return Table(
        data=_floats(matrix),
        feature_names=names,
        whole=np.zeros(len(names), dtype=bool),
        ids=np.asarray(cells.index, dtype=object) if ids is None else ids,
        id_name=roles.id_column or cells.index.name or "cell",
        labels=None if label_name is None else np.asarray(cells[label_name], dtype=object),
        label_name=label_name,
        batches=batch_labels(_column(cells, roles.batch_column, "batch_column"), roles.batch_column),
        weights=row_weights(_column(cells, roles.weight_column, "weight_column"), roles.weight_column),
        notes=tuple(notes),
    )


def _check_lengths(matrix: Any, cells: Any, genes: Any, path: Path) -> None:
    if np.shape(matrix) != (len(cells), len(genes)):
        raise TableError(
            f"{path} holds {len(cells)} cells and {len(genes)} genes for a matrix of shape "
            f"{np.shape(matrix)}; write it again."
        )


def _floats(matrix: Any) -> Any:
    data = _as_csr(matrix) if sparse.issparse(matrix) else np.asarray(matrix)
    # counts fit in single precision, and that is how single-cell programs store them
    return data if data.dtype in (np.float32, np.float64) else data.astype(np.float32)


def _as_csr(matrix: Any) -> sparse.csr_array:
    """Return CSR or CSC as CSR, from its arrays, since SciPy warns of finished ones with unsigned indices."""
    kind = sparse.csr_array if matrix.format == "csr" else sparse.csc_array
    return kind((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape).tocsr()


def _column(cells: Any, name: str | None, parameter: str) -> NDArray | None:
    """Return a column of the annotation of cells."""
    if name is None:
        return None
    place = find_column(name, list(map(str, cells.columns)), parameter)
    return np.asarray(cells.iloc[:, place], dtype=object)


def _label_name(cells: Any, roles: ColumnRoles) -> str | None:
    columns = list(map(str, cells.columns))
    if roles.label_column is not None:
        return columns[find_column(roles.label_column, columns, "label_column")]
    if not roles.guess:
        return None
    return next((name for name in columns if is_label(name, columns, look_at_typed(cells[name]))), None)


def write_h5ad(table: Table, selected: Any, target: Path, texts: Mapping[str, NDArray]) -> None:
    """Write an AnnData file whose ``var`` says which features were chosen.

    From h5ad, everything is copied and all genes stay; ``cells[:, cells.var["selected"]]`` are the chosen
    ones. From other formats, the chosen columns are written, and text columns into ``obs``.
    """
    anndata = import_extra("anndata", "Writing h5ad", "tables")
    pandas = import_extra("pandas", "Writing h5ad", "cli")
    if table.source is not None and table.source.suffix.lower() == ".h5ad":
        try_hdf5(table.source)  # it may have changed since it was read, and now all of it is
        with readable(table.source, "AnnData"):
            cells = anndata.read_h5ad(table.source)
        chosen = {table.feature_names[j] for j in selected}
        names, _ = distinct_names([str(name) for name in cells.var_names])
        cells.var["selected"] = [name in chosen for name in names]
    else:
        names = [table.feature_names[j] for j in selected]
        ids = range(table.shape[0]) if table.ids is None else table.ids
        cells = anndata.AnnData(
            table.data[:, selected],
            pandas.DataFrame(dict(texts), index=[str(value) for value in ids]),
            pandas.DataFrame({"selected": True}, index=names),
        )
        if table.labels is not None:
            cells.obs[table.label_name or "label"] = [str(value) for value in table.labels]
    cells.write_h5ad(target)
