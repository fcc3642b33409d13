"""Lists of a page as data: what a table of text says, and how each column is set. One template draws them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Column", "Listing"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `kind` is the class of its cells: text from the wire, numbers, times, or our own words."""

    title: str
    kind: Literal["ids", "number", "time", "words"] = "ids"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A table with its question.

    Attributes:
        id: of the element; unique on the page.
        title: what it lists.
        lead: what a reader should know of it, a sentence.
        columns, rows: the cells as text; text from the wire is escaped when it is drawn.
        nothing: the sentence that stands there without rows.
        noun: what the rows are, in the plural.
    """

    id: str
    title: str
    lead: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    nothing: str
    noun: str
