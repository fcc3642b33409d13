"""Names in code and pages are the field's: words that stood for something else here, and were renamed, do not come back.

`lane` was a tracker or its fast path, `recipe` a field plan, `desk` callbacks, `hop` a fast skip, `conversation` direction detection,
`stranger` a foreign protocol, `oddity` an anomaly. Names are read word by word: `LaneSeries` and `lane_rows` are both found.

In the tracker, names in code alone are held to more: `place` was an ordinal, an index, a key, a span and a connection id; `said` a set of
reported rules, a pool of texts and a span; `settle`, `resume`, `patience`, `take_up` and `put_back` were import and export of states.
Comments and docstrings of all of `protocol/` say which part of the protocol acts.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORMER = {
    "lane", "lanes", "recipe", "recipes", "desk", "hop", "hops", "conversation", "conversations", "stranger", "strangers",
    "oddity", "oddities", "handover",
}  # fmt: skip
PHRASES = re.compile(r"\b(?:hand-over|short way|close reading|closely read)\b", re.IGNORECASE)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# The field's own: an IPv6 header, and values of report.json that pages read
ALLOWED = re.compile(r"hop-by-hop|HopByHop|`strangers?`", re.IGNORECASE)
TRACKER_FORMER = {
    "place", "places", "placed", "unplaced", "said", "settle", "settled", "settles", "resume", "resumes", "resumed", "patience",
    "told", "tells", "took_up", "taken_up", "take_up", "put_back",
}  # fmt: skip
PROSE = re.compile(r"\b(?:nobody|whoever|somebody|someone|told|tells?|gone on with|anew)\b", re.IGNORECASE)
TEXT = re.compile(r'"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*')
KINDS = {".py", ".pyi", ".pyx", ".pxd", ".pxi", ".md", ".toml"}
# Lanes are drawn there
NOT_HELD = ROOT / "src" / "kwire" / "report"
HELD = sorted(
    path
    for folder in ("src", "pyx", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in KINDS and not path.is_relative_to(NOT_HELD) and not path.stem.startswith("_types")
)
PROTOCOL = [path for path in HELD if "protocol" in path.parts]
TRACKER = [path for path in PROTOCOL if "pyx" in path.parts or {"tracking", "_native", "_pure"} & set(path.parts)]


def former_names(text: str) -> list[str]:
    """Former words in a text, with a phrase as it stands."""
    text = ALLOWED.sub("", text)
    return [word for word in WORD.findall(text) if word.lower() in FORMER] + PHRASES.findall(text)


def test_sources_and_pages() -> None:
    found = {str(path.relative_to(ROOT)): former_names(path.read_text("utf-8")) for path in HELD}
    assert {path: words for path, words in found.items() if words} == {}


def former_names_of_code(text: str) -> list[str]:
    """Former words of the tracker in names; a name of two words as it stands."""
    names = re.findall(r"[A-Za-z_]\w*", TEXT.sub('""', text))
    return [name for name in names if name in TRACKER_FORMER or {word.lower() for word in WORD.findall(name)} & TRACKER_FORMER]


def test_names_of_the_tracker() -> None:
    found = {str(path.relative_to(ROOT)): former_names_of_code(path.read_text("utf-8")) for path in TRACKER}
    assert len(found) > 60
    assert {path: names for path, names in found.items() if names} == {}


def test_comments_of_the_protocol() -> None:
    found = {str(path.relative_to(ROOT)): PROSE.findall(path.read_text("utf-8")) for path in PROTOCOL}
    assert {path: words for path, words in found.items() if words} == {}


def test_names_of_files() -> None:
    assert [str(path.relative_to(ROOT)) for path in HELD if former_names(path.stem)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cdef struct LaneSeries:", ["Lane"]),
        ("recipe_of(MOST_RECIPES)", ["recipe", "RECIPES"]),
        ("the hand-over of a hop", ["hop", "hand-over"]),
        ("# hop-by-hop options, a plane in the shop of desktop", []),
        ("| `strangers` |", []),
    ],
)
def test_what_is_found(text: str, found: list[str]) -> None:
    assert former_names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("int64_t place  # in the order of sending", ["place"]),
        ("exchange.settled = MOST_PLACES", ["settled", "MOST_PLACES"]),
        ("made.take_up(pure)", ["take_up"]),
        ('x = text.replace("place", "said")  # in place', []),
    ],
)
def test_what_is_found_in_code(text: str, found: list[str]) -> None:
    assert former_names_of_code(text) == found
