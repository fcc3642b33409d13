# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""The decoder of the native backend: one plan, lowered once, run over any buffer. The readable contract is `kwire.codec._pure.objects`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.object cimport PyObject

from build_id cimport build_id
from codec.object_executor cimport build_struct
from codec.object_program cimport HIGHEST, LOWEST, Objects, objects_lower, objects_release, propagate, small_ints
from codec.object_values cimport Build, build_close, build_open, build_views
from codec.program cimport raise_fault
from codec.skip cimport skip_block
from codec.slotted cimport pool_use
from wire.cursor cimport OK, TRAILING_BYTES, Bytes
from wire.raw_python cimport raw_decref

from kwire.codec._native.structs import LATER, POOL, MessageObject, make_classes
from kwire.codec.memory_views import read_only
from kwire.codec.uuids import Uuid
from kwire.errors import raise_for

__all__ = ["Decoder", "make_classes"]
__build__ = build_id()

cdef PyObject* SMALL[HIGHEST - LOWEST + 1]
small_ints(SMALL)
pool_use(POOL)


@cython.final
cdef class Decoder:
    """Executes one plan."""

    cdef Objects objects
    cdef readonly object plan
    cdef readonly tuple classes
    cdef object uuid
    cdef tuple empty

    def __cinit__(self, plan, tuple classes):
        self.plan = plan
        self.classes = classes
        self.uuid = Uuid
        self.empty = ()
        objects_lower(&self.objects, plan, classes, MessageObject, LATER, self.uuid, self.empty, SMALL)

    def __dealloc__(self):
        objects_release(&self.objects)

    def __reduce__(self):
        return Decoder, (self.plan, self.classes)

    cdef object run(self, object data, Py_ssize_t offset, bint lenient, bint building, bint views, Py_ssize_t* end, Py_ssize_t* size):
        """Open the buffer and run one of the two executors; `end` is set behind the message, `size` to that of the buffer."""
        cdef Py_buffer view
        cdef PyObject* source = NULL
        if PyBytes_CheckExact(data):
            if views:
                source = <PyObject*>data
            size[0] = PyBytes_GET_SIZE(data)
            return self.execute(<Bytes>PyBytes_AS_STRING(data), size[0], offset, lenient, building, source, end)
        if views:
            data = read_only(data)
            source = <PyObject*>data
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            size[0] = view.len
            return self.execute(<Bytes>view.buf, size[0], offset, lenient, building, source, end)
        finally:
            PyBuffer_Release(&view)

    cdef object execute(
        self, Bytes base, Py_ssize_t size, Py_ssize_t offset, bint lenient, bint building, PyObject* source, Py_ssize_t* end
    ):
        cdef Build build
        cdef PyObject* made
        cdef object message = None
        if not 0 <= offset <= size:
            raise ValueError(f"offset {offset} is outside the buffer of {size} bytes")
        build_open(&build, base, size, offset, lenient)
        if building:
            if source is not NULL:
                build_views(&build, source)
            made = build_struct(&self.objects, &build, 0)
            build_close(&build)
            if made is not NULL:
                message = <object>made
                raw_decref(made)
            elif build.cursor.code == OK:
                propagate()
        else:
            skip_block(&self.objects.program, &build.cursor, self.objects.program.blocks, &build.trace)
        if build.cursor.code != OK:
            raise_fault(self.plan, &build.cursor, &build.trace)
        end[0] = build.cursor.p - base
        return message

    def decode(self, data, Py_ssize_t offset=0, bint lenient=False, bint memoryviews=False):
        """Read one message."""
        cdef Py_ssize_t end = 0
        cdef Py_ssize_t size = 0
        message = self.run(data, offset, lenient, True, memoryviews, &end, &size)
        return message, end

    def decode_whole(self, data, Py_ssize_t offset=0, bint lenient=False, bint memoryviews=False):
        cdef Py_ssize_t end = 0
        cdef Py_ssize_t size = 0
        message = self.run(data, offset, lenient, True, memoryviews, &end, &size)
        if end != size:
            raise_for(TRAILING_BYTES, end, "", self.plan.message, self.plan.api_key, self.plan.version)
        return message

    def skip(self, data, Py_ssize_t offset=0):
        cdef Py_ssize_t end = 0
        cdef Py_ssize_t size = 0
        self.run(data, offset, False, False, False, &end, &size)
        return end
