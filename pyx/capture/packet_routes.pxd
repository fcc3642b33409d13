"""Native backend of `kwire.capture._pure.packet_routes`, which says what is routed where."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from capture.endpoint_table cimport EndpointPair, find_endpoints
from capture.packet_scan cimport RouteBuffer, Routes, Scan, name_endpoints
from capture.packet_view cimport IS_EXPORTED, IS_FRAGMENT, IS_TCP, PacketView
from wire.checksum cimport crc32
from wire.cursor cimport Bytes

cdef enum:
    ROUTED_HEADER = 24  # time 8, number 4, link type 4, captured 4, original 4; little-endian


cdef inline void store_32(uint8_t* at, uint32_t value) noexcept nogil:
    at[0] = <uint8_t>value
    at[1] = <uint8_t>(value >> 8)
    at[2] = <uint8_t>(value >> 16)
    at[3] = <uint8_t>(value >> 24)


cdef inline void append_packet(
    Scan* scan, uint32_t share, int link_type, int64_t time_ns, Bytes packet, uint32_t captured, uint32_t original
) noexcept nogil:
    cdef RouteBuffer* buffer = &scan.routes.buffers[share]
    cdef Py_ssize_t size = buffer.size + ROUTED_HEADER + captured
    cdef uint8_t* grown
    cdef uint8_t* at
    if size > buffer.room:
        grown = <uint8_t*>realloc(buffer.bytes, size + (size >> 1) + 1024)
        if grown is NULL:
            scan.failed = True
            return
        buffer.bytes = grown
        buffer.room = size + (size >> 1) + 1024
    at = buffer.bytes + buffer.size
    store_32(at, <uint32_t>time_ns)
    store_32(at + 4, <uint32_t>(time_ns >> 32))
    store_32(at + 8, <uint32_t>scan.packets)
    store_32(at + 12, <uint32_t>link_type)
    store_32(at + 16, captured)
    store_32(at + 20, original)
    memcpy(at + ROUTED_HEADER, packet, captured)
    scan.routes.held += size - buffer.size
    buffer.size = size


cdef inline int32_t share_of(Scan* scan, const EndpointPair* pair) noexcept nogil:
    """The share of a connection; -1 without memory. Each pair of a chunk is hashed once."""
    cdef Py_ssize_t known = scan.endpoints.count
    # most packets come in runs of one connection: `rows` is the number of the last one, plus one
    cdef int32_t found = find_endpoints(&scan.endpoints, pair, <int32_t>scan.rows - 1)
    cdef int32_t* grown
    if found < 0:
        return -1
    scan.rows = found + 1
    if scan.routes.share_room < scan.endpoints.room:
        grown = <int32_t*>realloc(scan.routes.shares, scan.endpoints.room * sizeof(int32_t))
        if grown is NULL:
            return -1
        scan.routes.shares = grown
        scan.routes.share_room = scan.endpoints.room
    if scan.endpoints.count > known:
        scan.routes.shares[found] = <int32_t>(crc32(pair.name, 13 if pair.name[0] == 4 else 37) % scan.routes.count)
    return scan.routes.shares[found]


cdef inline void route_packet(
    Scan* scan, const PacketView* view, int fate, int link_type, int64_t time_ns, Bytes packet, uint32_t captured, uint32_t original
) noexcept nogil:
    """Route a packet whose fate is IS_TCP, IS_FRAGMENT or IS_EXPORTED, and count it but for fragments."""
    cdef EndpointPair pair
    cdef int64_t stored = view.end - view.at
    cdef int64_t headers
    cdef uint32_t other
    cdef int32_t share
    cdef bint is_new
    if fate == IS_FRAGMENT:
        for other in range(scan.routes.count):
            append_packet(scan, other, link_type, time_ns, packet, captured, original)
        return
    if fate == IS_TCP:
        name_endpoints(&pair, view, view.at, view.at + 2)
        headers = view.at - packet + (view.header if view.header < stored else stored)
        scan.cut_bytes += view.cut + (stored - view.header if stored < view.header else 0)
    else:
        name_endpoints(&pair, view, view.source_port, view.target_port)
        headers = view.at - packet
        scan.cut_bytes += view.cut
    scan.tcp += 1
    share = share_of(scan, &pair)
    if share < 0:
        scan.failed = True
        return
    append_packet(scan, <uint32_t>share, link_type, time_ns, packet, captured, original)
    if time_ns > scan.routes.latest_ns:
        is_new = time_ns >> scan.routes.sweep_bits != scan.routes.latest_ns >> scan.routes.sweep_bits
        scan.routes.latest_ns = time_ns
        if is_new:
            for other in range(scan.routes.count):
                if other != <uint32_t>share:
                    append_packet(scan, other, link_type, time_ns, packet, <uint32_t>headers, original)


cdef inline void routes_free(Routes* routes) noexcept:
    cdef uint32_t share
    if routes.buffers is not NULL:
        for share in range(routes.count):
            free(routes.buffers[share].bytes)
    free(routes.buffers)
    free(routes.shares)
