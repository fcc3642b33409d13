"""One chunk of a capture file to packet columns: records or blocks, link layer, IP, TCP.

The twin of kwire/capture/_pure/packets.py, which is the contract. A row takes 51 bytes in the columns and at least 50 in a file, so the
memory for all rows of a chunk is reserved at once and stays at the size of the chunk.
"""

import os
from array import array

from kwire.capture.packet_columns import MAX_BLOCK_BYTES, MAX_PACKET_BYTES, PCAP, Interface, PacketColumns

from cpython.buffer cimport PyBUF_READ, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from cursor cimport Bytes, load_16, load_32
from endpoint_table cimport EndpointPair, EndpointTable, find_endpoints
from packet_view cimport (
    IS_FRAGMENT, IS_OTHER, IS_TCP, Fate, PacketView, order_16, order_32, order_64, view_packet,
)

__all__ = ["scan"]

cdef enum:
    # Fewer bytes than any record with a TCP header takes: 16 of the record, 20 of IP, 14 of TCP.
    LEAST_ROW = 50

    SECTION = 0x0A0D0D0A
    INTERFACE = 1
    OLD_PACKET = 2
    SIMPLE_PACKET = 3
    STATISTICS = 5
    ENHANCED_PACKET = 6

    IF_TSRESOL = 9
    IF_TSOFFSET = 14
    ISB_IFDROP = 5
    ISB_OSDROP = 7

cdef uint32_t PACKET_LIMIT = MAX_PACKET_BYTES
cdef uint32_t BLOCK_LIMIT = MAX_BLOCK_BYTES
# Endpoints come from the wire: nobody shall know which ones collide.
cdef uint64_t SEED = <uint64_t>int.from_bytes(os.urandom(8), "little")

cdef struct Port:
    int32_t link_type
    uint32_t snaplen
    int32_t resolution
    int64_t offset_s
    int64_t dropped

cdef struct Scan:
    Bytes base
    Bytes at
    Bytes end
    bint big_endian
    bint damaged
    bint failed  # no memory
    # interfaces of the section
    Port* ports
    Py_ssize_t port_count
    Py_ssize_t port_room
    int64_t dropped_before
    uint32_t snaplen
    # counts since the beginning of the file
    int64_t time_ns, start_ns, end_ns
    bint timed
    int64_t packets, tcp, fragments, others, unreadable, captured_bytes, original_bytes, cut_bytes
    # rows
    Py_ssize_t rows, room
    int64_t *number
    int64_t *when
    int64_t *offset
    int32_t *key
    int32_t *captured
    int32_t *original
    uint32_t *seq
    uint32_t *ack
    uint32_t *signature
    int16_t *flags
    int8_t *direction
    EndpointTable endpoints


cdef void add_row(Scan* scan, const PacketView* view, int64_t time_ns) noexcept nogil:
    cdef EndpointPair key
    cdef int size = 4 if view.version == 4 else 16
    cdef Bytes tcp = view.tcp
    cdef int order = memcmp(view.source, view.target, size)
    cdef Py_ssize_t row = scan.rows
    cdef uint32_t signature = view.identification << 16
    cdef int64_t captured = view.stored - view.header if view.stored > view.header else 0
    cdef int32_t found
    if order == 0:
        order = memcmp(tcp, tcp + 2, 2)
    memset(&key, 0, sizeof(EndpointPair))
    key.name[0] = <uint8_t>view.version
    memcpy(&key.name[1], view.source if order <= 0 else view.target, size)
    memcpy(&key.name[1 + size], tcp if order <= 0 else tcp + 2, 2)
    memcpy(&key.name[3 + size], view.target if order <= 0 else view.source, size)
    memcpy(&key.name[3 + 2 * size], tcp + 2 if order <= 0 else tcp, 2)
    found = find_endpoints(&scan.endpoints, &key, scan.key[row - 1] if row else -1)
    if found < 0 or row == scan.room:
        scan.failed = True
        return
    if view.stored >= 18:
        signature |= load_16(tcp + 16)
    if view.header >= 32 and view.stored >= 28:  # NOP, NOP, timestamps: the sender's clock
        signature ^= load_32(tcp + 24) * <uint32_t>2654435761u
    scan.rows = row + 1
    scan.tcp += 1
    scan.number[row] = scan.packets
    scan.when[row] = time_ns
    scan.key[row] = found
    scan.direction[row] = 0 if order <= 0 else 1
    scan.seq[row] = load_32(tcp + 4)
    scan.ack[row] = load_32(tcp + 8)
    scan.flags[row] = tcp[13]
    scan.offset[row] = tcp + view.header - scan.base if captured else 0
    scan.captured[row] = <int32_t>captured
    scan.original[row] = <int32_t>(view.length - view.header)
    scan.signature[row] = signature
    scan.cut_bytes += view.length - view.header - captured


cdef void take_packet(Scan* scan, int link_type, int64_t time_ns, Bytes at, uint32_t captured, uint32_t original) noexcept nogil:
    cdef PacketView view
    cdef Fate fate
    if original < captured:
        original = captured
    elif original > 0x7FFFFFFF:
        original = 0x7FFFFFFF
    scan.packets += 1
    scan.captured_bytes += captured
    scan.original_bytes += original
    scan.time_ns = time_ns
    if not scan.timed:
        scan.timed = True
        scan.start_ns = scan.end_ns = time_ns
    elif time_ns < scan.start_ns:
        scan.start_ns = time_ns
    elif time_ns > scan.end_ns:
        scan.end_ns = time_ns
    fate = view_packet(&view, link_type, at, at + captured, <int64_t>original - captured)
    if fate == IS_TCP:
        add_row(scan, &view, time_ns)
    elif fate == IS_OTHER:
        scan.others += 1
    elif fate == IS_FRAGMENT:
        scan.fragments += 1
    else:
        scan.unreadable += 1


cdef void scan_pcap(Scan* scan, Py_ssize_t header) noexcept nogil:
    cdef int link_type = scan.ports[0].link_type
    cdef int64_t unit = 1 if scan.ports[0].resolution == 9 else 1000
    cdef Bytes at = scan.at
    cdef uint32_t captured
    while scan.end - at >= header and not scan.failed:
        captured = order_32(at + 8, scan.big_endian)
        if captured > PACKET_LIMIT:
            scan.damaged = True
            break
        if scan.end - at - header < captured:
            break
        take_packet(
            scan, link_type, <int64_t>order_32(at, scan.big_endian) * 1000000000 + order_32(at + 4, scan.big_endian) * unit,
            at + header, captured, order_32(at + 12, scan.big_endian),
        )
        at += header + captured
    scan.at = at


cdef inline int64_t nanoseconds(uint64_t ticks, int resolution, int64_t offset_s) noexcept nogil:
    cdef int power = resolution & 0x7F
    cdef int _step
    cdef uint64_t value, fraction, divisor
    if resolution & 0x80:
        value = ticks >> power if power < 64 else 0
        fraction = ticks - (value << power) if power < 64 else ticks
        if power > 34:  # what is left fits 64 bits times 10**9
            fraction = fraction >> (power - 34) if power - 34 < 64 else 0
            power = 34
        value = value * 1000000000u + (fraction * 1000000000u >> power)
    else:
        divisor = 1
        for _step in range(9 - power if power <= 9 else min(power, 28) - 9):
            divisor *= 10
        if power <= 9:
            value = ticks * divisor
        else:
            value = ticks // divisor if power <= 28 else 0
    return <int64_t>(value + <uint64_t>offset_s * 1000000000u)


cdef void take_interface(Scan* scan, Bytes block, Bytes end) noexcept nogil:
    cdef Port* ports
    cdef Port* port
    cdef Bytes at = block + 16
    cdef uint32_t code, length
    if scan.port_count == scan.port_room:
        ports = <Port*>realloc(scan.ports, 2 * (scan.port_room + 1) * sizeof(Port))
        if ports == NULL:
            scan.failed = True
            return
        scan.ports = ports
        scan.port_room = 2 * (scan.port_room + 1)
    port = &scan.ports[scan.port_count]
    scan.port_count += 1
    port.link_type = order_16(block + 8, scan.big_endian)
    port.snaplen = order_32(block + 12, scan.big_endian)
    port.resolution = 6
    port.offset_s = 0
    port.dropped = -1
    while end - at >= 4:
        code, length = order_16(at, scan.big_endian), order_16(at + 2, scan.big_endian)
        if code == 0 or length > end - at - 4:
            break
        if code == IF_TSRESOL and length >= 1:
            port.resolution = at[4]
        elif code == IF_TSOFFSET and length >= 8:
            port.offset_s = <int64_t>order_64(at + 4, scan.big_endian)
        if end - at - 4 < ((length + 3) & ~3u):
            break
        at += 4 + ((length + 3) & ~3u)
    if port.snaplen > scan.snaplen:
        scan.snaplen = port.snaplen


cdef void take_statistics(Scan* scan, Bytes block, Bytes end) noexcept nogil:
    cdef uint32_t index = order_32(block + 8, scan.big_endian)
    cdef Bytes at = block + 20
    cdef uint32_t code, length
    cdef int64_t by_interface = -1
    cdef int64_t by_system = -1
    cdef int64_t value
    if index >= scan.port_count:
        return
    while end - at >= 4:
        code, length = order_16(at, scan.big_endian), order_16(at + 2, scan.big_endian)
        if code == 0 or length > end - at - 4:
            break
        if (code == ISB_IFDROP or code == ISB_OSDROP) and length >= 8:
            value = <int64_t>(order_64(at + 4, scan.big_endian) & 0xFFFFFFFFFFu)
            if code == ISB_IFDROP:
                by_interface = value
            else:
                by_system = value
        if end - at - 4 < ((length + 3) & ~3u):
            break
        at += 4 + ((length + 3) & ~3u)
    if by_interface >= 0 or by_system >= 0:
        scan.ports[index].dropped = (by_interface if by_interface > 0 else 0) + (by_system if by_system > 0 else 0)


cdef void end_section(Scan* scan) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(scan.port_count):
        if scan.ports[index].dropped >= 0:
            if scan.dropped_before < 0:
                scan.dropped_before = 0
            scan.dropped_before += scan.ports[index].dropped
    scan.port_count = 0


cdef void take_block(Scan* scan, uint32_t kind, Bytes at, uint32_t length) noexcept nogil:
    cdef Bytes end = at + length - 4
    cdef Port* port
    cdef uint32_t index, captured, original
    cdef uint64_t ticks
    if kind == ENHANCED_PACKET or kind == OLD_PACKET:
        index = captured = 0
        if length >= 32:
            index = order_32(at + 8, scan.big_endian) if kind == ENHANCED_PACKET else order_16(at + 8, scan.big_endian)
            captured = order_32(at + 20, scan.big_endian)
        if length < 32 or index >= scan.port_count or captured > length - 32:
            scan.packets += 1
            scan.unreadable += 1
            return
        port = &scan.ports[index]
        ticks = (<uint64_t>order_32(at + 12, scan.big_endian) << 32) | order_32(at + 16, scan.big_endian)
        take_packet(
            scan, port.link_type, nanoseconds(ticks, port.resolution, port.offset_s),
            at + 28, captured, order_32(at + 24, scan.big_endian),
        )
    elif kind == SIMPLE_PACKET:
        if length < 16 or scan.port_count == 0:
            scan.packets += 1
            scan.unreadable += 1
            return
        port = &scan.ports[0]
        original = order_32(at + 8, scan.big_endian)
        captured = original if original < length - 16 else length - 16
        if port.snaplen and port.snaplen < captured:
            captured = port.snaplen
        take_packet(scan, port.link_type, scan.time_ns, at + 12, captured, original)
    elif kind == INTERFACE:
        if length >= 20:
            take_interface(scan, at, end)
    elif kind == STATISTICS:
        if length >= 24:
            take_statistics(scan, at, end)
    elif kind == SECTION:
        end_section(scan)


cdef void scan_pcapng(Scan* scan) noexcept nogil:
    cdef Bytes at = scan.at
    cdef uint32_t kind, length, mark
    while scan.end - at >= 12 and not scan.failed:
        kind = load_32(at)
        if kind == SECTION:
            mark = load_32(at + 8)
            if mark == 0x1A2B3C4Du:
                scan.big_endian = True
            elif mark == 0x4D3C2B1Au:
                scan.big_endian = False
            else:
                scan.damaged = True
                break
        else:
            kind = order_32(at, scan.big_endian)
        length = order_32(at + 4, scan.big_endian)
        if length < 12 or length > BLOCK_LIMIT or length & 3:
            scan.damaged = True
            break
        if scan.end - at < length:
            break
        take_block(scan, kind, at, length)
        at += length
    scan.at = at


cdef bint open_rows(Scan* scan) noexcept nogil:
    """Reserve the columns in one piece, widest first so that each is aligned; False without memory."""
    cdef Py_ssize_t room = (scan.end - scan.at) // LEAST_ROW + 1
    cdef char* memory = <char*>malloc(room * 51)
    if memory == NULL:
        return False
    scan.room = room
    scan.number = <int64_t*>memory
    scan.when = scan.number + room
    scan.offset = scan.when + room
    scan.key = <int32_t*>(scan.offset + room)
    scan.captured = scan.key + room
    scan.original = scan.captured + room
    scan.seq = <uint32_t*>(scan.original + room)
    scan.ack = scan.seq + room
    scan.signature = scan.ack + room
    scan.flags = <int16_t*>(scan.signature + room)
    scan.direction = <int8_t*>(scan.flags + room)
    return True


cdef object column(str kind, void* first, Py_ssize_t size):
    made = array(kind)
    if size:
        made.frombytes(PyMemoryView_FromMemory(<char*>first, size, PyBUF_READ))
    return made


cdef object columns_of(Scan* scan):
    cdef Py_ssize_t rows = scan.rows
    cdef EndpointPair* pairs = scan.endpoints.pairs
    cdef Py_ssize_t index
    return PacketColumns(
        column("q", scan.number, rows * 8),
        column("q", scan.when, rows * 8),
        column("i", scan.key, rows * 4),
        column("b", scan.direction, rows),
        column("I", scan.seq, rows * 4),
        column("I", scan.ack, rows * 4),
        column("h", scan.flags, rows * 2),
        column("q", scan.offset, rows * 8),
        column("i", scan.captured, rows * 4),
        column("i", scan.original, rows * 4),
        column("I", scan.signature, rows * 4),
        [
            PyBytes_FromStringAndSize(<char*>pairs[index].name, 13 if pairs[index].name[0] == 4 else 37)
            for index in range(scan.endpoints.count)
        ],
        scan.at - scan.base,
        bool(scan.damaged),
    )


cdef int open_state(Scan* scan, object state) except -1:
    scan.big_endian = state.big_endian
    scan.port_room = scan.port_count = len(state.interfaces)
    scan.ports = <Port*>malloc((scan.port_count + 1) * sizeof(Port))
    if scan.ports == NULL:
        raise MemoryError
    for index, interface in enumerate(state.interfaces):
        scan.ports[index] = Port(
            interface.link_type, interface.snaplen, interface.resolution, interface.offset_s, interface.dropped
        )
    scan.dropped_before = state.dropped_before
    scan.snaplen = state.snaplen
    scan.time_ns = state.time_ns
    scan.timed = state.start_ns is not None
    if scan.timed:
        scan.start_ns, scan.end_ns = state.start_ns, state.end_ns
    scan.packets, scan.tcp, scan.fragments = state.packets, state.tcp, state.fragments
    scan.others, scan.unreadable = state.others, state.unreadable
    scan.captured_bytes, scan.original_bytes, scan.cut_bytes = state.captured_bytes, state.original_bytes, state.cut_bytes
    return 0


cdef int close_state(Scan* scan, object state) except -1:
    cdef Py_ssize_t index
    state.big_endian = bool(scan.big_endian)
    state.interfaces = [
        Interface(
            scan.ports[index].link_type, scan.ports[index].snaplen, scan.ports[index].resolution, scan.ports[index].offset_s,
            scan.ports[index].dropped,
        )
        for index in range(scan.port_count)
    ]
    state.dropped_before = scan.dropped_before
    state.snaplen = scan.snaplen
    state.time_ns = scan.time_ns
    if scan.timed:
        state.start_ns, state.end_ns = scan.start_ns, scan.end_ns
    state.packets, state.tcp, state.fragments = scan.packets, scan.tcp, scan.fragments
    state.others, state.unreadable = scan.others, scan.unreadable
    state.captured_bytes, state.original_bytes, state.cut_bytes = scan.captured_bytes, scan.original_bytes, scan.cut_bytes
    return 0


def scan(data, Py_ssize_t start, state):
    """Read every whole record of a chunk.

    Args:
        data: part of a capture file, beginning with what the scan before it left over.
        start: offset of the first record in `data`.
        state: from `kwire.capture.formats.identify`; changed in place.

    Returns:
        The TCP packets as columns; `consumed` tells where the first record begins that is not whole.
    """
    cdef Py_buffer view
    cdef Scan scan
    cdef Py_ssize_t header = state.record_header
    cdef bint is_pcap = state.kind == PCAP
    memset(&scan, 0, sizeof(Scan))
    scan.endpoints.seed = SEED
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        scan.base = <Bytes>view.buf
        scan.at = scan.base + (start if start < view.len else view.len)
        scan.end = scan.base + view.len
        open_state(&scan, state)
        if not open_rows(&scan):
            raise MemoryError
        with nogil:
            if is_pcap:
                scan_pcap(&scan, header)
            else:
                scan_pcapng(&scan)
        if scan.failed:
            raise MemoryError
        close_state(&scan, state)
        return columns_of(&scan)
    finally:
        free(scan.ports)
        free(scan.number)
        free(scan.endpoints.pairs)
        free(scan.endpoints.slots)
        PyBuffer_Release(&view)
