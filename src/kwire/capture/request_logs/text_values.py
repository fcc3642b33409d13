"""Parser of values written by Java's toString methods, into dictionaries, lists and text.

Brokers up to 2.7 log bodies in this form: ``{acks=1,topics=[{topic=a,partitions=[{partition=0}]}]}`` (`Struct`), and from 2.4 on also
``MetadataRequestData(topics=[MetadataRequestTopic(name='a')])`` (generated messages). Texts are not escaped, so a comma or brace in a text
looks like structure; unbalanced values are rejected as a whole, never guessed.
"""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["MAX_DEPTH", "TextFault", "read_value"]

MAX_DEPTH: Final = 40

_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
_NAMED: Final = re.compile(r"[A-Za-z_$][\w$.]*\(")
_KEY: Final = re.compile(r"\s*([A-Za-z_][\w.$-]*)=")
_STOP: Final = re.compile(r"[,\[\]{}()]")


class TextFault(ValueError):
    """Text that no toString method writes."""


def read_value(text: str, at: int = 0) -> tuple[Any, int]:
    """Read a value and return the offset behind it: a dictionary (struct or message), a list, None for ``null``, or text."""
    return _value(text, at, 0)


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if depth > MAX_DEPTH:
        raise TextFault("brackets nest too deep")
    first = text[at : at + 1]
    if first == "{" and text[at + 1 : at + 2] != '"':  # what begins {" is a text that a client chose, JSON in the metadata of an offset
        return _pairs(text, at + 1, "}", depth)
    if first == "[":
        return _elements(text, at + 1, depth)
    if first == "'":
        return _quoted(text, at)
    named = _NAMED.match(text, at)
    if named is not None:
        return _pairs(text, named.end(), ")", depth)
    return _bare(text, at, depth)


def _pairs(text: str, at: int, closing: str, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        if text[at : at + 1] == closing:
            return found, at + 1
        key = _KEY.match(text, at)
        if key is None:
            raise TextFault(f"no name stands at character {at}")
        found[key[1]], at = _value(text, key.end(), depth + 1)
        at = _next(text, at, closing)


def _elements(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        if text[at : at + 1] == "]":
            return found, at + 1
        value, at = _value(text, at, depth + 1)
        found.append(value)
        at = _next(text, at, "]")


def _next(text: str, at: int, closing: str) -> int:
    follows = text[at : at + 1]
    if follows == ",":
        at += 1
        while text[at : at + 1] == " ":
            at += 1
        return at
    if follows != closing:
        raise TextFault(f"neither a comma nor {closing} stands at character {at}")
    return at


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Read a text in single quotes, which may contain single quotes; it ends at a quote before a comma or a bracket."""
    end = at
    while True:
        end = text.find("'", end + 1)
        if end < 0:
            raise TextFault(f"the quote at character {at} does not end")
        if text[end + 1 : end + 2] in (",", "]", "}", ")", ""):
            return text[at + 1 : end], end + 1


def _bare(text: str, at: int, depth: int) -> tuple[str | None, int]:
    """Read a text without quotes, up to the next comma or closing bracket; brackets inside belong to it (``HeapByteBuffer[pos=0 ...]``)."""
    open_brackets: list[str] = []
    position = at
    while True:
        stop = _STOP.search(text, position)
        if stop is None:
            if open_brackets:
                raise TextFault(f"the bracket in the value at character {at} is not closed")
            position = len(text)
            break
        sign, position = stop.group(), stop.start()
        if sign in _CLOSING:
            open_brackets.append(_CLOSING[sign])
            if depth + len(open_brackets) > MAX_DEPTH:
                raise TextFault("brackets nest too deep")
        elif sign == "," and open_brackets:
            pass
        elif open_brackets and sign == open_brackets[-1]:
            open_brackets.pop()
        elif open_brackets:
            raise TextFault(f"the bracket in the value at character {at} is not closed")
        else:
            break
        position += 1
    found = text[at:position]
    return None if found == "null" else found, position
