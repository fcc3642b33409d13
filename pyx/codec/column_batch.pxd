"""One batch of messages run through the column executor: a row for each, and what was wrong with those that are rows of nulls."""

from libc.stdint cimport int64_t

from codec.column_buffers cimport NO_FAILURE
from codec.column_defaults cimport forget_rows, put_blank
from codec.column_executor cimport put_rows
from codec.column_program cimport Fill, Rows
from wire.cursor cimport TRAILING_BYTES, Bytes, cursor_fail, cursor_open

cdef extern from "Python.h":
    void* raw_realloc "PyMem_RawRealloc"(void*, size_t) noexcept nogil

# One message; `data` is NULL for a row of nulls.
cdef struct Span:
    Bytes data
    Py_ssize_t size

# Faults of a batch, one after the other: row, code, offset, depth, and depth times operation and index.
cdef struct Faults:
    int64_t* values
    Py_ssize_t used
    Py_ssize_t room


cdef inline bint add_fault(Faults* faults, Py_ssize_t row, const Fill* fill) noexcept nogil:
    cdef Py_ssize_t need = faults.used + 4 + 2 * fill.trace.depth
    cdef int64_t* grown
    cdef int level
    if need > faults.room:
        grown = <int64_t*>raw_realloc(faults.values, 2 * need * sizeof(int64_t))
        if grown is NULL:
            return False
        faults.values = grown
        faults.room = 2 * need
    grown = faults.values + faults.used
    grown[0] = row
    grown[1] = fill.cursor.code
    grown[2] = fill.cursor.offset
    grown[3] = fill.trace.depth
    for level in range(fill.trace.depth):
        grown[4 + 2 * level] = fill.trace.operation[level]
        grown[5 + 2 * level] = fill.trace.index[level]
    faults.used = need
    return True


cdef inline Py_ssize_t fill_rows(
    Rows* rows, const Span* spans, Py_ssize_t first, Py_ssize_t count, bint stop, Faults* faults
) noexcept nogil:
    """Rows `first` to `count` of the messages; how many are done then, less than `count` where a fault stops it or there is no room.

    Room for `count` messages was made.
    """
    cdef Fill fill
    cdef Py_ssize_t row
    for row in range(first, count):
        if spans[row].data is NULL:
            if not put_blank(rows, rows.program.blocks, 0, row):
                return row
            continue
        cursor_open(&fill.cursor, spans[row].data, spans[row].size, 0)
        fill.trace.depth = 0
        if put_rows(rows, &fill, 0, row, 1) == 1:
            if fill.cursor.p == fill.cursor.end:
                continue
            cursor_fail(&fill.cursor, TRAILING_BYTES, fill.cursor.p)
        if rows.store.failure != NO_FAILURE:
            return row
        if not add_fault(faults, row, &fill) or stop:
            return row
        forget_rows(rows, 0, row)
        if not put_blank(rows, rows.program.blocks, 0, row):
            return row
    return count
