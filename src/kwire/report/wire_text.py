"""Text from the wire made safe to look at.

Client ids, software names and everything derived from them are chosen by whoever connects: they hold HTML, terminal escape sequences,
newlines, characters that turn the reading direction or take no room. Each such character is shown as the escape that Python would print.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

__all__ = ["LONGEST_SHOWN", "SENTENCE", "visible", "visible_html"]

LONGEST_SHOWN: Final = 160
"""Characters of one value that are shown; Kafka lets a client id have 32,767."""

SENTENCE: Final = 2_000
"""Characters of a sentence that is shown: ours, with values in it."""

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def _code(character: str) -> str | None:
    """The escape for a character that cannot be seen, None for all others.

    Not printable are controls, format characters (turned reading direction, no width), surrogates, private and unassigned ones, and every
    space but the plain one.
    """
    if character.isprintable():
        return None
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _shorten(text: str, longest: int) -> tuple[str, str]:
    return (text, "") if len(text) <= longest else (text[: longest - 20], f"… ({len(text):,} characters)")


def visible(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Show `text` on a terminal or in an attribute: nothing in it moves the cursor, breaks the line or turns the reading direction.

    Args:
        text: any text from the wire.
        longest: characters shown of it.
    """
    shown, rest = _shorten(text, longest)
    if shown.isprintable():
        return shown + rest
    return "".join(_code(character) or character for character in shown) + rest


@lru_cache(maxsize=8192)
def visible_html(text: str, longest: int = LONGEST_SHOWN) -> Markup:
    """Show `text` on a page: escaped, isolated in its reading direction, what cannot be seen set apart as an escape.

    Args:
        text: any text from the wire.
        longest: characters shown of it.
    """
    shown, rest = _shorten(text, longest)
    if not shown.strip(" "):
        what = "empty" if not shown else "one space" if len(shown) == 1 else f"{len(shown)} spaces"
        return Markup('<span class="none">({})</span>').format(what)
    if shown.isprintable() and not rest:
        return Markup("<bdi>{}</bdi>").format(shown)
    parts: list[Markup] = []
    plain: list[str] = []
    for character in shown:
        code = _code(character)
        if code is None:
            plain.append(character)
            continue
        parts.append(escape("".join(plain)))
        plain.clear()
        parts.append(Markup('<span class="code">{}</span>').format(code))
    parts.append(escape("".join(plain)))
    tail = Markup('<span class="none">{}</span>').format(rest) if rest else Markup("")
    return Markup("<bdi>") + Markup("").join(parts) + Markup("</bdi>") + tail
