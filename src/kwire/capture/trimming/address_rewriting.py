"""Pseudonyms of addresses in every layer of a packet; lengths stay, and right checksums stay right."""

from __future__ import annotations

from typing import Final

from kwire.capture._pure.packet_view import FRAGMENT, PROTOCOL, TCP, PacketView
from kwire.capture.packet_checksums import right_checksum, words_sum
from kwire.capture.trimming.address_pseudonyms import AddressPseudonyms

__all__ = ["rewrite_packet"]

_ETHERNET: Final = 1
_COOKED: Final = {113: 6, 276: 12}  # Linux cooked v1 and v2: where the address of the card lies, in 8 bytes
_WIRELESS_ADDRESSES: Final = (4, 10, 16)
_IPV4_NO_OPERATION: Final = 1
_TCP_NO_OPERATION: Final = 1
# End, no operation, segment size, window scale, SACK and timestamps (RFC 9293, 7323, 2018). Others may carry addresses: MPTCP's ADD_ADDR
# (RFC 8684), and what load balancers put there of the client behind them.
_TCP_OPTIONS: Final = frozenset((0, 1, 2, 3, 4, 5, 8))
_IPV6_SKIPPED: Final = frozenset((0, 43, 44, 51, 60, 135, 139, 140))
_IPV6_WITH_ADDRESSES: Final = frozenset((0, 43, 60, 135, 139, 140))
# Tags of an exported PDU that name no host: protocol, tables, port types and ports, packet numbers, TCP.
_PLAIN_TAGS: Final = frozenset((0, 12, 13, 14, 24, 25, 26, 27, 32, 34))


class _AddressedView(PacketView):
    """View that rewrites addresses while it skips the layers."""

    __slots__ = ("base", "out", "pseudonyms")

    def __init__(self, data: bytes, at: int, end: int, cut: int, pseudonyms: AddressPseudonyms) -> None:
        super().__init__(data, at, end, cut)
        self.base = at
        self.out = bytearray(data[at:end])  # rewritten packet; its offsets are those of `data` minus `base`
        self.pseudonyms = pseudonyms

    def put(self, at: int, part: bytes) -> None:
        self.out[at - self.base : at - self.base + len(part)] = part

    def _cards(self, *places: int) -> None:
        for at in places:
            if at + 6 <= self.end:
                self.put(at, self.pseudonyms.hardware(self.data[at : at + 6]))

    def _hosts(self, size: int, *places: int) -> None:
        for at in places:
            self.put(at, self.pseudonyms.packed(self.data[at : at + size]))

    def find(self, link_type: int) -> int:
        if link_type == _ETHERNET:
            self._cards(self.at, self.at + 6)
        elif link_type in _COOKED:
            self._cards(self.at + _COOKED[link_type])
        return super().find(link_type)

    def _wireless(self) -> int:
        at, first, second = self.at, self.data[self.at : self.at + 1], self.data[self.at + 1 : self.at + 2]
        if first and second:
            self._cards(*(at + place for place in _WIRELESS_ADDRESSES))
            if second[0] & 3 == 3:
                self._cards(at + 24)
        return super()._wireless()

    def _wrapped(self, link_type: int) -> int:
        at, found = self.at, super()._wrapped(link_type)
        least = 8 if link_type == 192 else 12
        self.put(at + least, bytes(max(self.at - at - least, 0)))  # places, interfaces and processes
        return found

    def _attribute(self, at: int, end: int) -> None:
        self.put(at, bytes(max(end - at, 0)))

    def _peel(self, kind: int) -> int:
        at, found = self.at, super()._peel(kind)
        if self.at - at == 14:  # an Ethernet frame inside of something
            self._cards(at, at + 6)
        return found

    def _ipv4(self) -> int:
        at, found = self.at, super()._ipv4()
        if self.at > at:
            header, plain = self.at - at, self.data[at : self.at]
            self._hosts(4, at + 12, at + 16)
            self.put(at + 20, bytes((_IPV4_NO_OPERATION,)) * (header - 20))
            if words_sum(plain) == 0:  # 0xFFFF: right; a checksum that the card should have made stays wrong
                self.put(at + 10, b"\0\0")
                written = bytes(self.out[at - self.base : at - self.base + header])
                self.put(at + 10, (0xFFFF - words_sum(written)).to_bytes(2, "big"))
        return found

    def _ipv6(self) -> int:
        at, found = self.at, super()._ipv6()
        if self.at > at:
            self._hosts(16, at + 8, at + 24)
            following, place = self.data[at + 6], at + 40
            while place < self.at and following in _IPV6_SKIPPED:
                size = 8 if following == 44 else (self.data[place + 1] + 2) << 2 if following == 51 else (self.data[place + 1] + 1) << 3
                if following in _IPV6_WITH_ADDRESSES:  # zeros are padding (RFC 8200)
                    kept = 4 if following == 43 else 2
                    self.put(place + kept, bytes(min(size, self.end - place) - kept))
                following, place = self.data[place], place + size
        return found

    def _udp(self) -> int:
        at, found = self.at, super()._udp()
        if self.at > at:
            self.put(at + 6, b"\0\0")  # none: it covers what is written over, and tunnels send none (RFC 6935)
        return found

    def _exported(self) -> int:
        at, found = self.at, super()._exported()
        while at + 4 <= self.at:
            tag, size = int.from_bytes(self.data[at : at + 2], "big"), int.from_bytes(self.data[at + 2 : at + 4], "big")
            if tag == 0:
                break
            if tag in (20, 21, 22, 23) and size in (4, 16):
                self._hosts(size, at + 4)
            elif tag not in _PLAIN_TAGS:
                self.put(at + 4, bytes(size))
            at += 4 + size
        return found

    def transport(self, checked: bool) -> None:
        at, begin = self.at, self.at - self.base
        options, stop = at + 20, min(at + self.header, self.end)
        while options < stop:
            kind = self.data[options]
            size = 1 if kind < 2 else self.data[options + 1] if options + 1 < stop else 1
            if size < 1 or (size < 2 <= kind) or options + size > stop:
                self.put(options, bytes((_TCP_NO_OPERATION,)) * (stop - options))
                break
            if kind not in _TCP_OPTIONS:
                self.put(options, bytes((_TCP_NO_OPERATION,)) * size)
            options += size
        if at + 18 > self.end:
            return
        self.put(at + 16, b"\0\0")  # where it was not right, it would say what the addresses add up to
        if checked:
            written = PacketView(bytes(self.out), begin, self.end - self.base, 0)
            written.source, written.target = self.pseudonyms.packed(self.source), self.pseudonyms.packed(self.target)
            self.put(at + 16, right_checksum(written))


def rewrite_packet(data: bytes, at: int, end: int, cut: int, link_type: int, pseudonyms: AddressPseudonyms, checked: bool) -> bytes:
    """Replace a packet's addresses; `cut` bytes are missing. `checked` is True if the TCP checksum was right, unknown for a fragment."""
    view = _AddressedView(data, at, end, cut, pseudonyms)
    fate = view.find(link_type)
    if fate == FRAGMENT and view.fragment_at == 0:
        fate = view.follow(PROTOCOL + view.protocol)
    if fate == TCP:
        view.transport(checked)
    return bytes(view.out)
