"""The page in a real browser, as a reader has it: all of it is there, lists search, sort and filter, and nothing runs or leaves it."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

from kwire.analysis.digests import PAGE
from kwire.report.burn_down import HISTORY, HistoryPoint, history_text
from kwire.report.fix_tickets import action_items
from kwire.report.formats import write_page
from page_browser import DESK, PHONE, SECTIONS, Pages, copied, open_everything, read, show, shown, until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ROWS = "#client-table > tbody > tr:first-child"
COUNT = '[data-count="client-table"]'
SIZES = [DESK, PHONE, *(pytest.param(each, marks=pytest.mark.matrix) for each in ((768, 1024), (360, 640)))]


def _search(browser: Chrome, text: str) -> None:
    field = browser.find_element(By.ID, "client-search")
    field.clear()
    field.send_keys(text)


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", ["example", "hostile", "empty"])
def test_every_section_is_seen_without_an_error(browser: Chrome, pages: Pages, name: str, size: tuple[int, int]) -> None:
    browser.get_log("browser")
    show(browser, getattr(pages, name), size)
    folds = len(browser.find_elements(By.CSS_SELECTOR, "main > section > .fold > summary > h2"))
    assert bool(folds) == (size == PHONE)  # a phone opens with the sections after the clients closed
    open_everything(browser)
    # only where there was TLS is there a section about it
    sections = [*SECTIONS[:8], "encryption", *SECTIONS[8:]] if name == "hostile" else SECTIONS
    assert [element.get_attribute("id") for element in browser.find_elements(By.CSS_SELECTOR, "main > section")] == sections
    headings = "return [...document.querySelectorAll('main > section')].map((one) => one.querySelector('h2').checkVisibility())"
    assert browser.execute_script(headings) == [True] * len(sections)
    assert [section for section, text in zip(sections, read(browser, "main > section"), strict=True) if len(text) <= 40] == []
    assert browser.get_log("browser") == []


def test_a_phone_shows_the_page_in_twelve_screens(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.example, PHONE)
    assert browser.execute_script("return document.documentElement.scrollHeight") <= 12 * PHONE[1]
    show(browser, f"{pages.example}#brokers", PHONE)
    until(browser, lambda: bool(browser.execute_script("return document.querySelector('#brokers > .fold').open")))


def test_each_number_has_a_label_on_a_phone(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.example, PHONE)
    bare = "return [...document.querySelectorAll('.rows td.number')].filter((one) => one.textContent && !one.dataset.label).length"
    assert browser.execute_script(bare) == 0
    assert [one.get_attribute("data-label") for one in browser.find_elements(By.CSS_SELECTOR, "#brokers td")][:2] == [
        "Advertised as",
        "Seen at",
    ]


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone", "tablet", "small phone"])
@pytest.mark.parametrize("name", ["example", "hostile", "empty"])
def test_the_page_fits_the_width_and_no_box_scrolls(browser: Chrome, pages: Pages, name: str, size: tuple[int, int]) -> None:
    show(browser, getattr(pages, name), size)
    open_everything(browser)
    scroll, client = browser.execute_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= client
    outside = browser.execute_script(
        """
        const width = document.documentElement.clientWidth;
        const hidden = (one) => one.closest('thead') && getComputedStyle(one.closest('thead')).clipPath !== 'none';
        return [...document.querySelectorAll('header *, nav *, main *')]
          .filter((one) => !one.closest('.sr, svg.strip') && !hidden(one) && one.getBoundingClientRect().right > width + 1)
          .map((one) => one.outerHTML.slice(0, 120));
        """
    )
    assert outside == []
    boxes = browser.execute_script(
        """
        return [...document.querySelectorAll('body *')].filter((one) => !one.closest('dialog, .sr'))
          .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowX + getComputedStyle(one).overflowY))
          .map((one) => one.outerHTML.slice(0, 120));
        """
    )
    assert boxes == []


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone", "tablet", "small phone"])
def test_charts_fill_their_cards(browser: Chrome, pages: Pages, size: tuple[int, int]) -> None:
    show(browser, pages.hostile, size)
    open_everything(browser)
    room = browser.execute_script(
        """
        return [...document.querySelectorAll('.picture')].map((one) => {
          const [drawn, ...others] = [...one.querySelectorAll('svg')].filter((svg) => svg.checkVisibility());
          const style = getComputedStyle(one);
          const inner = one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
          return [others.length, Math.round(drawn.getBoundingClientRect().width - inner)];
        });
        """
    )
    assert len(room) >= 3
    assert set(map(tuple, room)) == {(0, 0)}


def test_tables_in_cards_share_their_columns(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.example)
    left = "return [...document.querySelectorAll('.tickets td')].map((one) => one.getBoundingClientRect().left)"
    assert len(set(browser.execute_script(left))) == 3
    browser.find_element(By.CSS_SELECTOR, ".tickets summary").click()
    wide = "return document.querySelector('.tickets pre').getBoundingClientRect().width"
    until(browser, lambda: browser.execute_script(wide) > DESK[0] / 3)  # a ticket that is read has room


def test_the_example_says_who_breaks(browser: Chrome, pages: Pages) -> None:
    """Each of these clients was also run against a real Kafka 4.3.1 broker, where the first three failed and the last two worked."""
    show(browser, pages.example)
    assert browser.find_element(By.TAG_NAME, "h1").text.replace("\n", " ") == "12 of 27 applications break on Kafka 4.0 (brokers run 3.9)"
    heads = [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#client-table thead th")]
    words = browser.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('#client-table > tbody')].map((one) =>"
        "[one.querySelector('.who').textContent, one.rows[0].cells[arguments[0]].querySelector('.sr').textContent]))",
        heads.index("4.3"),
    )
    ids = ("pykafka", "erp-bridge", "pricing-svc", "fraud-scorer", "ad-bidder")
    assert [words[name] for name in ids] == ["breaks", "breaks", "breaks", "compatible", "compatible"]


def test_the_burn_down_is_on_the_first_screen(browser: Chrome, pages: Pages, tmp_path: Path) -> None:
    shutil.copytree(Path(url2pathname(urlsplit(pages.example).path)).parent, tmp_path / "weekly")
    weeks = [
        HistoryPoint(until=f"2026-1{month}-{day:02}T10:00:00+00:00", applications=27, breaks=breaks, unknown=0, to="4.1")
        for month, day, breaks in ((0, 24, 20), (0, 31, 17), (1, 7, 15), (1, 14, 14))
    ]
    (tmp_path / "weekly" / HISTORY).write_text(history_text(weeks))
    show(browser, Path(write_page(tmp_path / "weekly")).as_uri())
    top, bottom, screen, text = browser.execute_script(
        "const one = [...document.querySelectorAll('.picture')].find((each) => each.textContent.includes('report by report'));"
        "const {top, bottom} = one.getBoundingClientRect(); return [top, bottom, innerHeight, one.querySelector('figcaption').textContent]"
    )
    assert 0 < top < bottom <= screen
    assert text.endswith("by the end of their captures, judged for Kafka 4.1, then Kafka 4.4")
    show(browser, pages.example)
    assert "report by report" not in browser.find_element(By.TAG_NAME, "body").text


def test_nothing_leaves_the_page(browser: Chrome, pages: Pages) -> None:
    browser.get_log("performance")
    show(browser, pages.hostile)
    open_everything(browser)
    sent = [entry["message"] for entry in browser.get_log("performance") if '"Network.requestWillBeSent"' in entry["message"]]
    allowed = ('"url":"file:///', '"url":"data:,', '"url":"about:blank')
    assert len(sent) >= 1
    assert [message for message in sent if not any(start in message for start in allowed)] == []
    assert browser.execute_script("return performance.getEntriesByType('resource').map((one) => one.name)") == []


def test_hostile_client_ids_are_text_and_nothing_runs(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.hostile)
    open_everything(browser)
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


def test_the_filter_finds_clients_by_text_and_is_cleared(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.hostile)
    whole = len(shown(browser, ROWS))
    _search(browser, "gateway ListOff")
    until(browser, lambda: len(shown(browser, ROWS)) == 0)
    _search(browser, "gateway-v2 offsetcommit")
    until(browser, lambda: len(shown(browser, ROWS)) == 1)
    assert "gateway-v2" in shown(browser, ROWS)[0]
    assert browser.find_element(By.CSS_SELECTOR, COUNT).text == f"1 of {whole}"
    browser.find_element(By.CSS_SELECTOR, '[data-clear="client-table"]').send_keys(Keys.ENTER)
    until(browser, lambda: len(shown(browser, ROWS)) == whole)
    assert browser.find_element(By.ID, "client-search").get_attribute("value") == ""


@pytest.mark.parametrize(("typed", "found"), [('"><img', 1), ("&lt;", 0), ("hacked'", 0), ("(3 spaces) produce", 1), ("data-on", 0)])
def test_the_filter_searches_what_is_read_and_not_how_it_is_written(browser: Chrome, pages: Pages, typed: str, found: int) -> None:
    show(browser, pages.hostile)
    _search(browser, typed)
    until(browser, lambda: browser.find_element(By.CSS_SELECTOR, COUNT).text.startswith(f"{found} of "))


def test_a_verdict_selects_and_says_how_many_it_has(browser: Chrome, pages: Pages) -> None:
    """Nothing is pressed: all is shown. One is pressed: only its clients. Two: those of both."""
    show(browser, pages.hostile)
    whole = len(shown(browser, ROWS))
    chips = {chip.get_attribute("value"): chip for chip in browser.find_elements(By.CSS_SELECTOR, '[data-kind-filter="client-table"]')}
    numbers = {value: int(chip.find_element(By.CLASS_NAME, "number").text) for value, chip in chips.items()}
    assert sum(numbers.values()) == whole
    chips["unknown"].send_keys(Keys.SPACE)
    until(browser, lambda: len(shown(browser, ROWS)) == numbers["unknown"] == 1)
    assert "late-reader" in shown(browser, ROWS)[0]
    chips["breaks"].send_keys(Keys.SPACE)
    until(browser, lambda: len(shown(browser, ROWS)) == 1 + numbers["breaks"])
    for value in ("unknown", "breaks"):
        chips[value].send_keys(Keys.SPACE)
    until(browser, lambda: len(shown(browser, ROWS)) == whole)


def test_verdicts_are_chosen_for_one_version(browser: Chrome, pages: Pages) -> None:
    """3.9.2 deprecates what the erp-bridge and the hostile clients send, and 4.x rejects it."""
    show(browser, pages.hostile)
    browser.find_element(By.CSS_SELECTOR, '[data-kind-filter="client-table"][value="breaks"]').click()
    matrix = pages.reports["hostile"].matrix
    for key, target in ((Keys.DOWN, "3.9.2"), (Keys.END, "4.3.1")):
        browser.find_element(By.CSS_SELECTOR, '[data-place-filter="client-table"]').send_keys(key)
        until(browser, lambda target=target: len(shown(browser, ROWS)) == matrix.count(target)["breaks"])


def test_clients_are_chosen_by_team_and_by_fix(browser: Chrome, pages: Pages) -> None:
    show(browser, f"{pages.large}#clients?clients.team=Team%207&clients.fix=0")
    report = pages.reports["large"]
    (expected,) = (
        len(ticket.tasks) for ticket in action_items(report.tasks, report.names)[0].tickets if ticket.team == "Team 7"
    )  # fmt: skip
    until(browser, lambda: browser.find_element(By.CSS_SELECTOR, COUNT).text == f"{expected} of 2,000")
    assert all("Team 7" in text for text in shown(browser, "#client-table .owner"))


def test_what_is_chosen_is_in_the_address_and_comes_back(browser: Chrome, pages: Pages) -> None:
    show(browser, f"{pages.hostile}#clients")
    _search(browser, "old & new=?")
    until(browser, lambda: "clients.q=" in browser.current_url)
    _search(browser, "kafka")
    browser.find_element(By.CSS_SELECTOR, '[data-kind-filter="client-table"][value="compatible"]').click()
    head = browser.find_elements(By.CSS_SELECTOR, "#client-table thead th")[-1]
    head.find_element(By.TAG_NAME, "button").click()
    until(browser, lambda: "clients.q=kafka&clients.is=compatible&clients.sort=" in browser.current_url)
    before, address = shown(browser, ROWS), browser.current_url
    assert before
    show(browser, address)
    until(browser, lambda: shown(browser, ROWS) == before)
    assert browser.find_elements(By.CSS_SELECTOR, "#client-table thead th")[-1].get_attribute("aria-sort") == "descending"
    assert browser.find_element(By.CSS_SELECTOR, '[value="compatible"][data-kind-filter]').get_attribute("aria-pressed") == "true"


@pytest.mark.matrix
def test_ten_thousand_clients_open_in_part(browser: Chrome, pages: Pages) -> None:
    """The worst are listed, the page says how many more there are, and all of them are counted."""
    show(browser, pages.large)
    (text,) = read(browser, "#clients")
    assert "10,000 applications" in text
    assert "And 8,000 more clients, in the table clients." in text
    assert browser.execute_script("return document.getElementsByTagName('*').length") < 20_000
    assert len(shown(browser, ROWS)) == 25
    more = browser.find_element(By.CSS_SELECTOR, '[data-more="client-table"]')
    for text, number in (("Show 500 more of 1,975 clients", 525), ("Show 500 more of 1,475 clients", 1025)):
        assert more.text == text
        more.click()
        until(browser, lambda number=number: len(shown(browser, ROWS)) == number)
    _search(browser, "service-1234")
    until(browser, lambda: len(shown(browser, ROWS)) == 1)
    browser.find_element(By.ID, "client-search").send_keys(Keys.ESCAPE)
    until(browser, lambda: len(shown(browser, ROWS)) == 25)


def test_what_breaks_is_first_also_among_ten_thousand(browser: Chrome, pages: Pages) -> None:
    """The first screen names the libraries that break; lists and pictures begin with them."""
    show(browser, pages.large)
    first = browser.execute_script(
        "return [...document.querySelectorAll('#cover-table tbody tr')].filter((one) => one.getBoundingClientRect().bottom < innerHeight)"
        ".map((one) => one.textContent).join()"
    )
    assert "Upgrade kafka-clients to 2.1.0 or later" in first
    assert "kafka-clients 0.9.0" in first
    assert all(text.startswith(("kafka-clients", "sarama-old")) for text in shown(browser, "#library-table tbody tr")[:6])
    chart = "#libraries .for-wide .series"
    assert {"breaks"} < set(browser.execute_script(f"return [...document.querySelectorAll('{chart}')].map((one) => one.classList[1])"))
    rows = browser.execute_script("return [...document.querySelectorAll('#libraries .for-wide .y text')].map((one) => one.textContent)")
    assert rows[0].startswith(("kafka-clients", "sarama-old"))
    assert all("breaks" in text for text in browser.execute_script(
        "return [...document.querySelectorAll('#client-table > tbody td.at .sr')].map((one) => one.textContent)"
    ))  # fmt: skip


def test_a_page_of_ten_thousand_clients_is_small(pages: Pages) -> None:
    from pathlib import Path
    from urllib.parse import unquote, urlparse

    assert Path(unquote(urlparse(pages.large).path)).stat().st_size < 3_000_000


def test_a_hostile_client_that_is_not_on_the_page_yet_is_found_and_harmless(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.large)
    assert not any("onerror" in text for text in shown(browser, ROWS))
    _search(browser, "<img src=x")
    until(browser, lambda: len(shown(browser, ROWS)) == 1)
    assert '<img src=x onerror="window.__hacked = 1">\\n\\x1b[31m' in shown(browser, ROWS)[0]
    browser.find_element(By.CSS_SELECTOR, ".who").click()
    until(browser, lambda: "<img src=x" in browser.find_element(By.ID, "drawer-title").text)
    assert browser.execute_script("return window.__hacked === undefined && !document.querySelector('img')")


def test_headings_sort_by_keyboard_and_say_so(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.large)
    head = browser.find_elements(By.CSS_SELECTOR, "#client-table thead th")[-1]
    cells = "#client-table > tbody > tr > td.requests"
    report = pages.reports["large"]
    requests = {client.client_key: client.requests for client in report.clients}
    most = sorted((requests[line.client_key] for line in report.matrix.clients[: PAGE.listed]), reverse=True)
    before = shown(browser, cells)
    for order, expected in (("descending", most[:25]), ("ascending", most[::-1][:25]), (None, None)):
        head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        until(browser, lambda order=order: head.get_attribute("aria-sort") == order)
        wanted = before if expected is None else [f"{number:,}" for number in expected]
        until(browser, lambda wanted=wanted: shown(browser, cells) == wanted)


def test_amounts_sort_by_what_they_are(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.empty)
    texts = ["1,234", "0.5", "5 min 12 s", "310 ms", "2 d 4 h", "2.1 MB", "620 bytes"]
    texts += ["10.1.0.4", "3.9.2", "7 apples", "", "2026-09-08 10:00:00"]
    keys = [1234, 0.5, 312, 0.31, 187_200, 2_100_000, 620, "10.1.0.4", "3.9.2", "7 apples", "", "2026-09-08 10:00:00"]
    assert browser.execute_script("return arguments[0].map(sortKey)", texts) == keys


def test_violations_are_chosen_by_severity(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.hostile)
    assert len(shown(browser, "#rule-list > li")) == 2
    browser.find_element(By.CSS_SELECTOR, '[data-kind-filter="rule-list"][value="error"]').send_keys(Keys.SPACE)
    until(browser, lambda: len(shown(browser, "#rule-list > li")) == 1)
    assert "error" in shown(browser, "#rule-list > li")[0]


def test_a_ticket_is_copied_by_keyboard_word_for_word(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.hostile)
    report = pages.reports["hostile"]
    items = action_items(report.tasks, report.names)
    cards = browser.find_elements(By.CSS_SELECTOR, ".fixes > li")
    assert len(cards) == len(items) == 2
    for card, item in zip(cards, items, strict=True):
        card.find_element(By.CSS_SELECTOR, "[data-copy]").send_keys(Keys.ENTER)
        until(browser, lambda item=item: copied(browser) == item.tickets[0].text)
    assert browser.find_element(By.ID, "said").get_attribute("textContent") == "Copied"


def test_the_tickets_of_a_team_are_copied_also_those_that_are_not_shown(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.large)
    open_everything(browser)
    report = pages.reports["large"]
    row = browser.find_elements(By.CSS_SELECTOR, "#team-table > tbody > tr")[5]
    team = row.find_element(By.TAG_NAME, "th").text
    row.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    of_team = [ticket.text for item in action_items(report.tasks, report.names) for ticket in item.tickets if ticket.team == team]
    assert len(of_team) == 2
    until(browser, lambda: copied(browser) == "\n\n---\n\n".join(of_team))
