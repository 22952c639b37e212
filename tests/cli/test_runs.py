"""Runs and their records."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from ufselect.cli.data import open_data
from ufselect.cli.prepare import log_counts, prepared
from ufselect.cli.run import Request, make_selector, run_selection
from ufselect.cli.run_record import read_record, record_of, request_of
from ufselect.cli.units import look_at_units
from ufselect.io import ReadOptions, TableError, read_table
from ufselect.io.files import write_text


def make_run(tmp_path, request):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + 0.1 * rng.standard_normal((60, 12))
    np.save(tmp_path / "x.npy", data)
    return run_selection(read_table(tmp_path / "x.npy"), request)


def test_a_record_repeats_the_run_exactly(tmp_path):
    request = Request("RandomSubset", 4, {}, seed=7)
    run = make_run(tmp_path, request)
    options = ReadOptions(impute="drop")
    write_text(tmp_path / "r.json", json.dumps(record_of(run, options)))
    record = read_record(tmp_path / "r.json")
    assert request_of(record) == (request, options)
    again = run_selection(read_table(record["data"]["path"], options), request)
    np.testing.assert_array_equal(again.selector.ranking_, run.selector.ranking_)
    assert [f["index"] for f in record["result"]["features"]] == run.ranked.tolist()
    assert record["data"]["sha256"] == again.table.sha256
    assert record["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("content", ["no json", "[]", '{"a": 1}', '{"ufselect_record": 99}'])
def test_other_files_are_no_records(tmp_path, content):
    (tmp_path / "r.json").write_text(content, encoding="utf-8")
    with pytest.raises(TableError, match=r"give the \.json file"):
        read_record(tmp_path / "r.json")


def test_scaling_and_ranked_order(tmp_path):
    run = make_run(tmp_path, Request("MaxVariance", 5, {}, scale="standard"))
    np.testing.assert_allclose(run.prepared.data.std(axis=0), 1)
    plain = make_run(tmp_path, Request("MaxVariance", 5))
    np.testing.assert_array_equal(plain.ranked, np.argsort(-plain.table.data.std(axis=0))[:5])
    np.testing.assert_array_equal(plain.selected, np.sort(plain.ranked))


@pytest.mark.parametrize("times", [20, 50, 5000])
@pytest.mark.parametrize("large", [[2], [0, 1, 2]])
def test_units_apart_are_found_and_scaled(tmp_path, times, large):
    values = np.random.default_rng(0).standard_normal((30, 6))
    np.save(tmp_path / "a.npy", values)
    values[:, large] *= times
    np.save(tmp_path / "b.npy", values)
    alike = prepared(read_table(tmp_path / "a.npy"))
    assert (alike.scale, alike.units.differ) == ("none", False)
    apart = prepared(read_table(tmp_path / "b.npy"))
    assert (apart.scale, apart.units.differ) == ("standard", True)
    assert "feature_3" in apart.reason
    np.testing.assert_allclose(apart.data.std(axis=0), 1)
    as_asked = prepared(read_table(tmp_path / "b.npy"), "none")
    assert (as_asked.scale, as_asked.units.differ) == ("none", True)


@pytest.mark.parametrize("name", ["digits", "iris"])
def test_comparable_columns_are_left_alone(name):
    table = open_data(name, ReadOptions(), quiet=True).table
    assert prepared(table).scale == "none"


@pytest.mark.parametrize(
    "name", ["coil20", "glioma", "isolet", "umist", "usps", "warppie10p", "lung_discrete"]
)
def test_images_sounds_and_expression_are_left_alone(name, real):
    data, _ = real(name)
    assert not look_at_units(data, [f"f{j}" for j in range(data.shape[1])]).differ


def test_clinical_columns_are_scaled():
    assert prepared(open_data("wine", ReadOptions(), quiet=True).table).scale == "standard"


def test_counts_are_noticed_and_normalised():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.3, 5.0, 80), (50, 80)).astype(float)
    assert look_at_units(counts, [str(j) for j in range(80)]).counts
    normal = log_counts(counts)
    totals = np.expm1(normal).sum(axis=1)
    np.testing.assert_allclose(totals, np.median(counts.sum(axis=1)))
    np.testing.assert_allclose(log_counts(sparse.csr_array(counts)).toarray(), normal)
    with pytest.raises(TableError, match="negative values"):
        log_counts(-counts)


def test_requests_that_cannot_be_met(tmp_path):
    with pytest.raises(TableError, match=r"no method 'dscof'; did you mean DSCOFS"):
        make_selector(Request("dscof"))
    with pytest.raises(TableError, match=r"DSCOFS has no parameter 'mu'.*mu_row"):
        make_selector(Request("DSCOFS", 5, {"mu": 1}))
    with pytest.raises(TableError, match=r"20 features are asked for, but the table has 12"):
        make_run(tmp_path, Request("MaxVariance", 20))
