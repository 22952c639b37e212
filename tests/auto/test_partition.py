"""PartitionSelector as a selector."""

from __future__ import annotations

import numpy as np
import pytest
from tests.clusters.examples import planted

from ufselect import PartitionSelector


@pytest.mark.parametrize("rule", ["margin", ("trace-ratio", "embedding")])
def test_columns_that_show_the_clusters_are_selected(rule):
    X, _ = planted()
    selector = PartitionSelector(6, n_clusters=4, rule=rule, random_state=0).fit(X)
    assert np.flatnonzero(selector.support_).max() < 12


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": ()}, "rule is empty"),
        ({"rule": "best"}, "rule"),
        ({"max_samples": 0}, "max_samples"),
        ({"n_partitions": 0}, "n_partitions"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PartitionSelector(2, **parameters).fit(planted()[0])
