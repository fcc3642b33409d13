"""Link layers, 802.11, and the tags of exported PDUs: part of the native backend of `kwire.capture._pure.packet_view`."""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcmp

from capture.packet_view cimport (
    ETHERNET, IP_BY_VERSION, IPV4, IPV6, IS_EXPORTED, IS_OTHER, IS_UNREAD, IS_UNREADABLE, LLC, MPLS, PPP, PPPOE, PROTOCOL,
    PacketView, clip, follow_layers, kind_of, order_16, order_32, take, view_ip_by_version,
)
from wire.cursor cimport Bytes, likely, load_16, load_32


cdef inline int view_wireless(PacketView* view) noexcept nogil:
    """An IEEE 802.11 frame: only data frames that are not encrypted hold anything to read."""
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    cdef int64_t size
    if left < 24:
        return IS_UNREADABLE
    if at[0] & 0x0F != 0x08 or at[0] & 0x40 or at[1] & 0x40:  # version and type; no data in it; encrypted
        return IS_OTHER
    size = 24 + (6 if at[1] & 3 == 3 else 0)  # a fourth address between access points
    if at[0] & 0x80:  # quality of service
        if left < size + 2:
            return IS_UNREADABLE
        if at[size] & 0x80:  # several frames in one
            return IS_OTHER
        size += 6 if at[1] & 0x80 else 2
    return take(view, size, LLC)


cdef inline Py_ssize_t text_size(Bytes value, Py_ssize_t length) noexcept nogil:
    """Length of a name without the zeros that fill it up."""
    while length and value[length - 1] == 0:
        length -= 1
    return length


cdef inline int exported_kind(Bytes value, Py_ssize_t size) noexcept nogil:
    if (size == 2 and memcmp(value, b"ip", 2) == 0) or (size == 4 and memcmp(value, b"ipv6", 4) == 0):
        return IP_BY_VERSION
    if (
        (size == 3 and memcmp(value, b"eth", 3) == 0)
        or (size == 12 and memcmp(value, b"eth_maybefcs", 12) == 0)
        or (size == 14 and memcmp(value, b"eth_withoutfcs", 14) == 0)
    ):
        return ETHERNET
    return PROTOCOL + 6 if size == 3 and memcmp(value, b"tcp", 3) == 0 else IS_EXPORTED


cdef inline int view_exported(PacketView* view) noexcept nogil:
    """Tags, then a PDU: what Wireshark exports, and what taps write that have no packets."""
    cdef Bytes at
    cdef Bytes value
    cdef int64_t left, length
    cdef uint32_t tag
    cdef uint32_t number = 0
    cdef uint32_t port_type = 0
    cdef int kind = IS_EXPORTED
    cdef int version
    cdef bint by_protocol = False
    while True:
        at = view.at
        left = view.end - at
        if left < 4:
            return IS_UNREADABLE
        tag = load_16(at)
        length = load_16(at + 2)
        if left - 4 < length:
            return IS_UNREADABLE
        value = at + 4
        view.at = value + length
        if tag == 0:
            break
        if tag == 12:  # name of a protocol
            kind = exported_kind(value, text_size(value, length))
        elif tag == 14:  # name of a table of protocols
            by_protocol = text_size(value, length) == 8 and memcmp(value, b"ip.proto", 8) == 0
        elif tag == 32 and length >= 4:  # number in it
            number = load_32(value)
        elif ((tag == 20 or tag == 21) and length == 4) or ((tag == 22 or tag == 23) and length == 16):
            version = 4 if length == 4 else 6
            if version != view.version:
                view.version = version
                view.source = view.target = NULL
            if tag == 20 or tag == 22:
                view.source = value
            else:
                view.target = value
        elif tag == 24 and length >= 4:
            port_type = load_32(value)
        elif tag == 25 and length >= 4:
            view.source_port = value + 2
        elif tag == 26 and length >= 4:
            view.target_port = value + 2
        elif tag == 34 and length >= 19 and load_16(value) == 1:
            view.numbered = True
            view.seq = load_32(value + 2)
            view.following = load_32(value + 6)
            view.ack = load_32(value + 10)
            view.flags = value[16]
    if by_protocol and number == 6:
        kind = PROTOCOL + 6
    if kind == IP_BY_VERSION or kind == ETHERNET:
        return kind
    if view.source == NULL or view.target == NULL:
        return IS_OTHER
    if kind == PROTOCOL + 6:
        return kind
    if (port_type != 0 and port_type != 2) or view.source_port == NULL or view.target_port == NULL:
        return IS_OTHER
    return IS_EXPORTED


cdef inline int view_nflog(PacketView* view) noexcept nogil:
    """Find the IP packet among the attributes of Linux' netfilter, which are in the byte order of the capturing machine."""
    cdef Bytes at
    cdef int64_t left = view.end - view.at - 4
    cdef int64_t size
    cdef bint big_endian
    if left < 4:
        return IS_UNREADABLE
    at = view.at + 4
    big_endian = at[2] == 0  # types are below 256
    while left >= 4:
        size = order_16(at, big_endian)
        if size < 4:
            break
        if order_16(at + 2, big_endian) == 9:
            view.at = at + 4
            clip(view, size - 4)
            return view_ip_by_version(view)
        size = (size + 3) & ~3
        if left < size:
            break
        at += size
        left -= size
    return IS_UNREADABLE


cdef inline int unwrap_link(PacketView* view, int link_type) noexcept nogil:
    """Skip headers with their own length and the link type of the packet behind them; return that type, or less than 0 for the fate."""
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    cdef int64_t least = 8 if link_type == 192 else 12
    cdef int64_t size
    cdef uint32_t inner
    if left < least:
        return -IS_UNREADABLE
    size = order_16(at + 2, False) if link_type == 192 else order_32(at, False)
    if size < least or left < size:
        return -IS_UNREAD if link_type == 149 else -IS_UNREADABLE
    view.at = at + size
    inner = order_32(at + least - 4, False)
    return -IS_UNREAD if inner in (149, 192, 258) or inner > 0xFFFF else <int>inner


cdef inline int view_rare_link(PacketView* view, int link_type) noexcept nogil:
    cdef Bytes at = view.at
    cdef int64_t left = view.end - at
    cdef int64_t size
    cdef uint32_t family
    cdef int kind
    if link_type in (149, 192, 258):  # PKTAP, PPI
        link_type = unwrap_link(view, link_type)
        if link_type < 0:
            return -link_type
        if link_type == 1:
            return ETHERNET
        at = view.at
        left = view.end - at
    if link_type == 113:  # Linux cooked v1
        return take(view, 16, kind_of(load_16(at + 14))) if left >= 16 else IS_UNREADABLE
    if link_type == 276:  # Linux cooked v2
        return take(view, 20, kind_of(load_16(at))) if left >= 20 else IS_UNREADABLE
    if link_type in (101, 12, 14, 228, 229):  # raw IP
        kind = view_ip_by_version(view)
        return IS_OTHER if (kind == IPV4 and link_type == 229) or (kind == IPV6 and link_type == 228) else kind
    if link_type == 0 or link_type == 108:  # BSD loopback: the address family in the byte order of some machine
        if left < 4:
            return IS_UNREADABLE
        family = order_32(at, False)
        if family > 0xFFFF:
            family = order_32(at, True)
        # AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, Darwin
        return take(view, 4, IPV4 if family == 2 else IPV6 if family in (10, 24, 28, 30) else IS_OTHER)
    if link_type == 9 or link_type == 50:  # PPP, with or without the address and control bytes of HDLC
        if left >= 2 and load_16(at) == 0xFF03:
            at += 2
            view.at = at
        return take(view, 2, PPP + load_16(at)) if view.end - at >= 2 else IS_UNREADABLE
    if link_type == 51:
        return PPPOE
    if link_type == 104:  # Cisco's HDLC
        return take(view, 4, kind_of(load_16(at + 2))) if left >= 4 else IS_UNREADABLE
    if link_type == 219:
        return MPLS
    if link_type == 127:  # radiotap before 802.11
        size = order_16(at + 2, False) if left >= 8 else 0
        if size < 8 or left < size:
            return IS_UNREADABLE
        view.at += size
        return view_wireless(view)
    if link_type == 105:
        return view_wireless(view)
    if link_type == 239:
        return view_nflog(view)
    return view_exported(view) if link_type == 252 else IS_UNREAD


cdef inline int view_packet(PacketView* view, int link_type) noexcept nogil:
    """The fate of a packet; the caller zeroed the view and set `at`, `end` and `cut`."""
    if likely(link_type == 1):  # Ethernet
        if view.end - view.at < 14:
            return IS_UNREADABLE
        view.at += 14
        return follow_layers(view, kind_of(load_16(view.at - 2)))
    return follow_layers(view, view_rare_link(view, link_type))
