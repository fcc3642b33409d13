"""Escaping of text from the wire for Markdown (of GitHub and issue trackers).

A value from the wire is always a code span, in which HTML, links, mentions and emphasis have no effect. A sentence of kwire that may quote
such a value becomes a code span too, unless all its characters are harmless in Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from kwire.report.wire_text import SENTENCE, visible

__all__ = ["code", "codes", "table", "words"]

_HARMLESS: Final = re.compile(r"(?:[A-Za-z0-9 .,;:'()=+/%✓…·-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))*")
_LINKS: Final = re.compile(r"://|www\.", re.IGNORECASE)
_TICKS: Final = re.compile(r"`+")


def code(text: str, longest: int | None = None) -> str:
    """Return a value from the wire as a code span; invisible characters are escaped."""
    shown = visible(text) if longest is None else visible(text, longest)
    if not shown.strip(" "):
        return "(empty)" if not shown else "(blank)"
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def codes(values: Iterable[str], most: int = 5) -> str:
    """Join values from the wire; beyond `most` they are counted."""
    listed = list(values)
    shown = ", ".join(map(code, listed[:most]))
    return shown + (f" and {len(listed) - most:,} more" if len(listed) > most else "")


def words(sentence: str) -> str:
    """Return a sentence that may quote the wire, without surrounding blanks, which may have a meaning at the beginning of a line."""
    sentence = sentence.strip(" ")
    if _HARMLESS.fullmatch(sentence) and not _LINKS.search(sentence):
        return sentence
    return code(sentence, SENTENCE)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; cells are already Markdown. Bars within cells are escaped, because they would end the cell."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    for row in rows:
        cells = [cell.replace("|", "\\x7c") for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
