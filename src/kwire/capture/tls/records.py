"""Splitting of one direction's bytes into TLS records, across losses.

    record      type uint8, version uint16, length uint16, body

A loss inside a record with a known header damages that record only: the next border follows from its length. A loss of a header leads to
*seeking*: every possible header is a candidate, and decryption decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

__all__ = ["ALERT", "APPLICATION", "CHANGE_CIPHER", "HANDSHAKE", "Broken", "Record", "RecordState", "RecordStream", "Records"]

CHANGE_CIPHER: Final = 20
ALERT: Final = 21
HANDSHAKE: Final = 22
APPLICATION: Final = 23

_HEARTBEAT: Final = 24
HEADER: Final = 5
MOST_BODY: Final = 16384 + 2048  # RFC 5246, 6.2.3; TLS 1.3 allows 256 more than the plaintext
LEAST_RECORD: Final = 22  # a header, one byte and a tag: what a lost record takes at least
_CANDIDATE: Final = re.compile(rb"[\x14-\x18]\x03[\x00-\x04]")
_MOST_SOUGHT: Final = 4 * MOST_BODY  # bytes that a search may hold
_MOST_PENDING: Final = 64

Mark = tuple[int, int]  # time, packet


class Record(NamedTuple):
    """A record.

    Attributes:
        first, last: time and packet of its first and last byte.
    """

    kind: int
    version: int
    body: bytes
    first: Mark
    last: Mark
    first_bytes: int  # bytes of the body that came with the first byte
    lost_before: int = 0  # most records that may be lost before it
    gap: int = 0  # bytes of lost records and of their rest, without this record


class Broken(NamedTuple):
    """Record with lost bytes."""

    kind: int
    size: int  # of its body on the wire
    beginning: bytes  # bytes of the body before the loss
    cut: bool  # the loss is snaplen's
    mark: Mark


# Whether a candidate is a record: (kind, version, body, most records lost before it).
Accepts = Callable[[int, int, bytes, int], bool]


class RecordState(NamedTuple):
    """Stored state of either backend: the attributes of `RecordStream`."""

    buffer: bytes = b""
    marks: tuple[tuple[int, int, int], ...] = ()
    base: int = 0
    skip: int = 0
    seeking: bool = False
    sound_end: int = 0
    candidates: tuple[int, ...] = ()
    scanned: int = 0
    ended: bool = False
    opaque: int = 0


class Records(Protocol):
    """Interface of both backends (`kwire.capture.impl.record_stream`)."""

    seeking: bool  # the next border is not known
    ended: bool  # the rest of the direction has no records
    opaque: int  # bytes outside records

    def take(self, data: bytes, t: int, packet: int) -> bool:
        """Add bytes; return whether `records` may return some."""

    def records(self, accepts: Accepts) -> list[Record]:
        """Return the whole records so far; after a loss, from the first that `accepts` recognizes."""

    def lose(self, count: int, t: int, packet: int, cut: bool) -> Broken | None:
        """Skip `count` missing bytes; return the damaged record."""

    def unfinished(self) -> Broken | None:
        """Return the incomplete record; None if the next border is unknown."""

    def give_up(self) -> None: ...


class RecordStream:
    """Records of one direction; `state` is a stored state of either backend, or None."""

    __slots__ = ("_base", "_buffer", "_candidates", "_marks", "_scanned", "_skip", "_sound_end", "ended", "opaque", "seeking")

    def __init__(self, state: RecordState | None = None) -> None:
        state = state or RecordState()
        self._buffer = bytearray(state.buffer)
        self._marks = list(state.marks)  # offset in the stream, time, packet
        self._base = state.base  # offset in the stream of the buffer's first byte
        self._skip = state.skip  # bytes until the end of a broken record
        self.seeking = state.seeking
        self._sound_end = state.sound_end  # where the last record ended whose place is known
        self._candidates = list(state.candidates)
        self._scanned = state.scanned
        self.ended = state.ended
        self.opaque = state.opaque

    def state(self) -> RecordState:
        return RecordState(
            bytes(self._buffer), tuple(self._marks), self._base, self._skip, self.seeking, self._sound_end, tuple(self._candidates),
            self._scanned, self.ended, self.opaque,
        )  # fmt: skip

    def take(self, data: bytes, t: int, packet: int) -> bool:
        if self.ended:
            self.opaque += len(data)
            self._base += len(data)
            return False
        if self._skip:
            taken = min(self._skip, len(data))
            self._skip -= taken
            self._base += taken
            data = data[taken:]
            if not self._skip:
                self._sound_end = self._base
        if not data:
            return False
        self._marks.append((self._base + len(self._buffer), t, packet))
        self._buffer += data
        return self.seeking or self._has_record()

    def _has_record(self) -> bool:
        buffer = self._buffer
        if len(buffer) < HEADER:
            return False
        size = int.from_bytes(buffer[3:5], "big")
        return not self._is_header(0) or len(buffer) >= HEADER + size

    def _is_header(self, at: int) -> bool:
        buffer = self._buffer
        size = int.from_bytes(buffer[at + 3 : at + 5], "big")
        return CHANGE_CIPHER <= buffer[at] <= _HEARTBEAT and buffer[at + 1] == 3 and size <= MOST_BODY

    def records(self, accepts: Accepts) -> list[Record]:
        made: list[Record] = []
        if self.seeking:
            found = self._seek(accepts)
            if found is None:
                return made
            made.append(found)
        buffer, at = self._buffer, 0
        while len(buffer) - at >= HEADER:
            if not self._is_header(at):
                self.ended = True
                self.opaque += len(buffer) - at
                at = len(buffer)
                break
            end = at + HEADER + int.from_bytes(buffer[at + 3 : at + 5], "big")
            if len(buffer) < end:
                break
            made.append(self._record(at, end))
            at = end
        self._drop(at)
        if at:
            self._sound_end = self._base
        return made

    def _record(self, at: int, end: int, lost: int = 0, gap: int = 0) -> Record:
        buffer = self._buffer
        first, last = self._mark(self._base + at), self._mark(self._base + end - 1)
        first_bytes = end - at - HEADER
        if first != last:
            following = next((mark[0] for mark in self._marks if mark[0] > self._base + at), self._base + end)
            first_bytes = max(following - self._base - at - HEADER, 0)
        version = int.from_bytes(buffer[at + 1 : at + 3], "big")
        return Record(buffer[at], version, bytes(buffer[at + HEADER : end]), first, last, first_bytes, lost, gap)

    def _mark(self, offset: int) -> Mark:
        found = self._marks[0]
        for mark in self._marks:
            if mark[0] > offset:
                break
            found = mark
        return found[1:]

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self._base += count
        passed = next((index for index, mark in enumerate(self._marks) if mark[0] > self._base), len(self._marks)) - 1
        if passed > 0:
            del self._marks[:passed]
        if not self._buffer:
            self._marks.clear()

    def lose(self, count: int, t: int, packet: int, cut: bool) -> Broken | None:
        if self.ended:
            self._base += count
            return None
        broken: Broken | None = None
        if self._skip:
            taken = min(self._skip, count)
            self._skip -= taken
            self._base += taken
            count -= taken
            if self._skip or not count:
                if not self._skip:
                    self._sound_end = self._base
                return None
            self._sound_end = self._base
        elif not self.seeking and len(self._buffer) >= HEADER:
            buffer = self._buffer
            size = int.from_bytes(buffer[3:5], "big")
            broken = Broken(buffer[0], size, bytes(buffer[HEADER:]), cut, (t, packet))
            rest = HEADER + size - len(buffer)
            self._drop(len(buffer))
            taken = min(rest, count)
            self._base += taken
            self._skip = rest - taken
            count -= taken
            if not self._skip:
                self._sound_end = self._base
            if not count:
                return broken
        self._base += len(self._buffer) + count
        self.opaque += len(self._buffer)
        self._buffer.clear()
        self._marks.clear()
        self._candidates, self._scanned = [], self._base
        self.seeking = True
        return broken

    def unfinished(self) -> Broken | None:
        buffer = self._buffer
        if self.ended or self._skip or self.seeking or len(buffer) < HEADER:
            return None
        last = self._mark(self._base + len(buffer) - 1)
        return Broken(buffer[0], int.from_bytes(buffer[3:5], "big"), bytes(buffer[HEADER:]), False, last)

    def _seek(self, accepts: Accepts) -> Record | None:
        buffer, base = self._buffer, self._base
        for found in _CANDIDATE.finditer(buffer, max(self._scanned - base, 0)):
            if len(self._candidates) < _MOST_PENDING:
                self._candidates.append(base + found.start())
        self._scanned = base + max(len(buffer) - 2, 0)
        waiting = []
        for offset in self._candidates:
            at = offset - base
            if len(buffer) - at < HEADER:
                waiting.append(offset)
                continue
            size = int.from_bytes(buffer[at + 3 : at + 5], "big")
            end = at + HEADER + size
            if not 0 < size <= MOST_BODY:
                continue
            if end > len(buffer):
                waiting.append(offset)
                continue
            gap = offset - self._sound_end
            if accepts(buffer[at], int.from_bytes(buffer[at + 1 : at + 3], "big"), bytes(buffer[at + HEADER : end]), gap // LEAST_RECORD):
                record = self._record(at, end, gap // LEAST_RECORD, gap)
                self.opaque += at
                self._drop(end)
                self.seeking, self._candidates = False, []
                self._sound_end = self._base
                return record
        self._candidates = waiting
        if len(buffer) > _MOST_SOUGHT:
            first = min(waiting[0] if waiting else base + len(buffer) - 2, base + len(buffer) - 2) - base
            first = max(first, len(buffer) - _MOST_SOUGHT // 2)
            self.opaque += first
            self._candidates = [offset for offset in waiting if offset >= base + first]
            self._drop(first)
        return None

    def give_up(self) -> None:
        self.opaque += len(self._buffer)
        self._base += len(self._buffer)
        self._buffer.clear()
        self._marks.clear()
        self.ended = True
