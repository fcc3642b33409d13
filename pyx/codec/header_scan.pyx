# cython: language_level=3
"""Headers of a whole stream of request frames in one call. The readable contract is `kwire.codec._pure.header_scan`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memset

from build_id cimport build_id
from codec.binary_column cimport BinaryColumn, column_close, column_open, refuse_element
from codec.column_buffers cimport SLACK
from codec.header_columns cimport (
    KEYS, LENGTH, QUICK_TAGGED, QUICK_VERSIONS, VERSIONS, Entry, Header, Output, Place, Scan, copy_texts, scan_elements, scan_frames,
)
from codec.program cimport RUN, Step, program_lower, program_release
from wire.cursor cimport MAX_LENGTH, OK, Bytes

from kwire.errors import KwireError

__all__ = ["COLUMNS", "HeaderScanner"]
__build__ = build_id()

COLUMNS = (
    ("frame_offset", "q"), ("frame_length", "i"), ("header_version", "b"), ("api_key", "h"), ("api_version", "h"), ("correlation_id", "i"),
    ("client_id_offset", "q"), ("client_id_length", "i"), ("body_offset", "q"), ("error", "b"),
)
_SIZES = {"q": 8, "i": 4, "h": 2, "b": 1}

cdef enum:
    FIRST_ROWS = 256


@cython.final
cdef class HeaderScanner:
    """Reads the headers of streams of request frames; `kwire.codec.header_scan` has checked what it gets."""

    cdef Scan scan
    cdef dict plans

    def __cinit__(self, dict plans, dict versions, int fallback):
        cdef Header* header
        cdef Entry* entry
        cdef int key
        self.plans = plans
        self.scan.fallback = fallback
        for version, plan in plans.items():
            assert 0 <= version < VERSIONS
            header = &self.scan.headers[<int>version]
            program_lower(&header.program, plan, 0)
            self.place_fields(header)
        far = [api_key for api_key in versions if api_key >= KEYS]
        self.scan.far_keys = <int32_t*>PyMem_Calloc(len(far) + 1, sizeof(int32_t))
        self.scan.far_entries = <Entry*>PyMem_Calloc(len(far) + 1, sizeof(Entry))
        if self.scan.far_keys is NULL or self.scan.far_entries is NULL:
            raise MemoryError
        for api_key, known in versions.items():
            assert api_key >= 0 and known and plans.keys() >= {fallback, *known}
            if api_key < KEYS:
                entry = &self.scan.entries[<int>api_key]
            else:
                entry = &self.scan.far_entries[self.scan.far_count]
                self.scan.far_keys[self.scan.far_count] = api_key
                self.scan.far_count += 1
            entry.versions = <uint8_t*>PyMem_Calloc(len(known), 1)
            if entry.versions is NULL:
                raise MemoryError
            entry.count = len(known)
            for key in range(entry.count):
                entry.versions[key] = known[key]
            if api_key < KEYS:
                self.find_quick_ways(api_key, entry)

    def __dealloc__(self):
        cdef int index
        for index in range(VERSIONS):
            program_release(&self.scan.headers[index].program)
        for index in range(KEYS):
            PyMem_Free(self.scan.entries[index].versions)
        for index in range(self.scan.far_count):
            PyMem_Free(self.scan.far_entries[index].versions)
        PyMem_Free(self.scan.far_keys)
        PyMem_Free(self.scan.far_entries)

    cdef int find_quick_ways(self, int api_key, const Entry* entry) except -1:
        """Fill the table for an api key: headers that have nothing but the fields that `scan_quick` reads, where it reads them."""
        cdef const Header* header
        cdef int version
        cdef int number
        for version in range(min(entry.count, <int>QUICK_VERSIONS)):
            number = entry.versions[version]
            header = &self.scan.headers[number]
            if header.client is not NULL and header.rest == header.last and (header.plain or not header.program.flexible):
                self.scan.quick[api_key * QUICK_VERSIONS + version] = <uint8_t>(1 + number + (QUICK_TAGGED if header.plain else 0))
        return 0

    cdef int place_fields(self, Header* header) except -1:
        """Find the client id of a header and what is behind it in its program."""
        cdef const Step* step = header.program.steps
        header.last = step + header.program.blocks.untagged
        assert step.code == RUN and step.count == 3  # api key, api version and correlation id
        step += 4
        header.client = NULL
        if step < header.last:
            header.client = step
            step += 1
        header.rest = step
        header.plain = step == header.last and header.program.flexible and header.program.blocks.tagged == 0
        return 0

    def scan_buffer(self, data, Py_ssize_t most):
        """Read all headers of a buffer."""
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

    def scan_column(self, chunk, bint with_texts):
        """Read the headers of the frames in a binary column."""
        cdef BinaryColumn frames
        cdef Output out
        cdef Py_ssize_t wrong
        cdef list columns = [bytearray() for _ in COLUMNS]
        memset(&frames, 0, sizeof(BinaryColumn))
        try:
            column_open(&frames, chunk)
            self.make_room(columns, &out, frames.length)
            with nogil:
                wrong = scan_elements(&self.scan, &frames, &out)
            if wrong >= 0:
                refuse_element(wrong)
            return columns, self.texts(&frames, &out) if with_texts else None
        finally:
            column_close(&frames)

    cdef tuple texts(self, const BinaryColumn* frames, const Output* out):
        """The client ids of all rows: offsets, content, and whether all of it is UTF-8."""
        cdef Py_ssize_t row
        cdef int64_t size = 0
        cdef bytearray offsets = bytearray()
        cdef bytearray content = bytearray()
        cdef bint valid
        for row in range(frames.length):
            size += max(out.client_id_length[row], 0)
        if size > MAX_LENGTH:
            raise KwireError("a column of the batch would hold more than 2 GiB: give fewer frames at a time")
        resize_bytearray(offsets, 4 * (frames.length + 1))
        resize_bytearray(content, size + SLACK)
        cdef int32_t* ends = <int32_t*>bytearray_data(offsets)
        cdef uint8_t* data = <uint8_t*>bytearray_data(content)
        with nogil:
            valid = copy_texts(out, frames.length, frames.end, ends, data)
        return offsets, content, valid

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
