"""The loop over a stream of request frames: each header's fields into columns, without the GIL.

`scan_quick` reads what nearly all headers are, with one load and one look at a table; `scan_frame` reads any header by its plan.

C-level entry for other modules: `scan_frames` and `scan_elements`, with a `Scan` that `HeaderScanner` makes of plans.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from codec.binary_column cimport OUTSIDE, PRESENT, BinaryColumn, column_element
from codec.column_buffers cimport SLACK, put_bytes
from codec.program cimport RUN, Program, Step, Trace
from codec.skip cimport skip_tagged, skip_value
from wire.cursor cimport (
    MAX_LENGTH, OK, TRUNCATED, Bytes, Cursor, cursor_has, cursor_open, likely, load_16, load_32, load_64, read_length_16, unlikely,
)
from wire.utf8 cimport is_short_plain, is_utf8

cdef enum:
    KEYS = 256  # api keys that the table holds; Kafka has used 93 in its whole life
    VERSIONS = 8  # header versions
    LENGTH = 4  # bytes of a frame's length
    BAD_LENGTH = 3
    UNKNOWN_API = 6
    LIMIT_EXCEEDED = 9
    QUICK_VERSIONS = 32  # of each api key, in the table of quick ways
    QUICK_TAGGED = 0x80  # behind the client id comes a tagged section; without, the body
    # Where all headers have their first fields: one load of 8 bytes, then the client id. Checked against the plans.
    VERSION_AT = 2
    CORRELATION_AT = 4
    FIXED = 8

# A header version: what comes behind its first fields.
cdef struct Header:
    Program program
    const Step* client  # NULL where the version has none
    const Step* rest
    const Step* last
    bint plain  # behind the client id comes a tagged section and nothing else

cdef struct Entry:
    uint8_t* versions  # header version by api version; those above have the last
    int32_t count  # up to the highest known version

cdef struct Scan:
    Header[VERSIONS] headers
    Entry[KEYS] entries
    # api keys above the table, which dialects and vendors have, and their entries
    int far_count
    int32_t* far_keys
    Entry* far_entries
    uint8_t[KEYS * QUICK_VERSIONS] quick  # by api key and version: 0 for no quick way, else 1 + header version, with QUICK_TAGGED
    int fallback

cdef struct Output:
    int64_t* frame_offset
    int32_t* frame_length
    int8_t* header_version
    int16_t* api_key
    int16_t* api_version
    int32_t* correlation_id
    int64_t* client_id_offset
    int32_t* client_id_length
    int64_t* body_offset
    int8_t* error
    Py_ssize_t room
    Py_ssize_t count

# How far a scan is.
cdef struct Place:
    Bytes base
    Py_ssize_t size
    Py_ssize_t at
    Py_ssize_t most  # bytes of the largest frame
    int fault


cdef inline Bytes skip_rest(const Header* header, Bytes base, Py_ssize_t size, Bytes p, int* code) noexcept nogil:
    """Step over what a header has behind its client id; where it ends."""
    cdef Cursor cursor
    cdef Trace trace
    cdef const Step* step = header.rest
    cursor_open(&cursor, base, size, p - base)
    trace.depth = 0
    while step < header.last:
        if step.code != RUN and not skip_value(&header.program, &cursor, step, &trace):
            break
        step += 1
    if cursor.code == OK and header.program.flexible:
        skip_tagged(&header.program, &cursor, header.program.blocks, &trace)
    code[0] = cursor.code
    return cursor.p


cdef inline bint scan_quick(
    const uint8_t* quick, Bytes base, const Output* out, Py_ssize_t row, Bytes frame, Py_ssize_t length
) noexcept nogil:
    """The header of a frame whose client id is there and which has no tagged fields, as nearly all are; False if it is not so."""
    cdef uint64_t fixed
    cdef uint32_t place
    cdef Py_ssize_t size
    cdef Bytes behind
    cdef uint8_t way
    if unlikely(length <= FIXED + 2):
        return False
    fixed = load_64(frame)
    place = <uint32_t>(fixed >> 32)
    if unlikely(place >> 16 >= KEYS or (place & 0xFFFF) >= QUICK_VERSIONS):
        return False
    way = quick[(place >> 16) * QUICK_VERSIONS + (place & 0xFFFF)]
    size = load_16(frame + FIXED)  # a null has 0xFFFF
    behind = frame + FIXED + 2 + size
    if unlikely(way == 0 or size > 0x7FFF or size > length - FIXED - 3):
        return False
    if way & QUICK_TAGGED:
        if unlikely(behind[0] != 0):
            return False
        behind += 1
    out.header_version[row] = <int8_t>((way & ~QUICK_TAGGED) - 1)
    out.api_key[row] = <int16_t>(place >> 16)
    out.api_version[row] = <int16_t>place
    out.correlation_id[row] = <int32_t>fixed
    out.client_id_offset[row] = frame + FIXED + 2 - base
    out.client_id_length[row] = <int32_t>size
    out.body_offset[row] = behind - base
    out.error[row] = OK
    out.frame_offset[row] = frame - base - LENGTH
    out.frame_length[row] = <int32_t>length
    return True


cdef inline const Entry* find_entry(const Scan* scan, int api_key) noexcept nogil:
    cdef int index
    if likely(0 <= api_key < KEYS):
        return &scan.entries[api_key]
    for index in range(scan.far_count):
        if scan.far_keys[index] == api_key:
            return &scan.far_entries[index]
    return NULL


cdef inline void scan_frame(const Scan* scan, Bytes base, const Output* out, Py_ssize_t row, Bytes frame, Py_ssize_t length) noexcept nogil:
    """The header of one frame. All is worked out first and written then: a store through a pointer to bytes may change anything."""
    cdef const Header* header = &scan.headers[scan.fallback]
    cdef const Entry* entry
    cdef Cursor cursor
    cdef Bytes p
    cdef int version = scan.fallback
    cdef int api_key = -1
    cdef int api_version = -1
    cdef int32_t correlation_id = 0
    cdef int code = UNKNOWN_API
    cdef int fault = OK
    cdef int64_t client_id_offset = -1
    cdef int64_t body_offset = -1
    cdef Py_ssize_t size = -1
    if likely(length >= FIXED):
        api_key = <int16_t>load_16(frame)
        api_version = <int16_t>load_16(frame + VERSION_AT)
        entry = find_entry(scan, api_key)
        if likely(entry is not NULL and entry.count > 0):
            code = OK
            version = entry.versions[0 if api_version < 0 else api_version if api_version < entry.count else entry.count - 1]
            header = &scan.headers[version]
        correlation_id = <int32_t>load_32(frame + CORRELATION_AT)
        cursor_open(&cursor, frame, length, FIXED)
        if header.client is not NULL:
            size = read_length_16(&cursor, header.client.nullable)
            if size > 0 and not cursor_has(&cursor, size):
                size = -1
            if size >= 0:
                client_id_offset = cursor.p - base
                cursor.p += size
        p = cursor.p
        if unlikely(cursor.code != OK):
            code = cursor.code
        elif header.plain and p < cursor.end and p[0] == 0:
            body_offset = p - base + 1
        else:
            p = skip_rest(header, frame, length, p, &fault)
            if fault == OK:
                body_offset = p - base
            else:
                code = fault
    else:
        version = api_key = api_version = -1
        code = TRUNCATED
    out.header_version[row] = <int8_t>version
    out.api_key[row] = <int16_t>api_key
    out.api_version[row] = <int16_t>api_version
    out.correlation_id[row] = correlation_id
    out.client_id_offset[row] = client_id_offset
    out.client_id_length[row] = <int32_t>(size if size >= 0 else -1)
    out.body_offset[row] = body_offset
    out.error[row] = <int8_t>code
    out.frame_offset[row] = frame - base - LENGTH
    out.frame_length[row] = <int32_t>length


cdef inline void scan_own_length(const Scan* scan, const Output* out, Py_ssize_t row, Bytes frame, Py_ssize_t length) noexcept nogil:
    """Refuse a frame that begins with its own length, and so has an unknown api or version. Apart, as it slows `scan_frame` down."""
    cdef const Entry* entry
    cdef int api_version
    if likely(length < FIXED or load_32(frame) != <uint32_t>(length - LENGTH)):
        return
    entry = find_entry(scan, <int16_t>load_16(frame))
    api_version = <int16_t>load_16(frame + VERSION_AT)
    if entry is not NULL and 0 <= api_version < entry.count:
        return
    out.header_version[row] = -1
    out.api_key[row] = out.api_version[row] = -1
    out.correlation_id[row] = 0
    out.client_id_offset[row] = out.body_offset[row] = -1
    out.client_id_length[row] = -1
    out.error[row] = BAD_LENGTH


cdef inline bint scan_frames(const Scan* scan, Place* place, Output* out) noexcept nogil:
    """Go on until no whole frame is left, True, or the output is full, False."""
    cdef Output to = out[0]  # a copy that no store can change
    cdef Py_ssize_t row = out.count
    cdef Bytes base = place.base
    cdef Bytes end = base + place.size
    cdef Bytes p = base + place.at
    cdef Py_ssize_t most = place.most
    cdef int64_t length
    cdef bint done = True
    while end - p >= LENGTH:
        if row == to.room:
            done = False
            break
        length = <int32_t>load_32(p)
        if unlikely(length < 0 or length > most):
            place.fault = BAD_LENGTH if length < 0 else LIMIT_EXCEEDED
            break
        if length > end - p - LENGTH:
            break
        p += LENGTH
        if unlikely(not scan_quick(scan.quick, base, &to, row, p, length)):
            scan_frame(scan, base, &to, row, p, length)
            scan_own_length(scan, &to, row, p, length)
        row += 1
        p += length
    out.count = row
    place.at = p - base
    return done


cdef inline Py_ssize_t scan_elements(const Scan* scan, const BinaryColumn* frames, Output* out) noexcept nogil:
    """Read the header of each element; return the one whose offsets leave the column's bytes, -1 for none.

    A null has a length of -1. Offsets are in the frame, and `frame_offset` has its address.
    """
    cdef Output to = out[0]  # a copy that no store can change
    cdef Py_ssize_t row, size
    cdef Bytes frame
    cdef int found
    for row in range(frames.length):
        found = column_element(frames, row, &frame, &size)
        if unlikely(found == OUTSIDE):
            return row
        if unlikely(found != PRESENT or size > MAX_LENGTH):
            to.frame_length[row] = MAX_LENGTH if found == PRESENT else -1
            to.header_version[row] = -1
            to.api_key[row] = to.api_version[row] = -1
            to.correlation_id[row] = 0
            to.client_id_offset[row] = to.body_offset[row] = -1
            to.client_id_length[row] = -1
            to.error[row] = LIMIT_EXCEEDED if found == PRESENT else OK
            continue
        if unlikely(not scan_quick(scan.quick, frame, &to, row, frame, size)):
            scan_frame(scan, frame, &to, row, frame, size)
            scan_own_length(scan, &to, row, frame, size)
        to.frame_offset[row] = <int64_t>frame
    return -1


cdef inline bint copy_texts(const Output* found, Py_ssize_t count, Bytes end, int32_t* ends, uint8_t* content) noexcept nogil:
    """Copy the client ids that `scan_elements` found, with `SLACK` bytes of room behind; whether all are UTF-8.

    The copy is looked at: others may write the frames.
    """
    cdef Py_ssize_t row, size
    cdef int32_t used = 0
    cdef bint valid = True
    ends[0] = 0
    for row in range(count):
        size = found.client_id_length[row]
        if size > 0:
            put_bytes(content + used, <Bytes>found.frame_offset[row] + found.client_id_offset[row], size, end)
            valid = valid and (size <= SLACK and is_short_plain(content + used, size) or is_utf8(content + used, size))
            used += <int32_t>size
        ends[row + 1] = used
    return valid
