"""Ranges of a capture file for tasks, from one packet record to another.

A plain pcap file is divided where records begin (`kwire.capture.dividing.record_borders`). A compressed one is divided where frames begin
(`kwire.capture.dividing.compressed_frames`), even inside a record. The first record that begins in a frame is found in the unpacked bytes
with the same proof; bytes before it belong to the previous range. Such a position is a *virtual offset*, as in BGZF's indexes: the stored
offset of the frame plus a number of unpacked bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from kwire.capture.dividing.block_hash import BlockDigests
from kwire.capture.dividing.compressed_frames import CompressedFrames, frames_of
from kwire.capture.dividing.file_part import FilePart, open_part
from kwire.capture.dividing.record_borders import MAX_SEARCH_BYTES, RecordBorders, find_record
from kwire.capture.files.formats import PCAP_HEADER_BYTES, compression_of, identify
from kwire.capture.files.source import CaptureSource
from kwire.capture.packet_columns import PCAP, FileState, longest_packet

__all__ = ["FileRange", "FramedPart", "LocatedRange", "PartSource", "locate", "virtual_offset", "whole_reason"]

_BEHIND_BITS: Final = 32
# What is asked for at once where a record is looked for.
_READ_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class FileRange:
    """Range of a file for one task of the first step; of a file that cannot be divided, all but part 0 are empty."""

    location: str
    size: int
    part: int = 0
    parts: int = 1
    longest: int | None = None


class PartSource(Protocol):
    """Interface of the bytes of a part, like `kwire.capture.files.source.CaptureSource`."""

    @property
    def compression(self) -> Literal["gzip", "zstd"] | None: ...
    @property
    def stored_bytes(self) -> int: ...
    @property
    def damage(self) -> str:
        """Reason why reading ended early, or empty."""

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes; return no bytes only at the end."""

    def block_digests(self, size: int) -> bytes:
        """Return the digests of the stored blocks that begin in this part, after reading all of it; `size` is the file's."""


@dataclass(frozen=True, slots=True)
class LocatedRange:
    """Place of a range."""

    location: str  # path or URI of the file
    state: FileState  # begin of the scan
    start: int  # offset of its first record; a virtual offset in a compressed file
    border: int | None  # start of the next range, None at the end of the file
    end: int | None  # first stored byte that is not read, None for all
    compressed: bool = False  # frames are unpacked
    tail: bytes = b""  # unpacked bytes of the next frame that belong to this range

    @contextmanager
    def open(self) -> Iterator[PartSource]:
        if not self.compressed:
            with open_part(self.location, self.start, self.end) as part:
                part.digests = BlockDigests(self.start)
                if self.start == PCAP_HEADER_BYTES:  # its blocks begin with the file's header
                    part.digests = BlockDigests(0)
                    part.digests.update(part.read_at(0, PCAP_HEADER_BYTES))
                yield part
            return
        frame, behind = self.start >> _BEHIND_BITS, self.start & (1 << _BEHIND_BITS) - 1
        with open_part(self.location, frame, self.end) as part:
            part.digests = BlockDigests(frame)
            yield FramedPart(part, behind, self.tail)


class FramedPart:
    """Unpacked frames of a compressed file, without the first `behind` bytes, plus the `tail` from the next frame."""

    def __init__(self, stored: FilePart, behind: int, tail: bytes) -> None:
        self._stored, self._tail = stored, tail
        self._plain = CaptureSource(stored, hashed=False)
        self._is_short = len(self._plain.read(behind)) < behind

    @property
    def compression(self) -> Literal["gzip", "zstd"] | None:
        return self._plain.compression

    @property
    def stored_bytes(self) -> int:
        return self._stored.stored_bytes

    @property
    def damage(self) -> str:
        return self._stored.damage or self._plain.damage or ("fewer bytes than were found before" if self._is_short else "")

    def read(self, size: int) -> bytes:
        found = self._plain.read(size)
        if not found and not self.damage:
            found, self._tail = self._tail[:size], self._tail[size:]
        return found

    def block_digests(self, size: int) -> bytes:
        return self._stored.block_digests(size)


def virtual_offset(frame: int, behind: int) -> int:
    return frame << _BEHIND_BITS | behind


def locate(given: FileRange) -> LocatedRange | None:
    """Find the bounds of a part of a file, None for an empty one. Each task computes its own part; the results are consistent."""
    with open_part(given.location, 0) as stored:
        head = stored.read_at(0, PCAP_HEADER_BYTES)
        if compression_of(head) is None:
            return _locate_plain(given, head, stored)
        frames = frames_of(stored.read_at, given.size)
        return None if frames is None else _locate_framed(given, frames, stored.read_at)


def whole_reason(location: str, size: int) -> str:
    """Return the reason why a file cannot be divided, as a noun phrase; empty if it can."""
    with open_part(location, 0) as stored:
        head = stored.read_at(0, PCAP_HEADER_BYTES)
        compression = compression_of(head)
        if compression is not None:
            frames = frames_of(stored.read_at, size)
            if frames is None or not frames.has_several():
                return "gzip without the blocks of bgzip" if compression == "gzip" else "zstd in one frame"
            head = _head_of(stored.read_at, size)
        return "" if _is_pcap(head) else "not a pcap file" if identify(head) is None else "a pcapng file"


def _is_pcap(head: bytes) -> bool:
    known = identify(head)
    return known is not None and known[0].kind == PCAP


def _head_of(read: Callable[[int, int], bytes], size: int) -> bytes:
    return CaptureSource(_Stored(read, 0, size), hashed=False).read(PCAP_HEADER_BYTES)


def _locate_plain(given: FileRange, head: bytes, stored: FilePart) -> LocatedRange | None:
    known = identify(head)
    if known is None or known[0].kind != PCAP:
        return None
    found = RecordBorders(stored.read_at, given.size, given.parts, known[0], given.longest).range_of(given.part)
    if found is None:
        return None
    start, border = found
    return LocatedRange(given.location, known[0], start, border, border if border is not None or not given.size else given.size)


def _locate_framed(given: FileRange, frames: CompressedFrames, read: Callable[[int, int], bytes]) -> LocatedRange | None:
    known = identify(_head_of(read, given.size))
    if known is None or known[0].kind != PCAP:
        return None
    start = _framed_border(given, given.part, frames, read, known[0])
    if start is None:
        return None
    later = (_framed_border(given, part, frames, read, known[0]) for part in range(given.part + 1, given.parts))
    border = next((each for each in later if each is not None), None)
    first = virtual_offset(start[0], len(start[1]))
    if border is None:
        return LocatedRange(given.location, known[0], first, None, given.size, True)
    return LocatedRange(given.location, known[0], first, virtual_offset(border[0], len(border[1])), border[0], True, border[1])


def _framed_border(
    given: FileRange, part: int, frames: CompressedFrames, read: Callable[[int, int], bytes], state: FileState
) -> tuple[int, bytes] | None:
    """Return the stored offset of a part's first frame, and the number of bytes before its first record; None for an empty part.

    The search ends at the next part, so that borders keep their order.
    """
    if part == 0:
        return 0, bytes(PCAP_HEADER_BYTES)
    end = given.size * (part + 1) // given.parts
    frame = frames.after(given.size * part // given.parts, end)
    if frame is None:
        return None
    plain = CaptureSource(_Stored(read, frame, end), hashed=False)
    longest = longest_packet(state) if given.longest is None else given.longest
    data, wanted = b"", 2 * (state.record_header + longest)
    while wanted <= MAX_SEARCH_BYTES:
        data += plain.read(wanted - len(data))
        found = find_record(data, 0, state, longest=longest)
        if found is not None and found < len(data):
            return frame, data[:found]
        if len(data) < wanted:
            return None
        wanted *= 2
    return None


class _Stored:
    """Stored bytes from an offset on, in order, read in large pieces."""

    def __init__(self, read: Callable[[int, int], bytes], start: int, end: int) -> None:
        self._read, self._at, self._end = read, start, end
        self._held = b""

    def read(self, size: int) -> bytes:
        if not self._held:
            self._held = self._read(self._at, min(_READ_BYTES, self._end - self._at))
            self._at += len(self._held)
        found, self._held = self._held[:size], self._held[size:]
        return found
