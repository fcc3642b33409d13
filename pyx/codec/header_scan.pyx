# cython: language_level=3
"""Headers of a whole stream of request frames in one call. The readable contract is `kwire.codec._pure.header_scan`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from cursor cimport OK, TRUNCATED, Bytes, Cursor, cursor_has, cursor_open, likely, load_16, load_32, read_length_16, unlikely
from program cimport INT16, INT32, RUN, STRING, Program, Step, Trace, fixed_size, program_lower, program_release
from skip cimport skip_tagged, skip_value

__all__ = ["COLUMNS", "HeaderScanner"]

COLUMNS = (
    ("frame_offset", "q"), ("frame_length", "i"), ("header_version", "b"), ("api_key", "h"), ("api_version", "h"), ("correlation_id", "i"),
    ("client_id_offset", "q"), ("client_id_length", "i"), ("body_offset", "q"), ("error", "b"),
)
_SIZES = {"q": 8, "i": 4, "h": 2, "b": 1}

cdef enum:
    KEYS = 256  # api keys that the table holds; Kafka has used 93 in its whole life
    VERSIONS = 8  # header versions
    LENGTH = 4  # bytes of a frame's length
    FIRST_ROWS = 256
    BAD_LENGTH = 3
    UNKNOWN_API = 6
    LIMIT_EXCEEDED = 9

# A header version: where its fixed fields are, and what comes behind them.
cdef struct Header:
    Program program
    int32_t key_at
    int32_t version_at
    int32_t correlation_at
    int32_t fixed  # bytes of the fields before the client id
    const Step* client  # NULL where the version has none
    const Step* rest
    const Step* last
    bint plain  # behind the client id comes a tagged section and nothing else

cdef struct Entry:
    uint8_t* versions  # header version by api version; those above have the last
    int32_t count

cdef struct Scan:
    Header[VERSIONS] headers
    Entry[KEYS] entries
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


cdef Bytes skip_rest(const Header* header, Bytes base, Py_ssize_t size, Bytes p, int* code) noexcept nogil:
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
    if likely(length >= header.fixed):
        # the first two fields have one place in all header versions
        api_key = <int16_t>load_16(frame + header.key_at)
        api_version = <int16_t>load_16(frame + header.version_at)
        if likely(0 <= api_key < KEYS):
            entry = &scan.entries[api_key]
            if likely(entry.count > 0):
                code = OK
                version = entry.versions[0 if api_version < 0 else api_version if api_version < entry.count else entry.count - 1]
                header = &scan.headers[version]
    if likely(length >= header.fixed):
        correlation_id = <int32_t>load_32(frame + header.correlation_at)
        cursor_open(&cursor, frame, length, header.fixed)
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


cdef bint scan_frames(const Scan* scan, Place* place, Output* out) noexcept nogil:
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
        scan_frame(scan, base, &to, row, p, length)
        row += 1
        p += length
    out.count = row
    place.at = p - base
    return done


@cython.final
cdef class HeaderScanner:
    """Reads the headers of streams of request frames.

    Arguments:
        plans: of the `RequestHeader` message by header version, 0 to 7.
        versions: header versions of the known api keys, each a tuple indexed by api version; a version below 0 has the first, one above
            the end the last.
        fallback: header version of an unknown api.

    Raises:
        ValueError: the headers do not begin with fixed fields and a client id, or api key and version are not in one place in all.
    """

    cdef Scan scan
    cdef dict plans

    def __cinit__(self, dict plans, dict versions, int fallback):
        cdef Header* header
        cdef Entry* entry
        cdef int key
        self.plans = plans
        self.scan.fallback = fallback
        if fallback not in plans:
            raise ValueError(f"there is no plan for the fallback, header version {fallback}")
        for version, plan in plans.items():
            if not 0 <= version < VERSIONS:
                raise ValueError(f"header version {version} is outside 0 to {VERSIONS - 1}")
            header = &self.scan.headers[<int>version]
            program_lower(&header.program, plan, 0)
            self.place_fields(header, plan)
        for version in plans:
            header = &self.scan.headers[<int>version]
            if header.key_at != self.scan.headers[fallback].key_at or header.version_at != self.scan.headers[fallback].version_at:
                raise ValueError("api key and version are not in one place in all request headers")
        for api_key, known in versions.items():
            if not 0 <= api_key < KEYS:
                raise ValueError(f"api key {api_key} is outside 0 to {KEYS - 1}")
            if not known or not plans.keys() >= set(known):
                raise ValueError(f"there is no plan for a header version of api key {api_key}")
            entry = &self.scan.entries[<int>api_key]
            entry.versions = <uint8_t*>PyMem_Calloc(len(known), 1)
            if entry.versions is NULL:
                raise MemoryError
            entry.count = len(known)
            for key in range(entry.count):
                entry.versions[key] = known[key]

    def __dealloc__(self):
        cdef int index
        for index in range(VERSIONS):
            program_release(&self.scan.headers[index].program)
        for index in range(KEYS):
            PyMem_Free(self.scan.entries[index].versions)

    cdef int place_fields(self, Header* header, object plan) except -1:
        """Find the fixed fields and the client id of a header in its program."""
        cdef const Step* step = header.program.steps
        cdef const Step* run_end
        cdef dict places = {}
        header.last = step + header.program.blocks.untagged
        if step.code != RUN:
            raise ValueError("a request header does not begin with fixed fields")
        run_end = step + step.count
        while step < run_end:
            step += 1
            places[plan.attribute(0, step.operation)] = header.fixed, step.code
            header.fixed += fixed_size(step.code)
        step += 1
        header.client = NULL
        if step < header.last and plan.attribute(0, step.operation) == "client_id":
            if step.code != STRING:
                raise ValueError("the client id of a request header is not a plain string")
            header.client = step
            step += 1
        header.rest = step
        header.plain = step == header.last and header.program.flexible and header.program.blocks.tagged == 0
        for name, code in (("api_key", INT16), ("api_version", INT16), ("correlation_id", INT32)):
            if places.get(name, (0, 0))[1] != code:
                raise ValueError(f"a request header has no {name} among its first fields")
        header.key_at = places["api_key"][0]
        header.version_at = places["api_version"][0]
        header.correlation_at = places["correlation_id"][0]
        return 0

    def scan_buffer(self, data, Py_ssize_t most):
        """Read all headers of a buffer.

        Arguments:
            data: frames with their lengths, one behind the other; any contiguous buffer.
            most: bytes of the largest frame that is believed.

        Returns:
            The columns as `COLUMNS` says, bytearrays with at least `count` items; `count`; the offset behind the last whole frame; and the
            code of what is wrong with the length that stands there, 0 if nothing is.
        """
        cdef Py_buffer view
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            return self.run(&view, most)
        finally:
            PyBuffer_Release(&view)

    cdef object run(self, Py_buffer* view, Py_ssize_t most):
        cdef Output out
        cdef Place place
        cdef bint done = False
        cdef list columns = [bytearray() for _ in COLUMNS]
        cdef Py_ssize_t room
        out.room = out.count = 0
        place.base = <Bytes>view.buf
        place.size = view.len
        place.at = 0
        place.most = most
        place.fault = OK
        while not done:
            if out.count:
                # as many as the frames so far let expect, but no more than frames of a header each can be
                room = <Py_ssize_t>(<double>out.count * place.size / place.at * 1.02) + FIRST_ROWS
                room = max(room, out.count + FIRST_ROWS)
            else:
                room = FIRST_ROWS
            self.make_room(columns, &out, min(room, place.size // LENGTH + 1))
            with nogil:
                done = scan_frames(&self.scan, &place, &out)
        return columns, out.count, place.at, place.fault

    cdef int make_room(self, list columns, Output* out, Py_ssize_t room) except -1:
        cdef uint8_t* starts[10]
        cdef int index
        cdef bytearray column
        for index, (_, letter) in enumerate(COLUMNS):
            column = columns[index]
            resize_bytearray(column, room * _SIZES[letter])
            starts[index] = <uint8_t*>bytearray_data(column)
        out.frame_offset = <int64_t*>starts[0]
        out.frame_length = <int32_t*>starts[1]
        out.header_version = <int8_t*>starts[2]
        out.api_key = <int16_t*>starts[3]
        out.api_version = <int16_t*>starts[4]
        out.correlation_id = <int32_t*>starts[5]
        out.client_id_offset = <int64_t*>starts[6]
        out.client_id_length = <int32_t*>starts[7]
        out.body_offset = <int64_t*>starts[8]
        out.error = <int8_t*>starts[9]
        out.room = room
        return 0


cdef extern from "Python.h":
    int resize_bytearray "PyByteArray_Resize"(object array, Py_ssize_t size) except -1
    char* bytearray_data "PyByteArray_AS_STRING"(object array)
