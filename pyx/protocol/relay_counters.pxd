"""Counters of relays: kwire/protocol/relay/counters.py and observed.py, without a Python object.

One thread counts; others may read meanwhile. Rows never move, and `locked` is held while texts or rows are added.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memchr, memcmp, memcpy

from protocol.relay_table cimport RelayTable, is_known, skip_header
from protocol.text_table cimport TextTable, hash_bytes, text_find, text_intern, text_is, texts_free, texts_open
from wire.cursor cimport Bytes, Cursor, cursor_has, cursor_open, likely, load_16, read_length_compact
from wire.utf8 cimport is_utf8

cdef enum:
    # The numbers of kwire.protocol.relay.observed and counters
    MOST_OBSERVED = 1024
    MOST_SEEN = 32
    MOST_TEXT = 255
    BUCKETS = 32
    CLIENT_AT = 8
    API_VERSIONS_KEY = 18

cdef enum:
    # In place of the number of a text
    TEXT_NULL = -1
    TEXT_OTHER = -2
    TEXT_UNKNOWN = -3
    NO_ERROR_CODE = 1 << 20  # in place of an error code
    PAGE = 64  # rows

# What is counted under one key.
cdef struct Row:
    int32_t software
    int32_t client
    int32_t error_code
    int16_t api_key
    int16_t api_version
    int64_t exchanges
    int64_t request_bytes
    int64_t response_bytes
    int64_t latency_us
    int64_t latencies[BUCKETS]

cdef struct Counters:
    TextTable clients
    TextTable software  # name, a zero byte, version
    Row** pages
    int32_t* slots  # row numbers + 1, open addressing
    int64_t slot_mask
    int32_t rows
    int32_t max_rows
    int32_t max_clients
    int32_t max_software
    int64_t dropped
    Row* latest  # of the exchange before
    int32_t locked

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define KWIRE_TRY_LOCK(lock) (!__atomic_exchange_n((lock), 1, __ATOMIC_ACQUIRE))
    #define KWIRE_UNLOCK(lock) __atomic_store_n((lock), 0, __ATOMIC_RELEASE)
    #else
    #include <intrin.h>
    #define KWIRE_TRY_LOCK(lock) (!_InterlockedExchange((volatile long *)(lock), 1))
    #define KWIRE_UNLOCK(lock) _InterlockedExchange((volatile long *)(lock), 0)
    #endif
    """
    bint try_lock "KWIRE_TRY_LOCK"(int32_t* lock) noexcept nogil
    void unlock "KWIRE_UNLOCK"(int32_t* lock) noexcept nogil


cdef inline int counters_open(Counters* counters, int32_t max_clients, int32_t max_software, int32_t max_rows, uint64_t seed) except -1:
    """Fill empty counters."""
    cdef int64_t slots = 64
    while slots < 2 * <int64_t>max_rows:
        slots *= 2
    counters.max_clients, counters.max_software, counters.max_rows = max_clients, max_software, max_rows
    counters.pages = <Row**>calloc(max_rows // PAGE + 1, sizeof(Row*))
    counters.slots = <int32_t*>calloc(slots, sizeof(int32_t))
    counters.slot_mask = slots - 1
    if counters.pages is NULL or counters.slots is NULL:
        raise MemoryError
    texts_open(&counters.clients, seed, 16)
    texts_open(&counters.software, seed, 16)
    return 0


cdef inline void counters_free(Counters* counters) noexcept nogil:
    cdef int32_t page
    if counters.pages is not NULL:
        for page in range(counters.max_rows // PAGE + 1):
            free(counters.pages[page])
    free(counters.pages)
    free(counters.slots)
    texts_free(&counters.clients)
    texts_free(&counters.software)


cdef inline Row* row_at(const Counters* counters, int32_t number) noexcept nogil:
    return &counters.pages[number // PAGE][number % PAGE]


cdef inline void lock(Counters* counters) noexcept nogil:
    while not try_lock(&counters.locked):
        pass


cdef inline bint is_plain(Bytes text, Py_ssize_t size) noexcept nogil:
    """observed._text: whether a text counts as itself. What is replaced, and the replacement itself, count as others."""
    cdef Py_ssize_t at
    if size > MOST_TEXT or not is_utf8(text, size):
        return False
    for at in range(size - 2):
        if text[at] == 0xEF and text[at + 1] == 0xBF and text[at + 2] == 0xBD:
            return False
    return not (size == 5 and memcmp(text, b"other", 5) == 0)


cdef inline int32_t text_counted(Counters* counters, TextTable* table, int32_t most, Bytes text, Py_ssize_t size) noexcept nogil:
    """The number of a text, TEXT_OTHER where it is new and the table is full. A table begins with one text, which does not count."""
    cdef uint64_t slot
    cdef int32_t number = text_find(table, text, size, hash_bytes(table.seed, text, size), &slot)
    if number >= 0:
        return number
    if table.count > most:
        return TEXT_OTHER
    lock(counters)
    number = text_intern(table, text, size)
    unlock(&counters.locked)
    return number if number >= 0 else TEXT_OTHER


cdef inline int32_t client_of(
    Counters* counters, const RelayTable* table, int key, int version, Bytes payload, Py_ssize_t have, int32_t latest
) noexcept nogil:
    """observed.client_of and RelayCounters.client; `latest`: the number of the request before, most often the same."""
    cdef Cursor cursor
    cdef int size
    if not is_known(table, key, version) or table.header_versions[key][version] <= 0:
        return TEXT_NULL
    cursor_open(&cursor, payload, have, CLIENT_AT)
    if not cursor_has(&cursor, 2):
        return TEXT_OTHER
    size = <int16_t>load_16(cursor.p)
    cursor.p += 2
    if size < 0:
        return TEXT_NULL
    if not cursor_has(&cursor, size):
        return TEXT_OTHER
    if likely(latest >= 0 and text_is(&counters.clients, latest, cursor.p, size)):
        return latest
    if not is_plain(cursor.p, size):
        return TEXT_OTHER
    return text_counted(counters, &counters.clients, counters.max_clients, cursor.p, size)


cdef inline int32_t software_of(
    Counters* counters, const RelayTable* table, int version, Bytes payload, Py_ssize_t have, int32_t before
) noexcept nogil:
    """observed.software_of and RelayCounters.software; `before` where the request says nothing."""
    cdef Cursor cursor
    cdef Bytes texts[2]
    cdef Py_ssize_t sizes[2]
    cdef uint8_t pair[2 * MOST_TEXT + 1]
    cdef int index
    if version < 3:
        return before
    cursor_open(&cursor, payload, have, 0)
    if not skip_header(table, API_VERSIONS_KEY, version, &cursor):
        return before
    for index in range(2):
        sizes[index] = read_length_compact(&cursor, False)
        if sizes[index] < 0 or not cursor_has(&cursor, sizes[index]):
            return before
        texts[index] = cursor.p
        cursor.p += sizes[index]
    for index in range(2):
        if not is_plain(texts[index], sizes[index]) or memchr(texts[index], 0, sizes[index]) is not NULL:
            return TEXT_OTHER
    memcpy(pair, texts[0], sizes[0])
    pair[sizes[0]] = 0
    memcpy(pair + sizes[0] + 1, texts[1], sizes[1])
    return text_counted(counters, &counters.software, counters.max_software, pair, sizes[0] + 1 + sizes[1])


cdef inline int32_t error_of(const RelayTable* table, int key, int version, Bytes payload, Py_ssize_t have) noexcept nogil:
    """observed.error_of, or NO_ERROR_CODE."""
    cdef int at
    if not is_known(table, key, version):
        return NO_ERROR_CODE
    at = table.errors_at[key][version]
    if at < 0 or have < at + 2 or (table.flexible_answers[key][version] and payload[4] != 0):
        return NO_ERROR_CODE
    return <int16_t>load_16(payload + at)


cdef inline Row* row_add(
    Counters* counters, int32_t software, int32_t client, int key, int version, int32_t error, int64_t slot
) noexcept nogil:
    """A new row; NULL where there are as many as may be, or no memory."""
    cdef int32_t number = counters.rows
    cdef Row* row
    if number >= counters.max_rows:
        return NULL
    if counters.pages[number // PAGE] is NULL:
        counters.pages[number // PAGE] = <Row*>calloc(PAGE, sizeof(Row))
        if counters.pages[number // PAGE] is NULL:
            return NULL
    row = row_at(counters, number)
    row.software, row.client, row.error_code = software, client, error
    row.api_key, row.api_version = <int16_t>key, <int16_t>version
    lock(counters)
    counters.slots[slot] = number + 1
    counters.rows += 1
    unlock(&counters.locked)
    return row


cdef inline bint is_row(const Row* row, int32_t software, int32_t client, int key, int version, int32_t error) noexcept nogil:
    if row.software != software or row.client != client:
        return False
    return row.api_key == key and row.api_version == version and row.error_code == error


cdef inline Row* row_of(Counters* counters, int32_t software, int32_t client, int key, int version, int32_t error) noexcept nogil:
    """The row of a key; NULL where there is none and none can be added."""
    cdef uint64_t mixed = <uint64_t><uint32_t>software * <uint64_t>0x9E3779B97F4A7C15u ^ <uint64_t><uint32_t>client
    cdef int64_t slot
    cdef Row* row = counters.latest
    if likely(row is not NULL and is_row(row, software, client, key, version, error)):
        return row
    mixed = mixed * <uint64_t>0xBF58476D1CE4E5B9u ^ (<uint64_t><uint32_t>key << 16 ^ <uint32_t>version)
    mixed = mixed * <uint64_t>0x9E3779B97F4A7C15u ^ <uint64_t><uint32_t>error
    mixed *= <uint64_t>0xBF58476D1CE4E5B9u
    slot = <int64_t>((mixed ^ mixed >> 32) & <uint64_t>counters.slot_mask)
    while counters.slots[slot]:
        row = row_at(counters, counters.slots[slot] - 1)
        if is_row(row, software, client, key, version, error):
            counters.latest = row
            return row
        slot = (slot + 1) & counters.slot_mask
    row = row_add(counters, software, client, key, version, error, slot)
    if row is not NULL:
        counters.latest = row
    return row


cdef inline void count_exchange(
    Counters* counters, int32_t software, int32_t client, int key, int version, int32_t error, int64_t request_bytes,
    int64_t response_bytes, int64_t latency_ns, bint is_answered,
) noexcept nogil:
    """RelayCounters.count."""
    cdef Row* row = row_of(counters, software, client, key, version, error)
    cdef int64_t us = (latency_ns if latency_ns > 0 else 0) // 1000
    cdef int bucket = 0
    if row is NULL:
        counters.dropped += 1
        return
    row.exchanges += 1
    row.request_bytes += request_bytes
    row.response_bytes += response_bytes
    if is_answered:
        row.latency_us += us
        while us and bucket < BUCKETS - 1:
            us >>= 1
            bucket += 1
        row.latencies[bucket] += 1
