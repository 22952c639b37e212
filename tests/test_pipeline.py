"""What ``ufselect select`` runs, from Python."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from scipy import sparse

from ufselect.pipeline import ReadOptions, Request, read_data, run_selection


def test_a_run_in_python_is_that_of_the_command_line(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + 0.1 * rng.standard_normal((60, 12))
    names = [f"gene {j}" for j in range(12)]
    frame = pandas.DataFrame(values, columns=names)
    frame.assign(kind=["u", "v"] * 30).to_csv(tmp_path / "t.csv", index=False)
    table = read_data(tmp_path / "t.csv", ReadOptions(label_column="kind"), exclude=["gene 1*"])
    run = run_selection(table, Request(method="max-variance", n_features=5, scale="none"))
    left = values[:, [0, *range(2, 10)]]
    best = np.sort(np.argsort(-left.std(axis=0))[:5])
    np.testing.assert_array_equal(run.selected, best)
    assert run.selected_names == [table.feature_names[j] for j in best]
    assert run.explanation.n_selected == 5
    assert run.assessment.verdict in ("yes", "no", "unclear")
    standard = run_selection(table, Request(n_features=5, scale="standard"))
    np.testing.assert_allclose(np.std(standard.data, axis=0), 1)


def test_sentences_name_columns_of_sparse_tables_too(tmp_path):
    values = np.random.default_rng(0).random((80, 6)) * [1, 1, 900, 1, 1, 1]
    sparse.save_npz(tmp_path / "t.npz", sparse.csr_array(values))
    run = run_selection(read_data(tmp_path / "t.npz"), Request(n_features=2))
    assert any("feature_3 has" in line for line in run.assumptions())


@pytest.mark.parametrize("form", [dict, pandas.Series])
def test_prices_by_name_are_added_up_by_name(tmp_path, form):
    values = np.random.default_rng(0).standard_normal((40, 4))
    pandas.DataFrame(values, columns=list("abcd")).to_csv(tmp_path / "t.csv", index=False)
    costs = form({"d": 1, "c": 50, "b": 50, "a": 2})
    request = Request(n_features=3, parameters={"costs": costs, "budget": 4})
    run = run_selection(read_data(tmp_path / "t.csv"), request)
    assert run.selected_names == ["a", "d"]
    said = [
        "The selected columns cost 3 of the budget of 4.",
        "The budget allows 2 of the 3 columns asked for.",
    ]
    assert set(said) <= set(run.assumptions())
