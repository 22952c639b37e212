"""Data sets by name: from a folder, from the cache, or from their public source."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import datasets as bundled
from sklearn.utils import Bunch

from ufselect.datasets.catalogue import ENTRIES, WITH_SKLEARN, Entry, names
from ufselect.exceptions import DatasetUnavailableError
from ufselect.io.arrays import DATA_NAMES, LABEL_NAMES, stored_arrays, turned_to
from ufselect.io.files import readable

logger = logging.getLogger("ufselect")


def list_datasets() -> list[str]:
    """Return the names that :func:`load_dataset` accepts.

    Returns
    -------
    list of str

    See Also
    --------
    load_dataset : Load one of them.

    Examples
    --------
    >>> from ufselect.datasets import list_datasets
    >>> "isolet" in list_datasets(), "digits" in list_datasets()
    (True, True)
    """
    return names()


def load_dataset(name: str) -> Bunch:
    """Load a labelled data set by name.

    ``digits``, ``breast_cancer``, ``wine`` and ``iris`` come with scikit-learn and need no file. The data
    sets of the published comparisons are downloaded once from their public source into a cache, which needs
    ``pip install "ufselect[data]"``.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.

    Returns
    -------
    Bunch
        ``data`` (float64, n_samples × n_features), ``target``, ``feature_names`` and ``DESCR``; for images
        also ``image_shape`` (rows, columns) and ``image_order`` for ``numpy.reshape``.

    Raises
    ------
    ValueError
        If the name is unknown or a file's content is not that of the data set.
    DatasetUnavailableError
        If the data set is not on this machine and cannot be downloaded.

    See Also
    --------
    list_datasets : The names that can be loaded.
    make_noisy_shapes : Generate data with known features and any number of noise features.

    Notes
    -----
    Before a download, files are searched for in the folder named by the environment variable
    ``UFSELECT_DATA``, then in the cache (the folder ``UFSELECT_CACHE``, else the user's cache folder). In a
    folder, ``isolet.npz`` (arrays ``X`` and ``y``) or the original ``Isolet.mat`` is used. Each step is
    logged to the logger ``ufselect``. Files are never unpickled.

    The content is verified by the SHA-256 of the decoded arrays (``X`` as float64 in C order, then ``y`` as
    int64), since the publishers give no checksums. The original file of ``mstar_soc_cnn`` is verified by its
    id in git; of a ``mstar_soc_cnn.npz`` only the numbers of samples, features and classes are checked.

    Examples
    --------
    >>> from ufselect.datasets import load_dataset
    >>> load_dataset("wine").data.shape
    (178, 13)
    """
    if name in WITH_SKLEARN:
        source = getattr(bundled, f"load_{name}")()
        images = {"image_shape": (8, 8), "image_order": "C"} if name == "digits" else {}
        return Bunch(
            data=np.asarray(source.data, dtype=np.float64),
            target=source.target,
            feature_names=list(source.feature_names),
            DESCR=source.DESCR,
            **images,
        )
    if name not in ENTRIES:
        guess = get_close_matches(str(name).lower(), list_datasets(), n=1)
        hint = f" Did you mean {guess[0]!r}?" if guess else ""
        raise ValueError(f"Unknown data set {name!r}; known are {', '.join(list_datasets())}.{hint}")
    entry = ENTRIES[name]
    local = local_file(name, entry)
    path = _download(name, entry) if local is None else local
    try:
        data, labels = _read_verified(name, entry, path)
    except ValueError:
        if local is None:
            path.unlink()  # a wrong file must not stay in the cache
        raise
    shape, order = entry.image_shape, entry.image_order
    return Bunch(
        data=data,
        target=labels,
        feature_names=[f"{name}_{j}" for j in range(data.shape[1])],
        DESCR=f"{entry.title}: {entry.n_samples} samples, {entry.n_features} features, {entry.n_classes} "
        f"classes.\n{entry.summary}\nSource: https://github.com/{entry.repository}, file {entry.path}.\n",
        **({} if shape is None else {"image_shape": shape, "image_order": order}),
    )


def local_file(name: str, entry: Entry) -> Path | None:
    """Return the first file of the data set in the user's folder or the cache."""
    chosen = os.environ.get("UFSELECT_DATA")
    if chosen and not Path(chosen).is_dir():
        raise ValueError(f"UFSELECT_DATA names {chosen!r}, which is not a folder; correct or unset it.")
    own = Path(chosen) if chosen else None
    for place, folder in (("the folder UFSELECT_DATA", own), ("the cache", _cache_folder())):
        if folder is None:
            continue
        for file_name in (f"{name}.npz", entry.file_name, f"{name}.mat"):
            path = folder / file_name
            if path.is_file():
                logger.info("%s: using %s from %s.", name, path, place)
                return path
        logger.info("%s: not in %s (%s).", name, place, folder)
    return None


def _cache_folder() -> Path | None:
    """Return the cache folder, or None if UFSELECT_CACHE is not set and pooch is not installed."""
    chosen = os.environ.get("UFSELECT_CACHE")
    if not chosen and find_spec("pooch") is not None:
        import pooch

        chosen = pooch.os_cache("ufselect")
    return Path(chosen) if chosen else None


def _download(name: str, entry: Entry) -> Path:
    """Fetch the original file into the cache."""
    help_yourself = (
        f"Put {name}.npz (arrays X and y) or {entry.file_name} in a folder and set UFSELECT_DATA to it."
    )
    if find_spec("pooch") is None:
        raise DatasetUnavailableError(
            f"{entry.title} is not on this machine, and downloading needs pooch: "
            f'pip install "ufselect[data]". {help_yourself}'
        )
    import pooch

    logger.info("%s: downloading %s.", name, entry.url)
    # GitHub's API wraps a file in JSON unless asked for its bytes.
    as_bytes = pooch.HTTPDownloader(headers={"Accept": "application/vnd.github.raw+json"})
    target = {"fname": entry.file_name, "path": _cache_folder()}
    try:
        return Path(pooch.retrieve(entry.url, known_hash=None, downloader=as_bytes, **target))
    except OSError as error:
        raise DatasetUnavailableError(
            f"{entry.title} is not on this machine and could not be downloaded from {entry.url} "
            f"({type(error).__name__}). {help_yourself}"
        ) from error


def _read_verified(name: str, entry: Entry, path: Path) -> tuple[NDArray, NDArray]:
    """Read a file and check that it holds the data set of the catalogue."""
    if entry.git_blob is not None and path.suffix == ".mat" and git_blob_id(path) != entry.git_blob:
        raise ValueError(
            f"{path} is not the published file of {entry.title} (its id in git differs). Remove the file, or "
            f"store its arrays X and y as {name}.npz to use them unverified."
        )
    data, labels = read_labelled(path)
    if entry.content_sha256 not in (None, content_sha256(data, labels)):
        raise ValueError(
            f"{path} does not hold the published {entry.title} data (its SHA-256 differs); remove or rename "
            "the file."
        )
    shape = (*data.shape, np.unique(labels).size)
    if shape != (entry.n_samples, entry.n_features, entry.n_classes):
        raise ValueError(
            f"{path} holds {shape[0]} samples, {shape[1]} features and {shape[2]} classes, but {entry.title} "
            f"has {entry.n_samples}, {entry.n_features} and {entry.n_classes}; remove or rename the file."
        )
    return data, labels


def git_blob_id(path: Path) -> str:
    """Return the name that git gives the content of a file."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def content_sha256(data: NDArray, labels: NDArray) -> str:
    """Return the checksum of data and labels, whatever file they came from."""
    # + 0.0 turns -0.0 into 0.0, which compares equal.
    content = np.asarray(data + 0.0, dtype="<f8").tobytes() + np.asarray(labels, dtype="<i8").tobytes()
    return hashlib.sha256(content).hexdigest()


def read_labelled(path: Path) -> tuple[NDArray, NDArray]:
    """Return the data, float64 and n_samples × n_features, and the labels, int64, of a file.

    The two arrays are found by their usual names, else by their shapes.
    """
    arrays: dict[str, NDArray] = {}
    with readable(path, path.suffix[1:]):
        stored = stored_arrays(path)
    for name, value in stored.items():
        arrays[name] = value.toarray() if sparse.issparse(value) else np.asarray(value)
        if arrays[name].dtype.kind not in "biuf":
            raise ValueError(
                f"{name} in {path} holds {arrays[name].dtype} values; store X and y as plain numeric arrays."
            )
    found = ", ".join(arrays) or "nothing"

    def take(usual: tuple[str, ...]) -> NDArray | None:
        return next((arrays.pop(name) for name in usual if name in arrays), None)

    def take_only(fits: Callable[[NDArray], bool]) -> NDArray | None:
        fitting = [name for name, array in arrays.items() if fits(array)]
        return arrays.pop(fitting[0]) if len(fitting) == 1 else None

    data, labels = take(DATA_NAMES), take(LABEL_NAMES)
    if data is None:
        data = take_only(lambda array: array.ndim == 2 and min(array.shape) > 1)
    if labels is None:
        labels = take_only(lambda array: array.ndim == 1 or (array.ndim == 2 and min(array.shape) == 1))
    if data is not None and labels is None and not arrays and data.ndim == 2 and data.shape[1] > 1:
        data, labels = data[:, :-1], data[:, -1]  # one table with the labels as its last column
    if data is None or labels is None or data.ndim != 2:
        raise ValueError(f"{path} must hold a two-dimensional array X and a label array y; found {found}.")
    labels = labels.ravel()
    if not np.all(np.isfinite(labels)) or np.any(labels != np.rint(labels)):
        raise ValueError(f"The labels in {path} are not whole numbers; store integer labels.")
    turned = turned_to(labels, data)
    if turned is None:
        raise ValueError(
            f"{path} holds {labels.size} labels for data of shape {data.shape}; store one label per sample."
        )
    return np.ascontiguousarray(turned, dtype=np.float64), labels.astype(np.int64)
