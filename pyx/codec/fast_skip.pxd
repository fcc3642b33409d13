"""Fast skips over what is well-formed and short, without a cursor's care; all else is left to the skip executor, which says what is wrong.

Most of a message is stepped over when one field of it is wanted. A fast skip knows the layout of a struct as a few numbers: so many bytes,
then a count of elements of so many bytes, and so on. It skips a struct when every length in it takes one byte (or is a plain one), all
bytes are there and no tagged field is; else it stays where it is and says so.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int16_t, int32_t

from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, RUN, STRING, STRING_COMPACT, Block, Program, Step, fixed_size,
)
from wire.cursor cimport Bytes, likely, load_16, load_32, unlikely

cdef enum FastKind:
    NO_FAST_SKIP = 0
    FIXED_BYTES = 1  # `size` bytes
    SHORT_ITEMS = 2  # a varint of one byte, one more than the number of items of `size` bytes
    ITEMS_16 = 3  # the same behind an int16
    ITEMS_32 = 4  # and behind an int32
    SHORT_STRUCTS = 5  # structs of `block`, behind a varint of one byte
    STRUCTS_32 = 6

cdef struct FastSkip:
    int32_t kind
    int32_t size
    int32_t block
    bint nullable

cdef struct FastBlock:
    int32_t first
    int32_t count
    bint possible

cdef struct FastSkips:
    FastSkip* items
    FastBlock* blocks
    bint flexible


cdef inline FastSkip fast_skip_of(const Step* step) noexcept nogil:
    """The fast skip over one field; NO_FAST_SKIP for a struct, or for an array of strings."""
    cdef FastSkip fast = FastSkip(NO_FAST_SKIP, fixed_size(step.shape), step.block, step.nullable)
    if fast.size:
        fast.kind = FIXED_BYTES
    elif step.shape == STRING_COMPACT or step.shape == BYTES_COMPACT:
        fast.kind, fast.size = SHORT_ITEMS, 1
    elif step.shape == STRING:
        fast.kind, fast.size = ITEMS_16, 1
    elif step.shape == BYTES:
        fast.kind, fast.size = ITEMS_32, 1
    elif step.shape == ARRAY and fixed_size(step.element):
        fast.kind = SHORT_ITEMS if step.compact else ITEMS_32
        fast.size = fixed_size(step.element)
    elif step.shape == ARRAY_OF_STRUCTS:
        fast.kind = SHORT_STRUCTS if step.compact else STRUCTS_32
    return fast


cdef inline int fast_skips_lower(FastSkips* fast_skips, const Program* program, Py_ssize_t steps) except -1:
    """Fill empty fast skips from a program of so many steps; `fast_skips_release` frees them, whatever came of it."""
    cdef Py_ssize_t number
    cdef int32_t used = 0
    cdef const Block* block
    cdef const Step* step
    cdef const Step* last
    cdef FastSkip fast
    fast_skips.flexible = program.flexible
    fast_skips.items = <FastSkip*>PyMem_Calloc(steps + 1, sizeof(FastSkip))
    fast_skips.blocks = <FastBlock*>PyMem_Calloc(program.block_count + 1, sizeof(FastBlock))
    if fast_skips.items is NULL or fast_skips.blocks is NULL:
        raise MemoryError
    for number in range(program.block_count):
        block = &program.blocks[number]
        fast_skips.blocks[number].first = used
        fast_skips.blocks[number].possible = True
        step = program.steps + block.first
        last = step + block.untagged
        while step < last:
            if step.code != RUN:
                fast = fast_skip_of(step)
                if fast.kind == NO_FAST_SKIP:
                    fast_skips.blocks[number].possible = False
                elif fast.kind == FIXED_BYTES and used > fast_skips.blocks[number].first and fast_skips.items[used - 1].kind == FIXED_BYTES:
                    fast_skips.items[used - 1].size += fast.size
                else:
                    fast_skips.items[used] = fast
                    used += 1
            step += 1
        fast_skips.blocks[number].count = used - fast_skips.blocks[number].first
    return 0


cdef inline void fast_skips_release(FastSkips* fast_skips) noexcept:
    PyMem_Free(fast_skips.items)
    PyMem_Free(fast_skips.blocks)
    fast_skips.items = NULL
    fast_skips.blocks = NULL


cdef inline Bytes fast_items(const FastSkip* fast, Bytes p, Bytes end) noexcept nogil:
    """Return the end of a field without structs; NULL if the slow path must decide."""
    cdef Py_ssize_t count
    if fast.kind == SHORT_ITEMS:
        if unlikely(p == end or p[0] >= 0x80):
            return NULL
        count = <Py_ssize_t>p[0] - 1
        p += 1
    elif fast.kind == FIXED_BYTES:
        return p + fast.size if likely(end - p >= fast.size) else NULL
    elif fast.kind == ITEMS_16:
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
        return p if fast.nullable else NULL
    return p + count * fast.size if likely(count * fast.size <= end - p) else NULL


cdef inline Py_ssize_t fast_count(const FastSkip* fast, Bytes* at, Bytes end) noexcept nogil:
    """Structs of an array, -1 where it cannot."""
    cdef Bytes p = at[0]
    if fast.kind == SHORT_STRUCTS:
        if p == end or p[0] >= 0x80 or p[0] == 0 and not fast.nullable:
            return -1
        at[0] = p + 1
        return <Py_ssize_t>p[0] - 1 if p[0] else 0
    if end - p < 4 or p[0] > 0x7F:
        return -1
    at[0] = p + 4
    return load_32(p)


cdef inline Bytes fast_struct(const FastSkips* fast_skips, int32_t number, Bytes p, Bytes end) noexcept nogil:
    """Return the end of the struct; NULL if the slow path must decide."""
    cdef const FastBlock* block = &fast_skips.blocks[number]
    cdef const FastSkip* fast = fast_skips.items + block.first
    cdef const FastSkip* last = fast + block.count
    cdef Py_ssize_t count
    if not block.possible:
        return NULL
    while fast < last:
        if likely(fast.kind < SHORT_STRUCTS):
            p = fast_items(fast, p, end)
        else:
            count = fast_count(fast, &p, end)
            if count < 0:
                return NULL
            while count > 0 and p is not NULL:
                p = fast_struct(fast_skips, fast.block, p, end)
                count -= 1
        if unlikely(p is NULL):
            return NULL
        fast += 1
    if fast_skips.flexible:
        return p + 1 if likely(p < end and p[0] == 0) else NULL
    return p
