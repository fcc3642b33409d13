"""Conversion of IP fragments to rows without reassembly: TCP is a stream, so each fragment is a separate segment.

The first fragment has the TCP header, which gives the sequence numbers of all others; fragments before it wait in the state. A TCP header
that is split across fragments is not read.
"""

from __future__ import annotations

from typing import Final

from kwire.capture._pure.packet_rows import MIXING, PacketRows, TcpHeader, read_tcp
from kwire.capture._pure.packet_view import FRAGMENT, OTHER, PROTOCOL, TCP, UNREADABLE, PacketView
from kwire.capture.packet_columns import (
    EARLY_COST,
    FIN,
    FRAGMENT_NS,
    MAX_FRAGMENT_BYTES,
    MAX_FRAGMENTED_PACKETS,
    RST,
    SYN,
    EarlyFragment,
    FragmentedPacket,
)  # fmt: skip

__all__ = ["Fragments"]

_UNKNOWN: Final = -1


class Fragments:
    """Fragments of a chunk; `spilled` is the payload of waiting fragments (`PacketColumns.spilled`)."""

    def __init__(self, rows: PacketRows) -> None:
        self._rows = rows
        self._state = rows.state
        self._packets = rows.state.carry.fragmented
        self._held = sum(_cost(part.data) for packet in self._packets.values() for part in packet.early)
        self._chunk_bytes = 0
        self.spilled = bytearray()

    def take(self, view: PacketView, time_ns: int) -> None:
        """Add a packet whose fate is `packet_view.FRAGMENT`; the view is consumed."""
        self._state.fragments += 1
        self._chunk_bytes = len(view.data)
        at, end, length, place, more = view.at, view.end, view.end - view.at + view.cut, view.fragment_at, view.more
        packet = self._packet(view, time_ns)
        if place == 0:
            self._begin(packet, view)
        if packet.fate == _UNKNOWN:
            self._hold(packet, EarlyFragment(self._state.packets, time_ns, place, length, more, view.data[at:end]))
        else:
            self._settle(packet, self._state.packets, time_ns, place, length, more, at, end - at)
        if place == 0:
            self._release(packet)
        packet.seen += length
        if not more:
            packet.size = place + length
        if packet.fate != _UNKNOWN and 0 <= packet.size <= packet.seen:
            self._packets.pop(packet.name)

    def _packet(self, view: PacketView, time_ns: int) -> FragmentedPacket:
        while self._packets:
            oldest = next(iter(self._packets.values()))
            if time_ns - oldest.time_ns <= FRAGMENT_NS:
                break
            self._forget(oldest)
        name = bytes((view.version,)) + view.source + view.target + bytes((view.protocol,)) + view.fragment_id.to_bytes(4, "big")
        packet = self._packets.get(name)
        if packet is None:
            if len(self._packets) == MAX_FRAGMENTED_PACKETS:
                self._forget(next(iter(self._packets.values())))
            packet = self._packets[name] = FragmentedPacket(name, time_ns)
        return packet

    def _forget(self, packet: FragmentedPacket) -> None:
        self._held -= sum(_cost(part.data) for part in packet.early)
        del self._packets[packet.name]

    def _begin(self, packet: FragmentedPacket, view: PacketView) -> None:
        start, end = view.at, view.end + view.cut
        fate = view.follow(PROTOCOL + view.protocol)
        if packet.fate != _UNKNOWN:  # seen before: what follows is seen again too
            packet.seen, packet.size = 0, -1
        packet.fate = UNREADABLE if fate == FRAGMENT else fate
        if fate != TCP:
            return
        header = read_tcp(view)
        packet.endpoints, packet.direction, packet.seq, packet.ack, packet.flags, packet.signature, _ = header
        packet.payload_at = header.payload - start
        inner_end = view.end + view.cut
        packet.payload_bytes = -1 if inner_end == end else inner_end - header.payload

    def _hold(self, packet: FragmentedPacket, part: EarlyFragment) -> None:
        cost = _cost(part.data)
        while self._held + cost > MAX_FRAGMENT_BYTES:
            oldest = next(iter(self._packets.values()))
            if oldest is packet:
                return
            self._forget(oldest)
        self._held += cost
        packet.early.append(part)

    def _release(self, packet: FragmentedPacket) -> None:
        for part in packet.early:
            self._held -= _cost(part.data)
            at = self._chunk_bytes + len(self.spilled)
            if packet.fate == TCP:
                self.spilled += part.data
            self._settle(packet, part.number, part.time_ns, part.at, part.length, part.more, at, len(part.data))
        packet.early.clear()

    def _settle(
        self, packet: FragmentedPacket, number: int, time_ns: int, place: int, length: int, more: bool, at: int, stored: int
    ) -> None:
        """Add a row for `length` bytes of a packet, stored at `at`, once its headers are known."""
        self._state.fragments -= 1
        if packet.fate == OTHER:
            self._state.others += 1
            return
        if packet.fate != TCP:
            self._state.unreadable += 1
            return
        begin = place - packet.payload_at
        skipped = min(max(-begin, 0), length)  # bytes of headers
        begin = max(begin + skipped, 0)
        original = length - skipped
        if packet.payload_bytes >= 0:
            begin = min(begin, packet.payload_bytes)
            original = min(original, packet.payload_bytes - begin)
        captured = min(max(stored - skipped, 0), original)
        flags = packet.flags & ~(FIN if place == 0 else SYN | FIN | RST)
        if not more:
            flags |= packet.flags & FIN
        seq = packet.seq + begin + (1 if begin and packet.flags & SYN else 0) & 0xFFFFFFFF
        signature = packet.signature ^ (place * MIXING & 0xFFFFFFFF)
        header = TcpHeader(packet.endpoints, packet.direction, seq, packet.ack, flags, signature, 0)
        self._rows.add(number, time_ns, header, at + skipped, captured, original)


def _cost(data: bytes) -> int:
    return EARLY_COST + len(data)
