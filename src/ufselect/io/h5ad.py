"""Single-cell tables: AnnData's h5ad and zarr, and the .h5 files of 10x Genomics' programs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.imports import import_extra
from ufselect.exceptions import TableError
from ufselect.io.files import readable
from ufselect.io.roles import batch_labels, is_label, look_at_typed, row_weights
from ufselect.io.stores import check_stored, find_matrix, open_hdf5, row_pointers, sparse_rows
from ufselect.io.table import ReadOptions, Table, distinct_names, find_column
from ufselect.io.trial import try_file


def is_cell_store(folder: Path) -> bool:
    """Whether a folder is an AnnData zarr store."""
    return all((folder / part).is_dir() for part in ("X", "obs", "var"))


def read_cells(path: Path, options: ReadOptions) -> Table:
    """Read the main matrix or a layer with its names; sparse data stay sparse."""
    if path.is_dir():
        with readable(path, "AnnData"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cells = import_extra("anndata", "Reading zarr", "tables").read_zarr(path)
        return _table(_matrix(cells, options.layer, path), cells.obs, cells.var, options, path)
    anndata = import_extra("anndata", "Reading h5ad", "tables")
    with open_hdf5(path) as file, readable(path, "AnnData"):
        if not {"X", "obs", "var"} <= set(file):
            return _tenx_table(file, path)
        matrix = find_matrix(file, "X" if options.layer is None else f"layers/{options.layer}", path)
        if "encoding-type" in file["obs"].attrs:
            matrix, cells, genes = map(anndata.io.read_elem, (matrix, file["obs"], file["var"]))
            return _table(matrix, cells, genes, options, path)
    with readable(path, "AnnData"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of layouts before 2020, whose parts anndata moves
        cells = anndata.read_h5ad(path)
    return _table(_matrix(cells, options.layer, path), cells.obs, cells.var, options, path)


def _matrix(cells: Any, layer: str | None, path: Path) -> Any:
    if layer is not None and layer not in cells.layers:
        raise TableError(f"{path} holds no layer {layer!r}; it holds {', '.join(cells.layers) or 'none'}.")
    return cells.X if layer is None else cells.layers[layer]


def _table(matrix: Any, cells: Any, genes: Any, options: ReadOptions, path: Path) -> Table:
    matrix = check_stored(matrix, path)
    if np.shape(matrix) != (len(cells), len(genes)):
        raise TableError(
            f"{path} holds {len(cells)} cells and {len(genes)} genes for a matrix of shape "
            f"{np.shape(matrix)}; write it again."
        )
    if sparse.issparse(matrix):  # from its arrays, since SciPy warns of finished ones with unsigned indices
        kind = sparse.csr_array if matrix.format == "csr" else sparse.csc_array
        matrix = kind((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape).tocsr()
    data = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    # counts fit in single precision, and that is how single-cell programs store them
    data = data if data.dtype in (np.float32, np.float64) else data.astype(np.float32)
    names, notes = distinct_names([str(name) for name in genes.index])
    columns = list(map(str, cells.columns))

    def column(role: str) -> tuple[NDArray | None, str | None]:
        """Return a column of the annotation of cells that was named, and its name there."""
        asked = getattr(options, f"{role}_column")
        if asked is None:
            return None, None
        place = find_column(asked, columns, f"{role}_column")
        return np.asarray(cells.iloc[:, place], dtype=object), columns[place]

    ids, id_name = column("id")
    labels, label_name = column("label")
    if label_name is None and options.guess:
        found = (name for name in columns if is_label(name, columns, look_at_typed(cells[name])))
        label_name = next(found, None)
        labels = None if label_name is None else np.asarray(cells[label_name], dtype=object)
    return Table(
        data=data,
        feature_names=names,
        whole=np.zeros(len(names), dtype=bool),
        ids=np.asarray(cells.index, dtype=object) if ids is None else ids,
        id_name=id_name or cells.index.name or "cell",
        labels=labels,
        label_name=label_name,
        batches=batch_labels(*column("batch")),
        weights=row_weights(*column("weight")),
        notes=tuple(notes),
    )


def _tenx_table(file: Any, path: Path) -> Table:
    """Read the counts of a .h5 file of 10x Genomics' programs; genes are called by their symbol."""
    groups = [node for node in file.values() if not hasattr(node, "shape") and "barcodes" in node]
    if len(groups) != 1:
        raise TableError(
            f"{path} is neither an AnnData file, which has X, obs and var, nor a matrix of 10x Genomics' "
            "programs; write it with AnnData, or open an array in it with ufselect.blocks.open_blocks."
        )
    group = groups[0]
    genes = group["features/name"] if "features" in group else group["gene_names"]
    names, notes = distinct_names([name.decode() for name in genes[:]])
    n_genes, n_cells = (int(size) for size in group["shape"][:])
    counts = sparse_rows(group, row_pointers(group, n_cells, path), n_genes, path)
    if (len(names), len(group["barcodes"])) != (n_genes, n_cells):
        raise TableError(f"{path} names other genes or cells than its matrix has; copy it again.")
    return Table(
        data=counts.astype(np.float32),
        feature_names=names,
        whole=np.ones(n_genes, dtype=bool),
        ids=np.array([code.decode() for code in group["barcodes"][:]], dtype=object),
        id_name="barcode",
        notes=tuple(notes),
    )


def write_h5ad(table: Table, selected: Any, target: Path, texts: Mapping[str, NDArray]) -> None:
    """Write an AnnData file whose ``var`` says which features were selected.

    From h5ad, everything is copied and all genes stay; ``cells[:, cells.var["selected"]]`` are the selected
    ones. From other formats, the selected columns are written, and text columns into ``obs``.
    """
    anndata = import_extra("anndata", "Writing h5ad", "tables")
    pandas = import_extra("pandas", "Writing h5ad", "cli")
    if table.source is not None and table.source.suffix.lower() == ".h5ad":
        try_file(table.source)  # it may have changed since it was read, and now all of it is
        with readable(table.source, "AnnData"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
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
