"""Table `client_hourly`: requests of each client to each node by hour, with latency histograms that can be added."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Ints, aggregated, flat
from kwire.analysis.latency_buckets import top_of
from kwire.analysis.partials import PARTS, Partial
from kwire.analysis.row_sums import codes_of
from kwire.tables.schemas import BUCKETS, CLIENT_HOURLY

__all__ = ["client_hourly", "software_of"]

_SOFTWARE: Final = ("software_name", "software_version")
_USE: Final = ("client_key", "server", "api_key", "api_version", "hour")


def client_hourly(partial: Partial) -> pa.Table:
    hourly, latencies = (_of_keys(partial, name) for name in ("hourly", "hourly_latency"))
    both = pa.concat_tables([hourly.select(_USE), latencies.select(_USE)]).combine_chunks()
    numbers, first = codes_of(*(column.combine_chunks() for column in both.columns))
    histograms = _histograms(latencies, numbers[len(hourly) :], len(first))
    found: dict[str, Any] = {name: hourly.column(name) for name in hourly.column_names}
    software = software_of(partial["identities"])
    found |= {name: _looked_up(hourly, "client_key", software, name) for name in _SOFTWARE}
    found["node_id"] = _looked_up(hourly, "server", partial["servers"], "node_id")
    found["latency_histogram"] = histograms.take(pa.array(numbers[: len(hourly)]))
    return pa.table([found[name] for name in CLIENT_HOURLY.names], schema=CLIENT_HOURLY)


def _of_keys(partial: Partial, name: str) -> pa.Table:
    part = PARTS[name]
    keys = [column for column in part.keys if column != "client_id"]
    return aggregated(partial[name], keys, ((column, "sum") for column in part.sums)).sort_by([(column, "ascending") for column in keys])


def _histograms(latencies: pa.Table, numbers: Ints, count: int) -> Any:
    order = np.argsort(numbers, kind="stable")
    buckets, requests = (latencies.column(name).to_numpy().astype(np.int64)[order] for name in ("bucket", "requests"))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))]).astype(np.int32)
    starts: Any = pa.array(offsets)
    kind: Any = BUCKETS.value_type
    rows = pa.StructArray.from_arrays([pa.array(top_of(buckets)), pa.array(requests)], fields=list(kind))
    return pa.ListArray.from_arrays(starts, rows, type=BUCKETS)


def software_of(identities: pa.Table) -> pa.Table:
    last = pc.ScalarAggregateOptions(skip_nulls=False)
    return aggregated(identities, ["client_key"], ((name, "last", last) for name in _SOFTWARE))


def _looked_up(rows: pa.Table, key: str, known: pa.Table, column: str) -> Any:
    at = pc.index_in(rows.column(key), value_set=flat(known, key))
    return known.column(column).take(at)
