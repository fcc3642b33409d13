"""Packet columns (kwire/capture/packet_columns.py) as native code reads them: pointers, and a packet at a time as a C struct."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint32_t

from capture.tcp_state cimport Packet

# Pointers into columns that somebody holds.
cdef struct PacketRows:
    const int64_t* number
    const int64_t* time_ns
    const int32_t* key
    const int8_t* direction
    const uint32_t* seq
    const uint32_t* ack
    const int16_t* flags
    const int64_t* offset
    const int32_t* captured
    const int32_t* original
    const uint32_t* signature
    Py_ssize_t count


cdef inline int packet_rows_open(PacketRows* rows, object columns, Py_ssize_t size) except -1:
    """Look at columns, which must stay as they are while the rows are read.

    Rows are read without looking at their ends: ValueError if columns differ in length, or leave their chunk of `size` bytes.
    """
    cdef const int64_t[::1] number = columns.number
    cdef const int64_t[::1] time_ns = columns.time_ns
    cdef const int32_t[::1] key = columns.key
    cdef const int8_t[::1] direction = columns.direction
    cdef const uint32_t[::1] seq = columns.seq
    cdef const uint32_t[::1] ack = columns.ack
    cdef const int16_t[::1] flags = columns.flags
    cdef const int64_t[::1] offset = columns.offset
    cdef const int32_t[::1] captured = columns.captured
    cdef const int32_t[::1] original = columns.original
    cdef const uint32_t[::1] signature = columns.signature
    cdef int32_t keys = <int32_t>len(columns.keys)
    cdef Py_ssize_t row
    rows.count = number.shape[0]
    for name in ("time_ns", "key", "direction", "seq", "ack", "flags", "offset", "captured", "original", "signature"):
        if len(getattr(columns, name)) != rows.count:
            raise ValueError("the columns of packets differ in length")
    if rows.count == 0:
        return 0
    rows.number, rows.time_ns, rows.key, rows.direction = &number[0], &time_ns[0], &key[0], &direction[0]
    rows.seq, rows.ack, rows.flags, rows.offset = &seq[0], &ack[0], &flags[0], &offset[0]
    rows.captured, rows.original, rows.signature = &captured[0], &original[0], &signature[0]
    for row in range(rows.count):
        if not 0 <= rows.key[row] < keys or not 0 <= rows.direction[row] <= 1:
            raise ValueError(f"packet {row} is of no connection")
        if rows.captured[row] < 0 or rows.offset[row] < 0 or rows.offset[row] > size - rows.captured[row]:
            raise ValueError(f"the payload of packet {row} does not lie in its chunk")
        if rows.original[row] < rows.captured[row]:
            raise ValueError(f"packet {row} has more payload than it had on the wire")
    return 0


cdef inline void packet_at(const PacketRows* rows, Py_ssize_t row, Packet* packet) noexcept nogil:
    packet.number, packet.time_ns = rows.number[row], rows.time_ns[row]
    packet.seq, packet.ack, packet.signature = rows.seq[row], rows.ack[row], rows.signature[row]
    packet.flags, packet.direction = rows.flags[row], rows.direction[row]
    packet.captured, packet.original = rows.captured[row], rows.original[row]
