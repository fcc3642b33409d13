"""Native backend of `kwire.capture._pure.packet_rows`; the owner zeroes the struct and frees what it points to."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport realloc
from libc.string cimport memcmp, memcpy, memset

from capture.endpoint_table cimport EndpointPair, EndpointTable, find_endpoints
from capture.packet_view cimport PacketView
from wire.cursor cimport Bytes, load_16, load_32

cdef enum:
    FIN = 0x01
    SYN = 0x02
    RST = 0x04
    PUSH_ACK = 0x18

cdef struct Port:  # a capturing interface
    int32_t link_type
    uint32_t snaplen
    int32_t resolution
    int64_t offset_s
    int64_t dropped

cdef struct TcpHeader:
    EndpointPair endpoints
    int direction
    uint32_t seq, ack, signature
    int flags

cdef struct EarlyPart:  # kwire.capture.packet_columns.EarlyFragment
    int64_t number, time_ns, at, length
    bint more
    Py_ssize_t stored
    uint8_t* data
    EarlyPart* following

cdef enum:
    NAME_BYTES = 40

cdef struct Fragmented:  # kwire.capture.packet_columns.FragmentedPacket
    uint8_t name[NAME_BYTES]  # then zeros
    int64_t time_ns, seen, size
    int fate
    TcpHeader header
    int64_t payload_at, payload_bytes
    EarlyPart* first
    EarlyPart* last

cdef struct FragmentLimits:
    Py_ssize_t packets
    Py_ssize_t early_bytes
    Py_ssize_t early_cost
    int64_t time_ns

cdef struct RouteBuffer:
    uint8_t* bytes
    Py_ssize_t size, room

cdef struct Routes:  # packet_routes.pxd
    uint32_t count
    RouteBuffer* buffers
    Py_ssize_t held
    int64_t latest_ns
    int sweep_bits
    int32_t* shares
    Py_ssize_t share_room

cdef struct SecretRange:  # the key log of a Decryption Secrets Block
    Bytes start
    Py_ssize_t size

cdef struct Scan:
    Bytes base
    Bytes at
    Bytes end
    Py_ssize_t chunk_bytes
    int kind  # of the file
    Py_ssize_t record_header
    bint big_endian
    bint damaged
    bint failed  # no memory
    uint32_t packet_limit, block_limit
    int64_t near_ns
    bint strict, ended
    Bytes proven  # records from here on are questioned
    FragmentLimits limits
    Routes* routes  # where packets go instead of into rows, NULL for rows
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
    int64_t* unread  # by link type, of this chunk
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
    # exported PDUs: the next numbers of both directions of each pair of `flows`
    EndpointTable flows
    uint32_t* flow_numbers
    Py_ssize_t flow_room
    # fragmented packets: slots, and which of them are in use, the oldest first
    Fragmented* fragmented
    int32_t* order
    Py_ssize_t waiting
    Py_ssize_t held  # bytes of early parts, each with its cost
    uint8_t* spilled
    Py_ssize_t spilled_bytes, spilled_room
    SecretRange* secrets
    Py_ssize_t secret_count, secret_room


cdef inline int name_endpoints(EndpointPair* name, const PacketView* view, Bytes source_port, Bytes target_port) noexcept nogil:
    """Pack the endpoints, the smaller first; gives the direction."""
    if view.version == 4:  # of a known size
        return put_endpoints(name, view, source_port, target_port, 4)
    return put_endpoints(name, view, source_port, target_port, 16)


cdef inline int order_of(uint32_t one, uint32_t other) noexcept nogil:
    return (one > other) - (one < other)


cdef inline int put_endpoints(EndpointPair* name, const PacketView* view, Bytes source_port, Bytes target_port, int size) noexcept nogil:
    cdef int order
    if size == 4:
        order = order_of(load_32(view.source), load_32(view.target))
    else:
        order = memcmp(view.source, view.target, size)
    if order == 0:
        order = order_of(load_16(source_port), load_16(target_port))
    memset(name, 0, sizeof(EndpointPair))
    name.name[0] = <uint8_t>view.version
    memcpy(&name.name[1], view.source if order <= 0 else view.target, size)
    memcpy(&name.name[1 + size], source_port if order <= 0 else target_port, 2)
    memcpy(&name.name[3 + size], view.target if order <= 0 else view.source, size)
    memcpy(&name.name[3 + 2 * size], target_port if order <= 0 else source_port, 2)
    return 0 if order <= 0 else 1


cdef inline void read_tcp(TcpHeader* header, const PacketView* view) noexcept nogil:
    cdef Bytes tcp = view.at
    cdef Py_ssize_t stored = view.end - tcp
    cdef uint32_t signature = view.identification << 16
    if stored >= 18:
        signature |= load_16(tcp + 16)
    if view.header >= 32 and stored >= 28:  # NOP, NOP, timestamps: the sender's clock
        signature ^= load_32(tcp + 24) * <uint32_t>2654435761u  # 2**32 divided by the golden ratio
    header.direction = name_endpoints(&header.endpoints, view, tcp, tcp + 2)
    header.seq = load_32(tcp + 4)
    header.ack = load_32(tcp + 8)
    header.flags = tcp[13]
    header.signature = signature


cdef inline void add_row(
    Scan* scan, int64_t number, int64_t time_ns, const TcpHeader* header, int64_t offset, int64_t captured, int64_t original
) noexcept nogil:
    cdef Py_ssize_t row = scan.rows
    cdef int32_t found = find_endpoints(&scan.endpoints, &header.endpoints, scan.key[row - 1] if row else -1)
    if found < 0 or row == scan.room:
        scan.failed = True
        return
    scan.rows = row + 1
    scan.tcp += 1
    scan.number[row] = number
    scan.when[row] = time_ns
    scan.key[row] = found
    scan.direction[row] = <int8_t>header.direction
    scan.seq[row] = header.seq
    scan.ack[row] = header.ack
    scan.flags[row] = <int16_t>header.flags
    scan.offset[row] = offset if captured else 0
    scan.captured[row] = <int32_t>captured
    scan.original[row] = <int32_t>original
    scan.signature[row] = header.signature
    scan.cut_bytes += original - captured


cdef inline void add_tcp(Scan* scan, const PacketView* view, int64_t time_ns) noexcept nogil:
    cdef TcpHeader header
    cdef int64_t stored = view.end - view.at
    read_tcp(&header, view)
    add_row(
        scan, scan.packets, time_ns, &header, view.at + view.header - scan.base,
        stored - view.header if stored > view.header else 0, stored + view.cut - view.header,
    )


cdef inline uint32_t* flow_of(Scan* scan, const EndpointPair* endpoints) noexcept nogil:
    """The next numbers of a pair of endpoints; NULL without memory."""
    cdef Py_ssize_t known = scan.flows.count
    cdef int32_t found = find_endpoints(&scan.flows, endpoints, -1)
    cdef uint32_t* numbers
    if found < 0:
        return NULL
    if scan.flow_room < scan.flows.room:
        numbers = <uint32_t*>realloc(scan.flow_numbers, 2 * scan.flows.room * sizeof(uint32_t))
        if numbers == NULL:
            return NULL
        scan.flow_numbers = numbers
        scan.flow_room = scan.flows.room
    numbers = &scan.flow_numbers[2 * found]
    if scan.flows.count > known:
        numbers[0] = numbers[1] = 1
    return numbers


cdef inline void add_exported(Scan* scan, const PacketView* view, int64_t time_ns) noexcept nogil:
    """An exported PDU: with the numbers of its tags, or else as what follows the PDU before it in its direction."""
    cdef TcpHeader header
    cdef uint32_t* numbers
    cdef int64_t captured = view.end - view.at
    cdef int64_t original = captured + view.cut
    header.direction = name_endpoints(&header.endpoints, view, view.source_port, view.target_port)
    numbers = flow_of(scan, &header.endpoints)
    if numbers == NULL:
        scan.failed = True
        return
    header.seq = numbers[header.direction]
    header.ack = numbers[1 - header.direction]
    header.flags = PUSH_ACK
    # Wireshark exports what it put together after the segments, so the length must be that of the numbers
    if view.numbered and view.following - view.seq == original:
        header.seq = view.seq
        header.ack = view.ack
        header.flags = view.flags & ~SYN
    numbers[header.direction] = header.seq + <uint32_t>original
    header.signature = <uint32_t>scan.packets
    add_row(scan, scan.packets, time_ns, &header, view.at - scan.base, captured, original)
