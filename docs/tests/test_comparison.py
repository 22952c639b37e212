"""Every cell of the README's comparison with other libraries is what the library does when it is run."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from ufselect import ReconstructionSelector, Reconstructor, RedundancyFilter, assess

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
NO = "–"
# library: distribution, package
LIBRARIES = {
    "ufselect": ("ufselect", "ufselect"),
    "PySensors": ("python-sensors", "pysensors"),
    "scikit-matter": ("skmatter", "skmatter"),
    "fastcan": ("fastcan", "fastcan"),
    "feature-engine": ("feature-engine", "feature_engine"),
    "scikit-feature": ("skfeature-chappers", "skfeature"),
}
X = np.random.default_rng(0).standard_normal((80, 3)) @ np.random.default_rng(1).standard_normal((3, 12))
X += 0.1 * np.random.default_rng(2).standard_normal(X.shape)
TRAIN, TEST = X[:60], X[60:]


def table():
    """Return the cells of the README's table by row and library."""
    (text,) = re.findall(r"^\| +\| ufselect .*?(?=\n\n)", README, re.MULTILINE | re.DOTALL)
    head, _, *rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines())
    assert head == [*LIBRARIES]
    return {row: dict(zip(LIBRARIES, cells, strict=True)) for row, *cells in rows}


CELLS = table()


@cache
def public_names(package):
    """Return the names of all public functions, classes, methods and parameters of a package."""
    names = set()
    root = importlib.import_module(package)
    for module in [package, *(each.name for each in pkgutil.walk_packages(root.__path__, f"{package}."))]:
        if ".test" in module:
            continue
        try:
            members = inspect.getmembers(importlib.import_module(module))
        except Exception:  # a module that needs what is not installed
            continue
        for name, thing in members:
            if name.startswith("_") or not getattr(thing, "__module__", "").startswith(package):
                continue
            names.add(name)
            names |= (
                {each for each in dir(thing) if not each.startswith("_")} if inspect.isclass(thing) else set()
            )
            if callable(thing):
                names |= set(inspect.signature(thing).parameters)
    return names


def offers(library, words):
    """Whether a public name of a library has one of the words."""
    return any(re.search(words, name, re.IGNORECASE) for name in public_names(LIBRARIES[library][1]))


def estimator(library, count=3):
    """Return a selector of a library; scikit-feature has functions alone."""
    if library == "ufselect":
        return ReconstructionSelector(count)
    if library == "PySensors":
        return importlib.import_module("pysensors.reconstruction").SSPOR(n_sensors=count)
    if library == "scikit-matter":
        return importlib.import_module("skmatter.feature_selection").CUR(n_to_select=count)
    if library == "feature-engine":
        return importlib.import_module("feature_engine.selection").DropCorrelatedFeatures()
    return importlib.import_module("fastcan").FastCan(count, verbose=0)


def fitted(library, data):
    """Run a library's selection without labels; fastcan has components of the complete data as targets."""
    if library == "scikit-feature":
        return importlib.import_module("skfeature.function.sparse_learning_based.MCFS").mcfs(data, 3)
    if library == "fastcan":
        return estimator(library).fit(data, np.linalg.svd(X - X.mean(axis=0))[0][:, :3])
    if library == "feature-engine" and not sparse.issparse(data):
        data = pd.DataFrame(data, columns=[f"x{place}" for place in range(data.shape[1])])
    return estimator(library).fit(data)


def accepts(library, data):
    fitted(library, X)  # so that what is refused is the data, not the call
    try:
        fitted(library, data)
    except Exception:
        return NO
    return "yes"


def drops_redundant_columns(library):
    once = np.random.default_rng(3).standard_normal((80, 2))
    copies = pd.DataFrame(np.c_[once, once + 1e-3], columns=[*"abcd"])
    if library == "ufselect":
        kept = RedundancyFilter().fit(copies).get_feature_names_out()
    elif library == "feature-engine":
        kept = estimator(library).fit(copies).get_feature_names_out()
    else:  # scikit-feature's filters of redundant columns need labels
        assert library == "scikit-feature" or not offers(library, "correlated|redundan|duplicate")
        if library == "scikit-feature":
            fcbf = importlib.import_module("skfeature.function.information_theoretical_based.FCBF").fcbf
            assert inspect.signature(fcbf).parameters["y"].default is inspect.Parameter.empty
        return NO
    assert len({*kept} & {*"ac"}) == len({*kept} & {*"bd"}) == 1
    return "yes"


def reconstructs(library):
    if library == "ufselect":
        for regressor in ("ridge", "kernel"):
            model = Reconstructor([0, 1, 2], regressor).fit(TRAIN)
            assert model.inverse_transform(model.transform(TEST)).shape == TEST.shape
        return "linear or nonlinear"
    if library == "PySensors":
        model = estimator(library).fit(TRAIN, quiet=True)
        sensors = model.get_selected_sensors()
        one, other = (model.predict(each[:, sensors], noise=0.1) for each in (TEST, 2 * TEST))
        np.testing.assert_allclose(2 * one, other)
        return "linear"
    if library in {"scikit-matter", "fastcan"}:  # scikit-learn's inverse_transform fills with zeros
        model = fitted(library, X)
        assert not model.inverse_transform(model.transform(X))[:, ~model.get_support()].any()
    else:
        assert not offers(library, "reconstruct")
        assert library == "scikit-feature" or not hasattr(estimator(library), "inverse_transform")
    return NO


def scores_held_out_rows(library):
    if library == "ufselect":
        return "yes" if 0 < Reconstructor(ReconstructionSelector(3)).fit(TRAIN).score(TEST) < 1 else NO
    if library == "PySensors":
        model = estimator(library).fit(TRAIN, quiet=True)
        return "yes" if np.all(model.reconstruction_error(TEST) > 0) else NO
    if library == "scikit-matter":
        error = importlib.import_module("skmatter.metrics").global_reconstruction_error
        return "yes" if error(X[:, :3], X, train_idx=np.arange(60), test_idx=np.arange(60, 80)) > 0 else NO
    assert not offers(library, "reconstruction_error|held_out")
    return NO


def compares_with_random_columns(library):
    if library == "ufselect":
        return "yes" if assess(ReconstructionSelector(3), X, random_state=0).verdict else NO
    assert not offers(library, "verdict|assess|random_(columns|features)")
    return NO


def takes_costs(library):
    prices = np.ones(12)
    if library == "ufselect":
        return "yes" if ReconstructionSelector(3, costs=prices, budget=3.0).fit(X).support_.any() else NO
    if library == "PySensors":
        ccqr = importlib.import_module("pysensors.optimizers").CCQR(sensor_costs=prices)
        return "yes" if ccqr.fit(X.T @ X).get_sensors().size else NO
    assert not offers(library, r"^(\w+_)?costs?$|budget")
    return NO


def passes_the_checks(library):
    if library == "scikit-feature":
        assert not offers(library, "^get_support$")  # functions, no estimators
        return NO
    results = check_estimator(estimator(library, 1), on_fail=None, on_skip=None)
    return NO if any(each["status"] == "failed" for each in results) else "yes"


ROWS = {
    "drops redundant columns, without labels": drops_redundant_columns,
    "reconstructs the dropped columns": reconstructs,
    "error of reconstruction on held-out rows": scores_held_out_rows,
    "says whether random columns do as well": compares_with_random_columns,
    "sparse data": lambda library: accepts(library, sparse.csr_array(X)),
    "missing values": lambda library: accepts(library, np.where(np.eye(80, 12) > 0, np.nan, X)),
    "prices of columns": takes_costs,
    "passes scikit-learn's estimator checks": passes_the_checks,
}


def test_every_row_is_tested():
    assert [*CELLS] == [*ROWS]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("row", ROWS)
def test_a_cell_is_what_the_library_does(row, library):
    distribution, _ = LIBRARIES[library]
    try:
        installed = version(distribution)
    except PackageNotFoundError:
        pytest.skip(f"{library} is not installed")
    if library != "ufselect" and f"{library} {installed}" not in README:
        pytest.skip(f"the README is about another version of {library} than {installed}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ROWS[row](library) == CELLS[row][library], f"{row}, {library}"
