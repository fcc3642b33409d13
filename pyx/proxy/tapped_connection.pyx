# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""Traffic between one client and the proxy as packets of a capture, without secrets: the native backend of
`kwire.proxy.tapped_connection`, which is the contract. Packets are written into one buffer, and offered once a call.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from build_id cimport build_id
from capture.exported_talk cimport (
    MOST_PAYLOAD, MOST_TAGS, OpenPacket, Packets, packets_free, talk_closed, talk_cut, talk_data, talk_lost, talk_opened, talk_room,
)
from kwire.protocol._native.frame_blanking cimport FrameBlanker
from kwire.protocol._native.tracker cimport Connection, EventSink
from protocol.event_rows cimport frame_seen
from protocol.request_rows cimport RequestRow
from protocol.wire_frame cimport WireFrame
from wire.cursor cimport Bytes
from wire.grown cimport grown
from wire.turns cimport Turn, one_at_a_time, turn_leave

import logging

from kwire.capture.exported_packets import address_tags
from kwire.protocol.events import FrameSeen
from kwire.proxy.tapped_connection import endpoint_of

__all__ = ["TappedConnection"]

__build__ = build_id()

cdef enum:
    CLIENT = 0
    SERVER = 1
    LENGTH = 4
    MOST_KEPT = 1 << 16  # bytes of packets' memory that wait for the next ones
    MOST_IDLE = 1 << 12  # bytes of memory for the beginning of a frame, while there is none

cdef object log = logging.getLogger("kwire.proxy")


@cython.final
cdef class TappedConnection(EventSink):
    """One connection; arguments and methods are those of the pure backend."""

    def __init__(self, file, peer, local, Py_ssize_t snaplen, int64_t time_ns):
        cdef int side
        cdef bytes tags
        ends = endpoint_of((peer.address, peer.port)), endpoint_of(local)
        for side in range(2):
            tags = address_tags(ends[side], ends[1 - side])
            assert len(tags) <= MOST_TAGS
            memcpy(self.talk.tags[side], PyBytes_AS_STRING(tags), PyBytes_GET_SIZE(tags))
            self.talk.tag_bytes[side] = PyBytes_GET_SIZE(tags)
            self.talk.ports[side] = ends[side].port
        self.file = file
        self.connection = Connection(frames=True, bodies=())
        self.connection.sink = self.connection.state.receiver = <PyObject*>self
        self.connection.state.take_frame = take_frame
        self.blanker = FrameBlanker()
        self.kept = LENGTH + snaplen
        self.looks = True
        check_room(talk_opened(&self.packets, &self.talk, CLIENT, time_ns))
        self.offer()

    def __dealloc__(self):
        if self.connection is not None:
            self.connection.sink = NULL
        packets_free(&self.packets)
        free(self.streams[CLIENT].bytes)
        free(self.streams[SERVER].bytes)
        turn_leave(self.turn)

    def from_client(self, data, int64_t time_ns):
        self.take(CLIENT, data, time_ns)

    def to_client(self, pieces, int64_t time_ns):
        for piece in pieces:
            self.take(SERVER, piece, time_ns)

    def missed(self, str direction, int64_t count, int64_t time_ns):
        cdef int side = CLIENT if direction == "request" else SERVER
        cdef Beginning* stream = &self.streams[side]
        cdef Packets* out = &self.packets
        if not self.looks:
            return
        try:
            self.latest = Latest(side, NULL, 0, time_ns, out, OpenPacket(0, 0, -1, 0))
            self.connection.lost(direction, count, time_ns)
            check_room(talk_cut(out, &self.talk, side, stream.at - stream.written, time_ns))
            check_room(talk_lost(out, &self.talk, side, count, time_ns))
            stream.at += count
            stream.frame_at = stream.written = stream.at
            stream.size = 0
            self.offer()
        except Exception:  # as in `take_bytes`
            self.stop()

    def closed(self, int64_t time_ns):
        cdef Packets* out = &self.packets
        if self.looks:
            check_room(talk_closed(out, &self.talk, CLIENT, time_ns) and talk_closed(out, &self.talk, SERVER, time_ns))
            self.offer()
            self.looks = False

    cdef int take(self, int side, data, int64_t time_ns) except -1:
        cdef bytes came
        if not self.looks:
            return 0
        came = data if type(data) is bytes else bytes(data)
        try:
            self.take_bytes(side, <Bytes>PyBytes_AS_STRING(came), PyBytes_GET_SIZE(came), time_ns, &self.packets)
            self.offer()
        except Exception:
            self.stop()
        return 0

    cdef int take_bytes(self, int side, Bytes data, Py_ssize_t size, int64_t time_ns, Packets* out) except -1:
        """The next bytes of a side, which stay where they are until this is over; the packets go to `out`, whole or not at all."""
        cdef Py_ssize_t before = out.size
        if not self.looks:
            return 0
        try:
            self.latest = Latest(side, data, size, time_ns, out, OpenPacket(0, 0, -1, 0))
            self.connection.receive_bytes(side, data, size, time_ns, 0)
            self.keep(&self.streams[side], data, size)
        except Exception:
            # Any fault of the tracker or of blanking: traffic must not stop because a copy of it cannot be written. It is logged whole.
            out.size = before
            self.stop()
        return 0

    cdef int stop(self) except -1:
        log.exception("the tap stops looking at a connection")
        self.looks = False
        packets_free(&self.packets)
        return 0

    cdef int offer(self) except -1:
        return packets_offer(&self.packets, self.file)

    cdef int take_events(self, Connection connection, list events) except -1:
        """Take the events of the tracker's rules in Python."""
        cdef int64_t begin, size
        for event in events:
            if type(event) is FrameSeen:
                begin, size = event.stream_offset, 0 if event.kind == "length" else event.length
                if event.kind == "proxy":
                    self.add_frame(event.direction == "response", begin, begin + size, 0, event, NULL)
                else:
                    self.add_frame(event.direction == "response", begin, begin + LENGTH + size, self.kept, event, NULL)
        return 0

    cdef int add_frame(self, int direction, int64_t begin, int64_t end, int64_t most, event, const RequestRow* row) except -1:
        """The packets of a frame with its first bytes, `most` at most; it has an event or the row of its request.

        Behind a hole, bytes of one side show what frames the other one has."""
        cdef Beginning* stream = &self.streams[direction]
        cdef Packets* out = self.latest.out
        cdef int64_t time_ns = self.latest.time_ns
        cdef Py_ssize_t have = self.first_bytes(direction, begin, <Py_ssize_t>min(end - begin, most), NULL)
        cdef uint8_t* frame
        if begin < stream.written:  # bytes of it were missed
            forget(stream, end)
            check_room(talk_cut(out, &self.talk, direction, end - stream.written, time_ns))
            stream.written = max(end, stream.written)
            return 0
        check_room(talk_cut(out, &self.talk, direction, begin - stream.written, time_ns))  # bytes that were not understood
        if have < LENGTH:
            have = 0
        elif have <= MOST_PAYLOAD:
            frame = talk_room(out, &self.talk, &self.latest.packet, direction, have, time_ns)
            check_room(frame is not NULL)
            self.write_frame(direction, begin, end, have, event, row, frame)
        else:
            frame = <uint8_t*>malloc(have)
            check_room(frame is not NULL)
            try:
                self.write_frame(direction, begin, end, have, event, row, frame)
                check_room(talk_data(out, &self.talk, direction, frame, have, time_ns))
            finally:
                free(frame)
        check_room(talk_cut(out, &self.talk, direction, end - begin - have, time_ns))
        stream.written = end
        forget(stream, end)
        return 0

    cdef int write_frame(
        self, int direction, int64_t begin, int64_t end, Py_ssize_t have, event, const RequestRow* row, uint8_t* frame
    ) except -1:
        """Write the first bytes of a frame without secrets."""
        cdef uint8_t* payload = frame + LENGTH
        cdef Py_ssize_t size = have - LENGTH
        cdef bint is_whole = have == end - begin
        cdef bint done
        cdef bytes blanked
        self.first_bytes(direction, begin, have, frame)
        if size == 0:
            return 0
        if event is None:
            if direction == CLIENT:
                done = self.blanker.blank_request(payload, size, is_whole)
            else:
                done = self.blanker.blank_response(payload, size, row.api_key, row.api_version, row.request_index, is_whole)
            if done:
                return 0
            self.first_bytes(direction, begin, have, frame)  # as it came
            event = frame_seen(&self.connection.state, self.connection.series.classes, direction, row, begin, end - begin - LENGTH)
        blanked = self.blanker.seen(event, PyBytes_FromStringAndSize(<const char*>payload, size))
        assert len(blanked) == size
        memcpy(payload, PyBytes_AS_STRING(blanked), size)
        return 0

    cdef Py_ssize_t first_bytes(self, int direction, int64_t begin, Py_ssize_t most, uint8_t* out) noexcept:
        """Count a frame's first bytes, `most` at most, and write them to `out` unless it is NULL."""
        if direction == self.latest.side:
            return first_bytes(&self.streams[direction], begin, most, self.latest.data, self.latest.size, out)
        return first_bytes(&self.streams[direction], begin, most, NULL, 0, out)

    cdef int keep(self, Beginning* stream, Bytes data, Py_ssize_t size) except -1:
        """Keep what belongs to the frame that is not over, of bytes whose events are dealt with."""
        cdef Py_ssize_t skipped = 0
        cdef Py_ssize_t added = 0
        cdef uint8_t* made
        if stream.frame_at >= stream.at:
            stream.size = 0
            skipped = <Py_ssize_t>min(stream.frame_at - stream.at, <int64_t>size)
            added = min(size - skipped, self.kept)
        elif is_whole(stream):
            added = min(size, self.kept - stream.size)
        if added > 0:
            made = <uint8_t*>grown(stream.bytes, &stream.room, stream.size + added, 64, 1)
            check_room(made is not NULL)
            stream.bytes = made
            memcpy(made + stream.size, data + skipped, added)
            stream.size += added
        elif stream.size == 0 and stream.room > MOST_IDLE:
            free(stream.bytes)
            stream.bytes = NULL
            stream.room = 0
        stream.at += size
        return 0


cdef int take_frame(PyObject* receiver, bint is_response, const RequestRow* row, const WireFrame* frame) except -1:
    """Take a frame of the native tracker."""
    cdef TappedConnection tapped = <TappedConnection>receiver
    return tapped.add_frame(is_response, frame.offset, frame.offset + LENGTH + frame.length, tapped.kept, None, row)


cdef int packets_offer(Packets* packets, file) except -1:
    """Give a file what was written."""
    if packets.size == 0:
        return 0
    made = PyBytes_FromStringAndSize(<const char*>packets.bytes, packets.size)
    packets.size = 0
    if packets.room > MOST_KEPT:
        packets_free(packets)
    file.offer(made)
    return 0


cdef inline int check_room(bint done) except -1:
    if not done:
        raise MemoryError
    return 0


cdef void forget(Beginning* stream, int64_t end) noexcept nogil:
    """A frame ends there: what is kept begins behind it."""
    cdef int64_t gone = min(max(end - stream.frame_at, <int64_t>0), <int64_t>stream.size)
    stream.size -= <Py_ssize_t>gone
    if stream.size and gone:
        memmove(stream.bytes, stream.bytes + gone, stream.size)
    stream.frame_at = end


cdef inline bint is_whole(const Beginning* stream) noexcept nogil:
    """Return whether the buffered bytes reach to the next byte."""
    return stream.frame_at + stream.size == stream.at


cdef Py_ssize_t first_bytes(
    const Beginning* stream, int64_t begin, Py_ssize_t most, Bytes data, Py_ssize_t size, uint8_t* out
) noexcept nogil:
    """Count a frame's first bytes, `most` at most, and write them to `out` unless it is NULL; `data` came last, at `stream.at`."""
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t more
    if begin >= stream.at:
        if begin - stream.at >= size:
            return 0
        more = <Py_ssize_t>min(<int64_t>most, size - (begin - stream.at))
        if out is not NULL:
            memcpy(out, data + (begin - stream.at), more)
        return more
    if begin < stream.frame_at:
        return 0
    found = <Py_ssize_t>min(max(stream.size - (begin - stream.frame_at), <int64_t>0), <int64_t>most)
    more = min(most - found, size) if is_whole(stream) else 0
    if out is not NULL and found:
        memcpy(out, stream.bytes + (begin - stream.frame_at), found)
    if out is not NULL and more:
        memcpy(out + found, data, more)
    return found + more


cdef Turn** turn_of_tapped_connection(PyObject* self) noexcept:
    return &(<TappedConnection>self).turn


one_at_a_time(TappedConnection, turn_of_tapped_connection)
