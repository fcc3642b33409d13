"""Native backend of `kwire.capture.half_open`."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport INT64_MIN, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from capture.tcp_state cimport TcpFlow, TcpState, flow_begin
from wire.cursor cimport load_16, load_32, load_64
from wire.write_buffer cimport store_16, store_32, store_64

from kwire.capture._native.connection cimport TcpConnection, new_connection

cdef enum:
    SIDE_FLAG = 1  # the direction of the SYN
    CLOSED_FLAG = 2
    IGNORED_FLAG = 4
    MOST_PACKETS = 0xFFFF

# The fields of kwire.capture.half_open._HALF_OPEN, and of a refused one those of _RESET; behind them is what hangs on the connection.
cdef enum:
    BEGUN_AT = 0
    FIRST_AT = 8
    LAST_AT = 16
    N_AT = 24
    ISN_AT = 28
    SENT_AT = 32
    FLAGS_AT = 34
    OPEN_SIZE = 35
    CLOSED_AT = 35
    RESET_AT = 43
    ANSWERED_AT = 47
    CLOSED_SIZE = 49


cdef inline bint is_untouched(const TcpFlow* flow) noexcept nogil:
    """Return True for a direction with no more than a SYN or a reset."""
    return (
        flow.payload_packets == 0 and flow.strays == 0 and flow.position == 0 and flow.waiting is NULL and flow.fin_at == INT64_MIN
        and flow.packets <= MOST_PACKETS
    )


cdef inline bint is_half_open(const TcpState* tcp) noexcept nogil:
    """Return True for a connection with only a SYN, its copies and a reset of the other side."""
    cdef const TcpFlow* own
    cdef const TcpFlow* other
    if tcp.opened_by < 0 or tcp.answered != tcp.closed or tcp.held_count:
        return False
    own, other = &tcp.flows[tcp.opened_by], &tcp.flows[1 - tcp.opened_by]
    return (
        own.isn >= 0 and own.next == <uint32_t>(own.isn + 1) and own.packets > 0 and other.isn < 0 and not other.anchored
        and (other.next >= 0) == tcp.closed and (tcp.closed or not other.packets) and is_untouched(own) and is_untouched(other)
    )


cdef inline bytes packed_half_open(TcpConnection connection):
    """Pack a connection of which `is_half_open` is true; None where something else than bytes hangs on it."""
    cdef const TcpState* tcp = &connection.tcp
    cdef const TcpFlow* own
    cdef const TcpFlow* other
    cdef bytes made
    cdef uint8_t* at
    cdef Py_ssize_t size
    cdef object kept = connection.attachment
    if kept is None and connection.ignored:
        kept = b""
    if type(kept) is not bytes:
        return None
    own, other = &tcp.flows[tcp.opened_by], &tcp.flows[1 - tcp.opened_by]
    size = CLOSED_SIZE if tcp.closed else OPEN_SIZE
    made = PyBytes_FromStringAndSize(NULL, size + PyBytes_GET_SIZE(kept))
    at = <uint8_t*>PyBytes_AS_STRING(made)
    store_64(at + BEGUN_AT, connection.begun)
    store_64(at + FIRST_AT, tcp.first_ns)
    store_64(at + LAST_AT, tcp.last_ns)
    store_32(at + N_AT, connection.n)
    store_32(at + ISN_AT, <uint32_t>own.isn)
    store_16(at + SENT_AT, <uint16_t>own.packets)
    at[FLAGS_AT] = <uint8_t>(tcp.opened_by | (CLOSED_FLAG if tcp.closed else 0) | (IGNORED_FLAG if connection.ignored else 0))
    if tcp.closed:
        store_64(at + CLOSED_AT, tcp.closed_ns)
        store_32(at + RESET_AT, <uint32_t>other.next)
        store_16(at + ANSWERED_AT, <uint16_t>other.packets)
    memcpy(at + size, PyBytes_AS_STRING(kept), PyBytes_GET_SIZE(kept))
    return made


cdef inline const uint8_t* half_open_at(bytes packed) except NULL:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(packed)
    if size < OPEN_SIZE or (size < CLOSED_SIZE and PyBytes_AS_STRING(packed)[FLAGS_AT] & CLOSED_FLAG):
        raise ValueError("a half-open connection is cut")
    return <const uint8_t*>PyBytes_AS_STRING(packed)


cdef inline TcpConnection unpacked_half_open(bytes key, bytes packed):
    """Make the connection of what `packed_half_open` gave."""
    cdef const uint8_t* at = half_open_at(packed)
    cdef TcpConnection made = new_connection(key, load_32(at + N_AT), <int64_t>load_64(at + FIRST_AT))
    cdef TcpState* tcp = &made.tcp
    cdef int side = at[FLAGS_AT] & SIDE_FLAG
    made.begun, made.ignored = <int64_t>load_64(at + BEGUN_AT), at[FLAGS_AT] & IGNORED_FLAG != 0
    made.attachment = None if made.ignored else packed[CLOSED_SIZE if at[FLAGS_AT] & CLOSED_FLAG else OPEN_SIZE:]
    tcp.last_ns, tcp.opened_by = <int64_t>load_64(at + LAST_AT), side
    flow_begin(&tcp.flows[side], load_32(at + ISN_AT))
    tcp.flows[side].packets = load_16(at + SENT_AT)
    if at[FLAGS_AT] & CLOSED_FLAG:
        tcp.answered = tcp.closed = True
        tcp.closed_ns, tcp.flows[1 - side].next = <int64_t>load_64(at + CLOSED_AT), load_32(at + RESET_AT)
        tcp.flows[1 - side].packets = load_16(at + ANSWERED_AT)
    return made
