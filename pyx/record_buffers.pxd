"""Growable buffers for the columns of records.

Space is made once for a batch; values are then written without a question. A short value is written as one move of 32 bytes where the input
has that many left: the copy of a fixed size is two instructions.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from cursor cimport Bytes, likely

cdef enum:
    MOVE = 32
    MOST = 0x7FFFFFFF  # bytes of content in a column: Arrow's offsets are int32

# A buffer that grows; `used` and `room` count bytes.
cdef struct Growing:
    char* data
    Py_ssize_t used
    Py_ssize_t room

# Values of any length: Arrow's offsets, content, and a byte a value for what is not null.
cdef struct Texts:
    Growing offsets
    Growing content
    Growing present

# Where a loop writes the next values of `Texts`.
cdef struct Writer:
    char* content
    char* to
    char* present
    int32_t* offsets

cdef enum:
    SCALARS = 13

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

cdef struct Table:
    Growing[SCALARS] scalars
    Texts keys
    Texts values
    Growing header_offsets
    Texts header_keys
    Texts header_values
    Py_ssize_t rows
    Py_ssize_t headers


cdef inline bint grow(Growing* buffer, Py_ssize_t more) noexcept nogil:
    """Make room for `more` bytes behind those that are used; False when there is no memory."""
    cdef Py_ssize_t room = buffer.room
    cdef char* data
    if likely(buffer.used + more <= room):
        return True
    room = max(2 * room, buffer.used + more, 4096)
    data = <char*>realloc(buffer.data, room)
    if data is NULL:
        return False
    buffer.data = data
    buffer.room = room
    return True


cdef inline bint texts_open(Texts* texts) noexcept nogil:
    if not grow(&texts.offsets, 4) or not grow(&texts.content, MOVE) or not grow(&texts.present, 1):
        return False
    (<int32_t*>texts.offsets.data)[0] = 0
    texts.offsets.used = 4
    return True


cdef inline void texts_cut(Texts* texts, Py_ssize_t rows) noexcept nogil:
    """Forget all values but the first `rows`."""
    texts.offsets.used = 4 * (rows + 1)
    texts.present.used = rows
    texts.content.used = (<int32_t*>texts.offsets.data)[rows]


cdef inline bint texts_grow(Texts* texts, Py_ssize_t rows, Py_ssize_t content) noexcept nogil:
    return grow(&texts.offsets, 4 * rows) and grow(&texts.present, rows) and grow(&texts.content, content + MOVE)


cdef inline void texts_add(Texts* texts, Bytes content, Py_ssize_t size, Bytes end) noexcept nogil:
    """Add a value, ABSENT for a null; room was made. `end` is that of the input."""
    cdef char* to = texts.content.data + texts.content.used
    texts.present.data[texts.present.used] = size >= 0
    texts.present.used += 1
    if size > 0:
        if size <= MOVE and end - content >= MOVE:
            memcpy(to, content, MOVE)
        else:
            memcpy(to, content, size)
        texts.content.used += size
    (<int32_t*>(texts.offsets.data + texts.offsets.used))[0] = <int32_t>texts.content.used
    texts.offsets.used += 4


cdef inline void texts_release(Texts* texts) noexcept nogil:
    free(texts.offsets.data)
    free(texts.content.data)
    free(texts.present.data)


cdef inline int scalar_width(int column) noexcept nogil:
    if column in (MAGIC_COLUMN, IS_TRANSACTIONAL, IS_CONTROL):
        return 1
    if column in (ATTRIBUTE_BITS, PRODUCER_EPOCH):
        return 2
    return 8 if column in (BASE_OFFSET, PRODUCER_ID, OFFSET, TIMESTAMP) else 4


cdef inline bint table_open(Table* table) noexcept nogil:
    cdef int column
    for column in range(SCALARS):
        if not grow(&table.scalars[column], 8):
            return False
    if not grow(&table.header_offsets, 4):
        return False
    (<int32_t*>table.header_offsets.data)[0] = 0
    table.header_offsets.used = 4
    return texts_open(&table.keys) and texts_open(&table.values) and texts_open(&table.header_keys) and texts_open(&table.header_values)


cdef inline void writer_open(Writer* writer, Texts* texts) noexcept nogil:
    """Write behind the values of `texts`; room was made."""
    writer.to = writer.content = texts.content.data
    writer.to += texts.content.used
    writer.present = texts.present.data + texts.present.used
    writer.offsets = <int32_t*>(texts.offsets.data + texts.offsets.used)


cdef inline void writer_add(Writer* writer, Py_ssize_t index, Bytes content, Py_ssize_t size, Bytes end) noexcept nogil:
    """Write value number `index`; as `texts_add`."""
    writer.present[index] = size >= 0
    if size > 0:
        if size <= MOVE and end - content >= MOVE:
            memcpy(writer.to, content, MOVE)
        else:
            memcpy(writer.to, content, size)
        writer.to += size
    writer.offsets[index] = <int32_t>(writer.to - writer.content)


cdef inline void writer_close(const Writer* writer, Texts* texts, Py_ssize_t count) noexcept nogil:
    texts.content.used = writer.to - writer.content
    texts.present.used += count
    texts.offsets.used += 4 * count


cdef inline void texts_reset(Texts* texts) noexcept nogil:
    texts.offsets.used = 4
    texts.content.used = texts.present.used = 0


cdef inline Py_ssize_t texts_room(const Texts* texts) noexcept nogil:
    return texts.offsets.room + texts.content.room + texts.present.room


cdef inline Py_ssize_t table_room(const Table* table) noexcept nogil:
    """Bytes that a table holds."""
    cdef int column
    cdef Py_ssize_t room = table.header_offsets.room
    for column in range(SCALARS):
        room += table.scalars[column].room
    return room + texts_room(&table.keys) + texts_room(&table.values) + texts_room(&table.header_keys) + texts_room(&table.header_values)


cdef inline void table_reset(Table* table) noexcept nogil:
    """Make a table empty that keeps its memory."""
    table.rows = table.headers = 0
    table.header_offsets.used = 4
    texts_reset(&table.keys)
    texts_reset(&table.values)
    texts_reset(&table.header_keys)
    texts_reset(&table.header_values)


cdef inline void table_release(Table* table) noexcept nogil:
    cdef int column
    for column in range(SCALARS):
        free(table.scalars[column].data)
    free(table.header_offsets.data)
    texts_release(&table.keys)
    texts_release(&table.values)
    texts_release(&table.header_keys)
    texts_release(&table.header_values)


cdef inline void table_cut(Table* table, Py_ssize_t rows, Py_ssize_t headers) noexcept nogil:
    """Forget the rows of a batch that turned out bad."""
    table.rows = rows
    table.headers = headers
    texts_cut(&table.keys, rows)
    texts_cut(&table.values, rows)
    table.header_offsets.used = 4 * (rows + 1)
    texts_cut(&table.header_keys, headers)
    texts_cut(&table.header_values, headers)


cdef inline bint table_grow(Table* table, Py_ssize_t rows, Py_ssize_t content) noexcept nogil:
    """Make room for so many rows with so many bytes of keys and values; False when there is no memory."""
    cdef int column
    for column in range(SCALARS):
        # `used` of a scalar column follows from the rows
        table.scalars[column].used = table.rows * scalar_width(column)
        if not grow(&table.scalars[column], rows * scalar_width(column)):
            return False
    return texts_grow(&table.keys, rows, content) and texts_grow(&table.values, rows, content) and grow(&table.header_offsets, 4 * rows)


cdef inline bint table_fits(const Table* table, Py_ssize_t content) noexcept nogil:
    """Whether so many more bytes, whichever column they go to, stay within what Arrow can count."""
    cdef Py_ssize_t used = max(table.keys.content.used, table.values.content.used)
    used = max(used, table.header_keys.content.used, table.header_values.content.used)
    return used + content <= MOST
