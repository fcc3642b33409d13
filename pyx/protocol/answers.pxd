"""Answers that were understood before: what servers advertise, the nodes of a cluster, names of topics, heartbeats that say nothing.

A server says the same a thousand times. The first time Python reads it, and gives the lists of the first and last time that it entered what
it learned under; from then on only these times move, here, until `answers_write_back` brings them home.

Bounded: beyond `MOST_ANSWERS` answers or `MOST_ANSWER_BYTES` bytes all are forgotten, and learned again.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from protocol.text_table cimport hash_bytes
from wire.cursor cimport Bytes
from wire.raw_python cimport raw_incref, raw_xdecref

cdef enum:
    MOST_ANSWERS = 4096
    MOST_ANSWER_BYTES = 16 << 20

cdef struct Answer:
    uint64_t hashed
    unsigned char* bytes  # by which it is known again
    Py_ssize_t size
    PyObject* learned  # tuple of lists that end in the times of the first and the last, in microseconds; NULL for none
    PyObject* ranges  # of an ApiVersions response: as in VersionsLearned, NULL where it lists too few
    int64_t first_us
    int64_t last_us
    PyObject* columns  # of an ApiVersions response: a dict of the columns of `requests` that it feeds; NULL without
    int32_t error_code
    bint moved  # the times are not home

cdef struct AnswerTable:
    uint64_t seed
    Answer* answers
    Py_ssize_t count
    Py_ssize_t room
    Py_ssize_t size
    int32_t* slots  # number plus one; 2 * MOST_ANSWERS of them


cdef inline int answers_write_back(AnswerTable* table) except -1:
    """Bring the times of all answers home."""
    cdef Py_ssize_t index
    cdef Answer* answer
    cdef object seen
    for index in range(table.count):
        answer = table.answers + index
        if not answer.moved or answer.learned is NULL:
            continue
        for seen in <tuple><object>answer.learned:
            if seen[-2] is None or answer.first_us < seen[-2]:
                seen[-2] = answer.first_us
            if seen[-1] is None or answer.last_us > seen[-1]:
                seen[-1] = answer.last_us
        answer.moved = False
    return 0


cdef inline void answers_clear(AnswerTable* table) noexcept:
    cdef Py_ssize_t index
    for index in range(table.count):
        free(table.answers[index].bytes)
        raw_xdecref(table.answers[index].learned)
        raw_xdecref(table.answers[index].ranges)
        raw_xdecref(table.answers[index].columns)
    table.count = table.size = 0
    if table.slots is not NULL:
        memset(table.slots, 0, 2 * MOST_ANSWERS * sizeof(int32_t))


cdef inline void answers_free(AnswerTable* table) noexcept:
    answers_clear(table)
    free(table.answers)
    free(table.slots)
    memset(table, 0, sizeof(AnswerTable))


cdef inline Answer* answer_find(const AnswerTable* table, Bytes key, Py_ssize_t size) noexcept nogil:
    """The answer that is known by these bytes, NULL for none. Valid until one is added."""
    cdef uint64_t hashed
    cdef uint64_t slot
    cdef Answer* answer
    if table.slots is NULL:
        return NULL
    hashed = hash_bytes(table.seed, key, size)
    slot = hashed & (2 * MOST_ANSWERS - 1)
    while table.slots[slot]:
        answer = table.answers + table.slots[slot] - 1
        if answer.hashed == hashed and answer.size == size and memcmp(answer.bytes, key, size) == 0:
            return answer
        slot = (slot + 1) & (2 * MOST_ANSWERS - 1)
    return NULL


cdef inline void answer_seen(Answer* answer, int64_t time_us) noexcept nogil:
    """It came again."""
    if not answer.moved:
        answer.first_us = answer.last_us = time_us
        answer.moved = True
    elif time_us > answer.last_us:
        answer.last_us = time_us
    elif time_us < answer.first_us:
        answer.first_us = time_us


cdef inline Answer* answer_add(AnswerTable* table, Bytes key, Py_ssize_t size) except NULL:
    """A new answer, with nothing in it but its bytes."""
    cdef Answer* answer
    cdef Answer* grown
    cdef uint64_t slot
    if table.slots is NULL:
        table.slots = <int32_t*>calloc(2 * MOST_ANSWERS, sizeof(int32_t))
    if table.count == MOST_ANSWERS or table.size + size > MOST_ANSWER_BYTES:
        answers_write_back(table)
        answers_clear(table)
    if table.count == table.room:
        grown = <Answer*>realloc(table.answers, (table.room + 64) * sizeof(Answer))
        if grown is not NULL:
            table.answers = grown
            table.room += 64
    if table.slots is NULL or table.count == table.room:
        raise MemoryError
    answer = table.answers + table.count
    memset(answer, 0, sizeof(Answer))
    answer.bytes = <unsigned char*>malloc(size + 1)
    if answer.bytes is NULL:
        raise MemoryError
    memcpy(answer.bytes, key, size)
    answer.size = size
    answer.hashed = hash_bytes(table.seed, key, size)
    slot = answer.hashed & (2 * MOST_ANSWERS - 1)
    while table.slots[slot]:
        slot = (slot + 1) & (2 * MOST_ANSWERS - 1)
    table.count += 1
    table.size += size
    table.slots[slot] = <int32_t>table.count
    return answer


cdef inline PyObject* kept(object value) noexcept:
    """A reference of one's own; NULL for None."""
    if value is None:
        return NULL
    raw_incref(<PyObject*>value)
    return <PyObject*>value
