"""The object executor: runs a program over bytes and builds message objects.

Raw pointers throughout: what is built is owned by the slot or item it was stored into at once, so an object that is given up half-way
releases all it holds. Values come back as new references; NULL means a fault (the cursor has it) or, where the cursor has none, a Python
exception.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from cursor cimport (
    BAD_TAG, BAD_UTF8, NO_LENGTH, NULL_LENGTH, OK, Bytes, Cursor, cursor_fail, cursor_has, cursor_left, cursor_open,
    load_16, load_32, load_64, load_double, unlikely,
)
from program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BOOL, BYTES, BYTES_COMPACT, INT8, INT16, INT32, INT64, NULLABLE_STRUCT, RUN, SKIPPED, STRING, STRING_COMPACT,
    STRUCT, UINT16, UINT32, UUID, Block, Program, Step, Trace, fixed_size, program_lower, program_release, read_count, read_marker,
    trace_add,
)
from skip cimport fail_run, find_tagged, read_size, read_tag, read_tag_count, skip_value
from slotted cimport slot_count, slotted_new

cdef extern from *:
    """
    /* A Uuid (a subclass of bytes without state of its own) of 16 bytes, made without the detour over bytes and a call of the class. */
    static inline PyObject *kwire_uuid(PyTypeObject *type, const unsigned char *content) {
        PyObject *self = type->tp_alloc(type, 16);
        if (self == NULL) return NULL;
        memcpy(PyBytes_AS_STRING(self), content, 16);
    #if defined(__GNUC__)
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    #endif
        ((PyBytesObject *)self)->ob_shash = -1;  /* hash not known yet, as bytes.__new__ leaves it */
    #if defined(__GNUC__)
    #pragma GCC diagnostic pop
    #endif
        return self;
    }
    """
    PyObject* uuid_new "kwire_uuid"(PyTypeObject* kind, Bytes content) noexcept

cdef extern from "Python.h":
    PyObject* raw_none "Py_None"
    PyObject* raw_true "Py_True"
    PyObject* raw_false "Py_False"
    PyObject* raw_unicode_error "PyExc_UnicodeDecodeError"
    void raw_incref "Py_INCREF"(PyObject*) noexcept
    void raw_decref "Py_DECREF"(PyObject*) noexcept
    void raw_xdecref "Py_XDECREF"(PyObject*) noexcept
    PyObject* raw_long "PyLong_FromLong"(long) noexcept
    PyObject* raw_long_long "PyLong_FromLongLong"(long long) noexcept
    PyObject* raw_float "PyFloat_FromDouble"(double) noexcept
    PyObject* raw_bytes "PyBytes_FromStringAndSize"(const char*, Py_ssize_t) noexcept
    PyObject* raw_text_new "PyUnicode_New"(Py_ssize_t, uint32_t) noexcept
    uint8_t* raw_text_data "PyUnicode_1BYTE_DATA"(PyObject*) noexcept
    Py_ssize_t raw_text_size "PyUnicode_GET_LENGTH"(PyObject*) noexcept
    bint raw_text_is_ascii "PyUnicode_IS_ASCII"(PyObject*) noexcept
    PyObject* raw_text_decode "PyUnicode_DecodeUTF8"(const char*, Py_ssize_t, const char*) noexcept
    PyObject* raw_tuple_new "PyTuple_New"(Py_ssize_t) noexcept
    void raw_tuple_set "PyTuple_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*) noexcept
    PyObject* raw_tuple_pack "PyTuple_Pack"(Py_ssize_t, PyObject*, PyObject*) noexcept
    PyObject* raw_list_new "PyList_New"(Py_ssize_t) noexcept
    void raw_list_set "PyList_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*) noexcept
    int raw_list_append "PyList_Append"(PyObject*, PyObject*) noexcept
    PyObject* raw_list_as_tuple "PyList_AsTuple"(PyObject*) noexcept
    bint raw_error_is "PyErr_ExceptionMatches"(PyObject*) noexcept
    void raw_error_clear "PyErr_Clear"() noexcept
    bint is_collected "PyType_IS_GC"(PyTypeObject*) noexcept
    void gc_track "PyObject_GC_Track"(PyObject*) noexcept
    void gc_untrack "PyObject_GC_UnTrack"(PyObject*) noexcept

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
    MEMO = 64  # a power of two
    MEMO_FROM = 8  # elements in an array of structs that make the memo worth its start
    TEXTS = 128  # a power of two
    TEXT_LIMIT = 64  # bytes of the longest text that is kept

# Texts that an owner meets again and again, such as client ids: at most TEXTS of them, one per place, none longer than TEXT_LIMIT.
cdef struct TextMemo:
    PyObject* texts[TEXTS]

# One run of the executor. What repeats inside one message is made once and shared, for it is immutable: big ints (broker ids, size limits)
# and neighbouring arrays with the same content (the replicas of a partition and those in sync). Both are forgotten when the run ends, so no
# thread sees another's and nothing grows.
cdef struct Build:
    Cursor cursor
    Trace trace
    const char* errors  # how text that is not UTF-8 is treated, NULL for strict
    PyObject* array  # the last array of fixed-size elements, or NULL
    Bytes array_start  # its first element on the wire
    Py_ssize_t array_size  # in bytes
    int32_t array_element
    TextMemo* texts  # or NULL
    bint remembering  # `memo` is in use
    PyObject* memo[MEMO]
    int32_t memo_value[MEMO]


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


cdef inline void build_open(Build* build, Bytes base, Py_ssize_t size, Py_ssize_t start, bint lenient) noexcept:
    cursor_open(&build.cursor, base, size, start)
    build.trace.depth = 0
    build.errors = NULL
    if lenient:
        build.errors = "replace"
    build.array = NULL
    build.texts = NULL
    build.remembering = False


cdef inline void build_close(Build* build) noexcept:
    cdef int index
    raw_xdecref(build.array)
    if build.remembering:
        for index in range(MEMO):
            raw_xdecref(build.memo[index])


cdef inline PyObject** slot_at(PyObject* self, int32_t offset) noexcept:
    return <PyObject**>(<char*>self + offset)


cdef inline PyObject* new_none() noexcept:
    raw_incref(raw_none)
    return raw_none


cdef inline PyObject* build_small(const Objects* objects, int value) noexcept:
    """An int of at most 16 bits."""
    cdef PyObject* number
    if LOWEST <= value <= HIGHEST:
        number = objects.small[value - LOWEST]
        raw_incref(number)
        return number
    return raw_long(value)


cdef inline PyObject* build_int32(const Objects* objects, Build* build, int32_t value) noexcept:
    cdef PyObject* number
    cdef PyObject* old
    cdef uint32_t place
    if LOWEST <= value <= HIGHEST:
        number = objects.small[value - LOWEST]
        raw_incref(number)
        return number
    if not build.remembering:
        return raw_long(value)
    place = (<uint32_t>value * <uint32_t>2654435769U) >> 26
    old = build.memo[place]
    if old is not NULL and build.memo_value[place] == value:
        raw_incref(old)
        return old
    number = raw_long(value)
    if number is not NULL:
        raw_incref(number)
        build.memo[place] = number
        build.memo_value[place] = value
        raw_xdecref(old)
    return number


cdef inline PyObject* build_int64(const Objects* objects, int64_t value) noexcept:
    cdef PyObject* number
    if LOWEST <= value <= HIGHEST:
        number = objects.small[value - LOWEST]
        raw_incref(number)
        return number
    return raw_long_long(value)


cdef inline PyObject* build_fixed(const Objects* objects, Build* build, int32_t code, Bytes* p) noexcept:
    """A value of fixed size at `p`, which moves behind it; its bytes are known to be there."""
    cdef Bytes at = p[0]
    cdef PyObject* flag
    if code == INT32:
        p[0] = at + 4
        return build_int32(objects, build, <int32_t>load_32(at))
    elif code == INT16:
        p[0] = at + 2
        return build_small(objects, <int16_t>load_16(at))
    elif code == INT64:
        p[0] = at + 8
        return build_int64(objects, <int64_t>load_64(at))
    elif code == INT8:
        p[0] = at + 1
        return build_small(objects, <int8_t>at[0])
    elif code == BOOL:
        p[0] = at + 1
        flag = raw_true if at[0] else raw_false
        raw_incref(flag)
        return flag
    elif code == UUID:
        p[0] = at + 16
        return uuid_new(objects.uuid, at)
    elif code == UINT16:
        p[0] = at + 2
        return build_small(objects, load_16(at))
    elif code == UINT32:
        p[0] = at + 4
        return build_int64(objects, load_32(at))
    p[0] = at + 8
    return raw_float(load_double(at))


cdef inline bint is_ascii(const uint8_t* text, Py_ssize_t size) noexcept nogil:
    cdef uint64_t seen = 0
    cdef uint64_t eight
    while size >= 8:
        memcpy(&eight, text, 8)
        seen |= eight
        text += 8
        size -= 8
    while size > 0:
        seen |= text[0]
        text += 1
        size -= 1
    return seen & <uint64_t>0x8080808080808080ULL == 0


cdef inline PyObject* decode_text(Build* build, Bytes content, Py_ssize_t size) noexcept:
    """Text that is not plain ASCII."""
    cdef PyObject* text = raw_text_decode(<const char*>content, size, build.errors)
    if text is NULL and raw_error_is(raw_unicode_error):
        raw_error_clear()
        cursor_fail(&build.cursor, BAD_UTF8, content)
    return text


cdef inline PyObject* copy_text(Build* build, Bytes content, Py_ssize_t size) noexcept:
    """The text of `size` bytes. Copied first and looked at then: the buffer may be one that another process writes."""
    cdef PyObject* text
    if size <= 1:
        return decode_text(build, content, size)
    text = raw_text_new(size, 127)
    if unlikely(text is NULL):
        return NULL
    memcpy(raw_text_data(text), content, size)
    if is_ascii(raw_text_data(text), size):
        return text
    raw_decref(text)
    return decode_text(build, content, size)


cdef inline PyObject* build_text(Build* build, Bytes content, Py_ssize_t size) noexcept:
    """The text of `size` bytes, from the memo if there is one and it has it."""
    cdef PyObject** place
    cdef PyObject* text
    cdef uint64_t first = 0
    cdef uint64_t last = 0
    if build.texts is NULL or size < 2 or size > TEXT_LIMIT:
        return copy_text(build, content, size)
    if size >= 8:
        memcpy(&first, content, 8)
        memcpy(&last, content + size - 8, 8)
    else:
        first = <uint64_t>content[0] << 8 | content[size >> 1]
        last = content[size - 1]
    first = (first ^ (last * 3) ^ <uint64_t>size) * <uint64_t>0x9E3779B97F4A7C15ULL
    place = &build.texts.texts[first >> 57]
    text = place[0]
    if text is not NULL and raw_text_size(text) == size and memcmp(raw_text_data(text), content, size) == 0:
        raw_incref(text)
        return text
    text = copy_text(build, content, size)
    if text is not NULL and raw_text_is_ascii(text):
        raw_xdecref(place[0])
        place[0] = text
        raw_incref(text)
    return text


cdef inline PyObject* build_sized(Build* build, int32_t code, bint nullable) noexcept:
    """A string or bytes value, or None."""
    cdef Cursor* cursor = &build.cursor
    cdef Py_ssize_t size = read_size(cursor, code, nullable)
    cdef Bytes content = cursor.p
    if size < 0:
        return new_none() if size == NULL_LENGTH else NULL
    cursor.p = content + size
    if code == STRING or code == STRING_COMPACT:
        return build_text(build, content, size)
    return raw_bytes(<const char*>content, size)


cdef inline PyObject* build_fixed_array(const Objects* objects, Build* build, int32_t element, Py_ssize_t count) noexcept:
    """The tuple of elements of fixed size whose bytes are all there, at least one."""
    cdef Bytes start = build.cursor.p
    cdef Py_ssize_t size = count * fixed_size(element)
    cdef Py_ssize_t index
    cdef PyObject* values = build.array
    cdef PyObject* value
    build.cursor.p = start + size
    if values is not NULL and size == build.array_size and element == build.array_element and memcmp(start, build.array_start, size) == 0:
        raw_incref(values)
        return values
    values = raw_tuple_new(count)
    if unlikely(values is NULL):
        return NULL
    gc_untrack(values)
    raw_xdecref(build.array)
    build.array = NULL
    build.array_start = start
    for index in range(count):
        value = build_fixed(objects, build, element, &start)
        if unlikely(value is NULL):
            raw_decref(values)
            return NULL
        raw_tuple_set(values, index, value)
    raw_incref(values)
    build.array = values
    build.array_size = size
    build.array_element = element
    return values


cdef inline PyObject* build_scalars(const Objects* objects, Build* build, const Step* step) noexcept:
    """An array of scalars as a tuple, or None. Nothing in it can be part of a cycle, so the collector need not look at it."""
    cdef Py_ssize_t count = read_count(&build.cursor, step)
    cdef Py_ssize_t index
    cdef PyObject* values
    cdef PyObject* value
    if count == 0:
        raw_incref(objects.empty)
        return objects.empty
    if count < 0:
        if count == NULL_LENGTH:
            return new_none()
        trace_add(&build.trace, step.operation, -1)
        return NULL
    if fixed_size(step.element):
        return build_fixed_array(objects, build, step.element, count)
    values = raw_tuple_new(count)
    if unlikely(values is NULL):
        return NULL
    gc_untrack(values)
    for index in range(count):
        value = build_sized(build, step.element, False)
        if unlikely(value is NULL):
            trace_add(&build.trace, step.operation, index)
            raw_decref(values)
            return NULL
        raw_tuple_set(values, index, value)
    return values


cdef inline PyObject* build_structs(const Objects* objects, Build* build, const Step* step) noexcept:
    """An array of structs as a list, or None."""
    cdef Py_ssize_t count = read_count(&build.cursor, step)
    cdef Py_ssize_t index
    cdef PyObject* values
    cdef PyObject* value
    if count < 0:
        if count == NULL_LENGTH:
            return new_none()
        trace_add(&build.trace, step.operation, -1)
        return NULL
    values = raw_list_new(count)
    if values is NULL or count == 0:
        return values
    gc_untrack(values)  # nobody may meet it before it is whole
    if count >= MEMO_FROM and not build.remembering:
        build.remembering = True
        memset(build.memo, 0, sizeof(build.memo))
    for index in range(count):
        value = build_struct(objects, build, step.block)
        if unlikely(value is NULL):
            trace_add(&build.trace, step.operation, index)
            raw_decref(values)
            return NULL
        raw_list_set(values, index, value)
    gc_track(values)
    return values


cdef inline PyObject* build_value(const Objects* objects, Build* build, const Step* step) noexcept:
    """The value of one step that is neither a run nor skipped; after a fault the trace has its path, from here down."""
    cdef int32_t code = step.code
    cdef Cursor* cursor = &build.cursor
    cdef Py_ssize_t marker
    cdef PyObject* value = NULL
    # one call for each way to spell a length, so that the compiler knows which it is
    if code == STRING_COMPACT:
        value = build_sized(build, STRING_COMPACT, step.nullable)
    elif code == STRING:
        value = build_sized(build, STRING, step.nullable)
    elif code == BYTES_COMPACT:
        value = build_sized(build, BYTES_COMPACT, step.nullable)
    elif code == BYTES:
        value = build_sized(build, BYTES, step.nullable)
    elif code == ARRAY:
        return build_scalars(objects, build, step)
    elif code == ARRAY_OF_STRUCTS:
        return build_structs(objects, build, step)
    elif code == STRUCT:
        value = build_struct(objects, build, step.block)
    elif code == NULLABLE_STRUCT:
        marker = read_marker(cursor, step)
        if marker == NULL_LENGTH:
            return new_none()
        if marker != NO_LENGTH:
            value = build_struct(objects, build, step.block)
    elif cursor_has(cursor, fixed_size(code)):
        value = build_fixed(objects, build, code, &cursor.p)
    if unlikely(value is NULL):
        trace_add(&build.trace, step.operation, -1)
    return value


cdef inline bint keep_tag(PyObject** kept, uint32_t tag, Bytes content, Py_ssize_t size) noexcept:
    """Append an unknown tagged field to the list `kept`, which is made when the first one is met."""
    cdef PyObject* number = raw_long_long(tag)
    cdef PyObject* payload = raw_bytes(<const char*>content, size)
    cdef PyObject* pair = NULL
    cdef bint done = False
    if number is not NULL and payload is not NULL:
        pair = raw_tuple_pack(2, number, payload)
        if kept[0] is NULL:
            kept[0] = raw_list_new(0)
        if pair is not NULL and kept[0] is not NULL:
            done = raw_list_append(kept[0], pair) == 0
            gc_untrack(pair)
    raw_xdecref(number)
    raw_xdecref(payload)
    raw_xdecref(pair)
    return done


cdef inline bint fill_known_tag(const Objects* objects, Build* build, PyObject* self, const Step* step) noexcept:
    cdef PyObject** slot = slot_at(self, step.offset)
    cdef PyObject* old
    cdef PyObject* value
    if step.code == SKIPPED:
        return skip_value(&objects.program, &build.cursor, step, &build.trace)
    value = build_value(objects, build, step)
    if unlikely(value is NULL):
        return False
    old = slot[0]  # a tag that comes again counts again
    slot[0] = value
    raw_xdecref(old)
    return True


cdef inline bint fill_tagged(const Objects* objects, Build* build, PyObject* self, const Block* block, PyObject** kept) noexcept:
    """Read a tagged section that is not empty into an object; unknown tags go to the list `kept`."""
    cdef Cursor* cursor = &build.cursor
    cdef Py_ssize_t count = read_tag_count(cursor)
    cdef Py_ssize_t size
    cdef uint32_t tag
    cdef const Step* step
    cdef Bytes start
    cdef Bytes stop
    while count > 0:
        start = cursor.p
        if not read_tag(cursor, &objects.program, block, &tag, &size):
            return False
        stop = cursor.p + size
        step = find_tagged(&objects.program, block, tag)
        if step is NULL:
            if not keep_tag(kept, tag, cursor.p, size):
                return False
            cursor.p = stop
        elif not fill_known_tag(objects, build, self, step):
            return False
        elif cursor.p != stop:
            cursor_fail(cursor, BAD_TAG, start)
            return False
        count -= 1
    return cursor.code == OK


cdef inline PyObject* build_blank(const Objects* objects, int32_t layout) noexcept:
    """An object that holds nothing but defaults."""
    cdef const Target* target = objects.blanks + layout
    cdef PyObject* self = slotted_new(target.kind)
    if unlikely(self is NULL):
        return NULL
    slot_at(self, target.last_slot)[0] = objects.empty
    raw_incref(objects.empty)
    if not fill_absent(objects, self, target):
        raw_decref(self)
        return NULL
    if target.tracked:
        gc_track(self)
    return self


cdef inline bint fill_absent(const Objects* objects, PyObject* self, const Target* target) noexcept:
    """Give every slot that the wire left empty its default."""
    cdef const Filler* filler = objects.fillers + target.first_filler
    cdef const Filler* last = filler + target.fillers
    cdef PyObject** slot
    while filler < last:
        slot = slot_at(self, filler.offset)
        if slot[0] is NULL:
            if filler.default == CONSTANT:
                slot[0] = filler.constant
                raw_incref(filler.constant)
            else:
                slot[0] = raw_list_new(0) if filler.default == LIST else build_blank(objects, filler.layout)
                if slot[0] is NULL:
                    return False
        filler += 1
    return True


cdef inline bint fill_fields(const Objects* objects, Build* build, PyObject* self, const Block* block) noexcept:
    """Read the fields that are always there."""
    cdef const Step* step = objects.program.steps + block.first
    cdef const Step* last = step + block.untagged
    cdef const Step* run_end
    cdef PyObject* value
    cdef Bytes p
    while step < last:
        if step.code == RUN:
            if unlikely(cursor_left(&build.cursor) < step.minimum):
                return fail_run(&build.cursor, step, &build.trace)
            p = build.cursor.p
            build.cursor.p = p + step.minimum
            run_end = step + step.count
            while step < run_end:
                step += 1
                # the two most frequent ones by comparison: cheaper than the jump table behind build_fixed
                if step.code == INT32:
                    value = build_int32(objects, build, <int32_t>load_32(p))
                    p += 4
                elif step.code == INT16:
                    value = build_small(objects, <int16_t>load_16(p))
                    p += 2
                else:
                    value = build_fixed(objects, build, step.code, &p)
                if unlikely(value is NULL):
                    return False
                slot_at(self, step.offset)[0] = value
        elif step.code == SKIPPED:
            if not skip_value(&objects.program, &build.cursor, step, &build.trace):
                return False
        else:
            value = build_value(objects, build, step)
            if unlikely(value is NULL):
                return False
            slot_at(self, step.offset)[0] = value
        step += 1
    return True


cdef inline PyObject* build_struct(const Objects* objects, Build* build, int32_t number) noexcept:
    """The object of one block; after a fault the trace has the path, from here down."""
    cdef const Block* block = objects.program.blocks + number
    cdef const Target* target = objects.targets + number
    cdef Cursor* cursor = &build.cursor
    cdef PyObject* kept = NULL
    cdef PyObject* tags = objects.empty
    cdef PyObject* self = slotted_new(target.kind)
    cdef bint whole
    if unlikely(self is NULL):
        return NULL
    whole = fill_fields(objects, build, self, block)
    raw_incref(tags)
    if whole and objects.program.flexible:
        if cursor.p < cursor.end and cursor.p[0] == 0:
            cursor.p += 1
        else:
            whole = fill_tagged(objects, build, self, block, &kept)
            if whole and kept is not NULL:
                raw_decref(tags)
                tags = raw_list_as_tuple(kept)
                whole = tags is not NULL
                if whole:
                    gc_untrack(tags)
            raw_xdecref(kept)
    slot_at(self, target.last_slot)[0] = tags
    if whole and target.fillers:
        whole = fill_absent(objects, self, target)
    if unlikely(not whole):
        raw_decref(self)
        return NULL
    if target.tracked:
        gc_track(self)
    return self
