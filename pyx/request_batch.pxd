"""From rows of `requests` as C structs to a record batch, and from an event of Python's rules to such a row."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MIN, INT64_MIN, int32_t, int64_t

from lane_rows cimport NO_TEXT, RequestRow, RequestRows, microseconds, no_int, no_long, rows_add
from lane_texts cimport TextTable, text_of
from row_columns cimport int_buffers, long_buffers, text_buffers

cdef enum:
    PACKET_BITS = 40  # kwire.tables.conversation_sink.PACKET_BITS
    MEMO = 256


cdef inline int64_t long_of(object value) except? -1:
    return INT64_MIN if value is None else value


cdef inline int32_t int_of(object value) except? -1:
    return INT32_MIN if value is None else value


cdef inline int row_of_event(RequestRows* rows, TextTable* texts, int32_t connection, object event, tuple states, tuple bodies) except -1:
    """Append the row of a `RequestCompleted`."""
    cdef RequestRow made
    cdef RequestRow* row
    made.connection = connection
    made.request_index = event.request_index if event.request_index >= 0 else INT64_MIN
    made.correlation_id = long_of(event.correlation_id)
    made.request_us = microseconds(long_of(event.request_time))
    made.response_us = microseconds(long_of(event.response_time))
    made.latency_us = long_of(event.latency_us)
    made.request_bytes = long_of(event.request_bytes)
    made.response_bytes = long_of(event.response_bytes)
    made.throttle_time_ms = long_of(event.throttle_time_ms)
    made.packet = event.packet_number
    made.stream_offset = event.stream_offset
    made.api_key = int_of(event.api_key)
    made.api_version = int_of(event.api_version)
    made.header_version = int_of(event.header_version)
    made.error_code = int_of(event.error_code)
    made.acks = int_of(event.acks)
    made.topic_count = int_of(event.topic_count)
    made.client_id = text_of(texts, event.client_id)
    made.client_instance_id = text_of(texts, event.client_instance_id)
    made.software_name = text_of(texts, event.software_name)
    made.software_version = text_of(texts, event.software_version)
    made.principal = text_of(texts, event.principal)
    made.first_topic = text_of(texts, event.first_topic)
    made.group_id = text_of(texts, event.group_id)
    made.transactional_id = text_of(texts, event.transactional_id)
    made.state = states.index(event.state)
    made.body = bodies.index(event.body)
    row = rows_add(rows)
    if row is NULL:
        raise MemoryError
    row[0] = made
    return 0


cdef inline bytes numbers_by(const char* first, Py_ssize_t count, int shift, bint is_long, TextTable* names, object name_of):
    """The numbers, in `names`, of the names that `name_of` gives for the values of a field."""
    cdef bytes made = PyBytes_FromStringAndSize(NULL, count * sizeof(int32_t))
    cdef int32_t* number = <int32_t*><void*>PyBytes_AS_STRING(made)
    cdef int32_t memo[MEMO]
    cdef Py_ssize_t index
    cdef int64_t value
    for index in range(MEMO):
        memo[index] = -2
    for index in range(count):
        if is_long:
            value = (<const int64_t*><const void*>(first + index * sizeof(RequestRow)))[0] >> shift
        else:
            value = (<const int32_t*><const void*>(first + index * sizeof(RequestRow)))[0]
            if value == INT32_MIN:
                number[index] = NO_TEXT
                continue
        if 0 <= value < MEMO:
            if memo[value] == -2:
                memo[value] = text_of(names, name_of(value))
            number[index] = memo[value]
        else:
            number[index] = text_of(names, name_of(value))
    return made


cdef inline bytes numbers_of(const char* first, Py_ssize_t count, TextTable* names, tuple of):
    """The same for a field that is a place in a tuple."""
    cdef bytes made = PyBytes_FromStringAndSize(NULL, count * sizeof(int32_t))
    cdef int32_t* number = <int32_t*><void*>PyBytes_AS_STRING(made)
    cdef int32_t known[8]
    cdef Py_ssize_t index
    for index in range(min(len(of), 8)):
        known[index] = text_of(names, of[index])
    for index in range(count):
        number[index] = known[<int>(first + index * sizeof(RequestRow))[0]]
    return made


cdef inline object text_column(object pa, const char* first, Py_ssize_t stride, Py_ssize_t count, const TextTable* texts):
    valid, offsets, data, nulls = text_buffers(first, stride, count, texts)
    buffers = [None if valid is None else pa.py_buffer(valid), pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), count, buffers, nulls)


cdef inline object named_column(object pa, bytes numbers, Py_ssize_t count, const TextTable* names):
    return text_column(pa, PyBytes_AS_STRING(numbers), sizeof(int32_t), count, names)


cdef inline object number_column(object pa, object kind, tuple made, Py_ssize_t count):
    valid, values, nulls = made
    return pa.Array.from_buffers(kind, count, [None if valid is None else pa.py_buffer(valid), pa.py_buffer(values)], nulls)


cdef inline object text_field(object pa, const RequestRow* row, const int32_t* field, Py_ssize_t count, const TextTable* texts):
    return text_column(pa, <const char*>field, sizeof(RequestRow), count, texts)


cdef inline object long_field(object pa, object kind, const int64_t* field, Py_ssize_t count):
    return number_column(pa, kind, long_buffers(<const char*>field, sizeof(RequestRow), count), count)


cdef inline object int_field(object pa, const int32_t* field, Py_ssize_t count):
    return number_column(pa, pa.int32(), int_buffers(<const char*>field, sizeof(RequestRow), count, False), count)


cdef inline object narrow_field(object pa, const int64_t* field, Py_ssize_t count):
    return number_column(pa, pa.int32(), int_buffers(<const char*>field, sizeof(RequestRow), count, True), count)
