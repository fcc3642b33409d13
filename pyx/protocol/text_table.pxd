"""The texts of a series, each once: client ids, software, topics, groups. A row holds the number of a text, an int32.

An open-addressed table from bytes to numbers in order of first sight; the texts lie one behind the other, so that `bytes` and `offsets` are
the two buffers of an Arrow string array as they stand. `facts` keeps what was once found out about a text (see `TextFact`).

Bounded: the owner asks `texts_crowded` when no row holds a number any more; if so it marks the texts that connections still use and lets go
of the others (`texts_mark`, `text_keep`, `texts_compact`, `text_renamed`). What stays is what open connections name.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memmove, memset

from protocol.request_rows cimport NO_TEXT
from wire.cursor cimport Bytes, likely

cdef extern from "Python.h":
    object text_decoded "PyUnicode_DecodeUTF8"(const char* text, Py_ssize_t size, const char* errors)
    const char* text_encoded "PyUnicode_AsUTF8AndSize"(object text, Py_ssize_t* size) except NULL

cdef enum:
    UNKNOWN_TEXT = 0  # the number of "unknown", which every table has
    NO_ROOM = -2  # instead of a number: no memory
    CROWDED_BYTES = 16 << 20
    MOST_BYTES = 1 << 30  # Arrow's offsets are int32

cdef enum TextFact:
    IS_ASKED = 1  # the other bits are known
    IS_SOFTWARE = 2  # a software name or version that Kafka takes (KIP-511)
    IS_BROKER_CLIENT = 4  # a client id of a broker or controller towards another

cdef struct TextTable:
    uint64_t seed
    uint8_t* bytes
    int32_t size  # bytes in use
    int32_t bytes_room
    int32_t* offsets  # count + 1
    uint8_t* facts
    uint64_t* hashes
    int32_t* renamed  # while texts are let go of: the new number, or NO_TEXT
    int32_t count
    int32_t room
    int32_t* slots  # number plus one, 0 where free
    uint64_t slot_mask
    int32_t crowded_count
    int32_t crowded_bytes
    int32_t first_room
    int32_t least_count  # below which it is never crowded
    int32_t least_bytes


cdef inline uint64_t hash_bytes(uint64_t seed, Bytes data, Py_ssize_t size) noexcept nogil:
    """Seeded: text from the wire may be made to collide."""
    cdef uint64_t mixed = seed ^ <uint64_t>size * <uint64_t>0x9E3779B97F4A7C15u
    cdef uint64_t word
    while size >= 8:
        memcpy(&word, data, 8)
        mixed = (mixed ^ word) * <uint64_t>0x9E3779B97F4A7C15u
        mixed ^= mixed >> 32
        data += 8
        size -= 8
    word = 0
    memcpy(&word, data, size)
    mixed = (mixed ^ word) * <uint64_t>0x9E3779B97F4A7C15u
    mixed ^= mixed >> 29
    mixed *= <uint64_t>0xBF58476D1CE4E5B9u
    return mixed ^ mixed >> 32


cdef inline void texts_free(TextTable* table) noexcept nogil:
    free(table.bytes)
    free(table.offsets)
    free(table.facts)
    free(table.hashes)
    free(table.renamed)
    free(table.slots)
    memset(table, 0, sizeof(TextTable))


cdef inline void texts_index(TextTable* table) noexcept nogil:
    """Fill the slots again."""
    cdef int32_t number
    cdef uint64_t slot
    memset(table.slots, 0, (table.slot_mask + 1) * sizeof(int32_t))
    for number in range(table.count):
        slot = table.hashes[number] & table.slot_mask
        while table.slots[slot]:
            slot = (slot + 1) & table.slot_mask
        table.slots[slot] = number + 1


cdef inline bint texts_grow(TextTable* table) noexcept nogil:
    """Twice the room for numbers; False without memory."""
    cdef int32_t room = table.room * 2 if table.room else table.first_room
    cdef int32_t* offsets
    cdef uint8_t* facts
    cdef uint64_t* hashes
    cdef int32_t* slots
    if room > 1 << 28:
        return False
    offsets = <int32_t*>realloc(table.offsets, (<size_t>room + 1) * sizeof(int32_t))
    if offsets is NULL:
        return False
    table.offsets = offsets
    facts = <uint8_t*>realloc(table.facts, room)
    if facts is NULL:
        return False
    table.facts = facts
    hashes = <uint64_t*>realloc(table.hashes, room * sizeof(uint64_t))
    if hashes is NULL:
        return False
    table.hashes = hashes
    slots = <int32_t*>calloc(2 * <size_t>room, sizeof(int32_t))
    if slots is NULL:
        return False
    free(table.slots)
    table.slots = slots
    table.slot_mask = 2 * <uint64_t>room - 1
    table.room = room
    texts_index(table)
    return True


cdef inline int32_t text_add(TextTable* table, Bytes text, Py_ssize_t size, uint64_t hashed, uint64_t slot) noexcept nogil:
    cdef int32_t number = table.count
    cdef int32_t room
    cdef uint8_t* grown
    if size > MOST_BYTES - table.size:
        return NO_ROOM
    if number == table.room:
        if not texts_grow(table):
            return NO_ROOM
        slot = hashed & table.slot_mask
        while table.slots[slot]:
            slot = (slot + 1) & table.slot_mask
    if size > table.bytes_room - table.size:
        room = table.bytes_room if table.bytes_room else 64 * table.first_room
        while room - table.size < size:
            room = room * 2 if room < MOST_BYTES // 2 else MOST_BYTES
        grown = <uint8_t*>realloc(table.bytes, room)
        if grown is NULL:
            return NO_ROOM
        table.bytes = grown
        table.bytes_room = room
    memcpy(table.bytes + table.size, text, size)
    table.offsets[number] = table.size
    table.size += <int32_t>size
    table.offsets[number + 1] = table.size
    table.hashes[number] = hashed
    table.facts[number] = 0
    table.slots[slot] = number + 1
    table.count += 1
    return number


cdef inline bint text_is(const TextTable* table, int32_t number, Bytes text, Py_ssize_t size) noexcept nogil:
    """Compare the text of a number with these bytes."""
    cdef int32_t start = table.offsets[number]
    return table.offsets[number + 1] - start == size and memcmp(table.bytes + start, text, size) == 0


cdef inline int32_t text_find(const TextTable* table, Bytes text, Py_ssize_t size, uint64_t hashed, uint64_t* slot) noexcept nogil:
    """The number of a text, NO_TEXT for one that is new: it belongs into `slot` then."""
    slot[0] = hashed & table.slot_mask
    while table.slots[slot[0]]:
        if likely(table.hashes[table.slots[slot[0]] - 1] == hashed) and text_is(table, table.slots[slot[0]] - 1, text, size):
            return table.slots[slot[0]] - 1
        slot[0] = (slot[0] + 1) & table.slot_mask
    return NO_TEXT


cdef inline int32_t text_intern(TextTable* table, Bytes text, Py_ssize_t size) noexcept nogil:
    """The number of a text, new or known; `text` must be UTF-8. NO_ROOM without memory."""
    cdef uint64_t hashed = hash_bytes(table.seed, text, size)
    cdef uint64_t slot
    cdef int32_t number = text_find(table, text, size, hashed, &slot)
    return number if likely(number >= 0) else text_add(table, text, size, hashed, slot)


cdef inline int texts_open(TextTable* table, uint64_t seed, int32_t room=1024) except -1:
    """Fill an empty table with the one text that is always there. `seed` is secret, against chosen collisions."""
    memset(table, 0, sizeof(TextTable))
    table.seed = seed
    table.first_room = room
    table.least_count = table.crowded_count = 64 * room
    table.least_bytes = table.crowded_bytes = CROWDED_BYTES if room >= 1024 else 2048 * room
    if not texts_grow(table) or text_intern(table, <Bytes>b"unknown", 7) != UNKNOWN_TEXT:
        texts_free(table)
        raise MemoryError
    return 0


cdef inline int32_t text_of(TextTable* table, object text) except -3:
    """The number of a Python text or None, as a row takes it."""
    cdef Py_ssize_t size = 0
    cdef const char* encoded
    cdef int32_t number
    if text is None:
        return NO_TEXT
    encoded = text_encoded(text, &size)
    number = text_intern(table, <Bytes>encoded, size)
    if number == NO_ROOM:
        raise MemoryError
    return number


cdef inline int32_t text_copied(TextTable* to, const TextTable* texts, int32_t number) except -3:
    """The number that a text of one table has in another."""
    cdef int32_t copied
    if number < 0:
        return -1
    copied = text_intern(to, <Bytes>(texts.bytes + texts.offsets[number]), texts.offsets[number + 1] - texts.offsets[number])
    if copied < 0:
        raise MemoryError
    return copied


cdef inline int32_t text_put(TextTable* to, const char* text, Py_ssize_t size) except -3:
    """The number of a text of ASCII."""
    cdef int32_t number = text_intern(to, <Bytes>text, size)
    if number < 0:
        raise MemoryError
    return number


cdef inline object text_object(const TextTable* table, int32_t number):
    """The Python text of a number, None for null."""
    cdef int32_t start
    if number < 0:
        return None
    start = table.offsets[number]
    return text_decoded(<const char*>table.bytes + start, table.offsets[number + 1] - start, NULL)


cdef inline bint texts_crowded(const TextTable* table) noexcept nogil:
    """Return whether unused texts should be freed."""
    return table.count > table.crowded_count or table.size > table.crowded_bytes


cdef inline int texts_mark(TextTable* table) except -1:
    """Begin to let go: only texts that are kept from now on stay."""
    cdef int32_t number
    table.renamed = <int32_t*>malloc((<size_t>table.count + 1) * sizeof(int32_t))
    if table.renamed is NULL:
        raise MemoryError
    for number in range(table.count):
        table.renamed[number] = NO_TEXT
    table.renamed[UNKNOWN_TEXT] = UNKNOWN_TEXT
    return 0


cdef inline void text_keep(TextTable* table, int32_t number) noexcept nogil:
    """This text is in use."""
    if number >= 0:
        table.renamed[number] = number


cdef inline void texts_compact(TextTable* table) noexcept nogil:
    """Let go of the texts that were not kept; until the next `texts_mark`, `text_renamed` gives the new numbers of the others."""
    cdef int32_t number
    cdef int32_t kept = 0
    cdef int32_t size = 0
    cdef int32_t start
    cdef int32_t length
    for number in range(table.count):
        if table.renamed[number] < 0:
            continue
        start = table.offsets[number]
        length = table.offsets[number + 1] - start
        if start != size:
            memmove(table.bytes + size, table.bytes + start, length)
        table.offsets[kept] = size
        table.hashes[kept] = table.hashes[number]
        table.facts[kept] = table.facts[number]
        table.renamed[number] = kept
        size += length
        kept += 1
    table.offsets[kept] = size
    table.count = kept
    table.size = size
    # What is in use may be much: then it is not looked at again before it has doubled.
    table.crowded_count = max(table.least_count, 2 * kept)
    table.crowded_bytes = max(table.least_bytes, min(2 * <long long>size, <long long>MOST_BYTES))
    texts_index(table)


cdef inline int32_t text_renamed(const TextTable* table, int32_t number) noexcept nogil:
    """The new number of a text that was kept."""
    return table.renamed[number] if number >= 0 else NO_TEXT


cdef inline void texts_renamed(TextTable* table) noexcept nogil:
    """All numbers have been renamed."""
    free(table.renamed)
    table.renamed = NULL


cdef inline int texts_clear(TextTable* table) except -1:
    """Let go of all texts."""
    if table.count > 1:
        texts_mark(table)
        texts_compact(table)
        texts_renamed(table)
    return 0
