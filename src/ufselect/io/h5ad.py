"""Matrices in HDF5 files and zarr stores; single-cell tables of AnnData and 10x Genomics."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.imports import import_extra
from ufselect._utils.validation import listed
from ufselect.exceptions import TableError
from ufselect.io.files import check_claim, check_stored, open_unpacked, readable, refuse_damage
from ufselect.io.numbers import Missing
from ufselect.io.roles import batch_labels, is_label, look_at, row_weights
from ufselect.io.table import ReadOptions, Table, distinct_names, find_column
from ufselect.io.trial import try_file


def open_hdf5(path: Path) -> Any:
    """Open an HDF5 file for reading; close it after use."""
    h5py = import_extra("h5py", "Opening HDF5 files", "tables")
    elsewhere: list[str] = []  # data in other files, which could be any file of this machine

    def look_at(name: str, node: Any) -> None:
        is_outside = isinstance(node, h5py.Dataset) and (node.external is not None or node.is_virtual)
        if is_outside or isinstance(node, h5py.ExternalLink):
            elsewhere.append(name)

    with readable(path, "HDF5"):
        try_file(path)
        file = h5py.File(path, "r")
        file.visititems_links(look_at)
        file.visititems(look_at)
    if elsewhere:
        file.close()
        raise TableError(f"{path} keeps {elsewhere[0]!r} in another file; give that file itself.")
    return file


def check_layer(layer: str | None, layers: Iterable[str | None], path: Path) -> None:
    """Refuse a layer that a file does not have."""
    if layer is not None and layer not in layers:
        known = ", ".join(filter(None, layers))  # None is X since anndata 0.13
        raise TableError(f"{path} holds no layer {layer!r}; it holds {known or 'none'}.")


def read_cells(path: Path, options: ReadOptions) -> Table:
    """Read the main matrix or a layer with its names; sparse data stay sparse."""
    anndata = import_extra("anndata", "Reading h5ad and zarr", "tables")
    if not path.is_dir():
        with open_hdf5(path) as file:
            if not {"X", "obs", "var"} <= set(file):
                return _tenx_table(file, path, options.layer)
            check_layer(options.layer, file.get("layers", {}), path)
            matrix = file["X" if options.layer is None else f"layers/{options.layer}"]
            check_claim(getattr(matrix, "nbytes", 0), path)
            if "encoding-type" in file["obs"].attrs:
                matrix, cells, genes = map(anndata.io.read_elem, (matrix, file["obs"], file["var"]))
                return _table(matrix, cells, genes, options, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # for layouts before 2020
        cells = anndata.read_zarr(path) if path.is_dir() else anndata.read_h5ad(path)
    layer = options.layer
    check_layer(layer, cells.layers, path)
    return _table(cells.X if layer is None else cells.layers[layer], cells.obs, cells.var, options, path)


def _table(matrix: Any, cells: Any, genes: Any, options: ReadOptions, path: Path) -> Table:
    matrix = check_stored(matrix, path)
    if np.shape(matrix) != (len(cells), len(genes)):
        raise TableError(
            f"{path} holds {len(cells)} cells and {len(genes)} genes for a matrix of shape "
            f"{np.shape(matrix)}; write it again."
        )
    if sparse.issparse(matrix):  # from its arrays, since SciPy warns about unsigned indices
        kind = sparse.csr_array if matrix.format == "csr" else sparse.csc_array
        matrix = kind((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape).tocsr()
    data = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    # single precision holds counts, and single-cell programs use it
    data = data if data.dtype in (np.float32, np.float64) else data.astype(np.float32)
    names, notes = distinct_names([str(name) for name in genes.index])
    columns = list(map(str, cells.columns))

    def column(role: str) -> tuple[NDArray | None, str | None]:
        """Return the column of ``obs`` for a role, and its name; None if none was named."""
        asked = getattr(options, f"{role}_column")
        if asked is None:
            return None, None
        place = find_column(asked, columns, role)
        return np.asarray(cells.iloc[:, place], dtype=object), columns[place]

    for name in options.carried_columns:  # they stay in obs
        find_column(name, columns, "label")
    ids, id_name = column("id")
    labels, label_name = column("label")
    if label_name is None and options.guess:
        suitable = (name for name in columns if is_label(name, columns, look_at(cells[name], ".", Missing())))
        label_name = next(suitable, None)
        labels = None if label_name is None else np.asarray(cells[label_name], dtype=object)
    return Table(
        data=data,
        feature_names=names,
        whole=np.zeros(len(names), dtype=bool),
        ids=np.asarray(cells.index, dtype=object) if ids is None else ids,
        id_name=id_name or cells.index.name or "cell",
        labels=labels,
        label_name=label_name,
        batches=batch_labels(column("batch")[0]),
        weights=row_weights(*column("weight")),
        notes=tuple(notes),
    )


def _tenx_table(file: Any, path: Path, genome: str | None) -> Table:
    """Read the counts of a 10x Genomics .h5 file; genes are named by their symbol."""
    groups = [name for name, node in file.items() if not hasattr(node, "shape") and "barcodes" in node]
    if not groups:
        raise TableError(
            f"{path} is neither an AnnData file, which has X, obs and var, nor a 10x Genomics matrix; "
            "write it with AnnData."
        )
    if genome not in groups if genome is not None else len(groups) > 1:
        raise TableError(f"{path} holds counts of {listed(groups)}; name one with --layer.")
    group = file[genome or groups[0]]
    genes = group["features/name"] if "features" in group else group["gene_names"]
    entries = tuple(group[name][:] for name in ("data", "indices", "indptr"))
    counts = sparse.csc_array(entries, shape=tuple(int(size) for size in group["shape"][:]))
    names = [name.decode() for name in genes[:]]
    return _counted(counts, names, [code.decode() for code in group["barcodes"][:]], path)


def _counted(counts: Any, genes: list[str], cells: list[str], path: Path) -> Table:
    """Return the table of counts that are stored with genes in rows."""
    check_stored(counts, path)
    if counts.shape != (len(genes), len(cells)):
        raise TableError(
            f"{path} holds {counts.shape[0]} genes × {counts.shape[1]} cells, but {len(genes)} genes and "
            f"{len(cells)} cells are named; use files of one run."
        )
    names, notes = distinct_names(genes)
    return Table(
        data=sparse.csr_array(counts.T).astype(np.float32),
        feature_names=names,
        whole=np.ones(len(names), dtype=bool),
        ids=np.array(cells, dtype=object),
        id_name="barcode",
        notes=tuple(notes),
    )


def find_part(folder: Path, *names: str) -> Path | None:
    """Return the file of a 10x folder with one of these names, compressed or not."""
    places = (folder / f"{name}{packing}" for name in names for packing in ("", ".gz"))
    return next((place for place in places if place.is_file()), None)


def read_tenx(folder: Path) -> Table:
    """Read the counts of a 10x folder, cells in rows; genes are named by their symbol."""
    matrix, barcodes = find_part(folder, "matrix.mtx"), find_part(folder, "barcodes.tsv")
    features = find_part(folder, "features.tsv", "genes.tsv")
    if matrix is None or features is None or barcodes is None:
        raise TableError(f"{folder} must hold matrix.mtx, features.tsv and barcodes.tsv; one is absent.")
    pandas = import_extra("pandas", "Reading 10x folders", "cli")
    with open_unpacked(matrix) as file:  # SciPy's reader crashes on a truncated file
        head = line = file.readline(1000)
        if head.split()[1:3] != [b"matrix", b"coordinate"] or head.split()[4:] != [b"general"]:
            raise TableError(
                f"{matrix} is not a matrix of 10x Genomics counts; give the folder that Cell Ranger wrote."
            )
        while line.startswith(b"%"):
            line = file.readline(1000)
        n_rows, n_columns, n_entries = map(int, line.split())
        entries = pandas.read_csv(file, sep=r"\s+", header=None, names=[0, 1, 2], index_col=False)
        if len(entries) != n_entries or entries.isna().any(axis=None):
            refuse_damage(f"it holds {len(entries)} of {n_entries} entries", matrix)
        positions = tuple(entries[j].to_numpy(dtype=np.int64) - 1 for j in (0, 1))
        values = entries[2].to_numpy(dtype=np.float64)
        counts = sparse.coo_array((values, positions), shape=(n_rows, n_columns))
    genes = [row[1] if len(row) > 1 else row[0] for row in _lines(features)]
    return _counted(counts, genes, [row[0] for row in _lines(barcodes)], matrix)


def _lines(path: Path) -> list[list[str]]:
    with open_unpacked(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        return [row for row in csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE) if row]


def write_h5ad(table: Table, selected: Any, target: Path, texts: Mapping[str, NDArray]) -> None:
    """Write an AnnData file whose ``var["selected"]`` marks the selected features.

    From h5ad, everything is copied and all genes stay; ``cells[:, cells.var["selected"]]`` are the selected
    ones. From other formats, the selected columns are written, and text columns into ``obs``.
    """
    anndata = import_extra("anndata", "Writing h5ad", "tables")
    pandas = import_extra("pandas", "Writing h5ad", "cli")
    if table.source is not None and table.source.suffix.lower() == ".h5ad":
        try_file(table.source)  # it may have changed since it was read, and now all of it is read
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
    cells.strings_to_categoricals()
    # through memory: on a full disk, HDF5 crashes
    content = io.BytesIO()
    with import_extra("h5py", "Writing h5ad", "tables").File(content, "w") as file:
        anndata.io.write_elem(file, "/", cells)
    target.write_bytes(content.getbuffer())
