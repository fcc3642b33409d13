# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""Whole frames in one call, header and body. The readable contract is `kwire.codec._pure.frames`.

Only the usual frame is read here: its api and version were learned, nothing in it is at fault. Everything else is given to the careful
reader, which reads it again from its first byte and knows all the rules.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject, PyTypeObject

from build_id cimport build_id
from codec.object_executor cimport build_struct
from codec.object_program cimport HIGHEST, LOWEST, Objects, objects_lower, objects_release, propagate, small_ints
from codec.object_values cimport Build, NumberMemo, TextMemo, build_close, build_open, build_views, forget_numbers, forget_texts
from codec.slotted cimport pool_use, slot_count, slots_of, slotted_new, slotted_subtype
from wire.cursor cimport OK, Bytes, load_16
from wire.free_threading cimport FREE_THREADED, publish_pointer, published_pointer
from wire.raw_python cimport gc_track, new_none, raw_decref, raw_incref, raw_xdecref

from kwire.codec._native.structs import LATER, POOL, MessageObject
from kwire.codec.memory_views import read_only
from kwire.codec.uuids import Uuid

__all__ = ["RequestReader", "ResponseReader"]
__build__ = build_id()

cdef extern from "Python.h":
    Py_ssize_t raw_tuple_size "PyTuple_GET_SIZE"(PyObject* values) noexcept
    PyTypeObject* type_of "Py_TYPE"(PyObject* value) noexcept

cdef enum:
    PREFIX = 4  # api key and api version, two int16, begin a request header of any version
    KEYS = 128  # api keys that the table holds; Kafka has used 93 in its whole life
    VERSIONS = 32  # of one api; Kafka's highest is 18
    UNREAD = -1

cdef PyObject* SMALL[HIGHEST - LOWEST + 1]
small_ints(SMALL)
pool_use(POOL)


@cython.final
cdef class Lowered:
    """A decoder's plan as a program of this module."""

    cdef Objects objects
    cdef object decoder  # keeps alive what the program points into
    cdef tuple empty

    def __cinit__(self, decoder):
        self.decoder = decoder
        self.empty = ()
        objects_lower(&self.objects, decoder.plan, decoder.classes, MessageObject, LATER, Uuid, self.empty, SMALL)

    def __dealloc__(self):
        objects_release(&self.objects)


cdef inline bint has_tags(PyObject* message) noexcept:
    """Return whether a decoded object has unknown tagged fields; its last slot is the empty tuple otherwise."""
    return raw_tuple_size(slots_of(message)[slot_count(type_of(message)) - 1]) != 0


# What reads the frames of one api at one version; the header is published last.
cdef struct Pair:
    const Objects* header
    const Objects* body


cdef class FrameTable:
    """Base of both readers: programs by api key and version, and construction of a frame's object."""

    cdef Pair* pairs
    cdef dict lowered  # by decoder
    cdef TextMemo clients  # client ids: a stream of frames has few
    cdef TextMemo names  # of topics and groups
    cdef NumberMemo numbers  # such as limits and timeouts, the same in each request of a client
    cdef object kind
    cdef object careful

    def __cinit__(self, kind, careful):
        self.pairs = <Pair*>PyMem_Calloc(KEYS * VERSIONS, sizeof(Pair))
        if self.pairs is NULL:
            raise MemoryError
        self.lowered = {}
        self.careful = careful

    def __dealloc__(self):
        PyMem_Free(self.pairs)
        forget_texts(&self.clients)
        forget_texts(&self.names)
        forget_numbers(&self.numbers)

    cdef int set_kind(self, object kind, tuple names) except -1:
        """Slots are written by place: hold the class to the places that CPython gives them, which is the order of their names."""
        cdef PyObject** slots
        cdef Py_ssize_t index
        cdef bint fits = slot_count(<PyTypeObject*>kind) == len(names) and kind.__dictoffset__ == kind.__weakrefoffset__ == 0
        if fits:
            probe = kind.__new__(kind)
            values = [object() for _ in names]
            for name, value in zip(names, values, strict=True):
                setattr(probe, name, value)
            slots = slots_of(<void*>probe)
            for index in range(len(names)):
                fits = fits and slots[index] is <PyObject*>values[index]
        if not fits:
            raise TypeError(f"{kind.__name__} does not have just the slots {', '.join(names)}")
        qualified = f"{kind.__module__}.{kind.__name__}".encode()
        self.kind = slotted_subtype(qualified, kind)
        return 0

    cdef Lowered lower(self, decoder):
        found = self.lowered.get(decoder)
        if found is None:
            found = self.lowered.setdefault(decoder, Lowered(decoder))  # another thread may have been quicker
        return found

    def learn(self, int api_key, int api_version, header, body):
        cdef Pair* pair
        cdef Lowered lowered_header, lowered_body
        if 0 <= api_key < KEYS and 0 <= api_version < VERSIONS:
            pair = &self.pairs[api_key * VERSIONS + api_version]
            if published_pointer(&pair.header) is NULL:
                lowered_header = self.lower(header)
                lowered_body = self.lower(body)
                self.fill(pair, &lowered_header.objects, &lowered_body.objects)

    @cython.critical_section
    cdef int fill(self, Pair* pair, const Objects* header, const Objects* body) except -1:
        if pair.header is NULL:
            pair.body = body
            publish_pointer(&pair.header, header)
        return 0

    cdef object execute(self, int api_key, int api_version, Bytes frame, Py_ssize_t size, bint lenient, PyObject* source):
        cdef const Pair* pair = &self.pairs[api_key * VERSIONS + api_version]
        cdef PyTypeObject* kind = <PyTypeObject*>self.kind
        cdef Build build
        cdef PyObject* header
        cdef PyObject* body = NULL
        cdef PyObject* made = NULL
        cdef PyObject** slots
        cdef bint left_over = False
        if published_pointer(&pair.header) is NULL:
            return None
        build_open(&build, frame, size, 0, lenient)
        if source is not NULL:
            build_views(&build, source)
        if not FREE_THREADED:  # what calls share has no lock
            build.texts = &self.clients
        header = build_struct(pair.header, &build, 0)
        if header is not NULL:
            if not FREE_THREADED:
                build.texts = &self.names
                build.numbers = &self.numbers
            body = build_struct(pair.body, &build, 0)
        build_close(&build)
        if body is not NULL:
            left_over = build.cursor.p != build.cursor.end
            if not left_over:
                made = slotted_new(kind)
        if made is NULL:
            raw_xdecref(header)
            raw_xdecref(body)
            if build.cursor.code == OK and not left_over:
                propagate()
            return None
        slots = slots_of(made) + slot_count(kind) - 3
        slots[0] = body
        slots[1] = header
        slots[2] = new_none()
        gc_track(made)
        result = <object>made
        raw_decref(made)
        return result

    cdef object read(self, object frame, int api_key, int api_version, bint lenient, bint views):
        cdef Py_buffer view
        cdef PyObject* source = NULL
        if PyBytes_CheckExact(frame):
            if views:
                source = <PyObject*>frame
            return self.place(<Bytes>PyBytes_AS_STRING(frame), PyBytes_GET_SIZE(frame), api_key, api_version, lenient, source)
        if views:
            frame = read_only(frame)
            source = <PyObject*>frame
        PyObject_GetBuffer(frame, &view, PyBUF_SIMPLE)
        try:
            return self.place(<Bytes>view.buf, view.len, api_key, api_version, lenient, source)
        finally:
            PyBuffer_Release(&view)

    cdef object place(self, Bytes frame, Py_ssize_t size, int api_key, int api_version, bint lenient, PyObject* source):
        if api_key == UNREAD and size >= PREFIX:
            api_key = load_16(frame)
            api_version = load_16(frame + 2)
        if 0 <= api_key < KEYS and 0 <= api_version < VERSIONS:
            return self.execute(api_key, api_version, frame, size, lenient, source)
        return None


@cython.final
cdef class RequestReader(FrameTable):
    """Decodes request frames."""

    def __init__(self, kind, careful):
        self.set_kind(kind, ("body", "header", "violation"))

    def decode_request(self, frame, *, bint strict=True, fields=None, bint memoryviews=False):
        if fields is None:
            request = self.read(frame, UNREAD, UNREAD, not strict, memoryviews)
            if request is not None:
                return request
        return self.careful(frame, strict, fields, memoryviews)


@cython.final
cdef class ResponseReader(FrameTable):
    """Decodes response frames."""

    def __init__(self, kind, careful):
        self.set_kind(kind, ("api_key", "api_version", "body", "header", "violation"))

    def decode_response(self, frame, api_key, api_version, *, bint strict=True, fields=None, bint memoryviews=False):
        cdef PyObject** slots
        if fields is None and type(api_key) is int and type(api_version) is int and 0 <= api_key < KEYS and 0 <= api_version < VERSIONS:
            response = self.read(frame, api_key, api_version, not strict, memoryviews)
            # a header with tagged fields is the careful reader's, see CorrelationId
            if response is not None and not has_tags(slots_of(<void*>response)[3]):
                slots = slots_of(<void*>response)
                slots[0] = <PyObject*>api_key
                slots[1] = <PyObject*>api_version
                raw_incref(slots[0])
                raw_incref(slots[1])
                return response
        return self.careful(frame, api_key, api_version, strict, fields, memoryviews)
