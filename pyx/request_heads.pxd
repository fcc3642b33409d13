"""The beginning of a request frame in C: key, version, correlation id, where the client id lies, the acks of a Produce.

It says what is ordinary and nothing about what is not: a frame that it does not take is read by Python, which tells why.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t

from cursor cimport Bytes, load_16, load_32

cdef enum:
    KEYS = 128  # api keys and versions that the tables hold; Kafka has used 93 keys and 18 versions in its whole life
    VERSIONS = 32
    FIXED_HEAD = 10  # key, version, correlation id, length of the client id
    NO_CLIENT_ID = -1
    PRODUCE_KEY = 0

cdef enum HeaderKind:
    OTHER = 0  # not released, not asked yet, or with a header that is not ordinary
    PLAIN = 1  # header version 1
    TAGGED = 2  # header version 2

cdef enum AcksKind:
    ACKS_FIRST = 0
    BEHIND_STRING = 1
    BEHIND_COMPACT = 2

cdef struct HeadTables:
    uint8_t[KEYS][VERSIONS] headers  # a HeaderKind
    uint8_t[VERSIONS] acks  # of Produce, an AcksKind

cdef struct RequestHead:
    int16_t key
    int16_t version
    int32_t correlation_id
    Py_ssize_t client_size  # NO_CLIENT_ID for null
    int16_t acks  # of a Produce
    Py_ssize_t body  # where it begins
    Py_ssize_t size  # up to where the frame was read


cdef inline Py_ssize_t acks_at(Bytes data, Py_ssize_t have, Py_ssize_t at, int kind) noexcept nogil:
    """Where the acks of a Produce lie whose body begins at `at`; -1 when they are not there. Mirrors `kwire.protocol.passing.read_acks`."""
    cdef uint8_t byte
    cdef int shift = 0
    cdef Py_ssize_t size = 0
    if kind == BEHIND_STRING:
        if have - at < 2:
            return -1
        size = <int16_t>load_16(data + at)
        at += 2
        if size > 0:
            at += size
    elif kind == BEHIND_COMPACT:
        while True:
            if at >= have or shift > 28:
                return -1
            byte = data[at]
            at += 1
            size |= <Py_ssize_t>(byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        if size > 1:
            at += size - 1
    return at if have - at >= 2 else -1


cdef inline bint read_head(RequestHead* head, const HeadTables* tables, Bytes data, Py_ssize_t have) noexcept nogil:
    """Whether the bytes of a payload that are there begin an ordinary request of a released version, whose head then is in `head`."""
    cdef Py_ssize_t at
    cdef uint8_t kind
    if have < FIXED_HEAD:
        return False
    head.key = <int16_t>load_16(data)
    head.version = <int16_t>load_16(data + 2)
    head.correlation_id = <int32_t>load_32(data + 4)
    head.client_size = <int16_t>load_16(data + 8)
    if not (0 <= head.key < KEYS and 0 <= head.version < VERSIONS) or head.correlation_id < 0 or head.client_size < NO_CLIENT_ID:
        return False
    kind = tables.headers[head.key][head.version]
    at = FIXED_HEAD + (head.client_size if head.client_size > 0 else 0)
    if kind == OTHER or at > have:
        return False
    if kind == TAGGED:
        if at >= have or data[at] != 0:  # it has tagged fields
            return False
        at += 1
    head.body = at
    if head.key == PRODUCE_KEY:
        at = acks_at(data, have, at, tables.acks[head.version])
        if at < 0:
            return False
        head.acks = <int16_t>load_16(data + at)
        at += 2
    head.size = at
    return True
