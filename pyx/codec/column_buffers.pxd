"""Growable columns in the layout of Arrow: values, offsets, validity bits, each in a block of its own, so that what is read needs no copy.

A column belongs to a *table*, the set of columns that have the same rows: the messages, the elements of one array, the records of a batch.
Room is made for all columns of a table at once, when the count of its rows is known. How far a column is filled is said by its offsets
alone: what a row has in a child table begins where the row's offset points, so writing a row again, after a fault or for a tagged field
that comes twice, overwrites what was there.

Writers may write `SLACK` bytes behind the last value of a column: short content and short arrays are moved with a fixed size. So what
`reserve_rows` and `reserve_content` give has an address and that slack behind it, even where no row and no byte is asked for.

C-level entry for other modules: `store_open`, `store_close`, `reserve_rows`, `reserve_content`, the `put_` functions; none needs the GIL.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from wire.buffer_pool cimport block_room, give_block, grow_block
from wire.cursor cimport Bytes, likely, unlikely

cdef extern from "Python.h":
    void* raw_calloc "PyMem_RawCalloc"(size_t count, size_t size) noexcept nogil
    void raw_free "PyMem_RawFree"(void*) noexcept nogil

cdef enum:
    SLACK = 32  # bytes behind the content of a column
    SHORT = 256  # bytes of content that are copied without a call
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
    ABSENT_DEFAULT = 0  # never asked for
    OF_NULL = 1
    FIXED = 2  # `default_bits`
    CONTENT = 3  # `default_content`, `default_size` bytes
    OF_FIELDS = 4  # a struct of defaults
    EMPTY = 5  # an empty array

cdef struct Column:
    uint8_t* data
    int32_t* offsets
    uint8_t* valid  # NULL while no row is null
    Py_ssize_t data_room  # bytes of the block of content behind offsets, slack included; 0 without a block
    Py_ssize_t null_end  # behind the last null
    int32_t table  # -1: not filled
    int32_t child  # table of the elements, or -1
    int32_t width
    bint has_offsets
    bint has_content
    int32_t default
    int64_t default_bits
    const uint8_t* default_content
    Py_ssize_t default_size

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


cdef inline bint fail_store(Store* store, int failure) noexcept nogil:
    if store.failure == NO_FAILURE:
        store.failure = failure
    return False


cdef inline bint store_open(Store* store, int columns, int tables) noexcept nogil:
    """Make a store of columns that are not yet said to be anything; `order_columns` comes when they are. False without memory."""
    cdef int index
    memset(store, 0, sizeof(Store))
    store.columns = <Column*>raw_calloc(columns + 1, sizeof(Column))
    store.tables = <Table*>raw_calloc(tables + 1, sizeof(Table))
    store.order = <int32_t*>raw_calloc(columns + 1, sizeof(int32_t))
    store.column_count = columns
    store.table_count = tables
    if store.columns is NULL or store.tables is NULL or store.order is NULL:
        return False
    for index in range(columns):
        store.columns[index].table = store.columns[index].child = -1
    return True


cdef inline void order_columns(Store* store) noexcept nogil:
    """List the columns of each table."""
    cdef int32_t used = 0
    cdef int32_t table
    cdef int32_t index
    for table in range(store.table_count):
        store.tables[table].first = used
        for index in range(store.column_count):
            if store.columns[index].table == table:
                store.order[used] = index
                used += 1
        store.tables[table].count = used - store.tables[table].first


cdef inline void store_clear(Store* store) noexcept nogil:
    """Let go of what was filled; the layout stays."""
    cdef int index
    cdef Column* column
    for index in range(store.column_count):
        column = &store.columns[index]
        give_block(column.data)
        give_block(column.offsets)
        give_block(column.valid)
        column.data = column.valid = NULL
        column.offsets = NULL
        column.data_room = column.null_end = 0
    for index in range(store.table_count):
        store.tables[index].room = 0
    store.failure = NO_FAILURE


cdef inline void store_close(Store* store) noexcept nogil:
    if store.columns is not NULL:
        store_clear(store)
    raw_free(store.columns)
    raw_free(store.tables)
    raw_free(store.order)
    store.columns = NULL
    store.tables = NULL
    store.order = NULL


cdef inline bint grow_bits(uint8_t** bits, Py_ssize_t old, Py_ssize_t room, int fill) noexcept nogil:
    """Room for `room` bits; the new ones are all as `fill` has them, 0 or 0xFF."""
    cdef Py_ssize_t used = (old + 7) // 8 if bits[0] is not NULL else 0
    cdef uint8_t* grown = grow_block(bits[0], used, (room + 7) // 8)
    if grown is NULL:
        return False
    memset(grown + used, fill, (room + 7) // 8 - used)
    bits[0] = grown
    return True


cdef inline bint grow_column(Column* column, Py_ssize_t old, Py_ssize_t room) noexcept nogil:
    cdef uint8_t* grown
    if column.width > 0:
        grown = grow_block(column.data, old * column.width, room * column.width + SLACK)
        if grown is NULL:
            return False
        column.data = grown
    elif column.width == BITS and not grow_bits(&column.data, old, room, 0):
        return False
    if column.has_offsets:
        grown = grow_block(column.offsets, (old + 1) * sizeof(int32_t), (room + 1) * sizeof(int32_t))
        if grown is NULL:
            return False
        column.offsets = <int32_t*>grown
        column.offsets[0] = 0
    return column.valid is NULL or grow_bits(&column.valid, old, room, 0xFF)


cdef inline bint grow_table(Store* store, int32_t number, Py_ssize_t rows) noexcept nogil:
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
        if not grow_column(column, table.room, room):
            return fail_store(store, NO_MEMORY)
    table.room = room
    return True


cdef inline bint grow_content(Store* store, Column* column, Py_ssize_t size) noexcept nogil:
    """Make room for `size` bytes behind offsets at least, twice as many as there were."""
    cdef Py_ssize_t room = max(size + SLACK, min(2 * column.data_room, <Py_ssize_t>MOST + SLACK), <Py_ssize_t>FIRST_BYTES)
    cdef uint8_t* grown
    if size > MOST:
        return fail_store(store, TOO_LARGE)
    grown = grow_block(column.data, column.data_room, room)
    if grown is NULL:
        return fail_store(store, NO_MEMORY)
    column.data = grown
    column.data_room = min(<Py_ssize_t>block_room(grown), <Py_ssize_t>MOST + SLACK)
    return True


cdef inline bint start_validity(Store* store, Column* column) noexcept nogil:
    """Give a column that meets its first null its bits."""
    return grow_bits(&column.valid, 0, store.tables[column.table].room, 0xFF) or fail_store(store, NO_MEMORY)


cdef inline bint reserve_rows(Store* store, int32_t table, Py_ssize_t rows) noexcept nogil:
    """Room for `rows` rows of a table in all."""
    if unlikely(rows > store.tables[table].room or store.tables[table].room == 0):
        return grow_table(store, table, rows)
    return True


cdef inline bint reserve_content(Store* store, Column* column, Py_ssize_t size) noexcept nogil:
    """Room for `size` bytes of a column's content in all."""
    if unlikely(size > column.data_room - SLACK):  # true without a block, for a size of 0 too
        return grow_content(store, column, size)
    return True


cdef inline void put_bytes(uint8_t* to, Bytes content, Py_ssize_t size, Bytes end) noexcept nogil:
    """Copy content for which room was made; `end` is that of the input. Short values in moves of a fixed size, as far as the input goes."""
    cdef Bytes last = content + size
    if likely(size <= SHORT and end - last >= SLACK):
        while True:
            memcpy(to, content, SLACK)
            content += SLACK
            to += SLACK
            if content >= last:
                return
    memcpy(to, content, size)


cdef inline bint put_null(Store* store, Column* column, Py_ssize_t row) noexcept nogil:
    if unlikely(column.valid is NULL) and not start_validity(store, column):
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


cdef inline void put_bits(Column* column, Py_ssize_t first, Py_ssize_t count, bint value) noexcept nogil:
    """The same bit for `count` rows from `first` on; bytes at once where they are whole."""
    cdef Py_ssize_t last = first + count
    while first < last and first & 7:
        put_bit(column, first, value)
        first += 1
    if last - first >= 8:
        memset(column.data + (first >> 3), 0xFF if value else 0, (last - first) >> 3)
        first += (last - first) & ~<Py_ssize_t>7
    while first < last:
        put_bit(column, first, value)
        first += 1


cdef inline void forget_nulls(Column* column, Py_ssize_t first) noexcept nogil:
    """Take back the nulls from row `first` on: these rows are written again. As nulls come in order, each is taken back once at most."""
    while column.null_end > first:
        column.null_end -= 1
        column.valid[column.null_end >> 3] |= <uint8_t>(1 << (column.null_end & 7))
