"""The beginning of a frame whose end has not come, one per direction of a connection: kwire/protocol/frames.py while borders are known.

Frames that lie whole in a packet are read where they are; only the others are put together here. A claimed length reserves nothing: memory
grows by doubling with the bytes that came, up to `MAX_FRAME`, and what was needed for a large frame is given back behind it.

A frame of which snaplen cut something is *damaged*: what came before the cut is kept, and the rest of it is passed over, be it there or
not.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from cursor cimport Bytes, load_32
from grown cimport grown

cdef enum:
    LENGTH_BYTES = 4
    MAX_FRAME = 100 * 1024 * 1024  # kwire.protocol.frames.MAX_FRAME
    KEPT_ROOM = 1 << 13
    MOST_PIECES = 8

# Where the bytes of one packet begin in the buffer.
cdef struct Piece:
    int64_t time_ns
    int64_t packet
    int32_t start

cdef struct FrameBuffer:
    uint8_t* bytes
    Py_ssize_t size
    Py_ssize_t room
    int64_t offset  # stream offset of the first byte that belongs to no frame that is done
    int64_t time_ns  # arrival of the first byte in the buffer
    int64_t packet
    int64_t skip  # bytes until the end of a damaged frame, whose length and beginning are in the buffer; 0 for none
    int64_t skipped_ns  # arrival of the latest byte that was passed over
    Piece pieces[MOST_PIECES]  # while it is not decided what is spoken: the packets that brought the bytes
    int32_t piece_count
    bint undecided


cdef inline void buffer_free(FrameBuffer* buffer) noexcept nogil:
    free(buffer.bytes)
    memset(buffer, 0, sizeof(FrameBuffer))


cdef inline bint buffer_add(FrameBuffer* buffer, Bytes data, Py_ssize_t size, int64_t time_ns, int64_t packet) noexcept nogil:
    """Put bytes behind the others; False without memory."""
    cdef uint8_t* made
    if size == 0:
        return True
    made = <uint8_t*>grown(buffer.bytes, &buffer.room, buffer.size + size, 2048, 1)
    if made is NULL:
        return False
    buffer.bytes = made
    if buffer.size == 0:
        buffer.time_ns = time_ns
        buffer.packet = packet
    memcpy(buffer.bytes + buffer.size, data, size)
    buffer.size += size
    return True


cdef inline void buffer_clear(FrameBuffer* buffer) noexcept nogil:
    """The frame is done."""
    buffer.size = 0
    buffer.skip = 0
    if buffer.room > KEPT_ROOM:
        free(buffer.bytes)
        buffer.bytes = NULL
        buffer.room = 0


cdef inline int32_t frame_length(Bytes p) noexcept nogil:
    """The length before a frame; -1 for one that is not believed."""
    cdef int32_t length = <int32_t>load_32(p)
    return length if 0 <= length <= MAX_FRAME else -1


cdef inline Py_ssize_t opening_bytes(Bytes first, Py_ssize_t have) noexcept nogil:
    """How many of the client's first bytes say what is spoken: length and what is behind it, and of PostgreSQL's start-up one more.

    Arguments:
        have: how many there are.
    """
    return 9 if have >= 8 and load_32(first + LENGTH_BYTES) == 3 << 16 else 8


cdef inline bint opens_kafka(Bytes first, Py_ssize_t size, bint from_client) noexcept nogil:
    """Whether the first bytes of a direction can only be Kafka: kwire/protocol/strangers.py, for what begins as nearly all Kafka does.

    Arguments:
        size: how many of the first bytes there are, up to nine.
    """
    cdef int64_t code
    if first[0] != 0 or frame_length(first) < LENGTH_BYTES:
        return False
    if not from_client:
        return True
    if size < 8:
        return False
    # PostgreSQL's requests for encryption or cancellation, and its start-up, which reads as Metadata v0 until its parameters come
    code = load_32(first + LENGTH_BYTES)
    if 80877102 <= code <= 80877104:
        return False
    return code != 3 << 16 or (size > 8 and first[8] < 0x61)
