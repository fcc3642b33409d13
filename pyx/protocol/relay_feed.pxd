"""Bytes into a relay: what a loop calls without the GIL, and what every call ends with.

    relay_begin(core)                              pieces of the call before are not needed any more
    relay_feed(core, REQUEST, data, size, t)       any number of calls, all of whose bytes stay where they are
    relay_finish(core, t)                          core.out[REQUEST], core.out[RESPONSE]: pieces towards server and client
                                                   core.streams[side].held.is_new: a frame was held, for `Relay.held_frame`
                                                   core.ends[side]: shut down writing; core.reason: close

kwire/protocol/relay/relay.py is the contract.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from protocol.frame_cutter cimport cutter_add, cutter_empty
from protocol.relay_edit cimport edit_request, edit_response
from protocol.relay_owed cimport owed_count
from protocol.relay_pieces cimport chunk_adopt, chunks_clear, piece_add
from protocol.relay_request cimport look_at_request, request_passed, take_token, take_whole_request
from protocol.relay_response cimport look_at_response, response_passed, take_server_token, take_whole_response
from protocol.relay_state cimport (
    BUDGET_EXHAUSTED, FRAME_UNFINISHED, HELD_TOO_LARGE, LENGTH, OPEN, RAW, REQUEST, RESPONSE, SERVER_ENDED, VERDICT, WHOLE, RelayCore,
    Stream, add_shared, bytes_kept, is_blocked, is_inside, relay_close, relay_kept, see,
)
from wire.cursor cimport Bytes, load_32


cdef inline void relay_begin(RelayCore* core) noexcept nogil:
    """A call begins: the pieces of the one before have been sent."""
    core.out[REQUEST].count = core.out[RESPONSE].count = 0
    core.ends[REQUEST] = core.ends[RESPONSE] = False
    core.streams[REQUEST].held.is_new = core.streams[RESPONSE].held.is_new = False
    if core.chunks is not NULL:
        chunks_clear(&core.chunks)


cdef inline int frame_passed(RelayCore* core, int side, int64_t t) except -1 nogil:
    """The last byte of a frame that passes has come."""
    if side == REQUEST:
        request_passed(core, t)
        return 0
    return response_passed(core, t)


cdef inline Py_ssize_t take_gathered(RelayCore* core, int side, Bytes p, bint is_kept, int64_t t) except -1 nogil:
    """A frame is whole that was waited for; gives how many bytes it has, its length among them."""
    cdef Stream* stream = &core.streams[side]
    cdef Py_ssize_t length = <Py_ssize_t>load_32(p)
    cdef int gathered = stream.gathered
    stream.gathered = VERDICT
    if gathered == RAW:
        if side == REQUEST:
            take_token(core, p, length, is_kept, t)
        else:
            take_server_token(core, p, length, is_kept)
    elif side == REQUEST:
        if not edit_request(core, p, length, is_kept, t):
            take_whole_request(core, p, length, t)
    elif not edit_response(core, p, length, is_kept, t):
        take_whole_response(core, p, length, t)
    return LENGTH + length


cdef inline Py_ssize_t look(RelayCore* core, int side, Bytes p, Py_ssize_t have, bint is_kept, int64_t t) except -1 nogil:
    """Do what can be done with the frame that begins at `p`: gives how many of its bytes are done; else, negative, how many are needed.
    0 means that there is a reason to close.
    """
    cdef Stream* stream = &core.streams[side]
    cdef Py_ssize_t found
    if stream.gathered == VERDICT:
        if side == REQUEST:
            found = look_at_request(core, p, have, is_kept, t)
        else:
            found = look_at_response(core, p, have, is_kept, t)
        if found == 0 or core.reason != OPEN:
            return 0
        if stream.gathered == VERDICT:
            if found > have:
                return -1 - found
            if stream.kept.skip == 0:
                frame_passed(core, side, t)
            return found
    found = LENGTH + <Py_ssize_t>load_32(p)
    if found > have:
        return -1 - found
    return take_gathered(core, side, p, is_kept, t)


cdef inline int relay_feed(RelayCore* core, int side, Bytes data, Py_ssize_t size, int64_t t) except -1 nogil:
    """Take bytes of one side, which must stay where they are until the pieces are sent. `t` is in nanoseconds."""
    cdef Stream* stream = &core.streams[side]
    cdef Py_ssize_t taken, found
    while size and core.reason == OPEN:
        if is_blocked(core, side):
            cutter_add(&stream.parked, data, size)
            return 0
        if stream.kept.skip:
            taken = <Py_ssize_t>min(stream.kept.skip, <int64_t>size)
            if not stream.drops:
                piece_add(&core.out[side], data, taken)
            if stream.seen_bytes and not stream.drops:
                see(core, side, data, taken)
            data += taken
            size -= taken
            stream.kept.skip -= taken
            if stream.kept.skip == 0:
                frame_passed(core, side, t)
            continue
        if stream.kept.size == 0:
            found = look(core, side, data, size, False, t)
            if found > 0:
                data += found
                size -= found
            elif found < 0:
                cutter_add(&stream.kept, data, size)
                stream.kept.need = -1 - found
                return 0
            continue
        taken = <Py_ssize_t>min(stream.kept.need - stream.kept.size, <int64_t>size)
        cutter_add(&stream.kept, data, taken)
        data += taken
        size -= taken
        if stream.kept.size < stream.kept.need:
            return 0
        found = look(core, side, stream.kept.bytes, stream.kept.size, True, t)
        if found > 0:
            cutter_empty(&stream.kept)
        elif found < 0:
            stream.kept.need = -1 - found
    return 0


cdef inline int relay_drain(RelayCore* core, int side, int64_t t) except -1 nogil:
    """Take what waited behind a frame that was held."""
    cdef Stream* stream = &core.streams[side]
    cdef uint8_t* parked = stream.parked.bytes
    cdef Py_ssize_t size = stream.parked.size
    if size == 0 or is_blocked(core, side) or core.reason != OPEN:
        return 0
    stream.parked.bytes = NULL
    stream.parked.size = stream.parked.room = 0
    chunk_adopt(&core.chunks, parked)
    return relay_feed(core, side, parked, size, t)


cdef inline int relay_finish(RelayCore* core, int64_t t) except -1 nogil:
    """The end of every call: ends and limits."""
    if core.streams[REQUEST].parked.size:
        relay_drain(core, REQUEST, t)
    if core.streams[REQUEST].ended or core.streams[RESPONSE].ended:
        give_end(core, REQUEST)
        give_end(core, RESPONSE)
    keep_limits(core)
    return 0


cdef inline void keep_limits(RelayCore* core) noexcept nogil:
    """Relay._keep_limits."""
    cdef int64_t kept = relay_kept(core) if core.reason == OPEN else 0
    cdef int fuller = REQUEST if bytes_kept(&core.streams[REQUEST]) > bytes_kept(&core.streams[RESPONSE]) else RESPONSE
    if kept > core.max_held:
        relay_close(core, HELD_TOO_LARGE, fuller, kept)
        kept = 0
    if core.budget is NULL or kept == core.reserved:
        return
    if add_shared(&core.budget.used, kept - core.reserved) > core.budget.limit:
        add_shared(&core.budget.used, -kept)
        core.reserved = 0
        if kept:
            relay_close(core, BUDGET_EXHAUSTED, fuller, 0)
    else:
        core.reserved = kept


cdef inline void give_end(RelayCore* core, int side) noexcept nogil:
    """Relay._give_ends for one side."""
    cdef Stream* stream = &core.streams[side]
    cdef int64_t waiting
    if not stream.ended or stream.is_over or stream.held.frame is not NULL or stream.parked.size or core.reason != OPEN:
        return
    stream.is_over = True
    if is_inside(stream):
        relay_close(core, FRAME_UNFINISHED, side, 0)
        return
    core.ends[side] = True
    waiting = owed_count(&core.owed) - core.owed.answers
    if side == RESPONSE and waiting:
        relay_close(core, SERVER_ENDED, RESPONSE, waiting)
