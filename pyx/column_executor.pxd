"""The column executor: runs a program over bytes and appends one row per message, with no Python object and without the GIL.

The plan is a tree (`kwire.codec.column_layout.tree_of`): an operation is a column. Columns of a program with n operations are numbered so:
the value of operation i is column i, the elements of an array of scalars are column n + i, and the unknown tags of block b are the columns
2n + 3b (a list), 2n + 3b + 1 (tag) and 2n + 3b + 2 (value).

False means a fault (the cursor has it) or no room (the store has it).
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from column_buffers cimport (
    BITS, CONTENT, EMPTY, FIXED, OF_FIELDS, Column, Store, forget_nulls, put_bit, put_null, reserve_content, reserve_rows,
)
from cursor cimport (
    BAD_TAG, BAD_UTF8, NO_LENGTH, NULL_LENGTH, OK, Bytes, Cursor, cursor_fail, cursor_has, cursor_left, likely, load_16, load_32, load_64,
    unlikely,
)
from program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BOOL, BYTES, BYTES_COMPACT, FLOAT64, INT8, INT16, INT32, INT64, NULLABLE_STRUCT, RUN, SKIPPED, STRING,
    STRING_COMPACT, STRUCT, UINT16, UINT32, UUID, Block, Program, Step, Trace, fixed_size, read_count, read_marker, trace_add,
)
from skip cimport fail_run, find_tagged, read_size, read_tag, read_tag_count, skip_value
from utf8 cimport is_utf8

cdef extern from *:
    """
    /* Two characters of base64url for each 12 bits. */
    static unsigned char kwire_pairs[4096][2];
    static void kwire_fill_pairs(void) {
        static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        for (int i = 0; i < 4096; i++) {
            kwire_pairs[i][0] = (unsigned char)alphabet[i >> 6];
            kwire_pairs[i][1] = (unsigned char)alphabet[i & 63];
        }
    }
    """
    const uint8_t (*pairs "kwire_pairs")[2]
    void fill_pairs "kwire_fill_pairs"() noexcept

cdef struct Rows:
    Program program
    Store store
    int32_t operations
    bint unknown_tags

cdef struct Fill:
    Cursor cursor
    Trace trace


cdef inline void put_uuid(uint8_t* to, Bytes p) noexcept nogil:
    """22 characters of base64url, as Kafka writes a UUID."""
    cdef int _group
    cdef uint32_t three
    for _group in range(5):
        three = <uint32_t>p[0] << 16 | <uint32_t>p[1] << 8 | p[2]
        memcpy(to, pairs[three >> 12], 2)
        memcpy(to + 2, pairs[three & 0xFFF], 2)
        p += 3
        to += 4
    memcpy(to, pairs[<uint32_t>p[0] << 4], 2)


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
        put_uuid(column.data + row * 22, p)
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
    if size <= 32 and cursor_left(cursor) >= 32:
        memcpy(to, content, 32)
    else:
        memcpy(to, content, size)
    column.offsets[row + 1] = <int32_t>(start + size)
    if text and unlikely(not is_utf8(to, size)):
        cursor_fail(cursor, BAD_UTF8, content)
        return False
    cursor.p = content + size
    return True


cdef inline bint put_sized(Rows* rows, Fill* fill, Column* column, Py_ssize_t row, int32_t code, bint nullable) noexcept nogil:
    """A string or bytes value, or null."""
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
    """An array of scalars, or null."""
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
    """An array of structs, or null."""
    cdef Py_ssize_t count = read_count(&fill.cursor, step)
    cdef Py_ssize_t start = column.offsets[row]
    cdef Py_ssize_t index
    if count <= 0:
        column.offsets[row + 1] = <int32_t>start
        if count == 0 or count == NULL_LENGTH and put_null(&rows.store, column, row):
            return True
        trace_add(&fill.trace, step.operation, -1)
        return False
    if not reserve_rows(&rows.store, column.child, start + count):
        return False
    column.offsets[row + 1] = <int32_t>(start + count)
    for index in range(count):
        if not put_struct(rows, fill, step.block, start + index):
            trace_add(&fill.trace, step.operation, index)
            return False
    return True


cdef inline bint put_nullable_struct(Rows* rows, Fill* fill, Column* column, Py_ssize_t row, const Step* step) noexcept nogil:
    cdef Py_ssize_t marker = read_marker(&fill.cursor, step)
    if marker == NULL_LENGTH:
        return put_null(&rows.store, column, row) and put_blank(rows, &rows.program.blocks[step.block], step.block, row)
    if marker != NO_LENGTH and put_struct(rows, fill, step.block, row):
        return True
    trace_add(&fill.trace, step.operation, -1)
    return False


cdef inline bint put_value(Rows* rows, Fill* fill, Py_ssize_t row, const Step* step) noexcept nogil:
    """The value of one step that is neither a run nor skipped; after a fault the trace has its path, from here down."""
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
        done = put_struct(rows, fill, step.block, row)
    elif code == NULLABLE_STRUCT:
        return put_nullable_struct(rows, fill, column, row, step)
    elif cursor_has(&fill.cursor, fixed_size(code)):
        put_fixed(column, row, code, fill.cursor.p)
        fill.cursor.p += fixed_size(code)
        done = True
    if unlikely(not done):
        trace_add(&fill.trace, step.operation, -1)
    return done


cdef inline bint put_struct(Rows* rows, Fill* fill, int32_t number, Py_ssize_t row) noexcept nogil:
    """One row of a block; after a fault the trace has the path, from here down."""
    cdef const Block* block = rows.program.blocks + number
    cdef const Step* step = rows.program.steps + block.first
    cdef const Step* last = step + block.untagged
    cdef const Step* run_end
    cdef Column* columns = rows.store.columns
    cdef Column* column
    cdef Cursor* cursor = &fill.cursor
    cdef Bytes p
    while step < last:
        if step.code == RUN:
            if unlikely(cursor_left(cursor) < step.minimum):
                return fail_run(cursor, step, &fill.trace)
            p = cursor.p
            cursor.p = p + step.minimum
            run_end = step + step.count
            while step < run_end:
                step += 1
                column = columns + step.operation
                # the two most frequent ones by comparison: cheaper than the jump table behind put_fixed
                if step.code == INT32:
                    (<int32_t*>column.data)[row] = <int32_t>load_32(p)
                    p += 4
                elif step.code == INT16:
                    (<int16_t*>column.data)[row] = <int16_t>load_16(p)
                    p += 2
                else:
                    put_fixed(column, row, step.code, p)
                    p += fixed_size(step.code)
        elif step.code == SKIPPED:
            if not skip_value(&rows.program, cursor, step, &fill.trace):
                return False
        elif not put_value(rows, fill, row, step):
            return False
        step += 1
    if not rows.program.flexible:
        return True
    if block.tagged == 0 and not rows.unknown_tags and cursor.p < cursor.end and cursor.p[0] == 0:
        cursor.p += 1
        return True
    return put_tagged(rows, fill, block, number, row)


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
    cdef Py_ssize_t size
    cdef uint64_t seen = 0
    cdef uint32_t tag
    cdef int32_t index
    cdef Bytes start
    cdef Bytes stop
    if rows.unknown_tags:
        tags.offsets[row + 1] = tags.offsets[row]
    while count > 0:
        start = cursor.p
        if not read_tag(cursor, &rows.program, block, &tag, &size):
            return False
        stop = cursor.p + size
        step = find_tagged(&rows.program, block, tag)
        if step is NULL:
            if rows.unknown_tags and not keep_tag(rows, tags, row, tag, cursor.p, size):
                return False
            cursor.p = stop
        elif step.code == SKIPPED:
            if not skip_value(&rows.program, cursor, step, &fill.trace):
                return False
        else:
            index = <int32_t>(step - first)
            if seen >> index & 1:
                forget_value(rows, row, step)  # a tag that comes again counts again
            seen |= <uint64_t>1 << index
            if not put_value(rows, fill, row, step):
                return False
        if cursor.p != stop:
            cursor_fail(cursor, BAD_TAG, start)
            return False
        count -= 1
    if cursor.code != OK:
        return False
    for index in range(block.tagged):
        if not seen >> index & 1 and first[index].code != SKIPPED and not put_default(rows, row, first + index):
            return False
    return True


cdef inline void put_default_bits(Column* column, Py_ssize_t row) noexcept nogil:
    if column.width == 1:
        (<int8_t*>column.data)[row] = <int8_t>column.default_bits
    elif column.width == 2:
        (<int16_t*>column.data)[row] = <int16_t>column.default_bits
    elif column.width == 4:
        (<int32_t*>column.data)[row] = <int32_t>column.default_bits
    else:
        (<int64_t*>column.data)[row] = column.default_bits


cdef inline bint put_default(Rows* rows, Py_ssize_t row, const Step* step) noexcept nogil:
    """The default of a field that the wire left out."""
    cdef Column* column = rows.store.columns + step.operation
    cdef const Block* block
    cdef const Step* field
    cdef Py_ssize_t start
    cdef int32_t index
    if column.default == FIXED:
        if column.width == BITS:
            put_bit(column, row, column.default_bits != 0)
        else:
            put_default_bits(column, row)
        return True
    if column.default == CONTENT:
        if step.code == UUID:
            memcpy(column.data + row * column.width, column.default_content, column.width)
            return True
        start = column.offsets[row]
        if not reserve_content(&rows.store, column, start + column.default_size):
            return False
        memcpy(column.data + start, column.default_content, column.default_size)
        column.offsets[row + 1] = <int32_t>(start + column.default_size)
        return True
    if column.default == EMPTY:
        column.offsets[row + 1] = column.offsets[row]
        return True
    if column.default == OF_FIELDS:
        block = rows.program.blocks + step.block
        field = rows.program.steps + block.first
        for index in range(block.untagged + block.tagged):
            if field[index].code != RUN and field[index].code != SKIPPED and not put_default(rows, row, field + index):
                return False
        if rows.unknown_tags:
            column = rows.store.columns + 2 * rows.operations + 3 * step.block
            column.offsets[row + 1] = column.offsets[row]
        return True
    return put_blank_value(rows, row, step)


cdef inline bint put_blank_value(Rows* rows, Py_ssize_t row, const Step* step) noexcept nogil:
    """A null, with zeros where Arrow wants some bytes."""
    cdef Column* column = rows.store.columns + step.operation
    if column.has_offsets:
        column.offsets[row + 1] = column.offsets[row]
    elif column.width == BITS:
        put_bit(column, row, False)
    elif column.width > 0:
        memset(column.data + row * column.width, 0, column.width)
    elif not put_blank(rows, rows.program.blocks + step.block, step.block, row):
        return False
    return put_null(&rows.store, column, row)


cdef inline bint put_blank(Rows* rows, const Block* block, int32_t number, Py_ssize_t row) noexcept nogil:
    """A row of nulls."""
    cdef const Step* step = rows.program.steps + block.first
    cdef Column* tags
    cdef int32_t index
    for index in range(block.untagged + block.tagged):
        if step[index].code != RUN and step[index].code != SKIPPED and not put_blank_value(rows, row, step + index):
            return False
    if rows.unknown_tags:
        tags = rows.store.columns + 2 * rows.operations + 3 * number
        tags.offsets[row + 1] = tags.offsets[row]
        return put_null(&rows.store, tags, row)
    return True


cdef inline void forget_value(Rows* rows, Py_ssize_t first, const Step* step) noexcept nogil:
    """Take back the nulls of one field from row `first` on, all the way down."""
    cdef Column* column = rows.store.columns + step.operation
    forget_nulls(column, first)
    if step.code == ARRAY_OF_STRUCTS:
        if column.offsets is not NULL:
            forget_rows(rows, step.block, column.offsets[first])
    elif step.code == STRUCT or step.code == NULLABLE_STRUCT:
        forget_rows(rows, step.block, first)


cdef inline void forget_rows(Rows* rows, int32_t number, Py_ssize_t first) noexcept nogil:
    """Take back the nulls of the rows of a block from `first` on: they are going to be written again."""
    cdef const Block* block = rows.program.blocks + number
    cdef const Step* step = rows.program.steps + block.first
    cdef int32_t index
    for index in range(block.untagged + block.tagged):
        if step[index].code != RUN and step[index].code != SKIPPED:
            forget_value(rows, first, step + index)
    if rows.unknown_tags:
        forget_nulls(rows.store.columns + 2 * rows.operations + 3 * number, first)
