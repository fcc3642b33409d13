# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""A tracked connection whose ordinary frames cost no Python code.

The readable contract is `kwire.protocol.connection`. An object of it is inside and does whatever is not ordinary: openings, strangers,
bodies that are read, faults, losses. What this module does itself is the request with a known client id whose body is passed over, and the
response to the request that has waited longest. Its counts run ahead of those of the object inside; `settle` brings them home before that
object works, `resume` takes up its state again.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t
from libc.string cimport memcmp, memset

from cursor cimport Bytes, load_32, unlikely
from event_slots cimport (
    ROW_SLOTS,
    EventSlots,
    answer_row,
    find_slots,
    is_without_loss,
    new_row,
    new_waiting,
    set_state,
    shared_slots,
    waiting_row,
)
from raw_python cimport raw_decref, raw_none
from request_heads cimport (
    ACKS_FIRST,
    BEHIND_COMPACT,
    BEHIND_STRING,
    FIXED_HEAD,
    KEYS,
    NO_CLIENT_ID,
    OTHER,
    PLAIN,
    PRODUCE_KEY,
    TAGGED,
    VERSIONS,
    HeadTables,
    RequestHead,
    read_head,
)

from kwire.protocol import connection as pure
from kwire.protocol.events import RequestCompleted
from kwire.protocol.frames import MAX_FRAME, Frame
from kwire.protocol.identity import api_role
from kwire.protocol.pairing import MAX_WAITING, ORDINARY_TEXT, Waiting
from kwire.protocol.passing import PRODUCE, acks_layout
from kwire.protocol.reading import released_header
from kwire.schema import catalog

__all__ = ["Connection"]

cdef extern from "Python.h":
    bint PyBytes_CheckExact(object data)
    bint PyLong_CheckExact(PyObject* number)
    long long PyLong_AsLongLongAndOverflow(PyObject* number, int* overflow)
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    Py_ssize_t PyList_GET_SIZE(list items)
    PyObject* PyList_GET_ITEM(list items, Py_ssize_t index)
    int PyList_SetSlice(list items, Py_ssize_t low, Py_ssize_t high, PyObject* instead) except -1
    int PyList_Append(list items, PyObject* item) except -1

cdef enum:
    REQUEST = 0
    RESPONSE = 1
    LENGTH = 4
    SHORTEST_RESPONSE = 4  # correlation id
    CLIENTS = 8  # client ids that are known at once

cdef enum Role:
    CLIENT = 0
    BROKER = 1
    CONTROLLER = 2

# Objects that rows share: they are compared by identity, so a row that was pickled meanwhile is finished by Python.
cdef object SKIPPED = "skipped"
cdef object UNANSWERED = "unanswered"
cdef object ANSWERED = "answered"
cdef object NO_RESPONSE = "no_response_expected"

cdef list ROLES = ["client", "broker", "controller"]
cdef tuple DIRECTIONS = ("request", "response")

cdef EventSlots SLOTS
cdef HeadTables TABLES
cdef uint8_t[KEYS] ROLE_OF  # what a peer is that uses an api
cdef uint8_t[KEYS] ASKED
cdef list NAMES = [None] * KEYS

memset(&TABLES, 0, sizeof(HeadTables))
memset(ASKED, 0, sizeof(ASKED))
find_slots(&SLOTS, RequestCompleted, Waiting)


cdef int ask(int key) except -1:
    """Put what the catalog says of an api into the tables."""
    cdef int version, kind
    cdef object header
    ASKED[key] = True
    role = api_role(key)
    ROLE_OF[key] = 0 if role is None else ROLES.index(role)
    NAMES[key] = catalog().api_name(key)
    for version in range(VERSIONS):
        released, header = released_header(key, version)
        kind = OTHER
        if released and header in (1, 2):
            kind = PLAIN if header == 1 else TAGGED
            if key == PRODUCE:
                behind, compact = acks_layout(version)
                TABLES.acks[version] = ACKS_FIRST if not behind else BEHIND_COMPACT if compact else BEHIND_STRING
        TABLES.headers[key][version] = kind
    return 0


# One direction: counts that are not home yet, and the frame that is being passed over, if there is one.
cdef struct Lane:
    bint ready  # the next byte begins a frame, or belongs to one that is passed over
    int64_t base  # stream offset of the next byte
    int64_t received
    int64_t frames
    Py_ssize_t left  # bytes of the frame that is passed over
    int32_t length  # of that frame
    int64_t offset

cdef struct Client:
    const char* data  # owned by the text of the same index
    Py_ssize_t size
    int64_t count


@cython.final
cdef class Connection:
    """A connection whose client side is known; arguments and methods are those of `kwire.protocol.connection.Connection`."""

    cdef object inner, exchange
    cdef list waiting
    cdef bint able  # there are bodies that are passed over
    cdef bint counting  # the counts below run ahead of those inside
    cdef Lane[2] lanes
    cdef list heads, marks  # of the frames that are passed over: what is kept of them, and (time, packet) of their first byte
    cdef uint8_t[KEYS] reads
    cdef int64_t max_frame
    cdef int64_t first_seen, last_seen
    cdef int64_t requests, requests_before
    cdef int last_key
    cdef int role
    cdef int64_t last_answered  # INT64_MIN for none since the counts were brought home
    cdef Client[CLIENTS] clients
    cdef list texts  # of the clients
    cdef int next_client
    cdef int last_client  # index; -1 for none since the counts were brought home
    cdef tuple identity  # that is in force
    cdef object beginning  # a row with what all rows of this identity share
    cdef PyObject* shared[ROW_SLOTS]  # its slots, borrowed, NULL where each row has its own
    cdef object losses, response_breaks
    cdef int64_t losses_now

    def __init__(self, joined_late=False, *, max_frame=MAX_FRAME, frames=False, bodies=None):
        self.take_up(pure.Connection(joined_late, max_frame=max_frame, frames=frames, bodies=bodies))

    cdef int take_up(self, inner) except -1:
        self.inner = inner
        self.exchange = inner._exchange
        self.heads, self.marks = [b"", b""], [None, None]
        self.texts = [None] * CLIENTS
        self.next_client = 0
        memset(self.lanes, 0, sizeof(self.lanes))
        memset(self.clients, 0, sizeof(self.clients))
        self.counting = False
        bodies = self.exchange.passing.bodies
        self.able = bodies is not None and not self.exchange.frames
        if self.able:
            for key in range(KEYS):
                self.reads[key] = key in bodies
        self.max_frame = inner._splitters["request"].max_frame
        self.resume()
        return 0

    def __reduce__(self):
        self.settle()
        self.resume()
        return _taken_up, (self.inner,)

    # the way between the counts here and those inside

    cdef int settle(self) except -1:
        """Bring all counts home: from here on the object inside says what is."""
        cdef int index
        cdef Lane* lane
        if not self.counting:
            return 0
        self.counting = False
        inner, exchange = self.inner, self.exchange
        for index in range(2):
            lane = &self.lanes[index]
            direction = DIRECTIONS[index]
            if lane.received:
                inner.received[direction] += lane.received
            if lane.frames:
                inner._frames[direction] += lane.frames
            if lane.ready:
                splitter = inner._splitters[direction]
                splitter._base = lane.base
                splitter._skip = lane.left
                splitter._broken = None
                if lane.left:
                    time, packet = self.marks[index]
                    splitter._broken = Frame(self.heads[index], lane.length, lane.offset, packet, time, time)
        if self.first_seen != INT64_MAX:
            inner._see(self.first_seen)
            inner._see(self.last_seen)
        if self.requests != self.requests_before:
            exchange.requests = self.requests
            exchange.is_kafka = True
            exchange.named = exchange.identity.software
            exchange.last_api_name = NAMES[self.last_key]
        if self.last_answered != INT64_MIN:
            exchange.pairing.last_answered = self.last_answered
        if self.last_client >= 0:
            exchange.judge.client_id = self.texts[self.last_client]
        for index in range(CLIENTS):
            if self.clients[index].count and self.texts[index]:
                exchange.identity.count_client_id(self.texts[index], self.clients[index].count)
                self.clients[index].count = 0
        return 0

    cdef int resume(self) except -1:
        """Take up the state of the object inside, where it is ordinary."""
        cdef int index
        cdef Lane* lane
        cdef bint ready = False
        self.counting = False
        inner, exchange = self.inner, self.exchange
        identity = exchange.identity
        if not self.able or inner._protocol is not None or exchange.sasl.raw or exchange.sasl.pending or exchange.pairing.holds:
            return 0
        if identity.source == "not_observed" and identity._observed:
            return 0
        for index in range(2):
            lane = &self.lanes[index]
            memset(lane, 0, sizeof(Lane))
            splitter = inner._splitters[DIRECTIONS[index]]
            broken = splitter._broken
            if inner._openings[DIRECTIONS[index]] is not None or splitter.seeking or splitter._buffer:
                continue
            if broken is not None:
                if broken.damaged:
                    continue
                lane.left, lane.length, lane.offset = splitter._skip, broken.length, broken.offset
                self.heads[index], self.marks[index] = broken.payload, (broken.begin_time, broken.packet)
            lane.base = splitter._base
            lane.ready = ready = True
        if not ready:
            return 0
        self.waiting = exchange.pairing.waiting
        self.first_seen, self.last_seen = INT64_MAX, INT64_MIN
        self.requests = self.requests_before = exchange.requests
        self.last_answered, self.last_client = INT64_MIN, -1
        self.role = ROLES.index(identity.role)
        self.losses, self.response_breaks = exchange.losses, exchange.response_breaks
        self.losses_now = self.losses
        self.begin_rows(identity, exchange.sasl.principal)
        self.know_client(exchange.judge.client_id)
        self.counting = True
        return 0

    cdef int begin_rows(self, identity, principal) except -1:
        if self.identity == (identity.software, identity.instance_id, principal):
            return 0
        self.identity = (identity.software, identity.instance_id, principal)
        row = RequestCompleted(
            0, software_name=identity.software[0], software_version=identity.software[1], client_instance_id=identity.instance_id,
            principal=principal, body=SKIPPED, state=UNANSWERED,
        )
        self.beginning = row
        shared_slots(&SLOTS, self.shared, <PyObject*>row)
        return 0

    cdef int know_client(self, text) except -1:
        """Remember the client id that Python saw last: whose it is, it has said, and whether it may be counted."""
        cdef Client* client
        if text is None or len(text) > ORDINARY_TEXT:
            return 0
        for known in self.texts:
            if known == text:
                return 0
        client = &self.clients[self.next_client]
        try:
            client.data = PyUnicode_AsUTF8AndSize(text, &client.size)
        except UnicodeEncodeError:
            client.data = NULL
            return 0
        client.count = 0
        self.texts[self.next_client] = text
        self.next_client = (self.next_client + 1) % CLIENTS
        return 0

    # bytes

    def receive_request_bytes(self, data, t, packet=0):
        return self.receive(REQUEST, data, t, packet)

    def receive_response_bytes(self, data, t, packet=0):
        return self.receive(RESPONSE, data, t, packet)

    cdef list receive(self, int direction, data, t, packet):
        cdef Py_buffer view
        cdef list events = []
        if PyBytes_CheckExact(data):
            self.walk(direction, <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet, events)
            return events
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            self.walk(direction, <Bytes>view.buf, view.len, t, packet, events)
        finally:
            PyBuffer_Release(&view)
        return events

    cdef int walk(self, int direction, Bytes data, Py_ssize_t size, t, packet, list events) except -1:
        """Take all bytes: frame after frame the quick way, each that is not ordinary the other way, and so what follows a torn one."""
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t piece
        cdef int64_t time = 0
        cdef int overflow = 0
        cdef bint timed = PyLong_CheckExact(<PyObject*>t)
        if timed:
            time = PyLong_AsLongLongAndOverflow(<PyObject*>t, &overflow)
            timed = not overflow
        while at < size:
            if self.counting and self.lanes[direction].ready and timed:
                at += self.take(direction, data + at, size - at, t, time, packet, events)
                if at == size:
                    break
                piece = self.frame_at(direction, data + at, size - at)
            else:
                piece = size - at
            self.settle()
            events.extend(self.inner._receive(DIRECTIONS[direction], PyBytes_FromStringAndSize(<char*>data + at, piece), t, packet))
            self.resume()
            at += piece
        return 0

    cdef Py_ssize_t frame_at(self, int direction, Bytes data, Py_ssize_t size) noexcept:
        """How many bytes Python is given: to the end of the frame that is under way or begins here, else all."""
        cdef int64_t length = self.lanes[direction].left
        if length == 0:
            if size < LENGTH:
                return size
            length = <int64_t><int32_t>load_32(data) + LENGTH
        return <Py_ssize_t>length if 0 < length < size else size

    cdef Py_ssize_t take(self, int direction, Bytes data, Py_ssize_t size, t, int64_t time, packet, list events) except -1:
        """Take the frames that are ordinary; gives up to where."""
        cdef Lane* lane = &self.lanes[direction]
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t have, head
        cdef int64_t length
        cdef int done
        if lane.left:
            at = min(lane.left, size)
            if at == lane.left and not self.end_passed(direction, t, time, events):
                return 0
            lane.left -= at
        while lane.left == 0 and size - at >= LENGTH:
            length = <int32_t>load_32(data + at)
            have = size - at - LENGTH
            if not 0 <= length <= self.max_frame:
                break
            if have >= length:
                if direction == REQUEST:
                    done = self.request(data + at + LENGTH, <Py_ssize_t>length, length, lane.base + at, t, packet, events)
                else:
                    done = self.response(data + at + LENGTH, <Py_ssize_t>length, length, t, time, events)
                if not done:
                    break
                at += LENGTH + <Py_ssize_t>length
                continue
            head = self.head_of(direction, data + at + LENGTH, have)
            if not head:
                break
            self.heads[direction] = PyBytes_FromStringAndSize(<char*>data + at + LENGTH, head)
            self.marks[direction] = (t, packet)
            lane.length, lane.offset, lane.left = <int32_t>length, lane.base + at, <Py_ssize_t>length - have
            at = size
        if at:
            lane.base += at
            lane.received += at
            if time < self.first_seen:
                self.first_seen = time
            if time > self.last_seen:
                self.last_seen = time
        return at

    cdef Py_ssize_t head_of(self, int direction, Bytes data, Py_ssize_t have) except -1:
        """How many bytes of a frame whose end has not come are kept; 0 for one that is not passed over here."""
        cdef RequestHead head
        if direction == REQUEST:
            return head.size if self.read_request(&head, data, have) else 0
        return SHORTEST_RESPONSE if have >= SHORTEST_RESPONSE and self.asked(<int32_t>load_32(data)) is not NULL else 0

    cdef int end_passed(self, int direction, t, int64_t time, list events) except -1:
        cdef Lane* lane = &self.lanes[direction]
        cdef bytes head = self.heads[direction]
        cdef Bytes data = <Bytes>PyBytes_AS_STRING(head)
        if direction == RESPONSE:
            return self.response(data, PyBytes_GET_SIZE(head), lane.length, t, time, events)
        return self.request(data, PyBytes_GET_SIZE(head), lane.length, lane.offset, t, self.marks[direction][1], events)

    # frames

    cdef int client_of(self, const char* data, Py_ssize_t size) noexcept:
        """Index of a known client id, -1 for none."""
        cdef int index
        for index in range(CLIENTS):
            if self.clients[index].data is not NULL and self.clients[index].size == size:
                if memcmp(self.clients[index].data, data, size) == 0:
                    return index
        return -1

    cdef bint read_request(self, RequestHead* head, Bytes data, Py_ssize_t have) except -1:
        """Whether an ordinary request begins here whose body is passed over."""
        cdef int key
        if have < FIXED_HEAD or data[0] or data[1] >= KEYS:
            return False
        key = data[1]
        if self.reads[key]:
            return False
        if unlikely(not ASKED[key]):
            ask(key)
        return ROLE_OF[key] <= self.role and read_head(head, &TABLES, data, have)

    cdef int request(self, Bytes data, Py_ssize_t have, int64_t length, int64_t offset, t, packet, list events) except -1:
        """Take a request; 0 when it is not ordinary, and then nothing has changed."""
        cdef RequestHead head
        cdef int client = -1
        if not self.read_request(&head, data, have) or PyList_GET_SIZE(self.waiting) >= MAX_WAITING_:
            return 0
        if head.client_size != NO_CLIENT_ID:
            client = self.client_of(<const char*>data + FIXED_HEAD, head.client_size)
            if client < 0:
                return 0
        made = <object>new_row(
            &SLOTS, self.shared, &head, TABLES.headers[head.key][head.version], self.requests, PyList_GET_ITEM(NAMES, head.key),
            raw_none if client < 0 else PyList_GET_ITEM(self.texts, client), <PyObject*>t, length + LENGTH, <PyObject*>packet, offset,
        )
        raw_decref(<PyObject*>made)
        if head.key == PRODUCE_KEY and head.acks == 0:
            set_state(&SLOTS, <PyObject*>made, <PyObject*>NO_RESPONSE)
            PyList_Append(events, <PyObject*>made)
        else:
            waits = <object>new_waiting(&SLOTS, <PyObject*>made, <PyObject*>self.losses, <PyObject*>self.response_breaks)
            raw_decref(<PyObject*>waits)
            PyList_Append(self.waiting, <PyObject*>waits)
        if client >= 0:
            self.clients[client].count += 1
            self.last_client = client
        self.requests += 1
        self.last_key = head.key
        self.lanes[REQUEST].frames += 1
        return 1

    cdef PyObject* asked(self, int32_t correlation_id) noexcept:
        """The row of the request that has waited longest, borrowed, when it has this id and is not read; else NULL."""
        if not PyList_GET_SIZE(self.waiting):
            return NULL
        return waiting_row(&SLOTS, PyList_GET_ITEM(self.waiting, 0), correlation_id, <PyObject*>SKIPPED, <PyObject*>UNANSWERED)

    cdef int response(self, Bytes data, Py_ssize_t have, int64_t length, t, int64_t time, list events) except -1:
        """Take a response; 0 when it is not ordinary, and then nothing has changed."""
        cdef PyObject* row
        cdef bint is_lossless
        if have < SHORTEST_RESPONSE:
            return 0
        row = self.asked(<int32_t>load_32(data))
        if row is NULL:
            return 0
        is_lossless = is_without_loss(&SLOTS, PyList_GET_ITEM(self.waiting, 0), self.losses_now)
        if not answer_row(&SLOTS, row, <PyObject*>ANSWERED, <PyObject*>t, time, length + LENGTH, is_lossless):
            return 0
        PyList_Append(events, row)
        PyList_SetSlice(self.waiting, 0, 1, NULL)
        self.last_answered = <int32_t>load_32(data)
        self.lanes[RESPONSE].frames += 1
        return 1

    # what the object inside says and does

    def lost(self, direction, n, t, packet=0, *, cut=False):
        self.settle()
        events = self.inner.lost(direction, n, t, packet, cut=cut)
        self.resume()
        return events

    def closed(self, direction, reset, t, packet=0):
        self.settle()
        events = self.inner.closed(direction, reset, t, packet)
        self.resume()
        return events

    def finish(self, t):
        self.settle()
        events = self.inner.finish(t)
        self.resume()
        return events

    def summary(self):
        return self.home().summary()

    cdef object home(self):
        """The object inside, with all counts."""
        self.settle()
        self.resume()
        return self.inner

    @property
    def protocol(self):
        return self.home().protocol

    @property
    def joined_late(self):
        return self.inner.joined_late

    @property
    def gaps(self):
        return self.inner.gaps

    @property
    def bytes_lost(self):
        return self.inner.bytes_lost

    @property
    def received(self):
        return self.home().received

    def __repr__(self):
        return repr(self.home())


cdef Py_ssize_t MAX_WAITING_ = MAX_WAITING


def _taken_up(inner):
    cdef Connection made = Connection.__new__(Connection)
    made.take_up(inner)
    return made
