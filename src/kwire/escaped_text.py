"""Escapes for invisible characters, for all text that people read: terminal, page, Markdown, CSV and logs of kwire."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["escape_of", "is_seen", "printable"]

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}

# Default_Ignorable_Code_Point of https://www.unicode.org/Public/17.0.0/ucd/DerivedCoreProperties.txt: soft hyphen, joiners, Hangul fillers,
# variation selectors, tags. Python calls some of them printable. The braille pattern without dots, U+2800, has a width and no ink.
_IGNORABLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def is_seen(text: str) -> bool:
    """Return whether all characters are visible or plain spaces."""
    return text.isprintable() and (text.isascii() or _IGNORABLE.search(text) is None)


def escape_of(character: str) -> str | None:
    """Return Python's escape for an invisible character, None for others.

    Invisible are controls, format characters (reading direction, zero width), surrogates, private and unassigned characters, and every
    space except the plain one.
    """
    if is_seen(character):
        return None
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def printable(text: str) -> str:
    """Escape all characters that move the cursor, break the line, change the reading direction or are invisible."""
    return text if is_seen(text) else "".join(escape_of(character) or character for character in text)
