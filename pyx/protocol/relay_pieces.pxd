"""Pieces that a relay gives out, for `writev`, and the memory of those that are not views of what it was given.

A piece has the layout of POSIX's `iovec`. It is good until the next call of its relay: `pieces_clear` frees what was made.
"""

from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from wire.cursor cimport Bytes
from wire.grown cimport grown

cdef enum:
    CHUNK = 1 << 12  # bytes of memory for heads and small answers

# A run of bytes to send.
cdef struct Piece:
    Bytes base
    size_t size

cdef struct Pieces:
    Piece* items
    Py_ssize_t count
    Py_ssize_t room

# Memory of made pieces: a chunk never moves, and its bytes lie behind it.
cdef struct Chunk:
    Chunk* next
    void* owned  # other memory that is freed with it
    Py_ssize_t used
    Py_ssize_t room


cdef inline uint8_t* chunk_take(Chunk** chunks, Py_ssize_t size) except NULL nogil:
    """So many bytes, good until `chunks_clear`."""
    cdef Chunk* chunk = chunks[0]
    cdef Py_ssize_t room
    if chunk is NULL or chunk.room - chunk.used < size:
        room = max(size, <Py_ssize_t>CHUNK)
        chunk = <Chunk*>malloc(sizeof(Chunk) + room)
        if chunk is NULL:
            with gil:
                raise MemoryError
        chunk.next, chunk.owned, chunk.used, chunk.room = chunks[0], NULL, 0, room
        chunks[0] = chunk
    chunk.used += size
    return <uint8_t*>(chunk + 1) + chunk.used - size


cdef inline int chunk_adopt(Chunk** chunks, void* owned) except -1 nogil:
    """Free this memory with the next `chunks_clear`."""
    cdef Chunk* chunk = <Chunk*>malloc(sizeof(Chunk))
    if chunk is NULL:
        with gil:
            raise MemoryError
    chunk.owned, chunk.used, chunk.room = owned, 0, 0
    if chunks[0] is NULL:
        chunk.next, chunks[0] = NULL, chunk
    else:  # behind the first one, which may have room left
        chunk.next, chunks[0].next = chunks[0].next, chunk
    return 0


cdef inline void chunks_clear(Chunk** chunks) noexcept nogil:
    """Pieces that were made are not needed any more."""
    cdef Chunk* chunk = chunks[0]
    cdef Chunk* following
    while chunk is not NULL:
        following = chunk.next
        free(chunk.owned)
        free(chunk)
        chunk = following
    chunks[0] = NULL


cdef inline int piece_add(Pieces* pieces, Bytes base, Py_ssize_t size) except -1 nogil:
    """Send these bytes; neighbours in memory become one piece."""
    cdef Piece* made
    if size == 0:
        return 0
    if pieces.count:
        made = &pieces.items[pieces.count - 1]
        if made.base + made.size == base:
            made.size += size
            return 0
    made = <Piece*>grown(pieces.items, &pieces.room, pieces.count + 1, 8, sizeof(Piece))
    if made is NULL:
        with gil:
            raise MemoryError
    pieces.items = made
    made += pieces.count
    made.base, made.size = base, size
    pieces.count += 1
    return 0


cdef inline uint8_t* piece_copy(Pieces* pieces, Chunk** chunks, Bytes base, Py_ssize_t size) except NULL nogil:
    """Send a copy of these bytes; gives where it lies. `size` is not 0."""
    cdef uint8_t* made = chunk_take(chunks, size)
    memcpy(made, base, size)
    piece_add(pieces, made, size)
    return made
