# cython: language_level=3, binding=False
"""Native backend of `kwire.capture.tls.connection.TlsConnection`.

Records are opened where they lie in the stream of their direction, and handshake messages are read without objects.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from build_id cimport build_id
from wire.grown cimport grown
from wire.turns cimport Turn, one_at_a_time, turn_leave, turn_share

from kwire.capture._native.tls_record_cipher cimport RecordCipher, cipher_with_keys, new_cipher
from kwire.capture._native.tls_records cimport RecordStream, RecordView, whole_record

import hashlib

from kwire.capture.tls.alerts import alert_bytes, read_alert
from kwire.capture.tls.certificates import read_certificate
from kwire.capture.tls.cipher_suites import SUITES, suite_name
from kwire.capture.tls.connection import TlsConnection as PureConnection
from kwire.capture.tls.direction import Direction as PureDirection
from kwire.capture.tls.direction import Epoch as PureEpoch
from kwire.capture.tls.key_schedule import Keys, keys_12, master_secret
from kwire.capture.tls.key_schedule import next_secret as following_secret
from kwire.capture.tls.plaintext import Missing, Plain
from kwire.capture.tls.session_keys import MOST_SESSIONS as PURE_MOST_SESSIONS
from kwire.capture.tls.session_keys import Session, session_key
from kwire.protocol.tls_fingerprints import ja3, ja4
from kwire.protocol.tls_handshake import (
    VERSION_NAMES, ServerHello, chosen_alpn, first_certificate, premaster_name, read_client_hello, read_server_hello, read_ticket,
)

__all__ = ["TlsConnection"]
__build__ = build_id()

cdef enum:
    CHANGE_CIPHER = 20
    ALERT = 21
    HANDSHAKE = 22
    APPLICATION = 23
    CLIENT_HELLO = 1
    SERVER_HELLO = 2
    NEW_SESSION_TICKET = 4
    END_OF_EARLY_DATA = 5
    ENCRYPTED_EXTENSIONS = 8
    CERTIFICATE = 11
    CLIENT_KEY_EXCHANGE = 16
    FINISHED = 20
    KEY_UPDATE = 24
    TLS_1_2 = 0x0303
    TLS_1_3 = 0x0304
    MOST_MESSAGE = 131072
    MOST_TRANSCRIPT = 131072
    MOST_FAILURES = 64
    MOST_SKIPPED = 65536
    MOST_TRIED = 200000
    MOST_TRIED_BYTES = 268435456
    LATE_RECORDS = 64
    MOST_ALERTS = 8
    MOST_FAULTS = 4
    LEAST_FINISHED = 53  # 4 + 32 + 1 + 16

cdef Py_ssize_t MOST_SESSIONS = PURE_MOST_SESSIONS
cdef object new_tuple = tuple.__new__  # of a NamedTuple, without the call of Python that its class is
cdef object KNOWN_MESSAGES = frozenset((0, 1, 2, 4, 5, 8, 11, 12, 13, 14, 15, 16, 20, 22, 24))


include "capture/tls_hellos.pxi"
include "capture/tls_directions.pxi"
include "capture/tls_pickles.pxi"


@cython.freelist(64)
@cython.no_gc  # no cycle goes through it
cdef class TlsConnection:
    """One connection; attributes and methods are those of `kwire.capture.tls.connection.TlsConnection`."""

    def __cinit__(self):
        self.directions = (Direction(), Direction())
        turn_share(&self.of(0).stream.turn, &self.turn)
        turn_share(&self.of(1).stream.turn, &self.turn)
        self.transcript = []
        self.certificate_faults, self.read_alerts = [], []
        self.client = -1

    def __dealloc__(self):
        self.clear_pieces()
        free(self.pieces)
        turn_leave(self.turn)

    # What the layer below says.

    cdef Direction of(self, int side):
        return <Direction>self.directions[side]

    cdef int take(self, object keys, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet) except -1:
        """TlsConnection.receive; what comes out is in `pieces`."""
        cdef Direction direction = self.of(side)
        cdef RecordStream stream = direction.stream
        cdef RecordView record
        cdef Py_ssize_t given
        if not stream.is_at_border():
            return self.take_records(keys, side, direction) if stream.add(data, size, time_ns, packet) else 0
        # mostly a segment begins and ends with a record: these are read where they lie, and only what is left over is kept
        record.first_ns = record.last_ns = time_ns
        record.first_packet = record.last_packet = packet
        record.end = given = 0
        try:
            while whole_record(data, size, &record):
                given = record.end
                take_record(self, keys, side, direction, &record)
        finally:
            stream.pass_records(given)
        if size > given and stream.add(data + given, size - given, time_ns, packet):
            return self.take_records(keys, side, direction)
        return 0

    def receive(self, keys, side, bytes data, t, packet):
        self.take(keys, side, <const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet)
        return given_outputs(self)

    def lose(self, keys, side, count, t, packet, cut):
        self.miss_bytes(keys, side, count, t, packet, bool(cut))
        return given_outputs(self)

    def end(self, keys):
        self.finish(keys)

    cdef int finish(self, object keys) except -1:
        cdef int side
        cdef Direction direction
        for side in range(2):
            direction = self.directions[side]
            broken = direction.stream.unfinished() if direction.stream.size else None
            if broken is not None and broken.kind == HANDSHAKE and not direction.encrypted:
                take_broken_hello(self, keys, side, direction, broken)
        return 0

    def begins_late(self, side):
        self.begin_late(side)

    cdef int take_records(self, object keys, int side, Direction direction) except -1:
        cdef RecordStream stream = direction.stream
        cdef RecordView record
        cdef _Accepts accepts
        if stream.seeking:
            accepts = _Accepts.__new__(_Accepts)
            accepts.tls, accepts.direction = self, direction
            sought = stream.sought(accepts)
            if sought is None:
                return 0
            body = sought.body
            record.kind, record.version = sought.kind, sought.version
            record.body, record.size = <const uint8_t*>PyBytes_AS_STRING(body), PyBytes_GET_SIZE(body)
            record.first_ns, record.first_packet = sought.first
            record.last_ns, record.last_packet = sought.last
            record.first_bytes, record.lost_before = sought.first_bytes, sought.lost_before
            take_record(self, keys, side, direction, &record)
        record.end = 0
        try:
            while stream.next_record(&record):
                take_record(self, keys, side, direction, &record)
        finally:
            stream.drop_records(&record)
        return 0

    cdef int miss_bytes(self, object keys, int side, int64_t count, int64_t time_ns, int64_t packet, bint cut) except -1:
        """TlsConnection.lose; what comes out is in `pieces`."""
        cdef Direction direction = self.of(side)
        self.lost = self.lost or not cut
        if not self.is_completed(side):
            direction.pending = b""
            self.transcript = None
        broken = direction.stream.lose(count, time_ns, packet, bool(cut))
        if broken is not None:
            take_broken(self, keys, side, direction, broken)
        if direction.stream.seeking:
            if not direction.epochs:
                direction.stream.give_up()
            self.miss(side, direction, -1, cut, time_ns, packet)
        return 0

    cdef int begin_late(self, int side) except -1:
        cdef Direction direction = self.of(side)
        direction.stream.seeking = self.lost = True
        if not direction.is_doubtful:
            direction.is_doubtful, direction.doubtful_ns, direction.doubtful_packet = True, 0, 0
        return 0

    cdef PlainPiece* new_piece(self, int side, int64_t begin, int64_t end, int64_t time_ns, int64_t packet) except NULL:
        cdef PlainPiece* made
        cdef PlainPiece* pieces = <PlainPiece*>grown(self.pieces, &self.piece_room, self.piece_count + 1, 4, sizeof(PlainPiece))
        if pieces is NULL:
            raise MemoryError
        self.pieces = pieces
        made = &pieces[self.piece_count]
        self.piece_count += 1
        made.owner, made.side, made.begin, made.end, made.cut = NULL, side, begin, end, False
        made.time_ns, made.packet = time_ns, packet
        return made

    cdef int add_plain(self, int side, bytes owner, int64_t begin, int64_t end, int64_t time_ns, int64_t packet) except -1:
        cdef PlainPiece* made = self.new_piece(side, begin, end, time_ns, packet)
        Py_INCREF(owner)
        made.owner = <PyObject*>owner
        return 0

    cdef void clear_pieces(self) noexcept:
        cdef Py_ssize_t index
        cdef Py_ssize_t count = self.piece_count
        self.piece_count = 0
        for index in range(count):
            Py_XDECREF(self.pieces[index].owner)

    cdef int miss(self, int side, Direction direction, int64_t count, bint cut, int64_t time_ns, int64_t packet) except -1:
        """Plaintext is missing, -1 for an unknown number of bytes."""
        if direction.opened_bytes:
            self.new_piece(side, count, 0, time_ns, packet).cut = cut
        elif not direction.is_doubtful:
            direction.is_doubtful, direction.doubtful_ns, direction.doubtful_packet = True, time_ns, packet
        return 0

    cdef int settle_doubt(self, int side) except -1:
        """The first plaintext behind a loss is there: was there any before it?"""
        cdef Direction own = self.of(side)
        cdef Direction other = self.of(1 - side)
        cdef Epoch epoch
        cdef bint is_first = False
        if own.is_doubtful:
            if self.version_number >= TLS_1_3 and own.epochs:
                epoch = own.epochs[0]
                is_first = epoch.kind == DATA and epoch.sequence == 1
            if not is_first:
                self.new_piece(side, -1, 0, own.doubtful_ns, own.doubtful_packet)
            own.is_doubtful = False
        # a server answers what it was asked, and behind its first request a client may have been answered
        if self.client >= 0 and other.is_doubtful and (side != self.client or own.opened_bytes):
            self.new_piece(1 - side, -1, 0, other.doubtful_ns, other.doubtful_packet)
            other.is_doubtful = False
        return 0

    cdef bint is_completed(self, int side) except -1:
        cdef Direction direction = self.of(side)
        return direction.finished or bool(direction.epochs and (<Epoch>direction.epochs[0]).kind == DATA and direction.opened)

    # What is known: the attributes and properties of kwire.capture.tls.connection.TlsConnection.

    @property
    def hello(self):
        return None if self.client_hello is None else self.client_hello.plain

    @property
    def client_side(self):
        return None if self.client < 0 else self.client

    @property
    def alerts(self):
        return [read_alert(*alert) for alert in self.read_alerts]

    @property
    def is_13(self):
        return self.version_number >= TLS_1_3

    @property
    def key_use(self):
        return "found" if self.has_keys else "none"

    @property
    def shown_version(self):
        return self.version_to_show()

    cdef object version_to_show(self):
        if self.version is not None or self.client_hello is None:
            return self.version
        return VERSION_NAMES.get(self.client_hello.plain.highest_version)

    @property
    def server_name(self):
        return None if self.client_hello is None else self.client_hello.server_name

    @property
    def fingerprints(self):
        return self.both_fingerprints()

    cdef tuple both_fingerprints(self):
        return (None, None) if self.client_hello is None else self.client_hello.both_fingerprints()

    @property
    def is_flawless(self):
        return self.shows_no_fault()

    cdef bint shows_no_fault(self) except -1:
        cdef Direction first = self.of(0)
        cdef Direction second = self.of(1)
        if self.version_number < TLS_1_2 or len(self.certificate_faults) or self.renegotiated or self.unverified_bytes:
            return False
        if first.opened_bytes or second.opened_bytes:
            return True
        if len(self.read_alerts) or self.server is None or self.client < 0:
            return False
        if self.has_keys and not first.opened and not second.opened and (first.protected or second.protected):
            return False
        if self.version_number >= TLS_1_3:
            return self.of(self.client).largest >= LEAST_FINISHED
        return first.encrypted and second.encrypted

    def direction(self, side):
        return self.directions[side]

    @property
    def decrypted(self):
        return self.use_of_keys()

    cdef object use_of_keys(self):
        cdef Direction first = self.of(0)
        cdef Direction second = self.of(1)
        if first.opened or second.opened:
            return "partly" if first.unopened or second.unopened or first.stream.opaque or second.stream.opaque else "yes"
        if not first.protected and not second.protected:
            return None
        return "failed" if self.has_keys else "no_keys"

    @property
    def decrypted_bytes(self):
        return self.count_decrypted()

    cdef int64_t count_decrypted(self) except -1:
        return self.of(0).opened_bytes + self.of(1).opened_bytes

    @property
    def opaque_bytes(self):
        return self.count_opaque()

    cdef int64_t count_opaque(self) except -1:
        cdef Direction first = self.of(0)
        cdef Direction second = self.of(1)
        return first.opaque_bytes + second.opaque_bytes + first.stream.opaque + second.stream.opaque

    def export_state(self):
        """As the pure twin has it; no secret of a key log is in it."""
        return plain_connection(self)

    @staticmethod
    def import_state(plain):
        return connection_of_plain(plain)


include "capture/tls_contents.pxi"
include "capture/tls_messages.pxi"
include "capture/tls_keys.pxi"


cdef Turn** turn_of_tls_connection(PyObject* self) noexcept:
    return &(<TlsConnection>self).turn


one_at_a_time(TlsConnection, turn_of_tls_connection)
