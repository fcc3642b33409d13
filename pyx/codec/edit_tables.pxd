"""Lookup tables of a native edit: names, addresses and ranges, as C arrays. The program keeps the bytes objects of their texts."""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t
from libc.string cimport memcmp

from wire.cursor cimport Bytes

cdef enum NamesKind:
    NAMES_MAP = 0
    NAMES_ADD = 1
    NAMES_REMOVE = 2

cdef enum Foreign:
    FOREIGN_REFUSE = 0
    FOREIGN_DROP = 1
    FOREIGN_KEEP = 2

cdef struct Text:
    Bytes bytes
    int32_t size

cdef struct NameSlot:
    uint32_t hash
    Text old  # no bytes: the slot is free
    Text new

# New names: an open hash table of `mask + 1` slots, or a prefix.
cdef struct Names:
    int32_t kind
    int32_t foreign
    bint empty  # the empty name gets the prefix too
    Text prefix
    NameSlot* slots
    uint32_t mask

cdef struct AddressEntry:
    int32_t node
    int32_t port
    Text listener  # no bytes: any
    Text host

# New addresses in the order of their nodes; of a node those with a listener come first.
cdef struct AddressList:
    AddressEntry* entries
    Py_ssize_t count
    Text* kept  # listeners whose addresses stay
    Py_ssize_t kept_count
    bint keeps_unknown

cdef enum:
    LIMITED_KEYS = 256

cdef struct Ranges:
    int16_t low[LIMITED_KEYS]
    int16_t high[LIMITED_KEYS]
    int16_t other_low  # of keys above
    int16_t other_high


cdef inline uint32_t hash_of(Bytes text, Py_ssize_t size) noexcept nogil:
    """FNV-1a. The keys are the owner's, so texts that are made to collide cost no more than one that is not there."""
    cdef uint32_t value = 2166136261
    cdef Py_ssize_t at
    for at in range(size):
        value = (value ^ text[at]) * 16777619
    return value


cdef inline const Text* name_found(const Names* names, Bytes text, Py_ssize_t size) noexcept nogil:
    """The new name of a mapping, NULL where it has none."""
    cdef uint32_t code = hash_of(text, size)
    cdef uint32_t at = code & names.mask
    cdef const NameSlot* slot = &names.slots[at]
    while slot.old.bytes is not NULL:
        if slot.hash == code and slot.old.size == size and memcmp(slot.old.bytes, text, size) == 0:
            return &slot.new
        at = (at + 1) & names.mask
        slot = &names.slots[at]
    return NULL


cdef inline void name_put(Names* names, Text old, Text new) noexcept nogil:
    """Add to a table that has a free slot."""
    cdef uint32_t code = hash_of(old.bytes, old.size)
    cdef uint32_t at = code & names.mask
    while names.slots[at].old.bytes is not NULL:
        at = (at + 1) & names.mask
    names.slots[at] = NameSlot(code, old, new)


cdef inline bint is_text(const Text* text, Bytes bytes, Py_ssize_t size) noexcept nogil:
    return text.size == size and memcmp(text.bytes, bytes, size) == 0


cdef inline bint starts_with(Bytes text, Py_ssize_t size, const Text* prefix) noexcept nogil:
    return size >= prefix.size and memcmp(text, prefix.bytes, prefix.size) == 0


cdef inline const AddressEntry* address_found(const AddressList* addresses, int32_t node, const Text* listener) noexcept nogil:
    """The entry of a node, that of the listener first; NULL where there is none."""
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t high = addresses.count
    cdef Py_ssize_t middle
    cdef const AddressEntry* entry
    while low < high:
        middle = (low + high) // 2
        if addresses.entries[middle].node < node:
            low = middle + 1
        else:
            high = middle
    while low < addresses.count and addresses.entries[low].node == node:
        entry = &addresses.entries[low]
        if entry.listener.bytes is NULL or (listener.bytes is not NULL and is_text(&entry.listener, listener.bytes, listener.size)):
            return entry
        low += 1
    return NULL


cdef inline int find_text(Bytes text, Py_ssize_t size, const Text* wanted, Py_ssize_t begin) noexcept nogil:
    """Find a text from `begin` on; return -1 if it is missing."""
    cdef Py_ssize_t at
    for at in range(begin, size - wanted.size + 1):
        if text[at] == wanted.bytes[0] and memcmp(text + at, wanted.bytes, wanted.size) == 0:
            return <int>at
    return -1


cdef inline int32_t store_length(uint8_t* out, Py_ssize_t size, bint compact, int width) noexcept nogil:
    """Write the length of a text or of bytes, -1 for null, or a count; gives how many bytes it has."""
    cdef uint32_t left = <uint32_t>(size + 1)
    cdef int32_t used = 0
    cdef int at
    if compact:
        while left > 0x7F:
            out[used] = <uint8_t>(left & 0x7F | 0x80)
            used += 1
            left >>= 7
        out[used] = <uint8_t>left
        return used + 1
    for at in range(width):
        out[at] = <uint8_t>((size >> (8 * (width - 1 - at))) & 0xFF)
    return width
