"""The column executor: runs a program over bytes and appends one row per message, with no Python object and without the GIL.

`put_rows` is the hot loop: it keeps its place in registers and does itself what nearly all bytes are, fixed fields, short text and short
arrays of int32. Whatever is not that, nulls and faults included, goes through `put_value`, one field at a time, with the cursor.

False means a fault (the cursor has it) or no room (the store has it).

C-level entry for other modules: `put_rows`, behind `lower_moves` and `cursor_open`; `fill_rows` in column_batch.pxd for many messages.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from codec.column_buffers cimport SLACK, UUID_TEXT, Column, put_bit, put_bytes, put_null, reserve_content, reserve_rows
from codec.column_defaults cimport forget_value, put_blank, put_default
from codec.column_program cimport COMPACT_INT32S, SKIP_COMPACT, SKIP_FIXED, Fill, Move, Rows
from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BOOL, BYTES, BYTES_COMPACT, INT8, INT16, INT32, INT64, NULLABLE_STRUCT, RUN, SKIPPED, STRING, STRING_COMPACT,
    STRUCT, UINT16, UINT32, UUID, Block, Step, fixed_size, read_count, read_marker, trace_add,
)
from codec.skip cimport Tag, ends_tag, fail_run, find_tagged, read_size, read_tag, read_tag_count, skip_value
from wire.cursor cimport (
    BAD_UTF8, NO_LENGTH, NULL_LENGTH, OK, Bytes, Cursor, cursor_fail, cursor_has, likely, load_16, load_32, load_64, unlikely,
)
from wire.utf8 cimport is_short_plain, is_utf8
from wire.uuid_text cimport put_uuid


cdef inline void put_fixed(Column* column, Py_ssize_t row, int32_t code, Bytes p) noexcept nogil:
    """A value of fixed size whose bytes are known to be there."""
    cdef uint64_t bits
    if code == INT32:
        (<int32_t*>column.data)[row] = <int32_t>load_32(p)
    elif code == INT16:
        (<int16_t*>column.data)[row] = <int16_t>load_16(p)
    elif code == INT64:
        (<int64_t*>column.data)[row] = <int64_t>load_64(p)
    elif code == INT8:
        (<int8_t*>column.data)[row] = <int8_t>p[0]
    elif code == BOOL:
        put_bit(column, row, p[0] != 0)
    elif code == UUID:
        put_uuid(column.data + row * UUID_TEXT, p)
    elif code == UINT16:
        (<int32_t*>column.data)[row] = load_16(p)
    elif code == UINT32:
        (<int64_t*>column.data)[row] = <int64_t>load_32(p)
    else:
        bits = load_64(p)
        memcpy(column.data + 8 * row, &bits, 8)


cdef inline bint put_content(Rows* rows, Fill* fill, Column* column, Py_ssize_t row, Py_ssize_t size, bint text) noexcept nogil:
    """The string or bytes of `size` bytes at the cursor. Copied first and looked at then: another process may write the buffer."""
    cdef Cursor* cursor = &fill.cursor
    cdef Py_ssize_t start = column.offsets[row]
    cdef Bytes content = cursor.p
    cdef uint8_t* to
    if not reserve_content(&rows.store, column, start + size):
        return False
    to = column.data + start
    put_bytes(to, content, size, cursor.end)
    column.offsets[row + 1] = <int32_t>(start + size)
    if text and unlikely(not is_utf8(to, size)):
        cursor_fail(cursor, BAD_UTF8, content)
        return False
    cursor.p = content + size
    return True


cdef inline bint put_sized(Rows* rows, Fill* fill, Column* column, Py_ssize_t row, int32_t code, bint nullable) noexcept nogil:
    cdef Py_ssize_t size = read_size(&fill.cursor, code, nullable)
    if likely(size >= 0):
        return put_content(rows, fill, column, row, size, code == STRING or code == STRING_COMPACT)
    if size == NULL_LENGTH:
        column.offsets[row + 1] = column.offsets[row]
        return put_null(&rows.store, column, row)
    return False


cdef inline void put_int32s(int32_t* to, Bytes p, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(count):
        to[index] = <int32_t>load_32(p + 4 * index)


cdef inline bint put_scalars(Rows* rows, Fill* fill, Column* column, Py_ssize_t row, const Step* step) noexcept nogil:
    cdef Cursor* cursor = &fill.cursor
    cdef Py_ssize_t count = read_count(cursor, step)
    cdef Py_ssize_t start = column.offsets[row]
    cdef Py_ssize_t index
    cdef int32_t size
    cdef Column* elements
    if count <= 0:
        column.offsets[row + 1] = <int32_t>start
        if count == 0 or count == NULL_LENGTH and put_null(&rows.store, column, row):
            return True
        trace_add(&fill.trace, step.operation, -1)
        return False
    if not reserve_rows(&rows.store, column.child, start + count):
        return False
    elements = rows.store.columns + rows.operations + step.operation
    column.offsets[row + 1] = <int32_t>(start + count)
    if step.element == INT32:
        put_int32s(<int32_t*>elements.data + start, cursor.p, count)
        cursor.p += 4 * count
        return True
    size = fixed_size(step.element)
    if size:
        for index in range(count):
            put_fixed(elements, start + index, step.element, cursor.p)
            cursor.p += size
        return True
    for index in range(count):
        if not put_sized(rows, fill, elements, start + index, step.element, False):
            trace_add(&fill.trace, step.operation, index)
            return False
    return True


cdef inline bint put_structs(Rows* rows, Fill* fill, Column* column, Py_ssize_t row, const Step* step) noexcept nogil:
    cdef Py_ssize_t count = read_count(&fill.cursor, step)
    cdef Py_ssize_t start = column.offsets[row]
    cdef Py_ssize_t done
    if count <= 0:
        column.offsets[row + 1] = <int32_t>start
        if count == 0 or count == NULL_LENGTH and put_null(&rows.store, column, row):
            return True
        trace_add(&fill.trace, step.operation, -1)
        return False
    if not reserve_rows(&rows.store, column.child, start + count):
        return False
    column.offsets[row + 1] = <int32_t>(start + count)
    done = put_rows(rows, fill, step.block, start, count)
    if unlikely(done < count):
        trace_add(&fill.trace, step.operation, done)
        return False
    return True


cdef inline bint put_nullable_struct(Rows* rows, Fill* fill, Column* column, Py_ssize_t row, const Step* step) noexcept nogil:
    cdef Py_ssize_t marker = read_marker(&fill.cursor, step)
    if marker == NULL_LENGTH:
        return put_null(&rows.store, column, row) and put_blank(rows, &rows.program.blocks[step.block], step.block, row)
    if marker != NO_LENGTH and put_rows(rows, fill, step.block, row, 1) == 1:
        return True
    trace_add(&fill.trace, step.operation, -1)
    return False


cdef inline bint put_value(Rows* rows, Fill* fill, Py_ssize_t row, const Step* step) noexcept nogil:
    """The value of one step that is no run; after a fault the trace has its path, from here down."""
    cdef int32_t code = step.code
    cdef Column* column = rows.store.columns + step.operation
    cdef bint done = False
    if code == STRING_COMPACT:
        done = put_sized(rows, fill, column, row, STRING_COMPACT, step.nullable)
    elif code == ARRAY_OF_STRUCTS:
        return put_structs(rows, fill, column, row, step)
    elif code == ARRAY:
        return put_scalars(rows, fill, column, row, step)
    elif code == STRING:
        done = put_sized(rows, fill, column, row, STRING, step.nullable)
    elif code == BYTES_COMPACT or code == BYTES:
        done = put_sized(rows, fill, column, row, code, step.nullable)
    elif code == STRUCT:
        done = put_rows(rows, fill, step.block, row, 1) == 1
    elif code == NULLABLE_STRUCT:
        return put_nullable_struct(rows, fill, column, row, step)
    elif code == SKIPPED:
        return skip_value(&rows.program, &fill.cursor, step, &fill.trace)
    elif cursor_has(&fill.cursor, fixed_size(code)):
        put_fixed(column, row, code, fill.cursor.p)
        fill.cursor.p += fixed_size(code)
        done = True
    if unlikely(not done):
        trace_add(&fill.trace, step.operation, -1)
    return done


cdef inline void put_run(const Move* run, Py_ssize_t row, Bytes p) noexcept nogil:
    """Neighbouring fields of fixed size whose bytes are known to be there."""
    cdef const Move* move = run + 1
    cdef const Move* last = run + run.count
    while move <= last:
        # the two most frequent ones by comparison: cheaper than the jump table behind put_fixed
        if move.code == INT32:
            (<int32_t*>move.column.data)[row] = <int32_t>load_32(p)
            p += 4
        elif move.code == INT16:
            (<int16_t*>move.column.data)[row] = <int16_t>load_16(p)
            p += 2
        else:
            put_fixed(move.column, row, move.code, p)
            p += move.size
        move += 1


cdef inline Bytes put_short_text(const Move* move, Py_ssize_t row, Bytes p, Bytes end) noexcept nogil:
    """A compact string of at most 32 ASCII characters for which there is room; NULL if it is something else. Copied first, as above."""
    cdef Column* column = move.column
    cdef Py_ssize_t start = column.offsets[row]
    cdef Py_ssize_t size
    if unlikely(end - p <= SLACK):
        return NULL
    size = <Py_ssize_t>p[0] - 1
    if unlikely(size < 0 or size > SLACK or start + SLACK > column.data_room):
        return NULL
    memcpy(column.data + start, p + 1, SLACK)
    if unlikely(not is_short_plain(column.data + start, size)):
        return NULL
    column.offsets[row + 1] = <int32_t>(start + size)
    return p + 1 + size


cdef inline Bytes put_short_int32s(const Move* move, Py_ssize_t row, Bytes p, Bytes end) noexcept nogil:
    """A compact array of int32 for which there is room, four at a time; NULL if it is null, long, or near the end."""
    cdef Column* column = move.column
    cdef Py_ssize_t start = column.offsets[row]
    cdef Py_ssize_t count
    cdef Py_ssize_t index = 4
    cdef int32_t* to
    if unlikely(end - p <= 16):
        return NULL
    count = <Py_ssize_t>p[0] - 1
    if unlikely(count < 0 or count > 126 or start + count >= move.child.room):
        return NULL
    p += 1
    if unlikely(end - p < 4 * ((count + 3) & ~<Py_ssize_t>3)):
        return NULL
    column.offsets[row + 1] = <int32_t>(start + count)
    to = <int32_t*>move.elements.data + start
    to[0] = <int32_t>load_32(p)
    to[1] = <int32_t>load_32(p + 4)
    to[2] = <int32_t>load_32(p + 8)
    to[3] = <int32_t>load_32(p + 12)
    while unlikely(index < count):
        to[index] = <int32_t>load_32(p + 4 * index)
        to[index + 1] = <int32_t>load_32(p + 4 * index + 4)
        to[index + 2] = <int32_t>load_32(p + 4 * index + 8)
        to[index + 3] = <int32_t>load_32(p + 4 * index + 12)
        index += 4
    return p + 4 * count


cdef inline Bytes skip_short(const Move* move, Bytes p, Bytes end) noexcept nogil:
    """Step over a value outside the projection whose size one byte says; NULL if it is null, long, or not all there."""
    cdef Py_ssize_t size
    if unlikely(p >= end or p[0] == 0 or p[0] > 0x7F):
        return NULL
    size = 1 + (<Py_ssize_t>p[0] - 1) * move.size
    return p + size if likely(size <= end - p) else NULL


cdef inline Py_ssize_t put_rows(Rows* rows, Fill* fill, int32_t number, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Rows of a block from `first` on; how many were put, less than `count` after a fault, whose path the trace has from below the row on.

    The caller has made room for the rows.
    """
    cdef const Block* block = rows.program.blocks + number
    cdef const Move* moves = rows.moves + block.first
    cdef const Move* last = moves + block.untagged
    cdef const Move* move
    cdef bint flexible = rows.program.flexible
    cdef bint plain = block.tagged == 0 and not rows.unknown_tags
    cdef Cursor* cursor = &fill.cursor
    cdef Bytes end = cursor.end
    cdef Bytes p = cursor.p
    cdef Bytes after
    cdef Py_ssize_t row
    for row in range(first, first + count):
        move = moves
        while move < last:
            if move.code == RUN:
                if unlikely(end - p < move.size):
                    cursor.p = p
                    fail_run(cursor, move.step, &fill.trace)
                    return row - first
                put_run(move, row, p)
                p += move.size
                move += move.count + 1
                continue
            after = NULL
            if move.code == COMPACT_INT32S:
                after = put_short_int32s(move, row, p, end)
            elif move.code == STRING_COMPACT:
                after = put_short_text(move, row, p, end)
            if unlikely(after is NULL):
                if move.code == SKIP_COMPACT:
                    after = skip_short(move, p, end)
                elif move.code == SKIP_FIXED and end - p >= move.size:
                    after = p + move.size
                if after is NULL:
                    cursor.p = p
                    if not put_value(rows, fill, row, move.step):
                        return row - first
                    after = cursor.p
            p = after
            move += 1
        if flexible:
            if likely(plain and p < end and p[0] == 0):
                p += 1
            else:
                cursor.p = p
                if not put_tagged(rows, fill, block, number, row):
                    return row - first
                p = cursor.p
    cursor.p = p
    return count


cdef inline bint keep_tag(Rows* rows, Column* tags, Py_ssize_t row, uint32_t tag, Bytes content, Py_ssize_t size) noexcept nogil:
    """Append an unknown tagged field to the list of `row`."""
    cdef Column* values = tags + 2
    cdef Py_ssize_t at = tags.offsets[row + 1]
    cdef Py_ssize_t start
    if not reserve_rows(&rows.store, tags.child, at + 1):
        return False
    start = values.offsets[at]
    if not reserve_content(&rows.store, values, start + size):
        return False
    (<int64_t*>tags[1].data)[at] = <int64_t>tag
    memcpy(values.data + start, content, size)
    values.offsets[at + 1] = <int32_t>(start + size)
    tags.offsets[row + 1] = <int32_t>(at + 1)
    return True


cdef inline bint put_tagged(Rows* rows, Fill* fill, const Block* block, int32_t number, Py_ssize_t row) noexcept nogil:
    """Read a tagged section; what it leaves out gets its default."""
    cdef Cursor* cursor = &fill.cursor
    cdef Column* tags = rows.store.columns + 2 * rows.operations + 3 * number
    cdef const Step* first = rows.program.steps + block.first + block.untagged
    cdef const Step* step
    cdef Py_ssize_t count = read_tag_count(cursor)
    cdef uint64_t seen = 0
    cdef Tag tag
    cdef int32_t index
    if rows.unknown_tags:
        tags.offsets[row + 1] = tags.offsets[row]
    while count > 0:
        if not read_tag(cursor, &rows.program, block, &tag):
            return False
        step = find_tagged(&rows.program, block, tag.number)
        if step is NULL:
            if rows.unknown_tags and not keep_tag(rows, tags, row, tag.number, cursor.p, tag.size):
                return False
            cursor.p += tag.size
        elif step.code == SKIPPED:
            if not put_value(rows, fill, row, step):
                return False
        else:
            index = <int32_t>(step - first)
            if seen >> index & 1:
                forget_value(rows, row, step)  # a tag that comes again counts again
            seen |= <uint64_t>1 << index
            if not put_value(rows, fill, row, step):
                return False
        if not ends_tag(cursor, &tag):
            return False
        count -= 1
    if cursor.code != OK:
        return False
    for index in range(block.tagged):
        if not seen >> index & 1 and first[index].code != SKIPPED and not put_default(rows, row, first + index):
            return False
    return True
