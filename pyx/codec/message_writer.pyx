# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""The encode executor of the native twin: one plan, lowered once, run over any message.

The readable contract is `kwire.codec._pure.message_writer`.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from write_buffer cimport MOST_BYTES, MOST_KEPT, Output, make_room, output_open
from write_executor cimport write_struct
from write_program cimport Writing, writing_lower, writing_release

from kwire.codec._native.structs import LATER, MessageObject
from kwire.codec.uuids import Uuid
from kwire.codec.write_walk import write_carefully

__all__ = ["Encoder"]

cdef extern from "Python.h":
    object bytes_from "PyBytes_FromStringAndSize"(const char* content, Py_ssize_t size)

# Memory that waits for the next message; NULL while one is written. The GIL guards it.
cdef uint8_t* kept = NULL
cdef Py_ssize_t kept_size = 0


cdef void output_close(Output* output) noexcept:
    """Keep the memory for the next message, unless it is large or some is kept already."""
    global kept, kept_size
    if kept is NULL and output.end - output.start <= MOST_KEPT:
        kept = output.start
        kept_size = output.end - output.start
    else:
        PyMem_Free(output.start)


@cython.final
cdef class Encoder:
    """Executes one plan.

    Arguments:
        plan: what to write; a whole one, without a projection.
        classes: of the structs of the plan's layouts, from `make_classes`.

    Raises:
        TypeError: the classes are not those of the plan's layouts.
        ValueError: structs nest too deep.
    """

    cdef Writing writing
    cdef readonly object plan
    cdef readonly tuple classes
    cdef object uuid
    cdef tuple empty

    def __cinit__(self, plan, tuple classes):
        self.plan = plan
        self.classes = classes
        self.uuid = Uuid
        self.empty = ()
        writing_lower(&self.writing, plan, classes, MessageObject, LATER, self.uuid, self.empty)

    def __dealloc__(self):
        writing_release(&self.writing)

    def __reduce__(self):
        return Encoder, (self.plan, self.classes)

    def encode(self, message, bytes before not None=b""):
        """Write one message.

        Arguments:
            message: an object of the first class.
            before: bytes that come first, such as a header.

        Raises:
            EncodeError: Kafka does not let a message of this version carry a value; says which value and why.
        """
        global kept, kept_size
        cdef Output output
        cdef uint8_t* p
        cdef Py_ssize_t size = PyBytes_GET_SIZE(before)
        cdef object made = None
        p = output_open(&output, kept, kept_size, self.writing.slack)
        kept = NULL
        if p is NULL:
            raise MemoryError
        if size:
            p = make_room(&output, p, size)
            if p is not NULL:
                memcpy(p, PyBytes_AS_STRING(before), size)
                p += size
        if p is not NULL:
            p = write_struct(&self.writing, &output, p, <PyObject*>message, 0)
        if p is not NULL and p - output.start <= MOST_BYTES:
            try:
                made = bytes_from(<const char*>output.start, p - output.start)
            finally:
                output_close(&output)
            return made
        output_close(&output)
        return write_carefully(self.plan, self.classes, message, before)
