"""Splitter of one direction into frames; after a loss it searches for the next frame border.

    frame    length int32, then that many bytes
    stream   frame frame frame ...

Theory of operation. While *in step* the next byte begins a frame. A loss inside a frame of known length damages that frame only: bytes
before the loss are kept, and the next border follows from the length. A loss that includes a length, a late join and an impossible length
all lead to *seeking*: every position is a candidate, and a `Judge` accepts it, rejects it or asks for more bytes. The candidate that needs
the fewest bytes wins. So the result depends only on the bytes, not on their chunks, and a large false length does not delay the search. No
memory is reserved for a claimed length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

__all__ = ["LEAST_BELIEVED", "MAX_CANDIDATES", "MAX_FRAME", "REJECT", "Frame", "FrameFault", "FrameSplitter", "Judge"]

# Kafka's default of socket.request.max.bytes; responses are as a rule smaller (fetch.max.bytes is 55 MB at most by default).
MAX_FRAME: Final = 100 * 1024 * 1024

REJECT: Final = 0
# A judge accepts a frame with its last byte, or with a fixed number of its bytes.
LEAST_BELIEVED: Final = 4 + (1 << 16)
# Candidates that may wait for bytes at once: a bound on work, not a matter of finding; chance makes a few in a megabyte.
_MOST_PENDING: Final = 32
# Candidates in a row that came to nothing, after which a direction is given up: made-up bytes could otherwise cost any time. In a gigabyte
# of random bytes there are a few dozen.
MAX_CANDIDATES: Final = 100_000

# So many frames in a row, each where the one before it ends, say that a border that was searched for is one.
_PROVEN: Final = 3

Enough = Callable[[bytes], int]


class Judge(Protocol):
    """Decision whether a frame begins at a position, while borders are unknown."""

    def find(self, data: bytes, start: int) -> int:
        """Return the first candidate from `start` on, or -1; a later call checks the last `window` - 1 positions."""

    @property
    def window(self) -> int: ...
    def judge(self, data: bytes, start: int) -> int:
        """Return `REJECT` or a number of bytes from `start` on: the frame is accepted if they are present, otherwise wait for them."""

    def salvage(self, data: bytes, start: int, lost: int, at_border: bool) -> bool:
        """Return whether a frame begins at `start` (`at_border`: of a segment) whose end is among `lost` bytes missing behind `data`."""


@dataclass(slots=True)
class Frame:
    """Ended frame."""

    payload: bytes  # without the length; shorter than it if bytes are lost or skipped
    length: int
    offset: int  # of the first byte of the length, as `packet` and `begin_time`
    packet: int
    begin_time: int
    end_time: int  # of the last byte; if that is lost, of the discovery
    damaged: bool = False  # bytes of it are lost
    ended: bool = field(default=True, compare=False)  # the time of its last byte is known, also if only snaplen cut it off
    doubtful: bool = field(default=False, compare=False)  # borders were found again a few frames ago: faults may be due to a wrong border
    unfinished: bool = field(default=False, compare=False)  # the direction ended before it did

    def __repr__(self) -> str:
        # The payload may be a SASL token.
        return f"Frame({self.length} bytes at {self.offset}{', damaged' if self.damaged else ''})"


@dataclass(slots=True)
class FrameFault:
    """Offset of an unreadable frame: an impossible length, or a frame cut by the end."""

    kind: Literal["negative", "too_large", "unfinished"]
    length: int
    have: int  # bytes of it that came
    offset: int
    packet: int
    time: int
    payload: bytes = b""
    doubtful: bool = field(default=False, compare=False)


class FrameSplitter:
    """Frames of one direction.

    `enough` takes the first bytes of a payload and returns the number of bytes to keep, 0 for all; the rest is only counted. If it asks for
    more bytes, it is called again with them.
    """

    __slots__ = (
        "_base", "_broken", "_buffer", "_candidates", "_marks", "_need", "_pending", "_scanned", "_skip", "_skipped_time", "_sought_from",
        "_unproven", "bytes_opaque", "enough", "max_frame", "seeking",
    )  # fmt: skip

    def __init__(self, *, seeking: bool = False, max_frame: int = MAX_FRAME, offset: int = 0, enough: Enough | None = None) -> None:
        self.enough = enough
        self.seeking = seeking
        self.max_frame = max_frame
        self.bytes_opaque = 0
        self._base = offset  # stream offset of the first byte of the buffer
        self._buffer = bytearray()
        self._marks: list[tuple[int, int, int]] = []  # (stream offset, time, packet) of each run of bytes in the buffer
        self._need = 4  # a buffer shorter than this cannot say anything new
        self._broken: Frame | None = None  # a damaged frame, or one that is passed over, whose end has not come
        self._skip = 0  # bytes until that end
        self._skipped_time = 0
        self._sought_from = offset  # where the search for a border began
        self._pending: list[tuple[int, int]] = []  # (stream offset, bytes needed) of candidates that wait for bytes
        self._candidates = 0  # looked at since the last frame
        self._unproven = 0  # frames that are still wanted as a proof of the border that was found
        self._scanned = 0  # stream offset up to which candidates were looked for

    def prove(self, frames: int) -> None:
        self._unproven = max(self._unproven - frames, 0)

    @property
    def position(self) -> int:
        return self._base + len(self._buffer)

    def feed(self, data: bytes, t: int, packet: int, judge: Judge) -> Iterator[Frame | FrameFault]:
        """Add bytes; yield frames and faults in order. Exhaust the iterator."""
        if self._broken is not None:
            taken = min(self._skip, len(data))
            self._skip -= taken
            self._base += taken
            self._skipped_time = t
            if self._skip:
                return
            yield self._end_broken()
            data = data[taken:]
        if not data:
            return
        if not self._marks or self._marks[-1][1:] != (t, packet):
            if len(self._marks) > 1 and self._need > 4 and not self.seeking:
                # In a frame whose length is known only the first mark counts and that of the piece that ends it.
                self._marks.pop()
            self._marks.append((self.position, t, packet))
        if self._buffer:
            self._buffer += data
            if len(self._buffer) < self._need:
                return
            data = bytes(self._buffer)
        yield from self._split(data, t, judge)

    def _split(self, data: bytes, t: int, judge: Judge) -> Iterator[Frame | FrameFault]:
        base, pos, size = self._base, 0, len(data)
        while True:
            if self.seeking:
                found, need = self._seek(data, pos, judge)
                self.bytes_opaque += found - pos
                pos = found
                if need:
                    break
                self.seeking = False
                self._unproven = _PROVEN
            need = 4
            if size - pos < 4:
                break
            length = int.from_bytes(data[pos : pos + 4], "big", signed=True)
            if not 0 <= length <= self.max_frame:
                begin_time, packet = self._mark(base + pos)
                kind: Literal["negative", "too_large"] = "negative" if length < 0 else "too_large"
                yield FrameFault(kind, length, 4, base + pos, packet, begin_time, doubtful=self._unproven > 0)
                self.seeking = True
                self.bytes_opaque += 1
                pos += 1
                continue
            need = 4 + length
            if size - pos < need:
                if self.enough is not None and (head := self.enough(data[pos + 4 :])):
                    if head <= size - pos - 4:
                        self._pass_over(data, pos, length, head)
                        return
                    need = min(need, 4 + head)
                break
            begin_time, packet = self._mark(base + pos)
            yield Frame(data[pos + 4 : pos + need], length, base + pos, packet, begin_time, t, doubtful=self._unproven > 0)
            self.prove(1)
            pos += need
        self._keep(data, pos, need)

    def _pass_over(self, data: bytes, pos: int, length: int, head: int) -> None:
        begin_time, packet = self._mark(self._base + pos)
        payload, is_doubtful = data[pos + 4 : pos + 4 + head], self._unproven > 0
        self._broken = Frame(payload, length, self._base + pos, packet, begin_time, begin_time, doubtful=is_doubtful)
        self._skip = 4 + length - (len(data) - pos)
        self._buffer.clear()
        self._drop(len(data))

    def _keep(self, data: bytes, pos: int, need: int) -> None:
        self._base += pos
        self._need = need
        if pos == len(data):
            self._buffer.clear()
            self._marks.clear()
            return
        self._buffer = bytearray(memoryview(data)[pos:])
        index = self._mark_index(self._base)
        if index > 0:
            del self._marks[:index]

    def _seek(self, data: bytes, pos: int, judge: Judge) -> tuple[int, int]:
        """Return the offset of a frame and 0; without one, the end of the search and the number of bytes needed from there."""
        base, best, end = self._base, -1, len(data) + 1
        waiting: list[tuple[int, int]] = []
        at = max(self._scanned - base, pos)
        for offset, need in self._pending:
            found = offset - base
            size = need if need > len(data) - found else judge.judge(data, found)
            if size > len(data) - found:
                waiting.append((offset, size))
            elif size != REJECT and found + size < end:
                best, end = found, found + size
        while len(waiting) < _MOST_PENDING:
            found = judge.find(data, at) if self._candidates < MAX_CANDIDATES else -1
            if not 0 <= found < end:
                at = max(at, len(data) - judge.window + 1) if found < 0 else at
                break
            self._candidates += 1
            at = found + 1
            if best >= 0 and found + min(4 + int.from_bytes(data[found : found + 4], "big"), LEAST_BELIEVED) >= end:
                continue  # it cannot be accepted with fewer bytes of the stream
            size = judge.judge(data, found)
            if size > len(data) - found:
                waiting.append((base + found, size))
            elif size != REJECT and found + size < end:
                best, end = found, found + size
        if best >= 0:
            self._pending, self._scanned, self._candidates = [], 0, 0
            return best, 0
        self._pending, self._scanned = waiting, base + at
        if waiting:
            return waiting[0][0] - base, len(data) - (waiting[0][0] - base) + 1
        return at, judge.window

    def _mark_index(self, offset: int) -> int:
        return bisect_right(self._marks, offset, key=lambda mark: mark[0]) - 1

    def _mark(self, offset: int) -> tuple[int, int]:
        return self._marks[max(self._mark_index(offset), 0)][1:]

    def _end_broken(self) -> Frame:
        broken = self._broken
        assert broken is not None
        broken.end_time = self._skipped_time
        if not broken.damaged:
            self.prove(1)
        self._broken = None
        self._skip = 0
        return broken

    def lose(self, n: int, t: int, judge: Judge, cut: bool = False) -> Iterator[Frame]:
        """Mark the next `n` bytes as lost, or as cut by snaplen; yield the frame that ends with them. Exhaust the iterator."""
        if self._broken is not None:
            self._broken.damaged, self._broken.doubtful = True, False
            self._skipped_time = t
            taken = min(n, self._skip)
            self._skip -= taken
            self._base += taken
            n -= taken
            if self._skip:
                return
            self._broken.ended = cut
            yield self._end_broken()
            if n:
                self._base += n
                self._sought_from = self._base
                self.seeking = True
            return
        data = bytes(self._buffer)
        start = self._salvage(data, n, judge) if self.seeking else 0
        if start is None or len(data) - start < 4:
            self.bytes_opaque += len(data)
            self.seeking = True
            self._drop(len(data) + n)
            self._sought_from = self._base
            return
        self.bytes_opaque += start
        if self.seeking:
            self._unproven = _PROVEN
        self.seeking = False
        length = int.from_bytes(data[start : start + 4], "big", signed=True)
        begin_time, packet = self._mark(self._base + start)
        self._broken = Frame(data[start + 4 :], length, self._base + start, packet, begin_time, t, damaged=True)
        self._skip = 4 + length - (len(data) - start)
        self._drop(len(data))
        yield from self.lose(n, t, judge, cut)

    def _salvage(self, data: bytes, n: int, judge: Judge) -> int | None:
        pos = 0
        while (found := judge.find(data, pos)) >= 0:
            if judge.salvage(data, found, n, self._base + found == self._sought_from):
                return found
            pos = found + 1
        return None

    def _drop(self, n: int) -> None:
        self._base += n
        self._buffer = bytearray()
        self._marks.clear()
        self._need = 4
        self._pending, self._scanned = [], 0

    def end(self, t: int) -> Iterator[Frame | FrameFault]:
        if self._broken is not None:
            self._skipped_time = t
            rest, frame = self._skip, self._end_broken()
            if frame.damaged:
                frame.ended, frame.unfinished = False, True
                yield frame
            else:
                have = 4 + frame.length - rest
                yield FrameFault("unfinished", frame.length, have, frame.offset, frame.packet, frame.begin_time, frame.payload)
            return
        have = len(self._buffer)
        if self.seeking:
            self.bytes_opaque += have
        elif have:
            length = int.from_bytes(self._buffer[:4], "big", signed=True) if have >= 4 else -1
            begin_time, packet = self._mark(self._base)
            yield FrameFault("unfinished", length, have, self._base, packet, begin_time, bytes(self._buffer[4:]))
        self._drop(have)

    def __repr__(self) -> str:
        return f"FrameSplitter({'seeking' if self.seeking else 'in step'} at {self.position})"
