# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""Edits of the native twin. The readable contract is `kwire.codec._pure.edits`; a frame that fails here is run there for its error."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

from build_id cimport build_id
from codec.edit_program cimport (
    CHANGE_ADDRESS, DONE, FAILED, LIMIT_RANGE, MOST_TYPES, REFUSE_VALUE, REMOVE_TEXT, RENAME, RENAME_KEY, RENAME_RESOURCE,
    Action, CompiledEdit, EditRun, TypedNames, change_address, drop_element, drop_elements, leave_out_dropped, limit_range, names_of_type,
    put_content, remove_text, rename, rename_resource, resize_sections, small_number, spread_drops,
)
from codec.edit_run cimport Change, Edited, Made, edit_frame, edited_free, store_change
from codec.edit_tables cimport (
    FOREIGN_DROP, FOREIGN_KEEP, FOREIGN_REFUSE, LIMITED_KEYS, NAMES_ADD, NAMES_MAP, NAMES_REMOVE, AddressEntry, AddressList, Names,
    NameSlot, Ranges, Text, name_put,
)
from codec.marked_program cimport RuleMembers, marked_lower, marked_release
from codec.program cimport INT8, INT16, INT32, UINT16, Trace, program_lower, program_release
from codec.skip cimport LONGEST_TEXT, skip_block
from codec.span_walk cimport MISSING, OWN, SpanWalk, walk_block, walk_close, walk_open
from codec.spans cimport NotedArray, NotedElement, Place
from codec.spliced_values cimport Kind, kinds_of, plain_content, value_at
from wire.cursor cimport OK, Bytes, Cursor, cursor_open

from kwire.codec._pure.edits import LEAST_VIEW
from kwire.codec._pure.edits import EditProgram as PureProgram
from kwire.codec.broker_addresses import AddressTable
from kwire.codec.edit_actions import DROPPED, LimitRange, RefuseValue, RemoveText, Rename, RenameKey, RenameResource
from kwire.codec.edit_names import AddPrefix, RemovePrefix
from kwire.codec.edit_plan import ChangeAddress
from kwire.codec.splice_values import content_of
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError, WireError

__all__ = ["EditProgram"]
__build__ = build_id()

cdef enum:
    FEW_REGISTERS = 16
    FEW_PLACES = 16
    FEW_ARRAYS = 4

cdef Py_ssize_t LEAST = LEAST_VIEW
cdef dict FOREIGN = {"refuse": FOREIGN_REFUSE, "drop": FOREIGN_DROP, "keep": FOREIGN_KEEP}


cdef int by_start(const void* one, const void* other) noexcept nogil:
    cdef int32_t first = (<const Change*>one).start
    cdef int32_t second = (<const Change*>other).start
    return (first > second) - (first < second)


cdef int run_edit(const void* program, Bytes frame, Py_ssize_t size, Edited* edited) except -1 nogil:
    """`codec.edit_run.edit_frame`."""
    cdef const CompiledEdit* edit = <const CompiledEdit*>program
    cdef EditRun run
    cdef Place few[FEW_REGISTERS]
    cdef Place places[FEW_PLACES]
    cdef NotedArray arrays[FEW_ARRAYS]
    cdef NotedElement elements[FEW_PLACES]
    cdef Cursor cursor
    cdef Trace trace
    cdef int found
    trace.depth = 0
    cursor_open(&cursor, frame, size, 0)
    if size > 0x7FFFFFFF or not skip_block(&edit.header, &cursor, edit.header.blocks, &trace) or cursor.code != OK:
        return FAILED
    memset(&run.walk, 0, sizeof(SpanWalk))
    run.program, run.edited = edit, edited
    run.walk.registers = few
    run.walk.places, run.walk.few_places, run.walk.place_room = places, places, FEW_PLACES
    run.walk.arrays, run.walk.few_arrays, run.walk.array_room = arrays, arrays, FEW_ARRAYS
    run.walk.elements, run.walk.few_elements, run.walk.element_room = elements, elements, FEW_PLACES
    if edit.registers > FEW_REGISTERS:
        run.walk.registers = <Place*>malloc(edit.registers * sizeof(Place))
        if run.walk.registers is NULL:
            with gil:
                raise MemoryError
    try:
        found = work_out(&run, frame, size, cursor.p - frame)
    finally:
        walk_close(&run.walk)
        if run.walk.registers is not few:
            free(run.walk.registers)
    return found


cdef int work_out(EditRun* run, Bytes frame, Py_ssize_t size, Py_ssize_t offset) except -1 nogil:
    """The changes of a frame whose message begins at `offset`, in their order."""
    cdef SpanWalk* walk = &run.walk
    cdef Edited* edited = run.edited
    cdef const CompiledEdit* edit = run.program
    cdef const RuleMembers* shape
    cdef Py_ssize_t at
    cdef bint sorted = True
    cdef int found
    for at in range(edit.registers):
        walk.registers[at].begin = MISSING
    walk_open(walk, &edit.marked, frame, size, offset)
    walk_block(walk, 0)
    if walk.no_memory:
        with gil:
            raise MemoryError
    if walk.cursor.code != OK:
        return FAILED
    at = 0
    while at < walk.place_count:
        if walk.places[at].rule == OWN:
            found = act(run, &edit.singles[walk.places[at].choice], &walk.places[at], 1, 0, walk.places[at].choice, False)
            at += 1
        else:
            shape = &edit.marked.rules[walk.places[at].rule]
            found = act(run, &edit.rules[shape.number], &walk.places[at], shape.count, shape.reads, shape.number, True)
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


cdef inline const Kind* kind_of(const EditRun* run, const Place* place, int32_t at, int32_t number, bint is_rule) noexcept nogil:
    """What the place is, `at` its position in rule `number`."""
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
    if kind == RENAME_KEY:
        names = names_of_type(action, small_number(run, places))
        return FAILED if names is NULL else rename(run, &places[last], kind_of(run, places, last, number, True), names)
    with gil:
        return act_in_python(run, places, count, reads, number, is_rule)


cdef int act_in_python(EditRun* run, const Place* places, int32_t count, int32_t reads, int32_t number, bint is_rule) except -1:
    """An action that only Python has; the new values are copied, for the frame is sent without the GIL."""
    cdef EditProgram program = <EditProgram>run.program.owner
    cdef const Kind* kind
    cdef list values = []
    cdef int32_t at
    cdef Made* made
    for at in range(count):
        if places[at].begin == MISSING:
            values.append(None)
        else:
            values.append(value_at(run.walk.cursor.base, &places[at], kind_of(run, &places[at], at, number, is_rule).code, Uuid))
    try:
        outcome = (program.plan.rules if is_rule else program.plan.singles)[number](*values)
        if outcome is None:
            return DONE
        if outcome is DROPPED:
            return drop_element(run, &places[reads])
        if len(<tuple?>outcome) != count - reads:
            raise ValueError(f"an action gave {len(outcome)} values for {count - reads}")
        for at in range(reads, count):
            new = (<tuple>outcome)[at - reads]
            if new is values[at] or new == values[at]:
                continue
            kind = kind_of(run, &places[at], at, number, is_rule)
            content = plain_content(kind, new)
            if content is None:
                content = content_of(kind.code, kind.nullable, new)
            if content is None:
                put_content(run, &places[at], kind, NULL, 0)
                continue
            made = <Made*>malloc(sizeof(Made) + PyBytes_GET_SIZE(content))
            if made is NULL:
                raise MemoryError
            made.next, run.edited.made = run.edited.made, made
            memcpy(<uint8_t*>(made + 1), PyBytes_AS_STRING(content), PyBytes_GET_SIZE(content))
            put_content(run, &places[at], kind, <Bytes>(made + 1), PyBytes_GET_SIZE(content))
    except (EncodeError, WireError):
        return FAILED
    return DONE


@cython.final
cdef class EditProgram:
    """`kwire.codec._pure.edits.EditProgram`; `capsule` is the door of native code, see codec/edit_run.pxd."""

    cdef CompiledEdit edit
    cdef readonly object plan
    cdef readonly object capsule
    cdef object header
    cdef object pure
    cdef list texts  # what the C structs point into
    cdef list blocks

    def __cinit__(self, plan, header):
        marking = plan.marking
        self.plan, self.header = plan, header
        self.texts, self.blocks = [], []
        self.edit.owner = <void*>self
        self.edit.registers = len(marking.registers)
        marked_lower(&self.edit.marked, marking)
        program_lower(&self.edit.header, header.plan, 0)
        self.edit.single_kinds = kinds_of(marking.leaves, marking.singles)
        self.edit.register_kinds = kinds_of(marking.leaves, marking.registers)
        self.edit.singles = <Action*>self.room(max(len(plan.singles), 1) * sizeof(Action))
        self.edit.rules = <Action*>self.room(max(len(plan.rules), 1) * sizeof(Action))
        for at, action in enumerate(plan.singles):
            self.lower(&self.edit.singles[at], action, None)
        for at, action in enumerate(plan.rules):
            shape = marking.rules[at]
            self.lower(&self.edit.rules[at], action, [
                -1 if register < 0 else marking.leaves[marking.registers[register]].code for register in (*shape.reads, *shape.writes)
            ])
        self.edit.door.run = run_edit
        self.edit.door.program = &self.edit
        self.capsule = PyCapsule_New(&self.edit, "kwire.codec.edit", NULL)

    def __dealloc__(self):
        marked_release(&self.edit.marked)
        program_release(&self.edit.header)
        PyMem_Free(self.edit.single_kinds)
        PyMem_Free(self.edit.register_kinds)

    def pieces(self, frame, Py_ssize_t id_at, bytes correlation_id, bint framed):
        """As the pure twin."""
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
        raise AssertionError(f"the pure twin edits a frame of {self.plan.marking.plan.message} that the native twin refuses")

    @cython.critical_section
    cdef object pure_program(self):
        """What says what is wrong with a frame."""
        if self.pure is None:
            self.pure = PureProgram(self.plan, self.header)
        return self.pure

    # lowering

    cdef void* room(self, Py_ssize_t size) except NULL:
        """Memory of zeros that lives as long as the program."""
        block = PyBytes_FromStringAndSize(NULL, size)
        self.blocks.append(block)
        return memset(PyBytes_AS_STRING(block), 0, size)

    cdef Text text(self, str text):
        content = text.encode()
        self.texts.append(content)
        return Text(<Bytes>PyBytes_AS_STRING(content), <int32_t>PyBytes_GET_SIZE(content))

    cdef const Names* names(self, object names) except? NULL:
        """NULL for what only Python can do."""
        cdef Names* made
        if type(names) is not AddPrefix and type(names) is not RemovePrefix and type(names) is not dict:
            return NULL
        made = <Names*>self.room(sizeof(Names))
        if type(names) is dict:
            if not all([is_plain(each) for pair in names.items() for each in pair]):
                return NULL
            made.kind = NAMES_MAP
            made.mask = (1 << (2 * len(names)).bit_length()) - 1
            made.slots = <NameSlot*>self.room((made.mask + 1) * sizeof(NameSlot))
            for old, new in names.items():
                name_put(made, self.text(old), self.text(new))
            return made
        made.kind = NAMES_ADD if type(names) is AddPrefix else NAMES_REMOVE
        made.prefix = self.text(names.prefix)
        made.empty = names.empty
        if made.kind == NAMES_REMOVE:
            made.foreign = FOREIGN[names.foreign]
        return made

    cdef bint typed(self, Action* action, dict by_type) except -1:
        if len(by_type) > MOST_TYPES:
            return False
        for kind, each in by_type.items():
            names = self.names(each.names)
            if names is NULL or not -128 <= kind <= 127:
                return False
            action.by_type[action.types] = TypedNames(kind, names)
            action.types += 1
        return True

    cdef int lower(self, Action* action, object given, list codes) except -1:
        """Fill an action; `codes` are those of what a rule reads and writes, None of a single."""
        cdef type kind = type(given)
        if kind is Rename:
            action.names = self.names(given.names)
            if action.names is not NULL:
                action.kind = RENAME
        elif kind is RefuseValue:
            action.kind = REFUSE_VALUE
        elif kind is RemoveText:
            action.text, action.blank = self.text(given.text), given.blank
            if action.text.size:
                action.kind = REMOVE_TEXT
        elif kind is RenameResource and all([code == INT8 or code < 0 for code in codes[:-1]]) and self.typed(action, given.by_type):
            action.kind, action.refuses_others, action.acl = RENAME_RESOURCE, given.others == "refuse", given.acl
        elif kind is RenameKey and (codes[0] == INT8 or codes[0] < 0) and self.typed(action, given.by_type):
            action.kind = RENAME_KEY
        elif kind is ChangeAddress and type(given.addresses) is AddressTable and codes[-1] in (INT32, UINT16):
            if not given.has_node or codes[0] in (INT32, -1):
                action.has_node, action.has_listener = given.has_node, given.has_listener
                action.addresses = self.addresses(given.addresses)
                action.kind = CHANGE_ADDRESS
        elif kind is LimitRange and codes == [INT16] * 3:
            action.ranges = self.ranges(given.limits)
            if action.ranges is not NULL:
                action.kind = LIMIT_RANGE
        return 0

    cdef const AddressList* addresses(self, object table) except NULL:
        cdef AddressList* made = <AddressList*>self.room(sizeof(AddressList))
        entries = [(key, "", value) if isinstance(key, int) else (*key, value) for key, value in table.addresses.items()]
        entries.sort(key=by_node)
        made.entries = <AddressEntry*>self.room(max(len(entries), 1) * sizeof(AddressEntry))
        for node, listener, (host, port) in entries:
            if not -1 <= node < 1 << 31:
                continue  # no message says it
            made.entries[made.count] = AddressEntry(node, port, self.text(listener) if listener else Text(NULL, 0), self.text(host))
            made.count += 1
        made.kept = <Text*>self.room(max(len(table.kept_listeners), 1) * sizeof(Text))
        for listener in table.kept_listeners:
            made.kept[made.kept_count] = self.text(listener)
            made.kept_count += 1
        made.keeps_unknown = table.unknown == "keep"
        return made

    cdef const Ranges* ranges(self, object limits) except? NULL:
        cdef Ranges* made
        cdef int key
        if not all([0 <= each < LIMITED_KEYS for each in limits.ranges]):
            return NULL
        made = <Ranges*>self.room(sizeof(Ranges))
        for key in range(LIMITED_KEYS):
            made.low[key], made.high[key] = limits.range_of(key) or (1, 0)
        made.other_low, made.other_high = limits.range_of(LIMITED_KEYS) or (1, 0)
        return made


def is_plain(text):
    """Whether it is a text that a name may be."""
    try:
        return isinstance(text, str) and len(text.encode()) <= LONGEST_TEXT
    except UnicodeEncodeError:
        return False


def by_node(entry):
    """The order of `AddressList`: of a node those with a listener come first."""
    return entry[0], not entry[1], entry[1]


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
