"""Growable columns in the layout of Arrow: values, offsets and validity bits, each in a bytearray, so that what is read needs no copy.

A column belongs to a *table*, the set of columns that have the same rows: the messages, or the elements of one array. Room is made for
all columns of a table at once, when the count of its rows is known. How far a column is filled is said by its offsets alone: what a row
has in a child table begins where the row's offset points, so writing a row again, after a fault or for a tagged field that comes twice,
overwrites what was there.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from cursor cimport unlikely

cdef extern from "Python.h":
    int raw_bytearray_resize "PyByteArray_Resize"(PyObject*, Py_ssize_t) noexcept
    char* raw_bytearray_data "PyByteArray_AS_STRING"(PyObject*) noexcept
    Py_ssize_t raw_bytearray_size "PyByteArray_GET_SIZE"(PyObject*) noexcept
    PyObject* raw_bytearray_new "PyByteArray_FromStringAndSize"(const char*, Py_ssize_t) noexcept
    void clear_python_error "PyErr_Clear"() noexcept
    void release_object "Py_XDECREF"(PyObject*) noexcept

cdef enum:
    SLACK = 32  # bytes behind the content of variable columns, so that a short value is copied in one move
    FIRST_ROWS = 64
    FIRST_BYTES = 1024
    MOST = 0x7FFFFFFF - 64  # rows or bytes in one column: Arrow's offsets are int32
    UUID_TEXT = 22

cdef enum Failure:
    NO_FAILURE = 0
    NO_MEMORY = 1
    TOO_LARGE = 2

cdef enum Width:
    BITS = -1
    NONE = 0  # no values of its own: a struct, a list, or content behind offsets
    # others: bytes of a value

cdef enum Default:
    ABSENT = 0  # never asked for
    OF_NULL = 1
    FIXED = 2  # `default_bits`
    CONTENT = 3  # `default_content`, `default_size` bytes
    OF_FIELDS = 4  # a struct of defaults
    EMPTY = 5  # an empty array

cdef struct Column:
    uint8_t* data
    int32_t* offsets
    uint8_t* valid  # NULL while no row is null
    Py_ssize_t null_end  # behind the last null
    Py_ssize_t data_room  # bytes of content behind offsets, without the slack
    int32_t table
    int32_t child  # table of the elements, or -1
    int32_t width
    int32_t default
    int64_t default_bits
    const uint8_t* default_content
    Py_ssize_t default_size
    bint has_offsets
    bint has_content
    PyObject* data_owner
    PyObject* offsets_owner
    PyObject* valid_owner

cdef struct Table:
    Py_ssize_t room
    int32_t first  # index into `order`
    int32_t count

cdef struct Store:
    Column* columns
    Table* tables
    int32_t* order  # columns by table
    int column_count
    int table_count
    int failure


cdef inline void* grow_owner(PyObject** owner, Py_ssize_t old, Py_ssize_t size, int fill) noexcept:
    """Resize a bytearray, making it first if need be; what is new is filled. NULL without memory."""
    if owner[0] is NULL:
        owner[0] = raw_bytearray_new(NULL, size)
        if owner[0] is NULL:
            clear_python_error()
            return NULL
    elif raw_bytearray_resize(owner[0], size) != 0:
        clear_python_error()
        return NULL
    if fill >= 0:
        memset(raw_bytearray_data(owner[0]) + old, fill, size - old)
    return raw_bytearray_data(owner[0])


cdef inline bint grow_column(Store* store, Column* column, Py_ssize_t old, Py_ssize_t room) noexcept:
    cdef void* grown
    if column.width > 0:
        grown = grow_owner(&column.data_owner, old * column.width, room * column.width, -1)
        if grown is NULL:
            return False
        column.data = <uint8_t*>grown
    elif column.width == BITS:
        grown = grow_owner(&column.data_owner, (old + 7) // 8, (room + 7) // 8, 0)
        if grown is NULL:
            return False
        column.data = <uint8_t*>grown
    if column.has_offsets:
        grown = grow_owner(&column.offsets_owner, 0, (room + 1) * <Py_ssize_t>sizeof(int32_t), -1)
        if grown is NULL:
            return False
        column.offsets = <int32_t*>grown
        column.offsets[0] = 0
    if column.valid_owner is not NULL:
        grown = grow_owner(&column.valid_owner, (old + 7) // 8, (room + 7) // 8, 0xFF)
        if grown is NULL:
            return False
        column.valid = <uint8_t*>grown
    return True


cdef inline void adopt_owners(Store* store) noexcept:
    """Use the buffers that columns without any got from elsewhere."""
    cdef int number
    cdef int32_t index
    cdef Table* table
    cdef Column* column
    cdef Py_ssize_t room
    for number in range(store.table_count):
        table = &store.tables[number]
        room = MOST
        for index in range(table.first, table.first + table.count):
            column = &store.columns[store.order[index]]
            if column.data_owner is not NULL:
                column.data = <uint8_t*>raw_bytearray_data(column.data_owner)
                if column.has_content:
                    column.data_room = raw_bytearray_size(column.data_owner) - SLACK
                elif column.width == BITS:
                    room = min(room, 8 * raw_bytearray_size(column.data_owner))
                else:
                    room = min(room, raw_bytearray_size(column.data_owner) // column.width)
            elif column.width != NONE:
                room = 0
            if column.offsets_owner is not NULL:
                column.offsets = <int32_t*>raw_bytearray_data(column.offsets_owner)
                column.offsets[0] = 0
                room = min(room, raw_bytearray_size(column.offsets_owner) // <Py_ssize_t>sizeof(int32_t) - 1)
            elif column.has_offsets:
                room = 0
        table.room = room if room < MOST else 0


cdef inline bint fail_store(Store* store, int failure) noexcept nogil:
    if store.failure == NO_FAILURE:
        store.failure = failure
    return False


cdef inline bint grow_table(Store* store, int32_t number, Py_ssize_t rows) noexcept with gil:
    """Make room for `rows` rows at least, twice as many as there were."""
    cdef Table* table = &store.tables[number]
    cdef Py_ssize_t room = max(rows, min(2 * table.room, <Py_ssize_t>MOST), <Py_ssize_t>FIRST_ROWS)
    cdef int32_t index
    cdef Column* column
    if rows > MOST:
        return fail_store(store, TOO_LARGE)
    for index in range(table.first, table.first + table.count):
        column = &store.columns[store.order[index]]
        if column.width == UUID_TEXT and rows * UUID_TEXT > MOST:
            return fail_store(store, TOO_LARGE)
        if not grow_column(store, column, table.room, room):
            return fail_store(store, NO_MEMORY)
    table.room = room
    return True


cdef inline bint grow_content(Store* store, Column* column, Py_ssize_t size) noexcept with gil:
    """Make room for `size` bytes behind offsets at least, twice as many as there were."""
    cdef Py_ssize_t room = max(size, min(2 * column.data_room, <Py_ssize_t>MOST), <Py_ssize_t>FIRST_BYTES)
    cdef void* grown
    if size > MOST:
        return fail_store(store, TOO_LARGE)
    grown = grow_owner(&column.data_owner, 0, room + SLACK, -1)
    if grown is NULL:
        return fail_store(store, NO_MEMORY)
    column.data = <uint8_t*>grown
    column.data_room = room
    return True


cdef inline bint start_validity(Store* store, Column* column) noexcept with gil:
    """Give a column that meets its first null its bits."""
    cdef void* grown = grow_owner(&column.valid_owner, 0, (store.tables[column.table].room + 7) // 8, 0xFF)
    if grown is NULL:
        return fail_store(store, NO_MEMORY)
    column.valid = <uint8_t*>grown
    return True


cdef inline bint reserve_rows(Store* store, int32_t table, Py_ssize_t rows) noexcept nogil:
    if unlikely(rows > store.tables[table].room):
        return grow_table(store, table, rows)
    return True


cdef inline bint reserve_content(Store* store, Column* column, Py_ssize_t size) noexcept nogil:
    if unlikely(size > column.data_room):
        return grow_content(store, column, size)
    return True


cdef inline bint put_null(Store* store, Column* column, Py_ssize_t row) noexcept nogil:
    if column.valid is NULL and not start_validity(store, column):
        return False
    column.valid[row >> 3] &= <uint8_t>~(1 << (row & 7))
    column.null_end = row + 1
    return True


cdef inline void put_bit(Column* column, Py_ssize_t row, bint value) noexcept nogil:
    cdef uint8_t bit = <uint8_t>(1 << (row & 7))
    if value:
        column.data[row >> 3] |= bit
    else:
        column.data[row >> 3] &= <uint8_t>~bit


cdef inline void forget_nulls(Column* column, Py_ssize_t first) noexcept nogil:
    """Take back the nulls from row `first` on: these rows are written again. As nulls come in order, each is taken back once at most."""
    while column.null_end > first:
        column.null_end -= 1
        column.valid[column.null_end >> 3] |= <uint8_t>(1 << (column.null_end & 7))


cdef inline void release_columns(Store* store) noexcept:
    """Let go of what was filled; the layout stays."""
    cdef int index
    cdef Column* column
    for index in range(store.column_count):
        column = &store.columns[index]
        release_object(column.data_owner)
        release_object(column.offsets_owner)
        release_object(column.valid_owner)
        column.data_owner = column.offsets_owner = column.valid_owner = NULL
        column.data = column.valid = NULL
        column.offsets = NULL
        column.data_room = column.null_end = 0
    for index in range(store.table_count):
        store.tables[index].room = 0
    store.failure = NO_FAILURE
