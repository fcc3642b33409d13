"""What a line of a request log says around its bodies, and where these begin and end. Brokers write its members in one order, which nothing
here takes for given."""


cdef struct LineFields:
    # What a line says around its bodies; NULL where a value is not there or null
    int64_t key
    int64_t version
    int64_t correlation_id  # INT64_MIN without one
    JsonString client_id
    JsonString connection
    JsonString principal
    double total_ms  # these four -1 without one
    double queue_ms
    double local_ms
    double remote_ms
    Bytes software
    Bytes software_end
    Bytes request
    Bytes request_end
    Bytes response
    Bytes response_end
    bint is_forwarded
    bint is_deprecated


cdef inline bint is_name(const JsonString* name, const char* wanted, Py_ssize_t size) noexcept nogil:
    return name.size == size and memcmp(name.start, wanted, size) == 0


cdef int pass_value(Cursor* cursor) except -1:
    """Pass a value that is not wanted; 0 where it is none, or an error of msgspec."""
    cdef Bytes start
    cdef JsonString text
    cdef JsonNumber number
    cdef int sign = json_next(cursor)
    start = cursor.p
    if sign == 0x22:
        if not json_string(cursor, &text):
            return 0
        if not text.is_plain:
            checked(bytes_of(start, cursor.p))
        return 1
    if sign == 0x7B or sign == 0x5B:
        if not json_container(cursor):
            return 0
        checked(bytes_of(start, cursor.p))
        return 1
    return json_word(cursor, b"null", 4) or json_word(cursor, b"true", 4) or json_word(cursor, b"false", 5) or json_number(cursor, &number)


cdef int pass_body(Cursor* cursor, Bytes* start, Bytes* end) except -1:
    """Find where a body begins and ends; of two of a name the last counts, and nothing but this looks at the first."""
    if start[0] is not NULL:
        checked(bytes_of(start[0], end[0]))
    if json_next(cursor) != 0x7B:
        start[0] = cursor.p
        if not pass_value(cursor):
            return 0
    else:
        start[0] = cursor.p
        if not json_container(cursor):
            return 0
    end[0] = cursor.p
    return 1


cdef inline bint take_text(Cursor* cursor, JsonString* found) noexcept nogil:
    """A string, or null."""
    found.start = NULL
    if json_next(cursor) == 0x22:
        return json_string(cursor, found)
    return json_word(cursor, b"null", 4)


cdef inline bint take_flag(Cursor* cursor, bint* found) noexcept nogil:
    found[0] = json_next(cursor) == 0x74
    return json_word(cursor, b"true", 4) if found[0] else json_word(cursor, b"false", 5)


cdef inline bint take_integer(Cursor* cursor, int64_t* found) noexcept nogil:
    cdef JsonNumber number
    json_next(cursor)
    if not json_number(cursor, &number) or not number.is_integer:
        return False
    found[0] = number.integer
    return True


cdef int take_duration(Cursor* cursor, double* found) except -1:
    """A number of milliseconds, or null."""
    cdef JsonNumber number
    cdef Bytes start
    found[0] = -1
    if json_next(cursor) == 0x6E:
        return json_word(cursor, b"null", 4)
    start = cursor.p
    if not json_number(cursor, &number):
        return 0
    found[0] = number.value if number.is_exact else <double>float(bytes_of(start, cursor.p))
    return 1


cdef bint take_header(Cursor* cursor, LineFields* found) except -1:
    """The object `requestHeader`."""
    cdef JsonString name
    cdef bint taken
    found.key = found.version = found.correlation_id = INT64_MIN
    found.client_id.start = NULL
    found.is_deprecated = False
    if not json_sign(cursor, 0x7B):
        return False
    while True:
        json_next(cursor)
        if not json_string(cursor, &name) or not name.is_plain or not json_sign(cursor, 0x3A):
            return False
        if is_name(&name, b"requestApiKey", 13):
            taken = take_integer(cursor, &found.key)
        elif is_name(&name, b"requestApiVersion", 17):
            taken = take_integer(cursor, &found.version)
        elif is_name(&name, b"correlationId", 13):
            found.correlation_id = INT64_MIN
            taken = json_word(cursor, b"null", 4) if json_next(cursor) == 0x6E else (
                take_integer(cursor, &found.correlation_id) and INT32_MIN <= found.correlation_id <= INT32_MAX
            )
        elif is_name(&name, b"clientId", 8):
            taken = take_text(cursor, &found.client_id)
        elif is_name(&name, b"requestApiVersionDeprecated", 27):
            taken = take_flag(cursor, &found.is_deprecated)
        else:
            taken = pass_value(cursor)
        if not taken:
            return False
        if not json_sign(cursor, 0x2C):
            return json_sign(cursor, 0x7D)


cdef bint take_line(Cursor* cursor, LineFields* found) except -1:
    """Read an object of the log but for its bodies; False, or an error of msgspec, for what brokers do not write."""
    cdef JsonString name
    cdef bint taken
    found.connection.start = found.principal.start = NULL
    found.request = found.response = found.software = NULL
    found.total_ms = found.queue_ms = found.local_ms = found.remote_ms = -1
    found.is_forwarded = False
    found.key = INT64_MIN
    if not json_sign(cursor, 0x7B):
        return False
    while True:
        json_next(cursor)
        if not json_string(cursor, &name) or not name.is_plain or not json_sign(cursor, 0x3A):
            return False
        if is_name(&name, b"request", 7):
            taken = pass_body(cursor, &found.request, &found.request_end)
        elif is_name(&name, b"response", 8):
            taken = pass_body(cursor, &found.response, &found.response_end)
        elif is_name(&name, b"requestHeader", 13):
            taken = take_header(cursor, found)
        elif is_name(&name, b"connection", 10):
            taken = take_text(cursor, &found.connection)
        elif is_name(&name, b"totalTimeMs", 11):
            taken = take_duration(cursor, &found.total_ms)
        elif is_name(&name, b"requestQueueTimeMs", 18):
            taken = take_duration(cursor, &found.queue_ms)
        elif is_name(&name, b"localTimeMs", 11):
            taken = take_duration(cursor, &found.local_ms)
        elif is_name(&name, b"remoteTimeMs", 12):
            taken = take_duration(cursor, &found.remote_ms)
        elif is_name(&name, b"principal", 9):
            taken = take_text(cursor, &found.principal)
        elif is_name(&name, b"clientInformation", 17):
            taken = pass_body(cursor, &found.software, &found.software_end)
        elif is_name(&name, b"isForwarded", 11):
            taken = take_flag(cursor, &found.is_forwarded)
        elif is_name(&name, b"time", 4) or is_name(&name, b"state", 5):  # `kwire decode` writes these; brokers never do
            return False
        else:
            taken = pass_value(cursor)
        if not taken:
            return False
        if not json_sign(cursor, 0x2C):
            return json_sign(cursor, 0x7D) and found.connection.start is not NULL
