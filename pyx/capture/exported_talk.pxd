"""Packets of exported PDUs, appended to one buffer. The readable contract is `kwire.capture.exported_packets.ExportedTalk`."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from wire.cursor cimport Bytes
from wire.grown cimport grown
from wire.write_buffer cimport store_16, store_32

cdef enum:
    FIN = 1
    SYN = 2
    PUSH = 8
    ACK = 16
    WORDS = 5 << 4  # a TCP header without options
    WINDOW = 65535
    TCP_BYTES = 20
    HEAD_BYTES = 28  # of a packet's block
    AROUND_BYTES = 32  # head, and the size once more at the end
    PACKET_BLOCK = 6
    MOST_TAGS = 64  # bytes of the tags of two IPv6 addresses, rounded up
    MOST_PAYLOAD = 1 << 16
    LEAST_ROOM = 4096

cdef extern from *:
    """
    /* pcapng is written in little-endian form here. */
    static inline void kwire_put_32(unsigned char *p, uint32_t value) {
        p[0] = (unsigned char)value; p[1] = (unsigned char)(value >> 8);
        p[2] = (unsigned char)(value >> 16); p[3] = (unsigned char)(value >> 24);
    }
    """
    void put_32 "kwire_put_32"(uint8_t* p, uint32_t value) noexcept nogil

cdef struct Packets:
    uint8_t* bytes
    Py_ssize_t size
    Py_ssize_t room

cdef struct Talk:
    uint8_t[2][MOST_TAGS] tags  # by direction
    Py_ssize_t[2] tag_bytes
    uint16_t[2] ports
    uint64_t[2] numbers  # next sequence number of each direction
    bint[2] closed


# A packet with whole frames of one direction; the next ones are added to it while it is the last packet.
cdef struct OpenPacket:
    int direction
    Py_ssize_t at
    Py_ssize_t end  # -1 for none
    Py_ssize_t payload


cdef inline void packets_free(Packets* packets) noexcept nogil:
    free(packets.bytes)
    memset(packets, 0, sizeof(Packets))


cdef inline uint8_t* block_room(Packets* packets, Py_ssize_t at, Py_ssize_t captured, Py_ssize_t cut) noexcept nogil:
    """Give the last block, at an offset, the size of its packet, and return it; NULL without memory."""
    cdef Py_ssize_t whole = AROUND_BYTES + ((captured + 3) & ~<Py_ssize_t>3)
    cdef uint8_t* p = <uint8_t*>grown(packets.bytes, &packets.room, at + whole, LEAST_ROOM, 1)
    if p is NULL:
        return NULL
    packets.bytes = p
    packets.size = at + whole
    p += at
    put_32(p + 4, <uint32_t>whole)
    put_32(p + 20, <uint32_t>captured)
    put_32(p + 24, <uint32_t>(captured + cut))
    memset(p + HEAD_BYTES + captured, 0, whole - AROUND_BYTES - captured)
    put_32(p + whole - 4, <uint32_t>whole)
    return p


cdef inline uint8_t* packet_room(
    Packets* packets, const Talk* talk, int direction, int flags, Py_ssize_t size, Py_ssize_t cut, int64_t time_ns
) noexcept nogil:
    """Append a packet, and return the place of its payload: at most `MOST_PAYLOAD` bytes, and `cut` more left out; NULL without memory."""
    cdef uint8_t* p = block_room(packets, packets.size, talk.tag_bytes[direction] + TCP_BYTES + size, cut)
    if p is NULL:
        return NULL
    put_32(p, PACKET_BLOCK)
    put_32(p + 8, 0)
    put_32(p + 12, <uint32_t>(<uint64_t>time_ns >> 32))
    put_32(p + 16, <uint32_t>time_ns)
    p += HEAD_BYTES
    memcpy(p, talk.tags[direction], talk.tag_bytes[direction])
    p += talk.tag_bytes[direction]
    store_16(p, talk.ports[direction])
    store_16(p + 2, talk.ports[1 - direction])
    store_32(p + 4, <uint32_t>talk.numbers[direction])
    store_32(p + 8, <uint32_t>talk.numbers[1 - direction] if flags & ACK else 0)
    p[12], p[13] = WORDS, <uint8_t>flags
    store_16(p + 14, WINDOW)
    store_32(p + 16, 0)
    return p + TCP_BYTES


cdef inline bint put_packet(
    Packets* packets, const Talk* talk, int direction, int flags, Bytes payload, Py_ssize_t size, Py_ssize_t cut, int64_t time_ns
) noexcept nogil:
    cdef uint8_t* p = packet_room(packets, talk, direction, flags, size, cut, time_ns)
    if p is not NULL and size:
        memcpy(p, payload, size)
    return p is not NULL


cdef inline bint talk_opened(Packets* packets, Talk* talk, int client, int64_t time_ns) noexcept nogil:
    if not put_packet(packets, talk, client, SYN, NULL, 0, 0, time_ns):
        return False
    talk.numbers[client] += 1
    if not put_packet(packets, talk, 1 - client, SYN | ACK, NULL, 0, 0, time_ns):
        return False
    talk.numbers[1 - client] += 1
    return True


cdef inline bint talk_data(Packets* packets, Talk* talk, int direction, Bytes data, Py_ssize_t size, int64_t time_ns) noexcept nogil:
    cdef Py_ssize_t part
    while size > 0:
        part = min(size, <Py_ssize_t>MOST_PAYLOAD)
        if not put_packet(packets, talk, direction, PUSH | ACK, data, part, 0, time_ns):
            return False
        talk.numbers[direction] += part
        data += part
        size -= part
    return True


cdef inline uint8_t* talk_room(
    Packets* packets, Talk* talk, OpenPacket* last, int direction, Py_ssize_t size, int64_t time_ns
) noexcept nogil:
    """As `talk_data` of at most `MOST_PAYLOAD` bytes, which the caller writes; in the last packet if they fit there."""
    cdef Py_ssize_t before = talk.tag_bytes[direction] + TCP_BYTES + last.payload
    cdef uint8_t* p
    if last.end == packets.size and last.direction == direction and last.payload + size <= MOST_PAYLOAD:
        p = block_room(packets, last.at, before + size, 0)
        if p is not NULL:
            p += HEAD_BYTES + before
        last.payload += size
    else:
        last.direction, last.at, last.payload = direction, packets.size, size
        p = packet_room(packets, talk, direction, PUSH | ACK, size, 0, time_ns)
    last.end = packets.size
    talk.numbers[direction] += size
    return p


cdef inline bint talk_cut(Packets* packets, Talk* talk, int direction, int64_t count, int64_t time_ns) noexcept nogil:
    cdef Py_ssize_t part
    while count > 0:
        part = <Py_ssize_t>min(count, <int64_t>MOST_PAYLOAD)
        if not put_packet(packets, talk, direction, PUSH | ACK, NULL, 0, part, time_ns):
            return False
        talk.numbers[direction] += part
        count -= part
    return True


cdef inline bint talk_lost(Packets* packets, Talk* talk, int direction, int64_t count, int64_t time_ns) noexcept nogil:
    talk.numbers[direction] += count
    return put_packet(packets, talk, 1 - direction, ACK, NULL, 0, 0, time_ns)


cdef inline bint talk_closed(Packets* packets, Talk* talk, int direction, int64_t time_ns) noexcept nogil:
    """A direction ended by FIN; the second time nothing is written."""
    if talk.closed[direction]:
        return True
    talk.closed[direction] = True
    if not put_packet(packets, talk, direction, FIN | ACK, NULL, 0, 0, time_ns):
        return False
    talk.numbers[direction] += 1
    return True
