"""The client's direction of a relay: kwire/protocol/relay/request_side.py."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from protocol.frame_cutter cimport cutter_empty
from protocol.relay_counters cimport MOST_OBSERVED, NO_ERROR_CODE, Counters, client_of, count_exchange, software_of
from protocol.relay_lease cimport lease_counts, lease_is_of, lease_needs, lease_take
from protocol.relay_owed cimport (
    AUTHENTICATE_KEY, BY_PLAN, HANDSHAKE_KEY, OWED_BROKER, OWED_TOKEN, Owed, needs_authentication, owed_add,
    owed_answer, owed_at,
)
from protocol.relay_pieces cimport chunk_adopt, chunk_take, piece_add, piece_copy
from protocol.relay_state cimport (
    AUTHENTICATION_TOO_LARGE, HEAD_TOO_LONG, HEADER_MALFORMED, HELD_TOO_LARGE, LENGTH, LENGTH_NEGATIVE, LENGTH_TOO_LARGE,
    LENGTH_TOO_SHORT, MAX_AUTHENTICATION, MAX_HEAD, OPEN, PROGRAM_TOO_LARGE, RAW, REFUSED, REQUEST, RESPONSE, UNKNOWN_API, WHOLE,
    HeldFrame, RelayCore, Stream, relay_close, relay_close_api, see, send_answers,
)
from protocol.relay_table cimport CALL, CLOSE, NO_ACKS, PASS, REFUSE, is_known, read_acks, request_action
from wire.cursor cimport Bytes, likely, load_16, load_32

cdef enum:
    SHORTEST_REQUEST = 8
    ID_AT = 4  # of the correlation id in a request
    PRODUCE_KEY = 0
    VERSIONS_KEY = 18
    FIRST_TOKEN = 0x60
    NOTHING = 0  # more bytes are needed, or there is a reason to close


cdef inline void store_32(uint8_t* at, int32_t value) noexcept nogil:
    at[0] = <uint8_t>((value >> 24) & 0xFF)
    at[1] = <uint8_t>((value >> 16) & 0xFF)
    at[2] = <uint8_t>((value >> 8) & 0xFF)
    at[3] = <uint8_t>(value & 0xFF)


cdef inline void store_16(uint8_t* at, int value) noexcept nogil:
    at[0] = <uint8_t>((value >> 8) & 0xFF)
    at[1] = <uint8_t>(value & 0xFF)


cdef inline bint check_length(RelayCore* core, int side, int64_t length, int64_t shortest) noexcept nogil:
    """ConnectionState.check_length."""
    if likely(shortest <= length <= core.max_frame):
        return True
    relay_close(core, LENGTH_NEGATIVE if length < 0 else LENGTH_TOO_LARGE if length > core.max_frame else LENGTH_TOO_SHORT, side, length)
    return False


cdef inline Py_ssize_t gather_whole(RelayCore* core, int side, int64_t length, int gathered) noexcept nogil:
    """ConnectionState.gather_whole; gives how many bytes are needed."""
    if LENGTH + length > core.max_held:
        return relay_close(core, HELD_TOO_LARGE, side, LENGTH + length)
    core.streams[side].gathered = gathered
    return <Py_ssize_t>(LENGTH + length)


cdef inline int is_token(RelayCore* core, Bytes p, int64_t length) except -1 nogil:
    """RequestSide._is_token; `p` is the frame's length, and two bytes of the frame are there, if it has two."""
    cdef Py_ssize_t have = <Py_ssize_t>min(length, <int64_t>2)
    cdef bint found
    if not core.tokens_open and not (have and p[LENGTH] == FIRST_TOKEN):
        return False
    with gil:
        found = (<object>core.owner)._is_token(PyBytes_FromStringAndSize(<const char*>p + LENGTH, have))
    return found


cdef inline int expect_broker(RelayCore* core, int key, int version, int32_t correlation_id, int64_t t) except -1 nogil:
    """The broker owes the client a response."""
    cdef Owed* owed = owed_add(&core.owed, OWED_BROKER)
    owed.api_key, owed.api_version = <int16_t>key, <int16_t>version
    owed.correlation_id, owed.time_ns = correlation_id, t
    core.owed.asked |= needs_authentication(owed)
    return 0


cdef inline int send_start(RelayCore* core, int side, Bytes p, Py_ssize_t have, bint is_kept) except -1 nogil:
    """Send the first `have` bytes of a frame; `is_kept`: they lie in the stream's own buffer, which will be used again."""
    if is_kept:
        piece_copy(&core.out[side], &core.chunks, p, have)
    else:
        piece_add(&core.out[side], p, have)
    return 0


cdef inline Py_ssize_t look_at_request(RelayCore* core, Bytes p, Py_ssize_t have, bint is_kept, int64_t t) except -1 nogil:
    """The verdict over the request that begins at `p`.

    Returns:
        How many bytes of it are needed for one, more than `have`; or NOTHING with a reason to close; or, for a frame whose bytes have gone
        out, how many of them: `have` or all of a shorter frame.
    """
    cdef Stream* stream = &core.streams[REQUEST]
    cdef int64_t length, readable
    cdef Py_ssize_t gone
    cdef int key, version, acks
    cdef int32_t number, action
    cdef bint known
    if have < LENGTH:
        return LENGTH
    length = <int32_t>load_32(p)
    if not check_length(core, REQUEST, length, 0):
        return NOTHING
    if core.tokens_open or core.requests == 0:
        if have - LENGTH < min(length, <int64_t>2):
            return <Py_ssize_t>(LENGTH + min(length, <int64_t>2))
        if is_token(core, p, length):
            if length > MAX_AUTHENTICATION:
                return relay_close(core, AUTHENTICATION_TOO_LARGE, REQUEST, length)
            return gather_whole(core, REQUEST, length, RAW)
    if not check_length(core, REQUEST, length, SHORTEST_REQUEST):
        return NOTHING
    if have < LENGTH + SHORTEST_REQUEST:
        return LENGTH + SHORTEST_REQUEST
    key, version = <int16_t>load_16(p + LENGTH), <int16_t>load_16(p + LENGTH + 2)
    number = <int32_t>load_32(p + LENGTH + ID_AT)
    if length > MAX_AUTHENTICATION and (key == VERSIONS_KEY or key == HANDSHAKE_KEY or key == AUTHENTICATE_KEY):
        return relay_close(core, AUTHENTICATION_TOO_LARGE, REQUEST, length)
    known = is_known(core.table, key, version)
    action = request_action(core.table, key, version)
    if action == CLOSE or (key == PRODUCE_KEY and not known):
        return relay_close_api(core, REFUSED if known else UNKNOWN_API, REQUEST, key, version)
    stream.silent = False
    if key == PRODUCE_KEY:
        readable = min(min(length, <int64_t>MAX_HEAD), <int64_t>(have - LENGTH))
        acks = read_acks(core.table, version, p + LENGTH, <Py_ssize_t>readable)
        if acks == NO_ACKS:
            if readable == length:
                return relay_close(core, HEADER_MALFORMED, REQUEST, 0)
            if readable == MAX_HEAD:
                return relay_close(core, HEAD_TOO_LONG, REQUEST, MAX_HEAD)
            return have + 1
        stream.silent = acks == 0
    if lease_counts(core, REQUEST, key, version):
        if have < lease_needs(core, length):
            return lease_needs(core, length)
        lease_take(core, REQUEST, LENGTH + length, t, lease_is_of(core, key, version, p, length))
        action = request_action(core.table, key, version)
    if (action != PASS and action != REFUSE) or (action == PASS and key == HANDSHAKE_KEY and version == 0):
        return gather_whole(core, REQUEST, length, WHOLE)
    core.requests += 1
    gone = <Py_ssize_t>min(<int64_t>have, LENGTH + length)
    stream.kept.skip = LENGTH + length - gone
    stream.drops = action == REFUSE
    stream.owes = -1
    if stream.drops:
        if not stream.silent:
            refuse(core, key, number)
        return gone
    if not stream.silent:
        stream.owes = core.owed.end
        expect_broker(core, key, version, number, t)
    stream.frame_bytes = LENGTH + length
    if core.counters is not NULL:
        if stream.kept.skip:
            see(core, REQUEST, p + LENGTH, gone - LENGTH)
        else:
            observe_request(core, p + LENGTH, <Py_ssize_t>length)
    send_start(core, REQUEST, p, gone, is_kept)
    return gone


cdef inline int refuse(RelayCore* core, int key, int32_t number) except -1 nogil:
    """heads.refusal."""
    cdef uint8_t frame[16]
    cdef Py_ssize_t size = 6
    store_32(frame, number)
    store_16(frame + 4, 35)
    if key == VERSIONS_KEY and core.table.highest >= 0:
        store_32(frame + 6, 1)
        store_16(frame + 10, VERSIONS_KEY)
        store_16(frame + 12, core.table.lowest)
        store_16(frame + 14, core.table.highest)
        size = 16
    owed_answer(&core.owed, number, frame, size)
    return send_answers(core)


cdef inline void request_passed(RelayCore* core, int64_t t) noexcept nogil:
    """The last byte of a request that passes has come."""
    cdef Stream* stream = &core.streams[REQUEST]
    cdef Owed* owed = owed_at(&core.owed, stream.owes) if stream.owes >= 0 else NULL
    if owed is not NULL:
        owed.time_ns = t
    if stream.seen_bytes:
        observe_request(core, stream.seen, stream.seen_bytes)
        stream.seen_bytes = 0
        free(stream.seen)
        stream.seen = NULL
    stream.owes = -1
    stream.drops = False


cdef inline void observe_request(RelayCore* core, Bytes payload, Py_ssize_t have) noexcept nogil:
    """RequestSide._observe; `streams[REQUEST]` has the number of what is owed for it, and its bytes."""
    cdef const Stream* stream = &core.streams[REQUEST]
    cdef Counters* counters = core.counters
    cdef Owed* owed = owed_at(&core.owed, stream.owes) if stream.owes >= 0 else NULL
    cdef int key = <int16_t>load_16(payload)
    cdef int version = <int16_t>load_16(payload + 2)
    have = min(have, <Py_ssize_t>MOST_OBSERVED)
    core.client = client_of(counters, core.table, key, version, payload, have, core.client)
    if owed is not NULL:
        owed.software, owed.client, owed.request_bytes = core.software, core.client, stream.frame_bytes
    elif stream.owes < 0:
        count_exchange(counters, core.software, core.client, key, version, NO_ERROR_CODE, stream.frame_bytes, 0, 0, False)
    if key == VERSIONS_KEY and is_known(core.table, key, version):
        core.software = software_of(counters, core.table, version, payload, have, core.software)


cdef inline int take_token(RelayCore* core, Bytes p, Py_ssize_t length, bint is_kept, int64_t t) except -1 nogil:
    """RequestSide._take_token; `p` is the frame's length."""
    cdef bint answered, varies
    cdef Owed* owed
    core.requests += 1
    with gil:
        answered = (<object>core.owner)._client_token(PyBytes_FromStringAndSize(<const char*>p + LENGTH, length))
        varies = (<object>core.owner)._tokens_vary()
    if answered:
        owed = owed_add(&core.owed, OWED_TOKEN)
        owed.time_ns, owed.api_key = t, <int16_t>(-1 if varies else AUTHENTICATE_KEY)
    send_start(core, REQUEST, p, LENGTH + length, is_kept)
    return 0


cdef inline int hold_request(RelayCore* core, Bytes p, Py_ssize_t length, int64_t t) except -1 nogil:
    """RequestSide._take_whole up to CALL."""
    cdef HeldFrame* held = &core.streams[REQUEST].held
    held.frame = <uint8_t*>malloc(length)
    if held.frame is NULL:
        with gil:
            raise MemoryError
    memcpy(held.frame, p + LENGTH, length)
    held.size = length
    held.api_key = <int16_t>load_16(p + LENGTH)
    held.api_version = held.asked_version = <int16_t>load_16(p + LENGTH + 2)
    held.correlation_id = <int32_t>load_32(p + LENGTH + ID_AT)
    held.wants_answer = not core.streams[REQUEST].silent
    held.is_new = True
    held.time_ns = t
    return 0


cdef inline int take_whole_request(RelayCore* core, Bytes p, Py_ssize_t length, int64_t t) except -1 nogil:
    """RequestSide._take_whole: the frame is held until it is known how it goes on; a program or PASS lets it go at once."""
    cdef HeldFrame* held = &core.streams[REQUEST].held
    cdef int32_t action
    core.requests += 1
    hold_request(core, p, length, t)
    action = request_action(core.table, held.api_key, held.api_version)
    if action == CALL:
        return 0
    held.is_new = False
    if action == PASS:
        return release_request(core, NULL, 0, BY_PLAN)
    with gil:
        (<object>core.owner)._edit(REQUEST, action)
    return 0


cdef inline bint fits(RelayCore* core, int side, Py_ssize_t size, Py_ssize_t shortest) noexcept nogil:
    """ConnectionState.fits."""
    if size > core.max_frame:
        relay_close(core, PROGRAM_TOO_LARGE, side, size)
    elif size < shortest:
        relay_close(core, LENGTH_TOO_SHORT, side, size)
    return shortest <= size <= core.max_frame


cdef inline int send_whole(RelayCore* core, int side, uint8_t* frame, Py_ssize_t size, Py_ssize_t id_at, int32_t number) except -1 nogil:
    """Send a whole frame, which lies in memory of a chunk, with its length and its correlation id."""
    cdef uint8_t* head = chunk_take(&core.chunks, LENGTH)
    store_32(head, <int32_t>size)
    store_32(frame + id_at, number)
    piece_add(&core.out[side], head, LENGTH)
    return piece_add(&core.out[side], frame, size)


cdef inline int release_request(RelayCore* core, uint8_t* frame, Py_ssize_t size, int32_t action) except -1 nogil:
    """RequestSide.send for the request that is held, as it is or as `frame`, in memory of a chunk, has it."""
    cdef HeldFrame* held = &core.streams[REQUEST].held
    cdef uint8_t* own = held.frame
    cdef Py_ssize_t whole = held.size
    held.frame = NULL
    chunk_adopt(&core.chunks, own)
    if frame is NULL:
        frame, size = own, whole
    held.size = 0
    if not fits(core, REQUEST, size, SHORTEST_REQUEST):
        return 0
    if held.api_key == HANDSHAKE_KEY and held.api_version == 0:
        with gil:
            (<object>core.owner)._handshake(PyBytes_FromStringAndSize(<const char*>frame, size))
        if core.reason != OPEN:
            return 0
    core.streams[REQUEST].owes = -1
    if held.wants_answer:
        core.streams[REQUEST].owes = core.owed.end
        expect_broker(core, held.api_key, held.api_version, held.correlation_id, held.time_ns)
        owed_at(&core.owed, core.owed.end - 1).action = action
    if core.counters is not NULL:
        core.streams[REQUEST].frame_bytes = LENGTH + whole
        observe_request(core, own, whole)
    core.streams[REQUEST].owes = -1
    return send_whole(core, REQUEST, frame, size, ID_AT, held.correlation_id)
