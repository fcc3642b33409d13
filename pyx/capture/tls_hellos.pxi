# Part of tls_connection.pyx: a ClientHello as far as a connection needs it at once (kwire/protocol/tls_handshake.py).

cdef dict FINGERPRINTS = {}  # JA3 and JA4 by what they are made of

cdef enum:
    MOST_FINGERPRINTS = 4096
    MOST_MARKS = 2048  # bytes of lists of a hello whose fingerprints are kept: a hostile one has thousands
    MOST_TICKETS = 8
    MOST_EXTENSIONS = 64


cdef enum:
    # The places of kwire.protocol.tls_handshake.ServerHello, which is read by place: a name costs a look into its class.
    SERVER_VERSION = 0
    SERVER_RANDOM = 1
    SERVER_SESSION = 2
    SERVER_CIPHER = 3
    SERVER_ALPN = 4
    SERVER_ENCRYPT_THEN_MAC = 5
    SERVER_EXTENDED_MASTER = 6
    SERVER_RESUMES = 7
    SERVER_IS_RETRY = 8
    # And those of kwire.capture.tls.certificates.Certificate.
    CERTIFICATE_SUBJECT = 0
    CERTIFICATE_BEGIN = 1
    CERTIFICATE_END = 2


cdef inline object field(object named, Py_ssize_t place):
    return (<tuple>named)[place]


cdef struct Part:
    const uint8_t* at
    Py_ssize_t left


cdef inline bint number_of(Part* part, int width, Py_ssize_t* found) noexcept:
    cdef int index
    cdef Py_ssize_t value = 0
    if part.left < width:
        return False
    for index in range(width):
        value = value << 8 | part.at[index]
    part.at += width
    part.left -= width
    found[0] = value
    return True


cdef inline bint vector_of(Part* part, int width, Part* found) noexcept:
    """_Cursor.vector; False where it ends before."""
    cdef Py_ssize_t size = 0
    if not number_of(part, width, &size) or part.left < size:
        return False
    found.at, found.left = part.at, size
    part.at += size
    part.left -= size
    return True


cdef inline bytes bytes_of(const Part* part):
    return PyBytes_FromStringAndSize(<const char*>part.at, part.left)


cdef bint names_fit(Part names, Part* first) noexcept:
    """Whether a list of names ends where its last name does; gives the first."""
    cdef Part name
    cdef bint is_first = True
    first.left = -1
    while names.left:
        if not vector_of(&names, 1, &name):
            return False
        if is_first:
            first[0] = name
        is_first = False
    return True


@cython.freelist(64)
@cython.no_gc
cdef class ClientHelloView:
    """A ClientHello of which the lists are read when they are asked for."""

    @property
    def plain(self):
        with cython.critical_section(self):
            if self.whole is None:
                self.whole = read_client_hello(self.message)
            return self.whole

    cdef tuple both_fingerprints(self):
        if not self.is_whole:
            return None, None
        if self.marks is None:
            return ja3(self.plain), ja4(self.plain)
        found = FINGERPRINTS.get(self.marks)
        if found is None:
            found = ja3(self.plain), ja4(self.plain)
            if len(self.marks) <= MOST_MARKS:
                if len(FINGERPRINTS) >= MOST_FINGERPRINTS:
                    FINGERPRINTS.clear()
                FINGERPRINTS[self.marks] = found
        return found


cdef ClientHelloView hello_of_plain(object known):
    cdef ClientHelloView made
    if known is None:
        return None
    made = ClientHelloView.__new__(ClientHelloView)
    made.whole = known
    made.random, made.session_id, made.tickets = known.random, known.session_id, list(known.tickets)
    made.early_data, made.is_whole, made.server_name = known.early_data, known.is_whole, known.server_name
    return made


cdef ClientHelloView client_hello_of(const uint8_t* data, Py_ssize_t size):
    """read_client_hello of a message with its header; None where it has no session id, or an extension that ends too early."""
    cdef ClientHelloView made
    cdef Part rest, random, session_id, ciphers, ignored, body
    cdef Part bodies[MOST_EXTENSIONS]
    cdef Part groups, formats, signatures, first_name, names, versions, identity, kind
    cdef Py_ssize_t version = 0, number = 0, length = 0
    cdef list tickets = []
    cdef object server_name = None
    cdef bint early = False, is_whole = False
    cdef uint8_t kinds[2 * MOST_EXTENSIONS]
    cdef int count = 0
    if size < 4:
        return None
    rest.at, rest.left = data + 4, min(size - 4, data[1] << 16 | data[2] << 8 | data[3])
    if not number_of(&rest, 2, &version) or rest.left < 32:
        return None
    random.at, random.left = rest.at, 32
    rest.at += 32
    rest.left -= 32
    if not vector_of(&rest, 1, &session_id):
        return None
    groups.left = formats.left = signatures.left = first_name.left = versions.left = ciphers.left = 0
    groups.at = formats.at = signatures.at = first_name.at = versions.at = ciphers.at = data
    if vector_of(&rest, 2, &ciphers) and vector_of(&rest, 1, &ignored):
        is_whole = not rest.left or number_of(&rest, 2, &length)
        is_whole = is_whole and rest.left >= length
        body.at, body.left = rest.at, min(length, rest.left)
        while body.left:
            if not number_of(&body, 2, &number) or not vector_of(&body, 2, &ignored):
                is_whole = False
                break
            if count == MOST_EXTENSIONS:
                return hello_of_plain(read_client_hello(PyBytes_FromStringAndSize(<const char*>data, size)))
            kinds[2 * count], kinds[2 * count + 1] = <uint8_t>(number >> 8), <uint8_t>number
            bodies[count] = ignored
            count += 1
    for length in range(count):
        number, body = kinds[2 * length] << 8 | kinds[2 * length + 1], bodies[length]
        if number == 0 and body.left:
            if not vector_of(&body, 2, &names) or not number_of(&names, 1, &number):
                return None
            if number == 0:
                if not vector_of(&names, 2, &ignored):
                    return None
                server_name = bytes_of(&ignored).decode("ascii", "replace")
        elif number == 10:
            if not vector_of(&body, 2, &groups):
                return None
        elif number == 11:
            if not vector_of(&body, 1, &formats):
                return None
        elif number == 13:
            if not vector_of(&body, 2, &signatures):
                return None
        elif number == 16:
            if not vector_of(&body, 2, &names) or not names_fit(names, &first_name):
                return None
            first_name.left = max(first_name.left, 0)
        elif number == 43:
            if not vector_of(&body, 1, &versions):
                return None
        elif number == 35:
            if body.left:
                tickets.append(bytes_of(&body))
        elif number == 41:
            if not vector_of(&body, 2, &names):
                return None
            while names.left and len(tickets) < MOST_TICKETS:
                if not vector_of(&names, 2, &identity) or names.left < 4:
                    return None
                names.at += 4
                names.left -= 4
                tickets.append(bytes_of(&identity))
        elif number == 42:
            early = True
    made = ClientHelloView.__new__(ClientHelloView)
    made.message = PyBytes_FromStringAndSize(<const char*>data, size)
    made.random, made.session_id, made.tickets = bytes_of(&random), bytes_of(&session_id), tickets
    made.early_data, made.is_whole, made.server_name = early, is_whole, server_name
    kind.at, kind.left = kinds, 2 * count
    made.marks = joined_parts(version, [&ciphers, &kind, &groups, &formats, &signatures, &versions, &first_name])
    return made


cdef bytes joined_parts(Py_ssize_t version, const Part** parts):
    """The version, the sizes of seven parts, and their bytes."""
    cdef Py_ssize_t total = 16
    cdef Py_ssize_t size
    cdef bytes made
    cdef uint8_t* target
    cdef int index
    for index in range(7):
        total += parts[index].left
    made = PyBytes_FromStringAndSize(NULL, total)
    target = <uint8_t*>PyBytes_AS_STRING(made)
    target[0], target[1] = <uint8_t>(version >> 8), <uint8_t>version
    total = 16
    for index in range(7):
        size = parts[index].left  # 16 bits on the wire at most
        target[2 + 2 * index], target[3 + 2 * index] = <uint8_t>(size >> 8), <uint8_t>size
        memcpy(target + total, parts[index].at, size)
        total += size
    return made
