"""Programs that write JSON: what `program.pxd` says of the wire, and of each step the name and a tagged field's default as texts."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int32_t

from codec.program cimport RUN, Program, program_lower, program_release
from wire.cursor cimport Bytes

cdef enum:
    LONGEST_VALUE = 32  # of a value of fixed size: an int64 with its sign, a UUID in quotes, a float

# The name of a step's field, `"name":`, and the text of a tagged field that Kafka leaves out, for it holds its default.
cdef struct Naming:
    Bytes name  # with `SLACK` bytes behind it
    int32_t name_size
    Bytes default  # NULL of fields that are not tagged
    Py_ssize_t default_size
    Bytes counted  # the name when a size is written in the place of record batches; NULL where they are written, and for other fields
    int32_t counted_size

cdef struct JsonProgram:
    Program program
    Naming* names  # by step
    int32_t* most  # by block: bytes that its names and values of fixed size take


cdef inline void json_release(JsonProgram* program) noexcept:
    PyMem_Free(program.names)
    PyMem_Free(program.most)
    program.names = NULL
    program.most = NULL
    program_release(&program.program)


cdef inline int json_lower(JsonProgram* program, object plan, object fields) except -1:
    """Lower a plan with the texts of its operations. The caller keeps `fields` alive, and releases after errors too."""
    cdef Py_ssize_t number
    cdef Py_ssize_t step
    cdef Py_ssize_t last
    cdef bytes name
    cdef bytes default
    cdef bytes counted
    cdef Naming* naming
    program_lower(&program.program, plan, 0)
    program.names = <Naming*>PyMem_Calloc(len(plan.ops) // 4 + 1, sizeof(Naming))
    program.most = <int32_t*>PyMem_Calloc(program.program.block_count, sizeof(int32_t))
    if program.names is NULL or program.most is NULL:
        raise MemoryError
    for number in range(program.program.block_count):
        last = program.program.blocks[number].first + program.program.blocks[number].untagged + program.program.blocks[number].tagged
        program.most[number] = 4
        for step in range(program.program.blocks[number].first, last):
            if program.program.steps[step].code == RUN:
                continue
            naming = &program.names[step]
            name, naming.name_size, default, counted = fields[program.program.steps[step].operation]
            naming.name = name
            if default is not None:
                naming.default = default
                naming.default_size = len(default)
            if counted is not None:
                naming.counted = counted
                naming.counted_size = <int32_t>len(counted)
            program.most[number] += naming.name_size + LONGEST_VALUE
    return 0
