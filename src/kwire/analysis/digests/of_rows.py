"""Digest of the tables of rows: connections, requests, violations, telemetry, and the clients of listed topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kwire.analysis.columns import aggregated, flat
from kwire.analysis.digests.of_topics import named_topics
from kwire.analysis.digests.tables import EVIDENCE_COLUMNS, FRAME_COLUMNS, USE_COLUMNS, Digest, merge_digests, schema_of, shaped
from kwire.analysis.digests.wanted import Wanted
from kwire.analysis.row_sums import codes_of
from kwire.tables.schemas import BOOL, LONG, TEXT, TIME

__all__ = ["AFTER", "BEFORE", "BINS", "DIGESTED_COLUMNS", "HEAD", "NO_TIMES", "OF_SPAN", "TIME_COLUMNS", "UNKNOWN", "RowDigest"]

pc: Any = pyarrow.compute  # its stubs know neither numbers nor texts as arguments

BINS: Final = 60
"""Number of equal intervals in which open connections are counted."""
UNKNOWN: Final = "unknown library"
NO_CLIENT: Final = {
    "kafka": "no request read",
    "tls": "TLS",
    "http": "HTTP",
    "ssh": "SSH",
    "silent": "no data sent",
    "proxy": "no data sent",
}
"""Labels of connections without a client, by their protocol."""
TLS_RULES: Final = ("tls_handshake_failed", "tls_certificate_expired", "tls_version_old", "tls_keys_do_not_fit")
_UNREAD: Final = ("no_keys", "failed")
HEAD, BEFORE, AFTER = 4, 6, 3  # requests shown of a connection: its first ones, and those around the proof: 14 at most
_WAITING: Final = 64  # digests of batches that are put together at once

DIGESTED_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "violations": ("rule", "severity", "count", *FRAME_COLUMNS),
    "telemetry": (
        "client_id", "software_name", "software_version", "client_instance_id", "connection_id", "principal", "metric", "time",
    ),
    "connections": (
        "client_key", "connection_id", "first_seen", "last_seen", "state", "protocol", "server_address", "server_port", "node_id",
        "client_address", "client_port", "request_bytes", "response_bytes", "gaps", "bytes_cut", "auth_failures", "attempted_principal",
        "tls_version", "tls_decrypted", "tls_sni", "tls_ja4",
    ),
    "topic_access": USE_COLUMNS,
    "requests": EVIDENCE_COLUMNS,
}  # fmt: skip
"""Columns of each table; tables are added in this order."""
TIME_COLUMNS: Final = ("client_key", "protocol", "first_seen", "last_seen")
OF_SPAN: Final = ("open_connections", "open_span")
"""Tables that change with the span of the analysis."""
NO_TIMES: Final = schema_of("part_times").empty_table()


class RowDigest:
    """Digest of rows of tables. Violations and telemetry come before the connections that they name."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._parts: list[Digest] = []
        self._rule_connections: list[pa.Table] = []
        self._named: list[pa.Table] = []
        self._pushers: list[pa.Table] = []
        self._take: Mapping[str, Callable[[pa.Table], Digest]] = {
            "violations": self._violations,
            "telemetry": self._telemetry,
            "connections": self._connections,
            "topic_access": self._topic_access,
            "requests": self._requests,
        }

    def add(self, name: str, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            self._parts.append(self._take[name](pa.Table.from_batches([batch])))
            if len(self._parts) > _WAITING:
                self._parts = [merge_digests(self._parts, self._wanted.limits)]

    def add_times(self, batch: pa.RecordBatch) -> None:
        """Add only the times of connections, `TIME_COLUMNS`, to those of open connections; a digest without them is known."""
        if batch.num_rows and self._wanted.span is not None:
            rows = pa.Table.from_batches([batch]).combine_chunks()
            self._parts.append({"open_connections": self._open(rows, pc.fill_null(rows.column("protocol"), "unknown"))})

    def add_part_times(self, part: str, batch: pa.RecordBatch) -> None:
        """Note between which times connections of a part begin and end."""
        rows = pa.Table.from_batches([batch]).combine_chunks()
        rows = rows.filter(pc.and_(pc.is_valid(rows.column("first_seen")), pc.is_valid(rows.column("last_seen"))))
        columns = {f"{name}_{end}": rows.column(f"{name}_seen") for name in ("first", "last") for end in ("low", "high")}
        protocol, ones = pc.fill_null(rows.column("protocol"), "unknown"), pa.array(np.ones(len(rows), np.int64))
        found = shaped("part_times", rows, part=_repeat(part, len(rows)), protocol=protocol, connections=ones, **columns)
        self._parts.append(merge_digests([{"part_times": found}], self._wanted.limits))

    def add_known_times(self, times: pa.Table) -> set[str]:
        """Add the connections of parts in which those of a client begin in one interval and end in one; return the names of these parts."""
        if self._wanted.span is None or not len(times):
            return set()
        times = times.combine_chunks()
        steps = {name: self._steps(times.column(name)) for name in ("first_low", "first_high", "last_low", "last_high")}
        apart = (steps["first_low"] != steps["first_high"]) | (steps["last_low"] != steps["last_high"])
        divided = pc.unique(times.column("part").filter(pa.array(apart)))
        times = times.filter(pc.invert(pc.is_in(times.column("part"), value_set=divided)))
        keys, protocol, first, last, count = (
            times.column(name) for name in ("client_key", "protocol", "first_low", "last_low", "connections")
        )
        self._parts.append({"open_connections": self._opened(keys, protocol, first, last, count)})
        return set(pc.unique(times.column("part")).to_pylist())

    def result(self) -> Digest:
        return merge_digests([*self._parts, self._rules(), self._span()], self._wanted.limits)

    def _span(self) -> Digest:
        if self._wanted.span is None:
            return {}
        start, end = (pa.array([time], TIME) for time in self._wanted.span)
        return {"open_span": shaped("open_span", what=pa.array(["connections"]), start=start, end=end)}

    # Connections.

    def _connections(self, rows: pa.Table) -> Digest:
        rows = rows.combine_chunks()
        asked, answered = (pc.fill_null(rows.column(name), 0) for name in ("request_bytes", "response_bytes"))
        protocol: Any = pc.fill_null(rows.column("protocol"), "unknown")
        is_kafka = pc.equal(protocol, "kafka")
        amount = pc.add(asked, answered)
        one_way = pc.and_(pc.greater(amount, 0), pc.equal(pc.multiply(pc.sign(asked), pc.sign(answered)), 0))
        ones = pa.array(np.ones(len(rows), np.int64))
        tls: Any = pc.or_(pc.is_valid(rows.column("tls_version")), pc.equal(protocol, "tls"))
        found: Digest = {
            "streams": shaped(
                "streams", protocol=protocol, state=pc.fill_null(rows.column("state"), "unknown"), connections=ones, tls=tls.cast(LONG)
            ),
            "listeners": shaped(
                "listeners",
                rows,
                connections=ones,
                kafka=is_kafka.cast(LONG),
                opaque=pc.if_else(is_kafka, 0, amount),
                one_way=one_way.cast(LONG),
                late=pc.equal(pc.fill_null(rows.column("state"), ""), "joined_late").cast(LONG),
            ),
            "refusals": _refusals(rows, protocol),
            "unread": self._unread(rows, amount),
            "client_connections": self._client_connections(rows),
            "handshakes": self._handshakes(rows),
        }
        if self._wanted.span is not None:
            found["open_connections"] = self._open(rows, protocol)
        if self._pushers:
            found["push_sources"] = self._push_sources(rows)
        reduced = merge_digests([found], self._wanted.limits)
        return {name: table for name, table in reduced.items() if len(table)}

    def _open(self, rows: pa.Table, protocol: Any) -> pa.Table:
        timed: Any = pc.and_(pc.is_valid(rows.column("first_seen")), pc.is_valid(rows.column("last_seen")))
        ones = pa.array(np.ones(pc.sum(timed).as_py() or 0, np.int64))
        keys, protocol, first, last = (
            column.filter(timed) for column in (rows.column("client_key"), protocol, rows.column("first_seen"), rows.column("last_seen"))
        )
        return self._opened(keys, protocol, first, last, ones)

    def _opened(self, keys: Any, protocol: Any, first: Any, last: Any, count: Any) -> pa.Table:
        at = pc.index_in(keys, value_set=self._wanted.libraries.column("client_key").combine_chunks())
        library = pc.fill_null(self._wanted.libraries.column("library").take(at), UNKNOWN)
        words: Any = pa.chunked_array(_chunks(protocol), TEXT).combine_chunks().dictionary_encode()
        said = pa.array(
            [NO_CLIENT.get(one, "unknown protocol" if one == "unknown" else f"protocol {one}") for one in words.dictionary.to_pylist()],
            TEXT,
        )
        label = pc.if_else(pc.is_valid(keys), library, said.take(words.indices))
        zeros = pa.array(np.zeros(len(label), np.int64))
        return pa.concat_tables(
            [
                shaped("open_connections", library=label, step=pa.array(self._steps(first)), begun=count, ended=zeros),
                shaped("open_connections", library=label, step=pa.array(self._steps(last) + 1), begun=zeros, ended=count),
            ]
        )

    def _steps(self, times: Any) -> Any:
        """Return the intervals of the span in which times lie."""
        assert self._wanted.span is not None
        first, last = (pa.scalar(time, TIME).cast(LONG).as_py() for time in self._wanted.span)
        return np.clip((times.cast(LONG).to_numpy() - first) * BINS // max(last - first, 1), 0, BINS - 1)

    def _unread(self, rows: pa.Table, amount: Any) -> pa.Table:
        chosen: Any = pc.is_in(rows.column("tls_decrypted"), value_set=pa.array(_UNREAD))
        ones = pa.array(np.ones(len(rows), np.int64))
        return shaped("unread", rows, listener=_listeners(rows), connections=ones, bytes=amount).filter(chosen)

    def _client_connections(self, rows: pa.Table) -> pa.Table:
        return shaped("client_connections", rows.filter(pc.is_in(rows.column("client_key"), value_set=self._wanted.clients)))

    def _handshakes(self, rows: pa.Table) -> pa.Table:
        if not self._named:
            return schema_of("handshakes").empty_table()
        told, at = _of_connections(self._named, rows)
        of_connection = {name: rows.column(name).take(at) for name in ("client_address", "last_seen", "tls_version", "tls_sni", "tls_ja4")}
        return shaped("handshakes", told, **of_connection, listener=_listeners(rows).take(at))

    def _push_sources(self, rows: pa.Table) -> pa.Table:
        told, at = _of_connections(self._pushers, rows)
        address: Any = rows.column("client_address").take(at)
        port: Any = rows.column("client_port").take(at).cast(TEXT)
        value: Any = pc.binary_join_element_wise(address, pc.fill_null(port, "None"), pa.scalar(":"))
        return shaped("push_sources", told, what=_repeat("address", len(told)), value=value).filter(pc.is_valid(value))

    # Violations.

    def _violations(self, rows: pa.Table) -> Digest:
        rows = rows.combine_chunks()
        times: Any = pc.fill_null(rows.column("count"), 1)  # one row may stand for many; earlier releases had one row each
        kind = {"severity": pc.fill_null(rows.column("severity"), "info"), "rule": pc.fill_null(rows.column("rule"), "unnamed")}
        ones = pa.array(np.ones(len(rows), np.int64))
        by_connection = pa.table({**kind, "connection_id": rows.column("connection_id")})
        self._rule_connections.append(_different([by_connection]))
        if len(self._rule_connections) > _WAITING:
            self._rule_connections = [_different(self._rule_connections)]
        of_tls = pc.is_in(rows.column("rule"), value_set=pa.array(TLS_RULES))
        named = pa.table({name: rows.column(name) for name in ("connection_id", "rule", "explanation")} | {"times": times}).filter(of_tls)
        if len(named):
            self._named.append(aggregated(named, ["connection_id", "rule", "explanation"], [("times", "sum")]))
        clients = shaped("rule_clients", **kind, client_id=rows.column("client_id"), times=times).filter(
            pc.is_valid(rows.column("client_id"))
        )
        found = {
            "rules": shaped("rules", **kind, times=times, rows=ones, connections=pa.array(np.zeros(len(rows), np.int64))),
            "rule_clients": clients,
            "rule_frames": shaped("rule_frames", rows, **kind),
        }
        return merge_digests([found], self._wanted.limits)

    def _rules(self) -> Digest:
        if not self._rule_connections:
            return {}
        different = _different(self._rule_connections)
        different = different.filter(pc.not_equal(pc.fill_null(different.column("connection_id"), ""), ""))
        zeros = pa.array(np.zeros(len(different), np.int64))
        ones = pa.array(np.ones(len(different), np.int64))
        return {"rules": shaped("rules", different, times=zeros, rows=zeros, connections=ones)}

    # Telemetry.

    def _telemetry(self, rows: pa.Table) -> Digest:
        rows = rows.combine_chunks()
        name, version = (pc.fill_null(rows.column(column), "") for column in ("software_name", "software_version"))
        pusher = {
            "client_id": _or(rows.column("client_id"), "without a name"),
            "software": pc.utf8_trim_whitespace(pc.binary_join_element_wise(name, version, " ")),
            "client_instance_id": pc.fill_null(rows.column("client_instance_id"), ""),
        }
        who = list(pusher)
        points = pa.table({**pusher, "metric": rows.column("metric"), "time": rows.column("time")})
        sums = points.group_by(who).aggregate(
            [("metric", "count"), ("metric", "count_distinct", pc.CountOptions("only_valid")), ("time", "max")]
        )
        sources = pa.table({**pusher, "value": rows.column("principal")}).filter(pc.is_valid(rows.column("principal")))
        connections = pa.table({**pusher, "connection_id": rows.column("connection_id")})
        self._pushers.append(_different([connections]))
        return {
            "pushes": shaped(
                "pushes",
                sums,
                points=sums.column("metric_count"),
                metrics=sums.column("metric_count_distinct"),
                time=sums.column("time_max"),
            ),
            "push_sources": shaped("push_sources", sources, what=_repeat("principal", len(sources))),
        }

    # Topics and requests.

    def _topic_access(self, rows: pa.Table) -> Digest:
        rows = rows.combine_chunks()
        topic, topic_id = named_topics(rows)
        topics = self._wanted.topics
        pairs = pa.table(
            {
                "topic": pa.chunked_array([*topics.column("topic").chunks, *_chunks(topic)], TEXT),
                "topic_id": pa.chunked_array([*topics.column("topic_id").chunks, *_chunks(topic_id)], TEXT),
            }
        )
        numbers, _ = codes_of(*(pairs.column(name).combine_chunks() for name in ("topic", "topic_id")))
        chosen = pa.array(np.isin(numbers[len(topics) :], numbers[: len(topics)]))
        uses = shaped("topic_uses", rows, topic=topic, topic_id=topic_id)
        return merge_digests([{"topic_uses": uses.filter(chosen)}], self._wanted.limits)

    def _requests(self, rows: pa.Table) -> Digest:
        findings = self._wanted.findings
        ids = pc.unique(findings.column("connection_id"))
        rows = rows.filter(
            pc.and_(pc.is_in(rows.column("connection_id"), value_set=ids), pc.is_valid(rows.column("request_index")))
        ).combine_chunks()
        centre = np.full(len(ids), -1_000)
        at = pc.index_in(findings.column("connection_id"), value_set=ids).to_numpy()
        index = findings.column("request_index").to_numpy()
        shown = findings.column("is_shown").cast(BOOL).to_numpy()
        centre[at[shown]] = index[shown]
        place: Any = pc.index_in(rows.column("connection_id"), value_set=ids).to_numpy().astype(np.int64)
        number = rows.column("request_index").to_numpy()
        around = number - centre[place]
        is_shown = (centre[place] >= 0) & ((number < HEAD) | ((around >= -BEFORE) & (around <= AFTER)))
        keep = is_shown | np.isin(place << 40 | number, at.astype(np.int64) << 40 | index)
        return {"evidence": shaped("evidence", rows).filter(pa.array(keep))}


def _different(tables: Sequence[pa.Table]) -> pa.Table:
    return aggregated(pa.concat_tables(tables), tables[0].column_names)


def _of_connections(tables: Sequence[pa.Table], rows: pa.Table) -> tuple[pa.Table, Any]:
    told = pa.concat_tables(tables)
    at: Any = pc.index_in(told.column("connection_id"), value_set=flat(rows, "connection_id"))
    known = pc.is_valid(at)
    return told.filter(known), at.filter(known)


def _chunks(column: Any) -> list[Any]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _or(column: Any, missing: str) -> Any:
    text: Any = pc.fill_null(column, "")
    return pc.if_else(pc.equal(text, pa.scalar("")), pa.scalar(missing), text)


def _repeat(text: str, count: int) -> Any:
    return pa.repeat(pa.scalar(text), count)


def _listeners(rows: pa.Table) -> Any:
    address: Any = pc.fill_null(rows.column("server_address"), "?")
    port: Any = pc.fill_null(rows.column("server_port"), 0).cast(TEXT)
    joined: Any = pc.binary_join_element_wise(address, port, pa.scalar(":"))
    return joined


def _refusals(rows: pa.Table, protocol: Any) -> pa.Table:
    failed = rows.filter(pc.greater(pc.fill_null(rows.column("auth_failures"), 0), 0))
    principal: Any = pc.fill_null(failed.column("attempted_principal"), "")
    named = pc.binary_join_element_wise("authentication failed as ", principal, "")
    reason = pc.if_else(pc.equal(principal, ""), "authentication failed", named)
    reset = rows.filter(pc.and_(pc.equal(pc.fill_null(rows.column("state"), ""), "reset"), pc.equal(protocol, "silent")))
    once, unread = pa.array(np.ones(len(reset), np.int64)), _repeat("connection refused or reset before a byte", len(reset))
    return pa.concat_tables(
        [
            shaped("refusals", failed, reason=reason, times=failed.column("auth_failures")),
            shaped("refusals", reset, reason=unread, times=once),
        ]
    )
