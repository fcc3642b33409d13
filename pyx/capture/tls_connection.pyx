# cython: language_level=3, binding=False
"""Native backend of `kwire.capture.tls.connection.TlsConnection`: opens protected records, in their stream's memory.

Handshakes, alerts, losses and records that do not open are left to the pure class (`rules`), whose directions are those of this module.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free

from build_id cimport build_id
from wire.grown cimport grown
from wire.turns cimport Turn, one_at_a_time, turn_begin, turn_end, turn_leave, turn_share

from kwire.capture._native.tls_record_cipher cimport RecordCipher, cipher_with_keys, new_cipher
from kwire.capture._native.tls_records cimport RecordStream, RecordView, whole_record

from copy import copy

from kwire.capture.tls.connection import TlsConnection as PureConnection
from kwire.capture.tls.direction import Direction as PureDirection
from kwire.capture.tls.direction import Epoch as PureEpoch
from kwire.capture.tls.key_schedule import next_secret
from kwire.capture.tls.plaintext import Missing, Plain
from kwire.capture.tls.record_ciphers import Opened
from kwire.capture.tls.records import Record
from kwire.protocol.tls_handshake import Messages

__all__ = ["TlsConnection"]
__build__ = build_id()

cdef object new_tuple = tuple.__new__  # of a NamedTuple, without a call of Python

cdef enum:
    HANDSHAKE = 22
    APPLICATION = 23
    TLS_1_3 = 0x0304
    MOST_SKIPPED = 65536
    MOST_TRIED = 200000
    MOST_TRIED_BYTES = 268435456


include "capture/tls_directions.pxi"
include "capture/tls_pickles.pxi"


cdef object record_of(const RecordView* record):
    return new_tuple(Record, (
        record.kind, record.version, PyBytes_FromStringAndSize(<const char*>record.body, record.size),
        (record.first_ns, record.first_packet), (record.last_ns, record.last_packet), record.first_bytes, record.lost_before, 0,
    ))


@cython.freelist(64)
@cython.no_gc  # no cycle goes through it
cdef class TlsConnection:
    """One connection; attributes and methods are those of `kwire.capture.tls.connection.TlsConnection`."""

    def __cinit__(self):
        self.use_rules(PureConnection(), Direction(), Direction())

    cdef int use_rules(self, object rules, Direction first, Direction second) except -1:
        self.rules, self.first, self.second = rules, first, second
        rules._directions = (first, second)
        turn_share(&first.stream.turn, &self.turn)
        turn_share(&second.stream.turn, &self.turn)
        return self.follow_rules()

    cdef int follow_rules(self) except -1:
        self.version_number, self.subject = self.rules._version, self.rules.subject
        self.client = -1 if self.rules.client_side is None else self.rules.client_side
        return 0

    def __dealloc__(self):
        self.clear_pieces()
        free(self.pieces)
        turn_leave(self.turn)

    def __getattr__(self, name):
        cdef Turn* held
        turn_begin(&self.turn, self, &held)
        try:
            return getattr(self.rules, name)
        finally:
            turn_end(held)

    cdef Direction of(self, int side):
        return self.second if side else self.first

    cdef int take(self, object keys, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet) except -1:
        """TlsConnection.receive; the output is in `pieces`."""
        cdef RecordStream stream = self.of(side).stream
        cdef RecordView record
        cdef Py_ssize_t given
        if stream.is_at_border():
            # mostly a segment begins and ends with a record: these are read in place, and only the rest is copied
            record.first_ns = record.last_ns = time_ns
            record.first_packet = record.last_packet = packet
            record.end = given = 0
            try:
                while whole_record(data, size, &record):
                    given = record.end
                    self.take_record(keys, side, &record)
            finally:
                stream.pass_records(given)
            data += given
            size -= given
            if not size:
                return 0
        if not stream.add(data, size, time_ns, packet):
            return 0
        if stream.seeking:
            return self.add_outputs(self.rules.taken(keys, side))
        record.end = 0
        try:
            while stream.next_record(&record):
                self.take_record(keys, side, &record)
        finally:
            stream.drop_records(&record)
        return 0

    cdef int take_record(self, object keys, int side, const RecordView* record) except -1:
        """TlsConnection._record."""
        cdef Direction direction = self.of(side)
        cdef Py_ssize_t size
        cdef list out = []
        if record.kind != APPLICATION and not direction.encrypted:
            if record.kind == HANDSHAKE:
                return self.take_messages(keys, side, PyBytes_FromStringAndSize(<const char*>record.body, record.size), record)
            self.rules._record(keys, side, record_of(record), None, out)
            return self.add_outputs(out)
        if not direction.epochs:
            if not self.version_number and self.rules.hello is not None:  # its ServerHello is not in the capture
                self.rules._record(keys, side, record_of(record), None, out)
                return self.add_outputs(out)
        direction.protected += 1
        direction.largest = max(direction.largest, record.size)
        if not direction.opens(record.kind, record.version, record.body, record.size, record.lost_before):
            if direction.epochs:
                self.rules._not_opened(side, record_of(record), out)
                return self.add_outputs(out)
            direction.unopened += 1
            direction.opaque_bytes += record.size
            return 0
        if self.version_number < TLS_1_3:
            direction.encrypted = True
        direction.opened += 1
        direction.failures = 0
        if direction.padding is None:
            direction.padding = direction.shape.padding
        elif direction.padding != direction.shape.padding:
            direction.padding = -1
        size = direction.shape.size
        if direction.shape.kind == HANDSHAKE:
            return self.take_messages(keys, side, direction.plain[:size], record)
        if direction.shape.kind != APPLICATION:
            self.rules._content(keys, side, direction.shape.kind, direction.plain[:size], record_of(record), out)
            return self.add_outputs(out)
        if not size:
            return 0
        if direction.doubtful is not None or self.of(1 - side).doubtful is not None:
            self.rules._settle_doubt(side, out)
            self.add_outputs(out)
        direction.opened_bytes += size
        if 0 < record.first_bytes < size and (record.first_ns != record.last_ns or record.first_packet != record.last_packet):
            self.add_plain(side, direction.plain, 0, record.first_bytes, record.first_ns, record.first_packet)
            return self.add_plain(side, direction.plain, record.first_bytes, size, record.last_ns, record.last_packet)
        return self.add_plain(side, direction.plain, 0, size, record.last_ns, record.last_packet)

    cdef int take_messages(self, object keys, int side, bytes data, const RecordView* record) except -1:
        messages, mark = self.of(side).messages, (record.last_ns, record.last_packet)
        for number, message in messages.feed(data):
            self.rules._message(keys, side, number, message, mark)
        return self.follow_rules()

    cdef int miss_bytes(self, object keys, int side, int64_t count, int64_t time_ns, int64_t packet, bint cut) except -1:
        """TlsConnection.lose; the output is in `pieces`."""
        return self.add_outputs(self.rules.lose(keys, side, count, time_ns, packet, bool(cut)))

    cdef int finish(self, object keys) except -1:
        self.rules.end(keys)
        return self.follow_rules()

    cdef int begin_late(self, int side) except -1:
        self.rules.begins_late(side)
        return 0

    def receive(self, keys, side, bytes data, t, packet):
        self.take(keys, side, <const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet)
        return given_outputs(self)

    def lose(self, keys, side, count, t, packet, cut):
        self.miss_bytes(keys, side, count, t, packet, bool(cut))
        return given_outputs(self)

    def end(self, keys):
        self.finish(keys)

    def begins_late(self, side):
        self.begin_late(side)

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

    cdef int add_outputs(self, list outputs) except -1:
        """Take the outputs of a call of `rules`."""
        cdef bytes data
        for each in outputs:
            if type(each) is Missing:
                self.new_piece(each.side, -1 if each.size is None else each.size, 0, each.time, each.packet).cut = each.cut
            else:
                data = bytes(each.data)
                self.add_plain(each.side, data, 0, len(data), each.time, each.packet)
        return self.follow_rules()

    cdef void clear_pieces(self) noexcept:
        cdef Py_ssize_t index
        cdef Py_ssize_t count = self.piece_count
        self.piece_count = 0
        for index in range(count):
            Py_XDECREF(self.pieces[index].owner)

    def export_state(self):
        """Return the state as the pure backend has it; it has no secret of a key log."""
        made = copy(self.rules)
        made._directions = (plain_direction(self.first), plain_direction(self.second))
        return made

    @staticmethod
    def import_state(plain):
        cdef TlsConnection made = TlsConnection.__new__(TlsConnection)
        made.use_rules(copy(plain), direction_of_plain(plain._directions[0]), direction_of_plain(plain._directions[1]))
        return made


cdef Turn** turn_of_tls_connection(PyObject* self) noexcept:
    return &(<TlsConnection>self).turn


one_at_a_time(TlsConnection, turn_of_tls_connection)
