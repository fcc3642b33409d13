"""One TCP connection: takes packets and returns two streams, in an order consistent with acknowledgements.

A packet that acknowledges bytes not yet captured is *early*: the capture swapped it with the packet that has them, or they were lost. Early
packets are held for up to `REORDER_PACKETS` packets; then the hole is a gap. So a response never precedes its request, and a swap causes no
gap. A RST beyond the captured bytes is early too; if both sides continue, its receiver ignored it (RFC 9293, 3.10.7.4: outside the window).
"""

from __future__ import annotations

from functools import lru_cache, partial
from ipaddress import ip_address
from typing import Final, NamedTuple

from kwire.capture.flow import WINDOW, Flow, distance
from kwire.capture.packet_columns import ACK, FIN, RST, SYN
from kwire.capture.sink import StreamSink

__all__ = ["MAX_WAITING_BYTES", "REORDER_PACKETS", "Endpoint", "Segment", "TcpConnection", "endpoints_of"]

# How many packets of its connection an early packet lets pass. Swaps in captures are between neighbours, or a few apart with several
# queues.
REORDER_PACKETS: Final = 8
# A hole is a gap when this much waits behind it: more than a receive window of a fast far connection (10 Gbit/s at 3 ms).
MAX_WAITING_BYTES: Final = 4 << 20

_UNUSUAL: Final = SYN | FIN | RST | ACK


class Endpoint(NamedTuple):
    address: str
    port: int


class Segment(NamedTuple):
    """A TCP packet; `original` counts its payload on the wire, `payload` has the captured bytes."""

    direction: int
    seq: int
    ack: int
    flags: int
    payload: bytes
    original: int
    signature: int
    time_ns: int
    packet: int


class TcpConnection:
    """State of a connection.

    Attributes:
        first_ns, last_ns: times of the first and the latest packet.
    """

    __slots__ = ("answered", "attachment", "begun", "closed_ns", "first_ns", "flows", "held", "ignored", "key", "last_ns", "n", "opened_by")

    def __init__(self, key: bytes, n: int, time_ns: int) -> None:
        self.key = key  # both endpoints as packed bytes: IP version, address a, port a, address b, port b
        self.n = n  # number of earlier connections of the same endpoints
        self.opened_by: int | None = None  # direction of the SYN, None if the connection was joined in the middle
        self.answered = False  # whether more than a SYN was captured
        self.flows = (Flow(), Flow())  # streams from a to b and from b to a
        self.held: list[Segment] = []
        self.first_ns = self.last_ns = time_ns
        self.closed_ns: int | None = None  # time when both sides had closed or one had reset, else None
        self.attachment: object = None  # state of the layer above this one
        self.ignored = False  # whether the layer above skips its streams
        self.begun = 0  # number of the connection among the open connections of its series

    @property
    def expires(self) -> bool:
        """True if it can change by time alone: it is closed, unanswered, or holds packets."""
        return self.closed_ns is not None or not self.answered or bool(self.held)

    @property
    def a(self) -> Endpoint:
        return endpoints_of(self.key)[0]

    @property
    def b(self) -> Endpoint:
        return endpoints_of(self.key)[1]

    @property
    def refused(self) -> bool:
        """True if a RST answered the SYN; after a FIN, there was a connection."""
        return (
            self.closed_ns is not None
            and not any(flow.fin_at is not None for flow in self.flows)
            and not any(flow.payload_packets for flow in self.flows)
            and sum(flow.isn is not None for flow in self.flows) == 1
        )

    def in_order(self, direction: int, seq: int, ack: int, flags: int, captured: int, original: int, signature: int, time_ns: int) -> bool:
        """Handle a packet of an in-order connection quickly: return True to deliver its payload, False if `receive` must handle it."""
        own, other = self.flows[direction], self.flows[1 - direction]
        if (
            self.held
            or seq != own.next
            or flags & _UNUSUAL != ACK
            or captured != original
            or own.waiting
            or own.fin_at is not None
            or not (own.anchored and other.anchored)
            or (ack != other.next and 0 < distance(ack, other.next or 0) < WINDOW)
        ):
            return False
        if time_ns > self.last_ns:
            self.last_ns = time_ns
        self.answered = True
        own.packets += 1
        if captured:
            own.payload_packets += 1
            own.is_new(signature)
            own.next = seq + captured & 0xFFFFFFFF
            own.position += captured
            own.bytes += captured
        return True

    def receive(self, segment: Segment, sink: StreamSink) -> None:
        if segment.time_ns > self.last_ns:
            self.last_ns = segment.time_ns
        if segment.flags & (SYN | ACK) != SYN:
            self.answered = True
        self.flows[segment.direction].packets += 1
        if self._is_reset_ignored(segment):
            self.flows[segment.direction].strays += 1
            del self.held[0]
            self._release(sink, REORDER_PACKETS)
        if self.held:
            if self._fills(segment):
                self._process(segment, sink)
            else:
                self.held.append(segment)
            self._release(sink, REORDER_PACKETS)
        elif self._early_by(segment):
            self.held.append(segment)
        else:
            self._process(segment, sink)

    def resolve(self, sink: StreamSink) -> None:
        """Turn holes before an acknowledgement into gaps."""
        self._release(sink, 0)

    def finish(self, time_ns: int, packet: int, sink: StreamSink) -> None:
        self._release(sink, 0)
        for direction in (0, 1):
            self._give_up_waiting(direction, time_ns, packet, sink)

    def _early_by(self, segment: Segment) -> int:
        """Return the number of missing bytes that the packet implies, of the other side or, for a RST, of its own."""
        flags = segment.flags
        if flags & RST:
            flow, sequence = self.flows[segment.direction], segment.seq
        elif flags & ACK:
            flow, sequence = self.flows[1 - segment.direction], segment.ack
        else:
            return 0
        if not flow.anchored or flow.next is None or sequence == flow.next:
            return 0
        ahead = distance(sequence, flow.next)
        return ahead if 0 < ahead < WINDOW else 0

    def _fills(self, segment: Segment) -> bool:
        first = self.held[0]
        hole, needed = (first.direction, first.seq) if first.flags & RST else (1 - first.direction, first.ack)
        return segment.direction == hole and not segment.flags & RST and distance(needed, segment.seq) > 0

    def _is_reset_ignored(self, segment: Segment) -> bool:
        """Tell whether the first held packet is a RST that was ignored: both sides continued, the sender with this much lower segment."""
        if not self.held or not self.held[0].flags & RST or not self._fills(segment):
            return False
        first = self.held[0]
        is_below = distance(first.seq, segment.seq + segment.original & 0xFFFFFFFF) > 0
        return is_below and any(each.direction != first.direction and not each.flags & RST for each in self.held)

    def _release(self, sink: StreamSink, allowed: int) -> None:
        while self.held:
            first = self.held[0]
            missing = self._early_by(first)
            if missing:
                if len(self.held) <= allowed:
                    return
                direction = first.direction if first.flags & RST else 1 - first.direction
                flow = self.flows[direction]
                # One byte with nothing behind it is the FIN, whose packet was lost. Where the other side closes too, that is sure, and who
                # closed first is not lost with it.
                if missing == 1 and first.flags & FIN and flow.fin_at is None and not flow.waiting:
                    flow.fin_at = flow.position
                    self._close_if_done(direction, first.time_ns, first.packet, sink)
                elif missing > 1 or flow.waiting or first.flags & RST:
                    until = flow.position + missing
                    if flow.fin_at is not None:
                        until = min(until, flow.fin_at)
                    deliver, lose = self._callbacks(direction, sink)
                    flow.give_up(until, first.time_ns, first.packet, deliver, lose)
                    self._close_if_done(direction, first.time_ns, first.packet, sink)
            self._process(self.held.pop(0), sink)

    def _callbacks(self, direction: int, sink: StreamSink) -> tuple[partial[None], partial[None]]:
        if self.ignored:
            return partial(_ignore), partial(_ignore)
        return partial(sink.data, self, direction), partial(sink.lost, self, direction)

    def _process(self, segment: Segment, sink: StreamSink) -> None:
        direction, seq, ack, flags, payload, original, signature, time_ns, packet = segment
        own, other = self.flows[direction], self.flows[1 - direction]
        if flags & RST:
            self._reset(segment, sink)
            return
        if flags & SYN:
            if own.position == 0 and not own.waiting and not own.finished:
                own.begin(seq)
            else:
                own.isn = seq
            if flags & ACK:
                if other.next is None or not other.anchored:
                    other.begin(ack - 1 & 0xFFFFFFFF)
                if self.opened_by is None:
                    self.opened_by = 1 - direction
            else:
                self.opened_by = direction
            seq = seq + 1 & 0xFFFFFFFF
        elif own.next is None:
            own.next = seq
        if flags & ACK and not other.anchored and (other.next is None or 0 < distance(ack, other.next) < WINDOW):
            other.next = ack
        if original:
            own.payload_packets += 1
            copy = not own.is_new(signature)
            deliver, lose = self._callbacks(direction, sink)
            own.segment(seq, payload, original, time_ns, packet, copy, deliver, lose)
            while own.waiting_bytes > MAX_WAITING_BYTES:
                own.give_up(own.waiting[0].start, time_ns, packet, deliver, lose)
        if flags & FIN and own.fin_at is None and own.next is not None:
            if not own.anchored:
                own.next = seq
            own.fin_at = own.position + distance(seq + original & 0xFFFFFFFF, own.next)
        if own.fin_at is not None:
            self._close_if_done(direction, time_ns, packet, sink)

    def _close_if_done(self, direction: int, time_ns: int, packet: int, sink: StreamSink) -> None:
        own, other = self.flows[direction], self.flows[1 - direction]
        if own.finished or own.fin_at is None or own.position < own.fin_at or own.next is None:
            return
        own.finished = True
        own.next = own.next + 1 & 0xFFFFFFFF
        if other.finished and self.closed_ns is None:
            self.closed_ns = time_ns
        if not self.ignored:
            sink.closed(self, direction, False, time_ns, packet)

    def _reset(self, segment: Segment, sink: StreamSink) -> None:
        direction, seq, time_ns, packet = segment.direction, segment.seq, segment.time_ns, segment.packet
        own = self.flows[direction]
        if own.next is None:
            own.next = seq
        elif own.anchored and not -WINDOW < distance(seq, own.next) < WINDOW:
            own.strays += 1
            return
        other = self.flows[1 - direction]
        if segment.flags & ACK and other.next is None:  # the refusal of a SYN that the capture has behind it
            other.next = segment.ack
        self._give_up_waiting(0, time_ns, packet, sink)
        self._give_up_waiting(1, time_ns, packet, sink)
        if self.closed_ns is None:
            self.closed_ns = time_ns
            if not self.ignored:
                sink.closed(self, direction, True, time_ns, packet)

    def _give_up_waiting(self, direction: int, time_ns: int, packet: int, sink: StreamSink) -> None:
        flow = self.flows[direction]
        if flow.waiting:
            deliver, lose = self._callbacks(direction, sink)
            flow.give_up(flow.waiting[-1].end, time_ns, packet, deliver, lose)
        if flow.fin_at is not None and not flow.finished:
            if flow.position < flow.fin_at:
                deliver, lose = self._callbacks(direction, sink)
                flow.give_up(flow.fin_at, time_ns, packet, deliver, lose)
            self._close_if_done(direction, time_ns, packet, sink)


def endpoints_of(key: bytes) -> tuple[Endpoint, Endpoint]:
    size = 4 if key[0] == 4 else 16
    return _endpoint(key[1 : 3 + size]), _endpoint(key[3 + size :])


@lru_cache(maxsize=4096)
def _endpoint(packed: bytes) -> Endpoint:
    return Endpoint(str(ip_address(packed[:-2])), int.from_bytes(packed[-2:], "big"))


def _ignore(*_event: object) -> None:
    return
