"""The loops that fill the columns of records, without the GIL. Count and size of a batch are checked against its bytes first."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint64_t

from codec.column_buffers cimport Column, put_bits
from codec.record_layout cimport (
    ABSENT, CONTROL, LIMIT_EXCEEDED, RECORD_HEADER_KEY, RECORD_HEADER_VALUE, RECORDS, TRANSACTIONAL, Head, RawRecord, Trouble,
    check_batch_count, end_record, read_body_lengths, read_content, read_inner, read_record, relative_base, trouble,
)
from codec.record_rows cimport (
    ATTRIBUTE_BITS, BASE_OFFSET, BATCH, BUFFER, HEADER_KEY, HEADER_VALUE, HEADERS, IS_CONTROL, IS_TRANSACTIONAL, KEY, LEADER_EPOCH,
    MAGIC_COLUMN, OFFSET, PRODUCER_EPOCH, PRODUCER_ID, SEQUENCE, TIMESTAMP, VALUE, RecordRows, Writer, content_fits, put_value,
    reserve_headers, reserve_records, writer_add, writer_open,
)
from wire.cursor cimport BAD_UTF8, OK, TRAILING_BYTES, TRUNCATED, Bytes, Cursor, cursor_fail, cursor_open, likely, unlikely
from wire.utf8 cimport is_utf8


cdef inline void* values_of(RecordRows* rows, int column) noexcept nogil:
    return rows.store.columns[column].data


cdef inline bint put_record(
    RecordRows* rows, int64_t offset, int64_t timestamp, int32_t sequence, const RawRecord* raw, Bytes end
) noexcept nogil:
    """One record without headers; `end` is that of the input. False without memory."""
    cdef Py_ssize_t row = rows.rows
    (<int64_t*>values_of(rows, OFFSET))[row] = offset
    (<int64_t*>values_of(rows, TIMESTAMP))[row] = timestamp
    (<int32_t*>values_of(rows, SEQUENCE))[row] = sequence
    rows.store.columns[HEADERS].offsets[row + 1] = <int32_t>rows.headers
    rows.rows += 1
    return (
        put_value(rows, KEY, row, raw.key, raw.key_size if rows.keeps_keys else 0, end)
        and put_value(rows, VALUE, row, raw.value, raw.value_size if rows.keeps_values else 0, end)
    )


cdef inline bint put_counted(RecordRows* rows, Py_ssize_t count) noexcept nogil:
    """Rows of records that are not asked for; their content is left open. False without memory."""
    cdef int column
    cdef Py_ssize_t row
    cdef int32_t* offsets
    if not reserve_records(rows, count, 0):
        return False
    for column in range(KEY, HEADERS + 1):
        offsets = rows.store.columns[column].offsets
        for row in range(rows.rows, rows.rows + count):
            offsets[row + 1] = offsets[row]
    rows.rows += count
    return True


cdef inline void fill_batch(RecordRows* rows, const Head* head, int32_t buffer, int32_t batch, Py_ssize_t first) noexcept nogil:
    """Write what all rows of a batch share."""
    cdef Py_ssize_t row
    cdef Py_ssize_t last = rows.rows
    cdef int64_t base_offset = head.stored_offset
    cdef int32_t* buffers = <int32_t*>values_of(rows, BUFFER)
    cdef int32_t* batches = <int32_t*>values_of(rows, BATCH)
    cdef int8_t* magics = <int8_t*>values_of(rows, MAGIC_COLUMN)
    cdef int64_t* bases = <int64_t*>values_of(rows, BASE_OFFSET)
    cdef int32_t* epochs = <int32_t*>values_of(rows, LEADER_EPOCH)
    cdef int16_t* attributes = <int16_t*>values_of(rows, ATTRIBUTE_BITS)
    cdef int64_t* producers = <int64_t*>values_of(rows, PRODUCER_ID)
    cdef int16_t* producer_epochs = <int16_t*>values_of(rows, PRODUCER_EPOCH)
    cdef Head shared = head[0]  # a copy that no store can change
    if shared.magic < 2 and last > first:
        base_offset = (<int64_t*>values_of(rows, OFFSET))[first]
    for row in range(first, last):
        buffers[row] = buffer
    for row in range(first, last):
        batches[row] = batch
    for row in range(first, last):
        magics[row] = <int8_t>shared.magic
    for row in range(first, last):
        bases[row] = base_offset
    for row in range(first, last):
        epochs[row] = shared.partition_leader_epoch
    for row in range(first, last):
        attributes[row] = shared.attributes
    for row in range(first, last):
        producers[row] = shared.producer_id
    for row in range(first, last):
        producer_epochs[row] = shared.producer_epoch
    put_bits(&rows.store.columns[IS_TRANSACTIONAL], first, last - first, shared.magic == 2 and (shared.attributes & TRANSACTIONAL) != 0)
    put_bits(&rows.store.columns[IS_CONTROL], first, last - first, shared.magic == 2 and (shared.attributes & CONTROL) != 0)


cdef inline bint fill_record_headers(
    RecordRows* rows, Cursor* cursor, RawRecord* raw, Py_ssize_t record, Bytes end, Trouble* found
) noexcept nogil:
    """The headers of a record; False on a fault, or without one when there is no memory."""
    cdef Bytes content
    cdef Py_ssize_t size
    cdef int32_t index
    cdef int place
    cdef Py_ssize_t row = rows.headers
    cdef Column* names = &rows.store.columns[HEADER_KEY]
    cdef Bytes checked
    cdef bint kept = rows.keeps_headers
    if kept and not reserve_headers(rows, raw.headers, cursor.end - cursor.p):
        return False
    for index in range(raw.headers):
        place = RECORD_HEADER_KEY
        size = read_content(cursor, False, &content)
        if likely(cursor.code == OK):
            # copied first and looked at then: another process may write the buffer
            checked = content
            if kept:
                put_value(rows, HEADER_KEY, row, content, size, end)
                checked = names.data + names.offsets[row]
            if unlikely(not is_utf8(checked, size)):
                cursor_fail(cursor, BAD_UTF8, content)
        if likely(cursor.code == OK):
            place = RECORD_HEADER_VALUE
            size = read_content(cursor, True, &content)
            if kept and not put_value(rows, HEADER_VALUE, row, content, size, end):
                return False
            row += 1
        if unlikely(cursor.code != OK):
            trouble(found, cursor.code, cursor.offset, place, record, 0)
            found.header = index
            return False
    if kept:
        rows.headers += raw.headers
    return True


cdef inline bint fill_records(
    RecordRows* rows, const Head* head, Bytes data, Py_ssize_t start, Py_ssize_t size, Trouble* found
) noexcept nogil:
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
    cdef bint keeps_keys = rows.keeps_keys
    cdef bint keeps_values = rows.keeps_values
    if head.count == 0:  # as Kafka: what follows is not looked at
        return True
    if not check_batch_count(head, size - start, found):
        return False
    if not content_fits(rows, size - start):
        trouble(found, LIMIT_EXCEEDED, start, RECORDS, ABSENT, 0)
        return False
    if not reserve_records(rows, head.count, size - start):
        return False
    cursor_open(&cursor, data, size, start)
    # Content is written through char pointers, which may point anywhere for all the C compiler knows: so the loop has its state in locals.
    writer_open(&keys, rows, KEY)
    writer_open(&values, rows, VALUE)
    offsets = <int64_t*>values_of(rows, OFFSET) + rows.rows
    timestamps = <int64_t*>values_of(rows, TIMESTAMP) + rows.rows
    sequences = <int32_t*>values_of(rows, SEQUENCE) + rows.rows
    header_offsets = rows.store.columns[HEADERS].offsets + rows.rows + 1
    for record in range(head.count):
        place = read_record(&cursor, head, &raw)
        if likely(place == 0):
            if not writer_add(&keys, &rows.store, raw.key, raw.key_size if keeps_keys else 0, end):
                return False
            if not writer_add(&values, &rows.store, raw.value, raw.value_size if keeps_values else 0, end):
                return False
            if raw.headers and not fill_record_headers(rows, &cursor, &raw, record, end, found):
                return False
            place = end_record(&cursor, end)
        if unlikely(place):
            trouble(found, cursor.code, cursor.offset, place, record, 0)
            return False
        offsets[record] = raw.offset
        timestamps[record] = raw.timestamp
        sequences[record] = raw.sequence
        header_offsets[record] = <int32_t>rows.headers
    if cursor.p != end:
        cursor_fail(&cursor, TRAILING_BYTES, cursor.p)
        trouble(found, cursor.code, cursor.offset, RECORDS, ABSENT, 0)
        return False
    rows.rows += head.count
    return True


cdef inline bint fill_message(RecordRows* rows, Head* head, Bytes data, Py_ssize_t size, Trouble* found) noexcept nogil:
    """The row of a message of magic 0 or 1 that is not compressed."""
    cdef RawRecord raw
    if not content_fits(rows, head.size):
        trouble(found, LIMIT_EXCEEDED, head.payload, RECORDS, ABSENT, 0)
        return False
    if not reserve_records(rows, 1, head.size):
        return False
    read_body_lengths(data, head, &raw, 0, found)
    if found.code != OK:
        return False
    return put_record(rows, head.stored_offset, head.max_timestamp, -1, &raw, data + size)


cdef inline bint fill_message_set(
    RecordRows* rows, const Head* head, Bytes data, Py_ssize_t size, bint check_crc, Trouble* found
) noexcept nogil:
    """The rows of the messages that were compressed together."""
    cdef Head inner
    cdef RawRecord raw
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t record = 0
    cdef Py_ssize_t first = rows.rows
    cdef int64_t base
    cdef int64_t last = 0
    cdef int64_t* offsets
    if size == 0:
        trouble(found, TRUNCATED, 0, RECORDS, ABSENT, 0)
        return False
    if not content_fits(rows, size):
        trouble(found, LIMIT_EXCEEDED, 0, RECORDS, ABSENT, 0)
        return False
    while at < size:
        if not read_inner(data, size, at, head, record, check_crc, &inner, &raw, found):
            return False
        if not reserve_records(rows, 1, inner.size) or not put_record(rows, raw.offset, raw.timestamp, -1, &raw, data + size):
            return False
        at += inner.size
        record += 1
        last = raw.offset
    offsets = <int64_t*>values_of(rows, OFFSET)
    base = relative_base(head, last)
    if base > 0:
        for at in range(first, rows.rows):
            offsets[at] = <int64_t>(<uint64_t>offsets[at] + <uint64_t>base)
    return True
