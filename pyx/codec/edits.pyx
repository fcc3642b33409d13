# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""Edits in the native backend. The readable contract is `kwire.codec._pure.edits`; a frame that fails here is run there for its error."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

from build_id cimport build_id
from codec.edit_program cimport (
    APPLY, CHANGE_ADDRESS, DONE, FAILED, LIMIT_RANGE, LOOK_UP, REFUSE_VALUE, REMOVE_TEXT, RENAME, RENAME_KEY, RENAME_RESOURCE, SET_VALUE,
    Action, CompiledEdit, EditRun, change_address, drop_element, drop_elements, leave_out_dropped, limit_range, names_of_type, put_content,
    remove_text, rename, rename_resource, resize_sections, small_number, spread_drops,
)
from codec.edit_run cimport Change, Edited, Made, edit_frame, edited_free, edited_open, store_change
from codec.edit_tables cimport Names
from codec.edit_values cimport Kind, kinds_of, plain_content, value_at
from codec.marked_program cimport RuleMembers, marked_lower, marked_release
from codec.program cimport DEEPEST, Trace, program_lower, program_release
from codec.skip cimport skip_block
from codec.span_walk cimport MISSING, OWN, SpanWalk, walk_block, walk_clear, walk_close, walk_open
from codec.spans cimport NotedArray, NotedElement, Pattern, Place
from wire.cursor cimport OK, TRAILING_BYTES, Bytes, Cursor, cursor_fail, cursor_open

from kwire.codec._pure.edits import LEAST_VIEW, misplaced
from kwire.codec._pure.edits import EditProgram as PureProgram
from kwire.codec.edit_actions import DROPPED
from kwire.codec.splice_values import content_of
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError, WireError

__all__ = ["EditProgram"]
__build__ = build_id()

cdef enum:
    FEW_REGISTERS = 16
    FEW_PLACES = 16
    FEW_ARRAYS = 4
    MOST_LOWERED = 16  # names of a mapping that is lowered for one message; more are looked up in Python

cdef Py_ssize_t LEAST = LEAST_VIEW


cdef int by_start(const void* one, const void* other) noexcept nogil:
    cdef int32_t first = (<const Change*>one).start
    cdef int32_t second = (<const Change*>other).start
    return (first > second) - (first < second)


cdef int run_edit(const void* program, Bytes frame, Py_ssize_t size, Edited* edited) except -1 nogil:
    """`codec.edit_run.edit_frame`."""
    cdef const CompiledEdit* edit = <const CompiledEdit*>program
    cdef EditRun run
    cdef Cursor cursor
    cdef Trace trace
    trace.depth = 0
    cursor_open(&cursor, frame, size, 0)
    if size > 0x7FFFFFFF or not skip_block(&edit.header, &cursor, edit.header.blocks, &trace) or cursor.code != OK:
        return FAILED
    run.program, run.edited, run.actions, run.data = edit, edited, edit.actions, NULL
    run.offset, run.strict = cursor.p - frame, False
    return run_message(&run, frame, size)


cdef int run_message(EditRun* run, Bytes frame, Py_ssize_t size) except -1 nogil:
    """Walk over the message at `run.offset` and work out its changes."""
    cdef Place few[FEW_REGISTERS]
    cdef Place places[FEW_PLACES]
    cdef NotedArray arrays[FEW_ARRAYS]
    cdef NotedElement elements[FEW_PLACES]
    cdef int32_t registers = run.program.registers
    walk_clear(&run.walk)
    run.walk.registers = few
    run.walk.places, run.walk.few_places, run.walk.place_room = places, places, FEW_PLACES
    run.walk.arrays, run.walk.few_arrays, run.walk.array_room = arrays, arrays, FEW_ARRAYS
    run.walk.elements, run.walk.few_elements, run.walk.element_room = elements, elements, FEW_PLACES
    run.walk.choices, run.walk.first_choice = run.program.patterns, run.program.first_choice
    if registers > FEW_REGISTERS:
        run.walk.registers = <Place*>malloc(registers * sizeof(Place))
        if run.walk.registers is NULL:
            with gil:
                raise MemoryError
    try:
        return work_out(run, frame, size)
    finally:
        walk_close(&run.walk)
        if run.walk.registers is not few:
            free(run.walk.registers)


cdef int work_out(EditRun* run, Bytes frame, Py_ssize_t size) except -1 nogil:
    """The changes of a message, in their order."""
    cdef SpanWalk* walk = &run.walk
    cdef Edited* edited = run.edited
    cdef const CompiledEdit* edit = run.program
    cdef const RuleMembers* shape
    cdef Py_ssize_t at
    cdef bint sorted = True
    cdef int found
    for at in range(edit.registers):
        walk.registers[at].begin = MISSING
    walk_open(walk, &edit.marked, frame, size, run.offset)
    if walk_block(walk, 0) and run.strict and walk.cursor.p != walk.cursor.end:
        cursor_fail(&walk.cursor, TRAILING_BYTES, walk.cursor.p)
    if walk.no_memory:
        with gil:
            raise MemoryError
    if walk.cursor.code != OK or not has_needed(run):
        return FAILED
    at = 0
    while at < walk.place_count:
        if walk.places[at].rule == OWN:
            found = act(run, &run.actions.singles[walk.places[at].choice], &walk.places[at], 1, 0, walk.places[at].choice, False)
            at += 1
        else:
            shape = &edit.marked.rules[walk.places[at].rule]
            found = act(run, &run.actions.rules[shape.number], &walk.places[at], shape.count, shape.reads, shape.number, True)
            at += shape.count
        if found != DONE:
            return found
    if walk.element_count:
        spread_drops(run)
        leave_out_dropped(run)
        drop_elements(run)
    if walk.section_count:
        resize_sections(run)
    for at in range(edited.count):
        edited.size += edited.changes[at].head_size + edited.changes[at].size - (edited.changes[at].stop - edited.changes[at].start)
        sorted = sorted and (at == 0 or edited.changes[at].start > edited.changes[at - 1].start)
    if edited.size > 0x7FFFFFFF:
        return FAILED
    if not sorted:
        qsort(edited.changes, edited.count, sizeof(Change), by_start)
    return DONE


cdef bint has_needed(EditRun* run) noexcept nogil:
    """Return whether the walk found all required fields; the actions are this run's own."""
    cdef Action* singles = run.actions.singles
    cdef Py_ssize_t at
    if not run.actions.needs:
        return True
    for at in range(run.walk.place_count):
        if run.walk.places[at].rule == OWN:
            singles[run.walk.places[at].choice].is_needed = False
    for at in range(run.actions.single_count):
        if singles[at].is_needed:
            return False
    return True


cdef inline const Kind* kind_of(const EditRun* run, const Place* place, int32_t at, int32_t number, bint is_rule) noexcept nogil:
    """Return the kind of a place, at position `at` of rule `number`."""
    cdef const RuleMembers* shape
    if not is_rule:
        return &run.program.single_kinds[number]
    shape = &run.program.marked.rules[place.rule]
    return &run.program.register_kinds[run.program.marked.members[shape.first + at]]


cdef int act(
    EditRun* run, const Action* action, const Place* places, int32_t count, int32_t reads, int32_t number, bint is_rule
) except -1 nogil:
    cdef const Names* names
    cdef int32_t last = count - 1
    cdef int kind = action.kind
    if kind == RENAME:
        return rename(run, places, kind_of(run, places, 0, number, is_rule), action.names)
    if kind == CHANGE_ADDRESS:
        return change_address(
            run, action, places, kind_of(run, places, last - 1, number, True), kind_of(run, places, last, number, True)
        )
    if kind == REMOVE_TEXT:
        return remove_text(run, action, places, kind_of(run, places, 0, number, is_rule))
    if kind == REFUSE_VALUE:
        return DONE if places.null or places.stop == places.content else <int>FAILED
    if kind == LIMIT_RANGE:
        return limit_range(run, action, places)
    if kind == RENAME_RESOURCE:
        return rename_resource(run, action, places, count, kind_of(run, places, last, number, True))
    if kind == SET_VALUE:
        return put_content(run, places, kind_of(run, places, 0, number, is_rule), action.text.bytes, action.text.size)
    if kind == RENAME_KEY:
        names = names_of_type(action, small_number(run, places))
        return FAILED if names is NULL else rename(run, &places[last], kind_of(run, places, last, number, True), names)
    with gil:
        return act_in_python(run, action, places, count, reads, number, is_rule)


cdef int act_in_python(
    EditRun* run, const Action* action, const Place* places, int32_t count, int32_t reads, int32_t number, bint is_rule
) except -1:
    """An action that only Python has; the new values are copied, for the frame is sent without the GIL."""
    cdef Actions actions = <Actions>run.actions.owner
    cdef const Place* last = &places[reads]
    cdef list values = []
    cdef int32_t at
    for at in range(count):
        if places[at].begin == MISSING:
            values.append(None)
        else:
            values.append(value_at(run.walk.cursor.base, &places[at], kind_of(run, &places[at], at, number, is_rule).code, Uuid))
    try:
        if action.kind == APPLY:
            return put_value(run, places, kind_of(run, places, 0, number, False), values[0], (<object>action.function)(values[0]))
        if action.kind == LOOK_UP:
            new = (<dict>action.function).get(values[0], values[0])
            if isinstance(new, str):
                return put_value(run, places, kind_of(run, places, 0, number, False), values[0], new)
        outcome = (actions.rules if is_rule else actions.singles)[number](*values)
        if outcome is None:
            return DONE
        if outcome is DROPPED:
            if places[reads].element < 0:
                raise EncodeError("a name of somebody else is here, and no element is around it that could be dropped")
            return drop_element(run, &places[reads])
        if len(<tuple?>outcome) != count - reads:
            raise ValueError(f"an action gave {len(outcome)} values for {count - reads}")
        for at in range(reads, count):
            last = &places[at]
            put_value(run, last, kind_of(run, last, at, number, is_rule), values[at], (<tuple>outcome)[at - reads])
        return DONE
    except (EncodeError, WireError) as error:
        if run.data is NULL:
            return FAILED
        wrong = misplaced(actions.marking, <object>run.data, run.offset, last.begin, error, run.strict)
    raise wrong


cdef int put_value(EditRun* run, const Place* place, const Kind* kind, object old, object new) except -1:
    cdef Made* made
    if new is old:
        return DONE
    content = plain_content(kind, new)
    if content is None:
        content = content_of(kind.code, kind.nullable, new)
    if content is None:
        return put_content(run, place, kind, NULL, 0)
    made = <Made*>malloc(sizeof(Made) + PyBytes_GET_SIZE(content))
    if made is NULL:
        raise MemoryError
    made.next, run.edited.made = run.edited.made, made
    memcpy(<uint8_t*>(made + 1), PyBytes_AS_STRING(content), PyBytes_GET_SIZE(content))
    return put_content(run, place, kind, <Bytes>(made + 1), PyBytes_GET_SIZE(content))


include "codec/edit_actions.pxi"


@cython.final
cdef class EditProgram:
    """`kwire.codec._pure.edits.EditProgram`; `capsule` is the door of native code, see codec/edit_run.pxd."""

    cdef CompiledEdit edit
    cdef object plan
    cdef readonly object capsule
    cdef object header
    cdef object pure
    cdef Actions actions
    cdef bytes patterns  # memory of `edit`
    cdef bytes choices

    def __cinit__(self, plan, header=None):
        marking = plan.marking
        self.plan, self.header = plan, header
        self.edit.registers = len(marking.registers)
        marked_lower(&self.edit.marked, marking)
        if header is not None:
            program_lower(&self.edit.header, header.plan, 0)
        self.edit.single_kinds = kinds_of(marking.leaves, self.choose(plan.patterns) if plan.patterns else marking.singles)
        self.edit.register_kinds = kinds_of(marking.leaves, marking.registers)
        self.actions = Actions(marking, plan.singles, plan.rules)
        self.edit.actions = &self.actions.set
        self.edit.door.run = run_edit
        self.edit.door.program = &self.edit
        self.capsule = PyCapsule_New(&self.edit, "kwire.codec.edit", NULL)

    def __dealloc__(self):
        marked_release(&self.edit.marked)
        program_release(&self.edit.header)
        PyMem_Free(self.edit.single_kinds)
        PyMem_Free(self.edit.register_kinds)

    cdef tuple choose(self, tuple patterns):
        """Lower the patterns of each single; gives the leaf of each choice."""
        cdef Pattern* pattern
        cdef int32_t single, at, choice = 0
        cdef list leaves = []
        self.patterns, self.choices = zeros(sum(map(len, patterns)) * sizeof(Pattern)), zeros((len(patterns) + 1) * sizeof(int32_t))
        self.edit.patterns = <Pattern*>PyBytes_AS_STRING(self.patterns)
        self.edit.first_choice = <int32_t*>PyBytes_AS_STRING(self.choices)
        for single, found in enumerate(patterns):
            for indexes in found:
                pattern = &self.edit.patterns[choice]
                pattern.depth = 0 if indexes is None else len(indexes)
                if pattern.depth > DEEPEST:
                    raise ValueError("too many indexes")
                for at in range(pattern.depth):
                    pattern.index[at] = indexes[at]
                leaves.append(self.plan.marking.singles[single])
                choice += 1
            self.edit.first_choice[single + 1] = choice
        return tuple(leaves)

    def pieces(self, frame, Py_ssize_t id_at, bytes correlation_id, bint framed):
        cdef Py_buffer view
        cdef Edited edited
        cdef int found
        PyObject_GetBuffer(frame, &view, PyBUF_SIMPLE)
        try:
            found = edit_frame(&self.edit.door, <Bytes>view.buf, view.len, &edited)
            if found == DONE:
                return joined(frame, <Bytes>view.buf, view.len, &edited, id_at, correlation_id, framed)
        finally:
            edited_free(&edited)
            PyBuffer_Release(&view)
        self.pure_program().pieces(frame, id_at, correlation_id, framed)
        raise AssertionError(f"the pure backend edits a frame of {self.plan.marking.plan.message} that the native one refuses")

    def splice(self, data, Py_ssize_t offset, tuple singles, tuple rules, bint strict=True):
        cdef Py_buffer view
        cdef Edited edited
        cdef EditRun run
        cdef Actions actions = Actions(self.plan.marking, singles, rules, MOST_LOWERED)
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        edited_open(&edited, view.len)
        try:
            if not 0 <= offset <= view.len:
                raise ValueError(f"offset {offset} is outside the buffer of {view.len} bytes")
            run.program, run.edited, run.actions = &self.edit, &edited, &actions.set
            run.data, run.offset, run.strict = <PyObject*>data, offset, strict
            if view.len <= 0x7FFFFFFF and run_message(&run, <Bytes>view.buf, view.len) == DONE:
                if edited.count == 0 and PyBytes_CheckExact(data):
                    return data
                return spliced(<Bytes>view.buf, view.len, &edited)
        finally:
            edited_free(&edited)
            PyBuffer_Release(&view)
        self.pure_program().splice(data, offset, singles, rules, strict)
        raise AssertionError(f"the pure backend splices a {self.plan.marking.plan.message} that the native one refuses")

    @cython.critical_section
    cdef object pure_program(self):
        if self.pure is None:
            self.pure = PureProgram(self.plan, self.header)
        return self.pure


cdef object piece_of(Bytes base, Py_ssize_t size):
    return PyBytes_FromStringAndSize(<const char*>base, size)


cdef list joined(
    object frame, Bytes base, Py_ssize_t size, Edited* edited, Py_ssize_t id_at, bytes correlation_id, bint framed
):
    """`_pure.edits._joined`, with the length and the correlation id."""
    cdef list pieces = []
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t number, stop
    cdef const Change* change
    cdef Py_ssize_t room = 4 + LEAST
    cdef uint8_t* buffer
    cdef uint8_t* out
    cdef object view = None
    for number in range(edited.count):
        room += edited.changes[number].head_size + edited.changes[number].size + LEAST
    buffer = <uint8_t*>malloc(min(room, edited.size + 4) + 1)
    if buffer is NULL:
        raise MemoryError
    out = buffer
    try:
        if framed:
            for number in range(4):
                out[number] = <uint8_t>((edited.size >> (24 - 8 * number)) & 0xFF)
            out += 4
        if correlation_id is not None:
            memcpy(out, base, id_at)
            out += id_at
            memcpy(out, PyBytes_AS_STRING(correlation_id), 4)
            out += 4
            at = id_at + 4
        for number in range(edited.count + 1):
            stop = size if number == edited.count else edited.changes[number].start
            if stop - at < LEAST:
                memcpy(out, base + at, stop - at)
                out += stop - at
            else:
                if out != buffer:
                    pieces.append(piece_of(buffer, out - buffer))
                    out = buffer
                if view is None:
                    view = memoryview(frame).cast("B")
                pieces.append(view[at:stop])
            if number < edited.count:
                change = &edited.changes[number]
                out = store_change(change, out)
                at = change.stop
        if out != buffer:
            pieces.append(piece_of(buffer, out - buffer))
        return pieces
    finally:
        free(buffer)


cdef bytes spliced(Bytes base, Py_ssize_t size, const Edited* edited):
    cdef bytes made = PyBytes_FromStringAndSize(NULL, edited.size)
    cdef uint8_t* out = <uint8_t*>PyBytes_AS_STRING(made)
    cdef const Change* change
    cdef Py_ssize_t number, at = 0
    for number in range(edited.count):
        change = &edited.changes[number]
        memcpy(out, base + at, change.start - at)
        out = store_change(change, out + change.start - at)
        at = change.stop
    memcpy(out, base + at, size - at)
    return made
