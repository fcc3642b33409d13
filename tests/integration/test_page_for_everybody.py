"""The page for each reader: axe-core finds nothing, all works by keyboard, charts say their values, one page is printed for the boss."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By

from page_axe import findings
from page_browser import DESK, PHONE, Pages, copied, open_everything, prefer, show, shown, until

pytestmark = [pytest.mark.matrix, pytest.mark.browser, pytest.mark.xdist_group("browser")]

FIRST = "#client-table .who"


@pytest.fixture
def unguarded(browser: Chrome) -> Any:
    """Without the page's content policy, as axe-core writes styles; nothing else is tested so."""
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    yield browser
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})


def _faultless(browser: Chrome) -> None:
    """Nothing is found in a light page, and no colour is wrong in the same page when it turns dark; what has no colour does not change."""
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert findings(browser) == []
    light = browser.execute_script(ground)
    prefer(browser, color_scheme="dark", reduced_motion="reduce")  # at once, not in steps
    assert browser.execute_script(ground) != light
    assert findings(browser, colours=True) == []
    prefer(browser, color_scheme="light", reduced_motion="reduce")


@pytest.mark.parametrize(("name", "size"), [("example", DESK), ("example", PHONE), ("hostile", DESK)], ids=["desk", "phone", "hostile"])
def test_axe_finds_nothing_also_with_all_open(unguarded: Chrome, pages: Pages, name: str, size: tuple[int, int]) -> None:
    show(unguarded, getattr(pages, name), size)
    _faultless(unguarded)
    open_everything(unguarded)
    _faultless(unguarded)
    unguarded.execute_script("for (const one of document.querySelectorAll('details')) one.open = false")
    unguarded.find_element(By.CSS_SELECTOR, FIRST).click()
    until(unguarded, lambda: unguarded.find_element(By.ID, "drawer").is_displayed())
    _faultless(unguarded)


def test_axe_finds_a_pale_text_in_any_row(unguarded: Chrome, pages: Pages) -> None:
    """Texts of one look are weighed once (page_axe.py): not so one that differs, nor those of which the first has no verdict."""
    show(unguarded, pages.hostile)
    unguarded.execute_script(
        """
        const who = [...document.querySelectorAll('#client-table .who')].filter((one) => one.offsetParent);
        const faulty = (one, name, style) => { one.dataset.fault = name; Object.assign(one.style, style); };
        who.at(-1).textContent = 'the last row of them all';
        faulty(who.at(-1), 'own colour', {color: '#bbb'});
        who.at(-4).innerHTML = '<b data-fault="what it is in" style="color: #333">in a box</b>';
        who.at(-4).style.backgroundColor = '#444';
        who.at(2).textContent = 'the first of its look';
        who.at(5).textContent = 'the second of its look';
        faulty(who.at(2), 'covered', {color: '#ccc'});  // on which axe has no verdict
        faulty(who.at(5), 'after a covered one', {color: '#ccc'});
        const {x, y, width, height} = who.at(2).getBoundingClientRect();
        const cover = document.body.appendChild(document.createElement('div'));
        Object.assign(cover.style, {
          position: 'absolute', left: `${x + scrollX}px`, top: `${y + scrollY}px`, width: `${width}px`, height: `${height}px`,
          background: 'white', zIndex: 99,
        });
        """
    )
    found = [line for line in findings(unguarded) if "data-fault" in line]
    assert sorted(line.partition('data-fault="')[2].partition('"')[0] for line in found) == [
        "after a covered one", "own colour", "what it is in",
    ]  # fmt: skip
    assert {line.partition(":")[0] for line in found} == {"color-contrast"}


def test_axe_sees_all_that_touches_a_text(unguarded: Chrome, pages: Pages) -> None:
    """It is shown a part of the page (page_axe.py): also a box from elsewhere under a text, links in a text, and what is in a dialog."""
    show(unguarded, pages.empty)
    unguarded.execute_script(
        """
        const paragraph = (place, html) => {
          const made = document.querySelector(place).appendChild(document.createElement('p'));
          made.innerHTML = html;
          return made;
        };
        paragraph('footer', 'A text and <a href="#" data-fault="link" style="color: #224; text-decoration: none">a link</a> in it')
          .style.color = '#222';
        const text = paragraph('footer', '<span data-fault="over a box">Over a box</span>').firstChild;
        Object.assign(text.style, {position: 'relative', zIndex: 1, color: 'white', display: 'inline-block'});
        const {x, y, width, height} = text.getBoundingClientRect();
        window.box = document.body.appendChild(document.createElement('div'));
        Object.assign(box.style, {position: 'absolute', left: `${x + scrollX}px`, top: `${y + scrollY}px`, width: `${width}px`,
          height: `${height}px`, background: '#222', zIndex: 0});
        paragraph('#drawer', '<span data-fault="in a dialog" style="color: #ccc">A pale text</span>');
        """
    )
    assert _faults(unguarded) == {("link-in-text-block", "link")}
    unguarded.execute_script("box.style.background = '#ddd'")
    assert _faults(unguarded) == {("link-in-text-block", "link"), ("color-contrast", "over a box")}
    unguarded.execute_script("document.getElementById('drawer').showModal()")
    assert _faults(unguarded) == {("link-in-text-block", "link"), ("color-contrast", "in a dialog")}


def _faults(browser: Chrome) -> set[tuple[str, str]]:
    found = [line for line in findings(browser) if "data-fault" in line]
    return {(line.partition(":")[0], line.partition('data-fault="')[2].partition('"')[0]) for line in found}


@pytest.mark.parametrize("name", ["hostile", "large"])
def test_names_roles_and_headings_are_there_for_a_screen_reader(browser: Chrome, pages: Pages, name: str) -> None:
    show(browser, getattr(pages, name))
    open_everything(browser)
    faults = browser.execute_script(
        """
        const all = (selector) => [...document.querySelectorAll(selector)];
        const show = (what) => (one) => what + ': ' + one.outerHTML.slice(0, 120);
        const levels = all('h1, h2, h3, h4').map((one) => Number(one.tagName[1]));
        const ids = all('[id]').map((one) => one.id);
        return [
          ...all('[tabindex]').filter((one) => one.tabIndex > 0).map(show('own tab order')),
          ...all('th').filter((one) => !one.scope).map(show('no scope')),
          ...all('table').filter((one) => !one.caption?.textContent.trim()).map(show('no caption')),
          ...levels.filter((level, place) => place && level > levels[place - 1] + 2).map((level) => 'skips to level ' + level),
          ...ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => 'twice: ' + id),
          ...(levels.filter((level) => level === 1).length === 1 ? [] : ['not one h1']),
          ...(document.documentElement.lang && document.title && all('main').length === 1 ? [] : ['no language, title or main']),
        ];
        """
    )
    assert faults == []


def test_a_client_opens_by_keyboard_with_its_proof_and_closes(browser: Chrome, pages: Pages) -> None:
    show(browser, f"{pages.example}#clients")
    link = next(one for one in browser.find_elements(By.CSS_SELECTOR, FIRST) if one.text == "pykafka")
    link.send_keys(Keys.ENTER)
    drawer = browser.find_element(By.ID, "drawer")
    until(browser, drawer.is_displayed)
    assert "client=" in browser.current_url
    text = drawer.text
    for part in ("pykafka", "Fetch v1", "Packet 1,818 of examples/upgrade-fleet.pcap.gz", "shop.queue", "g-pk", "Connections"):
        assert part.replace("examples/", "") in text.replace(str(pages.reports["example"].coverage.files[0].name), "upgrade-fleet.pcap.gz")
    assert 5 <= len(drawer.find_elements(By.CSS_SELECTOR, ".sequence li:not(.gap)")) <= 15
    assert drawer.find_elements(By.CSS_SELECTOR, ".sequence .proof")
    drawer.find_element(By.CSS_SELECTOR, "[data-copy-near]").send_keys(Keys.ENTER)
    until(browser, lambda: copied(browser) == "ip.addr == 127.0.0.1 && tcp.port == 40583 && tcp.port == 19092")
    address = browser.current_url
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    until(browser, lambda: not drawer.is_displayed())
    assert "client=" not in browser.current_url
    show(browser, address)  # the link of a row opens it again
    until(browser, lambda: browser.find_element(By.ID, "drawer-title").text == "pykafka")


def test_the_whole_page_is_reached_with_tab_alone(browser: Chrome, pages: Pages) -> None:
    """Tab leads forward through the page, and the slash to the search of clients."""
    show(browser, pages.example)
    keys = ActionChains(browser)
    places: list[float] = []
    for _ in range(25):
        keys.send_keys(Keys.TAB).perform()
        places.append(browser.execute_script("const b = document.activeElement.getBoundingClientRect(); return b.y + scrollY"))
    assert browser.execute_script("return document.activeElement !== document.body")
    assert places[-1] > places[2]
    keys.send_keys("/").perform()
    assert browser.execute_script("return document.activeElement.id") == "client-search"


@pytest.mark.parametrize("chart", ["#summary .picture", "#libraries .picture", "#topics .picture", "#traffic .strips"])
def test_the_values_of_a_chart_are_read_with_the_arrow_keys(browser: Chrome, pages: Pages, chart: str) -> None:
    show(browser, pages.example)
    index = browser.execute_script(
        "const all = [...document.querySelectorAll(arguments[0] + ' svg.chart')];"
        "return all.findIndex((one) => one.getBoundingClientRect().width > 0)", chart,
    )  # fmt: skip
    svg = browser.find_elements(By.CSS_SELECTOR, f"{chart} svg.chart")[index]
    titles = browser.execute_script("return [...arguments[0].querySelectorAll('.mark title')].map((one) => one.textContent)", svg)
    assert titles
    assert all(titles)
    browser.execute_script("arguments[0].focus()", svg)
    heard = []
    for _ in titles[:3]:
        ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
        heard.append(browser.find_element(By.ID, "said").get_attribute("textContent"))
    assert heard == titles[:3]
    assert browser.find_element(By.CSS_SELECTOR, ".tip").text == titles[: len(heard)][-1]


def test_a_finger_on_a_mark_shows_its_value(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.example, PHONE)
    place = browser.execute_script(
        "const mark = [...document.querySelectorAll('#summary .mark')].find((one) => one.getBoundingClientRect().width > 0);"
        "mark.scrollIntoView({block: 'center'}); const b = mark.getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2, mark.querySelector('title').textContent]"
    )
    touch = [{"x": place[0], "y": place[1]}]
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": touch})
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    until(browser, lambda: browser.find_element(By.CSS_SELECTOR, ".tip").text == place[2])


def test_time_is_zoomed_with_its_handles_and_by_dragging(browser: Chrome, pages: Pages) -> None:
    show(browser, f"{pages.example}#traffic")
    strip = browser.find_element(By.CSS_SELECTOR, "[data-zoom] svg.strip")

    def window() -> list[float]:
        return [float(number) for number in (strip.get_dom_attribute("viewBox") or "").split()]

    whole = window()
    first = browser.find_element(By.CSS_SELECTOR, '[data-axis="from"]').text
    browser.find_element(By.CSS_SELECTOR, "[data-zoom-from]").send_keys(Keys.ARROW_RIGHT * 15)
    assert window()[0] == pytest.approx(whole[2] / 4)
    assert browser.find_element(By.CSS_SELECTOR, '[data-axis="from"]').text > first
    views = browser.execute_script("return [...new Set([...document.querySelectorAll('[data-zoom] svg.strip')].map((one) =>"
                                   "one.getAttribute('viewBox').split(' ').filter((_, n) => n !== 3).join(' ')))]")  # fmt: skip
    assert len(views) == 1
    browser.find_element(By.CSS_SELECTOR, "[data-zoom-all]").send_keys(Keys.ENTER)
    assert window() == whole
    ActionChains(browser).move_to_element_with_offset(strip, 0, 0).click_and_hold().move_by_offset(200, 0).release().perform()
    until(browser, lambda: window()[2] < whole[2] / 2)


def test_light_and_dark_are_chosen_and_kept(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.example, scheme="light")
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = browser.execute_script(ground)
    browser.find_element(By.CSS_SELECTOR, '[data-theme-choice="dark"]').send_keys(Keys.ENTER)
    dark = browser.execute_script(ground)
    assert dark != light
    show(browser, pages.example, scheme="light")
    assert browser.execute_script(ground) == dark
    browser.find_element(By.CSS_SELECTOR, '[data-theme-choice="auto"]').send_keys(Keys.ENTER)
    assert browser.execute_script(ground) == light
    show(browser, pages.example, scheme="dark")
    assert browser.execute_script(ground) == dark
    browser.find_element(By.CSS_SELECTOR, '[data-theme-choice="light"]').send_keys(Keys.ENTER)
    assert browser.execute_script(ground) == light
    browser.find_element(By.CSS_SELECTOR, '[data-theme-choice="auto"]').send_keys(Keys.ENTER)


def test_one_page_is_printed_before_the_details(browser: Chrome, pages: Pages) -> None:
    """The first sheet holds the answer, who acts, the fixes and the picture; the second begins with the action items."""
    show(browser, pages.example)
    sheet = {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69}
    whole = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", sheet)["data"])
    sheets = max(int(number) for number in re.findall(rb"/Count (\d+)", whole))
    assert 2 < sheets <= 12
    browser.execute_script("document.querySelector('main').remove(); document.querySelector('footer').remove()")
    summary = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", sheet)["data"])
    assert max(int(number) for number in re.findall(rb"/Count (\d+)", summary)) == 1
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not any(shown(browser, selector) for selector in ("nav", ".theme", ".tools", "#coverage"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_print_says_what_it_leaves_out_and_repeats_headings_with_their_text(browser: Chrome, pages: Pages) -> None:
    """Chromium paints no button in a heading that it repeats; rows that only offer details say nothing on paper."""
    show(browser, pages.example)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    note = "return getComputedStyle(document.querySelector('[data-more=client-table]'), '::after').content"
    assert browser.execute_script(note) == '"More clients are on the page and in the tables."'
    buttons = "return [...new Set([...document.querySelectorAll('thead .sort')].map((one) => getComputedStyle(one).display))]"
    assert browser.execute_script(buttons) == ["contents"]
    assert "Details" not in shown(browser, "#client-table summary")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_without_a_script_the_pictures_and_reasons_are_there(browser: Chrome, pages: Pages) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show(browser, pages.example)
        charts = browser.find_elements(By.CSS_SELECTOR, "svg.chart")
        assert sum(chart.is_displayed() for chart in charts) > 10
        assert browser.find_element(By.CSS_SELECTOR, "#summary .for-narrow svg.chart .mark").size["height"] > 5
        reasons = browser.find_element(By.CSS_SELECTOR, "#client-table details")
        reasons.find_element(By.TAG_NAME, "summary").click()
        assert "Wireshark filter" in reasons.text
        assert not browser.find_element(By.CSS_SELECTOR, ".theme").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_nothing_moves_for_those_who_want_no_motion(browser: Chrome, pages: Pages) -> None:
    show(browser, pages.hostile)
    prefer(browser, reduced_motion="reduce")
    moving = browser.execute_script(
        "return [...document.querySelectorAll('*')].map((one) => getComputedStyle(one)).filter((style) =>"
        "parseFloat(style.transitionDuration) > 0 || style.animationName !== 'none' || style.scrollBehavior === 'smooth').length"
    )
    assert moving == 0
