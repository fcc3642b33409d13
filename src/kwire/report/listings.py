"""Lists of a page as data, rendered by one template."""

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
    """Table of text, which is escaped when rendered; `noun` is the plural noun for its rows."""

    id: str
    title: str
    lead: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    nothing: str
    noun: str

    @property
    def filled(self) -> list[int]:
        """Columns that have a value in any row."""
        return [place for place in range(len(self.columns)) if any(row[place] for row in self.rows)]
