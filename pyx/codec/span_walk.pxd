"""The walk that finds places: the skip executor with an eye on the leaves of a `kwire.codec.splice_plan.Marking`.

It steps over what is not asked for, and writes down where each leaf lies and which tagged fields are around it. Text of leaves is checked
for UTF-8: it will be read. The readable contract is `kwire.codec._pure.span_walk`.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport realloc

from codec.fast_skip cimport SHORT_STRUCTS, STRUCTS_32, FastSkip, FastSkips, fast_items, fast_struct
from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, DEEPEST, NULLABLE_STRUCT, RUN, SKIPPED, STRING, STRING_COMPACT, STRUCT, Block, Program,
    Step, Trace, fixed_size, read_count, read_marker, trace_add,
)
from codec.skip cimport find_tagged, read_size, read_tag, read_tag_count, skip_block, skip_value
from wire.cursor cimport BAD_TAG, BAD_UTF8, NO_LENGTH, NULL_LENGTH, OK, TRUNCATED, Bytes, Cursor, cursor_fail, cursor_has
from wire.utf8 cimport is_utf8

cdef enum:
    ANY = -1  # as in kwire.codec.splice_plan
    OWN = -1  # rule of a place of a single
    MISSING = -1  # begin of a place that the bytes do not have

cdef struct Mark:
    # Of a step; -1 where it is no leaf
    int32_t single
    int32_t register
    # of a step that is stepped over
    FastSkip fast
    int32_t span  # steps that the fast skip takes together

cdef struct Owned:
    # Of a block: the registers that it fills and the rules that end with it, both in the order of their owners
    int32_t first_register
    int32_t registers
    int32_t first_rule
    int32_t rules

cdef struct RuleMembers:
    int32_t number
    int32_t first  # in `members`: registers, what is read before what is written; -1 for what the version lacks
    int32_t reads
    int32_t count

cdef struct Pattern:
    # A choice of a single: `depth` indexes, or none for all places
    int32_t single
    int32_t depth
    Py_ssize_t index[DEEPEST]
    bint met
    bint sifted  # texts whose bit of `sieve` is not set are none that the mapping has
    uint64_t sieve

cdef struct Place:
    # Small: hostile bytes may have one in each byte
    int32_t begin  # of the length, or of a value without one
    int32_t content
    int32_t stop
    int32_t section
    int32_t rule  # position among the rules as `SpanWalk` has them, or OWN; a rule has as many places, one after the other, as members
    int32_t choice
    bint null

cdef struct Section:
    Py_ssize_t begin  # of the size
    Py_ssize_t stop
    Py_ssize_t size
    Py_ssize_t delta
    int32_t parent

cdef struct SpanWalk:
    const Program* program
    const FastSkips* fast_skips
    const Mark* marks
    const Owned* owned
    const RuleMembers* rules
    const int32_t* members
    const int32_t* register_order
    const int32_t* first_choice  # of each single, one more than there are
    Pattern* choices
    Place* registers
    Cursor cursor
    Trace trace
    Py_ssize_t indexes[DEEPEST]
    int32_t depth
    int32_t section
    bint no_memory
    Place* places
    Py_ssize_t place_count
    Py_ssize_t place_room
    Section* sections
    Py_ssize_t section_count
    Py_ssize_t section_room


cdef inline void* grown(void* array, Py_ssize_t* room, Py_ssize_t size) noexcept nogil:
    """The array with room for more; NULL without memory, and the array is as it was."""
    cdef Py_ssize_t more = room[0] * 2 if room[0] else 16
    cdef void* made = realloc(array, <size_t>(more * size))
    if made is not NULL:
        room[0] = more
    return made


cdef inline bint give_up(SpanWalk* walk) noexcept nogil:
    walk.no_memory = True
    cursor_fail(&walk.cursor, TRUNCATED, walk.cursor.p)  # ends the walk; who asked looks at `no_memory` first
    return False


cdef inline bint add_place(SpanWalk* walk, const Place* place) noexcept nogil:
    cdef void* more
    if walk.place_count == walk.place_room:
        more = grown(walk.places, &walk.place_room, sizeof(Place))
        if more is NULL:
            return give_up(walk)
        walk.places = <Place*>more
    walk.places[walk.place_count] = place[0]
    walk.place_count += 1
    return True


cdef inline bint add_section(SpanWalk* walk, Bytes begin, Bytes stop, Py_ssize_t size) noexcept nogil:
    cdef void* more
    if walk.section_count == walk.section_room:
        more = grown(walk.sections, &walk.section_room, sizeof(Section))
        if more is NULL:
            return give_up(walk)
        walk.sections = <Section*>more
    walk.sections[walk.section_count] = Section(begin - walk.cursor.base, stop - walk.cursor.base, size, 0, walk.section)
    walk.section = <int32_t>walk.section_count
    walk.section_count += 1
    return True


cdef inline int32_t choice_at(SpanWalk* walk, int32_t single) noexcept nogil:
    """What is to be done at this place, -1 for nothing."""
    cdef int32_t number
    cdef int32_t level
    cdef Pattern* pattern
    for number in range(walk.first_choice[single], walk.first_choice[single + 1]):
        pattern = &walk.choices[number]
        level = 0
        while level < pattern.depth and (pattern.index[level] == ANY or pattern.index[level] == walk.indexes[level]):
            level += 1
        if level == pattern.depth:
            return number
    return -1


cdef inline uint64_t sieve_bit(Bytes text, Py_ssize_t size) noexcept nogil:
    """Sorts texts into 64 heaps, by what is quick to look at."""
    cdef uint64_t said = <uint64_t>size * 37
    if size > 0:
        said += <uint64_t>text[size - 1] * 11 + text[size >> 1]
    return <uint64_t>1 << (said & 63)


cdef inline bint note(SpanWalk* walk, const Mark* mark, Bytes begin, Bytes content, Py_ssize_t size, bint null) noexcept nogil:
    """Write down a leaf."""
    cdef Bytes base = walk.cursor.base
    cdef int32_t at = <int32_t>(content - base)
    cdef Place place = Place(<int32_t>(begin - base), at, at + <int32_t>size, walk.section, OWN, -1, null)
    cdef int32_t choice
    if mark.single >= 0:
        choice = choice_at(walk, mark.single)
        if choice >= 0:
            walk.choices[choice].met = True
            if walk.choices[choice].sifted and not null and not walk.choices[choice].sieve & sieve_bit(content, size):
                choice = -1
            place.choice = choice
            if choice >= 0 and not add_place(walk, &place):
                return False
    if mark.register >= 0:
        walk.registers[mark.register] = place
    return True


cdef inline bint note_value(SpanWalk* walk, const Mark* mark, int32_t code, bint nullable) noexcept nogil:
    """Step over a scalar and write it down."""
    cdef Cursor* cursor = &walk.cursor
    cdef Bytes begin = cursor.p
    cdef Bytes content
    cdef Py_ssize_t size = fixed_size(code)
    cdef bint null = False
    if size:
        if not cursor_has(cursor, size):
            return False
        content = begin
    else:
        size = read_size(cursor, code, nullable)
        if size == NO_LENGTH:
            return False
        content = cursor.p
        null = size == NULL_LENGTH
        size = 0 if null else size
        if (code == STRING or code == STRING_COMPACT) and not is_utf8(content, size):
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


cdef inline const Step* skip_step(SpanWalk* walk, const Step* step) noexcept nogil:
    """Step over a field, and perhaps over those that follow; NULL after a fault."""
    cdef const Mark* mark = &walk.marks[step - walk.program.steps]
    cdef Bytes stop
    if mark.fast.kind == SHORT_STRUCTS or mark.fast.kind == STRUCTS_32:
        return step + 1 if skip_structs(walk, step) else NULL
    if mark.fast.kind:
        stop = fast_items(&mark.fast, walk.cursor.p, walk.cursor.end)
        if stop is not NULL:
            walk.cursor.p = stop
            return step + mark.span
    return step + 1 if skip_value(walk.program, &walk.cursor, step, &walk.trace) else NULL


cdef inline bint walk_array(SpanWalk* walk, const Step* step, Py_ssize_t* index) noexcept nogil:
    """The elements of an array; `index` is -1 until its count was read."""
    cdef const Mark* mark = &walk.marks[step - walk.program.steps]
    cdef Py_ssize_t count = read_count(&walk.cursor, step)
    cdef int32_t level = walk.depth
    cdef bint go = True
    if count == NO_LENGTH:
        return False
    index[0] = 0
    walk.depth += 1
    while index[0] < count and go:
        walk.indexes[level] = index[0]
        if step.shape == ARRAY:
            go = note_value(walk, mark, step.element, False)
        else:
            go = walk_block(walk, step.block)
        if go:
            index[0] += 1
    walk.depth = level
    return go


cdef inline bint walk_value(SpanWalk* walk, const Step* step) noexcept nogil:
    """One field that holds leaves; after a fault the trace has its path, from here down."""
    cdef Py_ssize_t index = -1
    cdef Py_ssize_t marker
    if step.shape == ARRAY or step.shape == ARRAY_OF_STRUCTS:
        if walk_array(walk, step, &index):
            return True
    elif step.shape == STRUCT:
        if walk_block(walk, step.block):
            return True
    elif step.shape == NULLABLE_STRUCT:
        marker = read_marker(&walk.cursor, step)
        if marker == NULL_LENGTH or marker != NO_LENGTH and walk_block(walk, step.block):
            return True
    elif note_value(walk, &walk.marks[step - walk.program.steps], step.shape, step.nullable):
        return True
    trace_add(&walk.trace, step.operation, index)
    return False


cdef inline bint walk_tagged(SpanWalk* walk, const Block* block) noexcept nogil:
    cdef Cursor* cursor = &walk.cursor
    cdef Py_ssize_t count
    cdef int32_t outer = walk.section
    cdef const Step* step
    cdef Bytes start
    cdef Bytes size_at
    cdef Bytes stop
    cdef uint32_t tag
    cdef Py_ssize_t size
    if cursor.p < cursor.end and cursor.p[0] == 0:
        cursor.p += 1
        return True
    count = read_tag_count(cursor)
    while count > 0:
        start = size_at = cursor.p
        if not read_tag(cursor, walk.program, block, &tag, &size):
            return False
        stop = cursor.p + size
        step = find_tagged(walk.program, block, tag)
        if step is NULL:
            cursor.p = stop
        elif step.code == SKIPPED:
            if not skip_value(walk.program, cursor, step, &walk.trace):
                return False
        else:
            while size_at[0] & 0x80:  # the tag's own number
                size_at += 1
            if not (add_section(walk, size_at + 1, cursor.p, size) and walk_value(walk, step)):
                return False
            walk.section = outer
        if cursor.p != stop:
            cursor_fail(cursor, BAD_TAG, start)
            return False
        count -= 1
    return cursor.code == OK


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
            place = Place(MISSING, 0, 0, -1, number, -1, False) if at < 0 else walk.registers[at]
            place.rule = number
            if not add_place(walk, &place):
                return False
    return True


cdef inline bint walk_block(SpanWalk* walk, int32_t number) noexcept nogil:
    """One struct that holds leaves."""
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
