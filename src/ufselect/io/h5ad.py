"""Single-cell tables: AnnData's h5ad."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ufselect.io.assemble import ColumnRoles
from ufselect.io.errors import TableError, need
from ufselect.io.naming import distinct_names, find_column, looks_like_labels
from ufselect.io.table import Table


def read_h5ad(path: Path, roles: ColumnRoles) -> Table:
    """Read the main matrix of an AnnData file with its cell and gene names; sparse data stay sparse."""
    anndata = need("anndata", "Reading h5ad", "tables")
    try:
        stored = anndata.read_h5ad(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise TableError(f"{path} is not a readable h5ad file; write it again with AnnData.") from error
    names, notes = distinct_names([str(name) for name in stored.var_names])
    data = sparse.csr_array(stored.X) if sparse.issparse(stored.X) else np.asarray(stored.X)
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float32)
    label_name = _label_name(stored.obs, roles)
    ids = stored.obs_names if roles.id_column is None else stored.obs.iloc[:, _position(stored.obs, roles)]
    return Table(
        data=data,
        feature_names=names,
        whole=np.zeros(len(names), dtype=bool),
        ids=np.asarray(ids, dtype=object),
        id_name=roles.id_column or stored.obs_names.name or "cell",
        labels=None if label_name is None else np.asarray(stored.obs[label_name], dtype=object),
        label_name=label_name,
        notes=tuple(notes),
    )


def _position(obs: Any, roles: ColumnRoles) -> int:
    return find_column(str(roles.id_column), list(map(str, obs.columns)), "--id")


def _label_name(obs: Any, roles: ColumnRoles) -> str | None:
    columns = list(map(str, obs.columns))
    if roles.label_column is not None:
        return columns[find_column(roles.label_column, columns, "--labels")]
    if not roles.guess:
        return None
    return next((name for name in columns if looks_like_labels(name, obs[name].astype(object))), None)
