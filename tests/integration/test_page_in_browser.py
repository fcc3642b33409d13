"""The page in a real browser, as a reader has it, on a phone and on a desk: all of it is there, and nothing runs or leaves it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from kwire.analysis.one_process import run
from kwire.report import write_page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"
SECTIONS = [
    "coverage", "clients", "upgrade", "versions", "connections", "incidents", "topics", "groups", "telemetry", "brokers", "violations",
]  # fmt: skip
SIZES = {"phone": (390, 844), "small phone": (360, 640), "desktop": (1280, 900)}
# Quiet: the browser itself asks nobody for updates, names or models, so every request that is seen is the page's.
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
)  # fmt: skip


@dataclass(frozen=True)
class Pages:
    """Pages to look at, as URLs: of the example capture, of a fleet with hostile clients, without any table rows, with many clients."""

    example: str
    hostile: str
    empty: str
    crowded: str


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, analysis_tables: ModuleType) -> Pages:
    def page(name: str, tables: dict[str, list[dict[str, Any]]]) -> str:
        return Path(write_page(analysis_tables.write_tables(tmp_path_factory.mktemp("pages") / name, tables))).as_uri()

    bad = analysis_tables.HOSTILE_IDS
    clients = [analysis_tables.Used(text, text, str(n), versions=analysis_tables.JAVA_09, principal=text) for n, text in enumerate(bad)]
    hostile = analysis_tables.tables_of([*analysis_tables.FLEET, *clients])
    hostile["violations"] = [analysis_tables.violation("bad_length", "error", text, 0, text) for text in bad]
    hostile["connections"] += [analysis_tables.tls_connection(n) for n in range(3)]
    # The last client of the crowd in the order of the page is a hostile one: the only one that nothing marks today.
    old = {"Metadata": 0, "Fetch": 2, "Produce": 2}
    crowd = [analysis_tables.Used(f"crowd-{n}", "apache-kafka-java", f"3.{n % 9}.0", versions=old) for n in range(1499)]
    crowd.append(analysis_tables.Used(bad[1], versions={"Fetch": 2}))
    example = {name: table.to_pylist() for name, table in run([str(EXAMPLE)]).items() if name != "requests"}
    return Pages(
        example=page("example", example),
        hostile=page("hostile", hostile),
        empty=page("empty", {name: [] for name in hostile}),
        crowded=page("crowded", analysis_tables.tables_of(crowd)),
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    assert BROWSER is not None, "no Chromium on this machine (Debian: apt-get install chromium)"
    assert DRIVER is not None, "no chromedriver on this machine (Debian: apt-get install chromium-driver)"
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(params=SIZES.values(), ids=SIZES.keys())
def sized(browser: webdriver.Chrome, request: pytest.FixtureRequest) -> webdriver.Chrome:
    """The browser with the screen of a phone or of a desk."""
    width, height = request.param
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    return browser


def _open_everything(browser: webdriver.Chrome) -> None:
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")


def _shown(browser: webdriver.Chrome, selector: str) -> list[str]:
    found = browser.find_elements(By.CSS_SELECTOR, selector)
    return [element.text for element in found if element.is_displayed()]


@pytest.mark.parametrize("name", ["example", "hostile", "empty"])
def test_every_section_is_seen_without_an_error(sized: webdriver.Chrome, pages: Pages, name: str) -> None:
    sized.get_log("browser")
    sized.get(getattr(pages, name))
    assert [element.get_attribute("id") for element in sized.find_elements(By.CSS_SELECTOR, "main > section")] == SECTIONS
    for section in SECTIONS:
        assert sized.find_element(By.CSS_SELECTOR, f"#{section} h2").is_displayed()
        assert len(sized.find_element(By.ID, section).text) > 40
    _open_everything(sized)
    assert sized.get_log("browser") == []


@pytest.mark.parametrize("name", ["example", "hostile", "empty"])
def test_the_page_fits_the_width(sized: webdriver.Chrome, pages: Pages, name: str) -> None:
    sized.get(getattr(pages, name))
    _open_everything(sized)
    scroll, client = sized.execute_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= client
    outside = sized.execute_script(
        """
        const width = document.documentElement.clientWidth;
        return [...document.querySelectorAll('main *')]
          .filter((one) => !one.closest('.scroll') && one.getBoundingClientRect().right > width + 1)
          .map((one) => one.outerHTML.slice(0, 120));
        """
    )
    assert outside == []


def test_the_example_says_who_breaks(browser: webdriver.Chrome, pages: Pages) -> None:
    """Each of these clients was also run against a real Kafka 4.3.1 broker, where the first three failed and the last two worked."""
    browser.get(pages.example)
    heads = [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#upgrade-table thead th")]
    place = next(number for number, name in enumerate(heads) if name.startswith("4.3."))
    words = browser.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('#upgrade-table > tbody')].map((one) =>"
        "[one.querySelector('.who').textContent, one.rows[0].cells[arguments[0]].querySelector('.sr').textContent]))",
        place,
    )
    ids = ("pykafka", "erp-bridge", "pricing-svc", "fraud-scorer", "ad-bidder")
    assert [words[name] for name in ids] == ["rejected", "rejected", "rejected", "ok", "ok"]


def test_nothing_leaves_the_page(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get_log("performance")
    browser.get(pages.hostile)
    _open_everything(browser)
    sent = [entry["message"] for entry in browser.get_log("performance") if '"Network.requestWillBeSent"' in entry["message"]]
    assert len(sent) >= 1
    assert [message for message in sent if '"url":"file:///' not in message and '"url":"data:,' not in message] == []
    assert browser.execute_script("return performance.getEntriesByType('resource').map((one) => one.name)") == []


def test_hostile_client_ids_are_text_and_nothing_runs(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.hostile)
    _open_everything(browser)
    assert browser.execute_script("return window.__hacked === undefined")
    assert browser.execute_script("return document.querySelectorAll('script:not([type])').length") == 1
    text = browser.execute_script("return document.querySelector('#client-table').textContent")
    assert "<script>window.__hacked = 1</script>" in text
    assert "</script><script>window.__hacked = 3</script>" in text
    assert "line one\\nline two\\ttab" in text
    # What slipped through the escaping still could not run: the page's policy knows its own script only.
    browser.execute_script(
        "const bad = document.createElement('script'); bad.textContent = 'window.__hacked = 9'; document.body.append(bad)"
    )
    browser.execute_script("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.__hacked = 10\">')")
    assert browser.execute_script("return window.__hacked === undefined")
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_the_filter_finds_clients_by_text(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.hostile)
    rows = "#upgrade-table > tbody > tr:first-child"
    whole = len(_shown(browser, rows))
    field = browser.find_element(By.ID, "upgrade-filter")
    field.send_keys("gateway ListOff")
    WebDriverWait(browser, 5).until(lambda _: len(_shown(browser, rows)) == 0)
    field.clear()
    field.send_keys("gateway-v2 offsetcommit")
    WebDriverWait(browser, 5).until(lambda _: len(_shown(browser, rows)) == 1)
    assert "gateway-v2" in _shown(browser, rows)[0]
    assert browser.find_element(By.CSS_SELECTOR, '[data-count="upgrade-table"]').text == f"1 of {whole} found"
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.DELETE)
    WebDriverWait(browser, 5).until(lambda _: len(_shown(browser, rows)) == whole)


def test_the_filter_chooses_verdicts_by_keyboard(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.hostile)
    for box in browser.find_elements(By.CSS_SELECTOR, "[data-verdict-filter]"):
        if box.get_attribute("value") != "undetermined":
            box.send_keys(Keys.SPACE)
    shown = _shown(browser, "#upgrade-table > tbody > tr:first-child")
    assert len(shown) == 1
    assert "late-reader" in shown[0]


def test_reasons_open_by_keyboard_with_their_evidence(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.hostile)
    client = next(e for e in browser.find_elements(By.CSS_SELECTOR, "#upgrade-table > tbody") if "erp-bridge" in e.text)
    findings = client.find_element(By.CSS_SELECTOR, ".findings")
    assert not findings.is_displayed()
    client.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert findings.is_displayed()
    assert "Produce v1" in findings.text
    assert "4.0.2 accepts Produce from v3 on, not v1." in findings.text
    assert "10.0.0.3:9092-10.1.0.4:40000-0" in findings.text
    assert "request 1" in findings.text


def test_thousands_of_clients_open_in_part(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.crowded)
    rows = "return [...document.querySelectorAll('#client-table > tbody > tr')].filter((row) => row.offsetParent !== null).length"
    assert browser.execute_script(rows) == 60
    more = browser.find_element(By.CSS_SELECTOR, '[data-more="client-table"]')
    for text, shown in (("Show 500 more of 1,440 clients", 560), ("Show 500 more of 940 clients", 1060), ("Show 440 more clients", 1500)):
        assert more.text == text
        more.click()
        assert browser.execute_script(rows) == shown
    assert not more.is_displayed()
    field = browser.find_element(By.CSS_SELECTOR, '[data-filter="client-table"]')
    field.send_keys("crowd-1234")
    WebDriverWait(browser, 10).until(lambda _: browser.execute_script(rows) == 1)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.DELETE)
    WebDriverWait(browser, 10).until(lambda _: browser.execute_script(rows) == 60)


def test_the_filter_finds_hostile_clients_that_are_not_on_the_page_yet(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.crowded)
    rows = "#upgrade-table > tbody > tr:first-child"
    assert not any("onerror" in text for text in _shown(browser, rows))
    browser.find_element(By.ID, "upgrade-filter").send_keys('"><img src=x')
    WebDriverWait(browser, 10).until(lambda _: len(_shown(browser, rows)) == 1)
    assert '"><img src=x onerror="window.__hacked = 2">' in _shown(browser, rows)[0]
    assert browser.execute_script("return window.__hacked === undefined && !document.querySelector('img')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground_in_both_schemes(browser: webdriver.Chrome, pages: Pages, scheme: str) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.get(pages.hostile)
    # WCAG 2: relative luminance of the text against the nearest ground that is not transparent; 4.5 is AA.
    weak = browser.execute_script(
        """
        // rgb() counts to 255, color(srgb) to 1
        const scale = (text) => (number, place) => number * (text.startsWith('color(') && place < 3 ? 255 : 1);
        const parts = (text) => text.match(/[\\d.]+/g).map(scale(text));
        const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
          .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
        const ground = (one) => { for (; one; one = one.parentElement) {
          const found = parts(getComputedStyle(one).backgroundColor); if (found.length < 4 || found[3] > .5) return found; } };
        const words = ['body', '.lead', '.none', '.facts li > div', '.tag', '.cell', '.chip span', '.heat1', '.heat2', '.heat3', '.heat4',
          '.heat5', 'nav a', '.code', '.role', '.rejected-text', '.marked-text', '.severity', 'button', 'figcaption', 'footer', 'thead th'];
        return words
          .flatMap((selector) => [...document.querySelectorAll(selector)].slice(0, 40).map((one) => {
            const [a, b] = [light(parts(getComputedStyle(one).color)), light(ground(one))];
            return [selector + '.' + one.className, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]; }))
          .filter(([, contrast]) => contrast < 4.5);
        """
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert weak == []
