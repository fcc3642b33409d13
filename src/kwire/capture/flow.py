"""One direction of a TCP connection: takes segments in any order and returns an in-order byte stream.

Rules: of two values for one byte, the first captured one wins. Bytes cut by snaplen are missing at once, unless a captured copy arrives
while they wait. A hole becomes a gap only by `give_up`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple

__all__ = ["FRAGMENT_COST", "WINDOW", "Flow", "Fragment", "distance"]

# Sequence numbers farther apart than the widest TCP window (RFC 7323: 2**30) do not belong to one stream.
WINDOW: Final = 1 << 30
# What a waiting fragment counts beside its bytes, so that segments of one byte cannot fill the memory.
FRAGMENT_COST: Final = 256

_RECENT: Final = 4


def distance(ahead: int, behind: int) -> int:
    """Return the signed distance of two sequence numbers modulo 2**32."""
    return (ahead - behind + 0x80000000 & 0xFFFFFFFF) - 0x80000000


class Fragment(NamedTuple):
    """Segment behind a hole; `data` is None if snaplen cut it. Positions count stream bytes from 0."""

    start: int
    end: int
    data: bytes | None
    time_ns: int
    packet: int


Deliver = Callable[[bytes, int, int], None]
Lose = Callable[[int, bool, int, int], None]


class Flow:
    """State of one direction."""

    __slots__ = (
        "anchored", "bytes", "bytes_cut", "bytes_lost", "duplicates", "fin_at", "finished", "gaps", "isn", "next", "packets",
        "payload_packets", "position", "recent", "retransmissions", "strays", "waiting", "waiting_bytes",
    )  # fmt: skip

    def __init__(self) -> None:
        self.isn: int | None = None  # initial sequence number, from the SYN or its acknowledgement, else None
        self.next: int | None = None  # sequence number of the next byte, None before the first packet
        self.position = 0  # number of stream bytes before `next`, delivered or lost
        self.anchored = False  # whether the beginning is known, so that missing bytes are a hole
        self.fin_at: int | None = None  # position of the FIN, None before it
        self.finished = False  # whether the stream was delivered up to its FIN, or reset
        self.waiting: list[Fragment] = []
        self.waiting_bytes = 0
        self.recent: list[int] = []
        self.packets = 0
        self.payload_packets = 0
        self.bytes = 0  # delivered
        self.bytes_cut = 0
        self.bytes_lost = 0
        self.gaps = 0  # ranges cut by snaplen or lost
        self.retransmissions = 0
        self.duplicates = 0  # packets captured twice
        self.strays = 0  # packets far outside the window

    @property
    def start(self) -> int | None:
        if self.next is None:
            return None
        return self.next - self.position - (1 if self.fin_at is not None and self.finished else 0) & 0xFFFFFFFF

    def begin(self, isn: int) -> None:
        self.isn = isn
        self.next = isn + 1 & 0xFFFFFFFF
        self.position = 0
        self.anchored = True

    def is_new(self, signature: int) -> bool:
        """Distinguish a packet from its copy, which the same capture may hold twice (tcpdump -i any, mirror ports)."""
        recent = self.recent
        if signature in recent:
            return False
        recent.append(signature)
        if len(recent) > _RECENT:
            del recent[0]
        return True

    def segment(self, seq: int, data: bytes, original: int, time_ns: int, packet: int, copy: bool, deliver: Deliver, lose: Lose) -> None:
        """Add the payload of one packet; `original` is its size on the wire, `copy` marks a packet captured before."""
        if self.next is None:
            self.next = seq
        offset = distance(seq, self.next)
        if not self.anchored:
            if offset == -1 and original == 1:  # a keepalive probe of a connection that was joined in the middle
                return
            # what lies before the first byte seen was skipped, not lost
            self.next = seq
            self.anchored = True
            offset = 0
        if offset == 0 and not self.waiting and not self.finished:
            self._take(data, original - len(data), time_ns, packet, deliver, lose)
            return
        if not -WINDOW < offset < WINDOW:
            self.strays += 1
            return
        fresh = False
        if offset + original > 0 and not self.finished:
            fresh = self._wait(self.position + offset, data, original, time_ns, packet)
            self.drain(deliver, lose)
        if not fresh:
            if copy:
                self.duplicates += 1
            elif offset + original != 0 or original > 1:  # else a keepalive probe: one byte, already acknowledged
                self.retransmissions += 1

    def _take(self, data: bytes, cut: int, time_ns: int, packet: int, deliver: Deliver, lose: Lose) -> None:
        taken = len(data) + cut
        assert self.next is not None
        self.next = self.next + taken & 0xFFFFFFFF
        self.position += taken
        if data:
            self.bytes += len(data)
            deliver(data, time_ns, packet)
        if cut:
            self.bytes_cut += cut
            self.gaps += 1
            lose(cut, True, time_ns, packet)

    def _wait(self, start: int, data: bytes, original: int, time_ns: int, packet: int) -> bool:
        """Buffer the new bytes of a segment behind the hole; return whether it had any."""
        fresh = False
        middle, end = start + len(data), start + original
        if start < self.position:
            data = data[self.position - start :]
            start = self.position
        if data:
            fresh = self._fill(Fragment(start, middle, data, time_ns, packet))
        cut = max(start, middle)
        if cut < end:
            fresh = self._fill(Fragment(cut, end, None, time_ns, packet)) or fresh
        return fresh

    def _fill(self, new: Fragment) -> bool:
        waiting = self.waiting
        index = bisect_right(waiting, new.start, key=_start_of)
        if index and waiting[index - 1].end > new.start:
            index -= 1
        at, fresh = new.start, False
        while at < new.end:
            if index == len(waiting) or waiting[index].start >= new.end:
                self._insert(index, _part(new, at, new.end))
                return True
            old = waiting[index]
            if at < old.start:
                self._insert(index, _part(new, at, old.start))
                at, fresh = old.start, True
                index += 1
            stop = min(old.end, new.end)
            if old.data is None and new.data is not None:
                del waiting[index]
                self.waiting_bytes -= FRAGMENT_COST
                for piece in (_part(old, old.start, at), _part(new, at, stop), _part(old, stop, old.end)):
                    if piece.start < piece.end:
                        self._insert(index, piece)
                        index += 1
                fresh = True
            else:
                index += 1
            at = stop
        return fresh

    def _insert(self, index: int, piece: Fragment) -> None:
        self.waiting.insert(index, piece)
        self.waiting_bytes += FRAGMENT_COST + len(piece.data or b"")

    def drain(self, deliver: Deliver, lose: Lose) -> None:
        while self.waiting and self.waiting[0].start == self.position:
            piece = self.waiting.pop(0)
            self.waiting_bytes -= FRAGMENT_COST + len(piece.data or b"")
            self._take(
                piece.data or b"", 0 if piece.data is not None else piece.end - piece.start, piece.time_ns, piece.packet, deliver, lose
            )

    def give_up(self, until: int, time_ns: int, packet: int, deliver: Deliver, lose: Lose) -> None:
        """Declare every hole before position `until` a gap and deliver the bytes behind it."""
        self.drain(deliver, lose)
        while self.position < until:
            border = min(until, self.waiting[0].start) if self.waiting else until
            count = border - self.position
            assert self.next is not None
            self.next = self.next + count & 0xFFFFFFFF
            self.position = border
            self.bytes_lost += count
            self.gaps += 1
            if self.waiting:
                time_ns, packet = self.waiting[0].time_ns, self.waiting[0].packet
            lose(count, False, time_ns, packet)
            self.drain(deliver, lose)


def _start_of(piece: Fragment) -> int:
    return piece.start


def _part(piece: Fragment, start: int, end: int) -> Fragment:
    data = None if piece.data is None else piece.data[start - piece.start : end - piece.start]
    return Fragment(start, end, data, piece.time_ns, piece.packet)
