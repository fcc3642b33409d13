"""The encode executor: runs a program over a message object and writes bytes.

Raw pointers without references: no Python code runs before the message is written or given up (see `write_values.pxd`), so whatever the
objects hold stays where it is; without a GIL, what is in their slots is held. Functions take the position and give it back; NULL means
that something is odd, and the careful writer has to look at the message.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from codec.program cimport (
    ARRAY, ARRAY_OF_STRUCTS, BYTES, BYTES_COMPACT, INT16, INT32, INT64, NULLABLE_STRUCT, RUN, STRING, STRING_COMPACT, STRUCT, Block, Step,
    fixed_size,
)
from codec.slotted cimport HeldSlots, slots_hold, slots_release
from codec.write_program cimport Checked, Slots, Writing, holds_default, is_empty
from codec.write_values cimport bytes_data, bytes_size, int_value, is_bytes, items_of, type_of, write_bytes, write_fixed, write_text
from wire.cursor cimport likely, unlikely
from wire.raw_python cimport raw_none
from wire.write_buffer cimport LONGEST_VARINT, Output, make_room, put_before, put_varint, store_16, store_32, store_64

cdef enum:
    NO_TAG = -1


cdef inline PyObject* slot_at(PyObject* self, int32_t offset) noexcept:
    return (<PyObject**>(<char*>self + offset))[0]


cdef inline uint8_t* put_null(uint8_t* p, const Step* step) noexcept:
    """A null string, bytes value or array; NULL where it may not be null."""
    if unlikely(not step.nullable):
        return NULL
    if step.compact:
        p[0] = 0
        return p + 1
    if step.code == STRING:
        store_16(p, 0xFFFF)
        return p + 2
    store_32(p, 0xFFFFFFFFU)
    return p + 4


cdef inline uint8_t* put_count(uint8_t* p, Py_ssize_t count, bint compact) noexcept:
    if count >= 0x7FFFFFFF:
        return NULL
    if compact:
        return put_varint(p, <uint32_t>(count + 1))
    store_32(p, <uint32_t>count)
    return p + 4


cdef inline uint8_t* write_scalars(const Writing* writing, Output* output, uint8_t* p, PyObject* array, const Step* step) noexcept:
    cdef Py_ssize_t count, index
    cdef PyObject** items = items_of(array, &count)
    cdef int32_t element = step.element
    cdef long long number
    if unlikely(items is NULL):
        return NULL
    p = put_count(p, count, step.compact)
    if p is NULL or count == 0:
        return p
    if element == INT32:
        p = make_room(output, p, count * 4)
        if unlikely(p is NULL):
            return NULL
        for index in range(count):
            if unlikely(not int_value(items[index], &number) or number != <int32_t>number):
                return NULL
            store_32(p, <uint32_t>number)
            p += 4
        return p
    if fixed_size(element):
        p = make_room(output, p, count * fixed_size(element))
        for index in range(count):
            if unlikely(p is NULL):
                return NULL
            p = write_fixed(p, items[index], element, writing.uuid)
        return p
    for index in range(count):
        if element == STRING or element == STRING_COMPACT:
            p = write_text(output, p, items[index], element)
        else:
            p = write_bytes(output, p, items[index], element)
        if unlikely(p is NULL):
            return NULL
    return p


cdef inline uint8_t* write_structs(const Writing* writing, Output* output, uint8_t* p, PyObject* array, const Step* step) noexcept:
    cdef Py_ssize_t count, index
    cdef PyObject** items = items_of(array, &count)
    if unlikely(items is NULL):
        return NULL
    p = put_count(p, count, step.compact)
    for index in range(count):
        if unlikely(p is NULL):
            return NULL
        p = write_struct(writing, output, p, items[index], step.block)
    return p


cdef inline uint8_t* write_value(const Writing* writing, Output* output, uint8_t* p, PyObject* value, const Step* step) noexcept:
    cdef int32_t code = step.code
    if code == STRING_COMPACT or code == STRING:
        return put_null(p, step) if value is raw_none else write_text(output, p, value, code)
    if code == BYTES_COMPACT or code == BYTES:
        return put_null(p, step) if value is raw_none else write_bytes(output, p, value, code)
    if code == ARRAY:
        return put_null(p, step) if value is raw_none else write_scalars(writing, output, p, value, step)
    if code == ARRAY_OF_STRUCTS:
        return put_null(p, step) if value is raw_none else write_structs(writing, output, p, value, step)
    if code == NULLABLE_STRUCT:
        if value is raw_none:
            p[0] = 0 if step.compact else 0xFF
            return p + 1
        p[0] = 1
        return write_struct(writing, output, p + 1, value, step.block)
    if code == STRUCT:
        return write_struct(writing, output, p, value, step.block)
    return write_fixed(p, value, code, writing.uuid)


cdef inline uint8_t* write_fields(const Writing* writing, Output* output, uint8_t* p, PyObject* self, const Block* block) noexcept:
    cdef const Step* step = writing.program.steps + block.first
    cdef const Step* last = step + block.untagged
    cdef PyObject* value
    cdef long long number
    while step < last:
        if step.code != RUN:
            value = slot_at(self, step.offset)
            if unlikely(value is NULL):
                return NULL
            # the most frequent ones by comparison: cheaper than the jump table behind write_fixed
            if step.code == INT32:
                if unlikely(not int_value(value, &number) or number != <int32_t>number):
                    return NULL
                store_32(p, <uint32_t>number)
                p += 4
            elif step.code == INT16:
                if unlikely(not int_value(value, &number) or number != <int16_t>number):
                    return NULL
                store_16(p, <uint16_t>number)
                p += 2
            elif step.code == INT64:
                if unlikely(not int_value(value, &number)):
                    return NULL
                store_64(p, <uint64_t>number)
                p += 8
            elif step.code == ARRAY and value is not raw_none:
                p = write_scalars(writing, output, p, value, step)
                if likely(p is not NULL):
                    p = make_room(output, p, 0)
            elif fixed_size(step.code):
                p = write_fixed(p, value, step.code, writing.uuid)
            else:
                p = write_value(writing, output, p, value, step)
                if likely(p is not NULL):
                    p = make_room(output, p, 0)
            if unlikely(p is NULL):
                return NULL
        step += 1
    return p


# Unknown tagged fields while they are merged between the known ones.
cdef struct Unknown:
    PyObject** pairs
    Py_ssize_t count
    Py_ssize_t next
    long long last  # tag that was written


cdef inline bint is_known(const Writing* writing, const Block* block, long long tag) noexcept:
    """Return whether any version of the struct defines the tag."""
    cdef int32_t index
    for index in range(block.first + block.untagged, block.first + block.untagged + block.tagged):
        if writing.program.steps[index].tag == tag:
            return True
    for index in range(block.first_refused, block.first_refused + block.refused):
        if writing.program.refused[index] == tag:
            return True
    return False


cdef inline uint8_t* write_unknown(
    const Writing* writing, Output* output, uint8_t* p, const Block* block, Unknown* unknown, long long before
) noexcept:
    """The unknown tagged fields below the tag `before`."""
    cdef PyObject** pair
    cdef Py_ssize_t size
    cdef long long tag
    while unknown.next < unknown.count:
        pair = items_of(unknown.pairs[unknown.next], &size)
        if pair is NULL or size != 2 or not int_value(pair[0], &tag) or not is_bytes(pair[1]):
            return NULL
        if tag >= before:
            return p
        if tag <= unknown.last or tag > 0xFFFFFFFFLL or is_known(writing, block, tag):
            return NULL
        unknown.last = tag
        size = bytes_size(pair[1])
        p = make_room(output, p, size + 2 * LONGEST_VARINT)
        if unlikely(p is NULL):
            return NULL
        p = put_varint(put_varint(p, <uint32_t>tag), <uint32_t>size)
        memcpy(p, bytes_data(pair[1]), size)
        p += size
        unknown.next += 1
    return p


cdef inline uint8_t* write_known(const Writing* writing, Output* output, uint8_t* p, PyObject* value, const Step* step) noexcept:
    """A known tagged field: tag, size, value."""
    cdef Py_ssize_t place
    p = put_varint(p, <uint32_t>step.tag)
    place = p - output.start
    p = write_value(writing, output, p + 1, value, step)
    if unlikely(p is NULL):
        return NULL
    return put_before(output, p, place, <uint32_t>(p - output.start - place - 1))


cdef inline uint8_t* write_tagged(
    const Writing* writing, Output* output, uint8_t* p, PyObject* self, const Block* block, PyObject* pairs
) noexcept:
    """A tagged section that may not be empty."""
    cdef const Slots* layout = writing.layouts + block.layout
    cdef Py_ssize_t place = p - output.start
    cdef Py_ssize_t number = 0
    cdef const Step* step = writing.program.steps + block.first + block.untagged
    cdef const Step* last = step + block.tagged
    cdef PyObject* value
    cdef Unknown unknown
    cdef int found
    unknown.count = unknown.next = 0
    unknown.last = NO_TAG
    unknown.pairs = NULL
    if pairs is not NULL:
        unknown.pairs = items_of(pairs, &unknown.count)
        if unknown.pairs is NULL:
            return NULL
    p += 1
    while step < last:
        value = slot_at(self, step.offset)
        if unlikely(value is NULL):
            return NULL
        found = holds_default(writing, value, layout.usual + step.slot, 0)
        if found < 0 or value is writing.later and found != 1:
            return NULL
        if found == 0:
            p = write_unknown(writing, output, p, block, &unknown, step.tag)
            if p is not NULL:
                p = make_room(output, p, 0)
            if p is not NULL:
                p = write_known(writing, output, p, value, step)
            if unlikely(p is NULL):
                return NULL
            number += 1
        step += 1
    p = write_unknown(writing, output, p, block, &unknown, 0x100000000LL)
    if unlikely(p is NULL or unknown.next != unknown.count):
        return NULL
    return put_before(output, p, place, <uint32_t>(number + unknown.count))


cdef inline bint may_be_written(const Writing* writing, PyObject* self, const Checked* checked) noexcept:
    """Return whether fields that this version lacks have their defaults, if the schema demands it."""
    cdef const Slots* layout = writing.layouts + checked.layout
    cdef PyObject* value
    cdef int32_t index, slot
    for index in range(checked.count):
        slot = checked.slots[index]
        value = slot_at(self, <int32_t>(sizeof(PyObject) + slot * <int32_t>sizeof(PyObject*)))
        if value is not NULL and holds_default(writing, value, layout.usual + slot, 0) != 1:
            return False
    return True


cdef inline uint8_t* write_struct(const Writing* writing, Output* output, uint8_t* p, PyObject* self, int32_t number) noexcept:
    cdef const Slots* layout = writing.layouts + writing.program.blocks[number].layout
    cdef HeldSlots held
    if unlikely(type_of(self) is not layout.type):
        return NULL
    p = write_slots(writing, output, p, slots_hold(self, layout.count + 1, &held), number)
    slots_release(&held)
    return p


cdef inline uint8_t* write_slots(const Writing* writing, Output* output, uint8_t* p, PyObject* self, int32_t number) noexcept:
    cdef const Block* block = writing.program.blocks + number
    cdef const Slots* layout = writing.layouts + block.layout
    cdef const Checked* checked = writing.checked + number
    cdef PyObject* pairs
    if checked.count and unlikely(not may_be_written(writing, self, checked)):
        return NULL
    p = make_room(output, p, 0)
    if unlikely(p is NULL):
        return NULL
    p = write_fields(writing, output, p, self, block)
    if unlikely(p is NULL):
        return NULL
    pairs = slot_at(self, <int32_t>(sizeof(PyObject) + layout.count * <int32_t>sizeof(PyObject*)))
    if not writing.program.flexible:
        return p if pairs is NULL or is_empty(writing, pairs) else NULL
    if likely(pairs is writing.empty and block.tagged == 0):
        p[0] = 0
        return p + 1
    return write_tagged(writing, output, p, self, block, pairs)
