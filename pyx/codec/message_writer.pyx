# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""The encode executor of the native backend: one plan, lowered once, run over any message; and what writes whole frames in one call.

The readable contract is `kwire.codec._pure.message_writer`.
"""

from operator import attrgetter

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy

from build_id cimport build_id
from codec.slotted cimport HeldSlots, slot_count, slots_hold, slots_of, slots_release
from codec.write_executor cimport write_struct
from codec.write_program cimport Writing, writing_lower, writing_release
from codec.write_values cimport int_value
from wire.free_threading cimport FREE_THREADED
from wire.write_buffer cimport MOST_BYTES, MOST_KEPT, Output, make_room, output_open, store_32

from kwire.codec._native.structs import LATER, MessageObject
from kwire.codec.uuids import Uuid
from kwire.codec.write_walk import write_carefully

__all__ = ["Encoder", "MessageWriter"]
__build__ = build_id()

cdef extern from "Python.h":
    bytes bytes_from "PyBytes_FromStringAndSize"(const char* content, Py_ssize_t size)
    PyObject* PyDict_GetItemWithError(dict values, object key) except? NULL

# Memory that waits for the next message; NULL while one is written. The GIL guards it; without one, none is kept.
cdef uint8_t* kept = NULL
cdef Py_ssize_t kept_size = 0


cdef void output_close(Output* output) noexcept:
    """Keep the memory for the next message, unless it is large or some is kept already."""
    global kept, kept_size
    if not FREE_THREADED and kept is NULL and output.end - output.start <= MOST_KEPT:
        kept = output.start
        kept_size = output.end - output.start
    else:
        PyMem_Free(output.start)


@cython.final
cdef class Encoder:
    """Executes one plan."""

    cdef Writing writing
    cdef readonly object plan
    cdef readonly tuple classes
    cdef object uuid
    cdef tuple empty

    def __cinit__(self, plan, tuple classes):
        if plan.fields is not None:
            raise ValueError(f"a part of {plan.message} cannot be written")
        self.plan = plan
        self.classes = classes
        self.uuid = Uuid
        self.empty = ()
        writing_lower(&self.writing, plan, classes, MessageObject, LATER, self.uuid, self.empty)

    def __dealloc__(self):
        writing_release(&self.writing)

    def __reduce__(self):
        return Encoder, (self.plan, self.classes)

    cdef bytes write(self, Encoder first, object head, object message, bytes before):
        """Write one message behind bytes and the object `head`, which `first` writes; None for what is odd."""
        global kept, kept_size
        cdef Output output
        cdef Py_ssize_t size = PyBytes_GET_SIZE(before)
        cdef Py_ssize_t slack = self.writing.slack
        cdef uint8_t* p
        cdef bytes made = None
        if first is not None:
            slack = max(slack, first.writing.slack)
        if FREE_THREADED:
            p = output_open(&output, NULL, 0, slack)
        else:
            p = output_open(&output, kept, kept_size, slack)
            kept = NULL
        if p is NULL:
            raise MemoryError
        if size:
            p = make_room(&output, p, size)
            if p is not NULL:
                memcpy(p, PyBytes_AS_STRING(before), size)
                p += size
        if p is not NULL and first is not None:
            p = write_struct(&first.writing, &output, p, <PyObject*>head, 0)
        if p is not NULL:
            p = write_struct(&self.writing, &output, p, <PyObject*>message, 0)
        try:
            if p is not NULL and p - output.start <= MOST_BYTES:
                made = bytes_from(<const char*>output.start, p - output.start)
        finally:
            output_close(&output)
        return made

    def encode(self, message, bytes before not None=b""):
        """Write one message."""
        made = self.write(None, None, message, before)
        return made if made is not None else write_carefully(self.plan, self.classes, message, before)


@cython.final
cdef class Learned:
    """Writer of the objects of one class at one version, with their header. It is immutable, because other threads may read it."""

    cdef Encoder encoder
    cdef Encoder header  # of requests
    cdef int head_size  # of responses: the header is a correlation id, and a byte without tags where this is 5; 0 when not known
    cdef long long api_key


@cython.final
cdef class MessageWriter:
    """Writes messages and frames of what it has learned."""

    cdef dict learned  # class -> list of Learned or None by version
    cdef object header
    cdef Py_ssize_t key_slot, version_slot
    cdef object careful_message, careful_request, careful_response

    def __cinit__(self, header, careful_message, careful_request, careful_response):
        cdef list names = list(header.slot_names)
        if header.__base__ is not MessageObject or slot_count(<PyTypeObject*>header) != len(names):
            raise TypeError("the class of headers was not made by make_classes")
        self.learned = {}
        self.header = header
        self.key_slot = names.index("api_key")
        self.version_slot = names.index("api_version")
        self.careful_message = careful_message
        self.careful_request = careful_request
        self.careful_response = careful_response

    def __reduce__(self):
        return attrgetter("_writer"), (self.careful_message.__self__,)

    cdef Learned find(self, object kind, long long version):
        cdef PyObject* versions = PyDict_GetItemWithError(self.learned, kind)
        if versions is NULL or not 0 <= version < len(<list>versions):
            return None
        return (<list>versions)[version]

    @cython.critical_section
    cdef int add(self, object kind, Py_ssize_t version, Encoder encoder, Encoder header, long long api_key, int head_size) except -1:
        """Learn more of a class in a version; None, -1 and 0 stand for what is not said."""
        cdef list versions = self.learned.setdefault(kind, [])
        cdef Learned before, made = Learned()
        while len(versions) <= version:
            versions.append(None)
        before = versions[version]
        if before is not None:
            made.encoder, made.header, made.api_key, made.head_size = before.encoder, before.header, before.api_key, before.head_size
        if encoder is not None:
            made.encoder = encoder
        if header is not None:
            made.header = header
        if api_key >= 0:
            made.api_key = api_key
        if head_size:
            made.head_size = head_size
        versions[version] = made
        return 0

    def learn(self, kind, Py_ssize_t version, Encoder encoder not None):
        """Write the objects of a class in a version with this encoder from now on."""
        self.add(kind, version, encoder, None, -1, 0)

    def learn_request(self, kind, Py_ssize_t version, long long api_key, Encoder header not None):
        """Write frames of requests with this encoder of their header; the body's was learned."""
        self.add(kind, version, None, header, api_key, 0)

    def learn_response(self, kind, Py_ssize_t version, long long api_key, int head_size):
        """Write frames of responses whose header is a correlation id, alone (4) or with an empty tagged section (5)."""
        self.add(kind, version, None, None, api_key, head_size)

    def encode(self, message, version):
        """Write one message; see `kwire.codec.encoding`."""
        cdef Learned found
        cdef long long number
        if int_value(<PyObject*>version, &number):
            found = self.find(type(message), number)
            if found is not None and found.encoder is not None:
                made = found.encoder.write(None, None, message, b"")
                if made is not None:
                    return made
        return self.careful_message(message, version)

    def encode_request(self, header, body):
        cdef Learned found
        cdef HeldSlots held
        cdef PyObject** slots
        cdef long long api_key, version
        cdef bint is_usual
        if type(header) is self.header:
            slots = slots_of(slots_hold(<PyObject*>header, slot_count(<PyTypeObject*>self.header), &held))
            is_usual = (
                slots[self.key_slot] is not NULL and slots[self.version_slot] is not NULL
                and int_value(slots[self.key_slot], &api_key) and int_value(slots[self.version_slot], &version)
            )
            slots_release(&held)
            if is_usual:
                found = self.find(type(body), version)
                if found is not None and found.encoder is not None and found.header is not None and found.api_key == api_key:
                    made = found.encoder.write(found.header, header, body, b"")
                    if made is not None:
                        return made
        return self.careful_request(header, body)

    def encode_response(self, correlation_id, body, api_key, api_version):
        cdef Learned found
        cdef uint8_t head[5]
        cdef long long number, key, version
        if (
            type(correlation_id) is int and int_value(<PyObject*>correlation_id, &number) and number == <int32_t>number
            and int_value(<PyObject*>api_key, &key) and int_value(<PyObject*>api_version, &version)
        ):
            found = self.find(type(body), version)
            if found is not None and found.encoder is not None and found.head_size and found.api_key == key:
                store_32(head, <uint32_t>number)
                head[4] = 0
                made = found.encoder.write(None, None, body, bytes_from(<const char*>head, found.head_size))
                if made is not None:
                    return made
        return self.careful_response(correlation_id, body, api_key, api_version)
