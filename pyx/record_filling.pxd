"""The loops that fill the columns of records, without the GIL. Count and size of a batch are checked against its bytes first."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint64_t

from cursor cimport BAD_UTF8, OK, TRAILING_BYTES, TRUNCATED, Bytes, Cursor, cursor_fail, cursor_open, likely, unlikely
from record_layout cimport (
    ABSENT, CONTROL, LIMIT_EXCEEDED, RECORD_HEADER_KEY, RECORD_HEADER_VALUE, RECORDS, TRANSACTIONAL, Head, RawRecord, Trouble,
    check_batch_count, end_record, read_body_lengths, read_content, read_inner, read_record, relative_base, trouble,
)
from record_buffers cimport (
    ATTRIBUTE_BITS, BASE_OFFSET, BATCH, BUFFER, IS_CONTROL, IS_TRANSACTIONAL, LEADER_EPOCH, MAGIC_COLUMN, OFFSET, PRODUCER_EPOCH,
    PRODUCER_ID, SEQUENCE, TIMESTAMP, Table, Writer, table_fits, table_grow, texts_add, texts_grow, writer_add, writer_close, writer_open,
)
from utf8 cimport is_utf8


cdef inline bint end_row(Table* table, int64_t offset, int64_t timestamp, int32_t sequence) noexcept nogil:
    (<int64_t*>table.scalars[OFFSET].data)[table.rows] = offset
    (<int64_t*>table.scalars[TIMESTAMP].data)[table.rows] = timestamp
    (<int32_t*>table.scalars[SEQUENCE].data)[table.rows] = sequence
    table.rows += 1
    (<int32_t*>table.header_offsets.data)[table.rows] = <int32_t>table.headers
    table.header_offsets.used += 4
    return True


cdef inline void fill_batch(Table* table, const Head* head, int32_t buffer, int32_t batch, Py_ssize_t first) noexcept nogil:
    """Write what all rows of a batch share."""
    cdef Py_ssize_t row
    cdef int8_t transactional = head.magic == 2 and (head.attributes & TRANSACTIONAL) != 0
    cdef int8_t control = head.magic == 2 and (head.attributes & CONTROL) != 0
    cdef int64_t base_offset = head.stored_offset
    cdef int32_t* buffers = <int32_t*>table.scalars[BUFFER].data
    cdef int32_t* batches = <int32_t*>table.scalars[BATCH].data
    cdef int8_t* magics = <int8_t*>table.scalars[MAGIC_COLUMN].data
    cdef int64_t* bases = <int64_t*>table.scalars[BASE_OFFSET].data
    cdef int32_t* epochs = <int32_t*>table.scalars[LEADER_EPOCH].data
    cdef int16_t* attributes = <int16_t*>table.scalars[ATTRIBUTE_BITS].data
    cdef int8_t* transactionals = <int8_t*>table.scalars[IS_TRANSACTIONAL].data
    cdef int8_t* controls = <int8_t*>table.scalars[IS_CONTROL].data
    cdef int64_t* producers = <int64_t*>table.scalars[PRODUCER_ID].data
    cdef int16_t* producer_epochs = <int16_t*>table.scalars[PRODUCER_EPOCH].data
    if head.magic < 2 and table.rows > first:
        base_offset = (<int64_t*>table.scalars[OFFSET].data)[first]
    for row in range(first, table.rows):
        buffers[row] = buffer
    for row in range(first, table.rows):
        batches[row] = batch
    for row in range(first, table.rows):
        magics[row] = <int8_t>head.magic
    for row in range(first, table.rows):
        bases[row] = base_offset
    for row in range(first, table.rows):
        epochs[row] = head.partition_leader_epoch
    for row in range(first, table.rows):
        attributes[row] = head.attributes
    for row in range(first, table.rows):
        transactionals[row] = transactional
    for row in range(first, table.rows):
        controls[row] = control
    for row in range(first, table.rows):
        producers[row] = head.producer_id
    for row in range(first, table.rows):
        producer_epochs[row] = head.producer_epoch


cdef inline bint fill_record_headers(
    Table* table, Cursor* cursor, RawRecord* raw, Py_ssize_t record, Bytes end, Trouble* found
) noexcept nogil:
    """The headers of a record; False on a fault, or without one when there is no memory."""
    cdef Bytes content
    cdef Py_ssize_t size
    cdef int32_t index
    cdef int place
    cdef Py_ssize_t left = cursor.end - cursor.p
    if not texts_grow(&table.header_keys, raw.headers, left) or not texts_grow(&table.header_values, raw.headers, left):
        return False
    for index in range(raw.headers):
        place = RECORD_HEADER_KEY
        size = read_content(cursor, False, &content)
        if cursor.code == OK and not is_utf8(content, size):
            cursor_fail(cursor, BAD_UTF8, content)
        if likely(cursor.code == OK):
            texts_add(&table.header_keys, content, size, end)
            place = RECORD_HEADER_VALUE
            size = read_content(cursor, True, &content)
            texts_add(&table.header_values, content, size, end)
        if unlikely(cursor.code != OK):
            trouble(found, cursor.code, cursor.offset, place, record, 0)
            found.header = index
            return False
    table.headers += raw.headers
    return True


cdef inline bint fill_records(Table* table, const Head* head, Bytes data, Py_ssize_t start, Py_ssize_t size, Trouble* found) noexcept nogil:
    """The rows of a batch of magic 2 whose records are in `data[start:size]`; False on a fault, or without one when there is no memory."""
    cdef Cursor cursor
    cdef RawRecord raw
    cdef Writer keys
    cdef Writer values
    cdef Bytes end = data + size
    cdef Py_ssize_t record
    cdef int64_t* offsets
    cdef int64_t* timestamps
    cdef int32_t* sequences
    cdef int32_t* header_offsets
    cdef int place
    if head.count == 0:  # as Kafka: what follows is not looked at
        return True
    if not check_batch_count(head, size - start, found):
        return False
    if not table_fits(table, size - start):
        trouble(found, LIMIT_EXCEEDED, start, RECORDS, ABSENT, 0)
        return False
    if not table_grow(table, head.count, size - start):
        return False
    cursor_open(&cursor, data, size, start)
    # Content is written through char pointers, which may point anywhere for all the C compiler knows: so the loop has its state in locals.
    writer_open(&keys, &table.keys)
    writer_open(&values, &table.values)
    offsets = <int64_t*>table.scalars[OFFSET].data + table.rows
    timestamps = <int64_t*>table.scalars[TIMESTAMP].data + table.rows
    sequences = <int32_t*>table.scalars[SEQUENCE].data + table.rows
    header_offsets = <int32_t*>table.header_offsets.data + table.rows + 1
    for record in range(head.count):
        place = read_record(&cursor, head, &raw)
        if likely(place == 0):
            writer_add(&keys, record, raw.key, raw.key_size, end)
            writer_add(&values, record, raw.value, raw.value_size, end)
            if raw.headers and not fill_record_headers(table, &cursor, &raw, record, end, found):
                return False
            place = end_record(&cursor, end)
        if unlikely(place):
            trouble(found, cursor.code, cursor.offset, place, record, 0)
            return False
        offsets[record] = raw.offset
        timestamps[record] = raw.timestamp
        sequences[record] = raw.sequence
        header_offsets[record] = <int32_t>table.headers
    if cursor.p != end:
        cursor_fail(&cursor, TRAILING_BYTES, cursor.p)
        trouble(found, cursor.code, cursor.offset, RECORDS, ABSENT, 0)
        return False
    writer_close(&keys, &table.keys, head.count)
    writer_close(&values, &table.values, head.count)
    table.header_offsets.used += 4 * <Py_ssize_t>head.count
    table.rows += head.count
    return True


cdef inline bint fill_message(Table* table, Head* head, Bytes data, Py_ssize_t size, Trouble* found) noexcept nogil:
    """The row of a message of magic 0 or 1 that is not compressed."""
    cdef RawRecord raw
    if not table_fits(table, head.size):
        trouble(found, LIMIT_EXCEEDED, head.payload, RECORDS, ABSENT, 0)
        return False
    if not table_grow(table, 1, head.size):
        return False
    read_body_lengths(data, head, &raw, 0, found)
    if found.code != OK:
        return False
    texts_add(&table.keys, raw.key, raw.key_size, data + size)
    texts_add(&table.values, raw.value, raw.value_size, data + size)
    return end_row(table, head.stored_offset, head.max_timestamp, -1)


cdef inline bint fill_message_set(
    Table* table, const Head* head, Bytes data, Py_ssize_t size, bint check_crc, Trouble* found
) noexcept nogil:
    """The rows of the messages that were compressed together."""
    cdef Head inner
    cdef RawRecord raw
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t record = 0
    cdef Py_ssize_t first = table.rows
    cdef int64_t base
    cdef int64_t last = 0
    cdef int64_t* offsets
    if size == 0:
        trouble(found, TRUNCATED, 0, RECORDS, ABSENT, 0)
        return False
    if not table_fits(table, size):
        trouble(found, LIMIT_EXCEEDED, 0, RECORDS, ABSENT, 0)
        return False
    while at < size:
        if not read_inner(data, size, at, head, record, check_crc, &inner, &raw, found):
            return False
        if not table_grow(table, 1, inner.size):
            return False
        texts_add(&table.keys, raw.key, raw.key_size, data + size)
        texts_add(&table.values, raw.value, raw.value_size, data + size)
        end_row(table, raw.offset, raw.timestamp, -1)
        at += inner.size
        record += 1
        last = raw.offset
    offsets = <int64_t*>table.scalars[OFFSET].data
    base = relative_base(head, last)
    if base > 0:
        for at in range(first, table.rows):
            offsets[at] = <int64_t>(<uint64_t>offsets[at] + <uint64_t>base)
    return True
