"""Analysis of rows: pure functions on Arrow tables, in partial sums that merge exactly.

partial = partial_of_series(rows)        # per series, from `kwire.tables.read_series`
whole = merge([partial, ...])            # any order, any tree; `to_bytes` and `from_bytes` for the way there
tables = finish(whole, options)          # clients, api_usage, upgrade_impact, brokers, captures
"""

from __future__ import annotations

from kwire.analysis.answers import Options, finish
from kwire.analysis.one_process import run
from kwire.analysis.partials import Partial, from_bytes, merge, partial_of_series, to_bytes

__all__ = ["Options", "Partial", "finish", "from_bytes", "merge", "partial_of_series", "run", "to_bytes"]
