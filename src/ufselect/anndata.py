"""Select genes of an AnnData object and write the selection into it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import clone

from ufselect import __version__
from ufselect._utils.imports import import_extra
from ufselect._utils.validation import NAMES_COLUMNS, ColumnTable, listed, value_by_position
from ufselect.plotting.displays import selected_by


def select(
    adata: Any,
    selector: Any,
    *,
    layer: str | None = None,
    batch_key: str | None = None,
    subset: bool = False,
    copy: bool = False,
) -> Any:
    """Select genes of an AnnData object and write the selection into it, as scanpy's functions do.

    A copy of the selector is fitted to ``adata.X`` or a layer as it is: normalise and take logarithms first.
    Sparse data stay sparse. Genes that the selector is to keep, exclude or group may be given by their names
    in ``adata.var_names``. The same selector fitted to ``adata.X`` selects the same columns.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells × genes, or any other table of that kind, in memory.
    selector : estimator
        :class:`~ufselect.AutoSelector`, :class:`~ufselect.DSCOFS`, or any other scikit-learn selector. It is
        not changed.
    layer : str or None, default=None
        The layer to fit to; None for ``adata.X``.
    batch_key : str or None, default=None
        A column of ``adata.obs`` to pass to the selector's ``fit`` as ``batch``.
    subset : bool, default=False
        Whether to drop the genes that are not selected.
    copy : bool, default=False
        Whether to leave ``adata`` as it is and return a changed copy.

    Returns
    -------
    anndata.AnnData or None
        The changed copy if ``copy``; else None, and ``adata`` is changed:

        - ``adata.var["selected"]``, bool: whether a gene is selected;
        - ``adata.var["rank"]``, int: 1 for the best gene;
        - ``adata.uns["ufselect"]``: ``selector`` and ``version``, ``layer`` and ``batch_key`` if given, and
          ``verdict`` if the selector has one.

    Raises
    ------
    TypeError, ValueError
        If there is no such layer or batch, or ``adata`` is not an AnnData object in memory.

    See Also
    --------
    ufselect.preprocessing.LogCounts : Normalise counts and take logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from ufselect import MaxVariance
    >>> from ufselect.anndata import select
    >>> cells = AnnData(np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 4.0], [0.0, 2.0, 3.0]]))
    >>> cells.var_names = ["CD4", "CD8A", "GNLY"]
    >>> select(cells, MaxVariance(2, keep=["CD4"]))
    >>> cells[:, cells.var["selected"]].var_names.tolist()
    ['CD4', 'GNLY']
    """
    package = import_extra("anndata", "Selecting genes of an AnnData object", "tables")
    if not isinstance(adata, package.AnnData):
        raise TypeError(f"adata must be an AnnData object, not {type(adata).__name__}.")
    if adata.isbacked:
        raise ValueError("adata is on disk; read it with adata.to_memory(), or fit a selector to the file.")
    layers = [name for name in adata.layers if name is not None]  # None is X since anndata 0.13
    if layer is not None and layer not in layers:
        raise ValueError(f"adata has no layer {layer!r}; {_hint(layer, layers)}")
    matrix = adata.X if layer is None else adata.layers[layer]
    if matrix is None:
        raise ValueError(f"adata.X is empty; name a layer: {_hint('', layers)}")
    if batch_key is not None and batch_key not in adata.obs:
        known = _hint(batch_key, list(map(str, adata.obs.columns)))
        raise ValueError(f"adata.obs has no column {batch_key!r}; {known}")
    given = {} if batch_key is None else {"batch": np.asarray(adata.obs[batch_key])}
    fitted = _by_index(selector, adata.var_names).fit(matrix, **given)
    found = selected_by(fitted)
    target = adata.copy() if copy else adata
    target.var["selected"] = found.support
    target.var["rank"] = found.ranking
    told = {
        "selector": " ".join(repr(selector).split()),
        "version": __version__,
        "layer": layer,
        "batch_key": batch_key,
        "verdict": getattr(fitted, "verdict_", None),
    }  # in strings, which every file format takes
    target.uns["ufselect"] = {name: value for name, value in told.items() if value is not None}
    if subset:
        target._inplace_subset_var(found.support)
    return target if copy else None


def _hint(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {listed(known)}." if known else "there is none."


def _by_index(selector: Any, names: Any) -> Any:
    """Return a copy of a selector with column names replaced by indices, because a matrix has no names."""
    if not hasattr(selector, "get_support"):
        raise TypeError(
            f"selector must be a selector with fit and get_support, such as DSCOFS(50), not {selector!r}."
        )
    named = {
        name: value
        for name, value in selector.get_params().items()
        if name.rpartition("__")[2] in NAMES_COLUMNS and not (value is None or isinstance(value, str))
    }
    if named and not names.is_unique:
        raise ValueError("Gene names are not unique; call adata.var_names_make_unique() first.")
    table = ColumnTable(len(names), np.asarray(names, dtype=object))
    by_position = {name: value_by_position(table, name, value) for name, value in named.items()}
    return clone(selector).set_params(**by_position)
