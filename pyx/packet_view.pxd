"""From the first byte of a captured packet to its TCP header: link layer, VLAN tags, IPv4 or IPv6 with extension headers.

A packet is a pointer and an end; every step asks `end - at` before it loads. `cut` is how many bytes of the packet on the wire are not in
the file. Nothing here makes or needs a Python object.
"""

from cursor cimport Bytes, load_16, load_32
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum Fate:
    IS_TCP = 0
    IS_OTHER = 1
    IS_FRAGMENT = 2
    IS_UNREADABLE = 3

cdef struct PacketView:
    int version  # of IP
    Bytes source
    Bytes target
    uint32_t identification
    Bytes tcp
    int64_t stored  # bytes of TCP header and payload in the file, Ethernet padding left out
    int64_t length  # the same on the wire
    int64_t header  # bytes of the TCP header


cdef inline uint32_t order_16(Bytes p, bint big_endian) noexcept nogil:
    return load_16(p) if big_endian else (<uint32_t>p[1] << 8) | p[0]


cdef inline uint32_t order_32(Bytes p, bint big_endian) noexcept nogil:
    if big_endian:
        return load_32(p)
    return (<uint32_t>p[3] << 24) | (<uint32_t>p[2] << 16) | (<uint32_t>p[1] << 8) | p[0]


cdef inline uint64_t order_64(Bytes p, bint big_endian) noexcept nogil:
    if big_endian:
        return (<uint64_t>load_32(p) << 32) | load_32(p + 4)
    return (<uint64_t>order_32(p + 4, False) << 32) | order_32(p, False)


cdef inline Fate view_tcp(PacketView* view, Bytes at, Bytes end, int64_t length) noexcept nogil:
    if end - at < 14:
        return IS_UNREADABLE
    view.header = (at[12] >> 4) << 2
    if view.header < 20 or view.header > length:
        return IS_UNREADABLE
    view.tcp = at
    view.length = length
    view.stored = end - at if end - at < length else length
    return IS_TCP


cdef inline Fate view_ipv4(PacketView* view, Bytes at, Bytes end, int64_t cut) noexcept nogil:
    cdef int64_t header, total
    if end - at < 20:
        return IS_UNREADABLE
    header = (at[0] & 15) << 2
    if at[0] >> 4 != 4 or header < 20:
        return IS_UNREADABLE
    if load_16(at + 6) & 0x3FFF:
        return IS_FRAGMENT
    if at[9] != 6:
        return IS_OTHER
    total = load_16(at + 2)
    if total == 0:  # an offloaded packet of 64 KiB or more: the frame tells
        total = end - at + cut
    if total < header:
        return IS_UNREADABLE
    view.version = 4
    view.source = at + 12
    view.target = at + 16
    view.identification = load_16(at + 4)
    return view_tcp(view, at + header, end, total - header) if end - at >= header else IS_UNREADABLE


cdef inline Fate view_ipv6(PacketView* view, Bytes at, Bytes end, int64_t cut) noexcept nogil:
    cdef int64_t left, size
    cdef int following
    if end - at < 40 or at[0] >> 4 != 6:
        return IS_UNREADABLE
    left = load_16(at + 4)
    if left == 0:  # a jumbogram or an offloaded packet
        left = end - at - 40 + cut
    following = at[6]
    view.version = 6
    view.source = at + 8
    view.target = at + 24
    view.identification = 0
    at += 40
    while following != 6:
        if following in (0, 43, 60, 135, 139, 140, 51):
            if end - at < 2:
                return IS_UNREADABLE
            size = (at[1] + 2) << 2 if following == 51 else (at[1] + 1) << 3
        elif following == 44:
            if end - at < 8:
                return IS_UNREADABLE
            if load_16(at + 2) & 0xFFF9:
                return IS_FRAGMENT
            size = 8
        else:
            return IS_OTHER
        if end - at < size or left < size:
            return IS_UNREADABLE
        following = at[0]
        at += size
        left -= size
    return view_tcp(view, at, end, left)


cdef inline Fate view_packet(PacketView* view, int link_type, Bytes at, Bytes end, int64_t cut) noexcept nogil:
    """Find the TCP header of a packet; fills `view` when the answer is IS_TCP."""
    cdef uint32_t kind, family
    if link_type == 1:  # Ethernet
        if end - at < 14:
            return IS_UNREADABLE
        kind = load_16(at + 12)
        at += 14
    elif link_type == 113:  # Linux cooked v1
        if end - at < 16:
            return IS_UNREADABLE
        kind = load_16(at + 14)
        at += 16
    elif link_type == 276:  # Linux cooked v2
        if end - at < 20:
            return IS_UNREADABLE
        kind = load_16(at)
        at += 20
    elif link_type in (101, 12, 14, 228, 229):  # raw IP
        if end - at < 1:
            return IS_UNREADABLE
        if at[0] >> 4 == 4 and link_type != 229:
            kind = 0x0800
        elif at[0] >> 4 == 6 and link_type != 228:
            kind = 0x86DD
        else:
            return IS_OTHER
    elif link_type == 0 or link_type == 108:  # BSD loopback: the address family in the byte order of some machine
        if end - at < 4:
            return IS_UNREADABLE
        family = order_32(at, False)
        if family > 0xFFFF:
            family = order_32(at, True)
        if family == 2:
            kind = 0x0800
        elif family in (10, 24, 28, 30):  # AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, Darwin
            kind = 0x86DD
        else:
            return IS_OTHER
        at += 4
    else:
        return IS_UNREADABLE
    while kind in (0x8100, 0x88A8, 0x9100, 0x9200):
        if end - at < 4:
            return IS_UNREADABLE
        kind = load_16(at + 2)
        at += 4
    if kind == 0x0800:
        return view_ipv4(view, at, end, cut)
    if kind == 0x86DD:
        return view_ipv6(view, at, end, cut)
    return IS_OTHER
