"""One chunk of a capture file to packet columns: records or blocks, and what their packets are.

The twin of kwire/capture/_pure/packets.py, which is the contract. A row takes 51 bytes in the columns and at least 36 in a file, so the
memory for all rows of a chunk is reserved at once and stays in proportion to the chunk.
"""

import os
from array import array

from kwire.capture.packet_columns import (
    EARLY_COST, FRAGMENT_NS, MAX_BLOCK_BYTES, MAX_FRAGMENT_BYTES, MAX_FRAGMENTED_PACKETS, MAX_PACKET_BYTES, PCAP, EarlyFragment,
    FragmentedPacket, Interface, PacketColumns,
)

from cpython.buffer cimport PyBUF_READ, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from cursor cimport Bytes, likely, load_32
from endpoint_table cimport PAIR_BYTES, EndpointPair
from packet_fragments cimport EarlyPart, Fragmented, FragmentLimits, begin_packet, forget_packet, keep_part, open_fragments, take_fragment
from packet_links cimport view_packet
from packet_scan cimport NAME_BYTES, Port, Scan, add_exported, add_tcp, flow_of
from packet_view cimport IS_EXPORTED, IS_FRAGMENT, IS_OTHER, IS_TCP, PacketView, order_16, order_32, order_64

__all__ = ["scan"]

cdef enum:
    # Fewer bytes than any record that is a row takes: 16 of the record, 20 of the IP header of a fragment.
    LEAST_ROW = 36

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

cdef FragmentLimits LIMITS = FragmentLimits(MAX_FRAGMENTED_PACKETS, MAX_FRAGMENT_BYTES, EARLY_COST, FRAGMENT_NS)


cdef void take_packet(Scan* scan, int link_type, int64_t time_ns, Bytes at, uint32_t captured, uint32_t original) noexcept nogil:
    cdef PacketView view
    cdef int fate
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
    memset(&view, 0, sizeof(PacketView))
    view.at = at
    view.end = at + captured
    view.cut = <int64_t>original - captured
    fate = view_packet(&view, link_type)
    if likely(fate == IS_TCP):
        add_tcp(scan, &view, time_ns)
    elif fate == IS_OTHER:
        scan.others += 1
    elif fate == IS_FRAGMENT:
        take_fragment(scan, &view, time_ns, &LIMITS)
    elif fate == IS_EXPORTED:
        add_exported(scan, &view, time_ns)
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


cdef bint open_rows(Scan* scan, Py_ssize_t early) noexcept nogil:
    """Reserve the columns in one piece, widest first so that each is aligned; False without memory."""
    cdef Py_ssize_t room = (scan.end - scan.at) // LEAST_ROW + 1 + early
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


cdef bytes endpoints_of(const EndpointPair* pair):
    return PyBytes_FromStringAndSize(<char*>pair.name, 0 if not pair.name[0] else 13 if pair.name[0] == 4 else 37)


cdef object columns_of(Scan* scan):
    cdef Py_ssize_t rows = scan.rows
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
        [endpoints_of(&scan.endpoints.pairs[index]) for index in range(scan.endpoints.count)],
        scan.at - scan.base,
        bool(scan.damaged),
        PyBytes_FromStringAndSize(<char*>scan.spilled, scan.spilled_bytes),
    )


cdef Py_ssize_t open_carry(Scan* scan, object carry) except -1:
    """Take over what waits; gives the number of early fragments."""
    cdef Fragmented* packet
    cdef EarlyPart part
    cdef EndpointPair pair
    cdef uint32_t* numbers
    cdef uint8_t name[NAME_BYTES]
    cdef Py_ssize_t early = 0
    cdef bytes data
    for endpoints, (to_b, to_a) in carry.exported.items():
        memset(&pair, 0, sizeof(EndpointPair))
        memcpy(pair.name, <char*>endpoints, min(len(endpoints), PAIR_BYTES))
        numbers = flow_of(scan, &pair)
        if numbers == NULL:
            raise MemoryError
        numbers[0], numbers[1] = to_b, to_a
    if carry.fragmented and not open_fragments(scan, &LIMITS):
        raise MemoryError
    for waiting in carry.fragmented.values():
        data = waiting.name
        memset(name, 0, NAME_BYTES)
        memcpy(name, <char*>data, min(len(data), NAME_BYTES))
        packet = begin_packet(scan, name, waiting.time_ns, &LIMITS)
        packet.seen, packet.size, packet.fate = waiting.seen, waiting.size, waiting.fate
        data = waiting.endpoints
        memcpy(packet.header.endpoints.name, <char*>data, min(len(data), PAIR_BYTES))
        packet.header.direction, packet.header.flags = waiting.direction, waiting.flags
        packet.header.seq, packet.header.ack, packet.header.signature = waiting.seq, waiting.ack, waiting.signature
        packet.payload_at, packet.payload_bytes = waiting.payload_at, waiting.payload_bytes
        for each in waiting.early:
            data = each.data
            part.number, part.time_ns, part.at, part.length, part.more = each.number, each.time_ns, each.at, each.length, each.more
            part.stored = len(data)
            if not keep_part(scan, packet, &part, <const uint8_t*><char*>data, &LIMITS):
                raise MemoryError
            early += 1
    return early


cdef int close_carry(Scan* scan, object carry) except -1:
    cdef Py_ssize_t index
    cdef Fragmented* packet
    cdef EarlyPart* part
    cdef dict fragmented = carry.fragmented
    cdef object waiting
    if scan.flows.count:
        carry.exported = {
            endpoints_of(&scan.flows.pairs[index]): (scan.flow_numbers[2 * index], scan.flow_numbers[2 * index + 1])
            for index in range(scan.flows.count)
        }
    if scan.fragmented == NULL:
        return 0
    fragmented.clear()
    for index in range(scan.waiting):
        packet = &scan.fragmented[scan.order[index]]
        name = PyBytes_FromStringAndSize(<char*>packet.name, 14 if packet.name[0] == 4 else 38)
        waiting = fragmented[name] = FragmentedPacket(
            name, packet.time_ns, packet.seen, packet.size, packet.fate, endpoints_of(&packet.header.endpoints), packet.header.direction,
            packet.header.seq, packet.header.ack, packet.header.flags, packet.header.signature, packet.payload_at, packet.payload_bytes,
        )
        part = packet.first
        while part != NULL:
            waiting.early.append(
                EarlyFragment(
                    part.number, part.time_ns, part.at, part.length, bool(part.more),
                    PyBytes_FromStringAndSize(<char*>part.data, part.stored),
                )
            )
            part = part.following
    return 0


cdef void free_scan(Scan* scan) noexcept:
    while scan.waiting:
        forget_packet(scan, scan.waiting - 1, &LIMITS)
    free(scan.fragmented)
    free(scan.order)
    free(scan.spilled)
    free(scan.flow_numbers)
    free(scan.flows.pairs)
    free(scan.flows.slots)
    free(scan.ports)
    free(scan.number)
    free(scan.endpoints.pairs)
    free(scan.endpoints.slots)


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
    scan.endpoints.seed = scan.flows.seed = SEED
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        scan.base = <Bytes>view.buf
        scan.at = scan.base + (start if start < view.len else view.len)
        scan.end = scan.base + view.len
        scan.chunk_bytes = view.len
        open_state(&scan, state)
        if not open_rows(&scan, open_carry(&scan, state.carry)):
            raise MemoryError
        with nogil:
            if is_pcap:
                scan_pcap(&scan, header)
            else:
                scan_pcapng(&scan)
        if scan.failed:
            raise MemoryError
        close_state(&scan, state)
        close_carry(&scan, state.carry)
        return columns_of(&scan)
    finally:
        free_scan(&scan)
        PyBuffer_Release(&view)
