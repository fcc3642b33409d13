"""Sink in front of another sink, which gets TLS connections with keys as if they were not encrypted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from kwire.capture import impl
from kwire.capture.secrets_blocks import SecretsBlock
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection
from kwire.capture.tls.connection import TlsConnection
from kwire.capture.tls.opening import Chunk, TlsOpening
from kwire.capture.tls.plaintext import Missing, Output
from kwire.capture.tls.session_keys import SeriesKeys
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["LeftOut", "PlaintextSink"]

# Why a connection is left out.
NO_SECRETS: Final = "no secrets in a key log"
WRONG_SECRETS: Final = "secrets that do not fit"
NO_HANDSHAKE: Final = "its handshake is not in the capture"
NO_DATA: Final = "it ended before it brought data"


@dataclass(slots=True)
class LeftOut:
    """Losses of a `PlaintextSink` in ended TLS connections."""

    connections: dict[str, int] = field(default_factory=dict)  # number of connections with nothing decrypted, by reason
    records: int = 0  # protected records of decrypted connections that no key opened, or with missing bytes
    bytes: int = 0  # of all these on the wire

    def add(self, tls: TlsConnection) -> None:
        reason = _reason(tls)
        if reason is not None:
            self.connections[reason] = self.connections.get(reason, 0) + 1
        elif tls.decrypted == "partly":
            self.records += sum(tls.direction(side).unopened for side in range(2))
        self.bytes += tls.opaque_bytes


def _reason(tls: TlsConnection) -> str | None:
    if tls.decrypted in ("yes", "partly"):
        return None if tls.decrypted_bytes else NO_DATA
    if tls.hello is None:
        return NO_HANDSHAKE
    return {"no_keys": NO_SECRETS, "failed": WRONG_SECRETS}.get(tls.decrypted or "", NO_DATA)


class PlaintextSink(StreamSink):
    """Sink for one file that passes on plaintext, and drops TLS connections without keys."""

    def __init__(self, sink: StreamSink, keys: SeriesKeys) -> None:
        self._sink = sink
        self._keys = keys
        self._openings: dict[int, tuple[TlsOpening, list[Chunk]]] = {}  # by identity of the connection
        self._encrypted: dict[int, TlsConnection] = {}
        self._heard: dict[int, set[int]] = {}  # of these, directions that have brought bytes
        self.left_out = LeftOut()

    def take_secrets(self, block: SecretsBlock) -> None:
        self._keys.take_block(block)

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        self._sink.opened(connection, time_ns, packet)
        if not connection.ignored:
            self._openings[id(connection)] = TlsOpening(connection.opened_by is None), []

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        tls = self._encrypted.get(id(connection))
        if tls is not None:
            heard = self._heard[id(connection)]
            if direction not in heard:
                heard.add(direction)
                if connection.opened_by is not None and connection.flows[direction].isn is None:
                    tls.begins_late(direction)  # its SYN is missing, and its first bytes may be missing too
            self._give(connection, tls.receive(self._keys, direction, data, time_ns, packet))
            return
        known = self._openings.get(id(connection))
        if known is None:
            self._sink.data(connection, direction, data, time_ns, packet)
            return
        opening, held = known
        held.append((direction, data, time_ns, packet))
        verdict = opening.take(direction, data, time_ns, packet)
        if verdict:
            del self._openings[id(connection)]
            tls = self._encrypted[id(connection)] = impl.tls_connection()
            self._heard[id(connection)] = {each[0] for each in held}
            for chunk in opening.before:
                self._give(connection, tls.receive(self._keys, *chunk))
        elif verdict is not None:
            self._let_go(connection)

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        tls = self._encrypted.get(id(connection))
        if tls is not None:
            self._give(connection, tls.lose(self._keys, direction, count, time_ns, packet, cut))
            return
        self._let_go(connection)
        self._sink.lost(connection, direction, count, cut, time_ns, packet)

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        self._let_go(connection)
        self._sink.closed(connection, direction, reset, time_ns, packet)

    def ended(self, connection: TcpConnection) -> None:
        self._let_go(connection)
        tls = self._encrypted.pop(id(connection), None)
        if tls is not None:
            self.left_out.add(tls)
        self._heard.pop(id(connection), None)
        self._sink.ended(connection)

    def _let_go(self, connection: TcpConnection) -> None:
        """Pass on bytes of a connection that is not TLS, or of an undecided one at its end."""
        _, held = self._openings.pop(id(connection), (None, []))
        for chunk in held:
            self._sink.data(connection, *chunk)

    def _give(self, connection: TcpConnection, outputs: list[Output]) -> None:
        for output in outputs:
            if isinstance(output, Missing):
                count = 2 * MAX_FRAME if output.size is None else output.size
                self._sink.lost(connection, output.side, count, output.cut, output.time, output.packet)
            else:
                self._sink.data(connection, output.side, bytes(output.data), output.time, output.packet)
