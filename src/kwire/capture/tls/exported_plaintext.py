"""Capture with decrypted connections, as pcapng of exported PDUs, generated while it is read.

Each connection becomes TCP again: SYN, plaintext in its original pieces, FIN or RST. Connections that stay encrypted are omitted. The
plaintext is not written to disk; `kwire.capture.trimming.trim` reads it like a file and blanks it first.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from kwire.capture import impl
from kwire.capture.exported_packets import PCAPNG_HEAD, ExportedTalk
from kwire.capture.reader import iter_piece
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection
from kwire.capture.tls.plaintext_sink import LeftOut, PlaintextSink
from kwire.capture.tls.session_keys import SeriesKeys, current_tls_options

__all__ = ["exported_series"]

_MOST_CUT: Final = 1 << 16  # more than that is written as lost


class _Writer(StreamSink):
    def __init__(self, ports: frozenset[int]) -> None:
        self._ports = ports
        self._talks: dict[int, ExportedTalk] = {}  # by identity of the connection
        self._begun: set[int] = set()  # their handshakes are written
        self.out = bytearray()

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        if self._ports and connection.a.port not in self._ports and connection.b.port not in self._ports:
            connection.ignored = True
            return
        self._talks[id(connection)] = ExportedTalk(connection.a, connection.b)

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        self.out += self._talk(connection).data(direction, bytes(data), time_ns)

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        talk = self._talk(connection)
        self.out += (talk.cut if cut and count <= _MOST_CUT else talk.lost)(direction, count, time_ns)

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        if id(connection) in self._begun:
            self.out += self._talks[id(connection)].closed(direction, time_ns, reset=reset)

    def ended(self, connection: TcpConnection) -> None:
        self._talks.pop(id(connection), None)
        self._begun.discard(id(connection))

    def _talk(self, connection: TcpConnection) -> ExportedTalk:
        """Return the packets of a connection, after its handshake."""
        talk = self._talks[id(connection)]
        if id(connection) not in self._begun:
            self._begun.add(id(connection))
            client = connection.opened_by
            if client is not None:
                answered = connection.flows[1 - client].isn is not None
                self.out += talk.opened(client, connection.first_ns, answered=answered)
        return talk


class _Series:
    def __init__(self, ports: frozenset[int], left_out: LeftOut) -> None:
        self.writer = _Writer(ports)
        self.sink = PlaintextSink(self.writer, SeriesKeys(current_tls_options()))
        self.sink.left_out = left_out
        self.carry = impl.series_carry()

    def read(self, location: str | BinaryIO, last: bool) -> Iterator[bytes]:
        yield PCAPNG_HEAD
        for _ in iter_piece(location, self.carry, self.sink):
            yield self._taken()
        if last:
            self.carry.finish(self.sink)
            yield self._taken()

    def _taken(self) -> bytes:
        made, self.writer.out = bytes(self.writer.out), bytearray()
        return made


class _Parts(io.RawIOBase):
    def __init__(self, parts: Iterator[bytes]) -> None:
        super().__init__()
        self._parts, self._rest = parts, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return b""
            self._rest = part
        size = len(self._rest) if size < 0 else size
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def exported_series(locations: Sequence[str | BinaryIO], ports: frozenset[int], left_out: LeftOut | None = None) -> list[BinaryIO]:
    """Return the files of a series with their encrypted connections decrypted, as streams that must be read in this order.

    Secrets are those of `current_tls_options`, and the captures' own. `left_out` is complete after the last file.

    Raises:
        InputError: when read: a file cannot be read, or is not a capture.
    """
    series = _Series(ports, LeftOut() if left_out is None else left_out)
    last = len(locations) - 1
    return [_Parts(series.read(location, number == last)) for number, location in enumerate(locations)]  # type: ignore[misc]
