"""The client ids that a connection used last, known by their bytes: who has such an id needs no text, and its requests are counted here.

Python has seen each of them first, and has said what there is to say about it.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcmp

from raw_python cimport raw_error_clear, raw_incref, raw_xdecref

cdef extern from "Python.h":
    const char* utf8_of "PyUnicode_AsUTF8AndSize"(PyObject* text, Py_ssize_t* size) noexcept

cdef enum:
    MOST_KNOWN = 8

cdef struct KnownClient:
    PyObject* text  # owned; NULL for none
    const char* data  # its UTF-8, which it owns
    Py_ssize_t size
    int64_t count  # requests that are not counted at home yet

cdef struct KnownClients:
    KnownClient[MOST_KNOWN] clients
    int next  # the one that makes room


cdef inline int client_find(const KnownClients* known, const char* data, Py_ssize_t size) noexcept nogil:
    """Index of a client id, -1 for one that is not known."""
    cdef int index
    for index in range(MOST_KNOWN):
        if known.clients[index].text is not NULL and known.clients[index].size == size:
            if memcmp(known.clients[index].data, data, size) == 0:
                return index
    return -1


cdef inline void client_know(KnownClients* known, text, Py_ssize_t longest) noexcept:
    """Know a client id from now on, unless it is None, longer than `longest` characters or no text that has a UTF-8 form.

    All counts must be home, for one that is known longest may make room for it.
    """
    cdef KnownClient* client
    cdef const char* data
    cdef Py_ssize_t size
    if text is None or len(<str>text) > longest:
        return
    data = utf8_of(<PyObject*>text, &size)
    if data is NULL:
        raw_error_clear()
        return
    if client_find(known, data, size) >= 0:
        return
    client = &known.clients[known.next]
    raw_incref(<PyObject*>text)
    raw_xdecref(client.text)
    client.text, client.data, client.size, client.count = <PyObject*>text, data, size, 0
    known.next = (known.next + 1) % MOST_KNOWN


cdef inline int clients_settle(KnownClients* known, identity) except -1:
    """Count all requests at home, in a `kwire.protocol.identity.ClientIdentity`; the empty client id is not counted."""
    cdef int index
    cdef KnownClient* client
    for index in range(MOST_KNOWN):
        client = &known.clients[index]
        if client.count and client.size:
            identity.count_client_id(<object>client.text, client.count)
        client.count = 0
    return 0


cdef inline void clients_free(KnownClients* known) noexcept:
    cdef int index
    for index in range(MOST_KNOWN):
        raw_xdecref(known.clients[index].text)
        known.clients[index].text = NULL
