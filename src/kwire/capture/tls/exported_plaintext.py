"""A capture with its encrypted connections decrypted, as another capture: pcapng of exported PDUs, made while it is read.

Every connection that is read becomes TCP again: SYN, the plaintext in the pieces in which it was sent, FIN or RST. Each packet is an
exported PDU (link type 252) with tags for its addresses and the dissector `tcp`; sequence numbers count plaintext. A connection that stays
encrypted has no packet here. Nothing is written to a disk: `kwire.capture.trimming` reads this as it reads a file, and blanks it first.
"""

from __future__ import annotations

import io
import ipaddress
import struct
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from kwire.capture import impl
from kwire.capture.reader import finish_series, iter_piece
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import Endpoint, TcpConnection
from kwire.capture.tls.plaintext_sink import LeftOut, PlaintextSink
from kwire.capture.tls.session_keys import SeriesKeys, current_tls_options

__all__ = ["exported_series"]

_LINK_EXPORTED: Final = 252
# pcapng: section header, then an interface whose times are nanoseconds (if_tsresol 9)
_HEAD: Final = (
    struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    + struct.pack("<IIHHIHHBxxxHHI", 1, 32, _LINK_EXPORTED, 0, 0, 9, 1, 9, 0, 0, 32)
)  # fmt: skip
_PACKET: Final = struct.Struct("<IIIIIII")
_TCP: Final = struct.Struct(">HHIIBBHHH")
# tags of an exported PDU (Wireshark's wsutil/exported_pdu_tlvs.h)
_TAG_IPV4: Final = (20, 21)
_TAG_IPV6: Final = (22, 23)
_FIN, _SYN, _RST, _PUSH, _ACK = 1, 2, 4, 8, 16
_WORDS: Final = 5 << 4  # a TCP header without options
_WINDOW: Final = 65535
_MOST_PAYLOAD: Final = 1 << 16


class _Talk:
    """What the packets of a connection have said.

    Attributes:
        numbers: next sequence number of each side.
        begun: the handshake is written.
    """

    __slots__ = ("begun", "closed", "numbers")

    def __init__(self) -> None:
        self.numbers = [0, 0]
        self.begun = False
        self.closed: set[tuple[int, bool]] = set()


class _Writer(StreamSink):
    """Makes packets of streams; `out` holds those that were not read yet."""

    def __init__(self, ports: frozenset[int]) -> None:
        self._ports = ports
        self._talks: dict[int, _Talk] = {}  # by identity of the connection
        self.out = bytearray()

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        if self._ports and connection.a.port not in self._ports and connection.b.port not in self._ports:
            connection.ignored = True
            return
        self._talks[id(connection)] = _Talk()

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        talk = self._begun(connection, time_ns)
        for at in range(0, len(data), _MOST_PAYLOAD):
            part = bytes(data[at : at + _MOST_PAYLOAD])
            self._packet(connection, talk, direction, _PUSH | _ACK, part, time_ns)
            talk.numbers[direction] += len(part)

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        talk = self._begun(connection, time_ns)
        if cut and count <= _MOST_PAYLOAD:
            self._packet(connection, talk, direction, _PUSH | _ACK, b"", time_ns, cut=count)
            talk.numbers[direction] += count
            return
        talk.numbers[direction] += count
        self._packet(connection, talk, 1 - direction, _ACK, b"", time_ns)  # it arrived, so no capture will bring it later

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        talk = self._talks.get(id(connection))
        if talk is None or not talk.begun or (direction, reset) in talk.closed:
            return
        talk.closed.add((direction, reset))
        self._packet(connection, talk, direction, _RST | _ACK if reset else _FIN | _ACK, b"", time_ns)
        talk.numbers[direction] += not reset

    def ended(self, connection: TcpConnection) -> None:
        self._talks.pop(id(connection), None)

    def _begun(self, connection: TcpConnection, time_ns: int) -> _Talk:
        talk = self._talks[id(connection)]
        if not talk.begun:
            talk.begun = True
            client = connection.opened_by
            if client is not None:
                self._packet(connection, talk, client, _SYN, b"", connection.first_ns)
                talk.numbers[client] += 1
                if connection.flows[1 - client].isn is not None:  # else the server's first bytes may be missing
                    self._packet(connection, talk, 1 - client, _SYN | _ACK, b"", connection.first_ns)
                talk.numbers[1 - client] += 1
        return talk

    def _packet(
        self, connection: TcpConnection, talk: _Talk, direction: int, flags: int, payload: bytes, time_ns: int, *, cut: int = 0
    ) -> None:
        ends = (connection.a, connection.b)
        source, target = ends[direction], ends[1 - direction]
        seq = talk.numbers[direction] & 0xFFFFFFFF
        ack = talk.numbers[1 - direction] & 0xFFFFFFFF if flags & _ACK else 0
        header = _TCP.pack(source.port, target.port, seq, ack, _WORDS, flags, _WINDOW, 0, 0)
        body = _tags(source, target) + header + payload
        padded = body + bytes(-len(body) % 4)
        size = 32 + len(padded)
        self.out += _PACKET.pack(6, size, 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(body), len(body) + cut)
        self.out += padded + size.to_bytes(4, "little")


def _tags(source: Endpoint, target: Endpoint) -> bytes:
    made = b"\0\x0c\0\x04tcp\0"
    for end, which in ((source, 0), (target, 1)):
        packed = ipaddress.ip_address(end.address).packed
        tag = (_TAG_IPV4 if len(packed) == 4 else _TAG_IPV6)[which]
        made += struct.pack(">HH", tag, len(packed)) + packed
    return made + bytes(4)


class _Series:
    """The state of a series between its files."""

    def __init__(self, ports: frozenset[int], left_out: LeftOut) -> None:
        self.writer = _Writer(ports)
        self.sink = PlaintextSink(self.writer, SeriesKeys(current_tls_options()))
        self.sink.left_out = left_out
        self.carry = impl.series_carry()

    def read(self, location: str | BinaryIO, last: bool) -> Iterator[bytes]:
        """The capture that a file becomes, in parts."""
        yield _HEAD
        for _ in iter_piece(location, self.carry, self.sink):
            yield self._taken()
        if last:
            finish_series(self.carry, self.sink)
            yield self._taken()

    def _taken(self) -> bytes:
        made, self.writer.out = bytes(self.writer.out), bytearray()
        return made


class _Parts(io.RawIOBase):
    """Bytes that come in parts, as a file to be read from its beginning to its end."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        super().__init__()
        self._parts, self._rest = parts, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, empty only at the end."""
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return b""
            self._rest = part
        size = len(self._rest) if size < 0 else size
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def exported_series(locations: Sequence[str | BinaryIO], ports: frozenset[int], left_out: LeftOut | None = None) -> list[BinaryIO]:
    """Give the files of a series with their encrypted connections decrypted, each as a stream that must be read in this order.

    Secrets are those of `current_tls_options`, and the captures' own.

    Args:
        locations: paths, URIs or streams.
        ports: TCP ports where brokers listen; empty for all.
        left_out: what is left out is added to it, while the last file is read.

    Raises:
        InputError: by reading: a file cannot be read, or is no capture.
    """
    series = _Series(ports, LeftOut() if left_out is None else left_out)
    last = len(locations) - 1
    return [_Parts(series.read(location, number == last)) for number, location in enumerate(locations)]  # type: ignore[misc]
