"""The JSON executor: runs a program over bytes and writes the text of Kafka's own JSON, with no object between.

It writes what is right and usual. Whatever breaks a rule, and tagged fields in an order that no writer of Kafka's has, makes it stop: the
object executor reads such a message again and says what is wrong, or writes it.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp

from codec.json_program cimport LONGEST_VALUE, JsonProgram, Naming
from codec.json_values cimport (
    TextOut, longest_text, put_base64, put_fixed, put_integer, put_name, put_null_text, put_string, put_word, text_room,
)
from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, NULLABLE_STRUCT, RUN, STRING, STRING_COMPACT, STRUCT, Block, Step, fixed_size,
    read_count, read_marker,
)
from codec.skip cimport Tag, ends_tag, find_tagged, read_size, read_tag, read_tag_count
from wire.cursor cimport (
    NO_LENGTH, NULL_LENGTH, OK, Bytes, Cursor, cursor_has, cursor_left, likely, unlikely,
)

# One message. `unknown` counts the tagged fields that its version does not define.
cdef struct JsonRun:
    const JsonProgram* program
    Cursor cursor
    TextOut out
    int32_t unknown


cdef inline bint write_sized(JsonRun* run, int32_t code, bint nullable) noexcept nogil:
    cdef Py_ssize_t size = read_size(&run.cursor, code, nullable)
    cdef Bytes content = run.cursor.p
    cdef bint refused = False
    if size < 0:
        if size != NULL_LENGTH or not text_room(&run.out, 8):
            return False
        put_null_text(&run.out)
        return True
    run.cursor.p = content + size
    if code == STRING or code == STRING_COMPACT:
        return put_string(&run.out, content, size, &refused)
    return put_base64(&run.out, content, size)


cdef inline void close_array(TextOut* out) noexcept nogil:
    """Put the bracket in place of the last comma, or behind the other bracket."""
    if out.p[-1] == c",":
        out.p[-1] = c"]"
    else:
        out.p[0] = c"]"
        out.p += 1


cdef inline bint write_array(JsonRun* run, const Step* step) noexcept nogil:
    cdef Py_ssize_t count = read_count(&run.cursor, step)
    cdef Py_ssize_t _index
    cdef int32_t size
    cdef Bytes p
    if count == NO_LENGTH or not text_room(&run.out, 8):
        return False
    if count == NULL_LENGTH:
        put_null_text(&run.out)
        return True
    run.out.p[0] = c"["
    run.out.p += 1
    size = fixed_size(step.element) if step.code == ARRAY else 0
    if size:
        # its bytes are there: the count was held against them
        if not text_room(&run.out, count * (longest_text(step.element) + 1) + 2):
            return False
        p = run.cursor.p
        for _index in range(count):
            put_fixed(&run.out, step.element, &p)
            run.out.p[0] = c","
            run.out.p += 1
        run.cursor.p = p
    else:
        for _index in range(count):
            if step.code == ARRAY:
                if not write_sized(run, step.element, False):
                    return False
            elif not write_block(run, step.block):
                return False
            if not text_room(&run.out, 2):
                return False
            run.out.p[0] = c","
            run.out.p += 1
    close_array(&run.out)
    return True


cdef inline bint write_value(JsonRun* run, const Step* step) noexcept nogil:
    cdef int32_t code = step.code
    cdef Py_ssize_t marker
    cdef int32_t size
    if code == STRING_COMPACT:
        return write_sized(run, STRING_COMPACT, step.nullable)
    if code == ARRAY or code == ARRAY_OF_STRUCTS:
        return write_array(run, step)
    if code == STRING or code == BYTES or code == BYTES_COMPACT:
        return write_sized(run, code, step.nullable)
    if code == STRUCT:
        return write_block(run, step.block)
    if code == NULLABLE_STRUCT:
        marker = read_marker(&run.cursor, step)
        if marker == NO_LENGTH:
            return False
        if marker != NULL_LENGTH:
            return write_block(run, step.block)
        if not text_room(&run.out, 8):
            return False
        put_null_text(&run.out)
        return True
    size = fixed_size(code)
    if size == 0 or not cursor_has(&run.cursor, size) or not text_room(&run.out, LONGEST_VALUE):
        return False
    put_fixed(&run.out, code, &run.cursor.p)
    return True


cdef inline bint is_left_out(const JsonRun* run, const Naming* naming, Py_ssize_t text_at) noexcept nogil:
    """Return whether a tagged field, whose text begins at `text_at`, has its default: Kafka omits it from its JSON."""
    cdef Bytes text = run.out.column.data + text_at
    cdef Py_ssize_t size = run.out.p - text
    return naming.default is not NULL and size == naming.default_size and memcmp(text, naming.default, size) == 0


cdef inline bint write_tagged(JsonRun* run, const Block* block) noexcept nogil:
    """Write a tagged section that is not empty; False too for tags that do not ascend."""
    cdef Cursor* cursor = &run.cursor
    cdef Py_ssize_t count = read_tag_count(cursor)
    cdef Py_ssize_t name_at, text_at
    cdef int64_t before = -1
    cdef Tag tag
    cdef int32_t unknown
    cdef const Step* step
    cdef const Naming* naming
    while count > 0:
        if not read_tag(cursor, &run.program.program, block, &tag) or tag.number <= before:
            return False
        before = tag.number
        step = find_tagged(&run.program.program, block, tag.number)
        if step is NULL:
            run.unknown += 1
            cursor.p += tag.size
        else:
            naming = &run.program.names[step - run.program.program.steps]
            unknown = run.unknown
            if not text_room(&run.out, naming.name_size + 1):
                return False
            name_at = run.out.p - run.out.column.data
            put_name(&run.out, naming.name, naming.name_size)
            text_at = name_at + naming.name_size
            if not write_value(run, step) or not ends_tag(cursor, &tag) or not text_room(&run.out, 2):
                return False
            if unknown == run.unknown and is_left_out(run, naming, text_at):
                run.out.p = run.out.column.data + name_at
            else:
                run.out.p[0] = c","
                run.out.p += 1
        count -= 1
    return cursor.code == OK


cdef inline bint write_counted(JsonRun* run, const Step* step, const Naming* naming) noexcept nogil:
    """The size of record batches, or null, with the name and a comma: what a broker's request log has in their place."""
    cdef Py_ssize_t size
    if step.code != BYTES and step.code != BYTES_COMPACT:
        return False
    size = read_size(&run.cursor, step.code, step.nullable)
    if (size < 0 and size != NULL_LENGTH) or not text_room(&run.out, naming.counted_size + LONGEST_VALUE):
        return False
    if size < 0:
        put_word(&run.out, <const char*>naming.name, naming.name_size)
        put_null_text(&run.out)
    else:
        put_word(&run.out, <const char*>naming.counted, naming.counted_size)
        put_integer(&run.out, size)
        run.cursor.p += size
    run.out.p[0] = c","
    run.out.p += 1
    return True


cdef inline bint write_fields(JsonRun* run, const Block* block, int32_t number) noexcept nogil:
    """Write the fields that are always there, each with a comma behind it."""
    cdef const Step* steps = run.program.program.steps
    cdef const Step* step = steps + block.first
    cdef const Step* last = step + block.untagged
    cdef const Step* run_end
    cdef const Naming* naming
    cdef Bytes p
    while step < last:
        if step.code == RUN:
            if unlikely(cursor_left(&run.cursor) < step.minimum) or not text_room(&run.out, run.program.most[number]):
                return False
            p = run.cursor.p
            run.cursor.p = p + step.minimum
            run_end = step + step.count
            while step < run_end:
                step += 1
                naming = &run.program.names[step - steps]
                put_name(&run.out, naming.name, naming.name_size)
                put_fixed(&run.out, step.code, &p)
                run.out.p[0] = c","
                run.out.p += 1
        else:
            naming = &run.program.names[step - steps]
            if unlikely(naming.counted is not NULL):
                if not write_counted(run, step, naming):
                    return False
                step += 1
                continue
            if not text_room(&run.out, naming.name_size):
                return False
            put_name(&run.out, naming.name, naming.name_size)
            if not write_value(run, step) or not text_room(&run.out, 2):
                return False
            run.out.p[0] = c","
            run.out.p += 1
        step += 1
    return True


cdef inline bint write_block(JsonRun* run, int32_t number) noexcept nogil:
    """Write one struct; False where it is not one that this executor writes, or the column has no room."""
    cdef const Block* block = run.program.program.blocks + number
    if not text_room(&run.out, 2):
        return False
    run.out.p[0] = c"{"
    run.out.p += 1
    if not write_fields(run, block, number):
        return False
    if run.program.program.flexible:
        if likely(run.cursor.p < run.cursor.end and run.cursor.p[0] == 0):
            run.cursor.p += 1
        elif not write_tagged(run, block):
            return False
    if run.out.p[-1] == c",":
        run.out.p[-1] = c"}"
    else:
        if not text_room(&run.out, 2):
            return False
        run.out.p[0] = c"}"
        run.out.p += 1
    return True
