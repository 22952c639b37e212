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

import numpy as np
import sklearn
from sklearn.base import clone

import ufselect
from ufselect import *
from ufselect.gram import gram_operator
from ufselect.gram.device import device_gram
from ufselect.metrics import evaluate_selection

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
    DSCOFS(4, n_components=3), FSPCA(4, n_components=3), SPCAFS(4, n_components=3), GreedyProjection(4),
    DOptimalLeverage(4), RebuildSelector(4), MaxVariance(4), MaxVariance(4, exclude=[0]),
    PCALeverage(4, n_components=3), PCALeverage(4, n_components=3, max_correlation=0.99),
    RedundancyFilter(0.8), RedundancyFilter(0.8, method="spearman"), RandomSubset(4, random_state=0),
]
with sklearn.config_context(array_api_dispatch=True):
    for selector in selectors:
        for data in (tall, tall.astype(np.float32), wide) + ((gaps,) if selector.accepts_missing else ()):
            if len(data) == 8 and isinstance(selector, (FSPCA, SPCAFS)):
                continue
            expected, found = clone(selector).fit(data), clone(selector).fit(there(data))
            np.testing.assert_array_equal(found.support_, expected.support_, err_msg=repr(selector))
            assert isinstance(found.scores_, np.ndarray)
            small = found.transform(there(data))
            np.testing.assert_array_equal(here(small), data[:, found.support_])
            assert here(small).dtype == data.dtype
            if data is not gaps:
                np.testing.assert_array_equal(
                    here(found.inverse_transform(small)), expected.inverse_transform(expected.transform(data))
                )
    weights = np.arange(120.0)
    weighted = [MaxVariance(4).fit(each, sample_weight=weights) for each in (tall, there(tall))]
    np.testing.assert_array_equal(weighted[0].scores_, weighted[1].scores_)
    parts = DSCOFS(4).partial_fit(there(tall[:50])).partial_fit(there(tall[50:]))
    np.testing.assert_array_equal(parts.support_, DSCOFS(4).fit(tall).support_)
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

    for refused in (
        lambda X: LaplacianScore(4).fit(X), lambda X: UDFS(4).fit(X), lambda X: GraphClustering(2).fit(X),
        lambda X: AutoSelector(4).fit(X), lambda X: assess(MaxVariance(4), X),
        lambda X: evaluate_selection(X, np.arange(120) % 2, features=[0, 1]),
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
