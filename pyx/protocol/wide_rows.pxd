"""Rows of a table whose columns are numbers and texts, one int64 a column: how they are kept until a batch is made of them."""

from libc.stdint cimport INT64_MIN, int64_t

from wire.grown cimport grown

# Rows of a table whose columns are numbers and texts: an int64 a column.
cdef struct WideRows:
    int64_t* values
    Py_ssize_t count
    Py_ssize_t room
    Py_ssize_t width


cdef inline int64_t* wide_add(WideRows* rows) except NULL:
    """The next row, all of it null; valid until the next one is added."""
    cdef int64_t* made = <int64_t*>grown(rows.values, &rows.room, rows.count + 1, 256, rows.width * sizeof(int64_t))
    cdef Py_ssize_t index
    if made is NULL:
        raise MemoryError
    rows.values = made
    made = rows.values + rows.count * rows.width
    for index in range(rows.width):
        made[index] = INT64_MIN
    rows.count += 1
    return made
