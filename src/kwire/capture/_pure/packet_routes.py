"""Routing of packets to the shares of a series: each packet is appended unchanged, with its number.

The pure backend of pyx/capture/packet_routes.pxd. A packet with ports goes to the share of its connection. A fragment of an IP packet goes
to all shares, because only earlier packets tell its connection. When the capture's time reaches a new multiple of 2**`SWEEP_BITS` ns, all
shares get the headers of that packet, because it starts a sweep. A multiple that an earlier range has reached already changes nothing. Each
packet has a header, little-endian::

    time 8 | number in the range, from 1 4 | link type 4 | captured 4 | original 4
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
            raise ValueError("expected at least one share")
        self._buffers = [bytearray() for _ in range(shares)]
        self._latest_ns = -(1 << 63)

    @property
    def held(self) -> int:
        """Number of bytes not yet taken."""
        return sum(map(len, self._buffers))

    def take(self, share: int) -> bytes:
        if not 0 <= share < len(self._buffers):
            raise IndexError(f"there are {len(self._buffers)} shares")
        found, self._buffers[share] = bytes(self._buffers[share]), bytearray()
        return found

    def add(
        self, state: FileState, view: PacketView, fate: int, link_type: int, time_ns: int, at: int, captured: int, original: int
    ) -> None:
        """Route a packet at `at` of the view's data, whose fate is TCP, FRAGMENT or EXPORTED; count it unless it is a fragment."""
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
