"""Tables: reading of captures into rows of Arrow tables."""

from __future__ import annotations

from kwire.tables.flowing_rows import iter_capture, iter_pieces
from kwire.tables.schemas import ROW_TABLES, SCHEMAS
from kwire.tables.series_rows import SeriesRows, SeriesView, from_capture, iter_series, read_series

__all__ = ["ROW_TABLES", "SCHEMAS", "SeriesRows", "SeriesView", "from_capture", "iter_capture", "iter_pieces", "iter_series", "read_series"]
