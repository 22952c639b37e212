"""Single-cell tables: AnnData's h5ad."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ufselect.io.assemble import ColumnRoles
from ufselect.io.damage import readable
from ufselect.io.errors import TableError, need
from ufselect.io.naming import distinct_names, find_column, looks_like_labels
from ufselect.io.stores import check_stored, find_matrix, open_hdf5
from ufselect.io.table import Table


def read_h5ad(path: Path, roles: ColumnRoles) -> Table:
    """Read the main matrix of an AnnData file with its cell and gene names; sparse data stay sparse."""
    anndata = need("anndata", "Reading h5ad", "tables")
    with open_hdf5(path) as file, readable(path, "AnnData"):
        if not {"X", "obs", "var"} <= set(file):
            raise TableError(
                f"{path} is not an AnnData file, which has X, obs and var; write it with AnnData."
            )
        matrix = check_stored(anndata.io.read_elem(find_matrix(file, "X", path)), path)
        cells, genes = anndata.io.read_elem(file["obs"]), anndata.io.read_elem(file["var"])
    _check_lengths(matrix, cells, genes, path)
    names, notes = distinct_names([str(name) for name in genes.index])
    label_name = _label_name(cells, roles)
    ids = cells.index if roles.id_column is None else cells.iloc[:, _position(cells, roles)]
    return Table(
        data=_floats(matrix),
        feature_names=names,
        whole=np.zeros(len(names), dtype=bool),
        ids=np.asarray(ids, dtype=object),
        id_name=roles.id_column or cells.index.name or "cell",
        labels=None if label_name is None else np.asarray(cells[label_name], dtype=object),
        label_name=label_name,
        notes=tuple(notes),
    )


def _check_lengths(matrix: Any, cells: Any, genes: Any, path: Path) -> None:
    if np.shape(matrix) != (len(cells), len(genes)):
        raise TableError(
            f"{path} holds {len(cells)} cells and {len(genes)} genes for a matrix of shape "
            f"{np.shape(matrix)}; write it again."
        )


def _floats(matrix: Any) -> Any:
    data = sparse.csr_array(matrix) if sparse.issparse(matrix) else np.asarray(matrix)
    # counts fit in single precision, and that is how single-cell programs store them
    return data if data.dtype in (np.float32, np.float64) else data.astype(np.float32)


def _position(cells: Any, roles: ColumnRoles) -> int:
    return find_column(str(roles.id_column), list(map(str, cells.columns)), "id_column")


def _label_name(cells: Any, roles: ColumnRoles) -> str | None:
    columns = list(map(str, cells.columns))
    if roles.label_column is not None:
        return columns[find_column(roles.label_column, columns, "label_column")]
    if not roles.guess:
        return None
    return next((name for name in columns if looks_like_labels(name, cells[name].astype(object))), None)
