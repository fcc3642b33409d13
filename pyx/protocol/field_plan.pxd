"""Lowered plan of an api version's messages, with a mark at each step whose value is extracted.

`kwire.protocol.tracking.field_plans` chooses the marks and the treatment of the message (`traits`); this file is independent of apis.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from codec.program cimport RUN, Block, Program, Step, program_lower, program_release

cdef enum:
    # The numbers of kwire.protocol.tracking.field_plans.Mark
    NO_MARK = 0
    INSIDE = 1  # something is marked further in
    CLIENT_ID = 2  # of texts up to TOKEN: the first that is not null
    SOFTWARE_NAME = 3
    SOFTWARE_VERSION = 4
    TOPIC_NAME = 5  # in an element of the topics: of the first
    MECHANISM = 6
    TOKEN = 7
    TOPIC_NAMES = 8  # topics that are names themselves, an array of them or one
    TOPICS = 9  # an array of structs
    TOPICS_ROOT = 10  # what holds the topics further in
    REPLICA_ID = 11
    INSTANCE_ID = 12
    RECORDS = 13
    KEY_PART = 14  # a value that distinguishes answers
    ERROR_CODE = 32  # of the whole response
    INNER_ERROR = 33
    # These may stand beside one of the others: what is used of topics, as in kwire.protocol.tracking.topic_use
    USED_TOPICS = 1 << 8
    USED_NAME = 2 << 8
    USED_ID = 3 << 8
    USED_PARTITIONS = 4 << 8
    USED_NUMBER = 5 << 8
    USED_ERROR = 6 << 8
    USED_RECORDS = 7 << 8
    # The value feeds a column of `requests`: this times its index among those that bodies feed, counted from 1
    COLUMN = 1 << 16
    COLUMN_SHIFT = 16
    COLUMN_MASK = 0xFF << 16
    USED_MASK = 0xFF << 8
    MARK_MASK = 0xFF

cdef enum:
    MOST_USES = 1 << 16  # partitions that one frame may name; one that names more is a fallback
    MARKED_TEXTS = 8  # CLIENT_ID to TOKEN, by mark

cdef enum FieldPlanState:
    NOT_ASKED = 0
    READY = 1
    LEFT_TO_PYTHON = 2

# A column that lies in a tagged field, or is one: what it holds where the bytes leave the field out
cdef struct TaggedDefault:
    int32_t step  # of the tagged field
    int32_t mark
    uint8_t* text  # owned; empty for a number
    Py_ssize_t value  # as `Fields.column_value`

cdef struct FieldPlan:
    Program program
    uint32_t* marks  # by step
    int32_t state  # is published last
    int filling  # a thread does
    int32_t header_version
    uint32_t traits  # kwire.protocol.tracking.field_plans.Trait
    bint has_top_error
    bint has_inner_errors
    bint has_topics
    TaggedDefault* defaults
    int32_t default_count


cdef inline Py_ssize_t step_of(FieldPlan* field_plan, object plan, Py_ssize_t number, tuple path, Py_ssize_t depth) except -1:
    """Index of the step of a block that reads the attribute at this depth of a path."""
    cdef const Block* block = &field_plan.program.blocks[number]
    cdef const Step* step
    cdef Py_ssize_t index
    for index in range(block.first, block.first + block.untagged + block.tagged):
        step = &field_plan.program.steps[index]
        if step.code != RUN and plan.attribute(number, step.operation) == path[depth]:
            return index
    raise ValueError(f"{plan.message} v{plan.version} has no {'.'.join(path)}")


cdef inline int field_plan_mark(FieldPlan* field_plan, object plan, tuple path, int mark) except -1:
    """Mark the step at a path of attributes, and those on the way."""
    cdef Py_ssize_t number = 0
    cdef Py_ssize_t index
    cdef Py_ssize_t depth
    for depth in range(len(path)):
        index = step_of(field_plan, plan, number, path, depth)
        if depth < len(path) - 1:
            if field_plan.marks[index] & MARK_MASK == NO_MARK:
                field_plan.marks[index] |= INSIDE
            number = field_plan.program.steps[index].block
        elif mark & COLUMN_MASK and field_plan.marks[index] & COLUMN_MASK == 0:
            field_plan.marks[index] |= <uint32_t>mark
        elif mark & USED_MASK and field_plan.marks[index] & USED_MASK == 0:
            field_plan.marks[index] |= <uint32_t>mark
        elif mark & MARK_MASK and field_plan.marks[index] & MARK_MASK <= INSIDE:
            field_plan.marks[index] = <uint32_t>(field_plan.marks[index] & ~<uint32_t>MARK_MASK | mark)
        else:
            raise ValueError(f"{plan.message} v{plan.version}: two marks at {'.'.join(path)}")
    return 0


cdef inline void mark_runs(FieldPlan* field_plan, const Block* block) noexcept nogil:
    """Mark the runs of a block in which something is marked."""
    cdef Py_ssize_t index
    cdef Py_ssize_t inside
    for index in range(block.first, block.first + block.untagged):
        if field_plan.program.steps[index].code == RUN:
            for inside in range(index + 1, index + 1 + field_plan.program.steps[index].count):
                if field_plan.marks[inside]:
                    field_plan.marks[index] = INSIDE


cdef inline int load_defaults(FieldPlan* field_plan, object plan, tuple defaults) except -1:
    cdef TaggedDefault* default
    cdef Py_ssize_t number
    cdef Py_ssize_t depth
    cdef bytes text
    field_plan.defaults = <TaggedDefault*>calloc(len(defaults) + 1, sizeof(TaggedDefault))
    if field_plan.defaults is NULL:
        raise MemoryError
    for path, mark, value in defaults:
        default = &field_plan.defaults[field_plan.default_count]
        number = 0
        for depth in range(len(path)):
            default.step = <int32_t>step_of(field_plan, plan, number, path, depth)
            number = field_plan.program.steps[default.step].block
        default.mark = mark
        text = value.encode() if isinstance(value, str) else b""
        default.value = len(text) if isinstance(value, str) else <Py_ssize_t>value
        default.text = <uint8_t*>calloc(len(text) + 1, 1)
        field_plan.default_count += 1
        if default.text is NULL:
            raise MemoryError
        memcpy(default.text, <const char*>text, len(text))
    return 0


cdef inline int field_plan_load(
    FieldPlan* field_plan, object plan, object marks, tuple defaults, uint32_t traits, int32_t header_version
) except -1:
    """Fill an empty field_plan.

    Arguments:
        plan: with a projection that holds what is marked, so that each path has steps of its own.
        marks: pairs of a path and a `Mark`; a path may hold another, and comes before it then.
        defaults: of columns in tagged fields: path of the tagged field, `Mark`, and the value without it.
    """
    cdef Py_ssize_t steps = 1
    cdef const Block* block
    cdef Py_ssize_t index
    cdef int mark
    program_lower(&field_plan.program, plan, 0)
    for index in range(field_plan.program.block_count):
        block = &field_plan.program.blocks[index]
        steps = max(steps, block.first + block.untagged + block.tagged)
    field_plan.marks = <uint32_t*>calloc(steps, sizeof(uint32_t))
    if field_plan.marks is NULL:
        raise MemoryError
    field_plan.traits = traits
    field_plan.header_version = header_version
    for path, number in marks:
        mark = number
        field_plan_mark(field_plan, plan, path, mark)
        field_plan.has_topics = field_plan.has_topics or mark == TOPICS or mark == TOPIC_NAMES
        field_plan.has_top_error = field_plan.has_top_error or mark == ERROR_CODE
        field_plan.has_inner_errors = field_plan.has_inner_errors or mark == INNER_ERROR
    for index in range(field_plan.program.block_count):
        mark_runs(field_plan, &field_plan.program.blocks[index])
    load_defaults(field_plan, plan, defaults)
    field_plan.state = READY
    return 0


cdef inline void field_plan_free(FieldPlan* field_plan) noexcept:
    cdef int32_t index
    program_release(&field_plan.program)
    free(field_plan.marks)
    for index in range(field_plan.default_count):
        free(field_plan.defaults[index].text)
    free(field_plan.defaults)
    memset(field_plan, 0, sizeof(FieldPlan))
