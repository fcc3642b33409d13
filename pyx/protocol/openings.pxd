"""The first bytes of a direction until they say what is spoken: Opening of tracking/opening.py as a C struct."""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from protocol.frame_cutter cimport Arrival
from wire.cursor cimport Bytes
from wire.grown cimport grown

cdef struct Opening:
    uint8_t* bytes  # with PROXY headers
    Py_ssize_t size
    Py_ssize_t room
    Py_ssize_t skipped  # bytes of PROXY headers
    Arrival* pieces
    Py_ssize_t count
    Py_ssize_t piece_room


cdef inline Opening* opening_new() except NULL:
    cdef Opening* made = <Opening*>calloc(1, sizeof(Opening))
    if made is NULL:
        raise MemoryError
    return made


cdef inline void opening_free(Opening* opening) noexcept nogil:
    if opening is not NULL:
        free(opening.bytes)
        free(opening.pieces)
        free(opening)


cdef inline int opening_add(Opening* opening, Bytes data, Py_ssize_t size, int64_t time_ns, int64_t packet) except -1:
    """Put the next bytes behind the others."""
    cdef uint8_t* made = <uint8_t*>grown(opening.bytes, &opening.room, opening.size + size, 64, 1)
    cdef Arrival* piece
    if made is NULL:
        raise MemoryError
    opening.bytes = made
    piece = <Arrival*>grown(opening.pieces, &opening.piece_room, opening.count + 1, 2, sizeof(Arrival))
    if piece is NULL:
        raise MemoryError
    opening.pieces = piece
    piece[opening.count].offset, piece[opening.count].time_ns, piece[opening.count].packet = opening.size, time_ns, packet
    opening.count += 1
    memcpy(made + opening.size, data, size)
    opening.size += size
    return 0


cdef inline Py_ssize_t opening_end(const Opening* opening, Py_ssize_t index) noexcept nogil:
    """Return the end of a piece."""
    return <Py_ssize_t>opening.pieces[index + 1].offset if index + 1 < opening.count else opening.size
