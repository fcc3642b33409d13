# cython: language_level=3, binding=False
"""Lines of NSS key logs, the native twin of kwire/capture/tls/key_lines.py, which is the contract."""

cimport cython
from cpython.array cimport array, resize_smart
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcmp, memset

from build_id cimport build_id
from wire.free_threading cimport FREE_THREADED

from sys import intern

__all__ = ["held_secrets", "index_lines", "known_lines", "lines_of", "parse_line"]
__build__ = build_id()

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(_WIN32)
    static int64_t kwire_read_at(int file, uint8_t *target, int64_t size, int64_t place, int64_t stamp[3]) {
        (void)file; (void)target; (void)size; (void)place; (void)stamp;
        return -1;
    }
    #else
    #include <sys/stat.h>
    #include <unistd.h>
    #if defined(__APPLE__)
    #define KWIRE_CHANGED st_mtimespec
    #else
    #define KWIRE_CHANGED st_mtim
    #endif
    /* Bytes of a file from a place, and what changes when it is written; gives how many came, -1 where that failed. */
    static int64_t kwire_read_at(int file, uint8_t *target, int64_t size, int64_t place, int64_t stamp[3]) {
        struct stat found;
        int64_t count = pread(file, target, (size_t)size, (off_t)place);
        if (count < 0 || fstat(file, &found)) return -1;
        stamp[0] = (int64_t)found.st_ino;
        stamp[1] = (int64_t)found.st_size;
        stamp[2] = (int64_t)((uint64_t)found.KWIRE_CHANGED.tv_sec * 1000000000u + (uint64_t)found.KWIRE_CHANGED.tv_nsec);
        return count;
    }
    #endif
    """
    int64_t read_at "kwire_read_at"(int file, uint8_t* target, int64_t size, int64_t place, int64_t* stamp) noexcept


cdef enum:
    NAME_BYTES = 8
    LONGEST_LINE = 512
    READ_TOGETHER = 16384
    MOST_LINES = 64
    COMPLETE = 15
    NO_HEX = -1

cdef struct Line:
    const uint8_t* label
    Py_ssize_t label_size
    const uint8_t* name  # in hex, as the secret
    Py_ssize_t name_size
    const uint8_t* secret
    Py_ssize_t secret_size
    bint has_colon

cdef int8_t[256] DIGITS
cdef uint8_t[256] LABEL_BYTES
# Labels, and what each has of a complete client random: that of TLS 1.2 all, these of TLS 1.3 a part. Mostly they are written so.
cdef dict BITS = {
    intern(name): bits for name, bits in (
        ("CLIENT_RANDOM", COMPLETE), ("CLIENT_HANDSHAKE_TRAFFIC_SECRET", 1), ("SERVER_HANDSHAKE_TRAFFIC_SECRET", 2),
        ("CLIENT_TRAFFIC_SECRET_0", 4), ("SERVER_TRAFFIC_SECRET_0", 8), ("CLIENT_EARLY_TRAFFIC_SECRET", 0), ("EXPORTER_SECRET", 0),
        ("EARLY_EXPORTER_SECRET", 0),
    )
}
cdef list LABELS = [(name.encode(), name, bits) for name, bits in BITS.items()]


cdef void fill_tables() noexcept:
    cdef int value
    memset(DIGITS, NO_HEX, 256)
    for value in range(10):
        DIGITS[b"0"[0] + value] = value
    for value in range(6):
        DIGITS[b"a"[0] + value] = DIGITS[b"A"[0] + value] = 10 + value
    for value in range(26):
        LABEL_BYTES[b"a"[0] + value] = LABEL_BYTES[b"A"[0] + value] = True
    for value in range(10):
        LABEL_BYTES[b"0"[0] + value] = True
    LABEL_BYTES[b"_"[0]] = True


fill_tables()


cdef inline const uint8_t* behind_blanks(const uint8_t* at, const uint8_t* end) noexcept nogil:
    while at < end and (at[0] == 32 or at[0] == 9):
        at += 1
    return at


cdef inline const uint8_t* behind_hex(const uint8_t* at, const uint8_t* end) noexcept nogil:
    while at < end and DIGITS[at[0]] >= 0:
        at += 1
    return at


cdef inline const uint8_t* behind_word(
    const uint8_t* at, const uint8_t* end, const char* word, const char* other, Py_ssize_t size
) noexcept nogil:
    """Behind a word of which each letter may be that of either spelling; `at` where it does not stand there."""
    cdef Py_ssize_t index
    if end - at < size:
        return at
    for index in range(size):
        if at[index] != <uint8_t>word[index] and at[index] != <uint8_t>other[index]:
            return at
    return at + size


cdef bint is_line(const uint8_t* at, const uint8_t* end, Line* line) noexcept nogil:
    """Whether these bytes, up to a line feed or the end of the text, are a line with secrets; gives its parts."""
    cdef const uint8_t* word
    if end - at >= LONGEST_LINE:
        return False
    line.label = at = behind_blanks(at, end)
    while at < end and LABEL_BYTES[at[0]]:
        at += 1
    line.label_size = at - line.label
    word = behind_blanks(at, end)
    if not 3 <= line.label_size <= 40 or word == at:
        return False
    line.name = behind_word(word, end, b"session-id:", b"Session-ID:", 11)
    line.has_colon = line.name != word
    at = behind_hex(line.name, end)
    line.name_size = at - line.name
    word = behind_blanks(at, end)
    if not 16 <= line.name_size <= 128 or line.name_size & 1 or word == at:
        return False
    line.secret = behind_word(word, end, b"master-key:", b"Master-Key:", 11)
    line.has_colon |= line.secret != word
    at = behind_hex(line.secret, end)
    line.secret_size = at - line.secret
    if not 32 <= line.secret_size <= 256 or line.secret_size & 1:
        return False
    while at < end and (at[0] == 32 or at[0] == 9 or at[0] == 13):
        at += 1
    return at == end


cdef inline const uint8_t* line_end(const uint8_t* at, const uint8_t* end) noexcept nogil:
    cdef const uint8_t* found = <const uint8_t*>memchr(at, 10, end - at)
    return end if found is NULL else found


cdef bytes bytes_of(const uint8_t* digits, Py_ssize_t size):
    cdef bytes made = PyBytes_FromStringAndSize(NULL, size >> 1)
    cdef uint8_t* target = <uint8_t*>PyBytes_AS_STRING(made)
    cdef Py_ssize_t index
    for index in range(size >> 1):
        target[index] = <uint8_t>(DIGITS[digits[2 * index]] << 4 | DIGITS[digits[2 * index + 1]])
    return made


cdef object label_of(const Line* line, int* seen):
    """The label of a line; its bits are added to `seen`."""
    cdef tuple known
    cdef bytes spelled
    for known in LABELS:
        spelled = <bytes>known[0]
        if PyBytes_GET_SIZE(spelled) == line.label_size and not memcmp(PyBytes_AS_STRING(spelled), line.label, line.label_size):
            seen[0] |= <int>known[2]
            return known[1]
    label = PyBytes_FromStringAndSize(<const char*>line.label, line.label_size).decode("ascii").upper()
    if label == "RSA" and line.has_colon:
        label = "SESSION_ID"
    seen[0] |= <int>BITS.get(label, 0)
    return label


cdef bint has_name(const Line* line, const uint8_t* name, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t index
    if line.name_size != 2 * size:
        return False
    for index in range(size):
        if <uint8_t>(DIGITS[line.name[2 * index]] << 4 | DIGITS[line.name[2 * index + 1]]) != name[index]:
            return False
    return True


def parse_line(bytes line):
    cdef Line found
    cdef int seen = 0
    cdef bytes bare = line.removesuffix(b"\n")
    cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(bare)
    if not is_line(at, at + PyBytes_GET_SIZE(bare), &found):
        return None
    return label_of(&found, &seen), bytes_of(found.name, found.name_size), bytes_of(found.secret, found.secret_size)


def lines_of(bytes text, bytes name, list places):
    cdef list found = []
    add_lines(<const uint8_t*>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text), name, places, found)
    return found


cdef int add_lines(const uint8_t* begin, Py_ssize_t size, bytes name, list places, list found) except -1:
    """Add the lines of `lines_of`; gives bits of their labels."""
    cdef Line line
    cdef const uint8_t* at
    cdef int64_t first, place
    cdef int seen = 0
    if not places:
        return 0
    first = places[0]
    for place in places:
        if not 0 <= place - first < size:
            continue
        at = begin + (place - first)
        if is_line(at, line_end(at, begin + size), &line) and has_name(
            &line, <const uint8_t*>PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name)
        ):
            label = label_of(&line, &seen)
            found.append((label, name, bytes_of(line.secret, line.secret_size)))
    return seen


def index_lines(bytes text, Py_ssize_t size, uint64_t place, array names, array places):
    cdef Line line
    cdef const uint8_t* begin = <const uint8_t*>PyBytes_AS_STRING(text)
    cdef const uint8_t* at = begin
    cdef const uint8_t* end = begin + min(max(size, 0), PyBytes_GET_SIZE(text))
    cdef const uint8_t* until
    cdef Py_ssize_t count = len(names)
    cdef uint64_t number
    cdef int index
    if names.typecode != "Q" or places.typecode != "Q" or len(places) != count:
        raise TypeError("names and places are arrays of unsigned 64-bit numbers, as many of each")
    with cython.critical_section(names, places):
        while at < end:
            until = line_end(at, end)
            if is_line(at, until, &line):
                number = 0
                for index in range(2 * NAME_BYTES):
                    number = number << 4 | DIGITS[line.name[index]]
                count = min(len(names), len(places))
                resize_smart(names, count + 1)
                resize_smart(places, count + 1)
                names.data.as_ulonglongs[count] = number
                places.data.as_ulonglongs[count] = place + (at - begin)
            at = until + 1


cdef inline int add_sorted(uint64_t number, object names, object places, list found) except -1:
    """Where the lines of a name begin, of a sorted index."""
    cdef Py_buffer name_view, place_view
    cdef const uint64_t* sorted_names
    cdef const uint64_t* sorted_places
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t count, high, middle
    PyObject_GetBuffer(names, &name_view, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(places, &place_view, PyBUF_SIMPLE)
        try:
            if name_view.itemsize != 8 or place_view.itemsize != 8:
                raise TypeError("names and places are arrays of unsigned 64-bit numbers")
            sorted_names, sorted_places = <const uint64_t*>name_view.buf, <const uint64_t*>place_view.buf
            high = name_view.len // 8
            count = min(high, place_view.len // 8)
            while low < high:
                middle = (low + high) >> 1
                if sorted_names[middle] < number:
                    low = middle + 1
                else:
                    high = middle
            while low < count and sorted_names[low] == number and len(found) < MOST_LINES:
                found.append(sorted_places[low])
                low += 1
        finally:
            PyBuffer_Release(&place_view)
    finally:
        PyBuffer_Release(&name_view)
    return 0


cdef list places_of(bytes name, dict recent, names, places):
    """key_lines.places_of, of a name with at least NAME_BYTES; may be a list of `recent` itself."""
    cdef const uint8_t* wanted = <const uint8_t*>PyBytes_AS_STRING(name)
    cdef uint64_t number = 0
    cdef list later
    cdef list found = []
    cdef int index
    for index in range(NAME_BYTES):
        number = number << 8 | wanted[index]
    if names is not None:
        add_sorted(number, names, places, found)
    later = recent.get(number)
    if later is not None:
        return (found + later)[:MOST_LINES] if found else later
    return found


def known_lines(int descriptor, stamp, bytes name, dict recent, names, places):
    cdef uint8_t[READ_TOGETHER + LONGEST_LINE] text
    cdef int64_t[3] now
    cdef int64_t first, span, size
    cdef list at
    cdef list found = []
    if descriptor < 0 or stamp is None or PyBytes_GET_SIZE(name) < NAME_BYTES:
        return None
    at = places_of(name, recent, names, places)
    if not at:
        return found, False
    first = at[0]
    span = <int64_t>at[len(at) - 1] - first
    if not 0 <= span <= READ_TOGETHER:
        return None
    size = read_at(descriptor, text, span + LONGEST_LINE, first, now)
    if size < 0:
        return None
    if add_lines(text, size, name, at, found) != COMPLETE:
        return found, False
    return found, stamp == (<uint64_t>now[0], now[1], now[2])


def held_secrets(bytearray text, bytes name, dict recent, names, places):
    if FREE_THREADED:
        text = bytearray(text)  # which no other thread makes longer
    cdef Line line
    cdef const uint8_t* begin = <const uint8_t*>PyByteArray_AS_STRING(text)
    cdef const uint8_t* end = begin + PyByteArray_GET_SIZE(text)
    cdef const uint8_t* at
    cdef int64_t place
    cdef int seen = 0
    cdef dict found = {}
    if PyBytes_GET_SIZE(name) < NAME_BYTES:
        return found, False
    for place in places_of(name, recent, names, places):
        if not 0 <= place < end - begin:
            continue
        at = begin + place
        if is_line(at, line_end(at, min(end, at + LONGEST_LINE)), &line) and has_name(
            &line, <const uint8_t*>PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name)
        ):
            label = label_of(&line, &seen)
            found[label] = bytes_of(line.secret, line.secret_size)
    return found, seen == COMPLETE
