"""What pyx/capture/tls_connection.pyx offers to other compiled modules: a TLS connection, fed without an object for each segment."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t

from kwire.capture._native.tls_record_cipher cimport PlainShape, RecordCipher
from kwire.capture._native.tls_records cimport RecordStream, RecordView

cdef enum EpochKind:
    EARLY = 0
    HANDSHAKE_KEYS = 1
    DATA = 2


from wire.turns cimport Turn

cdef class Epoch:
    cdef EpochKind kind
    cdef object suite
    cdef RecordCipher cipher
    cdef bytes following  # as `Epoch.next_secret`; None before it is derived of `cipher.secret`
    cdef int64_t sequence

    cdef bytes next_secret(self)


cdef class Direction:
    cdef readonly RecordStream stream
    cdef list epochs
    cdef bytes pending  # of a handshake message that is not whole
    cdef readonly bint encrypted, finished
    cdef bint stopped, is_doubtful
    cdef int64_t doubtful_ns, doubtful_packet
    cdef int64_t padding  # -2 for None
    cdef readonly int64_t opened, unopened, opened_bytes, opaque_bytes, protected, largest
    cdef int64_t failures, tried, tried_bytes
    # the plaintext of the record that was opened last, at the beginning of `plain`
    cdef bytes plain
    cdef PlainShape shape

    cdef bint opens(self, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1
    cdef bint opens_in(self, Epoch epoch, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1
    cdef bint deciphers(self, Epoch epoch, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size) except -1
    cdef int drop_epoch(self, EpochKind kind) except -1


cdef class ClientHelloView:
    cdef bytes message  # None for one that comes out of a state
    cdef object whole  # kwire.protocol.tls_handshake.ClientHello, None before it is asked for
    cdef bytes random, session_id, marks
    cdef list tickets
    cdef object server_name
    cdef bint early_data, is_whole

    cdef tuple both_fingerprints(self)


cdef struct PlainPiece:
    # what comes out of a connection: kwire.capture.tls.plaintext.Plain, or Missing where there is no owner
    PyObject* owner  # bytes
    int side
    bint cut
    int64_t begin, end  # in the owner; `begin` is the size of what is missing, -1 for None
    int64_t time_ns, packet


cdef class TlsConnection:
    cdef Turn* turn  # see wire/turns.pxd
    cdef PlainPiece* pieces  # until who takes them clears them
    cdef Py_ssize_t piece_count, piece_room
    cdef tuple directions
    cdef int version_number
    cdef object suite
    cdef list transcript  # messages, None for what is not known or not needed
    cdef Py_ssize_t transcript_bytes
    cdef object session
    cdef bint saw_certificate, completed
    cdef int64_t[2] tried_late
    cdef bint has_found
    cdef int client  # `client_side`, -1 for None
    cdef ClientHelloView client_hello
    cdef readonly object server, version, cipher, alpn, subject
    cdef readonly list certificate_faults
    cdef list read_alerts  # of those that could be read: side, bytes, time, packet
    cdef readonly bint resumed, retried, renegotiated, lost
    cdef bint has_keys
    cdef readonly int64_t unverified_bytes

    cdef Direction of(self, int side)
    cdef int finish(self, object keys) except -1
    cdef int take(self, object keys, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet) except -1
    cdef int take_records(self, object keys, int side, Direction direction) except -1
    cdef int miss_bytes(self, object keys, int side, int64_t count, int64_t time_ns, int64_t packet, bint cut) except -1
    cdef int begin_late(self, int side) except -1
    cdef PlainPiece* new_piece(self, int side, int64_t begin, int64_t end, int64_t time_ns, int64_t packet) except NULL
    cdef int add_plain(self, int side, bytes owner, int64_t begin, int64_t end, int64_t time_ns, int64_t packet) except -1
    cdef void clear_pieces(self) noexcept
    cdef int miss(self, int side, Direction direction, int64_t count, bint cut, int64_t time_ns, int64_t packet) except -1
    cdef int settle_doubt(self, int side) except -1
    cdef bint is_completed(self, int side) except -1
    cdef bint shows_no_fault(self) except -1
    # properties, for the row of a connection
    cdef object version_to_show(self)
    cdef tuple both_fingerprints(self)
    cdef object use_of_keys(self)
    cdef int64_t count_decrypted(self) except -1
    cdef int64_t count_opaque(self) except -1
