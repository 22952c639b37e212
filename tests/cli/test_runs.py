"""Runs and their records."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from ufselect.cli.record import read_record, record_of, request_of
from ufselect.io import ReadOptions, TableError, read_table
from ufselect.pipeline import Request, make_selector, run_selection


def make_run(tmp_path, request):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + 0.1 * rng.standard_normal((60, 12))
    np.save(tmp_path / "x.npy", data)
    return run_selection(read_table(tmp_path / "x.npy"), request)


def test_a_record_repeats_the_run_exactly(tmp_path):
    request = Request(method="RandomSubset", n_features=4, seed=7)
    run = make_run(tmp_path, request)
    options = ReadOptions(impute="drop")
    (tmp_path / "r.json").write_text(json.dumps(record_of(run, options)), encoding="utf-8")
    record = read_record(tmp_path / "r.json")
    assert request_of(record) == (request, options)
    again = run_selection(read_table(record["data"]["path"], options), request)
    np.testing.assert_array_equal(again.selector.ranking_, run.selector.ranking_)
    assert [f["index"] for f in record["result"]["features"]] == run.explanation.ranked.tolist()
    assert record["data"]["sha256"] == again.table.sha256
    assert record["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("content", ["no json", "[]", '{"a": 1}', '{"ufselect_record": 99}'])
def test_other_files_are_no_records(tmp_path, content):
    (tmp_path / "r.json").write_text(content, encoding="utf-8")
    with pytest.raises(TableError, match=r"give the \.json file"):
        read_record(tmp_path / "r.json")


def test_scaling_and_ranked_order(tmp_path):
    run = make_run(tmp_path, Request(method="MaxVariance", n_features=5, scale="standard"))
    np.testing.assert_allclose(run.data.std(axis=0), 1)
    plain = make_run(tmp_path, Request(method="MaxVariance", n_features=5))
    np.testing.assert_array_equal(plain.explanation.ranked, np.argsort(-plain.table.data.std(axis=0))[:5])
    np.testing.assert_array_equal(plain.selected, np.sort(plain.explanation.ranked))


def test_requests_that_cannot_be_met(tmp_path):
    with pytest.raises(TableError, match=r"no method 'dscof'; did you mean DSCOFS"):
        make_selector(Request(method="dscof"))
    with pytest.raises(TableError, match=r"DSCOFS has no parameter 'mu'.*mu_row"):
        make_selector(Request(method="DSCOFS", parameters={"mu": 1}))
    with pytest.raises(TableError, match=r"MaxVariance has no parameter 'mu' to set; it has none\."):
        make_selector(Request(method="MaxVariance", parameters={"mu": 1}))
    with pytest.raises(TableError, match=r"20 columns are asked for, but the table has 12"):
        make_run(tmp_path, Request(method="MaxVariance", n_features=20))
