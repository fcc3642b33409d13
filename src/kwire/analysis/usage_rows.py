"""Rows of `api_usage`, one per client key, client id, api and version, and their facts for verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Ints, aggregated, flat
from kwire.analysis.latency_buckets import quantiles
from kwire.analysis.partials import Partial
from kwire.analysis.row_sums import codes_of
from kwire.analysis.shown_ids import ShownIds
from kwire.analysis.value_lists import lists_of
from kwire.tables.schemas import API_USAGE, INT, LONG, TEXT, TEXTS

__all__ = ["USAGE", "api_usage", "usage_rows"]

USAGE: Final = pa.schema(
    [
        *API_USAGE,
        pa.field("unsupported", LONG),  # requests that were answered with error 35
        pa.field("broker_highest", INT),  # the greatest highest version that a server it was sent to offers
        pa.field("evidence_connection_id", TEXT),  # of the first such request
        pa.field("evidence_request_index", LONG),
    ]
)
"""Rows of `api_usage` with their evidence."""

_TABLES: Final = ("usage", "error_names", "refusals", "latency")
_OF_API: Final = ("api_key", "api_version")
_UNKNOWN: Final = np.iinfo(np.int64).min
_ALIKE: Final = ("client_key", "software_name", "software_version", "api_key", "api_name", "api_version")


def usage_rows(
    partial: Partial,
    refuses: Callable[[str, int, int], bool] = lambda *_: False,
    highest: Mapping[str, Mapping[str, int]] | None = None,
) -> pa.Table:
    """Make the rows of `USAGE`, sorted by client, id, api and version.

    `refuses` returns whether the release of a server (`address:port`) rejects a version of an api.
    """
    shown = ShownIds(partial)
    ids = {name: shown.column(partial[name]) for name in _TABLES}
    numbers, first = _numbers(partial, ids)
    usage = partial["usage"]
    found: dict[str, Any] = {name: usage.column(name).take(first) for name in _ALIKE} | {"client_id": ids["usage"].take(first)}
    size = len(first)
    found |= _sums(usage, numbers["usage"]) | _evidence(usage, numbers["usage"])
    hung_up = _counted(partial["refusals"], numbers["refusals"], _hung_up(partial["refusals"], refuses), size)
    found["errors"] = pc.add(found["errors"], pa.array(hung_up))
    found["disconnects"] = pa.array(hung_up)
    errors = partial["error_names"]
    unnamed: Any = ""
    names: Any = pc.fill_null(flat(errors, "error_name"), unnamed)
    found["error_names"] = lists_of(numbers["error_names"], names, size, TEXTS)
    is_35: Any = pc.equal(names, pa.scalar("UNSUPPORTED_VERSION"))
    found["unsupported"] = pa.array(_counted(errors, numbers["error_names"], is_35.to_numpy(zero_copy_only=False), size))
    found |= _latencies(partial["latency"], numbers["latency"], size)
    found["broker_highest"] = _offered(usage, numbers["usage"], size, highest or {})
    rows = pa.table([found[name] for name in USAGE.names], schema=USAGE)
    keys = rows.select(["client_key", "client_id", *_OF_API]).append_column("named", pc.is_valid(rows.column("client_id")))
    order = ("client_key", "named", "client_id", *_OF_API)  # clients without an id first
    return rows.take(pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in order]))


def api_usage(usage: pa.Table) -> pa.Table:
    return usage.select(API_USAGE.names)


def _numbers(partial: Partial, ids: Mapping[str, Any]) -> tuple[dict[str, Ints], Any]:
    """Assign the same numbers to the rows of the result in all tables, with the first row of each in `usage`; unused ones are last."""
    columns = [
        pa.concat_arrays([flat(partial[name], column) if column != "client_id" else ids[name] for name in _TABLES])
        for column in ("client_key", "client_id", *_OF_API)
    ]
    numbers, first = codes_of(*columns)
    ends = np.cumsum([len(partial[name]) for name in _TABLES])
    of_usage = first[: int(numbers[: ends[0]].max(initial=-1)) + 1]
    return dict(zip(_TABLES, np.split(numbers, ends[:-1]), strict=True)), pa.array(of_usage)


def _sums(usage: pa.Table, numbers: Ints) -> dict[str, Any]:
    rules: list[Any] = [("requests", "sum"), ("errors", "sum"), ("first_seen", "min"), ("last_seen", "max")]
    grouped = aggregated(usage.append_column("row", pa.array(numbers)), ["row"], rules)
    return {name: flat(grouped, name) for name, _ in rules}


def _evidence(usage: pa.Table, numbers: Ints) -> dict[str, Any]:
    """Return the first request of each row; without times, the one of its first part."""
    names = ["evidence_connection_id", "evidence_request_index"]
    timed: Any = pc.is_valid(usage.column("first_seen"))
    dated = usage.select(["first_seen", *names]).append_column("row", pa.array(numbers))
    keys = pa.table({"row": pa.array(numbers), **{name: pc.if_else(timed, usage.column(name), None) for name in ("first_seen", *names)}})
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])  # stable
    rule = pc.ScalarAggregateOptions(skip_nulls=False)
    grouped = aggregated(dated.take(order), ["row"], ((name, "first", rule) for name in names))  # in the order of the rows
    return {name: flat(grouped, name) for name in names}


def _counted(table: pa.Table, numbers: Ints, which: Any, size: int) -> Ints:
    found = np.zeros(size, np.int64)
    chosen = which & (numbers < size)
    np.add.at(found, numbers[chosen], table.column("requests").to_numpy()[chosen])
    return found


def _hung_up(refusals: pa.Table, refuses: Callable[[str, int, int], bool]) -> Any:
    columns = (refusals.column(name).to_pylist() for name in ("refusal", "server", *_OF_API))
    return np.array(
        [
            kind == "disconnected" or (kind == "closed" and key is not None and version is not None and refuses(server, key, version))
            for kind, server, key, version in zip(*columns, strict=True)
        ],
        np.bool_,
    )


def _latencies(latencies: pa.Table, numbers: Ints, size: int) -> dict[str, Any]:
    known = latencies.select(["bucket", "requests"]).append_column("row", pa.array(numbers)).filter(pc.field("row") < size)
    grouped = aggregated(known, ["row", "bucket"], [("requests", "sum")]).sort_by([("row", "ascending"), ("bucket", "ascending")])
    rows, buckets, counts = (grouped.column(name).to_numpy().astype(np.int64) for name in ("row", "bucket", "requests"))
    found = {}
    for name, part in (("latency_p50_us", 0.5), ("latency_p99_us", 0.99)):
        values, nothing = quantiles(rows, buckets, counts, size, part)
        found[name] = pa.array(values, LONG, mask=nothing)
    return found


def _offered(usage: pa.Table, numbers: Ints, size: int, highest: Mapping[str, Mapping[str, int]]) -> Any:
    pairs, first = codes_of(flat(usage, "server"), flat(usage, "api_name"))
    at: Any = pa.array(first)
    chosen = zip(*(usage.column(name).take(at).to_pylist() for name in ("server", "api_name")), strict=True)
    offers = [highest.get(server, {}).get(api, _UNKNOWN) for server, api in chosen]
    found = np.full(size, _UNKNOWN, np.int64)
    if offers:
        np.maximum.at(found, numbers, np.array(offers, np.int64)[pairs])
    return pa.array(found, INT, mask=found == _UNKNOWN)
