"""Programs that build objects: what `program.pxd` says of the wire, and for each struct its type and the defaults of its slots."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int32_t

from program cimport Program, program_lower, program_release
from raw_python cimport is_collected, raw_long
from slotted cimport slot_count

cdef enum:
    # The numbers of kwire.codec.layout.Default
    CONSTANT = 0
    LIST = 1
    NEW_STRUCT = 2

# How a slot that the wire left empty is filled.
cdef struct Filler:
    int32_t offset
    int32_t default
    int32_t layout  # of a new struct
    PyObject* constant  # kept alive by the plan

# What is built: an object, and the slots that get a default unless they were read.
cdef struct Target:
    PyTypeObject* kind
    bint tracked
    int32_t first_filler
    int32_t fillers
    int32_t last_slot  # byte offset of unknown_tagged_fields

cdef struct Objects:
    Program program
    Target* targets  # by block, with the slots that the version may leave empty
    Target* blanks  # by layout, with all slots: an object of defaults
    Filler* fillers
    PyTypeObject* uuid
    PyObject* empty  # the empty tuple
    PyObject** small  # the ints from LOWEST to HIGHEST

cdef enum:
    # The ints that CPython keeps one object each of
    LOWEST = -5
    HIGHEST = 256


cdef inline int lower_target(Target* target, object layout, object kind, object base) except -1:
    cdef PyTypeObject* raw = <PyTypeObject*>kind
    cdef bint fits = isinstance(kind, type) and kind.__base__ is base and slot_count(raw) == len(layout.slots) + 1
    if not fits or kind.layout != layout:
        raise TypeError(f"the class for {layout.name} was not made from its layout")
    target.kind = raw
    target.tracked = is_collected(raw)
    target.last_slot = <int32_t>(sizeof(PyObject) + len(layout.slots) * sizeof(PyObject*))
    return 0


cdef inline int lower_filler(
    Objects* objects, Target* target, int32_t* used, object layout, Py_ssize_t slot, object default, object value
) except -1:
    cdef Filler* filler = &objects.fillers[used[0]]
    if not 0 <= slot < len(layout.slots):
        raise ValueError(f"{layout.name} has no slot {slot}")
    filler.offset = <int32_t>(sizeof(PyObject) + slot * sizeof(PyObject*))
    filler.default = default
    filler.constant = <PyObject*>value
    filler.layout = value if filler.default == NEW_STRUCT else -1
    if target.fillers == 0:
        target.first_filler = used[0]
    target.fillers += 1
    used[0] += 1
    return 0


cdef inline int objects_lower(
    Objects* objects, object plan, tuple classes, object base, object uuid, tuple empty, PyObject** small
) except -1:
    """Lower a plan for the classes of its layouts. The caller keeps all arguments alive, and releases after errors too.

    Arguments:
        base: `MessageObject`, which the classes have as their base.
        uuid: `Uuid`.
        empty: the empty tuple.
        small: the ints from LOWEST to HIGHEST, see `small_ints`.
    """
    cdef int32_t used = 0
    cdef Py_ssize_t number
    cdef Target* target
    program_lower(&objects.program, plan, sizeof(PyObject))
    objects.uuid = <PyTypeObject*>uuid
    objects.empty = <PyObject*>empty
    objects.small = small
    objects.targets = <Target*>PyMem_Calloc(objects.program.block_count, sizeof(Target))
    objects.blanks = <Target*>PyMem_Calloc(len(plan.layouts), sizeof(Target))
    number = sum([len(block.absent) for block in plan.blocks]) + sum([len(layout.slots) for layout in plan.layouts])
    objects.fillers = <Filler*>PyMem_Calloc(number + 1, sizeof(Filler))
    if objects.targets is NULL or objects.blanks is NULL or objects.fillers is NULL:
        raise MemoryError
    for number, block in enumerate(plan.blocks):
        target = &objects.targets[number]
        layout = plan.layouts[block.layout]
        lower_target(target, layout, classes[block.layout], base)
        for absent in block.absent:
            lower_filler(objects, target, &used, layout, absent.slot, absent.default, absent.value)
    for number, layout in enumerate(plan.layouts):
        target = &objects.blanks[number]
        lower_target(target, layout, classes[number], base)
        for index, slot in enumerate(layout.slots):
            lower_filler(objects, target, &used, layout, index, slot.default, slot.value)
    return 0


cdef inline int propagate() except -1:
    """Go on with the Python exception that a C function has set."""
    return -1


cdef inline void objects_release(Objects* objects) noexcept:
    program_release(&objects.program)
    PyMem_Free(objects.targets)
    PyMem_Free(objects.blanks)
    PyMem_Free(objects.fillers)
    objects.targets = NULL
    objects.blanks = NULL
    objects.fillers = NULL


cdef inline int small_ints(PyObject** small) except -1:
    """Fill a table with the ints that CPython keeps anyway."""
    cdef int value
    for value in range(LOWEST, HIGHEST + 1):
        small[value - LOWEST] = raw_long(value)
        if small[value - LOWEST] is NULL:
            return -1
    return 0
