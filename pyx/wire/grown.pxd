"""The one way in which arrays of shared grow: by doubling, with what they hold and never with what a frame claims."""

from libc.stdlib cimport free, realloc


cdef inline void* grown(void* items, Py_ssize_t* room, Py_ssize_t wanted, Py_ssize_t least, size_t size) noexcept nogil:
    """Return an array with room for `wanted` items; NULL without memory, and then nothing has changed.

    Arguments:
        items, room: where it lies now, NULL for nowhere, and how many items fit there; the new room is written.
        least: room of an array that was empty, in items.
        size: of an item, in bytes.
    """
    cdef Py_ssize_t larger = room[0]
    cdef void* made
    if wanted <= larger and items is not NULL:
        return items
    larger = max(larger, least)
    while larger < wanted:
        larger *= 2
    made = realloc(items, larger * size)
    if made is not NULL:
        room[0] = larger
    return made


cdef inline void* kept_room(void* items, Py_ssize_t* room, Py_ssize_t most) noexcept nogil:
    """Return an empty array; free it if a huge frame made it larger than `most` bytes."""
    if room[0] <= most:
        return items
    free(items)
    room[0] = 0
    return NULL
