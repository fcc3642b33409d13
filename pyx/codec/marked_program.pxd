"""A `kwire.codec.splice_plan.Marking` as the walk takes it: a lowered plan with what is looked for at each step and in each struct."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int32_t

from codec.fast_skip cimport FIXED_BYTES, FastSkip, FastSkips, fast_skip_of, fast_skips_lower, fast_skips_release
from codec.program cimport SKIPPED, Program, program_lower, program_release

cdef struct Mark:
    # Of a step; -1 where it is no leaf
    int32_t single
    int32_t register
    # of a step that is stepped over
    FastSkip fast
    int32_t span  # steps that the fast skip takes together
    bint notes  # an array whose elements are written down

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

cdef struct MarkedProgram:
    Program program
    FastSkips fast_skips
    Mark* marks
    Owned* owned
    RuleMembers* rules
    int32_t* members
    int32_t* register_order


cdef inline void lower_fast_skips(MarkedProgram* marked) noexcept nogil:
    """The fast skips over single fields; neighbours of fixed size are one."""
    cdef Py_ssize_t block
    cdef Py_ssize_t at
    cdef Py_ssize_t first
    cdef Py_ssize_t last
    cdef Mark* mark
    for block in range(marked.program.block_count):
        first = marked.program.blocks[block].first
        last = first + marked.program.blocks[block].untagged - 1
        for at in range(last, first - 1, -1):
            mark = &marked.marks[at]
            mark.span = 1
            if marked.program.steps[at].code != SKIPPED:
                continue
            mark.fast = fast_skip_of(&marked.program.steps[at])
            if mark.fast.kind == FIXED_BYTES and at < last:
                if marked.program.steps[at + 1].code == SKIPPED and mark[1].fast.kind == FIXED_BYTES:
                    mark.fast.size += mark[1].fast.size
                    mark.span += mark[1].span


cdef inline int lower_rules(MarkedProgram* marked, object marking) except -1:
    cdef Py_ssize_t block
    cdef int32_t register = 0
    cdef int32_t number = 0
    cdef int32_t member = 0
    cdef Owned* owned
    cdef RuleMembers* members
    for block in range(marked.program.block_count):
        owned = &marked.owned[block]
        owned.first_register = register
        for at, owner in enumerate(marking.owners):
            if owner == block:
                marked.register_order[register] = at
                register += 1
        owned.registers = register - owned.first_register
        owned.first_rule = number
        for at, rule in enumerate(marking.rules):
            if rule.block == block:
                members = &marked.rules[number]
                members.number = at
                members.first = member
                members.reads = len(rule.reads)
                members.count = len(rule.reads) + len(rule.writes)
                for each in (*rule.reads, *rule.writes):
                    marked.members[member] = each
                    member += 1
                number += 1
        owned.rules = number - owned.first_rule
    return 0


cdef inline int marked_lower(MarkedProgram* marked, object marking) except -1:
    """Fill an empty program from a marking; `marked_release` frees it, whatever came of it."""
    cdef Py_ssize_t steps = len(marking.plan.ops) // 4 + 1  # as program_lower reserves them
    cdef Py_ssize_t at
    program_lower(&marked.program, marking.plan, 0)
    marked.marks = <Mark*>PyMem_Calloc(steps, sizeof(Mark))
    marked.owned = <Owned*>PyMem_Calloc(marked.program.block_count, sizeof(Owned))
    marked.rules = <RuleMembers*>PyMem_Calloc(len(marking.rules) + 1, sizeof(RuleMembers))
    marked.members = <int32_t*>PyMem_Calloc(sum([len(rule.reads) + len(rule.writes) for rule in marking.rules]) + 1, sizeof(int32_t))
    marked.register_order = <int32_t*>PyMem_Calloc(len(marking.registers) + 1, sizeof(int32_t))
    if not (marked.marks and marked.owned and marked.rules and marked.members and marked.register_order):
        raise MemoryError
    leaves = {leaf.operation: leaf for leaf in marking.leaves}
    for at in range(steps):
        leaf = leaves.get(marked.program.steps[at].operation)
        marked.marks[at].single = -1 if leaf is None else leaf.single
        marked.marks[at].register = -1 if leaf is None else leaf.register
        marked.marks[at].notes = marked.program.steps[at].operation in marking.elements
    fast_skips_lower(&marked.fast_skips, &marked.program, steps)
    lower_fast_skips(marked)
    return lower_rules(marked, marking)


cdef inline void marked_release(MarkedProgram* marked) noexcept:
    program_release(&marked.program)
    fast_skips_release(&marked.fast_skips)
    PyMem_Free(marked.marks)
    PyMem_Free(marked.owned)
    PyMem_Free(marked.rules)
    PyMem_Free(marked.members)
    PyMem_Free(marked.register_order)
