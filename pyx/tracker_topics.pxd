"""What requests and responses do with topics, as Python says it: `PartitionUse` of kwire/protocol/events.py, made as in topic_use.py."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyTypeObject
from libc.stdint cimport INT32_MIN, int32_t, uint8_t

from cursor cimport Bytes
from lane_taken cimport Use, UseList
from utf8 cimport is_utf8
from uuid_text cimport put_uuid

cdef extern from *:
    """
    /* An object of a NamedTuple class, as its _make gives it, without the call. */
    static inline PyObject *kwire_tuple_like(PyTypeObject *type, PyObject *items) {
        PyObject *arguments = PyTuple_Pack(1, items);
        if (arguments == NULL) return NULL;
        PyObject *made = PyTuple_Type.tp_new(type, arguments, NULL);
        Py_DECREF(arguments);
        return made;
    }
    """
    object tuple_like "kwire_tuple_like"(PyTypeObject* type, tuple items)

cdef extern from "Python.h":
    object text_decode "PyUnicode_DecodeUTF8"(const char* data, Py_ssize_t size, const char* errors)

cdef enum:
    UUID_TEXT = 22

    # Fields of a PartitionUse
    PLACE = 3  # topic, topic id and number
    ERROR_CODE = 3
    BYTES = 6


cdef inline object use_of(const Use* use, topic, topic_id, kind):
    """A `PartitionUse`, with the texts that name its topic."""
    cdef object records = use.weight.records
    if use.weight.packed:
        from kwire.protocol.topic_use import records_in

        records = records_in(PyBytes_FromStringAndSize(<const char*>use.records, use.records_size))
    return tuple_like(<PyTypeObject*>kind, (
        topic, topic_id, use.number, None if use.error_code == INT32_MIN else use.error_code, records, use.weight.batches,
        use.weight.bytes, use.weight.largest, use.weight.magics, use.weight.codecs, False,
    ))


cdef inline list uses_of(const UseList* taken, kind):
    """The partitions that a message names, in the order of the wire; None where the name of a topic is not UTF-8.

    Arguments:
        kind: `kwire.protocol.events.PartitionUse`.
    """
    cdef list made = []
    cdef const Use* use
    cdef Bytes topic = NULL
    cdef Bytes topic_id = NULL
    cdef Py_ssize_t size = 0
    cdef object name = None
    cdef object identifier = None
    cdef uint8_t text[UUID_TEXT]
    cdef int32_t index
    for index in range(taken.count):
        use = taken.uses + index
        if index == 0 or use.topic is not topic or use.topic_size != size or use.topic_id is not topic_id:
            topic, size, topic_id = use.topic, use.topic_size, use.topic_id
            name = identifier = None
            if size:
                if not is_utf8(topic, size):
                    return None
                name = text_decode(<const char*>topic, size, NULL)
            if topic_id is not NULL:
                put_uuid(text, topic_id)
                identifier = text_decode(<const char*>text, UUID_TEXT, NULL)
        made.append(use_of(use, name, identifier, kind))
    return made


cdef inline list uses_together(list request, list response, kind):
    """Request and response together, a partition once: kwire/protocol/topic_use.py, `used`."""
    cdef dict found
    cdef object use, known  # tuples of a class of their own
    if len(request) + len(response) <= 1:
        return request or response
    found = {use[:PLACE]: use for use in request}
    for use in response:
        known = found.get(use[:PLACE])
        if known is not None and not use[BYTES] and known[BYTES]:
            use = tuple_like(<PyTypeObject*>kind, known[:ERROR_CODE] + (use[ERROR_CODE],) + known[ERROR_CODE + 1:])
        found[use[:PLACE]] = use
    return list(found.values())
