"""What a scan gives: one row a TCP packet, in flat arrays, and the state that it carries from chunk to chunk of one file.

Only plain integers and bytes live here; both twins fill the same arrays.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Final

__all__ = [
    "ACK", "FIN", "MAX_BLOCK_BYTES", "MAX_PACKET_BYTES", "PCAP", "PCAPNG", "RST", "SYN",
    "FileState", "Interface", "PacketColumns",
]  # fmt: skip

PCAP: Final = 1
PCAPNG: Final = 2

FIN: Final = 0x01
SYN: Final = 0x02
RST: Final = 0x04
ACK: Final = 0x10

# A record that says it is longer is damage, not traffic: Linux' biggest offloaded packet (BIG TCP) has 512 KiB.
MAX_PACKET_BYTES: Final = 1 << 20
# pcapng blocks also hold name resolution and TLS secrets; Wireshark draws the line at the same size.
MAX_BLOCK_BYTES: Final = 16 << 20


@dataclass(slots=True)
class Interface:
    """One capturing interface of a file; a pcap file has exactly one.

    Attributes:
        link_type: LINKTYPE_ number.
        snaplen: bytes kept of each packet, 0 for all.
        resolution: pcapng's if_tsresol: a power of ten, or of two when bit 7 is set; units per second.
        offset_s: seconds to add to each time (if_tsoffset).
        dropped: packets that the interface lost by its latest statistics block, -1 when none was seen.
    """

    link_type: int
    snaplen: int = 0
    resolution: int = 6
    offset_s: int = 0
    dropped: int = -1


@dataclass(slots=True)
class FileState:
    """What the scan of one file knows between two chunks; times are nanoseconds since 1970, UTC.

    Attributes:
        kind: `PCAP` or `PCAPNG`.
        big_endian: byte order of the file, or of the current pcapng section.
        record_header: bytes before a pcap packet: 16, or 24 in Kuznetzov's variant.
        interfaces: those of the current section.
        dropped_before: packets dropped in earlier sections, -1 when unknown.
        snaplen: the largest seen, 0 when unlimited or unknown.
        time_ns: time of the latest packet; a simple packet block has none of its own and takes it.
        packets, tcp, fragments, others, unreadable: packets by what became of them; `unreadable` are cut inside their headers, malformed or
            of a link type that is not read.
        captured_bytes, original_bytes: sums over all packets, as stored and as they were on the wire.
        cut_bytes: TCP payload that snaplen took away.
    """

    kind: int
    big_endian: bool = False
    record_header: int = 16
    interfaces: list[Interface] = field(default_factory=list)
    dropped_before: int = -1
    snaplen: int = 0
    time_ns: int = 0
    start_ns: int | None = None
    end_ns: int | None = None
    packets: int = 0
    tcp: int = 0
    fragments: int = 0
    others: int = 0
    unreadable: int = 0
    captured_bytes: int = 0
    original_bytes: int = 0
    cut_bytes: int = 0

    @property
    def dropped(self) -> int | None:
        """Packets that the capturing machine lost, or None when the file does not say."""
        known = [interface.dropped for interface in self.interfaces if interface.dropped >= 0]
        if self.dropped_before >= 0:
            known.append(self.dropped_before)
        return sum(known) if known else None


@dataclass(slots=True)
class PacketColumns:
    """The TCP packets of one chunk.

    Attributes:
        number: position of the packet in its file, from 1 as Wireshark counts (int64).
        time_ns: int64.
        key: index into `keys` (int32).
        direction: 0 from a to b, 1 from b to a (int8).
        seq, ack, signature: uint32; two copies of one packet have one signature, a retransmission has another.
        flags: the TCP flag bits (int16).
        offset: first payload byte in the chunk (int64).
        captured, original: payload bytes in the file and on the wire (int32).
        keys: the distinct endpoint pairs of this chunk: IP version, address a, port a, address b, port b, where a is the smaller.
        consumed: bytes of the chunk that are done; the rest begins the next chunk.
        damaged: the record at `consumed` has an impossible length: nothing behind it can be read.
    """

    number: array[int] = field(default_factory=lambda: array("q"))
    time_ns: array[int] = field(default_factory=lambda: array("q"))
    key: array[int] = field(default_factory=lambda: array("i"))
    direction: array[int] = field(default_factory=lambda: array("b"))
    seq: array[int] = field(default_factory=lambda: array("I"))
    ack: array[int] = field(default_factory=lambda: array("I"))
    flags: array[int] = field(default_factory=lambda: array("h"))
    offset: array[int] = field(default_factory=lambda: array("q"))
    captured: array[int] = field(default_factory=lambda: array("i"))
    original: array[int] = field(default_factory=lambda: array("i"))
    signature: array[int] = field(default_factory=lambda: array("I"))
    keys: list[bytes] = field(default_factory=list)
    consumed: int = 0
    damaged: bool = False

    def __len__(self) -> int:
        return len(self.number)
