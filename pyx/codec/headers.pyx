# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""Request headers in one call: which header version a frame has, and the header object.

The readable contract is `kwire.codec._pure.headers`.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from libc.stdint cimport int16_t, uint8_t, uint32_t

from build_id cimport build_id
from codec.object_executor cimport build_struct
from codec.object_program cimport HIGHEST, LOWEST, Objects, objects_lower, objects_release, propagate, small_ints
from codec.object_values cimport Build, TextMemo, build_close, build_open, forget_texts
from codec.program cimport raise_fault
from codec.slotted cimport pool_use
from wire.cursor cimport OK, Bytes, load_16, load_32
from wire.free_threading cimport FREE_THREADED, publish, published
from wire.raw_python cimport raw_decref

from kwire.codec._native.structs import LATER, POOL, MessageObject
from kwire.codec.uuids import Uuid
from kwire.errors import Fault, raise_for

__all__ = ["HeaderReader"]
__build__ = build_id()

cdef enum:
    PREFIX = 4  # api key and api version, two int16, begin a request header of any version
    KEYS = 256  # api keys that the table holds; Kafka has used 93 in its whole life
    VERSIONS = 8  # header versions that a reader can have; Kafka has 4
    ASK = -1
    UNKNOWN = -2

cdef PyObject* SMALL[HIGHEST - LOWEST + 1]
small_ints(SMALL)
pool_use(POOL)

# Header versions of one api by api version; `count` is 0 until the catalog was asked, and is published last.
cdef struct Entry:
    uint8_t* versions
    int count


@cython.final
cdef class HeaderReader:
    """Reads the header of a request frame."""

    cdef Objects[VERSIONS] objects
    cdef TextMemo texts  # client ids: a stream of frames has few, and they are a third of the work
    cdef Entry[KEYS] entries
    cdef dict decoders
    cdef object versions_of
    cdef object refuse  # raises for a frame that begins with its length
    cdef dict others  # as `entries`, for keys outside the table
    cdef int fallback
    cdef object uuid
    cdef tuple empty

    def __cinit__(self, dict decoders, versions_of, int fallback=1, refuse=None):
        # a copy: the programs point into these decoders' plans and classes
        self.decoders = dict(decoders)
        self.versions_of = versions_of
        self.refuse = refuse
        self.others = {}
        self.fallback = fallback
        self.uuid = Uuid
        self.empty = ()
        if fallback not in self.decoders:
            raise ValueError(f"there is no decoder for the fallback, header version {fallback}")
        for version, decoder in self.decoders.items():
            if not 0 <= version < VERSIONS:
                raise ValueError(f"header version {version} is outside 0 to {VERSIONS - 1}")
            objects_lower(&self.objects[<int>version], decoder.plan, decoder.classes, MessageObject, LATER, self.uuid, self.empty, SMALL)

    def __dealloc__(self):
        cdef int index
        for index in range(VERSIONS):
            objects_release(&self.objects[index])
        forget_texts(&self.texts)
        for index in range(KEYS):
            PyMem_Free(self.entries[index].versions)

    cdef int ask(self, int api_key, int api_version) except ASK:
        """The header version, from the catalog; what it says is kept. UNKNOWN for an api that it does not know."""
        cdef object versions = self.others.get(api_key)
        cdef Entry* entry
        cdef uint8_t* kept
        cdef int index
        if versions is None:
            versions = self.versions_of(api_key)
            if versions is None:
                return UNKNOWN
            versions = tuple(versions)
            if not versions or not self.decoders.keys() >= set(versions):
                raise ValueError(f"there is no decoder for a header version of api key {api_key}")
            if 0 <= api_key < KEYS:
                entry = &self.entries[api_key]
                kept = <uint8_t*>PyMem_Calloc(len(versions), 1)
                if kept is NULL:
                    raise MemoryError
                for index in range(len(versions)):
                    kept[index] = versions[index]
                self.keep(entry, kept, <int>len(versions))
            else:
                self.others[api_key] = versions
        return versions[min(max(api_version, 0), len(versions) - 1)]

    @cython.critical_section
    cdef int keep(self, Entry* entry, uint8_t* versions, int count) except -1:
        """Fill an entry, unless another thread did or the catalog was asked in the catalog's own answer."""
        if entry.count:
            PyMem_Free(versions)
            return 0
        entry.versions = versions
        publish(&entry.count, count)
        return 0

    cdef inline int version_of(self, Bytes frame, Py_ssize_t size, bint strict) except ASK:
        """The header version of a frame."""
        cdef int api_key, api_version
        cdef const Entry* entry
        if size < PREFIX:
            return self.fallback  # reading it finds the fault
        api_key = <int16_t>load_16(frame)
        api_version = <int16_t>load_16(frame + 2)
        if 0 <= api_key < KEYS:
            entry = &self.entries[api_key]
            if 0 <= api_version < published(&entry.count):
                return entry.versions[api_version]
        if strict and self.refuse is not None and load_32(frame) == <uint32_t>(size - PREFIX):
            self.refuse(api_key, api_version, frame[:size])
        return self.unusual(api_key, api_version, strict)

    cdef int unusual(self, int api_key, int api_version, bint strict) except ASK:
        """The header version of an api or a version that is not in the table."""
        cdef Entry* entry
        cdef int version
        if 0 <= api_key < KEYS:
            entry = &self.entries[api_key]
            if published(&entry.count) > 0:
                return entry.versions[0 if api_version < 0 else min(api_version, entry.count - 1)]
        version = self.ask(api_key, api_version)
        if version != UNKNOWN:
            return version
        if strict:
            raise_for(Fault.UNKNOWN_API, 0, "api_key", "RequestHeader", api_key, api_version, f"unknown API key {api_key}")
        return self.fallback

    cdef inline object execute(self, Bytes frame, Py_ssize_t size, bint strict, Py_ssize_t* end):
        cdef int version = self.version_of(frame, size, strict)
        cdef Build build
        cdef PyObject* made
        cdef object header
        build_open(&build, frame, size, 0, not strict)
        if not FREE_THREADED:  # what calls share has no lock
            build.texts = &self.texts
        made = build_struct(&self.objects[version], &build, 0)
        build_close(&build)
        if made is NULL:
            if build.cursor.code != OK:
                raise_fault(self.decoders[version].plan, &build.cursor, &build.trace)
            propagate()
        header = <object>made
        raw_decref(made)
        end[0] = build.cursor.p - frame
        return header

    cdef inline object run(self, object frame, bint strict, Py_ssize_t* end):
        cdef Py_buffer view
        if PyBytes_CheckExact(frame):
            return self.execute(<Bytes>PyBytes_AS_STRING(frame), PyBytes_GET_SIZE(frame), strict, end)
        PyObject_GetBuffer(frame, &view, PyBUF_SIMPLE)
        try:
            return self.execute(<Bytes>view.buf, view.len, strict, end)
        finally:
            PyBuffer_Release(&view)

    def read(self, frame, *, bint strict=True):
        """The header of a frame and the offset of its body."""
        cdef Py_ssize_t end = 0
        header = self.run(frame, strict, &end)
        return header, end

    def peek(self, frame, *, bint strict=True):
        cdef Py_ssize_t end = 0
        return self.run(frame, strict, &end)
