"""Declarations of pyx/proxy/tls_session.pyx for the loop: TLS of one socket, from bytes to bytes, without the GIL."""

from libc.stdint cimport uint8_t

from wire.cursor cimport Bytes

cdef enum:
    RECORD = 16 << 10  # bytes that one record holds

# What sessions of one thread made and no socket was given yet.
cdef struct Sealed:
    uint8_t* bytes
    Py_ssize_t size
    Py_ssize_t room
    uint8_t[16 << 10] gathered  # small pieces that become one record

cdef struct TlsSession:
    void* ssl
    Sealed* out
    Bytes came  # records that are not read yet, for the time of one call
    Py_ssize_t came_size
    uint8_t* early  # records that came with the end of the handshake
    Py_ssize_t early_size
    bint is_shaken
    bint has_closed  # the peer sends no more


cdef class TlsContext:
    cdef void* context
    cdef bint is_server
    cdef object knows  # whether a listener has a name; None for any

    cdef TlsSession* session(self, Sealed* out, str host) except NULL


cdef void tls_free(TlsSession* session) noexcept nogil
cdef int tls_shake(TlsSession* session, Bytes data, Py_ssize_t size) noexcept nogil
cdef Py_ssize_t tls_open(TlsSession* session, Bytes data, Py_ssize_t size, uint8_t* into, Py_ssize_t room) noexcept nogil
cdef bint tls_seal(TlsSession* session, Bytes data, Py_ssize_t size) noexcept nogil
cdef void tls_end(TlsSession* session) noexcept nogil
cdef str tls_name(TlsSession* session)
cdef str tls_failure(TlsSession* session)
cdef bytes tls_certificate(TlsSession* session)
