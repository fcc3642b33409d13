"""The page of 10,000 clients: what it takes to make it, and until a browser has it open, has searched it and sorted it.

The clock begins with the navigation and ends when the page has loaded and the next picture is painted; a search or a sort ends when its
rows are painted. Three seconds is what a reader is asked to wait at most.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from selenium import webdriver

from kwire.report import write_page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
WORK = "page of 10,000 clients"
ALLOWED_SECONDS = 3.0
TURNS = 5
PAINTED = "const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
OPENED = PAINTED + "return painted().then(() => performance.now() / 1000)"
# what a reader does first, and again: sort by name, and search for a client; the page lists the 2,000 that are worst off
DONE = (
    PAINTED
    + """
    const [act, isDone] = [new Function(arguments[0]), new Function('return ' + arguments[1])];
    const start = performance.now();
    act();
    const wait = () => isDone() ? painted() : painted().then(wait);
    return wait().then(() => (performance.now() - start) / 1000);
    """
)
SEARCH = (
    "const field = document.getElementById('client-search'); field.value = 'service-1882'; field.dispatchEvent(new Event('input'));",
    "document.querySelector('[data-count=client-table]').textContent === '1 of 2,000'",
)
SORT = (
    "window.before = [...document.querySelectorAll('#client-table tbody th')].map((one) => one.textContent).join();"
    "document.querySelector('#client-table th button.sort').click();",
    "[...document.querySelectorAll('#client-table tbody th')].map((one) => one.textContent).join() !== window.before"
    " && document.querySelectorAll('#client-table tbody').length > 20",
)


def large_fleet() -> ModuleType:
    """The maker of the tables, which the tests have too."""
    path = Path(__file__).parents[1] / "tests" / "large_fleet.py"
    found = importlib.util.spec_from_file_location("large_fleet", path)
    assert found is not None
    assert found.loader is not None
    module = sys.modules["large_fleet"] = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome | None]:
    """None where there is no Chromium (Debian: chromium, chromium-driver): then the table has only what making the page takes."""
    if BROWSER is None or DRIVER is None:
        yield None
        return
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    yield driver
    driver.quit()


def test_page(record, browser, tmp_path):
    folder = large_fleet().write_large_fleet(tmp_path / "out")
    started = time.process_time()
    page = Path(write_page(folder))
    size = page.stat().st_size
    record(WORK, "native making", time.process_time() - started, 1, size)
    if browser is None:
        return
    record(WORK, "3 s allowed", ALLOWED_SECONDS, 1, 0)
    for _ in range(TURNS):
        browser.get("data:,")
        browser.get(page.as_uri())
        record(WORK, "native", browser.execute_script(OPENED), 1, size)
        record(WORK, "native sort", browser.execute_script(DONE, *SORT), 1, 0)
        record(WORK, "native search", browser.execute_script(DONE, *SEARCH), 1, 0)
