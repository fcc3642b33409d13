"""Has a body only the lengths and tags that a careful writer writes? Kafka's readers, and ours, take any negative length as null and tags
in any order; Python looks for that closely where a null is met that matters (`kwire.protocol.tracking.reading`), and so does this.

A body that was read without a fault is *plain* when its null lengths are -1 and its tags ascend.
"""

from libc.stdint cimport int32_t, int64_t

from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, NULLABLE_STRUCT, RUN, STRING, STRING_COMPACT, STRUCT, Block, Program, Step, fixed_size,
    read_count, read_marker,
)
from codec.skip cimport Tag, ends_tag, find_tagged, read_size, read_tag, read_tag_count
from wire.cursor cimport NO_LENGTH, NULL_LENGTH, OK, Bytes, Cursor, cursor_has


cdef inline bint is_minus_one(Bytes p, int width) noexcept nogil:
    return p[0] & p[1] == 0xFF and (width == 2 or p[2] & p[3] == 0xFF)


cdef inline bint plain_elements(const Program* program, Cursor* cursor, const Step* step) noexcept nogil:
    cdef Bytes start = cursor.p
    cdef Py_ssize_t count = read_count(cursor, step)
    cdef Py_ssize_t size
    if count == NULL_LENGTH:
        return step.compact or is_minus_one(start, 4)
    if count == NO_LENGTH:
        return False
    while count > 0:
        if step.shape == ARRAY_OF_STRUCTS:
            if not plain_block(program, cursor, &program.blocks[step.block]):
                return False
        elif fixed_size(step.element):
            cursor.p += count * fixed_size(step.element)
            return True
        else:
            size = read_size(cursor, step.element, False)
            if size < 0:
                return False
            cursor.p += size
        count -= 1
    return True


cdef inline bint plain_value(const Program* program, Cursor* cursor, const Step* step) noexcept nogil:
    cdef int32_t shape = step.shape
    cdef Bytes start = cursor.p
    cdef Py_ssize_t size
    if shape == STRING or shape == STRING_COMPACT or shape == BYTES or shape == BYTES_COMPACT:
        size = read_size(cursor, shape, step.nullable)
        if size >= 0:
            cursor.p += size
        elif size == NULL_LENGTH and not step.compact:
            return is_minus_one(start, 2 if shape == STRING else 4)
        return size != NO_LENGTH
    if shape == ARRAY or shape == ARRAY_OF_STRUCTS:
        return plain_elements(program, cursor, step)
    if shape == NULLABLE_STRUCT:
        size = read_marker(cursor, step)
        if size < 0:
            return size == NULL_LENGTH
        return plain_block(program, cursor, &program.blocks[step.block])
    if shape == STRUCT:
        return plain_block(program, cursor, &program.blocks[step.block])
    if not cursor_has(cursor, fixed_size(shape)):
        return False
    cursor.p += fixed_size(shape)
    return True


cdef inline bint plain_block(const Program* program, Cursor* cursor, const Block* block) noexcept nogil:
    """Return whether one struct is in canonical form; move the cursor behind it."""
    cdef const Step* step = program.steps + block.first
    cdef const Step* last = step + block.untagged
    cdef Py_ssize_t count
    cdef Tag tag
    cdef int64_t latest = -1
    while step < last:
        if step.code == RUN:
            if not cursor_has(cursor, step.minimum):
                return False
            cursor.p += step.minimum
            step += step.count + 1
            continue
        if not plain_value(program, cursor, step):
            return False
        step += 1
    if not program.flexible:
        return True
    count = read_tag_count(cursor)
    while count > 0:
        if not read_tag(cursor, program, block, &tag) or tag.number <= latest:
            return False
        latest = tag.number
        step = find_tagged(program, block, tag.number)
        if step is NULL:
            cursor.p += tag.size
        elif not plain_value(program, cursor, step) or not ends_tag(cursor, &tag):
            return False
        count -= 1
    return cursor.code == OK
