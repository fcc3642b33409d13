"""Removal of copies of packets in traffic captured at several points.

Theory of operation. The first point that captures a connection is its *home*; both times of a latency come from its clock. A packet of
another point is a copy if its bytes were captured before. Otherwise it is held, because home may still have it. It is released when home
continues behind it (home lost it), when it fills a hole, or after `HOLD_NS`. Copies are recognized by their bytes, not by packets: network
cards cut segments differently at each point, and checksums made by the card are missing. Only home's retransmissions count, so nothing
counts twice. Pure acknowledgements of other points are dropped.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from kwire.capture.flow import distance
from kwire.capture.packet_columns import ACK, FIN, RST, SYN

__all__ = ["HOLD_NS", "CopyFilter", "PointRow"]

# Capture time that a packet of another point waits for home's: queues in switches and in capturing machines are shorter.
HOLD_NS: Final = 200_000_000

# What is known of a connection that said nothing for so long is forgotten: no copy comes so late.
_FORGET_NS: Final = 300_000_000_000
_SWEEP_ROWS: Final = 65_536
_MOST_RANGES: Final = 32


@dataclass(slots=True, eq=False)
class PointRow:
    """Row of packet columns and its point; times are on the first point's clock."""

    point: int
    number: int
    time_ns: int
    key: bytes
    direction: int
    seq: int
    ack: int
    flags: int
    data: bytes
    offset: int
    captured: int
    original: int
    signature: int
    start: int = 0  # place of its first byte in the stream
    end: int = 0
    done: bool = False


class _Flow:
    """Captured ranges of one direction of a connection, from any point; offsets are unwrapped sequence numbers."""

    __slots__ = ("highest", "isn", "latest", "ranges", "reset")

    def __init__(self) -> None:
        self.isn: int | None = None
        self.latest: int | None = None
        self.ranges: list[tuple[int, int]] = []
        self.highest: dict[int, int] = {}  # point -> the place up to which it has seen bytes
        self.reset = False

    def place(self, seq: int) -> int:
        if self.latest is None:
            self.latest = seq
        return self.latest + distance(seq, self.latest & 0xFFFFFFFF)

    def covers(self, start: int, end: int) -> bool:
        for low, high in reversed(self.ranges):
            if low <= start:
                return end <= high  # ranges are in order and do not touch
        return False

    def add(self, start: int, end: int) -> None:
        if len(self.ranges) == 1 and self.ranges[0][0] <= start <= self.ranges[0][1] <= end:  # nearly always
            self.ranges[0] = (self.ranges[0][0], end)
            self.latest = end
            return
        kept = []
        for low, high in self.ranges:
            if high < start or low > end:
                kept.append((low, high))
            else:
                start, end = min(start, low), max(end, high)
        kept.append((start, end))
        kept.sort()
        self.ranges = kept[-_MOST_RANGES:]
        self.latest = self.ranges[-1][1]


@dataclass(slots=True, eq=False)
class _Connection:
    home: int
    latest_ns: int
    flows: tuple[_Flow, _Flow] = field(default_factory=lambda: (_Flow(), _Flow()))
    held: deque[PointRow] = field(default_factory=deque)


class CopyFilter:
    """Filter that takes the rows of all points in time order and returns each part of the traffic once."""

    def __init__(self) -> None:
        self._connections: dict[bytes, _Connection] = {}
        self._held: deque[tuple[int, _Connection, PointRow]] = deque()
        self._until_sweep = _SWEEP_ROWS

    def take(self, row: PointRow) -> list[PointRow]:
        """Add a row; return the rows that are certainly not copies."""
        before_ns = row.time_ns - HOLD_NS
        kept = self._expire(before_ns) if self._held and self._held[0][0] < before_ns else []
        self._until_sweep -= 1
        if not self._until_sweep:
            self._sweep(row.time_ns - _FORGET_NS)
        connection = self._connections.get(row.key)
        if connection is None or _begins(connection, row):
            if connection is not None:
                kept += self._release_all(connection)
            connection = self._connections[row.key] = _Connection(row.point, row.time_ns)
        if row.time_ns > connection.latest_ns:
            connection.latest_ns = row.time_ns
        flow = connection.flows[row.direction]
        row.start = row.end = flow.place(row.seq)
        row.end += row.original
        if row.flags & (SYN | FIN):
            row.end += (row.flags & SYN != 0) + (row.flags & FIN != 0)
            if row.flags & SYN:
                flow.isn = row.seq
        if row.point == connection.home:
            if connection.held:
                kept += self._release(connection, row)
            if self._is_new_at_home(flow, row):
                kept.append(row)
        elif self._is_new_elsewhere(connection, flow, row):
            kept.append(row)
        return kept

    def finish(self) -> list[PointRow]:
        """Return the rows that are still held."""
        return self._expire(None)

    @staticmethod
    def _is_new_at_home(flow: _Flow, row: PointRow) -> bool:
        if row.start == row.end:
            flow.reset = flow.reset or row.flags & RST != 0
            return True
        highest = flow.highest.get(row.point)
        if highest is None or highest < row.end:
            flow.highest[row.point] = row.end
        if not flow.covers(row.start, row.end):
            flow.add(row.start, row.end)
            return True
        return highest is not None and row.end <= highest  # home's own retransmission

    def _is_new_elsewhere(self, connection: _Connection, flow: _Flow, row: PointRow) -> bool:
        if row.start == row.end:
            if row.flags & RST and not flow.reset:
                self._hold(connection, row)
            return False
        if flow.covers(row.start, row.end):
            return False
        if flow.ranges and row.end <= flow.ranges[-1][1]:
            flow.add(row.start, row.end)
            return True
        self._hold(connection, row)
        return False

    def _hold(self, connection: _Connection, row: PointRow) -> None:
        connection.held.append(row)
        self._held.append((row.time_ns, connection, row))

    def _release(self, connection: _Connection, row: PointRow) -> list[PointRow]:
        """Release rows that home missed, and drop rows that home has captured."""
        acked = connection.flows[1 - row.direction].place(row.ack) if row.flags & ACK else None
        free: list[PointRow] = []
        kept: deque[PointRow] = deque()
        for held in connection.held:
            if held.done:
                continue
            if held.direction == row.direction:
                behind = held.end <= row.start and held.start < held.end
            else:
                behind = acked is not None and held.end <= acked and held.start < held.end
            if behind:
                if self._let_go(connection, held):
                    free.append(held)
            else:
                kept.append(held)
        connection.held = kept
        return free

    @staticmethod
    def _let_go(connection: _Connection, held: PointRow) -> bool:
        """Stop holding a row; return whether it is still new."""
        held.done = True
        flow = connection.flows[held.direction]
        if held.start == held.end:
            is_new, flow.reset = not flow.reset, True
            return is_new
        if flow.covers(held.start, held.end):
            return False
        flow.add(held.start, held.end)
        return True

    def _release_all(self, connection: _Connection) -> list[PointRow]:
        free = [held for held in connection.held if not held.done and self._let_go(connection, held)]
        connection.held.clear()
        return free

    def _sweep(self, before_ns: int) -> None:
        self._until_sweep = _SWEEP_ROWS
        self._connections = {key: each for key, each in self._connections.items() if each.latest_ns >= before_ns or each.held}

    def _expire(self, before_ns: int | None) -> list[PointRow]:
        free = []
        while self._held and (before_ns is None or self._held[0][0] < before_ns):
            _time, connection, row = self._held.popleft()
            if not row.done and self._let_go(connection, row):
                free.append(row)
            while connection.held and connection.held[0].done:
                connection.held.popleft()
        return free


def _begins(connection: _Connection, row: PointRow) -> bool:
    """Return whether this is the SYN of a new connection between the same endpoints."""
    if row.flags & (SYN | ACK) != SYN:
        return False
    flow = connection.flows[row.direction]
    if flow.isn is not None:
        return flow.isn != row.seq
    return bool(flow.ranges) and flow.place(row.seq + 1 & 0xFFFFFFFF) != flow.ranges[0][0]
