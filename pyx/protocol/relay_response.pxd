"""The broker's direction of a relay: kwire/protocol/relay/response_side.py."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy

from protocol.relay_counters cimport MOST_SEEN, count_exchange
from protocol.relay_counters cimport error_of as counted_error
from protocol.relay_lease cimport lease_counts, lease_take
from protocol.relay_owed cimport (
    BY_PLAN, HANDSHAKE_KEY, OWED_BROKER, OWED_TOKEN, Owed, owed_drop_last_token, owed_first, owed_take,
)
from protocol.relay_pieces cimport chunk_adopt
from protocol.relay_request cimport (
    NOTHING, VERSIONS_KEY, check_length, fits, gather_whole, send_start, send_whole,
)
from protocol.relay_state cimport (
    LENGTH, OPEN, RAW, REFUSED, RESPONSE, RESPONSE_MISMATCHED, RESPONSE_UNEXPECTED, WHOLE, HeldFrame, RelayCore, Stream,
    relay_close, relay_close_api, see, send_answers,
)
from protocol.relay_table cimport CALL, CLOSE, PASS, response_action
from wire.cursor cimport Bytes, load_16, load_32

cdef enum:
    SHORTEST_RESPONSE = 4
    ERROR_AT = 4
    ERROR_SIZE = 6
    UNSUPPORTED_VERSION = 35


cdef inline int error_of(Bytes p, Py_ssize_t have, int64_t length) noexcept nogil:
    """ResponseSide._error: the error code behind the correlation id; as many of its bytes as the frame has."""
    cdef Py_ssize_t end = <Py_ssize_t>min(<int64_t>have, LENGTH + length)
    if end >= LENGTH + ERROR_AT + 2:
        return <int16_t>load_16(p + LENGTH + ERROR_AT)
    if end == LENGTH + ERROR_AT + 1:
        return p[LENGTH + ERROR_AT] - (256 if p[LENGTH + ERROR_AT] > 127 else 0)
    return 0


cdef inline int answered_version(const Owed* owed, int error) noexcept nogil:
    """ResponseSide._version."""
    return 0 if owed.api_key == VERSIONS_KEY and error == UNSUPPORTED_VERSION else owed.api_version


cdef inline int32_t action_of(const RelayCore* core, const Owed* owed, int version) noexcept nogil:
    """ResponseSide._action."""
    return owed.action if owed.action != BY_PLAN else response_action(core.table, owed.api_key, version)


cdef inline Py_ssize_t look_at_response(RelayCore* core, Bytes p, Py_ssize_t have, bint is_kept, int64_t t) except -1 nogil:
    """The verdict over the response that begins at `p`; returns as `look_at_request`."""
    cdef Stream* stream = &core.streams[RESPONSE]
    cdef Owed* first
    cdef int64_t length
    cdef int32_t number, action
    cdef Py_ssize_t gone
    cdef int version, error = 0
    if have < LENGTH:
        return LENGTH
    length = <int32_t>load_32(p)
    first = owed_first(&core.owed)
    if not check_length(core, RESPONSE, length, 0 if first is not NULL and first.kind == OWED_TOKEN else <int64_t>SHORTEST_RESPONSE):
        return NOTHING
    if have < LENGTH + min(length, <int64_t>SHORTEST_RESPONSE):
        return <Py_ssize_t>(LENGTH + min(length, <int64_t>SHORTEST_RESPONSE))
    if first is not NULL and first.kind == OWED_TOKEN:
        if length >= SHORTEST_RESPONSE:
            owed_drop_last_token(&core.owed, <int32_t>load_32(p + LENGTH))
            send_answers(core)
            first = owed_first(&core.owed)
        if first.kind == OWED_TOKEN:
            return gather_whole(core, RESPONSE, length, RAW)
    number = <int32_t>load_32(p + LENGTH)
    if first is NULL:
        return relay_close(core, RESPONSE_UNEXPECTED, RESPONSE, number)
    if number != first.correlation_id:
        return relay_close(core, RESPONSE_MISMATCHED, RESPONSE, number)
    if first.api_key == VERSIONS_KEY or (first.api_key == HANDSHAKE_KEY and first.api_version == 0):
        if have < LENGTH + min(length, <int64_t>ERROR_SIZE):
            return <Py_ssize_t>(LENGTH + min(length, <int64_t>ERROR_SIZE))
        error = error_of(p, have, length)
        if first.api_key == HANDSHAKE_KEY:
            if length < ERROR_SIZE:
                error = -1
            with gil:
                (<object>core.owner)._handshake_answered(error)
            if core.reason != OPEN:
                return NOTHING
    version = answered_version(first, error)
    if lease_counts(core, RESPONSE, first.api_key, version):
        lease_take(core, RESPONSE, LENGTH + length, t, True)
    action = action_of(core, first, version)
    if action == CLOSE:
        return relay_close_api(core, REFUSED, RESPONSE, first.api_key, version)
    if action != PASS:
        return gather_whole(core, RESPONSE, length, WHOLE)
    gone = <Py_ssize_t>min(<int64_t>have, LENGTH + length)
    stream.kept.skip = LENGTH + length - gone
    stream.frame_bytes = LENGTH + length
    if core.counters is not NULL:
        if stream.kept.skip:
            see(core, RESPONSE, p + LENGTH, gone - LENGTH)
        else:
            count_answer(core, p + LENGTH, <Py_ssize_t>length, stream.frame_bytes, t)
    send_start(core, RESPONSE, p, gone, is_kept)
    return gone


cdef inline void count_answer(RelayCore* core, Bytes payload, Py_ssize_t have, int64_t size, int64_t t) noexcept nogil:
    """ResponseSide._count."""
    cdef const Owed* owed = owed_first(&core.owed)
    cdef int32_t error
    if owed.kind == OWED_BROKER:
        error = counted_error(core.table, owed.api_key, owed.api_version, payload, min(have, <Py_ssize_t>MOST_SEEN))
        count_exchange(
            core.counters, owed.software, owed.client, owed.api_key, owed.api_version, error, owed.request_bytes, size,
            t - owed.time_ns, True,
        )


cdef inline int response_passed(RelayCore* core, int64_t t) except -1 nogil:
    """The last byte of a response that passes has come."""
    cdef Stream* stream = &core.streams[RESPONSE]
    if stream.seen_bytes:
        count_answer(core, stream.seen, stream.seen_bytes, stream.frame_bytes, t)
        stream.seen_bytes = 0
    return answered(core)


cdef inline int answered(RelayCore* core) except -1 nogil:
    """ResponseSide.answered."""
    owed_take(&core.owed)
    return send_answers(core)


cdef inline int take_server_token(RelayCore* core, Bytes p, Py_ssize_t length, bint is_kept) except -1 nogil:
    """A raw token of the broker is whole."""
    with gil:
        (<object>core.owner)._server_token(PyBytes_FromStringAndSize(<const char*>p + LENGTH, length))
    send_start(core, RESPONSE, p, LENGTH + length, is_kept)
    return answered(core)


cdef inline int take_whole_response(RelayCore* core, Bytes p, Py_ssize_t length, int64_t t) except -1 nogil:
    """ResponseSide._take_whole."""
    cdef HeldFrame* held = &core.streams[RESPONSE].held
    cdef const Owed* first = owed_first(&core.owed)
    cdef int32_t action
    held.frame = <uint8_t*>malloc(length)
    if held.frame is NULL:
        with gil:
            raise MemoryError
    memcpy(held.frame, p + LENGTH, length)
    held.size = length
    held.api_key, held.asked_version = first.api_key, first.api_version
    held.api_version = <int16_t>answered_version(first, error_of(p, LENGTH + length, length))
    held.correlation_id = first.correlation_id
    held.wants_answer = held.is_new = True
    held.time_ns = t
    action = action_of(core, first, held.api_version)
    if core.counters is not NULL:
        count_answer(core, held.frame, length, LENGTH + length, t)
    if action == CALL:
        return 0
    held.is_new = False
    if action == PASS:  # another plan has come meanwhile
        return release_response(core, NULL, 0)
    with gil:
        (<object>core.owner)._edit(RESPONSE, action)
    return 0


cdef inline int release_response(RelayCore* core, uint8_t* frame, Py_ssize_t size) except -1 nogil:
    """ResponseSide.send for the response that is held."""
    cdef HeldFrame* held = &core.streams[RESPONSE].held
    cdef uint8_t* own = held.frame
    held.frame = NULL
    chunk_adopt(&core.chunks, own)
    if frame is NULL:
        frame, size = own, held.size
    held.size = 0
    if not fits(core, RESPONSE, size, SHORTEST_RESPONSE):
        return 0
    send_whole(core, RESPONSE, frame, size, 0, held.correlation_id)
    return answered(core)
