"""Bytes of one thread's connections, copied for the taps: the loop adds without the GIL, and one other thread takes them.

Memory is bounded: what does not fit is left out, and the next record of that side says how much. Two buffers are used in turns and kept,
for new pages cost more than copying.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from protocol.relay_pieces cimport Piece
from proxy.linux_sockets cimport eventfd_write, wall_ns
from wire.cursor cimport Bytes
from wire.grown cimport grown

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    int pthread_mutex_init(pthread_mutex_t* mutex, const void* attributes)
    int pthread_mutex_destroy(pthread_mutex_t* mutex)
    int pthread_mutex_lock(pthread_mutex_t* mutex)
    int pthread_mutex_unlock(pthread_mutex_t* mutex)

cdef enum:
    TAP_CLOSED = 2  # kind of a record; 0 and 1 are the client's bytes and those that it gets
    TAP_BATCH = 256 << 10  # bytes, with which the other thread is woken once more
    TAP_LEAST = 64 << 10

# Before the bytes of a record.
cdef struct TapRecord:
    uint64_t number  # of the connection
    int64_t time_ns  # since 1970 UTC
    int64_t missed  # bytes of this side that come before these and were left out
    int64_t size
    int32_t kind

cdef struct TapBuffer:
    uint8_t* bytes
    Py_ssize_t size
    Py_ssize_t room
    uint8_t* taken  # the one that is read
    Py_ssize_t taken_at
    Py_ssize_t taken_size
    Py_ssize_t taken_room
    Py_ssize_t limit  # 0: nothing is tapped
    int64_t missed  # bytes, of all connections
    int wake  # eventfd of the thread that takes
    pthread_mutex_t mutex


cdef inline void tap_add(
    TapBuffer* tap, uint64_t number, int kind, int64_t* missed, const Piece* pieces, Py_ssize_t count
) noexcept nogil:
    """Add a record; one without bytes always fits. `missed` counts bytes of this side that were left out since its last record."""
    cdef TapRecord record
    cdef Py_ssize_t before, index, wanted
    cdef uint8_t* made = NULL
    cdef bint wakes = False
    record.number, record.kind, record.missed, record.size, record.time_ns = number, kind, missed[0], 0, wall_ns()
    for index in range(count):
        record.size += pieces[index].size
    pthread_mutex_lock(&tap.mutex)
    before = tap.size
    wanted = before + <Py_ssize_t>sizeof(TapRecord) + record.size
    if record.size == 0 or wanted <= tap.limit:
        made = <uint8_t*>grown(tap.bytes, &tap.room, wanted, TAP_LEAST, 1)
    if made is NULL:
        missed[0] += record.size
        tap.missed += record.size
    else:
        missed[0] = 0
        tap.bytes, tap.size = made, wanted
        made += before
        memcpy(made, &record, sizeof(TapRecord))
        made += sizeof(TapRecord)
        for index in range(count):
            memcpy(made, pieces[index].base, pieces[index].size)
            made += pieces[index].size
        wakes = before == 0 or before < TAP_BATCH <= wanted
    pthread_mutex_unlock(&tap.mutex)
    if wakes:
        eventfd_write(tap.wake, 1)


cdef inline bint tap_next(TapBuffer* tap, TapRecord* record, Bytes* data) noexcept nogil:
    """The oldest record that was not taken; False where there is none. Its bytes stay until the next call."""
    if tap.taken_at == tap.taken_size:
        pthread_mutex_lock(&tap.mutex)
        tap.taken, tap.bytes = tap.bytes, tap.taken
        tap.taken_room, tap.room = tap.room, tap.taken_room
        tap.taken_at, tap.taken_size, tap.size = 0, tap.size, 0
        pthread_mutex_unlock(&tap.mutex)
        if tap.taken_size == 0:
            return False
    memcpy(record, tap.taken + tap.taken_at, sizeof(TapRecord))
    data[0] = tap.taken + tap.taken_at + sizeof(TapRecord)
    tap.taken_at += <Py_ssize_t>sizeof(TapRecord) + record.size
    return True


cdef inline void tap_free(TapBuffer* tap) noexcept nogil:
    free(tap.bytes)
    free(tap.taken)
    pthread_mutex_destroy(&tap.mutex)
