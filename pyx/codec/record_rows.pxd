"""The columns of records, and room in them: `column_buffers.pxd` with one table for records and one for their headers."""

from libc.stdint cimport int32_t

from codec.column_buffers cimport (
    BITS, MOST, NONE, Column, Store, forget_nulls, order_columns, put_bytes, put_null, reserve_content, reserve_rows, store_open,
)
from wire.cursor cimport Bytes

cdef enum:
    # In the order of kwire.codec.records.columns
    BUFFER = 0
    BATCH = 1
    MAGIC_COLUMN = 2
    BASE_OFFSET = 3
    LEADER_EPOCH = 4
    ATTRIBUTE_BITS = 5
    IS_TRANSACTIONAL = 6
    IS_CONTROL = 7
    PRODUCER_ID = 8
    PRODUCER_EPOCH = 9
    SEQUENCE = 10
    OFFSET = 11
    TIMESTAMP = 12
    KEY = 13
    VALUE = 14
    HEADERS = 15
    HEADER_KEY = 16
    HEADER_VALUE = 17
    COLUMNS = 18
    # Tables
    RECORD_ROWS = 0
    HEADER_ROWS = 1

# What is not kept has rows without content; where no record is read, a compressed batch has the rows that its header says.
cdef struct RecordRows:
    bint keeps_keys
    bint keeps_values
    bint keeps_headers
    bint reads_records
    Store store
    Py_ssize_t rows
    Py_ssize_t headers

# Where a loop writes the next values of a column with content.
cdef struct Writer:
    Column* column
    Py_ssize_t row
    Py_ssize_t at


cdef inline int column_width(int column) noexcept nogil:
    if column >= KEY:
        return NONE
    if column in (IS_TRANSACTIONAL, IS_CONTROL):
        return BITS
    if column == MAGIC_COLUMN:
        return 1
    if column in (ATTRIBUTE_BITS, PRODUCER_EPOCH):
        return 2
    return 8 if column in (BASE_OFFSET, PRODUCER_ID, OFFSET, TIMESTAMP) else 4


cdef inline bint open_rows(RecordRows* rows) noexcept nogil:
    cdef int index
    cdef Column* column
    rows.rows = rows.headers = 0
    rows.keeps_keys = rows.keeps_values = rows.keeps_headers = rows.reads_records = True
    if not store_open(&rows.store, COLUMNS, 2):
        return False
    for index in range(COLUMNS):
        column = &rows.store.columns[index]
        column.table = HEADER_ROWS if index >= HEADER_KEY else RECORD_ROWS
        column.width = column_width(index)
        column.has_offsets = index >= KEY
        column.has_content = index >= KEY and index != HEADERS
    rows.store.columns[HEADERS].child = HEADER_ROWS
    order_columns(&rows.store)
    return True


cdef inline Py_ssize_t content_used(const RecordRows* rows, int column) noexcept nogil:
    cdef const Column* found = &rows.store.columns[column]
    if found.offsets is NULL:
        return 0
    return found.offsets[rows.headers if found.table == HEADER_ROWS else rows.rows]


cdef inline bint keeps(const RecordRows* rows, int column) noexcept nogil:
    return rows.keeps_keys if column == KEY else rows.keeps_values if column == VALUE else rows.keeps_headers


cdef inline bint reserve_records(RecordRows* rows, Py_ssize_t more, Py_ssize_t content) noexcept nogil:
    """Room for so many more records with so many bytes of keys and values, and for the headers to begin; False when there is no memory."""
    cdef Py_ssize_t keys = content if rows.keeps_keys else 0
    cdef Py_ssize_t values = content if rows.keeps_values else 0
    return (
        reserve_rows(&rows.store, RECORD_ROWS, rows.rows + more) and reserve_rows(&rows.store, HEADER_ROWS, rows.headers + 1)
        and reserve_content(&rows.store, &rows.store.columns[KEY], content_used(rows, KEY) + keys)
        and reserve_content(&rows.store, &rows.store.columns[VALUE], content_used(rows, VALUE) + values)
    )


cdef inline bint reserve_headers(RecordRows* rows, Py_ssize_t more, Py_ssize_t content) noexcept nogil:
    return (
        reserve_rows(&rows.store, HEADER_ROWS, rows.headers + more)
        and reserve_content(&rows.store, &rows.store.columns[HEADER_KEY], content_used(rows, HEADER_KEY) + content)
        and reserve_content(&rows.store, &rows.store.columns[HEADER_VALUE], content_used(rows, HEADER_VALUE) + content)
    )


cdef inline bint content_fits(const RecordRows* rows, Py_ssize_t content) noexcept nogil:
    """Return whether Arrow's offsets can count this many more bytes in any column."""
    cdef Py_ssize_t used = max(content_used(rows, KEY), content_used(rows, VALUE))
    if not (rows.keeps_keys or rows.keeps_values or rows.keeps_headers):
        return True
    return max(used, content_used(rows, HEADER_KEY), content_used(rows, HEADER_VALUE)) + content <= MOST


cdef inline bint put_value(RecordRows* rows, int column, Py_ssize_t row, Bytes content, Py_ssize_t size, Bytes end) noexcept nogil:
    """A value, ABSENT for a null, for which room was made; `end` is that of the input. False without memory."""
    cdef Column* found = &rows.store.columns[column]
    cdef Py_ssize_t at = found.offsets[row]
    found.offsets[row + 1] = <int32_t>(at + max(size, <Py_ssize_t>0))
    if size < 0:
        return put_null(&rows.store, found, row)
    if size > 0:  # what is not kept is put as nothing, and lies nowhere where it is null
        put_bytes(found.data + at, content, size, end)
    return True


cdef inline void writer_open(Writer* writer, RecordRows* rows, int column) noexcept nogil:
    """Write behind the last record's value; room was made."""
    writer.column = &rows.store.columns[column]
    writer.row = rows.rows
    writer.at = writer.column.offsets[rows.rows]


cdef inline bint writer_add(Writer* writer, Store* store, Bytes content, Py_ssize_t size, Bytes end) noexcept nogil:
    """As `put_value`, for one row after the other."""
    cdef Column* column = writer.column
    if size > 0:  # see `put_value`
        put_bytes(column.data + writer.at, content, size, end)
        writer.at += size
    elif size < 0 and not put_null(store, column, writer.row):
        return False
    writer.row += 1
    column.offsets[writer.row] = <int32_t>writer.at
    return True


cdef inline void cut_rows(RecordRows* rows, Py_ssize_t records, Py_ssize_t headers) noexcept nogil:
    cdef int index
    rows.rows = records
    rows.headers = headers
    for index in range(COLUMNS):
        forget_nulls(&rows.store.columns[index], headers if index >= HEADER_KEY else records)
