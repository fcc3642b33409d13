"""Packets to the shares of a series: as they are, with their number, one after the other.

The pure backend of pyx/capture/packet_routes.pxd. A packet with ports goes to the share of its connection. A fragment of an IP packet goes
to
all: only earlier packets tell its connection, and every share comes to the same result. All shares get the headers of a packet with which
the time of the capture reaches a new multiple of 2**`SWEEP_BITS` ns, because sweeps come then. Whether it is new is decided by this piece
alone: one that was reached before changes nothing. Each packet has a header, little-endian::

    time 8 | number in the piece, from 1 4 | link type 4 | captured 4 | original 4
"""

from __future__ import annotations

import struct
from typing import Final
from zlib import crc32

from kwire.capture._pure.packet_rows import endpoints_of
from kwire.capture._pure.packet_view import FRAGMENT, TCP, PacketView
from kwire.capture.packet_columns import SWEEP_BITS, FileState

__all__ = ["Router"]

_HEADER: Final = struct.Struct("<qIIII").pack


class Router:
    def __init__(self, shares: int) -> None:
        if not shares:
            raise ValueError("packets need a share to go to")
        self._buffers = [bytearray() for _ in range(shares)]
        self._latest_ns = -(1 << 63)

    @property
    def held(self) -> int:
        """Bytes that wait to be taken."""
        return sum(map(len, self._buffers))

    def take(self, share: int) -> bytes:
        if not 0 <= share < len(self._buffers):
            raise IndexError(f"there are {len(self._buffers)} shares")
        found, self._buffers[share] = bytes(self._buffers[share]), bytearray()
        return found

    def add(
        self, state: FileState, view: PacketView, fate: int, link_type: int, time_ns: int, at: int, captured: int, original: int
    ) -> None:
        """Take a packet, at `at` of the view's data, whose fate is TCP, FRAGMENT or EXPORTED, and count it unless it is a fragment."""
        number = state.packets & 0xFFFFFFFF
        whole = _HEADER(time_ns, number, link_type, captured, original) + view.data[at : at + captured]
        if fate == FRAGMENT:
            for buffer in self._buffers:
                buffer += whole
            return
        stored = view.end - view.at
        if fate == TCP:
            ports, headers = view.data[view.at : view.at + 4], view.at - at + min(view.header, stored)
            state.cut_bytes += view.cut + min(stored - view.header, 0)
        else:
            ports, headers = view.ports, view.at - at
            state.cut_bytes += view.cut
        state.tcp += 1
        share = crc32(endpoints_of(view, ports)[0]) % len(self._buffers)
        self._buffers[share] += whole
        if time_ns > self._latest_ns:
            is_new = time_ns >> SWEEP_BITS != self._latest_ns >> SWEEP_BITS
            self._latest_ns = time_ns
            if is_new:
                shown = _HEADER(time_ns, number, link_type, headers, original) + view.data[at : at + headers]
                for other, buffer in enumerate(self._buffers):
                    if other != share:
                        buffer += shown
