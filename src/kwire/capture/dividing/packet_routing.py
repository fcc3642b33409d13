"""Reading of a series in two parallel steps: route packets to shares of connections, then read each share like a series.

Theory of operation. A task of the first step reads one *range*: a file, or a part of a pcap file between two records
(`kwire.capture.dividing.file_ranges`). It reads each packet's endpoints and appends it to the share of its connection, with its number in
the range (`impl.packets.Router`). When all ranges are read, their counts are joined (`join_ranges`), which gives the number of each range's
first packet and shows that the ranges follow each other without a gap. The second step scans the packets of one share in order, as if they
were a file (`read_routed`). The rows equal those of a single task, because a share holds everything that its connections need
(`_pure/packet_routes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from kwire.capture import impl
from kwire.capture.carry import SeriesStreams
from kwire.capture.dividing.block_hash import block_hash
from kwire.capture.dividing.file_ranges import FileRange, locate
from kwire.capture.files.capture_chunks import FileFacts, file_facts
from kwire.capture.files.damaged_records import Damages
from kwire.capture.files.formats import PCAP_HEADER_BYTES, identify
from kwire.capture.files.piece_kinds import kind_of
from kwire.capture.files.source import CHUNK_BYTES, CaptureSource, open_capture, quiet
from kwire.capture.packet_columns import PCAP, ROUTED, ROUTED_HEADER_BYTES, FileState
from kwire.capture.secrets_blocks import SecretsBlock, secrets_of
from kwire.capture.sink import StreamSink, give_secrets
from kwire.errors import InputError

__all__ = ["RangeFacts", "RoutedFile", "RoutedPiece", "join_ranges", "read_routed", "route_range"]

# What a task of the first step holds, at most, before it hands it on; and for each share, so that what it hands on is read at once later.
_HELD_BYTES: Final = 256 << 20
_HELD_BYTES_A_SHARE: Final = 1 << 20


@dataclass(slots=True)
class RangeFacts:
    """Result of a task of the first step. In compressed files, `start` and `border` are virtual offsets
    (`kwire.capture.dividing.file_ranges`)."""

    part: int  # number of the range in the file
    start: int | None = None  # offset of its first record; None without one
    border: int | None = None  # begin of the next range, None at the end of the file
    end: int = 0  # first byte that was not read as a record; in compressed files `border`, if all up to there was read
    length: int = 0  # bytes of records, unpacked
    stopped: bool = False  # nothing behind `end` can be read
    reason: str = ""  # clause why not all was read, or empty
    is_log: bool = False  # it is a request log, which has no packets to route
    state: FileState = field(default_factory=lambda: FileState(PCAP))  # counts of the range
    compression: Literal["gzip", "zstd"] | None = None  # of the file, as the next two, if one range is all of it
    sha256: str = ""
    stored_bytes: int = 0
    blocks: bytes = b""  # digests of the file's blocks that begin in the range, if there are several ranges
    damages: Damages = field(default_factory=Damages)  # of the file, if one range is all of it; a part of a file is not read behind damage
    secrets: list[SecretsBlock] = field(default_factory=list)  # Decryption Secrets Blocks of the range
    error: str = ""  # reason why nothing of the file can be read, or empty


@dataclass(frozen=True, slots=True)
class RoutedFile:
    """File of the second step."""

    location: str
    facts: FileFacts | None  # counts of the first step, without fragments. None if the file cannot be read, or is a log
    error: str = ""  # reason why it cannot be read
    is_log: bool = False  # it is a request log, to be read where it is
    packets_before: dict[int, int] = field(default_factory=dict)  # number of packets of the file before each valid part
    secrets: tuple[SecretsBlock, ...] = ()  # Decryption Secrets Blocks of the file


@dataclass(slots=True)
class RoutedPiece:
    """File whose packets come from the first step. `chunks` are packets of one share in order, each with the packets of the file before
    it."""

    file: RoutedFile
    chunks: Iterator[tuple[int, bytes]]

    def __fspath__(self) -> str:
        return self.file.location


def route_range(
    given: FileRange, shares: int, hand_over: Callable[[Any], None], *, progress: Callable[[int], None] | None = None
) -> RangeFacts:
    """Read a range and pass its routed packets on, share by share; errors of the file are in the result."""
    facts = RangeFacts(given.part)
    try:
        _route(given, shares, hand_over, progress or quiet, facts)
    except InputError as error:
        facts.error = str(error)
    return facts


def _route(given: FileRange, shares: int, hand_over: Callable[[Any], None], progress: Callable[[int], None], facts: RangeFacts) -> None:
    if given.part == 0 and kind_of(given.location) == "request_log":
        facts.is_log = True
        return
    located = locate(given) if given.parts > 1 else None
    if located is None and given.part:
        return
    if located is not None and given.part == 0 and located.border is None:
        located = None  # there are no other parts
    is_whole, is_framed = located is None, located is not None and located.compressed
    router = impl.packets.Router(shares)
    most = min(_HELD_BYTES, shares * _HELD_BYTES_A_SHARE)
    with open_capture(given.location, limit=given.size or None) if located is None else located.open() as source:
        data = source.read(CHUNK_BYTES)
        if located is None:
            known = identify(data[:PCAP_HEADER_BYTES])
            if known is None:
                raise InputError(f"{given.location} has changed while it was read")
            (facts.state, at), facts.start = known, 0
        else:
            facts.state, at, facts.start, facts.border = located.state, 0, located.start, located.border
        state = facts.state
        first = position = 0 if is_framed else facts.start
        reported, damaged = 0, False
        state.strict = True
        while True:
            consumed, damaged = impl.packets.route(data, at, state, router)
            state.proven = max(0, state.proven - consumed + at)
            facts.secrets += secrets_of(given.location, position, data, state.secrets)
            state.secrets.clear()
            progress(source.stored_bytes - reported)
            reported = source.stored_bytes
            if router.held >= most:
                hand_over(router)
            position += consumed
            data, at = data[consumed:], 0
            more = b"" if damaged else source.read(CHUNK_BYTES)
            if not more:
                if not data:
                    break
                if not damaged and not state.ended:
                    state.ended = True
                    continue
                behind, found_at = facts.damages.skip(position, data, source.read, state)
                if state.proven:
                    damaged = False
                else:
                    damaged |= bool(behind)
                    if not (behind and is_whole):
                        break
                data, more, position = b"", behind, found_at
            data = data + more if data else more
        if router.held:
            hand_over(router)
        facts.end, facts.stopped = position, damaged or bool(source.damage)
        if is_framed:  # what was unpacked ends where the range does, or this is no range
            facts.end = -1 if facts.border is None or facts.stopped or data else facts.border
        facts.length = position - first
        if damaged:
            facts.reason = "a record with an impossible length"
        elif source.damage:
            facts.reason = f"the file cannot be read on: {source.damage}"
        elif data and not (is_whole and isinstance(source, CaptureSource) and source.has_more()):
            facts.reason = "the file ends inside a packet record"
        if isinstance(source, CaptureSource):
            facts.sha256 = source.sha256()  # reads the rest
        else:
            facts.blocks = source.block_digests(given.size)
        facts.compression = source.compression
        facts.stored_bytes = source.stored_bytes


def join_ranges(location: str, ranges: Iterable[RangeFacts]) -> RoutedFile | None:
    """Join the ranges of a file.

    Returns None if a range does not begin at the end of the previous one, or the last one ends early: the file is damaged, or its records
    break the rules of the proof. One task must then read the whole file.
    """
    found = sorted(ranges, key=lambda facts: facts.part)
    if error := next((facts.error for facts in found if facts.error), ""):
        return RoutedFile(location, None, error)
    if any(facts.is_log for facts in found):
        return RoutedFile(location, None, is_log=True)
    kept: list[RangeFacts] = []
    before: dict[int, int] = {}
    packets = 0
    for facts in found:
        if facts.start is None:
            continue
        if kept and kept[-1].end != facts.start:
            return None
        before[facts.part] = packets
        packets += facts.state.packets
        kept.append(facts)
    if len(kept) > 1 and kept[-1].stopped:
        return None
    last, is_divided = kept[-1], len(kept) > 1
    joined = file_facts(
        [facts.state for facts in kept],
        last.damages,
        location=location,
        compression=last.compression,
        sha256=last.sha256 or block_hash(facts.blocks for facts in kept),
        stored_bytes=sum(facts.stored_bytes for facts in kept) + (PCAP_HEADER_BYTES if last.compression is None and is_divided else 0),
        cut_at=None if not last.reason else PCAP_HEADER_BYTES + sum(facts.length for facts in kept) if is_divided else last.end,
        cut_reason=last.reason,
    )
    joined = replace(joined, fragments=0)
    return RoutedFile(location, joined, packets_before=before, secrets=tuple(block for facts in kept for block in facts.secrets))


def read_routed(
    piece: RoutedPiece, carry: SeriesStreams, sink: StreamSink, *, progress: Callable[[int], None] | None = None
) -> Generator[None, None, FileFacts]:
    """Read the packets of one share of a file, and pause after each chunk; the generator returns the facts of the whole file."""
    counted = piece.file.facts
    if counted is None:
        raise InputError(piece.file.error)
    if piece.file.secrets:
        give_secrets(sink, piece.file.secrets)
    state = FileState(ROUTED, record_header=ROUTED_HEADER_BYTES, carry=carry.scan)
    for before, data in piece.chunks:
        state.packets = before
        columns = impl.packets.scan(data, 0, state)
        if columns.consumed != len(data):
            raise ValueError(f"{len(data) - columns.consumed} bytes of routed packets of {counted.location} are not packets")
        carry.take(data + columns.spilled if columns.spilled else data, columns, sink)
        if progress is not None:
            progress(len(data))
        yield
    return replace(
        counted,
        tcp_packets=counted.tcp_packets + state.tcp,
        fragments=state.fragments,
        other_packets=counted.other_packets + state.others,
        unreadable_packets=counted.unreadable_packets + state.unreadable,
        bytes_cut=counted.bytes_cut + state.cut_bytes,
    )
