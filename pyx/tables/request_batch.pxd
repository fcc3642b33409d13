"""From rows of `requests` as C structs to a record batch, and from an event of Python's rules to such a row."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MIN, int32_t, int64_t, uint8_t

from protocol.request_rows cimport PACKET_BITS, RequestRow, rows_add
from protocol.series_state cimport SeriesState
from protocol.text_table cimport TextTable, texts_free, texts_open
from protocol.waiting_objects cimport row_of_object
from tables.row_columns cimport int_column, long_column, named_column, small_column, text_column


cdef inline int row_of_event(SeriesState* series, int32_t connection, object event) except -1:
    cdef RequestRow made
    cdef RequestRow* row
    row_of_object(&made, &series.texts, &series.plans.columns, event)
    made.connection = connection
    row = rows_add(&series.rows)
    if row is NULL:
        raise MemoryError
    row[0] = made
    return 0


cdef inline object text_field(object pa, const int32_t* field, Py_ssize_t count, const TextTable* texts):
    return text_column(pa, field, sizeof(RequestRow), count, False, texts)


cdef inline object long_field(object pa, object kind, const int64_t* field, Py_ssize_t count):
    return long_column(pa, kind, field, sizeof(RequestRow), count)


cdef inline object int_field(object pa, const int32_t* field, Py_ssize_t count):
    return int_column(pa, field, sizeof(RequestRow), count, False)


cdef inline object failure_field(object pa, const RequestRow* row, Py_ssize_t count):
    """Return a Boolean column: True for a failed response, null without a code."""
    from kwire.protocol.expected_errors import is_error

    cdef bytearray failed = bytearray((count + 7) // 8)
    cdef bytearray known = bytearray((count + 7) // 8)
    cdef uint8_t* fail = failed
    cdef uint8_t* know = known
    cdef Py_ssize_t index
    for index in range(count):
        if row[index].error_code != INT32_MIN:
            know[index >> 3] |= <uint8_t>(1 << (index & 7))
            if row[index].error_code != 0 and is_error(row[index].api_key, row[index].error_code):
                fail[index >> 3] |= <uint8_t>(1 << (index & 7))
    return pa.Array.from_buffers(pa.bool_(), count, [pa.py_buffer(known), pa.py_buffer(failed)])


cdef inline object packet_field(object pa, const int64_t* field, Py_ssize_t count):
    cdef bytes made = PyBytes_FromStringAndSize(NULL, count * sizeof(int64_t))
    cdef int64_t* number = <int64_t*><void*>PyBytes_AS_STRING(made)
    cdef const char* at = <const char*>field
    cdef Py_ssize_t index
    for index in range(count):
        number[index] = (<const int64_t*><const void*>(at + index * sizeof(RequestRow)))[0] & ((<int64_t>1 << PACKET_BITS) - 1)
    return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(made)], 0)


cdef inline dict request_columns(
    object pa, object time, const RequestRow* row, Py_ssize_t count, const TextTable* texts, const TextTable* places, object names
):
    """Return the columns of a batch by name, but for those that are null in all rows of streams.

    `places` has the texts of `connection`; `names` gives names of the series, of files by number, of apis, errors, states and bodies.
    """
    from kwire.protocol.row_columns import BODY_COLUMNS

    cdef TextTable said
    cdef Py_ssize_t stride = sizeof(RequestRow)
    series, file_name, api_name, error_name, states, bodies = names
    long = pa.int64()
    texts_open(&said, 0)  # nothing of it comes from the wire
    try:
        return {
            "series": named_column(pa, &row.packet, stride, count, True, 63, &said, series),
            "capture": named_column(pa, &row.packet, stride, count, True, PACKET_BITS, &said, file_name),
            "connection_id": text_field(pa, &row.connection, count, places),
            "request_index": long_field(pa, long, &row.request_index, count),
            "api_key": int_field(pa, &row.api_key, count),
            "api_name": named_column(pa, &row.api_key, stride, count, False, 0, &said, api_name),
            "api_version": int_field(pa, &row.api_version, count),
            "header_version": int_field(pa, &row.header_version, count),
            "correlation_id": int_column(pa, &row.correlation_id, stride, count, True),
            "client_id": text_field(pa, &row.client_id, count, texts),
            "client_instance_id": text_field(pa, &row.client_instance_id, count, texts),
            "software_name": text_field(pa, &row.software_name, count, texts),
            "software_version": text_field(pa, &row.software_version, count, texts),
            "principal": text_field(pa, &row.principal, count, texts),
            "request_time": long_field(pa, time, &row.request_us, count),
            "response_time": long_field(pa, time, &row.response_us, count),
            "latency_us": long_field(pa, long, &row.latency_us, count),
            "request_bytes": long_field(pa, long, &row.request_bytes, count),
            "response_bytes": long_field(pa, long, &row.response_bytes, count),
            "error_code": int_field(pa, &row.error_code, count),
            "error_name": named_column(pa, &row.error_code, stride, count, False, 0, &said, error_name),
            "is_error": failure_field(pa, row, count),
            "first_topic": text_field(pa, &row.first_topic, count, texts),
            "topic_count": int_field(pa, &row.topic_count, count),
            "state": small_column(pa, &row.state, stride, count, &said, states),
            "body": small_column(pa, &row.body, stride, count, &said, bodies),
            "packet_number": packet_field(pa, &row.packet, count),
            "stream_offset": long_field(pa, long, &row.stream_offset, count),
            **{
                column.name: text_field(pa, &row.columns[slot], count, texts) if column.type == "string" else int_field(
                    pa, &row.columns[slot], count
                )
                for slot, column in enumerate(BODY_COLUMNS)
            },
        }
    finally:
        texts_free(&said)


cdef inline object request_batch(
    object pa, object schema, object time, const RequestRow* row, Py_ssize_t count, const TextTable* texts, const TextTable* places,
    object names,
):
    columns = request_columns(pa, time, row, count, texts, places, names)
    arrays = [columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
