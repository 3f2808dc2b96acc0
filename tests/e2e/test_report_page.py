"""The report's page in a real browser: it compares, obeys the keyboard and asks nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from gitguard.guard import Guard
from gitguard.review.page import page
from tests.conftest import Git
from tests.review import planted
from tests.review.injections import INJECTIONS
from tests.review.made_reports import WEB, report_with
from tests.review.rendered import html_of
from tests.support.needed import need

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_SIZE = 300_000
Driver = webdriver.Chrome


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    need("chromium", "chromedriver")
    options = webdriver.ChromeOptions()
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Driver(options=options, service=Service("/usr/bin/chromedriver"))
    yield driver
    driver.quit()


Shown = Callable[[str], Driver]


@pytest.fixture
def shown(browser: Driver, tmp_path: Path) -> Shown:
    def show(html: str) -> Driver:
        target = tmp_path / "report.html"
        target.write_text(html, encoding="utf-8")
        log_of(browser, "browser")
        browser.get(target.as_uri())
        return browser

    return show


@pytest.fixture
def planted_page(guard: Guard, git: Git) -> str:
    written = planted.write(planted.history(1), guard, git)
    return guard.review.report(written.range, "html")


def text_of(driver: Driver, name: str) -> str:
    return driver.find_element(By.ID, name).text


def chosen(driver: Driver, name: str) -> Select:
    return Select(driver.find_element(By.ID, name))


def complaints(driver: Driver) -> list[Any]:
    return [entry["message"] for entry in log_of(driver, "browser")]


def log_of(driver: Driver, kind: str) -> list[Any]:
    return list(driver.get_log(kind))  # type: ignore[no-untyped-call]


def requests(driver: Driver) -> list[str]:
    """Return what was asked for since the last look, besides the file and its empty icon."""
    names = "Network.requestWillBeSent"
    logged = [e["message"] for e in log_of(driver, "performance") if names in e["message"]]
    return [message for message in logged if '"url":"http' in message]


@pytest.mark.essential
def test_choosing_two_checkpoints_shows_how_state_and_code_differ(
    shown: Shown, planted_page: str
) -> None:
    assert len(planted_page.encode()) <= _SIZE
    driver = shown(planted_page)
    names = [option.text.split(" ")[0] for option in chosen(driver, "from").options]
    assert len(names) == 60
    chosen(driver, "from").select_by_index(0)
    chosen(driver, "to").select_by_index(len(names) - 1)
    assert text_of(driver, "outcome").startswith(f"{names[0]} to {names[-1]}: ")
    state, code = text_of(driver, "state"), text_of(driver, "code")
    assert "+ d7: Keep the index in flat JSON files" in state
    assert "+ The certificate of the staging mirror has expired" in state
    assert "deploy/mirror.service" in code
    assert "30 commits" in text_of(driver, "outcome")
    chosen(driver, "from").select_by_index(names.index("cp_074") - 1)
    chosen(driver, "to").select_by_index(names.index("cp_074"))
    assert "− No network access while tests run" in text_of(driver, "state")
    assert complaints(driver) == []
    assert requests(driver) == []


def test_the_keyboard_alone_compares(shown: Shown, planted_page: str) -> None:
    driver = shown(planted_page)
    before = text_of(driver, "outcome")
    keys = driver.switch_to.active_element
    keys.send_keys(Keys.TAB)
    assert driver.switch_to.active_element.text == "Skip to the report"
    for _ in range(80):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        if driver.switch_to.active_element.get_attribute("id") == "from":
            break
    driver.switch_to.active_element.send_keys(Keys.HOME)
    assert text_of(driver, "outcome") != before
    outline = driver.switch_to.active_element.value_of_css_property("outline-style")
    assert outline == "solid"
    assert driver.find_element(By.ID, "outcome").get_attribute("role") == "status"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_wider_than_the_screen_and_all_text_can_be_read(
    shown: Shown, planted_page: str, width: int, scheme: str
) -> None:
    driver = shown(planted_page)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert driver.execute_script(_CONTRASTS) == []


_CONTRASTS = """
const curve = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const light = (c) => curve(c / 255);
const parts = (text) => text.match(/[\\d.]+/g).map(Number);
const of = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
const behind = (node) => {
  for (; node; node = node.parentElement) {
    const color = parts(getComputedStyle(node).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
const poor = new Set();
for (const node of document.querySelectorAll("body *")) {
  const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || ["SCRIPT", "STYLE", "OPTION"].includes(node.tagName)) continue;
  const pair = [of(parts(getComputedStyle(node).color)), of(behind(node))].sort((a, b) => b - a);
  if ((pair[0] + 0.05) / (pair[1] + 0.05) < 4.5) poor.add(node.tagName + "." + node.className);
}
return [...poor];
"""
"""Which elements with text have less contrast than 4.5 to 1."""


@pytest.mark.essential
def test_no_injected_text_runs_or_becomes_an_element(shown: Shown) -> None:
    texts = [text for text in INJECTIONS if text.strip()]
    for text in (" ".join(texts[:20]), " ".join(texts[20:60]), " ".join(texts[60:])):
        driver = shown(page(report_with(text), WEB))
        chosen(driver, "from").select_by_index(0)
        count = "return document.querySelectorAll('img, iframe, svg svg, script').length"
        assert driver.execute_script(count) == 2
        assert text[:40].split()[0] in text_of(driver, "state")
        assert complaints(driver) == []
        assert requests(driver) == []


def test_a_reader_without_a_script_reads_everything_but_the_comparison(
    shown: Shown, planted_page: str
) -> None:
    driver = shown(planted_page.replace('"use strict";', '"use strict"; '))
    refused = complaints(driver)
    assert len(refused) == 1, "a script that differs from its hash does not run"
    assert "Content Security Policy" in refused[0]
    assert "needs the script" in text_of(driver, "outcome")
    assert "SQLite" in driver.find_element(By.TAG_NAME, "main").text


def test_the_markdown_looks_the_same_in_a_browser(shown: Shown, guard: Guard, git: Git) -> None:
    written = planted.write(planted.history(1), guard, git)
    html = html_of(guard.review.report(written.range))
    driver = shown(f"<!doctype html><meta charset=utf-8><link rel=icon href='data:,'>{html}")
    height = driver.execute_script("return document.body.scrollHeight")
    assert height < 1200, "folded, it is about a screen"
    assert "No network access" in driver.find_element(By.TAG_NAME, "body").text
