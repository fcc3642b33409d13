"""Text from the wire made safe to display.

Client ids, software names and everything derived from them are chosen by whoever connects: they hold HTML, terminal escape sequences,
newlines, characters that turn the reading direction or have no width. Each such character is shown as the escape that Python would print.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from kwire.escaped_text import escape_of, is_seen, printable

__all__ = ["LONGEST_SHOWN", "SENTENCE", "visible", "visible_html"]

LONGEST_SHOWN: Final = 160
"""Maximum of characters shown of one value; Kafka allows 32,767 in a client id."""

SENTENCE: Final = 2_000
"""Maximum of characters shown of a sentence of kwire with values in it."""


def _shorten(text: str, longest: int) -> tuple[str, str]:
    return (text, "") if len(text) <= longest else (text[: longest - 20], f"… ({len(text):,} characters)")


def visible(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Make text safe for a terminal or an attribute: it cannot move the cursor, break the line or turn the reading direction."""
    shown, rest = _shorten(text, longest)
    return printable(shown) + rest


@lru_cache(maxsize=8192)
def visible_html(text: str, longest: int = LONGEST_SHOWN) -> Markup:
    """Make text safe for a page: escaped, isolated in its reading direction, invisible characters set apart as escapes."""
    shown, rest = _shorten(text, longest)
    if not shown.strip(" "):
        what = "empty" if not shown else "one space" if len(shown) == 1 else f"{len(shown)} spaces"
        return Markup('<span class="none">({})</span>').format(what)
    if is_seen(shown) and not rest:
        return Markup("<bdi>{}</bdi>").format(shown)
    parts: list[Markup] = []
    plain: list[str] = []
    for character in shown:
        code = escape_of(character)
        if code is None:
            plain.append(character)
            continue
        parts.append(escape("".join(plain)))
        plain.clear()
        parts.append(Markup('<span class="code">{}</span>').format(code))
    parts.append(escape("".join(plain)))
    tail = Markup('<span class="none">{}</span>').format(rest) if rest else Markup("")
    return Markup("<bdi>") + Markup("").join(parts) + Markup("</bdi>") + tail
