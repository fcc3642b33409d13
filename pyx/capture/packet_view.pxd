"""Native backend of `kwire.capture._pure.packet_view`: from a network layer of a packet to its TCP header.

Every step asks `end - at` before it loads. Nothing here makes or needs a Python object.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from wire.cursor cimport Bytes, load_16, load_32

cdef enum:  # fates
    IS_TCP = 0
    IS_OTHER = 1
    IS_FRAGMENT = 2
    IS_UNREADABLE = 3
    IS_EXPORTED = 4
    IS_UNREAD = 5  # of a link type that is not read

cdef enum:  # kinds: EtherTypes, and above them
    IPV4 = 0x0800
    IPV6 = 0x86DD
    ETHERNET = 0x6558
    MPLS = 0x8847
    MPLS_UPSTREAM = 0x8848
    PPPOE = 0x8864
    ERSPAN_2 = 0x88BE
    ERSPAN_3 = 0x22EB
    LEAST_ETHER_TYPE = 0x600
    PROTOCOL = 0x10000  # plus an IP protocol number
    PPP = 0x20000  # plus a PPP protocol number
    LLC = 0x40000
    IP_BY_VERSION = 0x40001

cdef struct PacketView:
    Bytes at
    Bytes end
    int64_t cut
    # of the innermost IP header; version 0 before one was seen
    int version
    Bytes source
    Bytes target
    uint32_t identification
    int64_t header  # bytes of the TCP header
    # of a fragment
    int protocol
    bint more
    uint32_t fragment_id
    int64_t fragment_at
    # of an exported PDU
    Bytes source_port
    Bytes target_port
    bint numbered
    uint32_t seq, following, ack
    int flags


cdef inline void view_open(PacketView* view, Bytes at, Py_ssize_t captured, int64_t cut) noexcept nogil:
    """Begin with a packet of which so many bytes were cut off."""
    view.at, view.end, view.cut = at, at + captured, cut
    view.version = view.protocol = view.flags = 0
    view.source = view.target = view.source_port = view.target_port = NULL
    view.identification = view.fragment_id = view.seq = view.following = view.ack = 0
    view.header = view.fragment_at = 0
    view.more = view.numbered = False


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


cdef inline int kind_of(uint32_t number) noexcept nogil:
    """The kind behind a length or EtherType field; cooked captures say 4 for LLC."""
    return number if number >= LEAST_ETHER_TYPE else LLC


cdef inline int ether_type(uint32_t number) noexcept nogil:
    return number if number >= LEAST_ETHER_TYPE else IS_OTHER


cdef inline void clip(PacketView* view, int64_t length) noexcept nogil:
    """Limit the view to `length` bytes on the wire; the rest of the frame is padding."""
    cdef int64_t stored = view.end - view.at
    if stored > length:
        stored = length
    view.end = view.at + stored
    view.cut = length - stored


cdef inline int take(PacketView* view, int64_t size, int kind) noexcept nogil:
    if view.end - view.at < size:
        return IS_UNREADABLE
    view.at += size
    return kind


cdef inline int view_tcp(PacketView* view) noexcept nogil:
    if view.end - view.at < 14 or not view.version:
        return IS_UNREADABLE
    view.header = (view.at[12] >> 4) << 2
    if view.header < 20 or view.header > view.end - view.at + view.cut:
        return IS_UNREADABLE
    return IS_TCP


cdef inline int view_ipv4(PacketView* view) noexcept nogil:
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    cdef int64_t header, total
    cdef uint32_t place
    if left < 20:
        return IS_UNREADABLE
    header = (at[0] & 15) << 2
    total = load_16(at + 2)
    if total == 0:  # an offloaded packet of 64 KiB or more: the frame has the length
        total = left + view.cut
    if at[0] >> 4 != 4 or header < 20 or left < header or total < header:
        return IS_UNREADABLE
    view.version = 4
    view.source = at + 12
    view.target = at + 16
    view.identification = load_16(at + 4)
    view.at = at + header
    clip(view, total - header)
    place = load_16(at + 6)
    if place & 0x3FFF:
        view.protocol = at[9]
        view.fragment_id = view.identification
        view.fragment_at = (place & 0x1FFF) << 3
        view.more = (place & 0x2000) != 0
        return IS_FRAGMENT
    return PROTOCOL + at[9]


cdef inline int view_ipv6(PacketView* view) noexcept nogil:
    cdef Bytes at = view.at
    cdef int64_t left, stored, size
    cdef int following
    cdef uint32_t place
    if view.end - at < 40 or at[0] >> 4 != 6:
        return IS_UNREADABLE
    left = load_16(at + 4)
    if left == 0:  # a jumbogram or an offloaded packet
        left = view.end - at - 40 + view.cut
    following = at[6]
    view.version = 6
    view.source = at + 8
    view.target = at + 24
    view.identification = 0
    at += 40
    while following in (0, 43, 60, 135, 139, 140, 44, 51):
        stored = view.end - at
        if stored < 8 or left < 8:
            return IS_UNREADABLE
        size = 8 if following == 44 else (at[1] + 2) << 2 if following == 51 else (at[1] + 1) << 3
        if stored < size or left < size:
            return IS_UNREADABLE
        place = load_16(at + 2) if following == 44 else 0
        following = at[0]
        at += size
        left -= size
        if place & 0xFFF9:
            view.protocol = following
            view.fragment_id = load_32(at - 4)
            view.fragment_at = place & 0xFFF8
            view.more = (place & 1) != 0
            view.at = at
            clip(view, left)
            return IS_FRAGMENT
    view.at = at
    clip(view, left)
    return PROTOCOL + following


cdef inline int view_ip_by_version(PacketView* view) noexcept nogil:
    if view.end == view.at:
        return IS_UNREADABLE
    return IPV4 if view.at[0] >> 4 == 4 else IPV6 if view.at[0] >> 4 == 6 else IS_OTHER


cdef inline int view_mpls(PacketView* view, int kind) noexcept nogil:
    """One label; behind the last one nothing says what follows but its first bits (RFC 4928)."""
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    cdef int first
    if left < 4:
        return IS_UNREADABLE
    view.at = at + 4
    if not at[2] & 1:
        return kind
    if left < 5:
        return IS_UNREADABLE
    first = at[4] >> 4
    if first == 4:
        return IPV4
    if first == 6:
        return IPV6
    if first == 1:  # an associated channel, no traffic
        return IS_OTHER
    # 0 begins a pseudowire's control word, or the address of many a card: then the EtherType is where it should be
    if first == 0 and (left < 18 or load_16(at + 16) not in (0x0800, 0x86DD, 0x8100, 0x88A8, 0x9100, 0x9200)):
        return take(view, 4, ETHERNET)
    return ETHERNET


cdef inline int view_udp(PacketView* view) noexcept nogil:
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    cdef uint32_t port
    if left < 8:
        return IS_UNREADABLE
    port = load_16(at + 2)
    at += 8
    left -= 8
    view.at = at
    if port == 4789 or port == 8472 or port == 4790:  # VXLAN; Linux' and flannel's older number; VXLAN-GPE
        if left < 8:
            return IS_UNREADABLE
        if not at[0] & 0x08:  # no network identifier: not VXLAN
            return IS_OTHER
        if port == 4790 and at[0] & 0x04:
            return take(view, 8, IPV4 if at[3] == 1 else IPV6 if at[3] == 2 else ETHERNET if at[3] == 3 else IS_OTHER)
        return take(view, 8, ETHERNET)
    if port == 6081:  # Geneve
        if left < 8:
            return IS_UNREADABLE
        if at[0] & 0xC0 or at[1] & 0x80:  # a later version, or a control packet
            return IS_OTHER
        return take(view, 8 + ((at[0] & 0x3F) << 2), ether_type(load_16(at + 2)))
    return PROTOCOL + 47 if port == 4754 else MPLS if port == 6635 else IS_OTHER


cdef inline int view_gre(PacketView* view) noexcept nogil:
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    cdef int64_t size = 4
    cdef uint32_t flags, kind
    if left < 4:
        return IS_UNREADABLE
    flags = load_16(at)
    kind = load_16(at + 2)
    if flags & 0x4007:  # source routes (RFC 1701), or the version of PPTP
        return IS_OTHER
    size += (4 if flags & 0x8000 else 0) + (4 if flags & 0x2000 else 0) + (4 if flags & 0x1000 else 0)
    if kind == ERSPAN_2:
        return take(view, size + (8 if flags & 0x1000 else 0), ETHERNET)  # type I has neither number nor header
    if kind == ERSPAN_3:
        if left < size + 12:
            return IS_UNREADABLE
        if at[size + 10] & 0x7C:  # the type of the mirrored frame: 0 is Ethernet
            return IS_OTHER
        return take(view, size + (20 if at[size + 11] & 1 else 12), ETHERNET)
    return take(view, size, ether_type(kind))


cdef inline int view_protocol(PacketView* view, int kind) noexcept nogil:
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    cdef int64_t size
    if kind == PROTOCOL + 17:
        return view_udp(view)
    if kind == PROTOCOL + 47:
        return view_gre(view)
    if kind == PROTOCOL + 4 or kind == PPP + 0x21:
        return IPV4
    if kind == PROTOCOL + 41 or kind == PPP + 0x57:
        return IPV6
    if kind == PROTOCOL + 51:  # an authentication header
        size = (at[1] + 2) << 2 if left >= 2 else 8
        return take(view, size, PROTOCOL + at[0]) if left >= size else IS_UNREADABLE
    if kind == PROTOCOL + 97:  # EtherIP
        return take(view, 2, ETHERNET)
    if kind == PROTOCOL + 137 or kind == PPP + 0x281:
        return MPLS
    if kind == IP_BY_VERSION:
        return view_ip_by_version(view)
    if kind == LLC:
        if left < 8:
            return IS_UNREADABLE
        if at[0] == 0xAA and at[1] == 0xAA and at[2] == 3:
            return take(view, 8, ether_type(load_16(at + 6)))
    return IS_OTHER


cdef inline int view_rare_layer(PacketView* view, int kind) noexcept nogil:
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    if kind >= PROTOCOL:
        return view_protocol(view, kind)
    if kind == ETHERNET:
        return take(view, 14, kind_of(load_16(at + 12))) if left >= 14 else IS_UNREADABLE
    if kind in (0x8100, 0x88A8, 0x9100, 0x9200):  # VLAN tags
        return take(view, 4, kind_of(load_16(at + 2))) if left >= 4 else IS_UNREADABLE
    if kind == MPLS or kind == MPLS_UPSTREAM:
        return view_mpls(view, kind)
    if kind == PPPOE:
        return take(view, 8, PPP + load_16(at + 6)) if left >= 8 else IS_UNREADABLE
    return IS_OTHER


cdef inline int follow_layers(PacketView* view, int kind) noexcept nogil:
    """Peel layer after layer, beginning with one of `kind`, until the fate is known."""
    while kind > IS_UNREAD:
        if kind == IPV4:
            kind = view_ipv4(view)
        elif kind == PROTOCOL + 6:
            return view_tcp(view)
        elif kind == IPV6:
            kind = view_ipv6(view)
        else:
            kind = view_rare_layer(view, kind)
    return kind
