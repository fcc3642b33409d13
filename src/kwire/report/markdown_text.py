"""Text from the wire made safe in Markdown (GitHub's dialect, and what trackers make of it).

A value from the wire always stands in a code span: there neither HTML nor links, mentions or emphasis work. A sentence of ours may quote
such a value; it is left as it is only while it consists of characters that mean nothing to Markdown, and is a code span otherwise.
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
    """A value from the wire as a code span; what cannot be seen is written as an escape."""
    shown = visible(text) if longest is None else visible(text, longest)
    if not shown.strip(" "):
        return "(empty)" if not shown else "(blank)"
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def codes(values: Iterable[str], most: int = 5) -> str:
    """Values from the wire beside each other; beyond `most` they are counted."""
    listed = list(values)
    shown = ", ".join(map(code, listed[:most]))
    return shown + (f" and {len(listed) - most:,} more" if len(listed) > most else "")


def words(sentence: str) -> str:
    """A sentence of ours that may quote the wire; blanks around it, which may mean something at the beginning of a line, are left out."""
    sentence = sentence.strip(" ")
    if _HARMLESS.fullmatch(sentence) and not _LINKS.search(sentence):
        return sentence
    return code(sentence, SENTENCE)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are Markdown already. A bar within a cell, which would end it, is written as its escape."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    for row in rows:
        cells = [cell.replace("|", "\\x7c") for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
