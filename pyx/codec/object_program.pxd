"""Programs that build objects: what `program.pxd` says of the wire, and for each struct its type and the defaults of its slots."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int32_t

from codec.program cimport Program, program_lower, program_release
from codec.slotted cimport Beginning, slot_count
from wire.raw_python cimport is_collected, raw_long

cdef enum:
    # The numbers of kwire.codec.layout.Default
    CONSTANT = 0
    LIST = 1
    STRUCT_LATER = 2

# What is built: an object, the defaults that its slots begin with, and those slots that get a new list unless they were read.
cdef struct Target:
    Beginning beginning  # its objects are kept alive by the plan
    int32_t* lists  # byte offsets
    int32_t list_count
    int32_t last_slot  # byte offset of unknown_tagged_fields

cdef struct Objects:
    Program program
    Target* targets  # by block
    PyTypeObject* uuid
    PyObject* empty  # the empty tuple
    PyObject** small  # the ints from LOWEST to HIGHEST

cdef enum:
    # The ints that CPython keeps one object each of
    LOWEST = -5
    HIGHEST = 256


cdef inline int32_t offset_of(Py_ssize_t slot) noexcept:
    return <int32_t>(sizeof(PyObject) + slot * sizeof(PyObject*))


cdef inline int begin_with(Beginning* beginning, Py_ssize_t slot, object value) except -1:
    beginning.values[slot] = beginning.held[beginning.held_count] = <PyObject*>value
    beginning.held_count += 1
    return 0


cdef inline int lower_target(Target* target, object layout, object kind, object base, tuple absent, object later, tuple empty) except -1:
    cdef PyTypeObject* raw = <PyTypeObject*>kind
    cdef Py_ssize_t count = len(layout.slots) + 1
    cdef Py_ssize_t slot
    cdef bint fits = isinstance(kind, type) and kind.__base__ is base and slot_count(raw) == count
    if not fits or kind.layout != layout:
        raise TypeError(f"the class for {layout.name} was not made from its layout")
    target.beginning.type = raw
    target.beginning.collected = is_collected(raw)
    target.beginning.count = <int>count
    target.beginning.values = <PyObject**>PyMem_Calloc(count, sizeof(PyObject*))
    target.beginning.held = <PyObject**>PyMem_Calloc(count, sizeof(PyObject*))
    target.lists = <int32_t*>PyMem_Calloc(count, sizeof(int32_t))
    target.last_slot = offset_of(count - 1)
    if target.beginning.values is NULL or target.beginning.held is NULL or target.lists is NULL:
        raise MemoryError
    begin_with(&target.beginning, count - 1, empty)
    if len({each.slot for each in absent}) != len(absent):
        raise ValueError(f"{layout.name} has two defaults for a slot")
    for each in absent:
        slot = each.slot
        if not 0 <= slot < count - 1:
            raise ValueError(f"{layout.name} has no slot {slot}")
        if each.default == LIST:
            target.lists[target.list_count] = offset_of(slot)
            target.list_count += 1
        else:
            begin_with(&target.beginning, slot, later if each.default == STRUCT_LATER else each.value)
    return 0


cdef inline int objects_lower(
    Objects* objects, object plan, tuple classes, object base, object later, object uuid, tuple empty, PyObject** small
) except -1:
    """Lower a plan for the classes of its layouts. The caller keeps all arguments alive, and releases after errors too."""
    cdef Py_ssize_t number
    program_lower(&objects.program, plan, sizeof(PyObject))
    objects.uuid = <PyTypeObject*>uuid
    objects.empty = <PyObject*>empty
    objects.small = small
    objects.targets = <Target*>PyMem_Calloc(objects.program.block_count, sizeof(Target))
    if objects.targets is NULL:
        raise MemoryError
    for number, block in enumerate(plan.blocks):
        lower_target(
            &objects.targets[number], plan.layouts[block.layout], classes[block.layout], base, block.absent, later, empty
        )
    return 0


cdef inline int propagate() except -1:
    """Go on with the Python exception that a C function has set."""
    return -1


cdef inline void objects_release(Objects* objects) noexcept:
    cdef Py_ssize_t number
    if objects.targets is not NULL:
        for number in range(objects.program.block_count):
            PyMem_Free(objects.targets[number].beginning.values)
            PyMem_Free(objects.targets[number].beginning.held)
            PyMem_Free(objects.targets[number].lists)
    PyMem_Free(objects.targets)
    objects.targets = NULL
    program_release(&objects.program)


cdef inline int small_ints(PyObject** small) except -1:
    """Fill a table with the ints that CPython keeps anyway."""
    cdef int value
    for value in range(LOWEST, HIGHEST + 1):
        small[value - LOWEST] = raw_long(value)
        if small[value - LOWEST] is NULL:
            return -1
    return 0
