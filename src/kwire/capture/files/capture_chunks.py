"""Reading of one capture file as chunks of packet columns, and its facts.

A file that ends inside a packet is read up to that packet. After damage, reading continues at the next proven record
(`kwire.capture.files.damaged_records`). Both are facts of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from kwire.capture import impl
from kwire.capture.files.damaged_records import Damage, Damages
from kwire.capture.files.formats import PCAP_HEADER_BYTES, cut_header, identify
from kwire.capture.files.source import CaptureSource, quiet
from kwire.capture.packet_columns import PCAP, FileState, PacketColumns, ScanCarry
from kwire.capture.secrets_blocks import secrets_of
from kwire.errors import InputError

__all__ = ["FileFacts", "FileReading", "file_facts", "iter_chunks", "read_again"]

_TEXT_HEAD: Final = 16
# The file of a router of this size is still read; each costs 100 bytes, and time for each chunk of the file.
MAX_INTERFACES: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """Facts of a capture file after it was read; times are nanoseconds since 1970, UTC.

    Attributes:
        start_ns, end_ns: times of the earliest and latest packet, None without packets.
        tcp_packets, fragments, other_packets, unreadable_packets: packets by kind; `fragments` lack their first fragment, unreadable ones
            are cut inside their headers, malformed, or of an unknown link type.
        packet_bytes, packet_bytes_stored: sums of packet lengths on the wire and in the file.
        damage_count, damaged_bytes: number and total size of damaged ranges.
    """

    location: str  # path or URI as given
    format: Literal["pcap", "pcapng"]
    compression: Literal["gzip", "zstd"] | None
    sha256: str  # hash of the stored file, empty if not requested
    stored_bytes: int  # size of the file as stored
    start_ns: int | None
    end_ns: int | None
    packets: int
    tcp_packets: int
    fragments: int
    other_packets: int
    unreadable_packets: int
    link_types: tuple[int, ...]  # LINKTYPE_ numbers of the last section's interfaces
    packets_dropped: int | None  # packets lost by the capturing machine, None if the file does not say
    snaplen: int | None  # most bytes kept of each packet, None without a limit
    packet_bytes: int
    packet_bytes_stored: int
    bytes_cut: int  # TCP payload cut off by the snapshot length
    cut_at: int | None  # offset in the (decompressed) file of the first unreadable record, None if the file is whole
    cut_reason: str  # cause of that, one clause
    damages: tuple[Damage, ...] = ()  # the first `MAX_DAMAGES` ranges between records
    damage_count: int = 0
    damaged_bytes: int = 0
    unread: dict[int, int] = field(default_factory=dict)  # packets of unknown link types, by LINKTYPE_ number


class FileReading:
    """Progress of reading a file: state of the scan, and offset in the (decompressed) file after the last record read."""

    __slots__ = ("damages", "position", "reason", "state")

    def __init__(self, state: FileState, position: int = 0) -> None:
        self.state, self.position = state, position
        self.damages = Damages()  # skipped ranges
        self.reason = ""  # cause of an early end, else empty


def iter_chunks(
    name: str, source: CaptureSource, scan: ScanCarry, chunk_bytes: int, progress: Callable[[int], None], before: FileReading | None = None
) -> Generator[tuple[bytes, PacketColumns], None, FileFacts]:
    """Read a file to its end; the generator returns the facts.

    `before` is the part read earlier, which is skipped (`read_again`). Offsets of the columns point into the yielded bytes.

    Raises:
        InputError: the file is empty or not a capture.
    """
    if before is None:
        reading, data, at = _begin(name, source, chunk_bytes)
    else:
        reading, data, at = before, source.read_behind(before.position, chunk_bytes), 0
    reading.state.carry = scan
    yield from _iter_records(name, reading, data, at, source, chunk_bytes, progress)
    return file_facts(
        [reading.state], reading.damages, location=name, compression=source.compression, sha256=source.sha256(),
        stored_bytes=source.stored_bytes, cut_at=reading.position if reading.reason else None, cut_reason=reading.reason,
    )  # fmt: skip


def file_facts(states: Sequence[FileState], damages: Damages, **told: Any) -> FileFacts:
    """Return the facts of a file from the scans of its ranges in order; `told` has the others."""
    state = states[-1]
    return FileFacts(
        format="pcap" if state.kind == PCAP else "pcapng",
        start_ns=min((each.start_ns for each in states if each.start_ns is not None), default=None),
        end_ns=max((each.end_ns for each in states if each.end_ns is not None), default=None),
        packets=sum(each.packets for each in states),
        tcp_packets=sum(each.tcp for each in states),
        fragments=sum(each.fragments for each in states),
        other_packets=sum(each.others for each in states),
        unreadable_packets=sum(each.unreadable for each in states),
        link_types=tuple(interface.link_type for interface in state.interfaces),
        packets_dropped=state.dropped,
        snaplen=state.snaplen or None,
        packet_bytes=sum(each.original_bytes for each in states),
        packet_bytes_stored=sum(each.captured_bytes for each in states),
        bytes_cut=sum(each.cut_bytes for each in states),
        damages=tuple(damages.first),
        damage_count=damages.count,
        damaged_bytes=damages.size,
        unread=dict(sum(map(Counter, (each.unread for each in states)), Counter())),
        **told,
    )


def read_again(name: str, source: CaptureSource, chunk_bytes: int) -> FileReading:
    """Return the read position that the file had when it was as short as `source`, without its packets."""
    reading, data, at = _begin(name, source, chunk_bytes)
    for _ in _iter_records(name, reading, data, at, source, chunk_bytes, quiet):
        pass
    reading.reason = ""
    return reading


def _begin(name: str, source: CaptureSource, chunk_bytes: int) -> tuple[FileReading, bytes, int]:
    """Return the first bytes of a file and the offset of the first record in them."""
    data = source.read(max(chunk_bytes, PCAP_HEADER_BYTES))
    while len(data) < PCAP_HEADER_BYTES and (more := source.read(PCAP_HEADER_BYTES - len(data))):
        data += more  # a pipe gives what is there
    known = identify(data[:PCAP_HEADER_BYTES])
    if known is None and source.damage:
        raise InputError(f"{name} cannot be read: {source.damage}")
    if not data:
        raise InputError(f"{name} is empty")
    if known is None:
        if cut := cut_header(data):
            raise InputError(f"{name}: {cut}")
        raise InputError(f"{name} is not a capture file: neither pcap nor pcapng begins with bytes {data[:_TEXT_HEAD].hex()}")
    return FileReading(known[0]), data, known[1]


def _iter_records(
    name: str, reading: FileReading, data: bytes, at: int, source: CaptureSource, chunk_bytes: int, progress: Callable[[int], None]
) -> Generator[tuple[bytes, PacketColumns], None, None]:
    state, reported, damaged = reading.state, 0, False
    state.strict, state.ended, state.proven = True, False, 0
    while True:
        columns = impl.packets.scan(data, at, state)
        state.proven = max(0, state.proven - columns.consumed + at)
        columns.secrets = secrets_of(name, reading.position, data, state.secrets)
        state.secrets.clear()
        progress(source.stored_bytes - reported)
        reported = source.stored_bytes
        yield data + columns.spilled if columns.spilled else data, columns
        reading.position += columns.consumed
        if len(state.interfaces) > MAX_INTERFACES:
            reading.reason = f"a section with more than {MAX_INTERFACES:,} interfaces"
            return
        data, at, damaged = data[columns.consumed :], 0, columns.damaged
        more = data if damaged else source.read_on(data, chunk_bytes)
        if len(more) == len(data):
            if not data:
                break
            if not damaged and not state.ended:
                state.ended = True
                continue
            # a record that makes no sense, or one that seems to reach behind the end of the file
            more, reading.position = reading.damages.skip(reading.position, data, source.read, state)
            if not more:
                break
        data = more
    if damaged:
        reading.reason = "a record with an impossible length"
    elif source.damage:
        reading.reason = "" if source.has_more() else f"the file cannot be read on: {source.damage}"
    elif data and not source.has_more():
        reading.reason = "the file ends inside a packet record"
