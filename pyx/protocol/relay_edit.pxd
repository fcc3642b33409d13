"""Programs of a plan that need no Python: edits of the codec, run over whole frames.

Short frames are copied into one piece. Of longer ones the stretches that stay are views of what was fed, or of the buffer in which the
frame was gathered, which then belongs to the pieces.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from codec.edit_run cimport EditDoor, Edited, edit_frame, edited_free, edited_open, store_change
from protocol.relay_owed cimport HANDSHAKE_KEY, Owed, owed_first
from protocol.relay_pieces cimport chunk_adopt, chunk_take, piece_add
from protocol.relay_request cimport ID_AT, SHORTEST_REQUEST, VERSIONS_KEY, expect_broker, fits, observe_request, store_32
from protocol.relay_response cimport (
    SHORTEST_RESPONSE, UNSUPPORTED_VERSION, action_of, answered, answered_version, count_answer, error_of,
)
from protocol.relay_state cimport LENGTH, PROGRAM_FAILED, REQUEST, RESPONSE, RelayCore, Stream, relay_close_api
from protocol.relay_table cimport PASS, RelayTable, is_known, request_action
from wire.cursor cimport Bytes, load_16, load_32

cdef enum:
    SHORT_FRAME = 4096  # bytes; a frame up to this is copied
    SHORT_STRETCH = 512
    MOST_EXPLAINED = 1 << 20  # kwire.protocol.relay.limits.MOST_EXPLAINED


cdef inline const EditDoor* program_of(const RelayTable* table, int32_t action) noexcept nogil:
    """The program that an action names, NULL where only Python has it."""
    return table.programs[action - 1] if action > PASS else NULL


cdef inline Py_ssize_t made_bytes(const Edited* edited, Py_ssize_t size, Py_ssize_t at, Py_ssize_t most) noexcept nogil:
    """Return the number of bytes of the edited frame to copy from `at` on, including stretches shorter than `most`."""
    cdef Py_ssize_t copied = 0
    cdef Py_ssize_t number, stretch
    for number in range(edited.count + 1):
        stretch = (edited.changes[number].start if number < edited.count else size) - at
        if stretch < most:
            copied += stretch
        if number < edited.count:
            copied += edited.changes[number].head_size + edited.changes[number].size
            at = edited.changes[number].stop
    return copied


cdef inline int send_edited(
    RelayCore* core, int side, Bytes p, Py_ssize_t length, bint is_kept, const Edited* edited, Py_ssize_t head, int32_t number
) except -1 nogil:
    """Send the frame that begins with its length at `p`. The last four bytes of its `head`, the correlation id, become `number`."""
    cdef Stream* stream = &core.streams[side]
    cdef Bytes frame = p + LENGTH
    cdef Py_ssize_t most = SHORT_FRAME + 1 if edited.size <= SHORT_FRAME else SHORT_STRETCH
    cdef Py_ssize_t at = head
    cdef Py_ssize_t each, stop
    cdef bint has_views = False
    cdef uint8_t* begin = chunk_take(&core.chunks, LENGTH + head + made_bytes(edited, length, head, most))
    cdef uint8_t* out = begin
    store_32(out, <int32_t>edited.size)
    out += LENGTH
    for each in range(head - 4):
        out[each] = frame[each]
    store_32(out + head - 4, number)
    out += head
    for each in range(edited.count + 1):
        stop = edited.changes[each].start if each < edited.count else length
        if stop - at < most:
            memcpy(out, frame + at, stop - at)
            out += stop - at
        else:
            piece_add(&core.out[side], begin, out - begin)
            begin = out
            piece_add(&core.out[side], frame + at, stop - at)
            has_views = True
        if each < edited.count:
            out = store_change(&edited.changes[each], out)
            at = edited.changes[each].stop
    piece_add(&core.out[side], begin, out - begin)
    if has_views and is_kept:
        chunk_adopt(&core.chunks, stream.kept.bytes)
        stream.kept.bytes = NULL
        stream.kept.size = stream.kept.room = 0
    return 0


cdef inline int failed(RelayCore* core, int side, int key, int version, int32_t action, Bytes frame, Py_ssize_t length) except -1 nogil:
    """Close for a program that failed; Python runs it again for the text of its error."""
    relay_close_api(core, PROGRAM_FAILED, side, key, version)
    if length <= MOST_EXPLAINED:
        with gil:
            (<object>core.owner)._explain(action, PyBytes_FromStringAndSize(<const char*>frame, length))
    return 0


cdef inline int edit_request(RelayCore* core, Bytes p, Py_ssize_t length, bint is_kept, int64_t t) except -1 nogil:
    """Edit a whole request as `RequestSide._take_whole` does; return 0 if no native program fits the frame."""
    cdef int key = <short>load_16(p + LENGTH)
    cdef int version = <short>load_16(p + LENGTH + 2)
    cdef int32_t number = <int32_t>load_32(p + LENGTH + ID_AT)
    cdef const EditDoor* program = NULL
    cdef Edited edited
    cdef int done
    if is_known(core.table, key, version) and key != HANDSHAKE_KEY:  # behind which raw tokens may come
        program = program_of(core.table, request_action(core.table, key, version))
    if program is NULL:
        return 0
    core.requests += 1
    try:
        done = edit_frame(program, p + LENGTH, length, &edited)
        if not done:
            failed(core, REQUEST, key, version, request_action(core.table, key, version), p + LENGTH, length)
        elif fits(core, REQUEST, edited.size, SHORTEST_REQUEST):
            core.streams[REQUEST].owes = -1
            if not core.streams[REQUEST].silent:
                core.streams[REQUEST].owes = core.owed.end
                expect_broker(core, key, version, number, t)
            if core.counters is not NULL:
                core.streams[REQUEST].frame_bytes = LENGTH + length
                observe_request(core, p + LENGTH, length)
            core.streams[REQUEST].owes = -1
            send_edited(core, REQUEST, p, length, is_kept, &edited, SHORTEST_REQUEST, number)
    finally:
        edited_free(&edited)
    return 1


cdef inline int edit_response(RelayCore* core, Bytes p, Py_ssize_t length, bint is_kept, int64_t t) except -1 nogil:
    """Edit a whole response as `ResponseSide._take_whole` does; return 0 if no native program fits the frame."""
    cdef const Owed* first = owed_first(&core.owed)
    cdef int32_t number = first.correlation_id
    cdef const EditDoor* program
    cdef Edited edited
    cdef int done
    cdef int error = error_of(p, LENGTH + length, length)
    cdef int version = answered_version(first, error)
    cdef int32_t action
    action = action_of(core, first, version)
    program = program_of(core.table, action)
    if program is NULL:
        return 0
    if core.counters is not NULL:
        count_answer(core, p + LENGTH, length, LENGTH + length, t)
    try:
        done = edit_frame(program, p + LENGTH, length, &edited)
        if not done and first.api_key == VERSIONS_KEY and error == UNSUPPORTED_VERSION:  # kwire.protocol.relay.heads.is_refused_version
            edited_free(&edited)
            edited_open(&edited, length)
            done = 1
        if not done:
            failed(core, RESPONSE, first.api_key, version, action, p + LENGTH, length)
        elif fits(core, RESPONSE, edited.size, SHORTEST_RESPONSE):
            send_edited(core, RESPONSE, p, length, is_kept, &edited, SHORTEST_RESPONSE, number)
            answered(core)
    finally:
        edited_free(&edited)
    return 1
