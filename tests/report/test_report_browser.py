"""The page in a real browser: Chromium, where it is installed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("selenium", reason="the browser tests need selenium")
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from ufselect import DSCOFS
from ufselect.report import explain, report_html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="Chromium absent: install chromium and chromium-driver"
)
EVIL = "<script>window.evil = 1</script><img src=x onerror='window.evil = 2'>"

RECORD = {
    "data": {},
    "versions": {},
    "scaling": {},
    "assumed": [EVIL],
}
CLUSTERS = [
    {"cluster": c, "size": 17, "columns": [{"name": "ENSG00000139618", "distance": -2.0}] * 5}
    for c in range(4)
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 24)) + 0.3 * rng.standard_normal((60, 24))
    selector = DSCOFS(16, n_components=3, entry_sparsity=None).fit(data)
    best = int(np.argmin(selector.ranking_))
    names = [EVIL if j == best else f"gene {j}" for j in range(24)]
    explanation = explain(selector, data, feature_names=names, image_shape=(4, 6))
    explanation = replace(explanation, clusters=CLUSTERS)
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(report_html(explanation, title=EVIL, record=RECORD), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium, page):
    chromium.get_log("browser")
    chromium.get_log("performance")
    set_screen(chromium, 1280)
    chromium.get(page.as_uri())
    return chromium


def set_screen(driver, width, scheme="light"):
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def column(browser, number):
    cells = browser.find_elements(By.CSS_SELECTOR, f"#selected tbody tr > :nth-child({number})")
    return [cell.get_attribute("data-value") for cell in cells if cell.is_displayed()]


def test_loads_in_silence_and_fetches_nothing(browser, page):
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert page.as_uri() in asked
    assert [url for url in asked if url != page.as_uri() and not url.startswith("data:")] == []


def test_a_name_with_a_script_is_text(browser):
    assert browser.execute_script("return window.evil") is None
    assert browser.find_element(By.CSS_SELECTOR, "#selected tbody th").text == EVIL
    assert browser.find_element(By.TAG_NAME, "h1").text == EVIL
    assert browser.find_elements(By.TAG_NAME, "img") == []


def test_sorting_by_mouse_and_keyboard(browser):
    heads = browser.find_elements(By.CSS_SELECTOR, "#selected thead th")
    score = next(head for head in heads if head.text.startswith("Represents"))
    script = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})"
    browser.execute_script(script, score)
    score.find_element(By.TAG_NAME, "button").click()
    values = [str(value) for value in column(browser, 3)]
    assert values == sorted(values, key=float)
    assert score.get_attribute("aria-sort") == "ascending"
    score.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    values = [float(value) for value in column(browser, 3)]
    assert values == sorted(values, reverse=True)
    assert [head.get_attribute("aria-sort") for head in heads].count("descending") == 1
    assert all(head.get_attribute("aria-sort") in (None, "descending") for head in heads)
    heads[1].find_element(By.TAG_NAME, "button").click()
    genes = [int(name.split()[1]) for name in column(browser, 2) if name.startswith("gene")]
    assert genes == sorted(genes)


def test_filtering(browser):
    box = browser.find_element(By.ID, "selected-filter")
    names = column(browser, 2)
    wanted = next(name for name in names if name != EVIL)
    box.send_keys(wanted.upper())
    assert wanted in column(browser, 2)
    assert 1 <= len(column(browser, 2)) < len(names)
    assert browser.find_element(By.ID, "selected-shown").text == f"{len(column(browser, 2))} of 16 shown"
    box.send_keys("no such name")
    assert column(browser, 2) == []
    box.clear()
    box.send_keys(" ", Keys.BACKSPACE)
    assert column(browser, 2) == names


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (400, "light"), (1280, "dark"), (400, "dark")]
)
def test_fits_the_screen_and_follows_the_theme(browser, width, scheme):
    set_screen(browser, width, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    dark = sum(int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(",")) < 200
    assert dark is (scheme == "dark")


def test_prints_dark_on_light_and_nothing_is_cut_off(browser):
    set_screen(browser, 760)
    settings = {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", settings)
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert colour == "rgb(255, 255, 255)"
    assert not browser.find_element(By.ID, "theme").is_displayed()
    tables = [table.rect for table in browser.find_elements(By.TAG_NAME, "table") if table.is_displayed()]
    assert len(tables) >= 2
    assert max(table["x"] + table["width"] for table in tables) <= 760
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_the_theme_button(browser):
    button = browser.find_element(By.ID, "theme")
    assert button.text == "Dark"
    button.click()
    assert button.text == "Light"
    assert browser.execute_script("return document.documentElement.dataset.theme") == "dark"


def test_printing_opens_what_is_folded(browser):
    folded = browser.find_element(By.TAG_NAME, "details")
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert folded.get_attribute("open") is not None
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert folded.get_attribute("open") is None
