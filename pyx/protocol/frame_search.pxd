"""Positions where a frame may begin: kwire/protocol/tracking/resync.py, `find` of both judges."""

from libc.stdint cimport int32_t

from protocol.exchange_state cimport SENT, ExchangeState, WaitingRequest
from protocol.waiting_requests cimport waiting_with
from wire.cursor cimport Bytes, load_32

cdef enum:
    WINDOW_REQUEST = 14  # bytes that decide: the length, api key, version, correlation id, length of the client id
    WINDOW_RESPONSE = 8  # the length and the correlation id
    MOST_IDS = 256  # kwire.protocol.tracking.resync._MOST_IDS


cdef inline Py_ssize_t find_request(Bytes p, Py_ssize_t size, Py_ssize_t start) noexcept nogil:
    """The first position from `start` on at which a request may begin, -1 for none: a length from 10 bytes to 32 MiB, an api key below
    128, a version below 32, any correlation id, a client id that is null or below 1280 bytes."""
    cdef Py_ssize_t at
    cdef Bytes q
    for at in range(start, size - WINDOW_REQUEST + 1):
        q = p + at
        if q[0] > 1 or q[4] or q[5] > 0x7F or q[6] or q[7] > 0x1F:
            continue
        if q[0] == 0 and q[1] == 0 and q[2] == 0 and q[3] < 10:
            continue
        if q[12] <= 4 or (q[12] == 0xFF and q[13] == 0xFF):
            return at
    return -1


cdef inline Py_ssize_t find_response(const ExchangeState* exchange, Bytes p, Py_ssize_t size, Py_ssize_t start) noexcept nogil:
    """The first position from `start` on at which the response to one of the first requests that wait may begin, -1 for none."""
    cdef Py_ssize_t at
    cdef WaitingRequest* each
    cdef const WaitingRequest* found
    cdef int seen
    if exchange.waiting is NULL:
        return -1
    for at in range(start, size - WINDOW_RESPONSE + 1):
        if p[at] > 6:
            continue
        found = waiting_with(exchange, <int32_t>load_32(p + at + 4))
        if found is NULL:
            continue
        if exchange.waiting_count > MOST_IDS:
            each = exchange.waiting
            seen = 0
            while seen < MOST_IDS and each is not found:
                each = each.after[SENT]
                seen += 1
            if seen == MOST_IDS:
                continue
        return at
    return -1
