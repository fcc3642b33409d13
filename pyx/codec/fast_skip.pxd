"""Hops: over what is well-formed and short, without a cursor's care; all else is left to the skip executor, which says what is wrong.

Most of a message is stepped over when one field of it is wanted. A hop knows the layout of a struct as a few numbers: so many bytes, then a
count of elements of so many bytes, and so on. It hops over a struct when every length in it takes one byte (or is a plain one), all bytes
are there and no tagged field is; else it stays where it is and says so.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int16_t, int32_t

from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, RUN, STRING, STRING_COMPACT, Block, Program, Step, fixed_size,
)
from wire.cursor cimport Bytes, likely, load_16, load_32, unlikely

cdef enum HopKind:
    NO_HOP = 0
    FIXED_BYTES = 1  # `size` bytes
    SHORT_ITEMS = 2  # a varint of one byte, one more than the number of items of `size` bytes
    ITEMS_16 = 3  # the same behind an int16
    ITEMS_32 = 4  # and behind an int32
    SHORT_STRUCTS = 5  # structs of `block`, behind a varint of one byte
    STRUCTS_32 = 6

cdef struct Hop:
    int32_t kind
    int32_t size
    int32_t block
    bint nullable

cdef struct HopBlock:
    int32_t first
    int32_t count
    bint possible

cdef struct Hops:
    Hop* hops
    HopBlock* blocks
    bint flexible


cdef inline Hop hop_of(const Step* step) noexcept nogil:
    """The hop over one field; NO_HOP for a struct, or for an array of strings."""
    cdef Hop hop = Hop(NO_HOP, fixed_size(step.shape), step.block, step.nullable)
    if hop.size:
        hop.kind = FIXED_BYTES
    elif step.shape == STRING_COMPACT or step.shape == BYTES_COMPACT:
        hop.kind, hop.size = SHORT_ITEMS, 1
    elif step.shape == STRING:
        hop.kind, hop.size = ITEMS_16, 1
    elif step.shape == BYTES:
        hop.kind, hop.size = ITEMS_32, 1
    elif step.shape == ARRAY and fixed_size(step.element):
        hop.kind = SHORT_ITEMS if step.compact else ITEMS_32
        hop.size = fixed_size(step.element)
    elif step.shape == ARRAY_OF_STRUCTS:
        hop.kind = SHORT_STRUCTS if step.compact else STRUCTS_32
    return hop


cdef inline int hops_lower(Hops* hops, const Program* program, Py_ssize_t steps) except -1:
    """Fill empty hops from a program of so many steps; `hops_release` frees them, whatever came of it."""
    cdef Py_ssize_t number
    cdef int32_t used = 0
    cdef const Block* block
    cdef const Step* step
    cdef const Step* last
    cdef Hop hop
    hops.flexible = program.flexible
    hops.hops = <Hop*>PyMem_Calloc(steps + 1, sizeof(Hop))
    hops.blocks = <HopBlock*>PyMem_Calloc(program.block_count + 1, sizeof(HopBlock))
    if hops.hops is NULL or hops.blocks is NULL:
        raise MemoryError
    for number in range(program.block_count):
        block = &program.blocks[number]
        hops.blocks[number].first = used
        hops.blocks[number].possible = True
        step = program.steps + block.first
        last = step + block.untagged
        while step < last:
            if step.code != RUN:
                hop = hop_of(step)
                if hop.kind == NO_HOP:
                    hops.blocks[number].possible = False
                elif hop.kind == FIXED_BYTES and used > hops.blocks[number].first and hops.hops[used - 1].kind == FIXED_BYTES:
                    hops.hops[used - 1].size += hop.size
                else:
                    hops.hops[used] = hop
                    used += 1
            step += 1
        hops.blocks[number].count = used - hops.blocks[number].first
    return 0


cdef inline void hops_release(Hops* hops) noexcept:
    PyMem_Free(hops.hops)
    PyMem_Free(hops.blocks)
    hops.hops = NULL
    hops.blocks = NULL


cdef inline Bytes hop_items(const Hop* hop, Bytes p, Bytes end) noexcept nogil:
    """What follows a field that holds no structs, NULL for no hop."""
    cdef Py_ssize_t count
    if hop.kind == SHORT_ITEMS:
        if unlikely(p == end or p[0] >= 0x80):
            return NULL
        count = <Py_ssize_t>p[0] - 1
        p += 1
    elif hop.kind == FIXED_BYTES:
        return p + hop.size if likely(end - p >= hop.size) else NULL
    elif hop.kind == ITEMS_16:
        if unlikely(end - p < 2):
            return NULL
        count = <int16_t>load_16(p)
        p += 2
    else:
        if unlikely(end - p < 4):
            return NULL
        count = <int32_t>load_32(p)
        p += 4
    if unlikely(count < 0):
        return p if hop.nullable else NULL
    return p + count * hop.size if likely(count * hop.size <= end - p) else NULL


cdef inline Py_ssize_t hop_count(const Hop* hop, Bytes* at, Bytes end) noexcept nogil:
    """Structs of an array, -1 for no hop."""
    cdef Bytes p = at[0]
    if hop.kind == SHORT_STRUCTS:
        if p == end or p[0] >= 0x80 or p[0] == 0 and not hop.nullable:
            return -1
        at[0] = p + 1
        return <Py_ssize_t>p[0] - 1 if p[0] else 0
    if end - p < 4 or p[0] > 0x7F:
        return -1
    at[0] = p + 4
    return load_32(p)


cdef inline Bytes hop_struct(const Hops* hops, int32_t number, Bytes p, Bytes end) noexcept nogil:
    """What follows the struct, NULL for no hop."""
    cdef const HopBlock* block = &hops.blocks[number]
    cdef const Hop* hop = hops.hops + block.first
    cdef const Hop* last = hop + block.count
    cdef Py_ssize_t count
    if not block.possible:
        return NULL
    while hop < last:
        if likely(hop.kind < SHORT_STRUCTS):
            p = hop_items(hop, p, end)
        else:
            count = hop_count(hop, &p, end)
            if count < 0:
                return NULL
            while count > 0 and p is not NULL:
                p = hop_struct(hops, hop.block, p, end)
                count -= 1
        if unlikely(p is NULL):
            return NULL
        hop += 1
    if hops.flexible:
        return p + 1 if likely(p < end and p[0] == 0) else NULL
    return p
