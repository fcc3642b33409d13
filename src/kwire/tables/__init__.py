"""Rows: captures in, Arrow tables out."""

from __future__ import annotations

from kwire.tables.schemas import ROW_TABLES, SCHEMAS

__all__ = ["ROW_TABLES", "SCHEMAS"]
