"""The page is complete, safe and self-contained."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from ufselect import DSCOFS, AutoSelector, MaxVariance, ReconstructionSelector, RedundancyFilter
from ufselect.report import explain, report_html

EVIL = '<script>alert("x")</script>'
QUOTES = "\"'><img src=x onerror=alert(1)>"
RECORD = {"data": {}, "versions": {}, "scaling": {}}
VOID = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """Collects tags and text, and makes sure that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.ids: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def explanation():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((60, 12))
    names = [f"f{j}" for j in range(10)] + [EVIL, QUOTES]
    selector = DSCOFS(12, n_components=3, entry_sparsity=None).fit(data)
    selector.set_params(n_features_to_select=8).fit(data)
    return explain(selector, data, feature_names=names, image_shape=(3, 4))


@pytest.fixture(scope="module")
def page(explanation):
    return report_html(explanation, title=EVIL, record={**RECORD, "assumed": [EVIL]})


def test_every_section_is_there(page):
    reader = read(page)
    for words in (
        "What each column represents",
        "selected pixels over the mean image",
        "On held-out rows",
        "What was assumed about the table",
        "Correlations among the selected columns",
        "Data and settings",
        "8 of 12",
        "random columns",
        "mu_row",
    ):
        assert words in reader.text
    assert len(reader.ids) == len(set(reader.ids))
    for tag, attributes in reader.tags:
        if tag == "a":
            assert attributes["href"].removeprefix("#") in reader.ids


def test_names_from_outside_are_text_and_nothing_else(page):
    reader = read(page)
    assert page.count("<script") == 1
    assert "<img" not in page
    assert EVIL in reader.text
    assert QUOTES in reader.text
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)


def test_nothing_comes_from_outside(page):
    reader = read(page)
    for _, attributes in reader.tags:
        assert not {"src", "srcset", "action"} & set(attributes)
        assert attributes.get("xlink:href", "#").startswith(("#", "data:image/png"))
        assert attributes.get("href", "#").startswith(("#", "data:"))
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    assert "url(" not in style
    assert "@import" not in style
    policy = next(a["content"] for t, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_charts_and_controls_have_names(page):
    reader = read(page)
    charts = [attributes for tag, attributes in reader.tags if tag == "svg"]
    assert len(charts) >= 4
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in charts)
    labelled = {attributes["for"] for tag, attributes in reader.tags if tag == "label"}
    assert all(attributes["id"] in labelled for tag, attributes in reader.tags if tag == "input")
    heads = [
        attributes for tag, attributes in reader.tags if tag == "th" and attributes.get("scope") == "col"
    ]
    assert sum("aria-sort" in attributes for attributes in heads) == page.count("<table id=")


def test_the_top_says_what_for_how_good_it_is_and_four_figures(page, explanation):
    reader = read(page)
    assert "8 of 12 columns from which the others are reconstructed (60 rows)." in reader.text
    assert f'class="verdict {explanation.verdict}"' in page
    assert explanation.message in " ".join(reader.text.split())
    assert page.count('class="value"') == 4


def test_the_table_says_what_each_column_represents(page, explanation):
    rows = re.search(r'<table id="selected">.*?<tbody>(.*?)</tbody>', page, re.S)[1].split("</tr>")[:-1]
    assert len(rows) == 8
    shown = [int(re.findall(r'data-value="([^"]*)"', row)[2]) for row in rows]
    assert shown == [explanation.represents(place).size for place in range(8)]


def spectra():
    rng = np.random.default_rng(0)
    grid = np.linspace(400, 700, 40)
    bands = np.exp(-(((grid - rng.uniform(400, 700, (8, 1))) / 20) ** 2))
    return rng.random((80, 8)) @ bands, [f"{value:.1f}" for value in grid]


def blobs():
    rng = np.random.default_rng(0)
    return 6 * rng.standard_normal((3, 9))[np.arange(90) % 3] + rng.standard_normal((90, 9))


@pytest.mark.parametrize(
    ("make", "verdict", "words", "svg"),
    [
        (
            lambda: (ReconstructionSelector(4), *spectra()),
            "yes",
            "of the variance explained on held-out rows",
            "curve-",
        ),
        (lambda: (RedundancyFilter(0.9), *spectra()), None, "each repeats a selected one", "curve-"),
        (
            lambda: (AutoSelector(4, goal="clusters", n_clusters=3, random_state=0), blobs(), None),
            "no",  # each column shows the clusters
            "clusters of rows",
            "rows-",
        ),
        (
            lambda: (MaxVariance(3), np.random.default_rng(0).standard_normal((90, 9)), None),
            "no",
            "of random sets of columns beaten",
            "rows-",
        ),
    ],
)
def test_figures_and_picture_fit_the_goal(make, verdict, words, svg):
    selector, data, names = make()
    e = explain(selector.fit(data), data, feature_names=names)
    page = report_html(e)
    assert e.verdict == verdict
    assert words in page
    assert f'id="{svg}' in page
    assert page.count('class="value"') == 4


def test_many_columns_stay_readable():
    data = np.random.default_rng(0).standard_normal((30, 900))
    page = report_html(explain(MaxVariance(60).fit(data), data))
    assert "The 840 dropped columns" in page
    assert len(page) < 2_000_000


def test_notebooks_show_the_page(explanation):
    shown = explanation._repr_html_()
    assert shown.startswith("<iframe")
    assert "<script" not in shown


def test_a_missing_jinja_is_named(explanation, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'A report needs jinja2: pip install "ufselect\[cli\]"'):
        report_html(explanation)


def test_very_long_names_are_shortened_and_ensembl_ids_stay_whole():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((40, 5)) * [5, 4, 3, 2, 1]
    long, gene = "x" * 250 + "y" * 250, "ENSG00000139618"
    selector = MaxVariance(3).fit(data)
    page = report_html(explain(selector, data, feature_names=[long, gene, "c", "d", "e"]))
    reader = read(page)
    assert f"{'x' * 49}…{'y' * 49}" in reader.text
    assert long not in reader.text
    assert any(attrs.get("title") == long for _, attrs in reader.tags)
    widths = {attrs["style"] for tag, attrs in reader.tags if tag == "th" and "style" in attrs}
    assert widths == {"min-width:21ch", "min-width:4ch"}  # selected: at most 18 letters; dropped: one


def test_clusters_are_shown_as_text():
    data = blobs()
    selector = AutoSelector(3, goal="clusters", n_clusters=3, random_state=0).fit(data)
    names = [QUOTES, *(f"c{j}" for j in range(8))]
    page = report_html(explain(selector, data, feature_names=names))
    reader = read(page)
    assert QUOTES in reader.text
    assert not any("onerror" in attrs for _, attrs in reader.tags)
    assert "The clusters" in reader.text
