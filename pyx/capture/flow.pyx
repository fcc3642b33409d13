"""Native backend of `kwire.capture.flow`: the bytes that wait behind a hole.

A fragment counts FRAGMENT_COST beside its bytes, and the connection gives up the first hole when MAX_WAITING_BYTES wait behind it. A
fragment has bytes of its own, never a part of a chunk, so that what waits keeps nothing else in memory.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from build_id cimport build_id
from capture.tcp_state cimport FRAGMENT_COST, RECENT, Fragment, Packet, TcpFlow, Waiting, fragment_at, waiting_count
from wire.raw_python cimport raw_incref, raw_xdecref

from kwire.capture.flow import Fragment as PlainFragment

__build__ = build_id()


cdef object part_of(object owner, const uint8_t* payload, int64_t first, int64_t last):
    """The bytes `first` to `last` of a payload that begins at `payload` inside of `owner`, bytes or of a kind of its own."""
    cdef const uint8_t* start = <const uint8_t*>PyBytes_AS_STRING(owner)
    cdef Py_ssize_t at = payload - start
    if at + first < 0 or last < first or at + last > PyBytes_GET_SIZE(owner):
        raise ValueError("a payload does not lie in its bytes")
    if at + first == 0 and at + last == PyBytes_GET_SIZE(owner):
        return owner
    if PyBytes_CheckExact(owner):
        return PyBytes_FromStringAndSize(<const char*>payload + first, last - first)
    made = owner[at + first:at + last]
    if not isinstance(made, bytes) or PyBytes_GET_SIZE(made) != last - first:
        raise ValueError("a part of a payload has another length")
    return made


cdef int make_room(TcpFlow* flow, Py_ssize_t index) except -1:
    """Open a place among the fragments, before the index-th."""
    cdef int32_t count = 0 if flow.waiting is NULL else flow.waiting.count  # MAX_WAITING_BYTES bounds it
    cdef bint at_front = index < count - index
    cdef int32_t room = 2 * count + 4
    cdef Waiting* made
    if flow.waiting is NULL or (flow.waiting.first == 0 if at_front else flow.waiting.first + count == flow.waiting.room):
        # in the middle of twice as much: so there is room on both sides, and each one pays for at most two others
        made = <Waiting*>malloc(sizeof(Waiting) + room * sizeof(Fragment))
        if made is NULL:
            raise MemoryError
        made.first, made.count, made.room, made.bytes = (room - count) // 2, count, room, 0
        if flow.waiting is not NULL:
            made.bytes = flow.waiting.bytes
            memcpy(made.fragments + made.first, fragment_at(flow, 0), count * sizeof(Fragment))
            free(flow.waiting)
        flow.waiting = made
    if at_front:
        flow.waiting.first -= 1
        memmove(fragment_at(flow, 0), fragment_at(flow, 1), index * sizeof(Fragment))
    else:
        memmove(fragment_at(flow, index + 1), fragment_at(flow, index), (count - index) * sizeof(Fragment))
    flow.waiting.count += 1
    return 0


cdef int put(TcpFlow* flow, Py_ssize_t index, int64_t start, int64_t end, object data, int64_t time_ns, int64_t packet) except -1:
    """Flow._insert: a fragment before the index-th; `data` is None where snaplen cut it."""
    cdef Fragment* piece
    make_room(flow, index)
    piece = fragment_at(flow, index)
    piece.start, piece.end, piece.time_ns, piece.packet = start, end, time_ns, packet
    piece.data = NULL
    flow.waiting.bytes += FRAGMENT_COST
    if data is not None:
        raw_incref(<PyObject*>data)
        piece.data = <PyObject*>data
        flow.waiting.bytes += end - start
    return 0


cdef void replace(Fragment* piece, int64_t start, int64_t end, object data, const Packet* packet) noexcept:
    """A fragment that was cut becomes one that came."""
    raw_incref(<PyObject*>data)
    piece.start, piece.end, piece.data = start, end, <PyObject*>data
    piece.time_ns, piece.packet = packet.time_ns, packet.number


cdef Py_ssize_t place_of(const TcpFlow* flow, int64_t start) noexcept nogil:
    """Count the fragments that begin at or before `start`."""
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t high = waiting_count(flow)
    cdef Py_ssize_t middle
    while low < high:
        middle = (low + high) // 2
        if fragment_at(flow, middle).start <= start:
            low = middle + 1
        else:
            high = middle
    return low


cdef bint fill(
    TcpFlow* flow, int64_t start, int64_t end, const Packet* packet, object owner, const uint8_t* payload, int64_t origin
) except -1:
    """Flow._fill; `owner` is None where snaplen cut the bytes, and `origin` is the place of the first one in the stream."""
    cdef Py_ssize_t index = place_of(flow, start)
    cdef int64_t at = start
    cdef int64_t stop
    cdef bint fresh = False
    cdef Fragment old
    if index and fragment_at(flow, index - 1).end > start:
        index -= 1
    while at < end:
        if index == waiting_count(flow) or fragment_at(flow, index).start >= end:
            put(flow, index, at, end, stretch(owner, payload, at - origin, end - origin), packet.time_ns, packet.number)
            return True
        old = fragment_at(flow, index)[0]
        if at < old.start:
            put(flow, index, at, old.start, stretch(owner, payload, at - origin, old.start - origin), packet.time_ns, packet.number)
            at, fresh = old.start, True
            index += 1
        stop = min(old.end, end)
        if old.data is NULL and owner is not None:
            replace(fragment_at(flow, index), at, stop, stretch(owner, payload, at - origin, stop - origin), packet)
            flow.waiting.bytes += stop - at
            if old.start < at:
                put(flow, index, old.start, at, None, old.time_ns, old.packet)
                index += 1
            if stop < old.end:
                put(flow, index + 1, stop, old.end, None, old.time_ns, old.packet)
                index += 1
            fresh = True
        index += 1
        at = stop
    return fresh


cdef object stretch(object owner, const uint8_t* payload, int64_t first, int64_t last):
    return None if owner is None else part_of(owner, payload, first, last)


cdef bint flow_wait(TcpFlow* flow, int64_t start, const Packet* packet, object owner, const uint8_t* payload) except -1:
    """Flow._wait; `payload` lies in `owner`, and bytes before `flow.position` are left out."""
    cdef int64_t middle = start + packet.captured
    cdef int64_t end = start + packet.original
    cdef int64_t first = max(start, flow.position)
    cdef bint fresh = False
    if first < middle:
        fresh = fill(flow, first, middle, packet, owner, payload, start)
    first = max(first, middle)
    if first < end:
        fresh = fill(flow, first, end, packet, None, NULL, start) or fresh
    return fresh


cdef bint flow_pop(TcpFlow* flow, Fragment* piece) noexcept:
    """Take the first fragment if it is the next of the stream; its reference is the caller's then."""
    if flow.waiting is NULL or fragment_at(flow, 0).start != flow.position:
        return False
    piece[0] = fragment_at(flow, 0)[0]
    flow.waiting.first += 1
    flow.waiting.count -= 1
    flow.waiting.bytes -= FRAGMENT_COST + (0 if piece.data is NULL else piece.end - piece.start)
    if flow.waiting.count == 0:
        flow_close(flow)
    return True


cdef void flow_close(TcpFlow* flow) noexcept:
    cdef Py_ssize_t index
    for index in range(waiting_count(flow)):
        raw_xdecref(fragment_at(flow, index).data)
    free(flow.waiting)
    flow.waiting = NULL


cdef list waiting_of(const TcpFlow* flow):
    cdef list found = []
    cdef const Fragment* piece
    cdef Py_ssize_t index
    for index in range(waiting_count(flow)):
        piece = fragment_at(flow, index)
        data = None if piece.data is NULL else <object>piece.data
        found.append(PlainFragment(piece.start, piece.end, data, piece.time_ns, piece.packet))
    return found


cdef int flow_plain(const TcpFlow* flow, object made) except -1:
    """Write a state into `made`, a `kwire.capture.flow.Flow`."""
    made.isn = None if flow.isn < 0 else flow.isn
    made.next = None if flow.next < 0 else flow.next
    made.fin_at = None if flow.fin_at == INT64_MIN else flow.fin_at
    made.position, made.anchored, made.finished = flow.position, bool(flow.anchored), bool(flow.finished)
    made.recent = [flow.recent[index] for index in range(flow.recent_count)]
    made.waiting, made.waiting_bytes = waiting_of(flow), 0 if flow.waiting is NULL else flow.waiting.bytes
    made.packets, made.payload_packets, made.bytes = flow.packets, flow.payload_packets, flow.bytes
    made.bytes_cut, made.bytes_lost, made.gaps = flow.bytes_cut, flow.bytes_lost, flow.gaps
    made.retransmissions, made.duplicates, made.strays = flow.retransmissions, flow.duplicates, flow.strays
    return 0


cdef int flow_restore(TcpFlow* flow, object known) except -1:
    """Take over a stored state; ValueError if what waits there is in no order, or has not as many bytes as it says."""
    cdef int64_t border
    flow.isn = -1 if known.isn is None else <uint32_t>known.isn
    flow.next = -1 if known.next is None else <uint32_t>known.next
    flow.fin_at = INT64_MIN if known.fin_at is None else known.fin_at
    flow.position, flow.anchored, flow.finished = known.position, known.anchored, known.finished
    flow.recent_count = 0
    for signature in known.recent[:RECENT]:
        flow.recent[flow.recent_count] = signature
        flow.recent_count += 1
    flow.packets, flow.payload_packets, flow.bytes = known.packets, known.payload_packets, known.bytes
    flow.bytes_cut, flow.bytes_lost, flow.gaps = known.bytes_cut, known.bytes_lost, known.gaps
    flow.retransmissions, flow.duplicates, flow.strays = known.retransmissions, known.duplicates, known.strays
    border = flow.position
    for piece in known.waiting:
        if piece.start < border or piece.end <= piece.start or (piece.data is not None and len(piece.data) != piece.end - piece.start):
            raise ValueError("fragments overlap, or have another length than their bytes")
        if piece.data is not None and not isinstance(piece.data, bytes):
            raise ValueError("a fragment holds no bytes")
        put(flow, waiting_count(flow), piece.start, piece.end, piece.data, piece.time_ns, piece.packet)
        border = piece.end
    return 0
