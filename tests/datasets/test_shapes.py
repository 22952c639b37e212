"""Shapes among noise."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.datasets import make_noisy_shapes

KINDS = {"two_spirals": 2, "banana": 2, "dartboard": 4}


@pytest.mark.parametrize(("kind", "n_classes"), KINDS.items())
def test_sizes_and_classes(kind, n_classes):
    X, y = make_noisy_shapes(kind, random_state=0)
    assert X.shape == (1000, 9)
    np.testing.assert_array_equal(np.bincount(y), np.full(n_classes, 1000 // n_classes))


@pytest.mark.parametrize("kind", KINDS)
def test_noise_has_the_moments_of_the_true_features_and_nothing_else(kind):
    X, y = make_noisy_shapes(kind, n_noise=40, random_state=1)
    true = X[:, 3:5]
    noise = np.delete(X, [3, 4], axis=1)
    for parity in (0, 1):
        spread = true[:, parity].std()
        means = noise[:, parity::2].mean(axis=0)
        np.testing.assert_allclose(means, true[:, parity].mean(), atol=4.5 * spread / np.sqrt(1000))
        np.testing.assert_allclose(noise[:, parity::2].std(axis=0), spread, rtol=4.5 / np.sqrt(2000))
    correlations = np.corrcoef(noise.T)[np.triu_indices(40, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(1000)
    assert all(abs(np.corrcoef(column, y)[0, 1]) < 5 / np.sqrt(1000) for column in noise.T)


@pytest.mark.parametrize(("n_noise", "position"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (7, 3)])
def test_true_features_are_fourth_and_fifth(n_noise, position):
    X, y = make_noisy_shapes("dartboard", n_noise=n_noise, random_state=0)
    assert X.shape == (1000, 2 + n_noise)
    radius = np.hypot(X[:, position] + 0.5, X[:, position + 1] - 0.5)
    np.testing.assert_allclose(radius, np.array([0.4, 0.3, 0.2, 0.1])[y], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_seed_decides(kind):
    first, second = (make_noisy_shapes(kind, random_state=5)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.any(first != make_noisy_shapes(kind, random_state=6)[0])


@pytest.mark.parametrize(("kind", "name"), [("two_spirals", "two_spiral"), ("dartboard", "dartboard")])
def test_spirals_and_circles_are_the_published_points(kind, name, real):
    X, y = make_noisy_shapes(kind, random_state=0)
    published, classes = real(name)
    np.testing.assert_allclose(X[:, 3:5], published, atol=1e-5)
    np.testing.assert_array_equal(y, classes)


def test_crescents_resemble_the_published_ones(real):
    X, y = make_noisy_shapes("banana", random_state=0)
    published, classes = real("banana")
    for label in (0, 1):
        ours, theirs = X[y == label, 3:5], published[classes == label + 1]
        np.testing.assert_allclose(ours.mean(axis=0), theirs.mean(axis=0), atol=0.03)
        np.testing.assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "moons"}, '"two_spirals", "banana", "dartboard"'),
        ({"kind": "banana", "n_noise": -1}, "n_noise"),
        ({"kind": "banana", "n_noise": 2.0}, "n_noise"),
        ({"kind": "banana", "n_noise": True}, "n_noise"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_noisy_shapes(**arguments)
