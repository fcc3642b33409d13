"""Rows of `requests` as C structs: what a connection fills in, and what becomes Arrow arrays many rows at a time.

Text is a number in the series' `TextTable`, -1 for null; `no_long()` and `no_int()` are the nulls of numbers. Columns that follow from
others (names of apis and errors, the file's name, the connection's id) are looked up when a batch is made.
"""

from libc.stdint cimport INT32_MIN, INT64_MIN, int8_t, int32_t, int64_t
from libc.stdlib cimport free

from wire.grown cimport grown

cdef enum:
    NO_TEXT = -1
    PACKET_BITS = 40  # kwire.tables.row_sink.PACKET_BITS
    MOST_COLUMNS = 12  # kwire.protocol.row_columns.MOST_BODY_COLUMNS

cdef enum RowState:
    # Indices in kwire.tables.row_callbacks.ROW_STATES
    ANSWERED = 0
    NO_RESPONSE_EXPECTED = 1
    UNANSWERED = 2
    ORPHAN_RESPONSE = 3
    ABANDONED = 4
    UNSEEN = 5

cdef enum RowBody:
    # Indices in kwire.tables.row_callbacks.ROW_BODIES
    BODY_DECODED = 0
    BODY_TRUNCATED = 1
    BODY_MALFORMED = 2
    BODY_UNSUPPORTED = 3
    BODY_SKIPPED = 4

cdef struct RequestRow:
    int64_t request_index  # NO_LONG for an orphan response
    int64_t correlation_id
    int64_t request_us
    int64_t response_us
    int64_t latency_us
    int64_t request_bytes
    int64_t response_bytes
    int64_t packet  # number of the file, PACKET_BITS to the left, and of the packet in it
    int64_t stream_offset
    int32_t connection  # ordinal in the series
    int32_t api_key
    int32_t api_version
    int32_t header_version
    int32_t error_code
    int32_t topic_count
    int32_t client_id
    int32_t client_instance_id
    int32_t software_name
    int32_t software_version
    int32_t principal
    int32_t first_topic
    int32_t columns[MOST_COLUMNS]  # that bodies feed, by slot (`field_plans.pxd`, BodyColumns): numbers, and numbers of texts
    int8_t state
    int8_t body

cdef struct RequestRows:
    RequestRow* rows
    Py_ssize_t count
    Py_ssize_t room


cdef inline int64_t no_long() noexcept nogil:
    return INT64_MIN


cdef inline int32_t no_int() noexcept nogil:
    return INT32_MIN


cdef inline int64_t microseconds(int64_t time_ns) noexcept nogil:
    """Nanoseconds to microseconds, rounded down as Python's `//` does; the null stays null."""
    cdef int64_t result
    if time_ns == INT64_MIN:
        return INT64_MIN
    result = time_ns // 1000 if time_ns >= 0 else -((-time_ns + 999) // 1000)
    return result


cdef inline RequestRow* rows_add(RequestRows* rows) noexcept nogil:
    """The next row, which the caller fills in; NULL without memory. Valid until the next one is added."""
    cdef RequestRow* made = <RequestRow*>grown(rows.rows, &rows.room, rows.count + 1, 1024, sizeof(RequestRow))
    if made is NULL:
        return NULL
    rows.rows = made
    rows.count += 1
    return made + rows.count - 1


cdef inline void rows_free(RequestRows* rows) noexcept nogil:
    free(rows.rows)
    rows.rows = NULL
    rows.count = rows.room = 0
