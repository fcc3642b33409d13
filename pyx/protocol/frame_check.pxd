"""Can these bytes be a frame, or the beginning of one? kwire/protocol/tracking/resync.py, `_agrees`, without any Python object.

A frame that is whole must read without a fault to its last byte. The beginning of one may fail for nothing but the bytes that are not
there yet: a length or a count that reaches beyond the frame's end can become true by no bytes that follow (kwire/codec/_pure/walk.py with
a limit).
"""

from libc.stdint cimport int32_t, int64_t, uint32_t

from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, NULLABLE_STRUCT, RUN, STRING, STRING_COMPACT, STRUCT, Block, Program, Step, Trace,
    fixed_size,
)
from codec.skip cimport LONGEST_TEXT, find_tagged, is_refused, skip_block
from protocol.field_plan cimport FieldPlan
from wire.cursor cimport (
    MAX_LENGTH, NO_LENGTH, OK, TRUNCATED, Bytes, Cursor, cursor_left, cursor_open, read_length_16, read_length_32, read_length_compact,
    read_varint,
)

cdef enum Check:
    CHECK_BAD = 0
    CHECK_CUT = 1  # nothing speaks against it but that bytes are missing
    CHECK_WHOLE = 2

# A walk over the beginning of a message.
cdef struct Sight:
    Cursor at  # of the bytes that are there
    int64_t left  # bytes of the frame behind them
    bint is_bad


cdef inline bint sight_has(Sight* sight, int64_t size) noexcept nogil:
    if size <= cursor_left(&sight.at):
        return True
    sight.is_bad = size > cursor_left(&sight.at) + sight.left
    return False


cdef inline bint sight_read(Sight* sight) noexcept nogil:
    """Return whether the last read succeeded; missing bytes alone do not make the frame invalid."""
    sight.is_bad = sight.at.code != OK and sight.at.code != TRUNCATED
    return sight.at.code == OK


cdef inline bint sight_varint(Sight* sight, uint32_t* value) noexcept nogil:
    value[0] = read_varint(&sight.at)
    return sight_read(sight)


cdef inline bint sight_length(Sight* sight, int width, bint nullable, int64_t* length) noexcept nogil:
    """A length or count of `width` bytes, 0 for a compact one; negative for null."""
    if width == 0:
        length[0] = read_length_compact(&sight.at, nullable)
    else:
        length[0] = read_length_16(&sight.at, nullable) if width == 2 else read_length_32(&sight.at, nullable)
    return length[0] != NO_LENGTH or sight_read(sight)


cdef inline bint sight_sized(Sight* sight, int32_t shape, bint nullable) noexcept nogil:
    cdef int64_t length
    cdef int width = 2 if shape == STRING else 4 if shape == BYTES else 0
    if not sight_length(sight, width, nullable, &length):
        return False
    if shape == STRING_COMPACT and length > LONGEST_TEXT:
        sight.is_bad = True
        return False
    if length > 0:
        if not sight_has(sight, length):
            return False
        sight.at.p += length
    return True


cdef inline bint sight_value(const Program* program, Sight* sight, const Step* step) noexcept nogil:
    cdef int32_t shape = step.shape
    cdef int64_t count
    cdef int32_t size
    if shape == STRING or shape == STRING_COMPACT or shape == BYTES or shape == BYTES_COMPACT:
        return sight_sized(sight, shape, step.nullable)
    if shape == ARRAY or shape == ARRAY_OF_STRUCTS:
        if not sight_length(sight, 0 if step.compact else 4, step.nullable, &count):
            return False
        if count > 0 and count * step.minimum > cursor_left(&sight.at) + sight.left:
            sight.is_bad = True
            return False
        while count > 0:
            if shape == ARRAY_OF_STRUCTS:
                if not sight_block(program, sight, &program.blocks[step.block]):
                    return False
            else:
                size = fixed_size(step.element)
                if size == 0:
                    if not sight_sized(sight, step.element, False):
                        return False
                else:
                    if not sight_has(sight, size):
                        return False
                    sight.at.p += size
            count -= 1
        return True
    if shape == NULLABLE_STRUCT:
        if step.compact:
            if not sight_length(sight, 0, True, &count):
                return False
            if count < 0:
                return True
        else:
            if not sight_has(sight, 1):
                return False
            sight.at.p += 1
            if sight.at.p[-1] > 0x7F:
                return True
        return sight_block(program, sight, &program.blocks[step.block])
    if shape == STRUCT:
        return sight_block(program, sight, &program.blocks[step.block])
    size = fixed_size(shape)
    if not sight_has(sight, size):
        return False
    sight.at.p += size
    return True


cdef inline bint sight_tags(const Program* program, Sight* sight, const Block* block) noexcept nogil:
    cdef uint32_t count, tag, size
    cdef const Step* step
    cdef Bytes start
    if not sight_varint(sight, &count):
        return False
    if count > <uint32_t>MAX_LENGTH:
        sight.is_bad = True
        return False
    while count > 0:
        if not sight_varint(sight, &tag) or not sight_varint(sight, &size):
            return False
        step = find_tagged(program, block, tag)
        if size > <uint32_t>MAX_LENGTH:
            sight.is_bad = True
            return False
        if step is NULL:
            if not sight_has(sight, size):
                return False
            if is_refused(program, block, tag):
                sight.is_bad = True
                return False
            sight.at.p += size
        else:
            start = sight.at.p
            if not sight_value(program, sight, step):
                return False
            if sight.at.p - start != size:
                sight.is_bad = True
                return False
        count -= 1
    return True


cdef inline bint sight_block(const Program* program, Sight* sight, const Block* block) noexcept nogil:
    """Step over one struct; False where the bytes end, or at a fault."""
    cdef const Step* step = program.steps + block.first
    cdef const Step* last = step + block.untagged
    while step < last:
        if step.code != RUN and not sight_value(program, sight, step):
            return False
        step += 1
    return not program.flexible or sight_tags(program, sight, block)


cdef inline int check_body(const FieldPlan* field_plan, Bytes payload, Py_ssize_t have, int64_t length, Py_ssize_t start) noexcept nogil:
    """Return whether a body that begins at `start` of a frame can be one: a `Check`. `have` bytes of the `length` are there."""
    cdef Cursor cursor
    cdef Trace trace
    cdef Sight sight
    trace.depth = 0
    cursor_open(&cursor, payload, have, start)
    if skip_block(&field_plan.program, &cursor, field_plan.program.blocks, &trace) and cursor.code == OK:
        return CHECK_WHOLE if have == length and cursor.p == cursor.end else CHECK_BAD
    if have == length or cursor.code != TRUNCATED:
        return CHECK_BAD
    cursor_open(&sight.at, payload, have, start)
    sight.left, sight.is_bad = length - have, False
    sight_block(&field_plan.program, &sight, field_plan.program.blocks)
    return CHECK_BAD if sight.is_bad else CHECK_CUT
