"""Writer of byte streams as TCP packets: pcapng of exported PDUs (link type 252), with tags for addresses and the dissector `tcp`.

Sequence numbers count the bytes of the streams.
"""

from __future__ import annotations

import ipaddress
import struct
from typing import Final

from kwire.capture.tcp import Endpoint

__all__ = ["MOST_PAYLOAD", "PCAPNG_HEAD", "ExportedTalk", "address_tags"]

_LINK_EXPORTED: Final = 252
# pcapng: section header, then an interface whose times are nanoseconds (if_tsresol 9)
PCAPNG_HEAD: Final = (
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
MOST_PAYLOAD: Final = 1 << 16


class ExportedTalk:
    """Writer of one connection; its methods return packets, and direction 0 is from a to b."""

    __slots__ = ("_closed", "_ends", "_tags", "numbers")

    def __init__(self, a: Endpoint, b: Endpoint) -> None:
        self._ends = a, b
        self._tags = address_tags(a, b), address_tags(b, a)
        self._closed: set[tuple[int, bool]] = set()
        self.numbers = [0, 0]

    def opened(self, client: int, time_ns: int, *, answered: bool = True) -> bytes:
        """Return the handshake; unless `answered`, omit the server's SYN, because its first bytes may be missing."""
        made = self._packet(client, _SYN, b"", time_ns)
        self.numbers[client] += 1
        if answered:
            made += self._packet(1 - client, _SYN | _ACK, b"", time_ns)
        self.numbers[1 - client] += 1
        return made

    def data(self, direction: int, data: bytes, time_ns: int) -> bytes:
        made = b""
        for at in range(0, len(data), MOST_PAYLOAD):
            part = data[at : at + MOST_PAYLOAD]
            made += self._packet(direction, _PUSH | _ACK, part, time_ns)
            self.numbers[direction] += len(part)
        return made

    def cut(self, direction: int, count: int, time_ns: int) -> bytes:
        """Skip bytes of a direction as a snapshot length does."""
        made = b""
        while count > 0:
            part = min(count, MOST_PAYLOAD)
            made += self._packet(direction, _PUSH | _ACK, b"", time_ns, cut=part)
            self.numbers[direction] += part
            count -= part
        return made

    def lost(self, direction: int, count: int, time_ns: int) -> bytes:
        """Skip bytes of a direction; the other end acknowledges them, so they count as lost."""
        self.numbers[direction] += count
        return self._packet(1 - direction, _ACK, b"", time_ns)

    def closed(self, direction: int, time_ns: int, *, reset: bool = False) -> bytes:
        """End a direction by FIN or RST; a second call does nothing."""
        if (direction, reset) in self._closed:
            return b""
        self._closed.add((direction, reset))
        made = self._packet(direction, _RST | _ACK if reset else _FIN | _ACK, b"", time_ns)
        self.numbers[direction] += not reset
        return made

    def _packet(self, direction: int, flags: int, payload: bytes, time_ns: int, *, cut: int = 0) -> bytes:
        source, target = self._ends[direction], self._ends[1 - direction]
        seq = self.numbers[direction] & 0xFFFFFFFF
        ack = self.numbers[1 - direction] & 0xFFFFFFFF if flags & _ACK else 0
        header = _TCP.pack(source.port, target.port, seq, ack, _WORDS, flags, _WINDOW, 0, 0)
        body = self._tags[direction] + header + payload
        padded = body + bytes(-len(body) % 4)
        size = 32 + len(padded)
        head = _PACKET.pack(6, size, 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(body), len(body) + cut)
        return head + padded + size.to_bytes(4, "little")


def address_tags(source: Endpoint, target: Endpoint) -> bytes:
    """Return the tags before a packet's TCP header: protocol and addresses."""
    made = b"\0\x0c\0\x04tcp\0"
    for end, which in ((source, 0), (target, 1)):
        packed = ipaddress.ip_address(end.address).packed
        tag = (_TAG_IPV4 if len(packed) == 4 else _TAG_IPV6)[which]
        made += struct.pack(">HH", tag, len(packed)) + packed
    return made + bytes(4)
