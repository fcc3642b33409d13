"""Programs that write objects: what `program.pxd` says of the wire, the type of each struct, and what is the default of each slot."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcmp

from codec.object_program cimport offset_of
from codec.program cimport DEEPEST, RUN, Program, fixed_size, program_lower, program_release
from codec.slotted cimport HeldSlots, slot_count, slots_hold, slots_of, slots_release
from codec.write_values cimport bytes_data, bytes_size, float_value, int_value, is_bytes, is_float, is_text, items_of, type_of
from wire.raw_python cimport raw_none
from wire.write_buffer cimport LONGEST_VARINT

cdef extern from "Python.h":
    int text_compare "PyUnicode_Compare"(PyObject* one, PyObject* other) noexcept

cdef enum Usual:
    # What a slot's default is
    NOTHING = 0  # None
    NUMBER = 1
    TRUTH = 2
    REAL = 3
    TEXT = 4
    NO_BYTES = 5
    ZERO_UUID = 6
    NO_ITEMS = 7
    OBJECT = 8  # of a struct with nothing but defaults

cdef struct Usually:
    Usual kind
    int32_t layout  # of an OBJECT
    long long number
    double real
    PyObject* value  # that needs no look at it; kept alive by the plan, or LATER

# The slots of one struct, over all versions.
cdef struct Slots:
    PyTypeObject* type
    Usually* usual
    int32_t count  # without unknown_tagged_fields

# What an object of one block is checked for before its fields are written.
cdef struct Checked:
    int32_t layout
    int32_t* slots  # that must hold their defaults, for this version lacks them
    int32_t count

cdef struct Writing:
    Program program
    Slots* layouts
    Py_ssize_t layout_count
    Checked* checked  # by block
    Py_ssize_t slack  # for `wire/write_buffer.pxd`
    PyTypeObject* uuid
    PyObject* empty  # the empty tuple
    PyObject* later  # LATER, see `kwire.codec._native.structs`


cdef inline bint is_empty(const Writing* writing, PyObject* array) noexcept:
    """Return whether a list or tuple is empty; False for other types."""
    cdef Py_ssize_t count
    return array is writing.empty or (items_of(array, &count) is not NULL and count == 0)


cdef inline int holds_default(const Writing* writing, PyObject* value, const Usually* usual, int depth) noexcept:
    """1 for a default, 0 for what is none, -1 for what is odd."""
    cdef long long number
    cdef Py_ssize_t count
    if value is usual.value:
        return 1
    if value is raw_none or usual.kind == NOTHING:
        return 0
    if usual.kind == NUMBER:
        return number == usual.number if int_value(value, &number) else -1
    if usual.kind == NO_ITEMS:
        return count == 0 if items_of(value, &count) is not NULL else -1
    if usual.kind == TEXT:
        return text_compare(value, usual.value) == 0 if is_text(value) else -1
    if usual.kind == NO_BYTES:
        return bytes_size(value) == 0 if is_bytes(value) else -1
    if usual.kind == ZERO_UUID:
        if type_of(value) is not writing.uuid and not is_bytes(value) or bytes_size(value) != 16:
            return -1
        return memcmp(bytes_data(value), bytes_data(usual.value), 16) == 0
    if usual.kind == REAL:
        return float_value(value) == usual.real if is_float(value) else -1
    if usual.kind == OBJECT:
        return holds_defaults(writing, value, writing.layouts + usual.layout, depth + 1)
    return -1 if type_of(value) is not type_of(usual.value) else 0  # of TRUTH there are two


cdef inline int holds_defaults(const Writing* writing, PyObject* value, const Slots* layout, int depth) noexcept:
    """The same of a struct with nothing but defaults and no unknown tags."""
    cdef HeldSlots held
    cdef PyObject** slots
    cdef int32_t index
    cdef int found = 1
    if type_of(value) is not layout.type or depth > DEEPEST:
        return -1
    slots = slots_of(slots_hold(value, layout.count + 1, &held))
    for index in range(layout.count):
        found = 0 if slots[index] is NULL else holds_default(writing, slots[index], layout.usual + index, depth)
        if found != 1:
            break
    if found == 1 and (slots[layout.count] is NULL or not is_empty(writing, slots[layout.count])):
        found = -1
    slots_release(&held)
    return found


cdef inline int lower_usual(Usually* usual, object slot, object later) except -1:
    cdef object default = slot.value
    cdef str kind = slot.type
    usual.value = <PyObject*>default
    if slot.default == 2:  # Default.STRUCT
        usual.kind = OBJECT
        usual.layout = default
        usual.value = <PyObject*>later
    elif slot.default == 1:  # Default.LIST
        usual.kind = NO_ITEMS
        usual.value = NULL
    elif default is None:
        usual.kind = NOTHING
    elif kind.startswith("[]"):
        usual.kind = NO_ITEMS
    elif kind == "bool":
        usual.kind = TRUTH
    elif kind == "float64":
        usual.kind = REAL
        usual.real = default
    elif kind == "string":
        usual.kind = TEXT
    elif kind == "uuid":
        usual.kind = ZERO_UUID
    elif kind == "bytes" or kind == "records":
        usual.kind = NO_BYTES
    else:
        usual.kind = NUMBER
        usual.number = default
    return 0


cdef inline int lower_slots(Slots* slots, object layout, object kind, object base, object later) except -1:
    cdef Py_ssize_t count = len(layout.slots)
    cdef Py_ssize_t index
    cdef bint fits = isinstance(kind, type) and kind.__base__ is base and slot_count(<PyTypeObject*>kind) == count + 1
    if not fits or kind.layout != layout:
        raise TypeError(f"the class for {layout.name} was not made from its layout")
    slots.type = <PyTypeObject*>kind
    slots.count = <int32_t>count
    slots.usual = <Usually*>PyMem_Calloc(count + 1, sizeof(Usually))
    if slots.usual is NULL:
        raise MemoryError
    for index in range(count):
        lower_usual(&slots.usual[index], layout.slots[index], later)
    return 0


cdef inline int lower_checked(Checked* checked, object block, Py_ssize_t most) except -1:
    cdef list wanted = [absent.slot for absent in block.absent if not absent.tagged and not absent.ignorable]
    checked.layout = block.layout
    checked.slots = <int32_t*>PyMem_Calloc(len(wanted) + 1, sizeof(int32_t))
    if checked.slots is NULL:
        raise MemoryError
    for slot in wanted:
        if not 0 <= slot < most:
            raise ValueError(f"the plan checks slot {slot} of {most}")
        checked.slots[checked.count] = slot
        checked.count += 1
    return 0


cdef inline Py_ssize_t slack_of(const Program* program) noexcept:
    """Return the largest size of a struct's fields and one tag, without contents of strings, bytes and arrays."""
    cdef Py_ssize_t most = 0
    cdef Py_ssize_t number, size
    cdef int32_t index
    for number in range(program.block_count):
        size = 0
        for index in range(program.blocks[number].first, program.blocks[number].first + program.blocks[number].untagged):
            if program.steps[index].code != RUN:
                size += max(fixed_size(program.steps[index].code), LONGEST_VARINT)
        most = max(most, size)
    return most + 4 * LONGEST_VARINT + 16


cdef inline int writing_lower(
    Writing* writing, object plan, tuple classes, object base, object later, object uuid, tuple empty
) except -1:
    """Lower a plan for the classes of its layouts. The caller keeps all arguments alive, and releases after errors too."""
    cdef Py_ssize_t number
    program_lower(&writing.program, plan, sizeof(PyObject))
    writing.slack = slack_of(&writing.program)
    writing.uuid = <PyTypeObject*>uuid
    writing.empty = <PyObject*>empty
    writing.later = <PyObject*>later
    writing.layouts = <Slots*>PyMem_Calloc(len(plan.layouts), sizeof(Slots))
    writing.checked = <Checked*>PyMem_Calloc(writing.program.block_count, sizeof(Checked))
    if writing.layouts is NULL or writing.checked is NULL:
        raise MemoryError
    if len(classes) != len(plan.layouts):
        raise TypeError(f"{plan.message} has {len(plan.layouts)} structs, not {len(classes)}")
    writing.layout_count = len(classes)
    for number, layout in enumerate(plan.layouts):
        lower_slots(&writing.layouts[number], layout, classes[number], base, later)
    for number, block in enumerate(plan.blocks):
        lower_checked(&writing.checked[number], block, writing.layouts[<Py_ssize_t>block.layout].count)
    return 0


cdef inline void writing_release(Writing* writing) noexcept:
    cdef Py_ssize_t number
    if writing.layouts is not NULL:
        for number in range(writing.layout_count):
            PyMem_Free(writing.layouts[number].usual)
    if writing.checked is not NULL:
        for number in range(writing.program.block_count):
            PyMem_Free(writing.checked[number].slots)
    PyMem_Free(writing.layouts)
    PyMem_Free(writing.checked)
    writing.layouts = NULL
    writing.checked = NULL
    program_release(&writing.program)
