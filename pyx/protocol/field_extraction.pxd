"""Takes the first fields out of a body in one pass and without any Python object: columns, topics, error codes.

A field plan (`field_plan.pxd`) names what is taken, and `extracted_fields.pxd` is where it goes. All else is stepped over with the checks
of `codec/skip.pxd`, as Python's projections do. A body is a *fallback* when Python would find something to say about it, or might: then
Python reads it.

A body that was cut (`take_cut_fields`) is read as far as its bytes go, as kwire/codec/prefix.py does: what was whole is taken, and the
element of an array in which the bytes end counts.
"""

from libc.stdint cimport INT32_MIN, int32_t, int64_t, uint32_t, uint64_t

from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, NULLABLE_STRUCT, RUN, STRING, STRING_COMPACT, STRUCT, Block, Program, Step, Trace,
    fixed_size, read_count, read_marker,
)
from codec.skip cimport Tag, ends_tag, find_tagged, is_text, read_size, read_tag, read_tag_count, skip_value
from protocol.extracted_fields cimport (
    Fields, Use, UseList, use_begin, use_add, parts_add, take_default, take_fixed, take_text, MET_ERROR, MET_TOPICS,
)
from protocol.field_plan cimport (
    COLUMN_MASK, KEY_PART, MARK_MASK, NO_MARK, RECORDS, TOPIC_NAMES, TOPICS, TOPICS_ROOT, USED_MASK, USED_PARTITIONS, USED_RECORDS,
    USED_TOPICS, FieldPlan,
)
from protocol.record_batches cimport BATCHES_FALLBACK, BATCHES_PARTIAL, look_at_batches
from wire.cursor cimport (
    NO_LENGTH, NULL_LENGTH, OK, TRUNCATED, Bytes, Cursor, cursor_has, cursor_left, unlikely,
)


cdef inline bint walk_elements(
    const FieldPlan* field_plan, Cursor* cursor, const Step* step, int mark, Fields* fields, Trace* trace
) noexcept nogil:
    """An array of structs in which something is marked, or whose elements are counted."""
    cdef Bytes start = cursor.p
    cdef Py_ssize_t count = read_count(cursor, step, fields.cut)
    cdef const Block* block = &field_plan.program.blocks[step.block]
    cdef Py_ssize_t _index
    cdef int used = mark & USED_MASK
    mark &= MARK_MASK
    if count < 0:
        if count == NULL_LENGTH and (mark == TOPICS or mark == TOPICS_ROOT):
            fields.topics_null = is_first(field_plan, step)
        return count == NULL_LENGTH
    if mark == TOPICS or mark == TOPICS_ROOT:
        fields.met |= MET_TOPICS
        if mark == TOPICS and is_first(field_plan, step):
            fields.topics_claimed = <int32_t>count
    if mark == TOPICS and not fields.cut and not is_inside(field_plan, block):
        fields.topic_count += <int32_t>count
        cursor.p = start
        return skip_value(&field_plan.program, cursor, step, trace)
    for _index in range(count):
        if mark == TOPICS:
            fields.topic_count += 1
        if used == USED_TOPICS:
            fields.use.topic_size = 0
            fields.use.topic_id = NULL
        elif used == USED_PARTITIONS:
            use_begin(&fields.use)
        if not walk_block(field_plan, cursor, block, fields, trace):
            if fields.cut and used == USED_PARTITIONS:
                cut_partition(field_plan, block, fields)
            return False
        if used == USED_PARTITIONS and not use_add(fields):
            fields.needs_fallback = True
    return True


cdef inline void cut_partition(const FieldPlan* field_plan, const Block* block, Fields* fields) noexcept nogil:
    """The bytes end inside a partition: kwire/protocol/tracking/topic_use.py, `_uses`."""
    cdef UseList* uses = fields.uses
    cdef Use* latest
    cdef bint is_cut = not fields.use.recorded and has_records(field_plan, block)
    if fields.use.numbered:
        fields.use.unseen = is_cut
        if not use_add(fields):
            fields.needs_fallback = True
    elif is_cut and uses.count:
        latest = uses.uses + uses.count - 1
        if latest.topic is fields.use.topic and latest.topic_id is fields.use.topic_id:
            latest.unseen = True


cdef inline bint has_records(const FieldPlan* field_plan, const Block* block) noexcept nogil:
    """Return whether a partition of this message has records."""
    cdef Py_ssize_t index
    for index in range(block.first, block.first + block.untagged + block.tagged):
        if field_plan.marks[index] & USED_MASK == USED_RECORDS or field_plan.marks[index] & MARK_MASK == RECORDS:
            return True
    return False


cdef inline bint is_first(const FieldPlan* field_plan, const Step* step) noexcept nogil:
    """Return whether a step belongs to the message itself, not to a nested struct."""
    cdef const Block* top = field_plan.program.blocks
    cdef Py_ssize_t index = step - field_plan.program.steps
    return top.first <= index < top.first + top.untagged + top.tagged


cdef inline bint is_inside(const FieldPlan* field_plan, const Block* block) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(block.first, block.first + block.untagged + block.tagged):
        if field_plan.marks[index]:
            return True
    return False


cdef inline bint walk_names(Cursor* cursor, const Step* step, int mark, bint first, Fields* fields) noexcept nogil:
    """An array of texts that is marked."""
    cdef Py_ssize_t count = read_count(cursor, step, fields.cut)
    cdef Py_ssize_t size
    if count < 0:
        if count == NULL_LENGTH and mark == TOPIC_NAMES:
            fields.topics_null = first
        return count == NULL_LENGTH
    if mark == TOPIC_NAMES:
        fields.met |= MET_TOPICS
        if first:
            fields.topics_claimed = <int32_t>count
    while count > 0:
        size = read_size(cursor, step.element, False)
        if size < 0 or not is_text(cursor, step.element, size):
            return False
        take_text(fields, mark, cursor.p, size)
        cursor.p += size
        count -= 1
    return True


cdef inline bint walk_value(
    const FieldPlan* field_plan, Cursor* cursor, const Step* step, int mark, Fields* fields, Trace* trace
) noexcept nogil:
    """One field that is marked, or in which something is."""
    cdef int32_t shape = step.shape
    cdef Bytes start = cursor.p
    cdef Py_ssize_t size
    cdef int batches
    if mark & MARK_MASK == KEY_PART and mark & USED_MASK == 0:
        if not skip_value(&field_plan.program, cursor, step, trace):
            return False
        if not parts_add(fields.parts, start, cursor.p - start):
            fields.needs_fallback = True
        if not mark & COLUMN_MASK:
            return True
        cursor.p = start
        mark &= COLUMN_MASK
    if shape == STRING or shape == STRING_COMPACT or shape == BYTES or shape == BYTES_COMPACT:
        size = read_size(cursor, shape, step.nullable)
        if size == NO_LENGTH:
            return False
        if mark & USED_MASK == USED_RECORDS or mark & MARK_MASK == RECORDS:
            fields.use.recorded = True
        if size >= 0:
            if not is_text(cursor, shape, size):
                return False
            if mark & MARK_MASK != RECORDS and mark & USED_MASK != USED_RECORDS:
                take_text(fields, mark, cursor.p, size)
            elif size > 0:
                fields.use.records = cursor.p
                fields.use.records_size = size
                batches = look_at_batches(cursor.p, size, &fields.use.weight)
                fields.needs_fallback = fields.needs_fallback or batches == BATCHES_FALLBACK
                fields.partial_batch = fields.partial_batch or batches == BATCHES_PARTIAL
            cursor.p += size
        elif mark & MARK_MASK == TOPIC_NAMES and is_first(field_plan, step):
            fields.topics_null = True
        return True
    if shape == ARRAY_OF_STRUCTS:
        return walk_elements(field_plan, cursor, step, mark, fields, trace)
    if shape == ARRAY:
        if step.element == STRING or step.element == STRING_COMPACT:
            return walk_names(cursor, step, mark, is_first(field_plan, step), fields)
        return skip_value(&field_plan.program, cursor, step, trace)
    if shape == STRUCT or shape == NULLABLE_STRUCT:
        if shape == NULLABLE_STRUCT:
            size = read_marker(cursor, step)
            if size < 0:
                if size == NULL_LENGTH and mark & MARK_MASK == TOPICS_ROOT:
                    fields.topics_null = True
                return size == NULL_LENGTH
        if mark & MARK_MASK == TOPICS_ROOT:
            fields.met |= MET_TOPICS
        return walk_block(field_plan, cursor, &field_plan.program.blocks[step.block], fields, trace)
    if not cursor_has(cursor, fixed_size(shape)):
        return False
    take_fixed(fields, mark, shape, cursor.p)
    cursor.p += fixed_size(shape)
    return True


cdef inline void take_defaults(const FieldPlan* field_plan, const Block* block, uint64_t met, Fields* fields) noexcept nogil:
    """Columns of a struct whose tagged fields are left out; `met` has a bit for each that is there."""
    cdef int32_t tagged = block.first + block.untagged
    cdef int32_t number
    cdef int32_t at
    for number in range(field_plan.default_count):
        at = field_plan.defaults[number].step - tagged
        if 0 <= at < min(block.tagged, 64) and not met >> <uint32_t>at & 1:
            take_default(fields, &field_plan.defaults[number])


cdef inline bint walk_tagged(const FieldPlan* field_plan, Cursor* cursor, const Block* block, Fields* fields, Trace* trace) noexcept nogil:
    """A tagged section that is not empty. Tags that do not ascend are a fallback: Python has something to say about most of them."""
    cdef Py_ssize_t count = read_tag_count(cursor, fields.cut)
    cdef const Program* program = &field_plan.program
    cdef const Step* step
    cdef Tag tag
    cdef int64_t last = -1
    cdef int mark
    cdef uint64_t met = 0
    while count > 0:
        if not read_tag(cursor, program, block, &tag, fields.cut):
            return False
        if tag.number <= last:
            fields.needs_fallback = True
        last = tag.number
        step = find_tagged(program, block, tag.number)
        if step is NULL:
            cursor.p += tag.size
        else:
            met |= <uint64_t>1 << (<uint64_t>(step - program.steps - block.first - block.untagged) & 63)
            mark = field_plan.marks[step - program.steps]
            if mark == NO_MARK:
                if not skip_value(program, cursor, step, trace):
                    return False
            elif not walk_value(field_plan, cursor, step, mark, fields, trace):
                return False
            if not ends_tag(cursor, &tag):
                return False
        count -= 1
    if cursor.code != OK:
        return False
    if field_plan.default_count:
        take_defaults(field_plan, block, met, fields)
    return True


cdef inline bint walk_cut_run(const FieldPlan* field_plan, Cursor* cursor, const Step* run, Fields* fields) noexcept nogil:
    """The fields of a run that has more of them than there are bytes; False, at the first that is not there."""
    cdef const Step* step = run + 1
    cdef int mark
    while cursor_has(cursor, fixed_size(step.shape)):
        mark = field_plan.marks[step - field_plan.program.steps]
        if mark:
            take_fixed(fields, mark, step.shape, cursor.p)
        cursor.p += fixed_size(step.shape)
        step += 1
    return False


cdef inline bint walk_block(const FieldPlan* field_plan, Cursor* cursor, const Block* block, Fields* fields, Trace* trace) noexcept nogil:
    """One struct; False after a fault."""
    cdef const Step* step = field_plan.program.steps + block.first
    cdef const Step* last = step + block.untagged
    cdef const Step* run_end
    cdef const uint32_t* marks = field_plan.marks
    cdef Bytes p
    cdef int mark
    while step < last:
        if step.code == RUN:
            if unlikely(cursor_left(cursor) < step.minimum):
                return walk_cut_run(field_plan, cursor, step, fields)
            p = cursor.p
            cursor.p = p + step.minimum
            run_end = step + step.count
            if marks[step - field_plan.program.steps] == NO_MARK:
                step = run_end
            while step < run_end:
                step += 1
                mark = marks[step - field_plan.program.steps]
                if mark:
                    take_fixed(fields, mark, step.shape, p)
                p += fixed_size(step.shape)
        else:
            mark = marks[step - field_plan.program.steps]
            if mark == NO_MARK:
                if not skip_value(&field_plan.program, cursor, step, trace):
                    return False
            elif not walk_value(field_plan, cursor, step, mark, fields, trace):
                return False
        step += 1
    if field_plan.program.flexible:
        if cursor.p < cursor.end and cursor.p[0] == 0:
            cursor.p += 1
            if unlikely(field_plan.default_count):
                take_defaults(field_plan, block, 0, fields)
            return True
        return walk_tagged(field_plan, cursor, block, fields, trace)
    return True


cdef inline bint take_fields(const FieldPlan* field_plan, Cursor* cursor, Fields* fields) noexcept nogil:
    """Walk over a message from the cursor on and take what is marked; False when it is at fault or a fallback."""
    cdef Trace trace
    trace.depth = 0
    return walk_block(field_plan, cursor, field_plan.program.blocks, fields, &trace) and cursor.code == OK and not fields.needs_fallback


cdef inline bint take_cut_fields(const FieldPlan* field_plan, Cursor* cursor, Fields* fields) noexcept nogil:
    """As `take_fields`, for a message of which bytes are missing: False where it is a fallback, be it at fault before its bytes end."""
    cdef Trace trace
    cdef bint whole
    trace.depth = 0
    fields.cut = True
    whole = walk_block(field_plan, cursor, field_plan.program.blocks, fields, &trace)
    return (whole or cursor.code == TRUNCATED) and not fields.needs_fallback


cdef inline int32_t error_of(const FieldPlan* field_plan, const Fields* fields) noexcept nogil:
    """As tracking/first_fields.py, error_code_of; INT32_MIN for None."""
    cdef int32_t found = fields.error if fields.error else fields.inner_error
    if not (field_plan.has_top_error or field_plan.has_inner_errors):
        return INT32_MIN
    if fields.cut and ((field_plan.has_top_error and not fields.met & MET_ERROR) or (field_plan.has_inner_errors and found == 0)):
        return INT32_MIN
    return found
