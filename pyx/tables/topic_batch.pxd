"""From rows of `topic_use` as C structs to a record batch, and from a row of Python values to such a row."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint32_t

from protocol.text_table cimport TextTable, text_of
from protocol.topic_uses cimport IntPool, TopicRow, TopicRows, pool_add, topic_row_add
from tables.row_columns cimport long_column, small_column, text_column


cdef inline int64_t long_of(object value) except? -1:
    return INT64_MIN if value is None else value


cdef inline uint32_t bits_of(object values) except? 0xFFFFFFFF:
    cdef uint32_t bits = 0
    cdef int value
    for value in values:
        bits |= <uint32_t>1 << value
    return bits


cdef inline int32_t pool_of(IntPool* pool, object values) except -1:
    """Put integers behind the others; how many there are."""
    cdef int32_t value
    for value in values:
        if not pool_add(pool, &value, 1):
            raise MemoryError
    return <int32_t>len(values)


cdef inline int topic_row_of(TopicRows* rows, TextTable* said, tuple directions, object row) except -1:
    """Append a row of Python values, in the order of kwire.tables.observed_rows.TOPIC_USE."""
    cdef TopicRow made
    (
        connection_id, client_id, direction, topic, topic_id, requests, errors, records, batches, size, largest, first, last, magics,
        codecs, acks, partitions, error_codes, unseen,
    ) = row
    made.connection, made.client_id = text_of(said, connection_id), text_of(said, client_id)
    made.topic, made.topic_id = text_of(said, topic), text_of(said, topic_id)
    made.direction = directions.index(direction)
    made.requests, made.errors, made.records, made.batches = long_of(requests), long_of(errors), long_of(records), long_of(batches)
    made.bytes, made.largest, made.first_us, made.last_us = long_of(size), long_of(largest), long_of(first), long_of(last)
    made.unseen = long_of(unseen)
    made.magics, made.codecs = bits_of(magics), bits_of(codecs)
    made.acks_count, made.partitions_count = pool_of(&rows.acks, acks), pool_of(&rows.partitions, partitions)
    made.errors_count = pool_of(&rows.error_codes, error_codes)
    topic_row_add(rows)[0] = made
    return 0


cdef inline object ints_column(object pa, object kind, bytes offsets, const int32_t* values, Py_ssize_t count):
    """A column of lists of int32, from `count` values and the offsets of the lists."""
    numbers = PyBytes_FromStringAndSize(<const char*>values, count * sizeof(int32_t))
    inner = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(numbers)], 0)
    return pa.Array.from_buffers(kind, len(offsets) // 4 - 1, [None, pa.py_buffer(offsets)], 0, 0, [inner])


cdef inline object pool_column(object pa, object kind, const int32_t* first, Py_ssize_t count, const IntPool* pool):
    """A column of lists that lie one behind the other in a pool, from the field that says how long each is."""
    cdef bytes offsets = PyBytes_FromStringAndSize(NULL, (count + 1) * sizeof(int32_t))
    cdef int32_t* offset = <int32_t*><void*>PyBytes_AS_STRING(offsets)
    cdef Py_ssize_t index
    offset[0] = 0
    for index in range(count):
        offset[index + 1] = offset[index] + (<const int32_t*>(<const char*>first + index * sizeof(TopicRow)))[0]
    return ints_column(pa, kind, offsets, pool.values, pool.count)


cdef inline object bits_column(object pa, object kind, const uint32_t* first, Py_ssize_t count):
    cdef bytes offsets = PyBytes_FromStringAndSize(NULL, (count + 1) * sizeof(int32_t))
    cdef bytes values = PyBytes_FromStringAndSize(NULL, 32 * count * sizeof(int32_t))
    cdef int32_t* offset = <int32_t*><void*>PyBytes_AS_STRING(offsets)
    cdef int32_t* value = <int32_t*><void*>PyBytes_AS_STRING(values)
    cdef Py_ssize_t index
    cdef uint32_t bits
    cdef int32_t total = 0
    cdef int bit
    for index in range(count):
        offset[index] = total
        bits = (<const uint32_t*>(<const char*>first + index * sizeof(TopicRow)))[0]
        for bit in range(32):
            if bits >> bit & 1:
                value[total] = bit
                total += 1
    offset[count] = total
    return ints_column(pa, kind, offsets, value, total)


cdef inline object topic_batch(object pa, const TopicRows* rows, object schema, TextTable* said, tuple directions):
    cdef const TopicRow* row = rows.rows
    cdef Py_ssize_t count = rows.count
    cdef Py_ssize_t stride = sizeof(TopicRow)
    long, time, ints = pa.int64(), schema.field("first_seen").type, schema.field("acks").type
    arrays = [
        text_column(pa, &row.connection, stride, count, False, said),
        text_column(pa, &row.client_id, stride, count, False, said),
        small_column(pa, &row.direction, stride, count, said, directions),
        text_column(pa, &row.topic, stride, count, False, said),
        text_column(pa, &row.topic_id, stride, count, False, said),
        long_column(pa, long, &row.requests, stride, count),
        long_column(pa, long, &row.errors, stride, count),
        long_column(pa, long, &row.records, stride, count),
        long_column(pa, long, &row.batches, stride, count),
        long_column(pa, long, &row.bytes, stride, count),
        long_column(pa, long, &row.largest, stride, count),
        long_column(pa, time, &row.first_us, stride, count),
        long_column(pa, time, &row.last_us, stride, count),
        bits_column(pa, ints, &row.magics, count),
        bits_column(pa, ints, &row.codecs, count),
        pool_column(pa, ints, &row.acks_count, count, &rows.acks),
        pool_column(pa, ints, &row.partitions_count, count, &rows.partitions),
        pool_column(pa, ints, &row.errors_count, count, &rows.error_codes),
        long_column(pa, long, &row.unseen, stride, count),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
