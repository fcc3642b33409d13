# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""Splices of the native twin: the walk, the new values and the copy of a message. The readable contract is `kwire.codec._pure.splices`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport qsort
from libc.string cimport memcmp, memcpy, memset

from build_id cimport build_id
from codec.marked_program cimport MarkedProgram, RuleMembers, marked_lower, marked_release
from codec.program cimport DEEPEST, raise_fault
from codec.span_walk cimport MISSING, OWN, SpanWalk, sieve_bit, walk_block, walk_close, walk_open
from codec.spans cimport Pattern, Place, Section
from codec.spliced_values cimport Kind, kinds_of, plain_content, value_at, with_length
from wire.cursor cimport OK, TRAILING_BYTES, Bytes, cursor_fail

from kwire.codec._pure.splices import misplaced, no_place, too_large, too_long
from kwire.codec.splice_plan import Choice, Constant
from kwire.codec.splice_values import MOST_BYTES, content_of, varint
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError, WireError

__all__ = ["Splicer"]
__build__ = build_id()

cdef extern from "Python.h":
    bint PyDict_CheckExact(object values)

cdef enum:
    SIFTED = 16  # entries of a mapping that is worth a sieve
    SIFTED_BYTES = 2048  # and bytes of a message
    LEAST_ROOM = 4  # of what most calls have few of

cdef struct Edit:
    Py_ssize_t start
    Py_ssize_t stop
    Py_ssize_t size
    Bytes content  # of a bytes object that a list holds


cdef int by_start(const void* one, const void* other) noexcept nogil:
    cdef Py_ssize_t first = (<const Edit*>one).start
    cdef Py_ssize_t second = (<const Edit*>other).start
    return (first > second) - (first < second)


@cython.final
cdef class Change:
    """What becomes of the places of one walk: edits, and the bytes that they write."""

    cdef Edit* edits
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef Py_ssize_t delta
    cdef list held
    cdef object content  # the last constant that was written behind a length, of which leaf, and with the length
    cdef const Kind* kind
    cdef bytes whole

    def __cinit__(self, Py_ssize_t room):
        self.edits = <Edit*>PyMem_Calloc(room + 1, sizeof(Edit))
        self.room = room
        self.held = []
        if self.edits is NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.edits)

    cdef int add(self, Py_ssize_t start, Py_ssize_t stop, bytes content) except -1:
        cdef Edit* edit = &self.edits[self.count]
        assert self.count < self.room
        if not self.held or self.held[-1] is not content:
            self.held.append(content)
        edit.start = start
        edit.stop = stop
        edit.size = PyBytes_GET_SIZE(content)
        edit.content = <Bytes>PyBytes_AS_STRING(content)
        self.count += 1
        return 0


@cython.final
cdef class Splicer:
    """Splices messages of one plan; see the pure twin.

    Arguments:
        marking: the plan and what is looked for.

    Raises:
        ValueError: structs nest too deep.
    """

    cdef readonly object marking
    cdef MarkedProgram marked
    cdef int32_t registers
    cdef int32_t singles
    cdef Kind* single_kinds
    cdef Kind* register_kinds

    def __cinit__(self, marking):
        self.marking = marking
        self.registers = len(marking.registers)
        self.singles = len(marking.singles)
        marked_lower(&self.marked, marking)
        self.single_kinds = kinds_of(marking.leaves, marking.singles)
        self.register_kinds = kinds_of(marking.leaves, marking.registers)

    def __dealloc__(self):
        marked_release(&self.marked)
        PyMem_Free(self.single_kinds)
        PyMem_Free(self.register_kinds)

    def __reduce__(self):
        return Splicer, (self.marking,)

    def splice(self, data, Py_ssize_t begin, Py_ssize_t offset, tuple singles, tuple rules, bint strict=True):
        """Rewrite a message.

        Arguments:
            data: any contiguous buffer.
            begin: from where bytes are copied; what is before the message is not looked at.
            offset: where the message begins.
            singles: for each single what to do; no place has two choices. Functions get the old value and give the new one.
            rules: for each rule a function of what it reads and writes, in this order, which gives a tuple of what it writes, or None for
                no change. It is not called where not all that it writes is there; what it reads and is not there is None.
            strict: the message ends where the buffer ends; else what follows it is copied.

        Returns:
            The bytes; `data` itself where it is `bytes`, and all of it is given, and nothing changes.

        Raises:
            WireError: the bytes break a rule, as decoding with a projection on what is looked for says it.
            EncodeError: a new value is not of the field's type, or a place is missing that must be there.
            BufferError: `data` is not contiguous.
            ValueError: `begin` or `offset` are outside `data`.
        """
        cdef Py_buffer view
        if PyBytes_CheckExact(data):
            return self.run(data, <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), begin, offset, singles, rules, strict)
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            return self.run(data, <Bytes>view.buf, view.len, begin, offset, singles, rules, strict)
        finally:
            PyBuffer_Release(&view)

    cdef object run(
        self, object data, Bytes base, Py_ssize_t size, Py_ssize_t begin, Py_ssize_t offset, tuple singles, tuple rules, bint strict
    ):
        cdef SpanWalk walk
        cdef Pattern few_choices[LEAST_ROOM]
        cdef int32_t few_firsts[LEAST_ROOM + 1]
        cdef Place few_registers[LEAST_ROOM]
        cdef Pattern* choices = few_choices
        cdef int32_t* first_choice = few_firsts
        cdef list actions = []
        cdef Py_ssize_t at
        cdef int32_t choice
        if not 0 <= begin <= offset <= size:
            raise ValueError(f"begin {begin} or offset {offset} is outside the buffer of {size} bytes")
        if size > <Py_ssize_t>MOST_BYTES:
            raise too_large(self.marking, size)
        if len(singles) != self.singles or len(rules) != len(self.marking.rules):
            raise ValueError("singles and rules are not those of the marking")
        for each in singles:
            actions.extend(<tuple?>each)
        memset(&walk, 0, sizeof(SpanWalk))
        try:
            walk.registers = few_registers
            if len(actions) > LEAST_ROOM:
                choices = <Pattern*>PyMem_Calloc(len(actions), sizeof(Pattern))
            if self.singles > LEAST_ROOM:
                first_choice = <int32_t*>PyMem_Calloc(self.singles + 1, sizeof(int32_t))
            if self.registers > LEAST_ROOM:
                walk.registers = <Place*>PyMem_Calloc(self.registers, sizeof(Place))
            if choices is NULL or first_choice is NULL or walk.registers is NULL:
                raise MemoryError
            first_choice[0] = 0
            for at in range(self.singles):
                first_choice[at + 1] = first_choice[at] + <int32_t>len(singles[at])
            for at in range(self.singles):
                for choice in range(first_choice[at], first_choice[at + 1]):
                    choices[choice].single = <int32_t>at
            for at in range(len(actions)):
                if type(actions[at]) is not Choice:
                    raise TypeError("singles hold choices")
                choice_given = <tuple>actions[at]
                set_pattern(&choices[at], choice_given[0])
                choices[at].sifted = choices[at].met = False
                if size - offset >= SIFTED_BYTES:
                    set_sieve(&choices[at], choice_given[1])
            walk.first_choice = first_choice
            walk.choices = choices
            for at in range(self.registers):
                walk.registers[at].begin = MISSING
            walk_open(&walk, &self.marked, base, size, offset)
            if walk_block(&walk, 0) and strict and walk.cursor.p != walk.cursor.end:
                cursor_fail(&walk.cursor, TRAILING_BYTES, walk.cursor.p)
            if walk.no_memory:
                raise MemoryError
            if walk.cursor.code != OK:
                raise_fault(self.marking.plan, &walk.cursor, &walk.trace)
            for at in range(len(actions)):
                if not choices[at].met and (<tuple>actions[at])[2]:
                    raise no_place(self.marking, actions[at].path)
            return self.changed(data, &walk, size, begin, offset, actions, rules, strict)
        finally:
            if choices is not few_choices:
                PyMem_Free(choices)
            if first_choice is not few_firsts:
                PyMem_Free(first_choice)
            if walk.registers is not few_registers:
                PyMem_Free(walk.registers)
            walk_close(&walk)

    cdef object changed(
        self, object data, SpanWalk* walk, Py_ssize_t size, Py_ssize_t begin, Py_ssize_t offset, list actions, tuple rules, bint strict
    ):
        """The copy with what the actions make of the places that the walk has found."""
        cdef Change change = Change(walk.place_count + walk.section_count)
        cdef const Place* place
        cdef Py_ssize_t at = 0
        while at < walk.place_count:
            place = &walk.places[at]
            if place.rule == OWN:
                self.change_single(change, walk, place, <tuple>actions[place.choice], data, offset, strict)
                at += 1
            else:
                self.change_by_rule(change, walk, place, rules[self.marked.rules[place.rule].number], data, offset, strict)
                at += self.marked.rules[place.rule].count
        if not change.count:
            if begin == 0 and PyBytes_CheckExact(data):
                return data
            return PyBytes_FromStringAndSize(<const char*>walk.cursor.base + begin, size - begin)
        return self.copied(change, walk, size, begin)

    cdef int change_single(
        self, Change change, SpanWalk* walk, const Place* place, tuple choice, object data, Py_ssize_t offset, bint strict
    ) except -1:
        cdef const Kind* kind = &self.single_kinds[walk.choices[place.choice].single]
        cdef object action = choice[1]
        if type(action) is Constant:
            return put(change, walk, place, kind, (<tuple>action)[0], True)
        old = value_at(walk.cursor.base, place, kind.code, Uuid)
        try:
            if PyDict_CheckExact(action):
                new = (<dict>action).get(old, action)  # which holds no dictionary as a name
                if new is action:
                    return 0
            else:
                new = action(old)
            if new is old:
                return 0
            content = content_of(kind.code, kind.nullable and choice[3], None) if new is None else new_content(kind, new)
        except (EncodeError, WireError) as error:
            wrong = misplaced(self.marking, data, offset, place.begin, error, strict)
        else:
            return put(change, walk, place, kind, content, False)
        raise wrong

    cdef int change_by_rule(
        self, Change change, SpanWalk* walk, const Place* places, object rule, object data, Py_ssize_t offset, bint strict
    ) except -1:
        cdef const RuleMembers* shape = &self.marked.rules[places.rule]
        cdef const Place* last = &places[shape.reads]
        cdef const int32_t* registers = &self.marked.members[shape.first]
        cdef const Kind* kind
        cdef list values = []
        cdef Py_ssize_t at
        for at in range(shape.count):
            if places[at].begin == MISSING:
                values.append(None)
            else:
                values.append(value_at(walk.cursor.base, &places[at], self.register_kinds[registers[at]].code, Uuid))
        try:
            made = rule(*values)
            if made is None:
                return 0
            if len(<tuple?>made) != shape.count - shape.reads:
                raise ValueError(f"a rule gave {len(made)} values for {shape.count - shape.reads}")
            for at in range(shape.reads, shape.count):
                last = &places[at]
                new = (<tuple>made)[at - shape.reads]
                if new is not values[at]:
                    kind = &self.register_kinds[registers[at]]
                    put(change, walk, last, kind, new_content(kind, new), False)
            return 0
        except (EncodeError, WireError) as error:
            wrong = misplaced(self.marking, data, offset, last.begin, error, strict)
        raise wrong

    cdef object copied(self, Change change, SpanWalk* walk, Py_ssize_t size, Py_ssize_t begin):
        cdef Section* section
        cdef const Edit* edit
        cdef Py_ssize_t number
        cdef Py_ssize_t grown
        cdef Py_ssize_t at = begin
        cdef Py_ssize_t total
        cdef bytes made
        cdef uint8_t* out
        for number in range(walk.section_count - 1, -1, -1):  # those inside a tagged field come behind it
            section = &walk.sections[number]
            grown = section.delta
            if grown:
                length = varint(section.size + grown)
                change.add(section.begin, section.stop, length)
                grown += PyBytes_GET_SIZE(length) - (section.stop - section.begin)
            if section.parent < 0:
                change.delta += grown
            else:
                walk.sections[section.parent].delta += grown
        total = size - begin + change.delta
        if total > <Py_ssize_t>MOST_BYTES:
            raise too_long(self.marking, total)
        qsort(change.edits, change.count, sizeof(Edit), by_start)
        made = PyBytes_FromStringAndSize(NULL, total)
        out = <uint8_t*>PyBytes_AS_STRING(made)
        for number in range(change.count):
            edit = &change.edits[number]
            memcpy(out, walk.cursor.base + at, edit.start - at)
            out += edit.start - at
            memcpy(out, edit.content, edit.size)
            out += edit.size
            at = edit.stop
        memcpy(out, walk.cursor.base + at, size - at)
        return made


cdef int set_pattern(Pattern* pattern, object indexes) except -1:
    cdef Py_ssize_t at
    pattern.depth = 0
    if indexes is not None:
        pattern.depth = len(<tuple?>indexes)
        if pattern.depth > DEEPEST:
            raise ValueError("too many indexes")
        for at in range(pattern.depth):
            pattern.index[at] = indexes[at]
    return 0


cdef int set_sieve(Pattern* pattern, object action) except -1:
    """Prepare to pass by the texts that a small mapping does not have, without making strings of them."""
    cdef bytes text
    pattern.sifted = PyDict_CheckExact(action) and len(<dict>action) <= SIFTED
    pattern.sieve = 0
    if pattern.sifted:
        for key in <dict>action:
            if type(key) is str:
                text = (<str>key).encode("utf-8", "surrogatepass")
                pattern.sieve |= sieve_bit(<Bytes>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
            elif key is not None:
                pattern.sifted = False  # it may equal anything
                return 0
    return 0


cdef object new_content(const Kind* kind, object value):
    """The bytes of a new value without the length before it, None for null."""
    content = plain_content(kind, value)
    return content_of(kind.code, kind.nullable, value) if content is None else content


cdef int put(Change change, SpanWalk* walk, const Place* place, const Kind* kind, object content, bint constant) except -1:
    """Write content at a place, None for null; nothing where it is there already."""
    cdef Py_ssize_t size = place.stop - place.content
    cdef Py_ssize_t grown
    cdef bytes new
    if content is None:
        if place.null:
            return 0
    elif not place.null and PyBytes_GET_SIZE(content) == size:
        if memcmp(PyBytes_AS_STRING(content), walk.cursor.base + place.content, size):
            change.add(place.content, place.stop, content)
        return 0
    if constant and content is change.content and kind is change.kind:  # a constant is at all its places
        new = change.whole
    else:
        new = with_length(kind, content)
        if constant:
            change.content, change.whole = content, new
            change.kind = kind
    change.add(place.begin, place.stop, new)
    grown = PyBytes_GET_SIZE(new) - (place.stop - place.begin)
    if place.section < 0:
        change.delta += grown
    else:
        walk.sections[place.section].delta += grown
    return 0
