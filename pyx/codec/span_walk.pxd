"""The walk that finds places: the skip executor with an eye on the leaves of a `kwire.codec.splice_plan.Marking`.

It steps over what is not asked for, and writes down where each leaf lies and which tagged fields are around it. Text of leaves is checked
for UTF-8: it will be read. A walk that *lists* is for bytes of any quality: it writes down every tagged field that no version defines too,
minds no text, may end before the message does, and knows up to where it understood the bytes. The readable contract is
`kwire.codec._pure.span_walk`.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free
from libc.string cimport memset

from codec.fast_skip cimport SHORT_STRUCTS, STRUCTS_32, FastSkips, fast_items, fast_struct
from codec.marked_program cimport Mark, MarkedProgram, Owned, RuleMembers
from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, DEEPEST, NULLABLE_STRUCT, RUN, SKIPPED, STRING, STRING_COMPACT, STRUCT, Block, Program,
    Step, Trace, fixed_size, read_count, read_marker, trace_add,
)
from codec.skip cimport Tag, ends_tag, find_tagged, read_size, read_tag, read_tag_count, skip_block, skip_value
from codec.spans cimport NotedArray, NotedElement, Pattern, Place, Section, grown
from wire.cursor cimport (
    BAD_TAG, BAD_UTF8, NO_LENGTH, NULL_LENGTH, TRUNCATED, Bytes, Cursor, cursor_fail, cursor_has, cursor_left, cursor_open,
)
from wire.utf8 cimport is_utf8

cdef enum:
    ANY = -1  # as in kwire.codec.splice_plan
    OWN = -1  # rule of a place of a single
    MISSING = -1  # begin of a place that the bytes do not have
    LONGEST_VARINT = 5

cdef struct SpanWalk:
    const Program* program
    const FastSkips* fast_skips
    const Mark* marks
    const Owned* owned
    const RuleMembers* rules
    const int32_t* members
    const int32_t* register_order
    const int32_t* first_choice  # of each single, one more than there are
    const Pattern* choices  # NULL: every single is written down, its choice is its number
    Place* registers
    Cursor cursor
    int32_t depth
    int32_t section
    bint no_memory
    bint lists
    bint cut  # bytes are missing behind those that are there
    Bytes understood  # of a walk that lists and has met a fault: what follows was not read
    Place* places
    Py_ssize_t place_count
    Py_ssize_t place_room
    Section* sections
    Py_ssize_t section_count
    Py_ssize_t section_room
    int32_t element
    NotedArray* arrays
    Py_ssize_t array_count
    Py_ssize_t array_room
    NotedElement* elements
    Py_ssize_t element_count
    Py_ssize_t element_room
    # where there is room for a few without malloc, NULL for none
    Place* few_places
    NotedArray* few_arrays
    NotedElement* few_elements
    Trace trace
    Py_ssize_t indexes[DEEPEST]


cdef inline void walk_clear(SpanWalk* walk) noexcept nogil:
    """Make a walk of zeros, but for the arrays at its end: its depths say how much of them is set."""
    memset(walk, 0, <char*>walk.trace.operation - <char*>walk)


cdef inline void walk_open(SpanWalk* walk, const MarkedProgram* marked, Bytes base, Py_ssize_t size, Py_ssize_t offset) noexcept nogil:
    """Put a walk of zeros at the begin of a message; `walk_close` frees what it finds."""
    walk.program = &marked.program
    walk.fast_skips = &marked.fast_skips
    walk.marks = marked.marks
    walk.owned = marked.owned
    walk.rules = marked.rules
    walk.members = marked.members
    walk.register_order = marked.register_order
    walk.section = walk.element = -1
    cursor_open(&walk.cursor, base, size, offset)


cdef inline void walk_close(SpanWalk* walk) noexcept nogil:
    if walk.places is not walk.few_places:
        free(walk.places)
    free(walk.sections)
    if walk.arrays is not walk.few_arrays:
        free(walk.arrays)
    if walk.elements is not walk.few_elements:
        free(walk.elements)


cdef inline bint give_up(SpanWalk* walk) noexcept nogil:
    walk.no_memory = True
    cursor_fail(&walk.cursor, TRUNCATED, walk.cursor.p)  # ends the walk; who asked looks at `no_memory` first
    return False


cdef inline bint add_place(SpanWalk* walk, const Place* place) noexcept nogil:
    cdef void* more
    if walk.place_count == walk.place_room:
        more = grown(walk.places, &walk.place_room, sizeof(Place), walk.few_places)
        if more is NULL:
            return give_up(walk)
        walk.places = <Place*>more
    walk.places[walk.place_count] = place[0]
    walk.place_count += 1
    return True


cdef inline bint add_section(SpanWalk* walk, Bytes begin, Bytes stop, Py_ssize_t size) noexcept nogil:
    cdef void* more
    if walk.section_count == walk.section_room:
        more = grown(walk.sections, &walk.section_room, sizeof(Section), NULL)
        if more is NULL:
            return give_up(walk)
        walk.sections = <Section*>more
    walk.sections[walk.section_count] = Section(begin - walk.cursor.base, stop - walk.cursor.base, size, 0, walk.section)
    walk.section = <int32_t>walk.section_count
    walk.section_count += 1
    return True


cdef inline bint add_array(SpanWalk* walk, const Step* step, Bytes begin, Py_ssize_t count) noexcept nogil:
    """An array begins whose elements are written down; the cursor is behind its count."""
    cdef Bytes base = walk.cursor.base
    cdef void* more
    if walk.array_count == walk.array_room:
        more = grown(walk.arrays, &walk.array_room, sizeof(NotedArray), walk.few_arrays)
        if more is NULL:
            return give_up(walk)
        walk.arrays = <NotedArray*>more
    walk.arrays[walk.array_count] = NotedArray(
        <int32_t>(begin - base), <int32_t>(walk.cursor.p - base), <int32_t>count, 0, walk.section, walk.element, step.compact
    )
    walk.array_count += 1
    return True


cdef inline bint add_element(SpanWalk* walk, int32_t array) noexcept nogil:
    cdef int32_t at = <int32_t>(walk.cursor.p - walk.cursor.base)
    cdef void* more
    if walk.element_count == walk.element_room:
        more = grown(walk.elements, &walk.element_room, sizeof(NotedElement), walk.few_elements)
        if more is NULL:
            return give_up(walk)
        walk.elements = <NotedElement*>more
    walk.elements[walk.element_count] = NotedElement(at, at, array, False)
    walk.element = <int32_t>walk.element_count
    walk.element_count += 1
    return True


cdef inline int32_t choice_at(SpanWalk* walk, int32_t single) noexcept nogil:
    cdef int32_t number
    cdef int32_t level
    cdef const Pattern* pattern
    for number in range(walk.first_choice[single], walk.first_choice[single + 1]):
        pattern = &walk.choices[number]
        level = 0
        while level < pattern.depth and (pattern.index[level] == ANY or pattern.index[level] == walk.indexes[level]):
            level += 1
        if level == pattern.depth:
            return number
    return -1


cdef inline bint note(SpanWalk* walk, const Mark* mark, Bytes begin, Bytes content, Py_ssize_t size, bint null) noexcept nogil:
    cdef Bytes base = walk.cursor.base
    cdef int32_t at = <int32_t>(content - base)
    cdef Place place = Place(<int32_t>(begin - base), at, at + <int32_t>size, walk.section, OWN, -1, walk.element, null)
    cdef int32_t choice
    if walk.lists:
        place.choice = mark.single
        return mark.single < 0 or null or add_place(walk, &place)
    if mark.single >= 0 and walk.choices is NULL:
        place.choice = mark.single
        if not add_place(walk, &place):
            return False
    elif mark.single >= 0:
        choice = choice_at(walk, mark.single)
        place.choice = choice
        if choice >= 0 and not add_place(walk, &place):
            return False
    if mark.register >= 0:
        walk.registers[mark.register] = place
    return True


cdef inline bint fail_length(SpanWalk* walk, Bytes start, Py_ssize_t width) noexcept nogil:
    """A fault behind `start`: a length there, of no `width` a varint, is understood, whatever is wrong; what it counts is not."""
    cdef Bytes end = walk.cursor.end
    cdef Bytes at = walk.cursor.base + walk.cursor.offset
    cdef Py_ssize_t size = width
    if at == start:
        if not width:
            size = 1
            while size < LONGEST_VARINT and size < end - at and at[size - 1] & 0x80:
                size += 1
        at += min(size, end - at)
    walk.understood = at
    return False


cdef inline bint note_value(SpanWalk* walk, const Mark* mark, int32_t code, bint nullable) noexcept nogil:
    """Step over a scalar and write it down."""
    cdef Cursor* cursor = &walk.cursor
    cdef Bytes begin = cursor.p
    cdef Bytes content
    cdef Py_ssize_t size = fixed_size(code)
    cdef bint null = False
    if size:
        if not cursor_has(cursor, size):
            walk.understood = cursor.end  # no number is secret
            return False
        content = begin
    else:
        size = read_size(cursor, code, nullable)
        if size == NO_LENGTH:
            return fail_length(walk, begin, 2 if code == STRING else 4 if code == BYTES else 0)
        content = cursor.p
        null = size == NULL_LENGTH
        size = 0 if null else size
        if not walk.lists and (code == STRING or code == STRING_COMPACT) and not is_utf8(content, size):
            cursor_fail(cursor, BAD_UTF8, content)
            return False
    cursor.p = content + size
    return note(walk, mark, begin, content, size, null)


cdef inline bint skip_structs(SpanWalk* walk, const Step* step) noexcept nogil:
    """Step over an array of structs, by fast skips where they are possible; what `skip_value` does."""
    cdef Cursor* cursor = &walk.cursor
    cdef Py_ssize_t count = read_count(cursor, step)
    cdef Py_ssize_t index = -1
    cdef const Block* block = &walk.program.blocks[step.block]
    cdef Bytes stop
    if count != NO_LENGTH:
        index = 0
        while index < count:
            stop = fast_struct(walk.fast_skips, step.block, cursor.p, cursor.end)
            if stop is not NULL:
                cursor.p = stop
            elif not skip_block(walk.program, cursor, block, &walk.trace):
                break
            index += 1
        if index >= count:
            return True
    trace_add(&walk.trace, step.operation, index)
    return False


cdef inline bint skip_slowly(SpanWalk* walk, const Step* step) noexcept nogil:
    """Step over a field that no fast skip takes; there may be unknown tags in it, and a fault."""
    return walk_value(walk, step) if walk.lists else skip_value(walk.program, &walk.cursor, step, &walk.trace)


cdef inline const Step* skip_step(SpanWalk* walk, const Step* step) noexcept nogil:
    """Step over a field, and perhaps over those that follow; NULL after a fault."""
    cdef const Mark* mark = &walk.marks[step - walk.program.steps]
    cdef Bytes stop
    if mark.fast.kind == SHORT_STRUCTS or mark.fast.kind == STRUCTS_32:
        return step + 1 if (walk_value(walk, step) if walk.lists else skip_structs(walk, step)) else NULL
    if mark.fast.kind:
        stop = fast_items(&mark.fast, walk.cursor.p, walk.cursor.end)
        if stop is not NULL:
            walk.cursor.p = stop
            return step + mark.span
    return step + 1 if skip_slowly(walk, step) else NULL


cdef inline bint walk_array(SpanWalk* walk, const Step* step, Py_ssize_t* index) noexcept nogil:
    """The elements of an array; `index` is -1 until its count was read."""
    cdef const Mark* mark = &walk.marks[step - walk.program.steps]
    cdef Bytes start = walk.cursor.p
    cdef Py_ssize_t count = read_count(&walk.cursor, step, walk.cut)
    cdef int32_t level = walk.depth
    cdef int32_t outer = walk.element
    cdef int32_t array = -1
    cdef bint go = True
    cdef Bytes stop
    if count == NO_LENGTH:
        # a count that the bytes left cannot hold is understood: its fault lies at its begin too
        return fail_length(walk, start, 0 if step.compact else 4)
    if walk.cut:
        count = min(count, cursor_left(&walk.cursor) // step.minimum + 1)  # a count says nothing about bytes that are not there
    index[0] = 0
    if mark.notes and count > 0:
        array = <int32_t>walk.array_count
        if not add_array(walk, step, start, count):
            return False
    walk.depth += 1
    while index[0] < count and go:
        walk.indexes[level] = index[0]
        if array >= 0 and not add_element(walk, array):
            go = False
            break
        if step.shape == ARRAY:
            go = note_value(walk, mark, step.element, False)
        else:
            stop = fast_struct(walk.fast_skips, step.block, walk.cursor.p, walk.cursor.end) if step.code == SKIPPED else NULL
            if stop is not NULL:
                walk.cursor.p = stop
            else:
                go = walk_block(walk, step.block)
        if go:
            index[0] += 1
            if array >= 0:
                walk.elements[walk.element].stop = <int32_t>(walk.cursor.p - walk.cursor.base)
    walk.element = outer
    walk.depth = level
    return go


cdef inline bint walk_value(SpanWalk* walk, const Step* step) noexcept nogil:
    """One field that holds leaves; after a fault the trace has its path, from here down."""
    cdef Py_ssize_t index = -1
    cdef Py_ssize_t marker
    cdef Bytes start
    if step.shape == ARRAY or step.shape == ARRAY_OF_STRUCTS:
        if walk_array(walk, step, &index):
            return True
    elif step.shape == STRUCT:
        if walk_block(walk, step.block):
            return True
    elif step.shape == NULLABLE_STRUCT:
        start = walk.cursor.p
        marker = read_marker(&walk.cursor, step)
        if marker == NO_LENGTH:
            fail_length(walk, start, 0 if step.compact else 1)
        elif marker == NULL_LENGTH or walk_block(walk, step.block):
            return True
    elif note_value(walk, &walk.marks[step - walk.program.steps], step.shape, step.nullable):
        return True
    trace_add(&walk.trace, step.operation, index)
    return False


cdef inline bint fail_tag(SpanWalk* walk, const Tag* tag) noexcept nogil:
    """A fault in front of the value of a tagged field."""
    if walk.cursor.code == BAD_TAG:
        walk.understood = tag.value
        return False
    return fail_length(walk, tag.size_at if walk.cursor.base + walk.cursor.offset == tag.size_at else tag.begin, 0)


cdef inline bint add_unknown(SpanWalk* walk, const Tag* tag) noexcept nogil:
    cdef Cursor* cursor = &walk.cursor
    cdef Place place = Place(
        <int32_t>(tag.begin - cursor.base), <int32_t>(tag.value - cursor.base), <int32_t>(tag.value - cursor.base + tag.size),
        walk.section, OWN, -1, -1, False,
    )
    return add_place(walk, &place)


cdef inline bint walk_tagged(SpanWalk* walk, const Block* block) noexcept nogil:
    cdef Cursor* cursor = &walk.cursor
    cdef Py_ssize_t count
    cdef int32_t outer = walk.section
    cdef const Step* step
    cdef Bytes start = cursor.p
    cdef Bytes stop
    cdef Tag tag
    if start < cursor.end and start[0] == 0:
        cursor.p += 1
        return True
    count = read_tag_count(cursor, walk.cut)
    if count == NO_LENGTH:
        return fail_length(walk, start, 0)
    while count > 0:
        if not read_tag(cursor, walk.program, block, &tag, walk.cut):
            return fail_tag(walk, &tag)
        step = find_tagged(walk.program, block, tag.number)
        if step is NULL:
            if walk.lists and not add_unknown(walk, &tag):
                return False
            cursor.p += tag.size
        elif step.code == SKIPPED:
            if not skip_slowly(walk, step):
                return False
        else:
            if not (add_section(walk, tag.size_at, tag.value, tag.size) and walk_value(walk, step)):
                return False
            walk.section = outer
        stop = cursor.p
        if not ends_tag(cursor, &tag):
            walk.understood = stop
            return False
        count -= 1
    return True


cdef inline bint end_block(SpanWalk* walk, const Owned* owned) noexcept nogil:
    """Apply the rules of a struct to what the registers hold."""
    cdef const RuleMembers* rule
    cdef int32_t number
    cdef int32_t member
    cdef int32_t at
    cdef bint whole
    cdef Place place
    for number in range(owned.first_rule, owned.first_rule + owned.rules):
        rule = &walk.rules[number]
        whole = True
        for member in range(rule.first + rule.reads, rule.first + rule.count):
            whole = whole and walk.registers[walk.members[member]].begin != MISSING
        if not whole:
            continue
        for member in range(rule.first, rule.first + rule.count):
            at = walk.members[member]
            place = Place(MISSING, 0, 0, -1, number, -1, -1, False) if at < 0 else walk.registers[at]
            place.rule = number
            if not add_place(walk, &place):
                return False
    return True


cdef inline bint walk_block(SpanWalk* walk, int32_t number) noexcept nogil:
    cdef const Block* block = &walk.program.blocks[number]
    cdef const Owned* owned = &walk.owned[number]
    cdef const Step* step = walk.program.steps + block.first
    cdef const Step* last = step + block.untagged
    cdef int32_t at
    for at in range(owned.first_register, owned.first_register + owned.registers):
        walk.registers[walk.register_order[at]].begin = MISSING
    while step < last:
        if step.code == SKIPPED:
            step = skip_step(walk, step)
            if step is NULL:
                return False
            continue
        if step.code != RUN and not walk_value(walk, step):
            return False
        step += 1
    if walk.program.flexible and not walk_tagged(walk, block):
        return False
    return end_block(walk, owned) if owned.rules else True
