"""State of a TLS connection: its bytes and, with secrets, the Kafka connection inside.

`EncryptedConnection` replaces a `DirectionDetector`. The original detector still gets the bytes of the wire, counts them and detects the
sides; a second one gets the plaintext and makes the rows.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kwire.capture.tls.connection import TlsConnection
from kwire.capture.tls.findings import findings
from kwire.capture.tls.opening import Chunk
from kwire.capture.tls.plaintext import Missing, Output
from kwire.capture.tls.session_keys import SeriesKeys
from kwire.protocol.events import Asked, ConnectionSummary, Direction, Event, ViolationFound
from kwire.protocol.rules import RULES, explain
from kwire.protocol.tracking.connection import Connection
from kwire.protocol.tracking.direction_detection import DecidedBy, DirectionDetector
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["UNKNOWN_LOSS", "EncryptedConnection", "Ending", "tls_violations"]

# A loss of unknown size: longer than what is left of any frame, so that the next border is sought.
UNKNOWN_LOSS: Final = MAX_FRAME + 8


class Ending(NamedTuple):
    state: str
    closed_by: str | None
    software_name: str | None
    client_id: str | None


class EncryptedConnection:
    """Connection inside TLS, with the methods of `DirectionDetector` that rows need."""

    __slots__ = ("_asked", "_first", "_has_next", "_is_done", "_keys", "_ports", "plain", "subject", "tls", "wire")

    def __init__(self, wire: DirectionDetector, keys: SeriesKeys, ports: tuple[int, int], asked: Asked | None) -> None:
        self.wire = wire
        self.tls = TlsConnection()
        self.plain: DirectionDetector | None = None
        self._keys = keys
        self._ports = ports
        self._asked = asked
        self.subject: str | None = None
        self._is_done = False
        self._first: list[Output] = []  # of the first bytes
        self._has_next = False  # the next bytes are the last of them

    @property
    def server_side(self) -> int | None:
        """Side of the server; the sender of a ClientHello is the client."""
        return self.wire.server_side

    @property
    def decided_by(self) -> DecidedBy | None:
        return self.wire.decided_by

    @property
    def connection(self) -> Connection | None:
        return self.wire.connection

    def begins_late(self, side: int) -> None:
        self.wire.begins_late(side)
        self.tls.begins_late(side)

    def catch_up(self, chunks: list[Chunk]) -> None:
        """Process the first bytes, which `wire` has already; the last of them follow in the next call of `receive`."""
        for chunk in chunks:
            self._first += self.tls.receive(self._keys, *chunk)
        self._has_next = True

    def receive(self, side: int, data: bytes, t: int, packet: int = 0) -> list[Event]:
        events = self.wire.receive(side, data, t, packet)
        if self._has_next:
            self._has_next = False
            first, self._first = self._first, []
            return events + self._give(first, t, packet)
        return events + self._give(self.tls.receive(self._keys, side, data, t, packet), t, packet)

    def lost(self, side: int, n: int, t: int, packet: int = 0, *, cut: bool = False) -> list[Event]:
        events = self.wire.lost(side, n, t, packet, cut=cut)
        return events + self._give(self.tls.lose(self._keys, side, n, t, packet, cut), t, packet)

    def closed(self, side: int, reset: bool, t: int, packet: int = 0) -> list[Event]:
        events = self.wire.closed(side, reset, t, packet)
        return events if self.plain is None else events + self.plain.closed(side, reset, t, packet)

    def finish(self, t: int) -> list[Event]:
        if not self._is_done:
            self.tls.end(self._keys)
        events = self.wire.finish(t)
        if self.plain is not None:
            events += self.plain.finish(t)
        return events + self._violations(t)

    def _give(self, outputs: list[Output], t: int, packet: int) -> list[Event]:
        events: list[Event] = []
        client = self.tls.client_side
        if client is None:
            return events
        if self.wire.server_side is None:
            events += self.wire.opened(client, t, packet)
        for output in outputs:
            if self.plain is None:
                self.plain = DirectionDetector(*self._ports, asked=self._asked, proven=True)
                events += self.plain.opened(client, t, packet)
            if self.tls.subject != self.subject and self.tls.subject is not None:
                self.subject = self.tls.subject
                connection = self.plain.connection
                assert connection is not None
                connection.authenticated(self._keys.principals.principal(self.subject))
            if isinstance(output, Missing):
                events += self._lose(self.plain, output)
            else:
                events += self.plain.receive(output.side, output.data, output.time, output.packet)
        return events

    def _lose(self, plain: DirectionDetector, missing: Missing) -> list[Event]:
        if missing.size is not None:
            return plain.lost(missing.side, missing.size, missing.time, missing.packet, cut=missing.cut)
        events = plain.lost(missing.side, UNKNOWN_LOSS, missing.time, missing.packet, cut=missing.cut)
        # The frame that this broke seems to end here; when it did is not known, so a loss behind it leaves no latency.
        return events + plain.lost(missing.side, 1, missing.time, missing.packet)

    def _violations(self, t: int) -> list[Event]:
        if self._is_done:
            return []
        self._is_done = True
        known = self.summary()
        ending = Ending(known.state, known.closed_by, known.software_name, known.client_id)
        return tls_violations(self.tls, ending, self.server_side, t)

    def summary(self) -> ConnectionSummary:
        wire, tls = self.wire.summary(), self.tls
        found = wire
        if self.plain is not None:
            found = self.plain.summary()
            found.state, found.closed_by = wire.state, wire.closed_by
            found.proxied_address = found.proxied_address or wire.proxied_address
            found.bytes_opaque += tls.opaque_bytes
            found.bytes_decrypted = tls.decrypted_bytes
        found.tls_version, found.tls_cipher, found.tls_sni, found.tls_alpn = tls.shown_version, tls.cipher, tls.server_name, tls.alpn
        found.tls_ja3, found.tls_ja4 = tls.fingerprints
        found.tls_client_subject, found.tls_decrypted = tls.subject, tls.decrypted
        return found


def tls_violations(tls: TlsConnection, ending: Ending, server: int | None, t: int) -> list[Event]:
    found: list[Event] = []
    for each in findings(tls, ending.state, ending.closed_by):
        direction: Direction = "response" if each.side is not None and each.side == server else "request"
        rule = RULES[each.rule]
        found.append(
            ViolationFound(
                rule=each.rule, severity=rule.severity, direction=direction, request_index=None, packet_number=each.packet,
                stream_offset=0, time=each.time or t, software_name=ending.software_name, client_id=ending.client_id,
                explanation=explain(each.rule, **each.facts),
            )
        )  # fmt: skip
    return found
