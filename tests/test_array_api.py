"""Arrays of other libraries, with scikit-learn's array API dispatch on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("array_api_strict")

# SciPy reads SCIPY_ARRAY_API when it is imported, so all of this runs in a process of its own.
CHILD = """
import sys
import warnings
from contextlib import suppress
from functools import partial
from unittest import SkipTest

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import _yield_array_api_checks, check_array_api_input

import ufselect
from ufselect import *
from ufselect.gram import gram_operator
from ufselect.gram.operator import device_gram
from ufselect.metrics import (
    clustering_accuracy, evaluate_selection, feature_similarity_rate, neighbours_kept, selection_stability,
    variance_reconstructed,
)
from ufselect._registry import all_selectors

library = sys.argv[1]
if library == "torch":
    import torch as xp

    device = "cpu"
else:
    import array_api_strict as xp

    device = xp.Device("device1")  # not the one that NumPy can read
rng = np.random.default_rng(0)
tall = rng.standard_normal((120, 3)) @ rng.standard_normal((3, 10)) + 0.3 * rng.standard_normal((120, 10)) + 5
wide = np.ascontiguousarray(tall[:8])
gaps = np.where(rng.random(tall.shape) < 0.05, np.nan, tall)
warnings.simplefilter("ignore", ufselect.exceptions.DominatedByUnitsWarning)


def there(values):
    return xp.asarray(values, device=device)


def here(values):
    assert str(values.device) == str(device) and type(values) is type(there(tall)), type(values)
    return np.asarray(values if library == "torch" else xp.asarray(values, device=xp.Device("CPU_DEVICE")))


selectors = [
    DSCOFS(4, n_components=3), DSCOFS(4, n_components=3, guide="graph"),
    FSPCA(4, n_components=3), SPCAFS(4, n_components=3), GreedyProjection(4),
    DOptimalLeverage(4), ReconstructionSelector(4), MaxVariance(4), MaxVariance(4, exclude=[0]),
    PCALeverage(4, n_components=3), PCALeverage(4, n_components=3, max_correlation=0.99),
    RedundancyFilter(0.8), RedundancyFilter(0.8, method="spearman"), RandomSubset(4, random_state=0),
]
n_checks = 0
with sklearn.config_context(array_api_dispatch=True):
    for selector in selectors:
        for data in (tall, tall.astype(np.float32), wide) + ((gaps,) if selector.accepts_missing else ()):
            if len(data) == 8 and isinstance(selector, (FSPCA, SPCAFS)):
                continue
            if data is gaps and getattr(selector, "guide", None) == "graph":
                continue
            expected, found = clone(selector).fit(data), clone(selector).fit(there(data))
            np.testing.assert_array_equal(here(found.support_), expected.support_, err_msg=repr(selector))
            for name, value in vars(expected).items():
                if isinstance(value, np.ndarray):
                    assert here(getattr(found, name)).dtype == value.dtype, name
            assert isinstance(found.get_support(), np.ndarray)
            assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
            small = found.transform(there(data))
            np.testing.assert_array_equal(here(small), data[:, expected.support_])
            np.testing.assert_array_equal(here(expected.transform(there(data))), here(small))
            assert here(small).dtype == data.dtype
            if data is not gaps:
                np.testing.assert_array_equal(
                    here(found.inverse_transform(small)), expected.inverse_transform(expected.transform(data))
                )
    # what scikit-learn asks of estimators with the tag, in all its combinations of libraries
    tagged = [*all_selectors().items(), ("RedundancyFilter", RedundancyFilter)] if library != "torch" else []
    for name, selector in tagged:
        if not get_tags(selector()).array_api_support:
            continue
        checked = selector(random_state=0) if selector.is_stochastic else selector()
        weighs = issubclass(selector, GramSelector)
        for check in _yield_array_api_checks(checked):
            if check.func is check_array_api_input:
                check = partial(check, check_values=True, check_sample_weight=weighs)
            with suppress(SkipTest):
                check(name, checked)
                n_checks += 1
    assert not tagged or n_checks >= 13 * 3
    batches = np.arange(120) % 3
    weighted = [MaxVariance(4).fit(each(tall), batch=each(batches)) for each in (np.asarray, there)]
    np.testing.assert_array_equal(weighted[0].scores_, here(weighted[1].scores_))
    parts = DSCOFS(4).partial_fit(there(tall[:50]))
    parts.partial_fit(there(tall[50:]), sample_weight=there(np.ones(70)))
    np.testing.assert_array_equal(here(parts.support_), DSCOFS(4).fit(tall).support_)
    if library == "torch":
        for kind in (xp.float16, xp.bfloat16):
            half = there(tall * 1000).to(kind)  # sums of rows overflow in half precision
            found, expected = (MaxVariance(4).fit(each) for each in (half, half.to(xp.float64)))
            assert xp.equal(found.scores_, expected.scores_)
            assert found.transform(half).dtype == kind
        for data in (tall, wide):
            try:
                ReconstructionSelector(4).fit(there(data).requires_grad_())
            except TypeError as error:
                assert "pass X.detach()" in str(error), error
            else:
                raise AssertionError
    for data in (tall, tall * 1e-100, (tall + 1e4).astype(np.float32)):
        found, expected = device_gram(there(data), xp, block_bytes=3000), gram_operator(data)
        assert (found.scale, found.dtype, found.n_samples) == (expected.scale, expected.dtype, 120)
        tolerance = 1e-10 if data.dtype == float else 1e-3
        np.testing.assert_allclose(found.to_dense(), expected.to_dense(), rtol=0, atol=tolerance * 120)
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-6)

    fitted, plain = Reconstructor(MaxVariance(4)).fit(there(tall)), Reconstructor(MaxVariance(4)).fit(tall)
    np.testing.assert_allclose(
        here(fitted.inverse_transform(fitted.transform(there(tall)))),
        plain.inverse_transform(plain.transform(tall)),
    )
    assert fitted.score(there(tall)) == plain.score(tall)

    classes, mask = np.arange(120) % 2, np.arange(10) < 4
    for metric, *given in (
        (clustering_accuracy, classes, classes), (selection_stability, np.stack([mask, mask[::-1]])),
        (feature_similarity_rate, mask, mask[::-1]), (variance_reconstructed, tall, mask),
        (neighbours_kept, tall, mask),
        (lambda *given: evaluate_selection(*given, n_runs=2).acc_mean, tall, classes, mask),
    ):
        assert metric(*map(there, map(np.ascontiguousarray, given))) == metric(*given), metric

    for refused in (
        lambda X: LaplacianScore(4).fit(X), lambda X: UDFS(4).fit(X), lambda X: GraphClustering(2).fit(X),
        lambda X: AutoSelector(4, goal="clusters").fit(X), lambda X: assess(MaxVariance(4), X),
    ):
        try:
            refused(there(tall))
        except TypeError as error:
            assert "pass a NumPy array" in str(error) and str(error).startswith("X is a "), error
        else:
            raise AssertionError(refused)
    # NumPy and sparse data are as they are without dispatch
    import scipy.sparse

    for data in (tall, scipy.sparse.csr_array(tall)):
        np.testing.assert_array_equal(DSCOFS(4).fit(data).support_, DSCOFS(4).fit(tall).support_)
"""


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_arrays_of_other_libraries_select_as_numpy_does(library):
    pytest.importorskip(library)
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", CHILD, library]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert ended.returncode == 0, ended.stderr[-3000:]
