"""Splits the bytes of a tracked connection into frames, as kwire/protocol/frames.py does in step, and takes those that are ordinary."""

from libc.stdint cimport int32_t, int64_t

from cpython.object cimport PyObject
from cursor cimport Bytes, load_32
from event_slots cimport set_shared
from tracker_bodies cimport CORRELATION_ID
from tracker_requests cimport request_head, take_request
from tracker_responses cimport response_head, take_response
from tracker_state cimport REQUEST, Tracked, Tracking, tracked_see
from tracker_streams cimport (
    LENGTH, Stream, frame_left, is_under_way, kept_bytes, kept_head, stream_keep, stream_keep_only, stream_pass,
)


cdef inline Py_ssize_t head_of(Tracking* tracking, const Tracked* tracked, int direction, Bytes data, Py_ssize_t have) except -1:
    """How many bytes suffice of a frame whose end has not come, its length not among them; 0 for all."""
    if direction == REQUEST:
        return request_head(tracking, tracked, data, have)
    return response_head(tracking, tracked, data, have)


cdef inline bint take_frame(
    Tracking* tracking, Tracked* tracked, int direction, Bytes data, Py_ssize_t have, int64_t length, int64_t offset, t, int64_t time_ns,
    packet, list events,
) except -1:
    """Take a frame of which so many bytes are there; False when it is not ordinary, and then nothing has changed."""
    if direction == REQUEST:
        return take_request(tracking, tracked, data, have, length, offset, t, packet, events)
    return take_response(tracking, tracked, data, have, length, offset, t, time_ns, events)


cdef inline int begin_frame(
    Tracking* tracking, Tracked* tracked, int direction, Bytes data, Py_ssize_t size, int64_t offset, int64_t time_ns, packet
) except -1:
    """A frame whose end has not come: pass it over, or keep what there is of it."""
    cdef Stream* stream = &tracked.streams[direction]
    cdef Py_ssize_t head = head_of(tracking, tracked, direction, data + LENGTH, size - LENGTH) if size > LENGTH else 0
    stream.offset, stream.begin_ns, stream.kept_before = offset, time_ns, 0
    set_shared(&stream.packet, <PyObject*>packet)
    return stream_pass(stream, data, size, head) if head else stream_keep(stream, data, size)


cdef inline bint end_passed(Tracking* tracking, Tracked* tracked, int direction, t, int64_t time_ns, list events) except -1:
    """The end of a frame that was passed over has come; as `take_frame`."""
    cdef Stream* stream = &tracked.streams[direction]
    cdef Py_ssize_t size = 0
    cdef Bytes head = kept_head(stream, &size)
    return take_frame(
        tracking, tracked, direction, head, size, stream.length, stream.offset, t, time_ns, <object>stream.packet, events
    )


cdef inline Py_ssize_t go_on(
    Tracking* tracking, Tracked* tracked, int direction, Bytes data, Py_ssize_t size, t, int64_t time_ns, list events
) except -1:
    """Take the next bytes of the frame that is under way; 0, and nothing has changed, when it ends and is not ordinary."""
    cdef Stream* stream = &tracked.streams[direction]
    cdef Py_ssize_t before = stream.kept
    cdef Py_ssize_t taken = frame_left(stream, data, size)
    cdef Py_ssize_t head
    cdef Bytes begun
    cdef int64_t length
    if stream.left:
        if taken == stream.left and not end_passed(tracking, tracked, direction, t, time_ns, events):
            return 0
        stream.left -= taken
        return taken
    stream_keep(stream, data, taken)
    if stream.kept < LENGTH:
        return taken
    begun = kept_bytes(stream)
    length = <int32_t>load_32(begun)
    if not 0 <= length <= tracked.max_frame:
        stream_keep_only(stream, before)
        return 0
    if stream.kept < LENGTH + length:
        # What is kept may be enough by now; of a response that was asked when its correlation id came.
        if direction == REQUEST or before < LENGTH + CORRELATION_ID:
            head = head_of(tracking, tracked, direction, begun + LENGTH, stream.kept - LENGTH)
            if head:
                stream_pass(stream, begun, stream.kept, head)
                stream_keep_only(stream, 0)
        return taken
    if not take_frame(
        tracking, tracked, direction, begun + LENGTH, <Py_ssize_t>length, length, stream.offset, t, time_ns, <object>stream.packet, events
    ):
        stream_keep_only(stream, before)
        return 0
    stream_keep_only(stream, 0)
    return taken


cdef inline Py_ssize_t take_bytes(
    Tracking* tracking, Tracked* tracked, int direction, Bytes data, Py_ssize_t size, t, int64_t time_ns, packet, list events
) except -1:
    """Take what is ordinary of the next bytes.

    Arguments:
        t, time_ns: when they came.
        packet: that brought them.
        events: to which it is added what they say.

    Returns:
        How many were taken.
    """
    cdef Stream* stream = &tracked.streams[direction]
    cdef Py_ssize_t at = 0
    cdef int64_t length
    if is_under_way(stream):
        at = go_on(tracking, tracked, direction, data, size, t, time_ns, events)
    while at < size and not is_under_way(stream):
        length = <int32_t>load_32(data + at) if size - at >= LENGTH else size
        if not 0 <= length <= tracked.max_frame:
            break
        if size - at - LENGTH < length:
            begin_frame(tracking, tracked, direction, data + at, size - at, stream.base + at, time_ns, packet)
            at = size
        elif take_frame(
            tracking, tracked, direction, data + at + LENGTH, <Py_ssize_t>length, length, stream.base + at, t, time_ns, packet, events
        ):
            at += LENGTH + <Py_ssize_t>length
        else:
            break
    if at:
        stream.base += at
        stream.received += at
        tracked_see(tracked, time_ns)
    return at
