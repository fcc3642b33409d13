"""Protocol of a connection by its first bytes: tracking/foreign_protocols.py, whose tables are read at import."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcmp

from wire.cursor cimport Bytes, load_16, load_32
from wire.raw_python cimport raw_incref

cdef enum Spoken:
    # Indices in `ForeignProtocols.names`; protocols with openings only are behind these
    MORE = -1
    KAFKA = 0
    UNKNOWN = 1
    PROXY = 2
    TLS = 3
    POSTGRES = 4
    MYSQL = 5
    REDIS = 6
    ZOOKEEPER = 7

cdef enum:
    MOST_OPENINGS = 32
    LONGEST_TLS = 16640
    PROXY_V1_LONGEST = 107
    PROXY_V2_HEAD = 16

cdef struct Prefix:
    Bytes bytes
    Py_ssize_t size
    int spoken

cdef struct Prefixes:
    Prefix each[MOST_OPENINGS]
    int count

cdef struct ForeignProtocols:
    Prefixes client
    Prefixes server
    Prefixes framed  # behind a length
    Prefixes connect  # of Pulsar
    Prefixes parameters  # of a PostgreSQL start-up
    PyObject* names  # a list, kept for good
    int64_t postgres_codes[3]
    uint32_t postgres_v3


cdef inline int prefixes_fill(Prefixes* made, object openings, list names) except -1:
    """Take over a table, of bytes and names, in its order."""
    for opening, name in openings:
        if made.count == MOST_OPENINGS:
            raise AssertionError("more openings than there is room for")
        raw_incref(<PyObject*>opening)
        made.each[made.count].bytes = <Bytes>PyBytes_AS_STRING(opening)
        made.each[made.count].size = PyBytes_GET_SIZE(opening)
        if name not in names:
            names.append(name)
        made.each[made.count].spoken = names.index(name)
        made.count += 1
    return 0


cdef inline int foreign_open(ForeignProtocols* known, object rules) except -1:
    """Read the tables of kwire.protocol.tracking.foreign_protocols."""
    cdef list names = ["kafka", "unknown", "proxy", "tls", "postgres", "mysql", "redis", "zookeeper"]
    known.client.count = known.server.count = known.framed.count = known.connect.count = known.parameters.count = 0
    prefixes_fill(&known.client, rules._CLIENT_OPENINGS.items(), names)
    prefixes_fill(&known.server, rules._SERVER_OPENINGS.items(), names)
    prefixes_fill(&known.framed, rules._FRAMED_OPENINGS.items(), names)
    prefixes_fill(&known.connect, [(rules._PULSAR_CONNECT, "pulsar")], names)
    prefixes_fill(&known.parameters, [(each, "postgres") for each in rules._POSTGRES_PARAMETERS], names)
    known.postgres_codes = sorted(rules._POSTGRES_CODES)
    known.postgres_v3 = rules._POSTGRES_V3
    raw_incref(<PyObject*>names)
    known.names = <PyObject*>names
    return 0


cdef inline int tls_of(Bytes p, Py_ssize_t n) noexcept nogil:
    """Handshake and alert records; no record is empty."""
    if n < 3:
        return MORE
    if p[2] > 4:
        return UNKNOWN
    if n < 6:
        return MORE
    if not 0 < load_16(p + 3) <= LONGEST_TLS:
        return UNKNOWN
    return TLS if p[5] in (1, 2) or (p[5] == 0 and p[0] != 0x16) else UNKNOWN


cdef inline Py_ssize_t line_end(Bytes p, Py_ssize_t n) noexcept nogil:
    """Find CR LF; return -1 if it is missing."""
    cdef Py_ssize_t at
    for at in range(n - 1):
        if p[at] == 13 and p[at + 1] == 10:
            return at
    return -1


cdef inline int proxy_of(Bytes p, Py_ssize_t n) noexcept nogil:
    """Return whether a PROXY header is whole; Python reads its contents."""
    if p[0] == 80:  # P of version 1
        if line_end(p, min(n, <Py_ssize_t>PROXY_V1_LONGEST)) >= 0:
            return PROXY
        return MORE if n < PROXY_V1_LONGEST else UNKNOWN
    if n < PROXY_V2_HEAD:
        return MORE
    if p[12] >> 4 != 2:
        return UNKNOWN
    return PROXY if n >= PROXY_V2_HEAD + load_16(p + 14) else MORE


cdef inline int opening_of_prefix(const Prefixes* known, Bytes p, Py_ssize_t n) noexcept nogil:
    """The foreign protocol whose opening this is, `MORE` while it may still become one, `KAFKA` where it is none."""
    cdef const Prefix* each
    cdef bint is_undecided = False
    cdef int index
    for index in range(known.count):
        each = &known.each[index]
        if n and p[0] != each.bytes[0]:
            continue
        if memcmp(p, each.bytes, min(n, each.size)) != 0:
            continue
        if n < each.size:
            is_undecided = True
        elif each.spoken == TLS:
            return tls_of(p, n)
        else:
            return proxy_of(p, n) if each.spoken == PROXY else each.spoken
    return MORE if is_undecided else KAFKA


cdef inline int redis_of(Bytes p, Py_ssize_t n) noexcept nogil:
    """An array of bulk strings, *2 CR LF $4 CR LF; `KAFKA` where it is none."""
    cdef Py_ssize_t end, at
    if p[0] != 42:
        return KAFKA
    end = line_end(p, min(n, <Py_ssize_t>8))
    if end < 0:
        return MORE if n < 8 else KAFKA
    if n < end + 3:
        return MORE
    for at in range(1, end):
        if not 48 <= p[at] <= 57:
            return KAFKA
    return REDIS if end > 1 and p[end + 2] == 36 else KAFKA


cdef inline int framed_of(const ForeignProtocols* known, Bytes p, Py_ssize_t n) noexcept nogil:
    """foreign_protocols._framed: Kafka, or a protocol that begins with a 4-byte length too."""
    cdef int64_t size = load_32(p)
    cdef uint32_t code
    cdef int spoken
    if n < 8:
        return MORE if n < 4 + size else KAFKA
    spoken = opening_of_prefix(&known.framed, p + 4, n - 4)
    if spoken != KAFKA:
        return spoken
    code = load_32(p + 4)
    if code == 0 and (size == 44 or size == 45):
        if n < 32:
            return MORE
        return ZOOKEEPER if load_32(p + 28) == 16 else KAFKA
    if code == size - 4:
        return opening_of_prefix(&known.connect, p + 8, n - 8)
    if code == known.postgres_codes[0] or code == known.postgres_codes[1] or code == known.postgres_codes[2]:
        return POSTGRES
    if code != known.postgres_v3:
        return KAFKA
    return MORE if n == 8 else opening_of_prefix(&known.parameters, p + 8, n - 8)


cdef inline bint is_frame_length(Bytes p, int64_t max_frame) noexcept nogil:
    return 0 <= <int32_t>load_32(p) <= max_frame


cdef inline int spoken_by_client(const ForeignProtocols* known, Bytes p, Py_ssize_t n, int64_t max_frame) noexcept nogil:
    """foreign_protocols.recognise, but that a PROXY header is not read."""
    cdef int spoken
    if n == 0:
        return MORE
    spoken = opening_of_prefix(&known.client, p, n)
    if spoken == KAFKA:
        spoken = redis_of(p, n)
    if spoken != KAFKA:
        return spoken
    if n < 4:
        return MORE
    return framed_of(known, p, n) if is_frame_length(p, max_frame) else UNKNOWN


cdef inline int spoken_by_server(const ForeignProtocols* known, Bytes p, Py_ssize_t n, int64_t max_frame) noexcept nogil:
    """foreign_protocols.recognise_server."""
    cdef int spoken
    if n == 0:
        return MORE
    spoken = opening_of_prefix(&known.server, p, n)
    if spoken != KAFKA:
        return spoken
    if n < 4:
        return MORE
    if is_frame_length(p, max_frame):
        return KAFKA
    if n < 6:
        return MORE
    # MySQL's greeting: little-endian length, packet number 0, protocol 10, then the server's version in digits.
    return MYSQL if p[2] == 0 and p[3] == 0 and p[4] == 10 and 48 <= p[5] <= 57 else UNKNOWN


cdef inline int spoken_in_the_middle(Bytes p, Py_ssize_t n) noexcept nogil:
    """foreign_protocols.recognise_middle."""
    if not 0x14 <= p[0] <= 0x17 or (n > 1 and p[1] != 3):
        return KAFKA
    if n < 5:
        return MORE
    return TLS if p[2] <= 4 and 0 < load_16(p + 3) <= LONGEST_TLS else KAFKA
