"""The broken-stick rule."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.gram import gram_operator, suggest_n_components
from ufselect.gram.spectrum import auto_n_components, component_spectrum


@pytest.mark.parametrize(
    ("n", "d", "rank", "noise"), [(200, 50, 5, 1.0), (100, 400, 8, 0.5), (500, 100, 3, 2.0)]
)
def test_rule_finds_the_known_rank(n, d, rank, noise):
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    assert auto_n_components(gram_operator(signal + noise * rng.standard_normal((n, d)))) == rank


def test_rule_equals_its_definition():
    values = np.array([5.0, 3.0, 1.0, 0.5, 0.4, 0.1])
    pieces = [sum(1 / i for i in range(k, 7)) / 6 for k in range(1, 7)]
    expected = next(k for k, (v, p) in enumerate(zip(values / 10, pieces, strict=True)) if v <= p)
    assert suggest_n_components(values, 10.0, 6) == expected


def test_rule_keeps_at_least_one_and_asks_for_more_values():
    assert suggest_n_components(np.ones(10), 10.0, 10) == 1
    assert suggest_n_components(np.array([5.0, 4.0]), 10.0, 100) is None


def test_spectrum_is_widened_until_the_rule_decides():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((300, 200))
    scores = np.linalg.qr(scores - scores.mean(axis=0))[0]
    pieces = np.cumsum((1 / np.arange(1, 201))[::-1])[::-1]
    variances = np.where(np.arange(200) < 40, pieces, 1e-3 * pieces)
    assert auto_n_components(gram_operator(scores * np.sqrt(variances))) == 40


def test_exactly_low_rank_data_keep_their_rank():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((100, 3)) @ np.linalg.qr(rng.standard_normal((80, 3)))[0].T
    assert auto_n_components(gram_operator(data)) == 3


def test_more_components_than_rank_are_refused():
    data = np.outer(np.arange(10.0), np.arange(1.0, 6.0))
    with pytest.raises(ValueError, match="more than the rank 1"):
        component_spectrum(gram_operator(data), 2)


def test_constant_data_are_refused():
    with pytest.raises(ValueError, match="constant"):
        component_spectrum(gram_operator(np.ones((5, 3))), "auto")
