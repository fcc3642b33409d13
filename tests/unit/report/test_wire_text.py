"""Text from the wire, as it is shown: nothing in it moves a cursor, breaks a line, turns the reading direction or becomes HTML."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.report.csv_rows import cell_text
from kwire.report.markdown_text import code
from kwire.report.wire_text import LONGEST_SHOWN, visible, visible_html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain-id_1.0", "plain-id_1.0"),
        ("one\ntwo\r\tthree\0", "one\\ntwo\\r\\tthree\\0"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\x9b31m", "\\x9b31m"),  # the one-byte form of ESC [
        ("a\u202eb\u2066c\u200bd\ufeff", "a\\u202eb\\u2066c\\u200bd\\ufeff"),
        ("a\u2028b\xa0c", "a\\u2028b\\xa0c"),
        ("\U000e0041", "\\U000e0041"),  # a tag character: no glyph anywhere
        ("shop\u3164\ufe0f\u034f\uffa0\u2800", "shop\\u3164\\ufe0f\\u034f\\uffa0\\u2800"),
        ("\U000e0100", "\\U000e0100"),
        ("käse 日本 🙂", "käse 日本 🙂"),
    ],
)
def test_characters_that_cannot_be_seen_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


# The lines of Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 17.0.0, joined where they follow each other
IGNORABLE = """
    00AD 034F 061C 115F..1160 17B4..17B5 180B..180F 200B..200F 202A..202E 2060..206F 3164 FE00..FE0F FEFF FFA0 FFF0..FFF8 1BCA0..1BCA3
    1D173..1D17A E0000..E0FFF
"""


def test_no_character_that_unicode_lets_vanish_is_shown() -> None:
    vanishing = {0x2800}
    for entry in IGNORABLE.split():
        first, _, last = entry.partition("..")
        vanishing |= set(range(int(first, 16), int(last or first, 16) + 1))
    assert len(vanishing) == 4174 + 1  # the file gives the number
    for number in vanishing:
        assert visible(f"a{chr(number)}b").isascii(), hex(number)
        assert chr(number) not in visible_html(f"a{chr(number)}b"), hex(number)
        assert chr(number) not in cell_text(f"a{chr(number)}b"), hex(number)
        assert chr(number) not in code(f"a{chr(number)}b"), hex(number)


def test_a_long_text_is_cut_and_says_how_long_it_is() -> None:
    shown = visible("x" * 32_767)
    assert shown.startswith("x" * 100)
    assert shown.endswith("… (32,767 characters)")
    assert len(shown) < LONGEST_SHOWN + 10


def test_empty_and_blank_texts_have_a_name() -> None:
    assert "(empty)" in visible_html("")
    assert "(one space)" in visible_html(" ")
    assert "(3 spaces)" in visible_html("   ")


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_nothing_unseen_is_left(text: str) -> None:
    assert not {unicodedata.category(character) for character in visible(text)} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(max_size=100) | st.sampled_from(["<b>", "</bdi><script>", "&lt;", '"><img src=x onerror=alert(1)>', "<!--", "]]>"]))
def test_html_in_a_text_stays_text(text: str) -> None:
    reader = _Reader()
    reader.feed(str(visible_html(text)))
    reader.close()
    assert {tag for tag, _ in reader.tags} <= {"bdi", "span"}
    assert {tuple(attributes) for _, attributes in reader.tags} <= {(), (("class", "code"),), (("class", "none"),)}
    if text.strip(" "):
        assert reader.text == visible(text)
