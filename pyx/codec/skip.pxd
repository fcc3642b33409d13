"""The skip executor: steps over values with all checks of bounds, counts, nulls and tags, and without any Python object.

It serves whole messages (where does the body end?) and the fields outside a projection. Text is checked for UTF-8 only where the program
says so: else it is not read.
"""

from libc.stdint cimport int32_t, uint32_t

from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, NULLABLE_STRUCT, RUN, STRING, STRING_COMPACT, STRUCT, Block, Program, Step, Trace,
    fixed_size, read_count, read_marker, trace_add,
)
from wire.cursor cimport (
    BAD_LENGTH, BAD_TAG, BAD_UTF8, MAX_LENGTH, NO_LENGTH, NULL_LENGTH, OK, TRUNCATED, Bytes, Cursor, cursor_fail, cursor_has, cursor_left,
    likely,    read_length_16, read_length_32, read_length_compact, read_varint, unlikely,
)
from wire.utf8 cimport is_utf8


cdef enum:
    LONGEST_TEXT = 0x7FFF  # kwire.codec.written_values.LONGEST_TEXT


# A tagged field: where its number begins, its size and its value
cdef struct Tag:
    uint32_t number
    Py_ssize_t size
    Bytes begin
    Bytes size_at
    Bytes value


cdef inline Py_ssize_t read_size(Cursor* cursor, int32_t code, bint nullable) noexcept nogil:
    """Length of a string or bytes value, of which all content is there; NULL_LENGTH or NO_LENGTH otherwise."""
    cdef Bytes start = cursor.p
    cdef Py_ssize_t size
    if code == STRING:
        size = read_length_16(cursor, nullable)
    elif code == BYTES:
        size = read_length_32(cursor, nullable)
    else:
        size = read_length_compact(cursor, nullable)
        if unlikely(size > LONGEST_TEXT) and code == STRING_COMPACT:
            cursor_fail(cursor, BAD_LENGTH, start)
            return NO_LENGTH
    if size > 0 and not cursor_has(cursor, size):
        return NO_LENGTH
    return size


cdef inline bint is_text(Cursor* cursor, int32_t code, Py_ssize_t size) noexcept nogil:
    """Check that the value at the cursor is UTF-8 if it is a string."""
    if (code == STRING or code == STRING_COMPACT) and unlikely(not is_utf8(cursor.p, size)):
        cursor_fail(cursor, BAD_UTF8, cursor.p)
        return False
    return True


cdef inline bint skip_sized(const Program* program, Cursor* cursor, int32_t code, bint nullable) noexcept nogil:
    cdef Py_ssize_t size = read_size(cursor, code, nullable)
    if size > 0:
        if program.checks_text and not is_text(cursor, code, size):
            return False
        cursor.p += size
    return size != NO_LENGTH


cdef inline bint skip_fixed(Cursor* cursor, const Step* step, Trace* trace) noexcept nogil:
    cdef int32_t size = fixed_size(step.shape)
    if cursor_has(cursor, size):
        cursor.p += size
        return True
    trace_add(trace, step.operation, -1)
    return False


cdef inline bint fail_run(Cursor* cursor, const Step* run, Trace* trace) noexcept nogil:
    """Find the field of a run whose bytes are missing; the run has been found too long for what is left."""
    cdef const Step* step = run + 1
    while skip_fixed(cursor, step, trace):
        step += 1
    return False


cdef inline bint skip_value(const Program* program, Cursor* cursor, const Step* step, Trace* trace) noexcept nogil:
    cdef int32_t shape = step.shape
    cdef const Block* block
    cdef Py_ssize_t count
    cdef Py_ssize_t index = -1
    cdef int32_t size
    if shape == STRING or shape == STRING_COMPACT or shape == BYTES or shape == BYTES_COMPACT:
        if skip_sized(program, cursor, shape, step.nullable):
            return True
    elif shape == ARRAY_OF_STRUCTS:
        count = read_count(cursor, step)
        if count != NO_LENGTH:
            block = &program.blocks[step.block]
            if block.exact:
                cursor.p += count * block.exact if count > 0 else 0
                return True
            index = 0
            while index < count and skip_block(program, cursor, block, trace):
                index += 1
            if index >= count:
                return True
    elif shape == ARRAY:
        count = read_count(cursor, step)
        if count != NO_LENGTH:
            size = fixed_size(step.element)
            if size:
                cursor.p += count * size if count > 0 else 0
                return True
            index = 0
            while index < count and skip_sized(program, cursor, step.element, False):
                index += 1
            if index >= count:
                return True
    elif shape == NULLABLE_STRUCT:
        count = read_marker(cursor, step)
        if count == NULL_LENGTH or count != NO_LENGTH and skip_block(program, cursor, &program.blocks[step.block], trace):
            return True
    elif shape == STRUCT:
        if skip_block(program, cursor, &program.blocks[step.block], trace):
            return True
    else:
        return skip_fixed(cursor, step, trace)
    trace_add(trace, step.operation, index)
    return False


cdef inline bint is_refused(const Program* program, const Block* block, uint32_t tag) noexcept nogil:
    """Return whether only another version of the struct defines this tag: Kafka rejects it, but keeps tags that no version defines."""
    cdef int32_t index
    for index in range(block.first_refused, block.first_refused + block.refused):
        if <uint32_t>program.refused[index] == tag:
            return True
    return False


cdef inline const Step* find_tagged(const Program* program, const Block* block, uint32_t tag) noexcept nogil:
    cdef const Step* step = program.steps + block.first + block.untagged
    cdef int32_t index
    for index in range(block.tagged):
        if <uint32_t>step[index].tag == tag:
            return step + index
    return NULL


cdef inline Py_ssize_t read_tag_count(Cursor* cursor, bint cut=False) noexcept nogil:
    """Number of tagged fields that follow, each at least two bytes (its number and its size); NO_LENGTH after a fault.

    Those of a message that was cut need not fit into what is left.
    """
    cdef Bytes start = cursor.p
    cdef uint32_t count = read_varint(cursor)
    if count > MAX_LENGTH:
        cursor_fail(cursor, BAD_LENGTH, start)
    elif not cut and count * 2 > cursor_left(cursor):
        cursor_fail(cursor, TRUNCATED, start)
    return <Py_ssize_t>count if cursor.code == OK else NO_LENGTH


cdef inline bint read_tag(Cursor* cursor, const Program* program, const Block* block, Tag* tag, bint cut=False) noexcept nogil:
    """Number and size of a tagged field, whose bytes are all there; afterwards the cursor is at its value.

    Of a message that was cut, a field that the version knows may reach beyond the bytes.
    """
    tag.begin = cursor.p
    tag.number = read_varint(cursor)
    tag.size_at = cursor.p
    tag.size = read_varint(cursor)
    tag.value = cursor.p
    if cursor.code != OK:
        return False
    if tag.size > MAX_LENGTH:
        cursor_fail(cursor, BAD_LENGTH, tag.size_at)
        return False
    if not (cut and find_tagged(program, block, tag.number) is not NULL) and not cursor_has(cursor, tag.size):
        return False
    if block.refused and is_refused(program, block, tag.number):
        cursor_fail(cursor, BAD_TAG, tag.begin)
        return False
    return True


cdef inline bint ends_tag(Cursor* cursor, const Tag* tag) noexcept nogil:
    """Check that the value of a known tag has exactly its declared size."""
    if likely(cursor.p - tag.value == tag.size):
        return True
    cursor_fail(cursor, BAD_TAG, tag.begin)
    return False


cdef inline bint skip_tagged(const Program* program, Cursor* cursor, const Block* block, Trace* trace) noexcept nogil:
    """Step over a tagged section; a tag that the version knows must hold exactly its value."""
    cdef Py_ssize_t count = read_tag_count(cursor)
    cdef const Step* step
    cdef Tag tag
    while count > 0:
        if not read_tag(cursor, program, block, &tag):
            return False
        step = find_tagged(program, block, tag.number)
        if step is NULL:
            cursor.p += tag.size
        elif not skip_value(program, cursor, step, trace) or not ends_tag(cursor, &tag):
            return False
        count -= 1
    return cursor.code == OK


cdef inline bint skip_block(const Program* program, Cursor* cursor, const Block* block, Trace* trace) noexcept nogil:
    """Step over one struct; after a fault the trace has the path, from here down."""
    cdef const Step* step = program.steps + block.first
    cdef const Step* last = step + block.untagged
    while step < last:
        if step.code == RUN:
            if cursor_left(cursor) < step.minimum:
                return fail_run(cursor, step, trace)
            cursor.p += step.minimum
            step += step.count + 1
            continue
        if not skip_value(program, cursor, step, trace):
            return False
        step += 1
    return skip_tagged(program, cursor, block, trace) if program.flexible else True
