"""Lists of a page as data, drawn by one template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Column", "Listing"]


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    kind: Literal["ids", "number", "time", "whole", "words"] = "ids"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A table of text, which is escaped when it is drawn; `noun` is the plural of its rows."""

    id: str
    title: str
    lead: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    nothing: str
    noun: str

    @property
    def filled(self) -> list[int]:
        """The columns that have a value in any row."""
        return [place for place in range(len(self.columns)) if any(row[place] for row in self.rows)]
