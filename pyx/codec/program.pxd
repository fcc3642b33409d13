"""Plans as the native executors run them: the integers of `kwire.codec.plan.Plan`, lowered once into flat C arrays.

A *program* has one block per struct and one step per operation, with what the hot loops would else work out each time: the byte offset of
the slot in the object, one code for each way to spell a length, and a `RUN` step before neighbouring fields of fixed size, so that one
check covers them all. Executors are recursive over structs; how deep is known when the plan is lowered, never decided by the bytes.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int32_t, uint8_t, uint32_t

from wire.cursor cimport NO_LENGTH, NULL_LENGTH, Bytes, Cursor, check_count, cursor_has, read_length_32, read_length_compact

cdef enum Code:
    # The numbers of kwire.codec.plan.Op
    BOOL = 1
    INT8 = 2
    INT16 = 3
    UINT16 = 4
    INT32 = 5
    UINT32 = 6
    INT64 = 7
    FLOAT64 = 8
    UUID = 9
    STRING = 10
    BYTES = 11
    STRUCT = 12
    ARRAY = 13  # of scalars
    # and those that only programs have
    STRING_COMPACT = 14
    BYTES_COMPACT = 15
    ARRAY_OF_STRUCTS = 16
    NULLABLE_STRUCT = 17
    RUN = 18  # the next `count` steps have a fixed size, `minimum` bytes together
    SKIPPED = 19  # outside the projection; `shape` says how to step over it

cdef extern from *:
    """
    static const unsigned char kwire_fixed_sizes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 16};
    """
    const uint8_t* FIXED_SIZES "kwire_fixed_sizes"  # by code, up to UUID

cdef enum PlanFlag:
    # The numbers of kwire.codec.plan.Flag
    NULLABLE_FLAG = 1
    COMPACT_FLAG = 2
    SKIP_FLAG = 4

cdef enum:
    # Kafka's deepest message nests its structs 6 deep; a definition beyond this is refused before any byte is read.
    DEEPEST = 32

cdef struct Step:
    int32_t code  # what the object executor does
    int32_t shape  # what is on the wire: `code`, but for a step outside the projection
    int32_t offset  # byte offset of the slot in its object
    int32_t minimum  # fewest bytes of an array's element, or bytes of a run
    int32_t block  # of structs
    int32_t count  # of a run
    int32_t element  # code of an array's elements
    int32_t operation  # index in the plan, for the path of a fault; that of the first step for a run
    int32_t slot
    int32_t tag
    bint nullable
    bint compact

cdef struct Block:
    int32_t layout
    int32_t first  # step
    int32_t untagged  # steps, runs included
    int32_t tagged  # steps, right behind the untagged ones
    int32_t first_refused
    int32_t refused
    int32_t exact  # size in bytes where each object has the same, else 0

cdef struct Program:
    Step* steps
    Block* blocks
    int32_t* refused
    Py_ssize_t block_count
    bint flexible
    bint checks_text  # text that is stepped over must be UTF-8; else it is not read

# Where a fault lies: one entry per struct on the way, innermost first, written while the executors return.
cdef struct Trace:
    int depth
    int32_t operation[DEEPEST]
    Py_ssize_t index[DEEPEST]  # of the element, or -1


cdef inline void trace_add(Trace* trace, int32_t operation, Py_ssize_t index) noexcept nogil:
    if trace.depth < DEEPEST:
        trace.operation[trace.depth] = operation
        trace.index[trace.depth] = index
        trace.depth += 1


cdef inline Py_ssize_t read_count(Cursor* cursor, const Step* step, bint cut=False) noexcept nogil:
    """Count of an array, checked against the bytes left unless the message was cut; NULL_LENGTH or NO_LENGTH otherwise."""
    cdef Bytes start = cursor.p
    cdef Py_ssize_t count
    if step.compact:
        count = read_length_compact(cursor, step.nullable)
    else:
        count = read_length_32(cursor, step.nullable)
    if count > 0 and not cut and not check_count(cursor, start, count, step.minimum):
        return NO_LENGTH
    return count


cdef inline Py_ssize_t read_marker(Cursor* cursor, const Step* step) noexcept nogil:
    """Read the marker of a nullable struct: NULL_LENGTH for null, NO_LENGTH after a fault, otherwise not negative."""
    cdef int marker
    if step.compact:
        return read_length_compact(cursor, True)
    if not cursor_has(cursor, 1):
        return NO_LENGTH
    marker = cursor.p[0]
    cursor.p += 1
    return NULL_LENGTH if marker > 0x7F else 0


cdef inline int32_t fixed_size(int32_t code) noexcept nogil:
    """Bytes of a value of this code, 0 if it varies."""
    return FIXED_SIZES[code] if <uint32_t>code <= UUID else 0


cdef inline int32_t lowered_code(int32_t code, int32_t flags, int32_t element) noexcept nogil:
    if code == STRING and flags & COMPACT_FLAG:
        return STRING_COMPACT
    if code == BYTES and flags & COMPACT_FLAG:
        return BYTES_COMPACT
    if code == ARRAY and element == STRUCT:
        return ARRAY_OF_STRUCTS
    if code == STRUCT and flags & NULLABLE_FLAG:
        return NULLABLE_STRUCT
    return code


cdef inline void program_release(Program* program) noexcept:
    PyMem_Free(program.steps)
    PyMem_Free(program.blocks)
    PyMem_Free(program.refused)
    program.steps = NULL
    program.blocks = NULL
    program.refused = NULL


cdef inline int lower_step(Step* step, object operation, int32_t index, Py_ssize_t first_offset) except -1:
    cdef int32_t flags = operation.flags
    step.element = lowered_code(operation.element, flags, 0) if operation.element != STRUCT else <int32_t>STRUCT
    step.shape = lowered_code(operation.code, flags, operation.element)
    step.code = SKIPPED if flags & SKIP_FLAG else step.shape
    step.slot = operation.slot
    step.offset = <int32_t>(first_offset + step.slot * <Py_ssize_t>sizeof(void*))
    step.minimum = operation.minimum
    step.block = operation.block
    step.tag = operation.tag
    step.operation = index
    step.nullable = flags & NULLABLE_FLAG != 0
    step.compact = flags & COMPACT_FLAG != 0
    return 0


cdef inline int lower_block(Program* program, object plan, Py_ssize_t number, Py_ssize_t* used, Py_ssize_t first_offset) except -1:
    """Lower the operations of one block behind the `used` steps, with a run before neighbours of fixed size."""
    cdef object source = plan.blocks[number]
    cdef Block* block = &program.blocks[number]
    cdef int32_t first = source.first
    cdef int32_t untagged = source.untagged
    cdef int32_t index
    cdef Step* run = NULL
    cdef Step step
    block.layout = source.layout
    block.first = <int32_t>used[0]
    block.exact = 0
    for index in range(first, first + untagged):
        lower_step(&step, plan.operation(index), index, first_offset)
        if not fixed_size(step.code):
            run = NULL
        elif run is NULL:
            run = &program.steps[used[0]]
            run[0] = step
            run.code = run.shape = RUN
            run.minimum = run.count = 0
            used[0] += 1
        if run is not NULL:
            run.count += 1
            run.minimum += fixed_size(step.code)
        program.steps[used[0]] = step
        used[0] += 1
    block.untagged = <int32_t>used[0] - block.first
    for index in range(first + untagged, first + untagged + <int32_t>source.tagged):
        lower_step(&program.steps[used[0]], plan.operation(index), index, first_offset)
        used[0] += 1
    block.tagged = source.tagged
    if not program.flexible and run is not NULL and block.untagged == run.count + 1:
        block.exact = run.minimum
    return 0


cdef inline int check_depth(object plan) except -1:
    """Refuse definitions whose structs nest too deep, or in themselves: the stack an executor needs must not depend on the bytes."""
    cdef set level = {0}
    cdef set below
    for _ in range(DEEPEST):
        below = set()
        for number in level:
            block = plan.blocks[number]
            for index in range(block.first, block.first + block.untagged + block.tagged):
                below.add(plan.operation(index).block)
        below.discard(-1)
        if not below:
            return 0
        level = below
    raise ValueError(f"{plan.message} nests its structs more than {DEEPEST} deep")


cdef inline int program_lower(Program* program, object plan, Py_ssize_t first_offset) except -1:
    """Fill an empty program from a plan; `first_offset` is where slot 0 lies in an object, and the others follow."""
    cdef Py_ssize_t used = 0
    cdef Py_ssize_t refused = 0
    cdef Py_ssize_t number
    check_depth(plan)
    program.flexible = plan.flexible
    program.checks_text = False
    program.block_count = len(plan.blocks)
    # each operation may start a run of its own
    program.steps = <Step*>PyMem_Calloc(len(plan.ops) // 4 + 1, sizeof(Step))
    program.blocks = <Block*>PyMem_Calloc(program.block_count, sizeof(Block))
    program.refused = <int32_t*>PyMem_Calloc(sum([len(block.refused_tags) for block in plan.blocks]) + 1, sizeof(int32_t))
    if program.steps is NULL or program.blocks is NULL or program.refused is NULL:
        raise MemoryError
    for number in range(program.block_count):
        lower_block(program, plan, number, &used, first_offset)
        program.blocks[number].first_refused = <int32_t>refused
        for tag in plan.blocks[number].refused_tags:
            program.refused[refused] = tag
            refused += 1
        program.blocks[number].refused = <int32_t>(refused - program.blocks[number].first_refused)
    return 0


cdef inline str fault_path(object plan, const Trace* trace):
    """The path that a trace leads, such as `topics[2].partitions[0].leader_id`."""
    cdef list steps = []
    cdef int level
    for level in range(trace.depth - 1, -1, -1):
        operation = trace.operation[level]
        for number, block in enumerate(plan.blocks):
            if block.first <= operation < block.first + block.untagged + block.tagged:
                name = plan.attribute(number, operation)
                steps.append(name if trace.index[level] < 0 else f"{name}[{trace.index[level]}]")
    return ".".join(steps)


cdef inline int raise_fault(object plan, const Cursor* cursor, const Trace* trace) except -1:
    """Raise the exception of the cursor's fault; `kwire.errors` makes it, for both backends."""
    from kwire.errors import raise_for

    raise_for(cursor.code, cursor.offset, fault_path(plan, trace), plan.message, plan.api_key, plan.version)
    return -1
