"""Clients known only from a log of deprecated requests.

Kafka's request logger at level INFO writes only requests of deprecated versions (KIP-896). Such a log does not show a client's other
requests, so there are no totals of the client, and no verdict is `compatible`.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import with_columns
from kwire.analysis.partials import Partial

__all__ = ["DEPRECATED_ONLY", "partly_seen", "without_ok", "without_totals"]

DEPRECATED_ONLY: Final = "request_log_deprecated"

_TOTALS: Final = ("connections", "requests", "errors", "request_bytes", "response_bytes")
_CAVEAT: Final = " The request log holds deprecated requests alone, so what else the client does was not seen."


def partly_seen(partial: Partial) -> frozenset[str]:
    sources: dict[str, set[str]] = {}
    for part in partial["sources"].to_pylist():
        sources.setdefault(part["client_key"], set()).add(part["source"])
    return frozenset(key for key, found in sources.items() if found == {DEPRECATED_ONLY})


def without_totals(clients: pa.Table, keys: frozenset[str]) -> pa.Table:
    if not keys:
        return clients
    known = pc.invert(_is_in(clients, keys))
    blank = {name: pc.if_else(known, clients.column(name), pa.scalar(None, clients.schema.field(name).type)) for name in _TOTALS}
    return with_columns(clients, blank)


def without_ok(impact: pa.Table, keys: frozenset[str]) -> pa.Table:
    if not keys:
        return impact
    mine: Any = pc.and_(_is_in(impact, keys), pc.equal(impact.column("verdict"), pa.scalar("compatible")))
    caveat: Any = _CAVEAT
    nothing: Any = ""
    reasons = pc.binary_join_element_wise(impact.column("reason"), caveat, nothing)
    changed: dict[str, Any] = {"verdict": pa.scalar("unknown"), "confidence": pa.scalar("low"), "reason": reasons}
    return with_columns(impact, {name: pc.if_else(mine, values, impact.column(name)) for name, values in changed.items()})


def _is_in(table: pa.Table, keys: frozenset[str]) -> Any:
    return pc.is_in(table.column("client_key"), value_set=pa.array(sorted(keys), pa.string()))
