"""Result of a scan: flat arrays with one row per TCP packet, and the state between the chunks of one file."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kwire.capture.secrets_blocks import SecretsBlock

__all__ = [
    "ACK", "EARLY_COST", "FIN", "FRAGMENT_NS", "MAX_BLOCK_BYTES", "MAX_FRAGMENTED_PACKETS", "MAX_FRAGMENT_BYTES", "MAX_PACKET_BYTES",
    "NEAR_NS", "PCAP", "PCAPNG", "ROUTED", "ROUTED_HEADER_BYTES", "RST", "SWEEP_BITS", "SYN",
    "EarlyFragment", "FileState", "FragmentedPacket", "Interface", "PacketColumns", "ScanCarry", "longest_packet",
]  # fmt: skip

PCAP: Final = 1
PCAPNG: Final = 2
# Packets that were routed to a share of a series (`kwire.capture.dividing.packet_routing`).
ROUTED: Final = 3
ROUTED_HEADER_BYTES: Final = 24

FIN: Final = 0x01
SYN: Final = 0x02
RST: Final = 0x04
ACK: Final = 0x10

# A record that says it is longer is damage, not traffic: Linux' biggest offloaded packet (BIG TCP) has 512 KiB.
MAX_PACKET_BYTES: Final = 1 << 20
# pcapng blocks also hold name resolution and TLS secrets; Wireshark draws the line at the same size.
MAX_BLOCK_BYTES: Final = 16 << 20
# A pcap record whose time is further from that of the one before is looked at twice: its header may be damaged, or the capture paused.
NEAR_NS: Final = 600 * 1_000_000_000
# How many IP packets may be waiting for fragments; the oldest is given up for the next. Fragments travel next to each other.
MAX_FRAGMENTED_PACKETS: Final = 512
# What fragments may take that came before the first of their packet, each with EARLY_COST; the oldest are given up for the next.
MAX_FRAGMENT_BYTES: Final = 1 << 20
EARLY_COST: Final = 64
# Capture time in which the fragments of a packet must come. Receivers wait for 30 s, but a tunnel between busy machines uses an
# identification of 16 bits again within seconds (RFC 4963), and a wrong match would put bytes of one packet into another's stream.
FRAGMENT_NS: Final = 1_000_000_000
# Sweeps come when the time of the capture reaches a multiple of 2**33 ns, 8.6 s (`kwire.capture.carry`).
SWEEP_BITS: Final = 33


@dataclass(slots=True)
class Interface:
    """Capturing interface of a file; a pcap file has exactly one."""

    link_type: int  # LINKTYPE_ number
    snaplen: int = 0  # bytes kept of each packet, 0 for all
    resolution: int = 6  # pcapng's if_tsresol: a power of ten, or of two when bit 7 is set; units per second
    offset_s: int = 0  # seconds to add to each time (if_tsoffset)
    dropped: int = -1  # packets lost by the latest statistics block, -1 without one


@dataclass(slots=True)
class EarlyFragment:
    """IP fragment captured before the first fragment of its packet, with the number and time of its packet record."""

    number: int
    time_ns: int
    at: int  # its offset in the IP packet's payload
    length: int  # bytes on the wire; `data` are those in the file
    more: bool  # other fragments follow behind it
    data: bytes


@dataclass(slots=True)
class FragmentedPacket:
    """IP packet with missing fragments, and values of the TCP header in the first one, as in `PacketColumns`."""

    name: bytes  # IP version, source, target, protocol, identification (4 bytes)
    time_ns: int  # of the first fragment seen
    seen: int = 0  # bytes of fragments so far
    size: int = -1  # bytes of the payload, -1 before its last fragment
    fate: int = -1  # -1 before its first fragment, 0 for TCP, else as in `_pure.packet_view`
    endpoints: bytes = b""
    direction: int = 0
    seq: int = 0
    ack: int = 0
    flags: int = 0
    signature: int = 0
    payload_at: int = 0  # offset of the TCP payload in the IP packet's payload
    payload_bytes: int = -1  # its length if an inner IP header has it, else -1
    early: list[EarlyFragment] = field(default_factory=list)  # fragments that wait for the first


@dataclass(slots=True)
class ScanCarry:
    """State of the scan between the files of a series: fragmented IP packets by identity, in the order of their first fragments."""

    fragmented: dict[bytes, FragmentedPacket] = field(default_factory=dict)
    exported: dict[bytes, tuple[int, int]] = field(default_factory=dict)  # next sequence numbers by endpoint pair; exported PDUs have none


@dataclass(slots=True)
class FileState:
    """State of the scan of one file between two chunks; times are nanoseconds since 1970, UTC.

    If `strict`, a pcapng block with two different lengths, or an odd pcap record, ends the scan like damage. In pcap, a record is then read
    only once the next header is present, and dropped if that header suggests an overwritten end; `files.damaged_records` finds valid ones.
    """

    kind: int  # `PCAP`, `PCAPNG` or `ROUTED`
    big_endian: bool = False  # byte order of the file, or of the current pcapng section
    record_header: int = 16  # bytes before a pcap packet: 16, or 24 in Kuznetzov's variant
    interfaces: list[Interface] = field(default_factory=list)  # those of the current section
    dropped_before: int = -1  # packets dropped in earlier sections, -1 when unknown
    snaplen: int = 0  # the largest seen, 0 when unlimited or unknown
    time_ns: int = 0  # time of the latest packet; a simple packet block has none of its own and takes it
    start_ns: int | None = None
    end_ns: int | None = None
    packets: int = 0  # all; those by kind follow, as in `FileFacts`
    tcp: int = 0  # rows
    fragments: int = 0
    others: int = 0
    unreadable: int = 0
    unread: dict[int, int] = field(default_factory=dict)  # packets of unknown link types, by link type
    captured_bytes: int = 0  # sum over all packets
    original_bytes: int = 0  # the same on the wire
    cut_bytes: int = 0  # TCP payload cut by snaplen
    secrets: list[tuple[int, int]] = field(default_factory=list)  # offset and size of key logs in the latest chunk's blocks
    carry: ScanCarry = field(default_factory=ScanCarry)  # state between files
    strict: bool = False
    ended: bool = False  # nothing follows the chunk: its last record is read without a header behind it
    proven: int = 0  # length of the pcap records at the start of the chunk that are read however odd they are

    @property
    def dropped(self) -> int | None:
        known = [interface.dropped for interface in self.interfaces if interface.dropped >= 0]
        if self.dropped_before >= 0:
            known.append(self.dropped_before)
        return sum(known) if known else None


@dataclass(slots=True)
class PacketColumns:
    """TCP packets of one chunk. An IP fragment is a row with its part of the TCP payload."""

    number: array[int] = field(default_factory=lambda: array("q"))  # position of the packet in its file, from 1 as Wireshark counts (int64)
    time_ns: array[int] = field(default_factory=lambda: array("q"))  # int64
    key: array[int] = field(default_factory=lambda: array("i"))  # index into `keys` (int32)
    direction: array[int] = field(default_factory=lambda: array("b"))  # 0 from a to b, 1 from b to a (int8)
    seq: array[int] = field(default_factory=lambda: array("I"))
    ack: array[int] = field(default_factory=lambda: array("I"))
    flags: array[int] = field(default_factory=lambda: array("h"))  # the TCP flag bits (int16)
    offset: array[int] = field(default_factory=lambda: array("q"))  # first payload byte in the chunk followed by `spilled` (int64)
    captured: array[int] = field(default_factory=lambda: array("i"))  # payload bytes in the file (int32)
    original: array[int] = field(default_factory=lambda: array("i"))  # the same on the wire (int32)
    signature: array[int] = field(default_factory=lambda: array("I"))  # equal for copies of one packet (uint32)
    keys: list[bytes] = field(default_factory=list)  # distinct pairs: IP version, address a, port a, address b, port b; a is the smaller
    consumed: int = 0  # bytes of the chunk that are done; the rest begins the next chunk
    damaged: bool = False  # the record at `consumed` has an impossible length: nothing behind it can be read
    spilled: bytes = b""  # payload of fragments that had to wait for the first of their packet, nearly always empty
    secrets: list[SecretsBlock] = field(default_factory=list)  # Decryption Secrets Blocks of the chunk

    def __len__(self) -> int:
        return len(self.number)


def longest_packet(state: FileState) -> int:
    """Return the most bytes that a packet of a file may have."""
    # At least tcpdump's default: a packet that was put together by a card is longer than a writer with 64 KiB says.
    return min(max(state.snaplen, 1 << 18), MAX_PACKET_BYTES) if state.snaplen else MAX_PACKET_BYTES
