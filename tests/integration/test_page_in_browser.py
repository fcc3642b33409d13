"""The page in a real browser, as a reader has it, on a phone and on a desk: all of it is there, and nothing runs or leaves it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
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
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.contents import Report, read_report
from kwire.report.page import render_page
from kwire.report.tickets import ticket

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"
SECTIONS = [
    "coverage", "upgrade", "owners", "clients", "versions", "connections", "topics", "groups", "incidents", "violations",
    "telemetry", "brokers",
]  # fmt: skip
SIZES = {"small phone": (360, 640), "desktop": (1280, 900)}
# Quiet: the browser itself asks nobody for updates, names or models, so every request that is seen is the page's.
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
)  # fmt: skip


@dataclass(frozen=True)
class Pages:
    """Pages to look at, as URLs: of the example capture, of a fleet with hostile clients, without any table rows, of 10,000 clients.

    The reports are what the last three were made from.
    """

    example: str
    hostile: str
    empty: str
    large: str
    reports: dict[str, Report]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, analysis_tables: ModuleType, large_fleet: ModuleType) -> Pages:
    reports: dict[str, Report] = {}

    def page(name: str, write: Callable[[Path], Path]) -> str:
        folder = AnalysisFolder(write(tmp_path_factory.mktemp("pages") / name))
        reports[name] = read_report(folder)
        return Path(folder.write("report.html", render_page(reports[name]).encode())).as_uri()

    def written(tables: dict[str, list[dict[str, Any]]]) -> Callable[[Path], Path]:
        return lambda folder: analysis_tables.write_tables(folder, tables)

    bad = analysis_tables.HOSTILE_IDS
    clients = [analysis_tables.Used(text, text, str(n), versions=analysis_tables.JAVA_09, principal=text) for n, text in enumerate(bad)]
    hostile = analysis_tables.tables_of([*analysis_tables.FLEET, *clients])
    analysis_tables.add_traffic(hostile, [*bad, "fraud-scorer"])
    hostile["violations"] = [analysis_tables.violation("bad_length", ("error", "info")[n % 2], text, 0, text) for n, text in enumerate(bad)]
    hostile["connections"] += [analysis_tables.tls_connection(n) for n in range(3)]
    example = {name: table.to_pylist() for name, table in run([str(EXAMPLE)]).items() if name != "requests"}
    return Pages(
        example=page("example", written(example)),
        hostile=page("hostile", written(hostile)),
        empty=page("empty", written({name: [] for name in hostile})),
        large=page("large", large_fleet.write_large_fleet),
        reports=reports,
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


def _until(browser: webdriver.Chrome, found: Callable[[], bool]) -> None:
    WebDriverWait(browser, 15, poll_frequency=0.05).until(lambda _: found())


def _shown(browser: webdriver.Chrome, selector: str) -> list[str]:
    """The texts of what is seen, taken in one go: a list is built anew while it is searched."""
    script = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.offsetParent).map((one) => one.textContent)"
    found: list[str] = browser.execute_script(script, selector)
    return found


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
          .filter((one) => !one.closest('.scroll, .wide') && one.getBoundingClientRect().right > width + 1)
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
    _until(browser, lambda: len(_shown(browser, rows)) == 0)
    field.clear()
    field.send_keys("gateway-v2 offsetcommit")
    _until(browser, lambda: len(_shown(browser, rows)) == 1)
    assert "gateway-v2" in _shown(browser, rows)[0]
    assert browser.find_element(By.CSS_SELECTOR, '[data-count="upgrade-table"]').text == f"1 of {whole} found"
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.DELETE)
    _until(browser, lambda: len(_shown(browser, rows)) == whole)


@pytest.mark.parametrize(("typed", "found"), [('"><img', 1), ("&lt;", 0), ("hacked'", 0), ("(3 spaces) produce", 1), ("data-kind", 0)])
def test_the_filter_searches_what_is_read_and_not_how_it_is_written(
    browser: webdriver.Chrome, pages: Pages, typed: str, found: int
) -> None:
    browser.get(pages.hostile)
    browser.find_element(By.ID, "upgrade-filter").send_keys(typed)
    count = browser.find_element(By.CSS_SELECTOR, '[data-count="upgrade-table"]')
    _until(browser, lambda: count.text.startswith(f"{found} of "))


def test_the_filter_chooses_verdicts_by_keyboard(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.hostile)
    for box in browser.find_elements(By.CSS_SELECTOR, '[data-kind-filter="upgrade-table"]'):
        if box.get_attribute("value") != "undetermined":
            box.send_keys(Keys.SPACE)
    rows = "#upgrade-table > tbody > tr:first-child"
    _until(browser, lambda: len(_shown(browser, rows)) == 1)
    assert "late-reader" in _shown(browser, rows)[0]


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


def test_ten_thousand_clients_open_in_part(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.large)
    assert browser.execute_script("return document.getElementsByTagName('*').length") < 20_000
    rows = "return [...document.querySelectorAll('#client-table > tbody > tr')].filter((row) => row.offsetParent !== null).length"
    assert browser.execute_script(rows) == 60
    more = browser.find_element(By.CSS_SELECTOR, '[data-more="client-table"]')
    for text, shown in (("Show 500 more of 9,940 clients", 560), ("Show 500 more of 9,440 clients", 1060)):
        assert more.text == text
        more.click()
        _until(browser, lambda shown=shown: browser.execute_script(rows) == shown)
    field = browser.find_element(By.CSS_SELECTOR, '[data-filter="client-table"]')
    field.send_keys("service-1234")
    _until(browser, lambda: browser.execute_script(rows) == 1)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.DELETE)
    _until(browser, lambda: browser.execute_script(rows) == 60)


def test_a_hostile_client_that_is_not_on_the_page_yet_is_found_and_harmless(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.large)
    rows = "#upgrade-table > tbody > tr:first-child"
    assert not any("onerror" in text for text in _shown(browser, rows))
    browser.find_element(By.ID, "upgrade-filter").send_keys("<img src=x")
    _until(browser, lambda: len(_shown(browser, rows)) == 1)
    assert '<img src=x onerror="window.__hacked = 1">\\n\\x1b[31m' in _shown(browser, rows)[0]
    assert browser.execute_script("return window.__hacked === undefined && !document.querySelector('img')")


def test_headings_sort_by_keyboard_and_say_so(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.large)
    column = browser.find_elements(By.CSS_SELECTOR, "#client-table thead th").index(
        head := next(e for e in browser.find_elements(By.CSS_SELECTOR, "#client-table thead th") if e.text == "Requests")
    )
    cells = f"#client-table > tbody > tr > :nth-child({column + 1})"
    most = sorted((client.requests for client in pages.reports["large"].clients), reverse=True)
    before = _shown(browser, cells)
    for order, expected in (("descending", most[:60]), ("ascending", most[::-1][:60]), (None, None)):
        head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        _until(browser, lambda order=order: head.get_attribute("aria-sort") == order)
        wanted = before if expected is None else [f"{number:,}" for number in expected]
        _until(browser, lambda wanted=wanted: _shown(browser, cells) == wanted)


def test_amounts_sort_by_what_they_are(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.empty)
    texts = [
        "1,234",
        "0.5",
        "5 min 12 s",
        "310 ms",
        "2 d 4 h",
        "2.1 MB",
        "620 bytes",
        "10.1.0.4",
        "3.9.2",
        "7 apples",
        "",
        "2026-09-08 10:00:00",
    ]
    keys = [1234, 0.5, 312, 0.31, 187_200, 2_100_000, 620, "10.1.0.4", "3.9.2", "7 apples", "", "2026-09-08 10:00:00"]
    assert browser.execute_script("return arguments[0].map(sortKey)", texts) == keys


def test_verdicts_are_chosen_for_one_release(browser: webdriver.Chrome, pages: Pages) -> None:
    """3.9.2 marks what the erp-bridge and the hostile clients send, and 4.x refuses it."""
    browser.get(pages.hostile)
    rows = "#upgrade-table > tbody > tr:first-child"
    for box in browser.find_elements(By.CSS_SELECTOR, '[data-kind-filter="upgrade-table"]'):
        if box.get_attribute("value") != "rejected":
            box.send_keys(Keys.SPACE)
    matrix = pages.reports["hostile"].matrix
    for key, target in ((Keys.DOWN, "3.9.2"), (Keys.END, "4.3.1")):
        browser.find_element(By.CSS_SELECTOR, '[data-column-filter="upgrade-table"]').send_keys(key)
        _until(browser, lambda target=target: len(_shown(browser, rows)) == matrix.count(target)["rejected"])


def test_violations_are_chosen_by_severity(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.get(pages.hostile)
    assert len(_shown(browser, "#rule-list > li")) == 2
    browser.find_element(By.CSS_SELECTOR, '[data-kind-filter="rule-list"][value="info"]').send_keys(Keys.SPACE)
    _until(browser, lambda: len(_shown(browser, "#rule-list > li")) == 1)
    assert "error" in _shown(browser, "#rule-list > li")[0]


def _copied(browser: webdriver.Chrome) -> str:
    """What is in the clipboard; a line end is one character there, whatever the system's is."""
    done = "return navigator.clipboard.readText().then((text) => text.replaceAll('\\r\\n', '\\n'))"
    text: str = browser.execute_script(done)
    return text


def test_a_ticket_is_copied_by_keyboard_word_for_word(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    browser.get(pages.hostile)
    tasks = pages.reports["hostile"].tasks
    cards = browser.find_elements(By.CSS_SELECTOR, "#task-list > li")
    assert len(cards) == len(tasks) > 10
    for card, task in list(zip(cards, tasks, strict=True))[::4]:
        card.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        _until(browser, lambda task=task: _copied(browser) == ticket(task))
    assert browser.find_element(By.ID, "said").get_attribute("textContent") == "Copied"


def test_the_tickets_of_a_team_are_copied_also_those_that_are_not_shown(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    browser.get(pages.large)
    row = browser.find_elements(By.CSS_SELECTOR, "#team-table > tbody > tr")[5]
    team = pages.reports["large"].teams[5].name
    assert team in row.text
    row.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    of_team = [ticket(task) for task in pages.reports["large"].tasks if task.team == team]
    assert len(of_team) > 5
    _until(browser, lambda: _copied(browser) == "\n\n---\n\n".join(of_team))


@pytest.mark.parametrize("name", ["hostile", "large"])
def test_names_roles_and_headings_are_there_for_a_screen_reader(browser: webdriver.Chrome, pages: Pages, name: str) -> None:
    """What axe-core checks of names, roles and structure, as far as this page has such elements."""
    browser.get(getattr(pages, name))
    _open_everything(browser)
    faults = browser.execute_script(
        """
        const all = (selector) => [...document.querySelectorAll(selector)];
        const show = (what) => (one) => what + ': ' + one.outerHTML.slice(0, 120);
        const name = (one) => (one.getAttribute('aria-label') || [...(one.labels ?? [])].map((label) => label.textContent).join()
          || (one.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join('')
          || one.textContent).trim();
        const levels = all('h1, h2, h3, h4').map((one) => Number(one.tagName[1]));
        const ids = all('[id]').map((one) => one.id);
        return [
          ...all('button, input, select, a[href], summary, [role=region], [role=img], nav, section').filter((one) => !name(one))
            .map(show('no name')),
          ...all('[tabindex]').filter((one) => one.tabIndex > 0).map(show('own tab order')),
          ...all('[tabindex="0"]').filter((one) => !one.getAttribute('role')).map(show('no role')),
          ...all('th').filter((one) => !one.scope).map(show('no scope')),
          ...all('table').filter((one) => !one.caption?.textContent.trim()).map(show('no caption')),
          ...all('svg:not([aria-hidden])').filter((one) => one.getAttribute('role') !== 'img').map(show('no role')),
          ...all('ul > :not(li):not(script), ol > :not(li):not(script)').map(show('no item')),
          ...levels.filter((level, place) => place && level > levels[place - 1] + 1).map((level) => 'skips to level ' + level),
          ...ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => 'twice: ' + id),
          ...(levels.filter((level) => level === 1).length === 1 ? [] : ['not one h1']),
          ...(document.documentElement.lang && document.title && all('main').length === 1 ? [] : ['no language, title or main']),
        ];
        """
    )
    assert faults == []


def test_nothing_moves_for_those_who_want_no_motion(browser: webdriver.Chrome, pages: Pages) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    browser.get(pages.hostile)
    moving = browser.execute_script(
        "return [...document.querySelectorAll('*')].map((one) => getComputedStyle(one)).filter((style) =>"
        "parseFloat(style.transitionDuration) > 0 || style.animationName !== 'none' || style.scrollBehavior === 'smooth').length"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert moving == 0


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
          '.heat5', 'nav a', '.code', '.role', '.rejected-text', '.marked-text', '.severity', 'button', 'figcaption', 'footer', 'thead th',
          '.task .by', '.task .todo', '.uses', '.ticket', '.sort', 'select', '.next', '.what', '.owner', '.steps li', '.time'];
        return words
          .flatMap((selector) => [...document.querySelectorAll(selector)].slice(0, 40).map((one) => {
            const [a, b] = [light(parts(getComputedStyle(one).color)), light(ground(one))];
            return [selector + '.' + one.className, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]; }))
          .filter(([, contrast]) => contrast < 4.5);
        """
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert weak == []
