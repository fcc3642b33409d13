"""Partial sums of a series as small tables, which can be merged in any order with the same result.

    partial = partial_of_series(rows)          # per task: rows of `kwire.tables.read_series`
    whole = merge([partial, ...])              # driver, or any tree of mergers
    answers = kwire.analysis.finish(whole, options)

A partial is a dictionary of Arrow tables; `to_bytes` and `from_bytes` serialize it for Spark. `PARTS` has the rules of merging.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import aggregated, with_columns
from kwire.analysis.request_sums import RequestSums
from kwire.analysis.row_sums import STEPS, Found, of_topics, ones, steps_of, unnamed_ids
from kwire.tables import SeriesRows, SeriesView
from kwire.tables.node_ids import node_finder
from kwire.tables.schemas import CAPTURES, INT, LONG, TEXT, TIME, TYPES

__all__ = [
    "PARTS", "Part", "Partial", "empty", "from_bytes", "held", "merge", "node_ids", "partial_of_series", "schema_of",
    "to_bytes", "with_server_nodes",
]  # fmt: skip

Partial = dict[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Part:
    """Rules of merging the rows of a partial table.

    Attributes:
        keys: columns that identify a row.
        sums, lows, highs: columns that are added up, or of which the minimum or maximum is kept.
        first: columns taken from the row with the lowest `first_seen`; on a tie, from the row with the lowest values.
    """

    keys: tuple[str, ...]
    sums: tuple[str, ...] = ()
    lows: tuple[str, ...] = ("first_seen",)
    highs: tuple[str, ...] = ("last_seen",)
    first: tuple[str, ...] = ()


_WHO: Final = ("client_key", "client_id")
_TOPIC: Final = (*_WHO, "direction", "topic", "topic_id")
_HOUR: Final = (*_WHO, "server", "api_key", "api_version", "hour")
_COUNTED: Final = (
    "bytes_lost", "bytes_opaque", "bytes_decrypted", "connections", "connections_refused", "joined_late", "one_way", "requests",
    "unanswered", "unseen",
)  # fmt: skip
_CLIENT: Final = pa.scalar("client")
_KAFKA: Final = pa.scalar("apache-kafka-java")
_EVIDENCE: Final = ("evidence_connection_id", "evidence_request_index")

# In `sources`, `openings` and both tables of hours only connections without a name have a client id: what is named never changes its key
# (`kwire.analysis.programs`).
PARTS: Final[dict[str, Part]] = {
    "usage": Part(
        (*_WHO, "software_name", "software_version", "server", "api_key", "api_name", "api_version"),
        ("requests", "errors", "wanted", "answered", "unseen"),
        first=_EVIDENCE,
    ),
    "error_names": Part((*_WHO, "api_key", "api_version", "error_name"), ("requests",), (), ()),
    "latency": Part((*_WHO, "api_key", "api_version", "bucket"), ("requests",), (), ()),
    "identities": Part(
        (*_WHO, "software_name", "software_version", "identity_source", "address", "principal", "role"),
        ("connections", "request_bytes", "response_bytes", "auth_failures", "raw_gssapi"),
    ),
    "refusals": Part((*_WHO, "server", "api_key", "api_version", "refusal"), ("requests",), ("first_seen",), (), _EVIDENCE),
    "advertised": Part(("server", "api_key"), lows=("min_version", "first_seen"), highs=("max_version", "last_seen")),
    "nodes": Part(("node_id", "host", "port"), highs=("rack", "cluster_id", "last_seen")),
    "servers": Part(("server", "node_id"), ("connections",)),
    "members": Part(("client_id", "software_version"), ("connections",), (), ()),  # of the cluster, with the version that they send
    "sources": Part((*_WHO, "source"), ("connections",), (), ()),
    "openings": Part((*_WHO, "protocol", "first_seen"), ("connections",), (), ()),  # by the minute
    "streams": Part(("protocol", "state"), ("connections", "gaps", "bytes_cut"), (), ()),
    "topic_use": Part(
        _TOPIC, ("requests", "errors", "unseen_requests", "records", "batches", "bytes"), highs=("max_batch_bytes", "last_seen")
    ),
    "topic_marks": Part((*_TOPIC, "mark", "value"), ("connections",), (), ()),
    "topic_names": Part(("topic_id", "topic")),
    "group_use": Part((*_WHO, "group_id"), ("requests",), (), ()),
    "hourly": Part((*_HOUR, "api_name"), ("requests", "errors", "connections", "request_bytes", "response_bytes", "throttle_ms"), (), ()),
    "hourly_latency": Part((*_HOUR, "bucket"), ("requests",), (), ()),
    # Each task that reads a share of a series knows all of the file, and counts what belongs to its connections.
    "captures": Part(
        ("series", "capture"), _COUNTED, (), tuple(name for name in CAPTURES.names if name not in ("series", "capture", *_COUNTED))
    ),
}

# Tables whose rows are all kept, with their schemas and what they are sorted by.
KEPT: Final[dict[str, tuple[pa.Schema, tuple[str, ...]]]] = {
    "group_steps": (STEPS, ("group_id", "time", "connection_id", "request_index")),
}

_TYPES: Final[dict[str, pa.DataType]] = {
    **TYPES,
    **dict.fromkeys(("bucket", "min_version", "max_version", "value"), INT),
}


@cache
def schema_of(name: str) -> pa.Schema:
    if name in KEPT:
        return KEPT[name][0]
    if name == "captures":
        return CAPTURES
    part = PARTS[name]
    columns = (*part.keys, *part.sums, *part.lows, *part.highs, *part.first)
    return pa.schema([pa.field(column, LONG if column in part.sums else _TYPES.get(column, TEXT)) for column in columns])


def empty() -> Partial:
    return {name: _no_rows(name) for name in (*PARTS, *KEPT)}


@cache
def _no_rows(name: str) -> pa.Table:
    return schema_of(name).empty_table()


def held(partial: Partial) -> Partial:
    """Return the non-empty tables; `merge` restores the empty ones."""
    return {name: table for name, table in partial.items() if len(table)}


def merge(partials: Iterable[Partial]) -> Partial:
    """Merge partials, which may lack tables; the result has all tables and does not depend on the order."""
    parts = [empty(), *partials]

    def together(name: str) -> pa.Table:
        return pa.concat_tables([part[name] for part in parts if name in part])

    merged = {name: reduce_rows(name, together(name)) for name in PARTS}
    for name, (_schema, order) in KEPT.items():
        merged[name] = together(name).sort_by([(column, "ascending") for column in order])
    merged["captures"] = merged["captures"].sort_by([(column, "ascending") for column in ("series", "start", "capture")])
    return merged


def node_ids(partial: Partial) -> Callable[[str, int], int | None]:
    return node_finder(partial["nodes"])


def with_server_nodes(partial: Partial) -> Partial:
    """Fill in the nodes of servers in merged partials, because a single task does not know them all."""
    node_of, servers = node_ids(partial), partial["servers"]
    places = [str(server).rpartition(":") for server in servers.column("server").to_pylist()]
    nodes = pa.array([node_of(host, int(port)) for host, _, port in places], INT)
    return partial | {"servers": reduce_rows("servers", with_columns(servers, {"node_id": nodes}))}


def reduce_rows(name: str, table: pa.Table) -> pa.Table:
    """Merge the rows of a partial table to one row per key, sorted by its keys."""
    part, schema = PARTS[name], schema_of(name)
    if len(table) < 2:  # most tables of a small capture: to group nothing takes as long as to group a thousand rows
        return table.select(schema.names).cast(schema)
    if part.first:
        table = table.sort_by([(column, "ascending") for column in ("first_seen", *part.first)])
    rules: list[Any] = [
        *((column, "sum") for column in part.sums),
        *((column, "min") for column in part.lows),
        *((column, "max") for column in part.highs),
        *((column, "first", pc.ScalarAggregateOptions(skip_nulls=False)) for column in part.first),
    ]
    if rules:
        table = aggregated(table, part.keys, rules)
    return table.select(schema.names).cast(schema).sort_by([(column, "ascending") for column in part.keys])


def partial_of_series(rows: SeriesRows | SeriesView, requests: RequestSums | None = None) -> Partial:
    """Sum up a series, or the part in a view; without `requests`, sum up the requests too."""
    if requests is None:
        requests = RequestSums(rows)
        for batch in rows.batches("requests"):
            requests.add(batch)
    join = requests.join
    pieces: dict[str, list[pa.Table]] = {name: [_no_rows(name)] for name in PARTS}
    for name, found in chain(requests.found(), _of_connections(rows, requests), of_topics(rows, join)):
        pieces[name].append(_table(name, **found))
    partial = {name: reduce_rows(name, pa.concat_tables(found)) for name, found in pieces.items()}
    partial["captures"] = reduce_rows("captures", rows.captures)
    partial["group_steps"] = steps_of(rows, join)
    return partial


def _of_connections(rows: SeriesRows | SeriesView, requests: RequestSums) -> Iterator[Found]:
    join = requests.join
    table = join.table
    columns: dict[str, Any] = {name: table.column(name) for name in table.column_names}
    columns |= {"address": join.address, "server": join.server, "connections": ones(table)}
    at = pc.index_in(table.column("capture"), value_set=rows.captures.column("capture").combine_chunks())
    columns |= {"source": rows.captures.column("source").take(at), "raw_gssapi": _raw_gssapi(requests)}
    for name in ("identities", "servers", "streams"):
        yield name, columns
    member: Any = pc.and_(pc.not_equal(table.column("role"), _CLIENT), pc.equal(table.column("software_name"), _KAFKA))
    yield "members", {name: columns[name].filter(member) for name in ("client_id", "software_version", "connections")}
    columns |= {"client_id": unnamed_ids(columns)}
    yield "sources", columns
    bare: Any = table.column("first_seen").cast(pa.timestamp("us"))  # in no zone: to round in one takes ten times as long
    yield "openings", columns | {"first_seen": pc.floor_temporal(bare, unit="minute").cast(TIME)}
    for name in ("advertised", "nodes", "topic_names"):
        facts = rows.facts[name]
        yield name, {column: facts.column(column) for column in facts.column_names}
    refusals = rows.facts["refusals"]
    ids = refusals.column("connection_id")
    who, _server = join.look_up(ids)
    yield "refusals", {
        **who, "server": refusals.column("server"), "api_key": refusals.column("api_key"), "api_version": refusals.column("api_version"),
        "refusal": requests.told_apart(refusals), "requests": ones(refusals), "first_seen": join.take("first_seen", ids),
        "evidence_connection_id": ids, "evidence_request_index": refusals.column("request_index"),
    }  # fmt: skip


def _raw_gssapi(requests: RequestSums) -> Any:
    """Count the connections that sent GSSAPI tokens without SaslHandshake, as clients before KIP-43 do."""
    is_gssapi: Any = pc.equal(requests.join.table.column("sasl_mechanism"), pa.scalar("GSSAPI"))
    return pc.and_(is_gssapi.fill_null(False), pa.array(~requests.handshaken)).cast(LONG)


def _table(name: str, **columns: Any) -> pa.Table:
    schema = schema_of(name)
    return pa.table({column: columns[column] for column in schema.names}).cast(schema)


_LENGTH: Final = struct.Struct("<I")


def to_bytes(partial: Partial, compression: Literal["zstd"] | None = "zstd") -> bytes:
    """Serialize a partial: the number of tables, then the name and Arrow IPC stream of each with their lengths.

    It is not compressed, which is much faster for many small columns; the whole is compressed later.
    """
    out = io.BytesIO()
    out.write(_LENGTH.pack(len(partial)))
    for name, table in sorted(partial.items()):
        sink = io.BytesIO()
        # steps of groups repeat their texts: a tenth of the bytes goes through the JVM, and through its heap
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
            writer.write_table(table)
        for part in (name.encode(), sink.getvalue()):
            out.write(_LENGTH.pack(len(part)))
            out.write(part)
    return out.getvalue()


def from_bytes(data: bytes) -> Partial:
    source = io.BytesIO(data)

    def read() -> bytes:
        return source.read(_LENGTH.unpack(source.read(_LENGTH.size))[0])

    count = _LENGTH.unpack(source.read(_LENGTH.size))[0]
    partial: Partial = {}
    for _ in range(count):
        name = read().decode()
        partial[name] = pa.ipc.open_stream(read()).read_all()
    return partial
