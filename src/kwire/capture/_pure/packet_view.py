"""Decapsulation of a captured packet, from its first byte to its TCP header.

A view is a window on the packet that each layer narrows. A layer returns the *kind* of the next one (an EtherType, or a number below) or
the packet's *fate*. Each layer consumes at least one byte, so the cost is bounded by the packet's size.
"""

from __future__ import annotations

from typing import Final, Literal

__all__ = [
    "EXPORTED", "FRAGMENT", "OTHER", "PROTOCOL", "TCP", "UNREAD", "UNREADABLE", "PacketView",
]  # fmt: skip

# Fates; kinds are greater.
TCP: Final = 0
OTHER: Final = 1
FRAGMENT: Final = 2
UNREADABLE: Final = 3
EXPORTED: Final = 4
UNREAD: Final = 5  # of a link type that is not read

# Kinds: EtherTypes, and above them
PROTOCOL: Final = 0x10000  # plus an IP protocol number
_PPP: Final = 0x20000  # plus a PPP protocol number
_LLC: Final = 0x40000
_IP_BY_VERSION: Final = 0x40001
_GRE: Final = PROTOCOL + 47

_IPV4: Final = 0x0800
_IPV6: Final = 0x86DD
_ETHERNET: Final = 0x6558  # transparent Ethernet bridging
_MPLS: Final = frozenset((0x8847, 0x8848))
_PPPOE: Final = 0x8864
_VLAN_TAGS: Final = frozenset((0x8100, 0x88A8, 0x9100, 0x9200))
_TRAFFIC: Final = _VLAN_TAGS | {_IPV4, _IPV6}
_ERSPAN_2: Final = 0x88BE
_ERSPAN_3: Final = 0x22EB
_LEAST_ETHER_TYPE: Final = 0x600  # what is less is the length of an 802.3 frame

_NFLOG: Final = 239
_NFLOG_PAYLOAD: Final = 9
_PPI: Final = 192
_PKTAP: Final = frozenset((149, 258))  # Darwin's writers used the first of them, a number for users, before there was the second
_LOOPBACK_IPV6: Final = frozenset((10, 24, 28, 30))  # AF_INET6 of Linux, NetBSD/OpenBSD, FreeBSD, Darwin
# hop-by-hop, routing, destination options, mobility, HIP, shim6: length in eight bytes beside the first eight
_IPV6_OPTIONS: Final = frozenset((0, 43, 60, 135, 139, 140))

_VXLAN_PORTS: Final = frozenset((4789, 8472))  # 8472 is Linux' and flannel's default, older than the assigned one
_VXLAN_GPE_PORT: Final = 4790
_GENEVE_PORT: Final = 6081
_GRE_PORT: Final = 4754
_MPLS_PORT: Final = 6635
_GPE_KIND: Final = {1: _IPV4, 2: _IPV6, 3: _ETHERNET}

# tags of an exported PDU
_TAG_PROTOCOL: Final = 12
_TAG_TABLE: Final = 14
_TAG_TABLE_NUMBER: Final = 32
_TAG_IPV4: Final = (20, 21)
_TAG_IPV6: Final = (22, 23)
_TAG_PORT_TYPE: Final = 24
_TAG_PORTS: Final = (25, 26)
_TAG_TCP: Final = 34
_PORT_TYPES_OF_TCP: Final = (0, 2)  # none, TCP
_EXPORTED_KIND: Final = {
    b"ip": _IP_BY_VERSION, b"ipv6": _IP_BY_VERSION, b"eth": _ETHERNET, b"eth_maybefcs": _ETHERNET, b"eth_withoutfcs": _ETHERNET,
    b"tcp": PROTOCOL + 6,
}  # fmt: skip


class PacketView:
    """Window on one packet; `at` and `end` are offsets in `data` of the next byte and of the end of the stored bytes."""

    __slots__ = (
        "at", "cut", "data", "end", "fragment_at", "fragment_id", "header", "identification", "more", "numbers", "ports",
        "protocol", "source", "target", "version",
    )  # fmt: skip

    version: int  # of the innermost IP header, as the next three; 0 before the first one
    source: bytes  # address, packed
    target: bytes
    identification: int
    header: int  # bytes of the TCP header
    protocol: int  # of an IP fragment, as the next three
    fragment_id: int
    fragment_at: int  # offset in bytes
    more: bool  # whether other fragments follow
    ports: bytes  # of an exported PDU, packed as in a TCP header
    numbers: tuple[int, int, int, int] | None  # of an exported PDU: its own, that of its end, the other side's; TCP flags

    def __init__(self, data: bytes, at: int, end: int, cut: int) -> None:
        # the rest is set by the layer that has it
        self.data = data
        self.at = at
        self.end = end
        self.cut = cut  # number of bytes cut off
        self.version = 0

    def find(self, link_type: int) -> int:
        at = self.at
        if link_type == 1:
            if self.end - at < 14:
                return UNREADABLE
            self.at = at + 14
            return self.follow(_kind_of(self.data[at + 12] << 8 | self.data[at + 13]))
        return self.follow(self._link(link_type))

    def follow(self, kind: int) -> int:
        """Skip layers, starting with `kind`, until the fate is known."""
        while kind > UNREAD:
            if kind == _IPV4:
                kind = self._ipv4()
            elif kind == PROTOCOL + 6:
                return self._tcp()
            elif kind == _IPV6:
                kind = self._ipv6()
            elif kind >= PROTOCOL:
                kind = self._protocol(kind)
            else:
                kind = self._peel(kind)
        return kind

    def _u16(self, at: int) -> int:
        return self.data[at] << 8 | self.data[at + 1]

    def _u32(self, at: int) -> int:
        return int.from_bytes(self.data[at : at + 4], "big")

    def _clip(self, length: int) -> None:
        """Cut the window to `length` bytes on the wire: the rest of the frame is padding."""
        stored = min(self.end - self.at, length)
        self.end = self.at + stored
        self.cut = length - stored

    def _take(self, size: int, kind: int) -> int:
        if self.end - self.at < size:
            return UNREADABLE
        self.at += size
        return kind

    def _link(self, link_type: int) -> int:
        if link_type == _PPI or link_type in _PKTAP:
            link_type = self._wrapped(link_type)
            if link_type < 0:
                return -link_type
            if link_type == 1:
                return _ETHERNET
        left, at = self.end - self.at, self.at
        if link_type == 113:  # Linux cooked v1
            return self._take(16, _kind_of(self._u16(at + 14))) if left >= 16 else UNREADABLE
        if link_type == 276:  # Linux cooked v2
            return self._take(20, _kind_of(self._u16(at))) if left >= 20 else UNREADABLE
        if link_type in (101, 12, 14, 228, 229):  # raw IP
            kind = self._ip_by_version()
            return OTHER if (kind, link_type) in ((_IPV4, 229), (_IPV6, 228)) else kind
        if link_type in (0, 108):  # BSD loopback: the address family in the byte order of some machine
            if left < 4:
                return UNREADABLE
            family = int.from_bytes(self.data[at : at + 4], "little")
            if family > 0xFFFF:
                family = int.from_bytes(self.data[at : at + 4], "big")
            return self._take(4, _IPV4 if family == 2 else _IPV6 if family in _LOOPBACK_IPV6 else OTHER)
        if link_type in (9, 50):  # PPP, with or without the address and control bytes of HDLC
            if left >= 2 and self._u16(at) == 0xFF03:
                at = self.at = at + 2
            return self._take(2, _PPP + self._u16(at)) if self.end - at >= 2 else UNREADABLE
        if link_type == 51:
            return _PPPOE
        if link_type == 104:  # Cisco's HDLC
            return self._take(4, _kind_of(self._u16(at + 2))) if left >= 4 else UNREADABLE
        if link_type == 219:
            return 0x8847
        if link_type == 127:  # radiotap before 802.11
            size = self.data[at + 2] | self.data[at + 3] << 8 if left >= 8 else 0
            if size < 8 or left < size:
                return UNREADABLE
            self.at += size
            return self._wireless()
        if link_type == 105:
            return self._wireless()
        if link_type == _NFLOG:
            return self._nflog()
        return self._exported() if link_type == 252 else UNREAD

    def _wrapped(self, link_type: int) -> int:
        """Skip headers that hold their length and the packet's link type; return that type, or a negative fate."""
        at, data, least = self.at, self.data, 8 if link_type == _PPI else 12
        if self.end - at < least:
            return -UNREADABLE
        size = int.from_bytes(data[at + 2 : at + 4] if link_type == _PPI else data[at : at + 4], "little")
        if not least <= size <= self.end - at:
            return -(UNREAD if link_type == 149 else UNREADABLE)
        self.at = at + size
        inner = int.from_bytes(data[at + least - 4 : at + least], "little")
        return -UNREAD if inner == _PPI or inner in _PKTAP or inner > 0xFFFF else inner

    def _nflog(self) -> int:
        """Find the IP packet among Linux netfilter attributes, which have the capturing machine's byte order."""
        data, at = self.data, self.at + 4
        order: Literal["little", "big"] = "little" if self.end - at >= 4 and data[at + 2] else "big"  # types are below 256
        while self.end - at >= 4:
            size = int.from_bytes(data[at : at + 2], order)
            if size < 4:
                break
            if int.from_bytes(data[at + 2 : at + 4], order) == _NFLOG_PAYLOAD:
                self.at = at + 4
                self._clip(size - 4)
                return self._ip_by_version()
            self._attribute(at + 4, min(at + size, self.end))
            at += size + 3 & ~3
        return UNREADABLE

    def _attribute(self, at: int, end: int) -> None: ...

    def _wireless(self) -> int:
        """Skip an IEEE 802.11 header: only unencrypted data frames can be read."""
        at, left = self.at, self.end - self.at
        if left < 24:
            return UNREADABLE
        first, second = self.data[at], self.data[at + 1]
        if first & 0x0F != 0x08 or first & 0x40 or second & 0x40:  # version and type; no data in it; encrypted
            return OTHER
        size = 24 + (6 if second & 3 == 3 else 0)  # a fourth address between access points
        if first & 0x80:  # quality of service
            if left < size + 2:
                return UNREADABLE
            if self.data[at + size] & 0x80:  # several frames in one
                return OTHER
            size += 6 if second & 0x80 else 2
        return self._take(size, _LLC)

    def _peel(self, kind: int) -> int:
        at, left = self.at, self.end - self.at
        if kind == _ETHERNET:
            return self._take(14, _kind_of(self._u16(at + 12))) if left >= 14 else UNREADABLE
        if kind in _VLAN_TAGS:
            return self._take(4, _kind_of(self._u16(at + 2))) if left >= 4 else UNREADABLE
        if kind in _MPLS:
            return self._mpls(kind)
        if kind == _PPPOE:
            return self._take(8, _PPP + self._u16(at + 6)) if left >= 8 else UNREADABLE
        return OTHER

    def _mpls(self, kind: int) -> int:
        """Skip one label; the first bits behind the last label identify the next protocol (RFC 4928)."""
        at, left = self.at, self.end - self.at
        if left < 4:
            return UNREADABLE
        self.at += 4
        if not self.data[at + 2] & 1:
            return kind
        if left < 5:
            return UNREADABLE
        first = self.data[at + 4] >> 4
        if first in (4, 6):
            return _IPV4 if first == 4 else _IPV6
        if first == 1:  # an associated channel, no traffic
            return OTHER
        # 0 begins a pseudowire's control word, or the address of many a card: then the EtherType is where it should be
        plain = first != 0 or (left >= 18 and self._u16(at + 16) in _TRAFFIC)
        return self._take(0 if plain else 4, _ETHERNET)

    def _ip_by_version(self) -> int:
        if self.end == self.at:
            return UNREADABLE
        version = self.data[self.at] >> 4
        return _IPV4 if version == 4 else _IPV6 if version == 6 else OTHER

    def _ipv4(self) -> int:
        data, at, left = self.data, self.at, self.end - self.at
        if left < 20:
            return UNREADABLE
        header = (data[at] & 15) << 2
        # a length of 0 is an offloaded packet of 64 KiB or more: the frame has the length
        total = data[at + 2] << 8 | data[at + 3] or left + self.cut
        if data[at] >> 4 != 4 or header < 20 or left < header or total < header:
            return UNREADABLE
        self.version, self.source, self.target = 4, data[at + 12 : at + 16], data[at + 16 : at + 20]
        self.identification = data[at + 4] << 8 | data[at + 5]
        self.at = at + header
        self._clip(total - header)
        place = data[at + 6] << 8 | data[at + 7]
        if place & 0x3FFF:
            self.protocol, self.fragment_id = data[at + 9], self.identification
            self.fragment_at, self.more = (place & 0x1FFF) << 3, place & 0x2000 != 0
            return FRAGMENT
        return PROTOCOL + data[at + 9]

    def _ipv6(self) -> int:
        data, at = self.data, self.at
        if self.end - at < 40 or data[at] >> 4 != 6:
            return UNREADABLE
        left = self._u16(at + 4) or self.end - at - 40 + self.cut  # 0: a jumbogram or an offloaded packet
        following = data[at + 6]
        self.version, self.source, self.target, self.identification = 6, data[at + 8 : at + 24], data[at + 24 : at + 40], 0
        at += 40
        while following in _IPV6_OPTIONS or following in (44, 51):
            stored = self.end - at
            if stored < 8 or left < 8:
                return UNREADABLE
            size = 8 if following == 44 else (data[at + 1] + 2) << 2 if following == 51 else (data[at + 1] + 1) << 3
            if stored < size or left < size:
                return UNREADABLE
            place = self._u16(at + 2) if following == 44 else 0
            following = data[at]
            at += size
            left -= size
            if place & 0xFFF9:
                self.protocol, self.fragment_id = following, self._u32(at - 4)
                self.fragment_at, self.more = place & 0xFFF8, place & 1 != 0
                self.at = at
                self._clip(left)
                return FRAGMENT
        self.at = at
        self._clip(left)
        return PROTOCOL + following

    def _protocol(self, kind: int) -> int:
        at, left = self.at, self.end - self.at
        if kind == PROTOCOL + 17:
            return self._udp()
        if kind == _GRE:
            return self._gre()
        if kind == PROTOCOL + 4:
            return _IPV4
        if kind == PROTOCOL + 41:
            return _IPV6
        if kind == PROTOCOL + 51:  # an authentication header
            size = (self.data[at + 1] + 2) << 2 if left >= 2 else 8
            return self._take(size, PROTOCOL + self.data[at]) if left >= size else UNREADABLE
        if kind == PROTOCOL + 97:  # EtherIP
            return self._take(2, _ETHERNET)
        if kind == PROTOCOL + 137:
            return 0x8847
        if kind == _IP_BY_VERSION:
            return self._ip_by_version()
        if kind == _LLC:
            if left < 8:
                return UNREADABLE
            snap = self.data[at : at + 3] == b"\xaa\xaa\x03" and self._u16(at + 6) >= _LEAST_ETHER_TYPE
            return self._take(8, self._u16(at + 6) if snap else OTHER)
        if kind == _PPP + 0x21:
            return _IPV4
        if kind == _PPP + 0x57:
            return _IPV6
        return 0x8847 if kind == _PPP + 0x281 else OTHER

    def _tcp(self) -> int:
        left = self.end - self.at
        if left < 14 or not self.version:
            return UNREADABLE
        self.header = (self.data[self.at + 12] >> 4) << 2
        return UNREADABLE if self.header < 20 or self.header > left + self.cut else TCP

    def _udp(self) -> int:
        at, left = self.at, self.end - self.at
        if left < 8:
            return UNREADABLE
        port = self._u16(at + 2)
        self.at = at = at + 8
        left -= 8
        if port in _VXLAN_PORTS or port in (_VXLAN_GPE_PORT, _GENEVE_PORT):
            if left < 8:
                return UNREADABLE
            if port == _GENEVE_PORT:
                if self.data[at] & 0xC0 or self.data[at + 1] & 0x80:  # a later version, or a control packet
                    return OTHER
                return self._take(8 + ((self.data[at] & 0x3F) << 2), _ether_type(self._u16(at + 2)))
            if not self.data[at] & 0x08:  # no network identifier: not VXLAN
                return OTHER
            typed = port == _VXLAN_GPE_PORT and self.data[at] & 0x04
            return self._take(8, _GPE_KIND.get(self.data[at + 3], OTHER) if typed else _ETHERNET)
        return _GRE if port == _GRE_PORT else 0x8847 if port == _MPLS_PORT else OTHER

    def _gre(self) -> int:
        at, left = self.at, self.end - self.at
        if left < 4:
            return UNREADABLE
        flags, kind = self._u16(at), self._u16(at + 2)
        if flags & 0x4007:  # source routes (RFC 1701), or the version of PPTP
            return OTHER
        size = 4 + (4 if flags & 0x8000 else 0) + (4 if flags & 0x2000 else 0) + (4 if flags & 0x1000 else 0)
        if kind == _ERSPAN_2:
            return self._take(size + (8 if flags & 0x1000 else 0), _ETHERNET)  # type I has neither number nor header
        if kind == _ERSPAN_3:
            if left < size + 12:
                return UNREADABLE
            if self.data[at + size + 10] & 0x7C:  # the type of the mirrored frame: 0 is Ethernet
                return OTHER
            return self._take(size + (20 if self.data[at + size + 11] & 1 else 12), _ETHERNET)
        return self._take(size, _ether_type(kind))

    def _exported(self) -> int:
        """Read tags, then a PDU, as written by Wireshark's export and by taps without packets."""
        data = self.data
        self.source = self.target = b""
        self.identification = 0
        self.numbers = None
        kind, number = EXPORTED, -1
        ports, port_type = [b"", b""], 0
        table = b""
        while True:
            at, left = self.at, self.end - self.at
            if left < 4:
                return UNREADABLE
            tag, length = self._u16(at), self._u16(at + 2)
            if left - 4 < length:
                return UNREADABLE
            self.at = at + 4 + length
            value = data[at + 4 : self.at]
            if tag == 0:
                break
            if tag == _TAG_PROTOCOL:
                kind = _EXPORTED_KIND.get(value.rstrip(b"\0"), EXPORTED)
            elif tag == _TAG_TABLE:
                table = value.rstrip(b"\0")
            elif tag == _TAG_TABLE_NUMBER and length >= 4:
                number = self._u32(at + 4)
            elif (tag in _TAG_IPV4 and length == 4) or (tag in _TAG_IPV6 and length == 16):
                version = 4 if length == 4 else 6
                if version != self.version:
                    self.version, self.source, self.target = version, b"", b""
                if tag in (20, 22):
                    self.source = value
                else:
                    self.target = value
            elif tag == _TAG_PORT_TYPE and length >= 4:
                port_type = self._u32(at + 4)
            elif tag in _TAG_PORTS and length >= 4:
                ports[tag - 25] = value[2:4]
            elif tag == _TAG_TCP and length >= 19 and value[:2] == b"\0\1":
                self.numbers = (self._u32(at + 6), self._u32(at + 10), self._u32(at + 14), data[at + 20])
        if table == b"ip.proto" and number == 6:
            kind = PROTOCOL + 6
        if kind in (_IP_BY_VERSION, _ETHERNET):
            return kind
        if not self.source or not self.target:
            return OTHER
        if kind == PROTOCOL + 6:
            return kind
        if port_type not in _PORT_TYPES_OF_TCP or not ports[0] or not ports[1]:
            return OTHER
        self.ports = ports[0] + ports[1]
        return EXPORTED


def _kind_of(number: int) -> int:
    """Return the kind behind a length or EtherType field; cooked captures use 4 for LLC."""
    return number if number >= _LEAST_ETHER_TYPE else _LLC


def _ether_type(number: int) -> int:
    return number if number >= _LEAST_ETHER_TYPE else OTHER
