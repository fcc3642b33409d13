"""The streams of a series without a Python object per packet: the twin of kwire/capture/carry.py for who makes rows of them.

Each connection has a slot. While nothing unusual happens its TCP is a C struct (lane_tcp); a packet that does something else makes it a
`TcpConnection`, which Python's own rules carry on (`SeriesCarry.take_closely`) until nothing waits in it any more. So what is here is only
what an undisturbed connection does, and everything else is the same code as in the pure twin.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from lane_rows cimport RequestRow, RequestRows, rows_free
from lane_slots cimport IN_PYTHON, STREAMS_ONLY, Slot, SlotList, slot_append, slot_remove
from lane_tcp cimport (
    ACK, RST, SYN, TCP_CLOSED, TCP_DATA, TCP_ODD, TCP_RESET, Packet, syn_is_next, tcp_begin, tcp_export, tcp_import, tcp_in_order, tcp_take,
)
from lane_texts cimport TextTable, text_of, texts_compact, texts_free, texts_mark, texts_open, texts_renamed
from raw_python cimport raw_incref
from request_batch cimport (
    PACKET_BITS, int_field, long_field, named_column, narrow_field, numbers_by, numbers_of, row_of_event, text_field,
)

import os

import pyarrow as pa
import pyarrow.compute as pc

from kwire.capture import carry as _carry
from kwire.capture.carry import SeriesCarry
from kwire.capture.tcp import Segment, TcpConnection
from kwire.schema import catalog, error_name
from kwire.tables.column_builder import BATCH_ROWS
from kwire.tables.schemas import REQUESTS, TIME

__all__ = ["BulkCarry", "RequestBatches"]

cdef int64_t LINGER_NS = _carry.LINGER_NS
cdef int64_t UNANSWERED_NS = _carry.UNANSWERED_NS
cdef Py_ssize_t SWEEP_PACKETS = _carry.SWEEP_PACKETS

cdef object PACKET_MASK = (<int64_t>1 << PACKET_BITS) - 1
cdef tuple STATES = ("answered", "no_response_expected", "unanswered", "orphan_response")  # RowState
cdef tuple BODIES = ("decoded", "truncated", "malformed", "unsupported", "skipped")  # RowBody


cdef class RequestBatches:
    """Rows of `requests` as C structs until there are enough of them for a record batch.

    Arguments:
        series: name of the series.
        files: names of its files so far; the owner goes on filling the list.
    """

    cdef RequestRows rows
    cdef TextTable texts
    cdef TextTable places  # ids of the connections that the rows name
    cdef readonly int epoch  # counts the batches: a number in `places` is good for one
    cdef Py_ssize_t batch_rows
    cdef object series
    cdef list files
    cdef list batches

    def __cinit__(self, series, files, batch_rows=BATCH_ROWS):
        seed = int.from_bytes(os.urandom(8), "little")
        texts_open(&self.texts, seed)
        texts_open(&self.places, seed)
        self.series = series
        self.files = files
        self.batch_rows = batch_rows
        self.batches = []
        self.epoch = 1

    def __dealloc__(self):
        rows_free(&self.rows)
        texts_free(&self.texts)
        texts_free(&self.places)

    def add(self, connection_id, event):
        """Append the row of a `RequestCompleted`; its packet number has the number of the file in its upper bits."""
        row_of_event(&self.rows, &self.texts, text_of(&self.places, connection_id), event, STATES, BODIES)
        if self.rows.count >= self.batch_rows:
            self.flush()

    def take(self, *, whole):
        """Give away the full batches, and with `whole` the rows of the one that is begun too."""
        if whole:
            self.flush()
        batches, self.batches = self.batches, []
        return batches

    cdef int flush(self) except -1:
        if self.rows.count:
            self.add_batches(0, self.rows.count)
            self.rows.count = 0
            self.epoch += 1
            texts_mark(&self.places)
            texts_compact(&self.places)
            texts_renamed(&self.places)
        return 0

    cdef int add_batches(self, Py_ssize_t start, Py_ssize_t count) except -1:
        """A batch of these rows, or several where their texts are too much for one."""
        try:
            self.batches.append(self.batch_of(self.rows.rows + start, count))
        except OverflowError:
            self.add_batches(start, count // 2)
            self.add_batches(start + count // 2, count - count // 2)
        return 0

    cdef object batch_of(self, const RequestRow* row, Py_ssize_t count):
        cdef TextTable names
        cdef TextTable* texts = &self.texts
        cdef const char* state = <const char*>&row.state
        cdef const char* body = <const char*>&row.body
        cdef const char* packet = <const char*>&row.packet
        cdef const char* api_key = <const char*>&row.api_key
        cdef const char* error_code = <const char*>&row.error_code
        long = pa.int64()
        texts_open(&names, 0)  # none of them comes from the wire
        try:
            columns = {
                "series": named_column(pa, numbers_by(packet, count, 63, True, &names, lambda _: self.series), count, &names),
                "capture": named_column(
                    pa, numbers_by(packet, count, PACKET_BITS, True, &names, self.files.__getitem__), count, &names
                ),
                "connection_id": text_field(pa, row, &row.connection, count, &self.places),
                "request_index": long_field(pa, long, &row.request_index, count),
                "api_key": int_field(pa, &row.api_key, count),
                "api_name": named_column(pa, numbers_by(api_key, count, 0, False, &names, catalog().api_name), count, &names),
                "api_version": int_field(pa, &row.api_version, count),
                "header_version": int_field(pa, &row.header_version, count),
                "correlation_id": narrow_field(pa, &row.correlation_id, count),
                "client_id": text_field(pa, row, &row.client_id, count, texts),
                "client_instance_id": text_field(pa, row, &row.client_instance_id, count, texts),
                "software_name": text_field(pa, row, &row.software_name, count, texts),
                "software_version": text_field(pa, row, &row.software_version, count, texts),
                "principal": text_field(pa, row, &row.principal, count, texts),
                "request_time": long_field(pa, TIME, &row.request_us, count),
                "response_time": long_field(pa, TIME, &row.response_us, count),
                "latency_us": long_field(pa, long, &row.latency_us, count),
                "request_bytes": long_field(pa, long, &row.request_bytes, count),
                "response_bytes": long_field(pa, long, &row.response_bytes, count),
                "error_code": int_field(pa, &row.error_code, count),
                "error_name": named_column(pa, numbers_by(error_code, count, 0, False, &names, error_name), count, &names),
                "throttle_time_ms": narrow_field(pa, &row.throttle_time_ms, count),
                "acks": int_field(pa, &row.acks, count),
                "first_topic": text_field(pa, row, &row.first_topic, count, texts),
                "topic_count": int_field(pa, &row.topic_count, count),
                "group_id": text_field(pa, row, &row.group_id, count, texts),
                "transactional_id": text_field(pa, row, &row.transactional_id, count, texts),
                "state": named_column(pa, numbers_of(state, count, &names, STATES), count, &names),
                "body": named_column(pa, numbers_of(body, count, &names, BODIES), count, &names),
                "packet_number": long_field(pa, long, &row.packet, count),
                "stream_offset": long_field(pa, long, &row.stream_offset, count),
            }
        finally:
            texts_free(&names)
        columns["packet_number"] = pc.bit_wise_and(columns["packet_number"], PACKET_MASK)
        nothing = pa.nulls(count)
        arrays = [
            columns[field.name] if field.name in columns else nothing.cast(field.type) for field in REQUESTS
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=REQUESTS)


cdef class BulkCarry:
    """Connections of a series between two pieces; pickles as a `SeriesCarry` does, and to one.

    Arguments:
        carry: what an earlier process left, of either twin.
    """

    cdef SlotList slots
    cdef dict numbers  # key -> address of its slot
    cdef object carry  # the connections that are in Python, and what the series knows of all
    cdef int64_t latest_ns
    cdef Py_ssize_t packets
    cdef readonly Py_ssize_t packets_in_python

    def __init__(self, carry=None):
        self.numbers = {}
        self.carry = SeriesCarry() if carry is None else carry
        self.latest_ns = self.carry.latest_ns
        self.packets = self.carry.packets
        for connection in list(self.carry.live.values()):
            self.adopt(connection)

    def __dealloc__(self):
        while self.slots.first is not NULL:
            slot_remove(&self.slots, self.slots.first)

    def __reduce__(self):
        from kwire.tables.impl import series_streams

        made = SeriesCarry()
        made.lives, made.strays = self.carry.lives, self.carry.strays
        made.packets, made.latest_ns, made.scan = self.packets, self.latest_ns, self.carry.scan
        made.live = {connection.key: connection for connection in self.connections()}
        return series_streams, (made,)

    def connections(self):
        """The connections that are open or linger, in the order in which they began."""
        found = []
        cdef Slot* slot = self.slots.first
        while slot is not NULL:
            found.append(self.connection_of(slot))
            slot = slot.after
        return found

    @property
    def scan(self):
        return self.carry.scan

    @property
    def lives(self):
        return self.carry.lives

    @property
    def strays(self):
        return self.carry.strays

    # slots

    cdef Slot* add_slot(self, object key) except NULL:
        cdef Slot* slot = slot_append(&self.slots)
        if slot is NULL:
            raise MemoryError
        raw_incref(<PyObject*>key)
        slot.key = <PyObject*>key
        self.numbers[key] = <size_t>slot
        return slot

    cdef Slot* find_slot(self, object key) except? NULL:
        cdef PyObject* found = PyDict_GetItem(self.numbers, key)
        return NULL if found is NULL else <Slot*><size_t><object>found

    cdef int drop_slot(self, Slot* slot) except -1:
        del self.numbers[<object>slot.key]
        slot_remove(&self.slots, slot)
        return 0

    cdef object connection_of(self, Slot* slot):
        """The connection as Python sees it, as it is now."""
        if slot.connection is NULL:
            made = TcpConnection(<object>slot.key, slot.n, slot.tcp.first_ns)
            made.ignored = bool(slot.ignored)
            raw_incref(<PyObject*>made)
            slot.connection = <PyObject*>made
        if slot.mode != IN_PYTHON:
            tcp_export(&slot.tcp, <object>slot.connection)
        return <object>slot.connection

    cdef int adopt(self, object connection) except -1:
        """Take over a connection that the SeriesCarry began."""
        cdef Slot* slot = self.add_slot(connection.key)
        raw_incref(<PyObject*>connection)
        slot.connection = <PyObject*>connection
        slot.n = connection.n
        slot.ignored = connection.ignored
        self.admit(slot)
        return 0

    cdef int admit(self, Slot* slot) except -1:
        """Go on without Python, unless something waits there."""
        if tcp_import(&slot.tcp, <object>slot.connection):
            slot.mode = STREAMS_ONLY
            del self.carry.live[<object>slot.key]
        return 0

    # packets

    def take(self, bytes data, columns, sink):
        """Bring the packets of one chunk to their connections; arguments as for `SeriesCarry.take`."""
        cdef const int64_t[::1] number = columns.number
        cdef const int64_t[::1] time_ns = columns.time_ns
        cdef const int32_t[::1] key = columns.key
        cdef const int8_t[::1] direction = columns.direction
        cdef const uint32_t[::1] seq = columns.seq
        cdef const uint32_t[::1] ack = columns.ack
        cdef const int16_t[::1] flags = columns.flags
        cdef const int64_t[::1] offset = columns.offset
        cdef const int32_t[::1] captured = columns.captured
        cdef const int32_t[::1] original = columns.original
        cdef const uint32_t[::1] signature = columns.signature
        cdef list keys = columns.keys
        cdef Py_ssize_t count = number.shape[0]
        cdef Py_ssize_t until_sweep = SWEEP_PACKETS - self.packets % SWEEP_PACKETS
        cdef Py_ssize_t row
        cdef Slot* slot
        cdef Packet packet
        cdef Slot** known = <Slot**>calloc(len(keys) + 1, sizeof(Slot*))  # by key; NULL: look
        if known is NULL:
            raise MemoryError
        try:
            for row in range(count):
                packet.number, packet.time_ns = number[row], time_ns[row]
                packet.seq, packet.ack, packet.signature = seq[row], ack[row], signature[row]
                packet.flags, packet.direction = flags[row], direction[row]
                packet.captured, packet.original = captured[row], original[row]
                if packet.time_ns > self.latest_ns:
                    self.latest_ns = packet.time_ns
                slot = known[key[row]]
                if slot is NULL:
                    slot = known[key[row]] = self.find_slot(keys[key[row]])
                if slot is not NULL and slot.mode != IN_PYTHON and tcp_in_order(&slot.tcp, &packet):
                    if packet.captured and not slot.ignored:
                        self.deliver(slot, &packet, data, offset[row], sink)
                else:
                    known[key[row]] = self.take_closely(slot, keys[key[row]], &packet, data, offset[row], sink)
                until_sweep -= 1
                if until_sweep == 0:
                    until_sweep = SWEEP_PACKETS
                    self.sweep(packet.number, sink)
                    memset(known, 0, len(keys) * sizeof(Slot*))
            self.packets += count
        finally:
            free(known)

    cdef Slot* take_closely(
        self, Slot* slot, object key, const Packet* packet, bytes data, int64_t offset, object sink
    ) except? NULL:
        """SeriesCarry.take_closely; gives the slot that the key has now."""
        cdef bint begins = packet.original > 0 and not packet.flags & RST
        if slot is not NULL and slot.mode == IN_PYTHON:
            return self.take_in_python(slot, key, packet, data, offset, sink)
        if slot is not NULL and packet.flags & SYN:
            if syn_is_next(&slot.tcp, packet):
                self.end(slot, packet.time_ns, packet.number, sink)
                slot = NULL
        elif slot is not NULL and slot.tcp.closed and packet.time_ns - slot.tcp.closed_ns > LINGER_NS:
            if not begins:
                self.carry.strays += 1
                return slot
            self.end(slot, packet.time_ns, packet.number, sink)
            slot = NULL
        elif slot is NULL and not begins and not packet.flags & SYN and key in self.carry.lives:
            self.carry.strays += 1
            return NULL
        if slot is NULL:
            slot = self.open(key, packet, sink)
        self.receive(slot, packet, data, offset, sink)
        return slot

    cdef Slot* open(self, object key, const Packet* packet, object sink) except NULL:
        """Begin a connection, as SeriesCarry does."""
        cdef Slot* slot = self.add_slot(key)
        cdef dict lives = self.carry.lives
        slot.mode = STREAMS_ONLY
        slot.n = lives.get(key, 0)
        lives[key] = slot.n + 1
        tcp_begin(&slot.tcp, packet.time_ns)
        if packet.flags & SYN:
            slot.tcp.opened_by = 1 - packet.direction if packet.flags & ACK else packet.direction
        connection = self.connection_of(slot)
        sink.opened(connection, packet.time_ns, packet.number)
        slot.ignored = connection.ignored
        return slot

    cdef int receive(self, Slot* slot, const Packet* packet, bytes data, int64_t offset, object sink) except -1:
        """TcpConnection.receive, here or there."""
        cdef int news = tcp_take(&slot.tcp, packet)
        if news == TCP_ODD:
            self.packets_in_python += 1
            connection = self.connection_of(slot)
            slot.mode = IN_PYTHON
            self.carry.live[<object>slot.key] = connection
            connection.receive(segment_of(packet, data, offset), sink)
            self.admit(slot)
            return 0
        if slot.ignored:
            return 0
        if news & TCP_DATA:
            self.deliver(slot, packet, data, offset, sink)
        if news & (TCP_CLOSED | TCP_RESET):
            sink.closed(<object>slot.connection, packet.direction, bool(news & TCP_RESET), packet.time_ns, packet.number)
        return 0

    cdef Slot* take_in_python(
        self, Slot* slot, object key, const Packet* packet, bytes data, int64_t offset, object sink
    ) except? NULL:
        """A packet of a connection that waits for something."""
        self.packets_in_python += 1
        self.carry.take_closely(key, segment_of(packet, data, offset), sink)
        connection = self.carry.live.get(key)
        if connection is <object>slot.connection:
            self.admit(slot)
            return slot
        self.drop_slot(slot)
        if connection is None:
            return NULL
        self.adopt(connection)
        return self.find_slot(key)

    cdef int deliver(self, Slot* slot, const Packet* packet, bytes data, int64_t offset, object sink) except -1:
        sink.data(<object>slot.connection, packet.direction, data[offset:offset + packet.captured], packet.time_ns, packet.number)
        return 0

    # ends

    def finish(self, sink):
        """End every connection: the series is over."""
        while self.slots.first is not NULL:
            if self.slots.first.mode == IN_PYTHON:
                self.end(self.slots.first, (<object>self.slots.first.connection).last_ns, 0, sink)
            else:
                self.end(self.slots.first, self.slots.first.tcp.last_ns, 0, sink)

    cdef int end(self, Slot* slot, int64_t time_ns, int64_t packet, object sink) except -1:
        """SeriesCarry.end."""
        connection = self.connection_of(slot)
        if slot.mode == IN_PYTHON:
            self.carry.end(connection, time_ns, packet, sink)
        else:
            sink.ended(connection)
        return self.drop_slot(slot)

    cdef int sweep(self, int64_t packet, object sink) except -1:
        """End the connections whose time is over."""
        cdef Slot* slot = self.slots.first
        cdef Slot* after
        self.carry.latest_ns = self.latest_ns
        while slot is not NULL:
            after = slot.after
            if slot.mode == IN_PYTHON:
                self.carry.look_after(<object>slot.connection, packet, sink)
                if <object>slot.key not in self.carry.live:
                    self.drop_slot(slot)
                else:
                    self.admit(slot)
            elif (slot.tcp.closed and self.latest_ns - slot.tcp.closed_ns > LINGER_NS) or (
                not slot.tcp.answered and self.latest_ns - slot.tcp.last_ns > UNANSWERED_NS
            ):
                self.end(slot, self.latest_ns, packet, sink)
            slot = after
        return 0


cdef object segment_of(const Packet* packet, bytes data, int64_t offset):
    payload = data[offset:offset + packet.captured] if packet.captured else b""
    return Segment(
        packet.direction, packet.seq, packet.ack, packet.flags, payload, packet.original, packet.signature, packet.time_ns, packet.number,
    )
