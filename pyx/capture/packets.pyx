"""Native backend of `kwire.capture._pure.packets`.

A row takes 51 bytes in the columns and at least 36 in a file, so the memory for all rows of a chunk is reserved at once and stays in
proportion to the chunk.
"""

import os
from array import array

from kwire.capture.packet_columns import (
    EARLY_COST, FRAGMENT_NS, MAX_BLOCK_BYTES, MAX_FRAGMENT_BYTES, MAX_FRAGMENTED_PACKETS, MAX_PACKET_BYTES, NEAR_NS, EarlyFragment,
    FragmentedPacket,
    Interface, PacketColumns, SWEEP_BITS,
)

from cpython.buffer cimport PyBUF_READ, PyBUF_SIMPLE, PyBUF_WRITE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MIN, int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from build_id cimport build_id
from capture.endpoint_table cimport PAIR_BYTES, EndpointPair
from capture.packet_fragments cimport begin_packet, forget_packet, keep_part, open_fragments
from capture.packet_routes cimport routes_free
from capture.packet_scan cimport NAME_BYTES, EarlyPart, Fragmented, FragmentLimits, RouteBuffer, Routes, Scan, flow_of
from capture.packet_state cimport scan_close_state, scan_open_state
from capture.packet_walk cimport walk_records
from wire.checksum cimport crc_start
from wire.cursor cimport Bytes
from wire.turns cimport Turn, one_at_a_time, turn_begin, turn_end, turn_leave

__all__ = ["Router", "read_on", "route", "scan"]
__build__ = build_id()

cdef enum:
    # Fewer bytes than any record that is a row takes: 16 of the record, 20 of the IP header of a fragment.
    LEAST_ROW = 36

# Endpoints come from the wire: a sender must not know which ones collide.
cdef uint64_t SEED = <uint64_t>int.from_bytes(os.urandom(8), "little")

crc_start()

cdef FragmentLimits LIMITS = FragmentLimits(MAX_FRAGMENTED_PACKETS, MAX_FRAGMENT_BYTES, EARLY_COST, FRAGMENT_NS)


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
    free(scan.secrets)
    free(scan.flow_numbers)
    free(scan.flows.pairs)
    free(scan.flows.slots)
    free(scan.ports)
    free(scan.unread)
    free(scan.number)
    free(scan.endpoints.pairs)
    free(scan.endpoints.slots)


def scan(data, Py_ssize_t start, state):
    cdef Py_buffer view
    cdef Scan scan
    memset(&scan, 0, sizeof(Scan))
    scan.endpoints.seed = scan.flows.seed = SEED
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        scan.base = <Bytes>view.buf
        scan.at = scan.base + (start if start < view.len else view.len)
        scan.end = scan.base + view.len
        scan.chunk_bytes = view.len
        scan_open_state(&scan, state, MAX_PACKET_BYTES, MAX_BLOCK_BYTES, NEAR_NS)
        scan.limits = LIMITS
        if not open_rows(&scan, open_carry(&scan, state.carry)):
            raise MemoryError
        with nogil:
            walk_records(&scan)
        if scan.failed:
            raise MemoryError
        scan_close_state(&scan, state, Interface)
        close_carry(&scan, state.carry)
        return columns_of(&scan)
    finally:
        free_scan(&scan)
        PyBuffer_Release(&view)


cdef class Router:
    cdef Turn* turn  # see wire/turns.pxd
    cdef Routes routes

    def __cinit__(self, uint32_t shares):
        if not shares:
            raise ValueError("expected at least one share")
        self.routes.count = shares
        self.routes.latest_ns = INT64_MIN
        self.routes.sweep_bits = SWEEP_BITS
        self.routes.buffers = <RouteBuffer*>calloc(shares, sizeof(RouteBuffer))
        if self.routes.buffers is NULL:
            raise MemoryError

    def __dealloc__(self):
        routes_free(&self.routes)
        turn_leave(self.turn)

    @property
    def held(self):
        return self.routes.held

    def take(self, uint32_t share):
        if share >= self.routes.count:
            raise IndexError(f"there are {self.routes.count} shares")
        cdef RouteBuffer* buffer = &self.routes.buffers[share]
        found = PyBytes_FromStringAndSize(<char*>buffer.bytes, buffer.size)
        self.routes.held -= buffer.size
        buffer.size = 0
        return found


def route(data, Py_ssize_t start, state, Router router):
    cdef Py_buffer view
    cdef Scan scan
    memset(&scan, 0, sizeof(Scan))
    scan.endpoints.seed = SEED
    cdef Turn* held
    cdef bint has_view = False
    scan.routes = &router.routes
    turn_begin(&router.turn, router, &held)
    try:
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        has_view = True
        scan.base = <Bytes>view.buf
        scan.at = scan.base + (start if start < view.len else view.len)
        scan.end = scan.base + view.len
        scan_open_state(&scan, state, MAX_PACKET_BYTES, MAX_BLOCK_BYTES, NEAR_NS)
        with nogil:
            walk_records(&scan)
        if scan.failed:
            raise MemoryError
        scan_close_state(&scan, state, Interface)
        return scan.at - scan.base, bool(scan.damaged)
    finally:
        free_scan(&scan)
        if has_view:
            PyBuffer_Release(&view)
        turn_end(held)


def read_on(bytes rest, read_into, Py_ssize_t size):
    cdef Py_ssize_t kept = len(rest)
    cdef Py_ssize_t had = kept
    cdef Py_ssize_t got
    cdef bytes made = PyBytes_FromStringAndSize(NULL, kept + size)
    cdef char* at = PyBytes_AS_STRING(made)
    memcpy(at, PyBytes_AS_STRING(rest), kept)
    while had < kept + size:
        with PyMemoryView_FromMemory(at + had, kept + size - had, PyBUF_WRITE) as view:
            got = read_into(view)
        if not 0 <= got <= kept + size - had:
            raise ValueError("more was read than was asked for")
        if got == 0:
            break
        had += got
    return made if had == kept + size else made[:had]


cdef Turn** turn_of_router(PyObject* self) noexcept:
    return &(<Router>self).turn


one_at_a_time(Router, turn_of_router)
