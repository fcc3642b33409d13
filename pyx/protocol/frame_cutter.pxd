"""Frame position of one direction: FrameSplitter of tracking/frames.py as a C struct.

Frames that lie whole in the bytes that come are read where they are; only the others are put together here. A claimed length reserves
nothing: memory grows by doubling with the bytes that came, and what a large frame needed is given back behind it. Of a frame whose head
says enough only that head is kept (`cutter_pass_over`), so a relay needs no whole frames.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove, memset

from wire.cursor cimport Bytes
from wire.grown cimport grown, kept_room

cdef enum:
    LENGTH = 4  # bytes of the length before a frame
    KEPT_ROOM = 1 << 13
    MOST_PENDING = 32  # kwire.protocol.tracking.frames._MOST_PENDING

# Where the bytes of one packet begin in the stream.
cdef struct Arrival:
    int64_t offset
    int64_t time_ns
    int64_t packet

# A position where a frame may begin, and how many bytes are needed to say so.
cdef struct Candidate:
    int64_t offset
    int64_t need

cdef struct Cutter:
    uint8_t* bytes  # of a frame that is broken its payload, else what no frame has taken
    Py_ssize_t size
    Py_ssize_t room
    int64_t base  # stream offset of the first byte of the buffer; of the next byte where a frame is broken
    int64_t need  # a buffer shorter than this cannot say anything new
    int64_t max_frame
    int64_t bytes_opaque
    Arrival* arrivals  # of the bytes in the buffer
    Py_ssize_t arrival_count
    Py_ssize_t arrival_room
    # a frame that is damaged or passed over, whose end has not come
    bint is_broken
    bint is_damaged
    bint is_doubtful  # borders were lost and found again a few frames ago
    bint is_ended  # the last byte of the broken frame was seen, or only cut off by snaplen
    int64_t skip  # bytes until that end
    int64_t skipped_ns
    int64_t broken_length
    int64_t broken_offset
    int64_t broken_packet
    int64_t broken_ns
    # while borders are unknown
    bint seeking
    int unproven  # frames that are still wanted as a proof of the border that was found
    int64_t sought_from  # where the search began
    int64_t scanned  # stream offset up to which candidates were looked for
    int64_t candidates  # looked at since the last frame
    Candidate* pending  # MOST_PENDING of them; NULL before there was one
    int pending_count


cdef inline void cutter_free(Cutter* cutter) noexcept nogil:
    free(cutter.bytes)
    free(cutter.arrivals)
    free(cutter.pending)
    memset(cutter, 0, sizeof(Cutter))


cdef inline int cutter_add(Cutter* cutter, Bytes data, Py_ssize_t size) except -1 nogil:
    """Put bytes behind the others."""
    cdef uint8_t* made
    if size == 0:
        return 0
    made = <uint8_t*>grown(cutter.bytes, &cutter.room, cutter.size + size, 256, 1)
    if made is NULL:
        with gil:
            raise MemoryError
    cutter.bytes = made
    memcpy(made + cutter.size, data, size)
    cutter.size += size
    return 0


cdef inline void cutter_empty(Cutter* cutter) noexcept nogil:
    """Nothing is in the buffer; what a large frame needed is given back."""
    cutter.size = 0
    cutter.bytes = <uint8_t*>kept_room(cutter.bytes, &cutter.room, KEPT_ROOM)


cdef inline void cutter_shift(Cutter* cutter, Py_ssize_t taken) noexcept nogil:
    """The first bytes of the buffer are done."""
    if taken == cutter.size:
        cutter_empty(cutter)
    elif taken:
        memmove(cutter.bytes, cutter.bytes + taken, cutter.size - taken)
        cutter.size -= taken


cdef inline int cutter_arrived(Cutter* cutter, int64_t offset, int64_t time_ns, int64_t packet) except -1 nogil:
    """The bytes from this offset on came so."""
    cdef Arrival* made
    if cutter.arrival_count:
        made = &cutter.arrivals[cutter.arrival_count - 1]
        if made.time_ns == time_ns and made.packet == packet:
            return 0
    made = <Arrival*>grown(cutter.arrivals, &cutter.arrival_room, cutter.arrival_count + 1, 2, sizeof(Arrival))
    if made is NULL:
        with gil:
            raise MemoryError
    cutter.arrivals = made
    made = &cutter.arrivals[cutter.arrival_count]
    made.offset, made.time_ns, made.packet = offset, time_ns, packet
    cutter.arrival_count += 1
    return 0


cdef inline const Arrival* cutter_arrival(const Cutter* cutter, int64_t offset) noexcept nogil:
    """Return the arrival of the byte at an offset."""
    cdef Py_ssize_t index = cutter.arrival_count - 1
    while index > 0 and cutter.arrivals[index].offset > offset:
        index -= 1
    return &cutter.arrivals[index]


cdef inline void cutter_forget(Cutter* cutter) noexcept nogil:
    """Of arrivals before the buffer only the one of its first byte counts."""
    cdef Py_ssize_t index
    if cutter.size == 0 or cutter.is_broken:
        cutter.arrival_count = 0
        return
    index = cutter_arrival(cutter, cutter.base) - cutter.arrivals
    if index > 0:
        memmove(cutter.arrivals, cutter.arrivals + index, (cutter.arrival_count - index) * sizeof(Arrival))
        cutter.arrival_count -= index


cdef inline void cutter_drop(Cutter* cutter, int64_t count) noexcept nogil:
    """The buffer is let go of, and with it so many bytes of the stream."""
    cutter.base += count
    cutter_empty(cutter)
    cutter.arrival_count = 0
    cutter.need = LENGTH
    cutter.pending_count = 0
    cutter.scanned = 0


cdef inline int cutter_break(
    Cutter* cutter, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t skip, bint damaged
) except -1:
    """Keep `size` bytes of a frame that is damaged or passed over, and skip those until its end.

    `payload` may lie in the buffer itself; `cutter.base` has to be behind what came.
    """
    cdef const Arrival* arrival = cutter_arrival(cutter, offset)
    cutter.broken_packet, cutter.broken_ns = arrival.packet, arrival.time_ns
    cutter.broken_length, cutter.broken_offset = length, offset
    cutter.skip, cutter.is_damaged = skip, damaged
    if cutter.bytes is not NULL and cutter.bytes <= payload <= cutter.bytes + cutter.size:
        memmove(cutter.bytes, payload, size)
        cutter.size = size
    else:
        cutter.size = 0
        cutter_add(cutter, payload, size)
    cutter.is_broken = cutter.is_ended = True
    cutter.is_doubtful = cutter.unproven > 0
    cutter.arrival_count = 0
    cutter.need = LENGTH
    cutter.pending_count = 0
    cutter.scanned = 0
    return 0


cdef inline int cutter_wait(Cutter* cutter, int64_t offset, int64_t need) except -1:
    """A candidate needs more bytes."""
    cdef Candidate* made
    if cutter.pending is NULL:
        made = <Candidate*>realloc(NULL, MOST_PENDING * sizeof(Candidate))
        if made is NULL:
            raise MemoryError
        cutter.pending = made
    if cutter.pending_count < MOST_PENDING:
        cutter.pending[cutter.pending_count].offset = offset
        cutter.pending[cutter.pending_count].need = need
        cutter.pending_count += 1
    return 0
