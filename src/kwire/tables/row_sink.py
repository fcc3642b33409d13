"""Rows of streams: each TCP connection gets a `DirectionDetector`, whose events become rows.

A row of `requests` or `violations` is made at its event, without its client key, because the client may send its name later. The key is
taken from the connection's row at the end (`kwire.tables.series_rows`). Rows do not depend on the ends of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa

from kwire.capture.secrets_blocks import SecretsBlock
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import Endpoint, TcpConnection
from kwire.capture.tls.opening import TlsOpening
from kwire.capture.tls.session_keys import SeriesKeys, current_tls_options
from kwire.protocol.events import (
    Asked,
    BrokersLearned,
    ConnectionSummary,
    Event,
    GroupStep,
    MessageSeen,
    MetricsPushed,
    RequestCompleted,
    TopicsNamed,
    TopicsUsed,
    VersionsLearned,
    ViolationFound,
)
from kwire.protocol.expected_errors import is_error
from kwire.protocol.row_columns import REQUEST_COLUMNS, Body, columns_from
from kwire.protocol.tracking.direction_detection import DirectionDetector
from kwire.schema import error_name
from kwire.tables import first_events
from kwire.tables.client_keys import client_key
from kwire.tables.column_builder import ColumnBuilder
from kwire.tables.columns import CONNECTION_COLUMNS, SUMMARY_COLUMNS, in_order
from kwire.tables.encrypted_connection import EncryptedConnection
from kwire.tables.facts import SeriesFacts
from kwire.tables.impl import row_batches
from kwire.tables.observed_rows import ObservedRows, TopicSums
from kwire.tables.request_logs.exchange_kinds import LOGGED_COLUMNS
from kwire.tables.schemas import CONNECTIONS, MESSAGE_FRAMES, REQUESTS
from kwire.tables.violation_rows import ViolationRows

__all__ = ["PACKET_BITS", "RowSink", "StreamRows", "FileCounts", "Tracked", "answers_unseen", "begun_of", "tracked_on"]

# A packet is known by its file and its number there; both travel through the protocol rules as one integer.
PACKET_BITS: Final = 40
_PACKET_MASK: Final = (1 << PACKET_BITS) - 1

_API_VERSIONS: Final = 18
_UNSUPPORTED_VERSION: Final = 35


# The columns of a row of `requests` out of a stream, in the order in which `RowSink` gives them: as they stand in the event, times, and
# what the sink knows itself.
_OF_STATE: Final = tuple(each.name for each in REQUEST_COLUMNS if each.source == "state" or isinstance(each.source, Body))
_OF_TIMES: Final = columns_from(REQUEST_COLUMNS, "time")
_GIVEN: Final = (*_OF_STATE, *_OF_TIMES, *columns_from(REQUEST_COLUMNS, "writer"))
_STATE: Final = attrgetter(*_OF_STATE)
_TIMES: Final = attrgetter(*_OF_TIMES)
_SUMMARY: Final = attrgetter(*SUMMARY_COLUMNS)


class FileCounts:
    """Sums for a file's row in `captures`, over the connections that begin in it and the requests sent in it."""

    __slots__ = (
        "bytes_decrypted", "bytes_lost", "bytes_opaque", "connections", "joined_late", "one_way", "refused", "requests", "unanswered",
        "unseen",
    )  # fmt: skip

    def __init__(self) -> None:
        self.connections = self.refused = self.joined_late = self.one_way = 0
        self.requests = self.unanswered = self.unseen = 0
        self.bytes_lost = self.bytes_opaque = self.bytes_decrypted = 0


class Tracked:
    __slots__ = ("begun", "connection_id", "detector", "early", "refused", "server", "tls_opening", "topics", "unsupported")

    def __init__(self, detector: DirectionDetector | EncryptedConnection, begun: int) -> None:
        self.detector = detector
        self.tls_opening: TlsOpening | None = None
        self.begun = begun
        self.connection_id: str | None = None
        self.server: Endpoint | None = None
        self.early: list[Event] = []
        self.topics = TopicSums()
        # The first request that nothing came back for, since the last answer: what the server hung up on, if it did.
        self.refused: tuple[int, int | None, int | None] | None = None
        self.unsupported: dict[tuple[int | None, int | None], int] = {}

    def client_key(self, connection: TcpConnection, summary: ConnectionSummary | None = None) -> str:
        known = self.detector.summary() if summary is None else summary
        client = connection.b if self.server == connection.a else connection.a
        address = known.proxied_address.rpartition(":")[0] if known.proxied_address else client.address
        return client_key(known.software_name, known.software_version, known.client_id, known.principal, address)


def tracked_on(connection: TcpConnection) -> Tracked | None:
    """Return the state of a connection; None if it has ended, is ignored, or has only its first events stored."""
    found = connection.attachment
    if not isinstance(found, Tracked):
        found = getattr(found, "tracked", None)  # the native twin's: kwire.tables._native.bulk.TrackedStream
    return found if isinstance(found, Tracked) else None


def begun_of(kept: object) -> int | None:
    """Return the first packet of a connection, with its file, from its attachment; None if its streams are ignored."""
    if isinstance(kept, bytes):
        return first_events.place_of(kept) if kept else None
    found = kept if isinstance(kept, Tracked) else getattr(kept, "tracked", None)
    return found.begun if isinstance(found, Tracked) else None


class StreamRows:
    """Rows of requests and connections of streams, for the pure backend; the native one is `RowBatches`."""

    def __init__(self, sink: RowSink) -> None:
        self._sink = sink
        self._builders = {"requests": ColumnBuilder(REQUESTS, given=_GIVEN), "connections": ColumnBuilder(CONNECTIONS)}

    def add_request(self, connection_id: str | None, event: RequestCompleted) -> None:
        """Add the row of a request; its packet number includes the number of its file."""
        file, packet = event.packet_number >> PACKET_BITS, event.packet_number & _PACKET_MASK
        index, code = event.request_index, event.error_code
        self._builders["requests"].add(
            (
                *_STATE(event), *map(_us, _TIMES(event)), self._sink.series, self._sink.files[file], connection_id,
                index if index >= 0 else None, None if code is None else error_name(code), is_error(event.api_key, code), packet,
            )
        )  # fmt: skip

    def add_connection(self, row: Sequence[Any]) -> None:
        self._builders["connections"].add(row)

    def take(self, table: str, *, whole: bool) -> list[pa.RecordBatch]:
        return self._builders[table].take(whole=whole)

    def settle(self, counts: list[FileCounts]) -> None:
        """Do nothing, because the counts of the sink are up to date."""


class RowSink(StreamSink):
    """Builder of the rows of a series' streams.

    Additional rows of exchanges, and topic names in `facts`, are made only with `observing`; otherwise the native reader skips them.
    """

    def __init__(self, series: str, ports: frozenset[int], observing: bool = True, asked: Asked | None = None) -> None:
        self.series = series
        self.ports = ports
        self.observing = observing
        self.asked = asked
        self.facts = SeriesFacts()
        self.observed = ObservedRows(series)
        self.files: list[str] = []
        self.counts: list[FileCounts] = []
        self.violations = ViolationRows()
        self.tls = SeriesKeys(current_tls_options())
        self._begin_rows()

    def _begin_rows(self) -> None:
        self.messages = ColumnBuilder(MESSAGE_FRAMES)
        self.rows = row_batches(self) or StreamRows(self)
        self.logged = ColumnBuilder(REQUESTS, given=LOGGED_COLUMNS)

    @property
    def stream_sink(self) -> object:
        """Sink of the streams for a native `SeriesCarry`; None for the pure backend."""
        return None if isinstance(self.rows, StreamRows) else self.rows

    def take(self, table: str, *, whole: bool) -> list[pa.RecordBatch]:
        """Remove and return the full batches of `requests` or `connections`; with `whole`, also the remaining rows."""
        made: list[pa.RecordBatch] = self.rows.take(table, whole=whole)
        return made + self.logged.take(whole=whole) if table == "requests" else made

    def settle(self) -> None:
        self.rows.settle(self.counts)

    def begin_file(self, name: str) -> None:
        self.tls.use(current_tls_options())
        self.files.append(name)
        self.counts.append(FileCounts())

    def forget_file(self) -> None:
        """Remove the last file, which was unreadable."""
        del self.files[-1], self.counts[-1]

    # What the capture room says.

    def take_secrets(self, block: SecretsBlock) -> None:
        self.tls.take_block(block)

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        if self.ports and connection.a.port not in self.ports and connection.b.port not in self.ports:
            connection.ignored = True
            return
        connection.attachment = first_events.begin(self._packet(packet), connection.opened_by)

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        place = self._packet(packet)
        kept = connection.attachment
        is_late = connection.opened_by is not None and connection.flows[direction].isn is None
        if isinstance(kept, bytes) and not is_late:
            more = first_events.with_data(kept, connection.opened_by, direction, data, time_ns, place)
            if more is not None:
                connection.attachment = more
                return
        tracked = self._tracked(connection)
        if is_late:
            self._begin_late(tracked, direction)
        self._data(connection, tracked, direction, data, time_ns, place)

    def _tracked(self, connection: TcpConnection) -> Tracked:
        kept = connection.attachment
        if not isinstance(kept, bytes):
            assert isinstance(kept, Tracked)
            return kept
        begun, opened_by, events = first_events.replay(kept)
        detector = DirectionDetector(connection.a.port, connection.b.port, ports=self.ports or None, asked=self.asked)
        connection.attachment = tracked = Tracked(detector, begun)
        tracked.tls_opening = TlsOpening(opened_by is None)
        if opened_by is not None:
            self._emit(connection, tracked, detector.opened(opened_by, connection.first_ns, begun))
        for direction, data, reset, time_ns, place in events:
            if data is None:
                self._closed(connection, tracked, direction, reset, time_ns, place)
            else:
                self._data(connection, tracked, direction, data, time_ns, place)
        return tracked

    def _data(self, connection: TcpConnection, tracked: Tracked, direction: int, data: bytes, time_ns: int, place: int) -> None:
        if tracked.tls_opening is not None:
            self._look_for_tls(connection, tracked, direction, data, time_ns, place)
        if events := tracked.detector.receive(direction, data, time_ns, place):
            known = tracked.detector.connection
            if known is not None and not known.received["response"]:
                answers_unseen(events)  # so many wait, and the server has not said a word
            self._emit(connection, tracked, events)

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        tracked = self._tracked(connection)
        tracked.tls_opening = None  # what is lost may be a hello: without it nothing can be deciphered
        if events := tracked.detector.lost(direction, count, time_ns, self._packet(packet), cut=cut):
            self._emit(connection, tracked, events)

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        kept, place = connection.attachment, self._packet(packet)
        more = first_events.with_closed(kept, direction, reset, time_ns, place) if isinstance(kept, bytes) else None
        if more is None:
            self._closed(connection, self._tracked(connection), direction, reset, time_ns, place)
        else:
            connection.attachment = more

    def _closed(self, connection: TcpConnection, tracked: Tracked, direction: int, reset: bool, time_ns: int, place: int) -> None:
        if events := tracked.detector.closed(direction, reset, time_ns, place):
            self._emit(connection, tracked, events)

    def ended(self, connection: TcpConnection) -> None:
        if connection.attachment is None:
            return
        tracked = self._tracked(connection)
        detector = tracked.detector
        events = detector.finish(connection.last_ns)
        assert detector.server_side is not None
        if not connection.flows[detector.server_side].packets:
            answers_unseen(events)
        self._emit(connection, tracked, events)
        summary = detector.summary()
        if _was_refused(connection):
            summary.state = "reset"  # also where the capture has the refusal before the SYN
        self._connection_row(connection, tracked, summary)
        self._refusals(tracked, summary)
        if tracked.connection_id is not None:
            self.violations.over(tracked.connection_id)
        connection.attachment = None

    def _begin_late(self, tracked: Tracked, direction: int) -> None:
        known = tracked.detector.connection
        if known is not None and not known.received["response" if direction == tracked.detector.server_side else "request"]:
            tracked.detector.begins_late(direction)

    def _look_for_tls(self, connection: TcpConnection, tracked: Tracked, side: int, data: bytes, t: int, packet: int) -> None:
        opening = tracked.tls_opening
        assert opening is not None
        verdict = opening.take(side, data, t, packet)
        if verdict is None:
            return
        tracked.tls_opening = None
        if verdict:
            assert isinstance(tracked.detector, DirectionDetector)
            ports = connection.a.port, connection.b.port
            tracked.detector = EncryptedConnection(tracked.detector, self.tls, ports, self.asked)
            tracked.detector.catch_up(opening.before)

    # From events to rows.

    def _packet(self, packet: int) -> int:
        return len(self.files) - 1 << PACKET_BITS | packet

    def _emit(self, connection: TcpConnection, tracked: Tracked, events: list[Event]) -> None:
        if tracked.connection_id is None:
            side = tracked.detector.server_side
            if side is None:
                tracked.early += events
                return
            self._name(connection, tracked, side)
        for event in events:
            self.take_event(tracked, event)

    def _name(self, connection: TcpConnection, tracked: Tracked, server_side: int) -> None:
        ends = (connection.a, connection.b)
        tracked.server, client = ends[server_side], ends[1 - server_side]
        tracked.connection_id = f"{tracked.server.address}:{tracked.server.port}-{client.address}:{client.port}-{connection.n}"
        early, tracked.early = tracked.early, []
        for event in early:
            self.take_event(tracked, event)

    def take_event(self, tracked: Tracked, event: Event) -> None:
        """Process an event; it uses only id, server, beginning and sums of `tracked`."""
        if isinstance(event, RequestCompleted):
            self._request_row(tracked, event)
        elif isinstance(event, ViolationFound):
            self.take_violation(tracked.connection_id, event)
        elif isinstance(event, VersionsLearned):
            assert tracked.server is not None
            self.facts.learn_versions(f"{tracked.server.address}:{tracked.server.port}", event)
        elif isinstance(event, BrokersLearned):
            self.facts.learn_nodes(event)
        elif isinstance(event, TopicsUsed):
            tracked.topics.add(event)
        elif isinstance(event, TopicsNamed):
            self.facts.learn_topics(event)
        elif isinstance(event, MessageSeen):
            assert tracked.connection_id is not None
            row = event.row
            self.message(
                tracked.connection_id, row.request_index, row.correlation_id, row.client_id, row.software_name, row.software_version,
                row.principal, event.time, event.packet_number, event.stream_offset, event.payload,
            )  # fmt: skip
        elif isinstance(event, GroupStep | MetricsPushed):
            assert tracked.connection_id is not None
            capture = self.files[tracked.begun >> PACKET_BITS]
            if isinstance(event, GroupStep):
                self.observed.step(capture, tracked.connection_id, event)
            else:
                self.observed.metrics(capture, tracked.connection_id, event)

    def _request_row(self, tracked: Tracked, event: RequestCompleted) -> None:
        index, key, version, state, code = event.request_index, event.api_key, event.api_version, event.state, event.error_code
        if state != "orphan_response":
            counts = self.counts[event.packet_number >> PACKET_BITS]
            counts.requests += 1
            waiting = tracked.refused
            if state == "answered":
                if waiting is not None and index > waiting[0]:
                    tracked.refused = None
                if code == _UNSUPPORTED_VERSION and key != _API_VERSIONS:
                    tracked.unsupported.setdefault((key, version), index)
            else:
                counts.unanswered += state == "unanswered"
                counts.unseen += state == "unseen"
                if state != "unseen" and (waiting is None or index < waiting[0]):
                    tracked.refused = (index, key, version)
        self.rows.add_request(tracked.connection_id, event)

    def message(
        self, connection_id: str, request_index: int, correlation_id: int | None, client_id: str | None, software_name: str | None,
        software_version: str | None, principal: str | None, time_ns: int, packet: int, offset: int, frame: bytes,
    ) -> None:  # fmt: skip
        """Add a frame of the selected message; `packet` includes the number of its file."""
        self.messages.add(
            (
                self.series, self.files[packet >> PACKET_BITS], connection_id, request_index, correlation_id, client_id, software_name,
                software_version, principal, time_ns // 1000, packet & _PACKET_MASK, offset, frame,
            )
        )  # fmt: skip

    def take_violation(self, connection_id: str | None, event: ViolationFound) -> None:
        if event.rule == "telemetry_cut" and not self.observing:
            return  # nothing of a push is wanted, so nothing of it is left out
        file, packet = event.packet_number >> PACKET_BITS, event.packet_number & _PACKET_MASK
        self.violations.add(
            (
                self.series, self.files[file], connection_id, event.rule, event.severity, None, event.request_index, packet,
                event.stream_offset, event.software_name, event.client_id, event.explanation,
            )
        )  # fmt: skip

    def _connection_row(self, connection: TcpConnection, tracked: Tracked, summary: ConnectionSummary) -> None:
        file = tracked.begun >> PACKET_BITS
        flows = connection.flows
        counts = self.counts[file]
        counts.connections += 1
        counts.refused += _was_refused(connection)
        counts.joined_late += connection.opened_by is None
        counts.one_way += not (flows[0].packets and flows[1].packets)
        seen = [flow for flow in flows if flow.packets]  # of a direction that is not there at all nothing is lost
        counts.bytes_lost += sum(flow.bytes_lost for flow in seen)
        counts.bytes_opaque += summary.bytes_opaque
        counts.bytes_decrypted += summary.bytes_decrypted
        server = tracked.server
        assert server is not None
        assert tracked.connection_id is not None
        self.observed.end(tracked.connection_id, tracked.topics)
        client = connection.b if server == connection.a else connection.a
        self.rows.add_connection(
            in_order(
                CONNECTION_COLUMNS,
                {
                    "series": self.series, "capture": self.files[file], "connection_id": tracked.connection_id,
                    "client_key": tracked.client_key(connection, summary), "client_address": client.address, "client_port": client.port,
                    "server_address": server.address, "server_port": server.port, "first_seen": _us(connection.first_ns),
                    "last_seen": _us(connection.last_ns), "gaps": sum(flow.gaps for flow in seen),
                    "bytes_cut": flows[0].bytes_cut + flows[1].bytes_cut,
                    "retransmissions": flows[0].retransmissions + flows[1].retransmissions,
                    **dict(zip(SUMMARY_COLUMNS, _SUMMARY(summary), strict=True)),
                },
            )
        )  # fmt: skip

    def _refusals(self, tracked: Tracked, summary: ConnectionSummary) -> None:
        assert tracked.connection_id is not None
        assert tracked.server is not None
        server = f"{tracked.server.address}:{tracked.server.port}"
        if tracked.refused is not None and summary.closed_by == "server":
            self.facts.refusals.append((tracked.connection_id, server, *tracked.refused, "disconnected"))
        for (key, version), index in tracked.unsupported.items():
            self.facts.refusals.append((tracked.connection_id, server, index, key, version, "unsupported_version"))


def answers_unseen(events: list[Event]) -> None:
    """Mark requests as unseen, because the server's direction is not in the capture."""
    for event in events:
        if isinstance(event, RequestCompleted) and event.state in ("unanswered", "abandoned"):
            event.state = "unseen"
        elif isinstance(event, TopicsUsed) and event.direction == "fetch":
            event.uses = [use._replace(unseen=True) for use in event.uses]


def _us(time_ns: int | None) -> int | None:
    return None if time_ns is None else time_ns // 1000


def _was_refused(connection: TcpConnection) -> bool:
    """Return whether only a RST answered the SYN, as for a closed port. Such a connection counts as silent and reset."""
    return connection.refused and connection.opened_by is not None
