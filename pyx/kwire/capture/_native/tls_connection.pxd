"""C interface of pyx/capture/tls_connection.pyx: a TLS connection, fed without an object for each segment."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t

from wire.turns cimport Turn

from kwire.capture._native.tls_record_cipher cimport PlainShape, RecordCipher
from kwire.capture._native.tls_records cimport RecordStream, RecordView


cdef class Epoch:
    cdef readonly object kind, suite
    cdef readonly RecordCipher cipher
    cdef bytes following  # as `next_secret`; None before it is derived from `cipher.secret`
    cdef public int64_t sequence


cdef class Direction:
    # the attributes of kwire.capture.tls.direction.Direction
    cdef public RecordStream stream
    cdef public object messages
    cdef public list epochs
    cdef public bint encrypted, finished, stopped
    cdef public object padding, doubtful
    cdef public int64_t opened, unopened, opened_bytes, opaque_bytes, protected, largest, failures, tried, tried_bytes
    # the plaintext of the latest record, at the beginning of `plain`
    cdef bytes plain
    cdef PlainShape shape

    cdef bint opens(self, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1
    cdef bint opens_in(self, Epoch epoch, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1


cdef struct PlainPiece:
    # output of a connection: kwire.capture.tls.plaintext.Plain, or Missing if there is no owner
    PyObject* owner  # bytes
    int side
    bint cut
    int64_t begin, end  # in the owner; `begin` is the size of what is missing, -1 for None
    int64_t time_ns, packet


cdef class TlsConnection:
    cdef Turn* turn  # see wire/turns.pxd
    cdef PlainPiece* pieces  # until the caller clears them
    cdef Py_ssize_t piece_count, piece_room
    cdef object rules  # kwire.capture.tls.connection.TlsConnection, with the directions below
    cdef Direction first, second
    # copies of attributes of `rules`
    cdef int version_number
    cdef int client  # `client_side`, -1 for None
    cdef object subject

    cdef Direction of(self, int side)
    cdef int use_rules(self, object rules, Direction first, Direction second) except -1
    cdef int follow_rules(self) except -1
    cdef int finish(self, object keys) except -1
    cdef int take(self, object keys, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet) except -1
    cdef int take_record(self, object keys, int side, const RecordView* record) except -1
    cdef int take_messages(self, object keys, int side, bytes data, const RecordView* record) except -1
    cdef int miss_bytes(self, object keys, int side, int64_t count, int64_t time_ns, int64_t packet, bint cut) except -1
    cdef int begin_late(self, int side) except -1
    cdef PlainPiece* new_piece(self, int side, int64_t begin, int64_t end, int64_t time_ns, int64_t packet) except NULL
    cdef int add_plain(self, int side, bytes owner, int64_t begin, int64_t end, int64_t time_ns, int64_t packet) except -1
    cdef int add_outputs(self, list outputs) except -1
    cdef void clear_pieces(self) noexcept
