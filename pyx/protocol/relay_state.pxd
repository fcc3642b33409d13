"""The state of a relay as a C struct: kwire/protocol/relay/connection_state.py and frame_stream.py.

All of it works without the GIL, but for raw SASL tokens and programs that only Python has.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from protocol.frame_cutter cimport Cutter, cutter_add, cutter_free
from protocol.relay_counters cimport MOST_OBSERVED, MOST_SEEN, Counters
from protocol.relay_owed cimport MAX_OWED, OWED_ANSWER, Owed, OwedRing, ends_in_sasl, owed_count, owed_first, owed_take
from protocol.relay_pieces cimport Chunk, Piece, Pieces, chunk_adopt, chunks_clear, piece_add
from protocol.relay_table cimport RelayTable
from wire.cursor cimport Bytes

cdef enum:
    LENGTH = 4
    REQUEST = 0  # also: towards the server
    RESPONSE = 1  # also: towards the client
    MAX_HEAD = 1 << 17  # kwire.protocol.relay.heads.MAX_HEAD
    MAX_AUTHENTICATION = 512 << 10  # kwire.protocol.relay.heads.MAX_AUTHENTICATION

cdef enum CloseReason:
    # By their order in kwire.protocol.relay.moves.CLOSE_TEXTS
    OPEN = 0
    LENGTH_NEGATIVE = 1
    LENGTH_TOO_LARGE = 2
    LENGTH_TOO_SHORT = 3
    HEAD_TOO_LONG = 4
    HEADER_MALFORMED = 5
    RESPONSE_UNEXPECTED = 6
    RESPONSE_MISMATCHED = 7
    REFUSED = 8
    UNKNOWN_API = 9
    HELD_TOO_LARGE = 10
    BUDGET_EXHAUSTED = 11
    PROGRAM_FAILED = 12
    PROGRAM_TOO_LARGE = 13
    SASL_UNKNOWN_MECHANISM = 14
    FRAME_UNFINISHED = 15
    SERVER_ENDED = 16
    SASL_WITHOUT_HANDSHAKE = 17
    SASL_REFUSED = 18
    AUTHENTICATION_TOO_LARGE = 19

cdef enum Gathered:
    # What the bytes that are kept of a frame wait for
    VERDICT = 0
    WHOLE = 1
    RAW = 2

# A frame that is held.
cdef struct HeldFrame:
    uint8_t* frame  # without its length; NULL where nothing is held
    Py_ssize_t size
    int16_t api_key
    int16_t api_version
    int16_t asked_version
    int32_t correlation_id
    bint wants_answer
    bint is_new  # completed by the current call
    int64_t time_ns

cdef struct Stream:
    Cutter kept  # bytes of the current frame that have not gone out, its length first; `skip` until the end of one that passes
    Cutter parked  # bytes behind a frame that is held
    int32_t gathered
    bint drops  # the bytes that pass go nowhere
    bint silent  # the frame is a Produce with acks 0
    bint ended
    bint is_over  # its end was given on
    int64_t owes  # number of the entry in the ring for the request that passes, -1 for none
    HeldFrame held
    # of a frame that passes, for counters
    int64_t frame_bytes  # its length among them
    uint8_t* seen  # the first bytes, without the length; MOST_OBSERVED of a request, MOST_SEEN of a response
    int32_t seen_bytes

# What passes without a call of a rule: protocol/relay_lease.pxd.
cdef struct Lease:
    bint is_on
    int64_t until
    int64_t left[3]  # bytes of requests, bytes of responses, and requests
    Bytes client
    Py_ssize_t client_size

# What all relays that share it keep together.
cdef struct Budget:
    int64_t limit
    int64_t used

cdef struct RelayCore:
    const RelayTable* table
    Lease* lease  # NULL for none
    const RelayTable* next_table  # behind the lease
    Budget* budget  # NULL for none
    PyObject* owner  # the relay, borrowed: what only Python does
    PyObject* tokens  # RawTokens, NULL before the first raw token
    Stream streams[2]
    Pieces out[2]  # towards the server, towards the client
    bint ends[2]  # no more bytes will go there
    Chunk* chunks
    OwedRing owed
    int64_t max_frame
    int64_t max_held
    int64_t reserved
    Counters* counters  # NULL for none
    int32_t software  # as counters have it
    int32_t client  # of the latest request
    int64_t requests
    bint busy  # a call runs: the pieces of another one would be freed under it
    bint tokens_open
    bint requests_ended  # none begins any more
    int32_t reason  # why to close
    int32_t side  # whose bytes were at fault
    int64_t value
    int32_t api_version  # of the API that `value` names

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define KWIRE_ADD(number, count) __atomic_add_fetch((number), (count), __ATOMIC_RELAXED)
    #else
    #include <intrin.h>
    #define KWIRE_ADD(number, count) (_InterlockedExchangeAdd64((number), (count)) + (count))
    #endif
    """
    int64_t add_shared "KWIRE_ADD"(int64_t* number, int64_t count) noexcept nogil


cdef inline int relay_close(RelayCore* core, int reason, int side, int64_t value) noexcept nogil:
    """The first reason counts. Gives 0."""
    if core.reason == OPEN:
        core.reason, core.side, core.value = reason, side, value
    return 0


cdef inline int relay_close_api(RelayCore* core, int reason, int side, int key, int version) noexcept nogil:
    """Close for a frame of an API; its key is the value."""
    if core.reason == OPEN:
        core.api_version = version
    return relay_close(core, reason, side, key)


cdef inline bint is_blocked(const RelayCore* core, int side) noexcept nogil:
    """Relay._is_blocked."""
    if core.streams[side].held.frame is not NULL:
        return True
    if side != REQUEST or core.streams[REQUEST].kept.skip:
        return False
    return core.requests_ended or owed_count(&core.owed) >= MAX_OWED or ends_in_sasl(&core.owed)


cdef inline Py_ssize_t bytes_kept(const Stream* stream) noexcept nogil:
    return stream.kept.size + stream.parked.size


cdef inline bint is_inside(const Stream* stream) noexcept nogil:
    return stream.kept.skip or stream.kept.size or stream.parked.size


cdef inline bint relay_is_idle(const RelayCore* core) noexcept nogil:
    """Relay.is_idle."""
    cdef const Stream* client = &core.streams[REQUEST]
    cdef const Stream* server = &core.streams[RESPONSE]
    if client.kept.skip or (is_inside(client) and not core.requests_ended) or is_inside(server):
        return False
    return client.held.frame is NULL and server.held.frame is NULL and owed_count(&core.owed) == 0


cdef inline int64_t relay_kept(const RelayCore* core) noexcept nogil:
    cdef int64_t kept = bytes_kept(&core.streams[0]) + bytes_kept(&core.streams[1]) + core.owed.kept
    return kept + core.streams[0].held.size + core.streams[1].held.size


cdef inline int send_answers(RelayCore* core) except -1 nogil:
    """ConnectionState.send_answers."""
    cdef Owed* first
    while core.owed.answers:
        first = owed_first(&core.owed)
        if first.kind != OWED_ANSWER:
            break
        chunk_adopt(&core.chunks, first.frame)
        piece_add(&core.out[RESPONSE], first.frame, first.size)
        owed_take(&core.owed)
    return 0


cdef inline void relay_free(RelayCore* core) noexcept nogil:
    """Give back all memory."""
    cdef Owed* first
    cdef int side
    if core.budget is not NULL:
        add_shared(&core.budget.used, -core.reserved)
        core.reserved = 0
    for side in range(2):
        cutter_free(&core.streams[side].kept)
        cutter_free(&core.streams[side].parked)
        free(core.streams[side].seen)
        core.streams[side].seen = NULL
        free(core.streams[side].held.frame)
        core.streams[side].held.frame = NULL
        free(core.out[side].items)
        core.out[side].items = NULL
    while owed_count(&core.owed):
        first = owed_first(&core.owed)
        if first.kind == OWED_ANSWER:
            free(first.frame)
        owed_take(&core.owed)
    free(core.owed.items)
    core.owed.items = NULL
    chunks_clear(&core.chunks)


cdef inline int see(RelayCore* core, int side, Bytes data, Py_ssize_t size) except -1 nogil:
    """These bytes of a frame pass; only called while `seen_bytes` is below what is looked at."""
    cdef Stream* stream = &core.streams[side]
    cdef Py_ssize_t most = MOST_OBSERVED if side == REQUEST else MOST_SEEN
    cdef Py_ssize_t taken = min(size, most - stream.seen_bytes)
    if stream.seen is NULL:
        stream.seen = <uint8_t*>malloc(most)
        if stream.seen is NULL:
            with gil:
                raise MemoryError
    memcpy(stream.seen + stream.seen_bytes, data, taken)
    stream.seen_bytes += <int32_t>taken
    return 0
