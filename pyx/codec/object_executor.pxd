"""The object executor: runs a program over bytes and builds message objects.

Raw pointers throughout: what is built is owned by the slot or item it was stored into at once, so an object that is given up half-way
releases all it holds. Values come back as new references; NULL means a fault (the cursor has it) or, where the cursor has none, a Python
exception.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libc.string cimport memcmp

from codec.object_program cimport Objects, Target
from codec.object_values cimport MEMO_FROM, Build, build_fixed, build_int32, build_int64, build_remember, build_sized, build_small
from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, INT16, INT32, INT64, NULLABLE_STRUCT, RUN, SKIPPED, STRING, STRING_COMPACT, STRUCT,
    Block, Step, fixed_size, read_count, read_marker, trace_add,
)
from codec.skip cimport Tag, ends_tag, fail_run, find_tagged, read_tag, read_tag_count, skip_value
from codec.slotted cimport slotted_begin
from wire.cursor cimport (
    NO_LENGTH, NULL_LENGTH, OK, Bytes, Cursor, cursor_has, cursor_left, likely, load_16, load_32, load_64, unlikely,
)
from wire.raw_python cimport (
    gc_track, gc_untrack, new_none, raw_bytes, raw_decref, raw_incref, raw_list_append, raw_list_as_tuple, raw_list_new, raw_list_set,
    raw_long_long, raw_tuple_new, raw_tuple_pack, raw_tuple_set, raw_xdecref,
)


cdef inline PyObject** slot_at(PyObject* self, int32_t offset) noexcept:
    return <PyObject**>(<char*>self + offset)


cdef inline PyObject* build_fixed_array(const Objects* objects, Build* build, int32_t element, Py_ssize_t count) noexcept:
    """The tuple of elements of fixed size whose bytes are all there, at least one."""
    cdef Bytes start = build.cursor.p
    cdef Py_ssize_t size = count * fixed_size(element)
    cdef Py_ssize_t index
    cdef PyObject* values = build.array
    cdef PyObject* value
    build.cursor.p = start + size
    if values is not NULL and size == build.array_size and element == build.array_element and memcmp(start, build.array_start, size) == 0:
        raw_incref(values)
        return values
    values = raw_tuple_new(count)
    if unlikely(values is NULL):
        return NULL
    gc_untrack(values)
    raw_xdecref(build.array)
    build.array = NULL
    build.array_start = start
    for index in range(count):
        value = build_fixed(objects, build, element, &start)
        if unlikely(value is NULL):
            raw_decref(values)
            return NULL
        raw_tuple_set(values, index, value)
    raw_incref(values)
    build.array = values
    build.array_size = size
    build.array_element = element
    return values


cdef inline PyObject* build_scalars(const Objects* objects, Build* build, const Step* step) noexcept:
    """An array of scalars as a tuple, or None. Nothing in it can be part of a cycle, so the collector need not look at it."""
    cdef Py_ssize_t count = read_count(&build.cursor, step)
    cdef Py_ssize_t index
    cdef PyObject* values
    cdef PyObject* value
    if count == 0:
        raw_incref(objects.empty)
        return objects.empty
    if count < 0:
        if count == NULL_LENGTH:
            return new_none()
        trace_add(&build.trace, step.operation, -1)
        return NULL
    if fixed_size(step.element):
        return build_fixed_array(objects, build, step.element, count)
    values = raw_tuple_new(count)
    if unlikely(values is NULL):
        return NULL
    gc_untrack(values)
    for index in range(count):
        value = build_sized(build, step.element, False)
        if unlikely(value is NULL):
            trace_add(&build.trace, step.operation, index)
            raw_decref(values)
            return NULL
        raw_tuple_set(values, index, value)
    return values


cdef inline PyObject* build_structs(const Objects* objects, Build* build, const Step* step) noexcept:
    cdef Py_ssize_t count = read_count(&build.cursor, step)
    cdef Py_ssize_t index
    cdef PyObject* values
    cdef PyObject* value
    if count < 0:
        if count == NULL_LENGTH:
            return new_none()
        trace_add(&build.trace, step.operation, -1)
        return NULL
    values = raw_list_new(count)
    if values is NULL or count == 0:
        return values
    gc_untrack(values)  # the collector must not see it before it is whole
    if count >= MEMO_FROM:
        build_remember(build)
    for index in range(count):
        value = build_struct(objects, build, step.block)
        if unlikely(value is NULL):
            trace_add(&build.trace, step.operation, index)
            raw_decref(values)
            return NULL
        raw_list_set(values, index, value)
    gc_track(values)
    return values


cdef inline PyObject* build_value(const Objects* objects, Build* build, const Step* step) noexcept:
    """The value of one step that is neither a run nor skipped; after a fault the trace has its path, from here down."""
    cdef int32_t code = step.code
    cdef Cursor* cursor = &build.cursor
    cdef Py_ssize_t marker
    cdef PyObject* value = NULL
    # one call for each way to spell a length, so that the compiler knows which it is
    if code == STRING_COMPACT:
        value = build_sized(build, STRING_COMPACT, step.nullable)
    elif code == STRING:
        value = build_sized(build, STRING, step.nullable)
    elif code == BYTES_COMPACT:
        value = build_sized(build, BYTES_COMPACT, step.nullable)
    elif code == BYTES:
        value = build_sized(build, BYTES, step.nullable)
    elif code == ARRAY:
        return build_scalars(objects, build, step)
    elif code == ARRAY_OF_STRUCTS:
        return build_structs(objects, build, step)
    elif code == STRUCT:
        value = build_struct(objects, build, step.block)
    elif code == NULLABLE_STRUCT:
        marker = read_marker(cursor, step)
        if marker == NULL_LENGTH:
            return new_none()
        if marker != NO_LENGTH:
            value = build_struct(objects, build, step.block)
    elif cursor_has(cursor, fixed_size(code)):
        value = build_fixed(objects, build, code, &cursor.p)
    if unlikely(value is NULL):
        trace_add(&build.trace, step.operation, -1)
    return value


cdef inline bint keep_tag(PyObject** kept, uint32_t tag, Bytes content, Py_ssize_t size) noexcept:
    """Append an unknown tagged field to the list `kept`, which is made when the first one is met."""
    cdef PyObject* number = raw_long_long(tag)
    cdef PyObject* payload = raw_bytes(<const char*>content, size)
    cdef PyObject* pair = NULL
    cdef bint done = False
    if number is not NULL and payload is not NULL:
        pair = raw_tuple_pack(2, number, payload)
        if kept[0] is NULL:
            kept[0] = raw_list_new(0)
        if pair is not NULL and kept[0] is not NULL:
            done = raw_list_append(kept[0], pair) == 0
            gc_untrack(pair)
    raw_xdecref(number)
    raw_xdecref(payload)
    raw_xdecref(pair)
    return done


cdef inline bint fill_known_tag(const Objects* objects, Build* build, PyObject* self, const Step* step) noexcept:
    cdef PyObject** slot = slot_at(self, step.offset)
    cdef PyObject* old
    cdef PyObject* value
    if step.code == SKIPPED:
        return skip_value(&objects.program, &build.cursor, step, &build.trace)
    value = build_value(objects, build, step)
    if unlikely(value is NULL):
        return False
    old = slot[0]  # a tag that comes again counts again
    slot[0] = value
    raw_xdecref(old)
    return True


cdef inline bint fill_tagged(const Objects* objects, Build* build, PyObject* self, const Block* block, PyObject** kept) noexcept:
    """Read a tagged section that is not empty into an object; unknown tags go to the list `kept`."""
    cdef Cursor* cursor = &build.cursor
    cdef Py_ssize_t count = read_tag_count(cursor)
    cdef Tag tag
    cdef const Step* step
    while count > 0:
        if not read_tag(cursor, &objects.program, block, &tag):
            return False
        step = find_tagged(&objects.program, block, tag.number)
        if step is NULL:
            if not keep_tag(kept, tag.number, cursor.p, tag.size):
                return False
            cursor.p += tag.size
        elif not fill_known_tag(objects, build, self, step) or not ends_tag(cursor, &tag):
            return False
        count -= 1
    return cursor.code == OK


cdef inline bint fill_lists(PyObject* self, const Target* target) noexcept:
    """Give the slots that the wire left empty their lists."""
    cdef PyObject** slot
    cdef int32_t index
    for index in range(target.list_count):
        slot = slot_at(self, target.lists[index])
        if slot[0] is NULL:
            slot[0] = raw_list_new(0)
            if slot[0] is NULL:
                return False
    return True


cdef inline bint fill_fields(const Objects* objects, Build* build, PyObject* self, const Block* block) noexcept:
    cdef const Step* step = objects.program.steps + block.first
    cdef const Step* last = step + block.untagged
    cdef const Step* run_end
    cdef PyObject* value
    cdef Bytes p
    while step < last:
        if step.code == RUN:
            if unlikely(cursor_left(&build.cursor) < step.minimum):
                return fail_run(&build.cursor, step, &build.trace)
            p = build.cursor.p
            build.cursor.p = p + step.minimum
            run_end = step + step.count
            while step < run_end:
                step += 1
                # the most frequent ones by comparison: cheaper than the jump table behind build_fixed
                if step.code == INT32:
                    value = build_int32(objects, build, <int32_t>load_32(p))
                    p += 4
                elif step.code == INT16:
                    value = build_small(objects, <int16_t>load_16(p))
                    p += 2
                elif step.code == INT64:
                    value = build_int64(objects, <int64_t>load_64(p))
                    p += 8
                else:
                    value = build_fixed(objects, build, step.code, &p)
                if unlikely(value is NULL):
                    return False
                slot_at(self, step.offset)[0] = value
        elif step.code == SKIPPED:
            if not skip_value(&objects.program, &build.cursor, step, &build.trace):
                return False
        else:
            if step.code == STRING_COMPACT:  # as in build_value: what comes most often is spared the call
                value = build_sized(build, STRING_COMPACT, step.nullable)
                if unlikely(value is NULL):
                    trace_add(&build.trace, step.operation, -1)
            elif step.code == STRING:
                value = build_sized(build, STRING, step.nullable)
                if unlikely(value is NULL):
                    trace_add(&build.trace, step.operation, -1)
            elif step.code == ARRAY_OF_STRUCTS:
                value = build_structs(objects, build, step)
            else:
                value = build_value(objects, build, step)
            if unlikely(value is NULL):
                return False
            slot_at(self, step.offset)[0] = value
        step += 1
    return True


cdef inline bint fill_unknown(PyObject* self, const Target* target, PyObject* kept) noexcept:
    """Put the list of unknown tagged fields into an object, as a tuple."""
    cdef PyObject* tags = raw_list_as_tuple(kept)
    cdef PyObject* old = slot_at(self, target.last_slot)[0]
    if tags is NULL:
        return False
    gc_untrack(tags)
    slot_at(self, target.last_slot)[0] = tags
    raw_decref(old)
    return True


cdef inline PyObject* build_struct(const Objects* objects, Build* build, int32_t number) noexcept:
    """The object of one block; after a fault the trace has the path, from here down."""
    cdef const Block* block = objects.program.blocks + number
    cdef const Target* target = objects.targets + number
    cdef Cursor* cursor = &build.cursor
    cdef PyObject* kept = NULL
    cdef PyObject* self = slotted_begin(&target.beginning)
    cdef bint whole
    if unlikely(self is NULL):
        return NULL
    whole = fill_fields(objects, build, self, block)
    if whole and objects.program.flexible:
        if likely(cursor.p < cursor.end and cursor.p[0] == 0):
            cursor.p += 1
        else:
            whole = fill_tagged(objects, build, self, block, &kept)
            if kept is not NULL:
                whole = whole and fill_unknown(self, target, kept)
                raw_decref(kept)
    if whole and target.list_count:
        whole = fill_lists(self, target)
    if unlikely(not whole):
        raw_decref(self)
        return NULL
    if target.beginning.collected:
        gc_track(self)
    return self
