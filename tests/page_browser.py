"""The page in a real browser: which pages there are, how the browser is started, and what tests do with it again and again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

from kwire.analysis.one_process import run
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.contents import Report, read_report
from kwire.report.page import render_page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
EXAMPLE = Path(__file__).parents[1] / "examples" / "upgrade-fleet.pcap.gz"
SECTIONS = [
    "actions", "clients", "libraries", "topics", "versions", "traffic", "groups", "incidents", "violations", "telemetry", "brokers",
]  # fmt: skip
DESK, PHONE = (1300, 900), (390, 844)
# Quiet: the browser itself asks no server for updates, names or models, so every request that is seen is the page's.
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
)  # fmt: skip


@dataclass(frozen=True)
class Pages:
    """Pages to look at, as URLs: of the example capture, of a fleet with hostile clients, without any table rows, of 10,000 clients.

    The reports are what they were made from.
    """

    example: str
    hostile: str
    empty: str
    large: str
    reports: dict[str, Report]


def make_pages(folder: Path, analysis_tables: ModuleType, large_fleet: ModuleType) -> Pages:
    reports: dict[str, Report] = {}

    def page(name: str, write: Callable[[Path], Path]) -> str:
        written = AnalysisFolder(write(folder / name))
        reports[name] = read_report(written)
        return Path(written.write("report.html", render_page(reports[name]).encode())).as_uri()

    def written(tables: dict[str, list[dict[str, Any]]]) -> Callable[[Path], Path]:
        return lambda place: analysis_tables.write_tables(place, tables)

    bad = analysis_tables.HOSTILE_IDS
    clients = [analysis_tables.Used(text, text, str(n), versions=analysis_tables.JAVA_09, principal=text) for n, text in enumerate(bad)]
    hostile = analysis_tables.tables_of([*analysis_tables.FLEET, *clients])
    analysis_tables.add_traffic(hostile, [*bad, "fraud-scorer"])
    hostile["violations"] = [analysis_tables.violation("bad_length", ("error", "info")[n % 2], text, 0, text) for n, text in enumerate(bad)]
    hostile["connections"] += [analysis_tables.tls_connection(n) for n in range(3)]
    example = {name: table.to_pylist() for name, table in run([str(EXAMPLE)]).items()}
    return Pages(
        example=page("example", written(example)),
        hostile=page("hostile", written(hostile)),
        empty=page("empty", written({name: [] for name in hostile})),
        large=page("large", large_fleet.write_large_fleet),
        reports=reports,
    )


@contextmanager
def started(profile: Path) -> Iterator[webdriver.Chrome]:
    """A browser without a window, with a profile of its own."""
    options = webdriver.ChromeOptions()
    assert BROWSER is not None, "no Chromium on this machine (Debian: apt-get install chromium)"
    assert DRIVER is not None, "no chromedriver on this machine (Debian: apt-get install chromium-driver)"
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def prefer(browser: webdriver.Chrome, **preferences: str) -> None:
    """Have a reader who wants this and nothing else: `color_scheme="dark"`."""
    features = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in preferences.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})


def show(browser: webdriver.Chrome, url: str, size: tuple[int, int] = DESK, scheme: str = "light") -> None:
    width, height = size
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    prefer(browser, color_scheme=scheme)
    browser.get("about:blank")
    browser.get(url)


def open_everything(browser: webdriver.Chrome) -> None:
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")


def until(browser: webdriver.Chrome, found: Callable[[], bool]) -> None:
    WebDriverWait(browser, 20, poll_frequency=0.05).until(lambda _: found())


def shown(browser: webdriver.Chrome, selector: str) -> list[str]:
    """The texts of what is seen, taken in one go: a list is built again while it is searched."""
    script = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.offsetParent).map((one) => one.textContent.trim())"
    found: list[str] = browser.execute_script(script, selector)
    return found


def read(browser: webdriver.Chrome, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.checkVisibility() ? one.innerText : '')"
    found: list[str] = browser.execute_script(script, selector)
    return found


def copied(browser: webdriver.Chrome) -> str:
    done = "return navigator.clipboard.readText().then((text) => text.replaceAll('\\r\\n', '\\n'))"
    text: str = browser.execute_script(done)
    return text
