"""The evaluation protocol."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import normalized_mutual_info_score

from ufselect.metrics import clustering_accuracy, evaluate_selection

IRIS, SPECIES = load_iris(return_X_y=True)


def test_record_agrees_with_its_runs():
    score = evaluate_selection(IRIS, SPECIES, [0, 2], n_runs=12, seeding="k-means++", random_state=3)
    assert score.acc_runs.shape == score.nmi_runs.shape == (12,)
    assert score.acc_mean == score.acc_runs.mean()
    assert score.acc_std == score.acc_runs.std()
    assert score.nmi_mean == score.nmi_runs.mean()
    assert score.nmi_std == score.nmi_runs.std()
    assert (score.seeding, score.n_runs, score.n_clusters, score.n_features) == ("k-means++", 12, 3, 2)
    with pytest.raises(FrozenInstanceError):
        score.acc_mean = 100.0


@pytest.mark.parametrize("seeding", ["random", "greedy-k-means++"])
def test_distribution_of_runs_is_that_of_scikit_learn(seeding):
    X, y = load_wine(return_X_y=True)
    score = evaluate_selection(X, y, n_runs=100, seeding=seeding)
    init = {"random": "random", "greedy-k-means++": "k-means++"}[seeding]
    labels = [KMeans(3, init=init, n_init=1, random_state=i).fit(X).labels_ for i in range(100)]
    acc = [100 * clustering_accuracy(y, run) for run in labels]
    nmi = [100 * normalized_mutual_info_score(y, run, average_method="geometric") for run in labels]
    error = 4 * np.sqrt(2 / 100)
    assert score.acc_mean == pytest.approx(np.mean(acc), abs=error * np.std(acc))
    assert score.nmi_mean == pytest.approx(np.mean(nmi), abs=error * np.std(nmi))


def test_selection_may_be_mask_indices_or_all():
    X, y = load_wine(return_X_y=True)
    mask = np.isin(np.arange(13), [1, 4, 9])
    by_mask = evaluate_selection(X, y, mask, n_runs=5)
    by_index = evaluate_selection(X, y, [1, 4, 9], n_runs=5)
    np.testing.assert_array_equal(by_mask.acc_runs, by_index.acc_runs)
    assert evaluate_selection(X, y, n_runs=5).n_features == 13
    np.testing.assert_array_equal(
        evaluate_selection(X, y, n_runs=5).acc_runs,
        evaluate_selection(X, y, np.arange(13), n_runs=5).acc_runs,
    )


def test_containers_give_the_same_runs():
    expected = evaluate_selection(IRIS, SPECIES, [0, 3], n_runs=5).acc_runs
    for container in (sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.ndarray.tolist):
        score = evaluate_selection(container(IRIS), SPECIES, [0, 3], n_runs=5)
        np.testing.assert_array_equal(score.acc_runs, expected)


def test_first_runs_of_a_long_evaluation_equal_a_short_one():
    long = evaluate_selection(IRIS, SPECIES, n_runs=30, random_state=7)
    short = evaluate_selection(IRIS, SPECIES, n_runs=4, random_state=7)
    np.testing.assert_array_equal(long.acc_runs[:4], short.acc_runs)
    other = evaluate_selection(IRIS, SPECIES, n_runs=30, random_state=8)
    assert np.any(other.acc_runs != long.acc_runs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": [4]}, "indices from 0 to 3"),
        ({"features": [-1]}, "indices from 0 to 3"),
        ({"features": []}, "selects no feature"),
        ({"features": [0, 0]}, "more than once"),
        ({"features": [True, False]}, "2 entries, but X has 4"),
        ({"features": [False] * 4}, "selects no feature"),
        ({"features": ["width"]}, "integer indices"),
        ({"n_runs": 0}, "n_runs"),
        ({"n_runs": True}, "n_runs"),
        ({"seeding": "best"}, "seeding"),
        ({"y": SPECIES[:-1]}, "150 samples and y has 149"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate_selection(**{"X": IRIS, "y": SPECIES, **arguments})


def test_all_features_of_lung_discrete_score_as_published(real):
    X, y = real("lung_discrete")
    for seeding in ("random", "k-means++"):
        score = evaluate_selection(X, y, seeding=seeding)
        assert score.acc_mean == pytest.approx(65.10, abs=2)
        assert score.nmi_mean == pytest.approx(62.85, abs=2)
