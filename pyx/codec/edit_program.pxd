"""An edit as C structs, and what its actions do at the places that the walk has found. The readable contract is `kwire.codec._pure.edits`
with the actions of `kwire.codec.edit_actions`."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport realloc
from libc.string cimport memcmp, memcpy

from codec.edit_run cimport Change, EditDoor, Edited
from codec.edit_tables cimport (
    FOREIGN_DROP, FOREIGN_KEEP, LIMITED_KEYS, NAMES_ADD, NAMES_MAP, AddressEntry, AddressList, Names, Ranges, Text, address_found,
    find_text, is_text, name_found, starts_with, store_length,
)
from codec.marked_program cimport MarkedProgram
from codec.program cimport STRING, UINT16, Program
from codec.skip cimport LONGEST_TEXT
from codec.span_walk cimport MISSING, SpanWalk
from codec.spans cimport NotedArray, Pattern, Place
from codec.edit_values cimport Kind
from wire.cursor cimport Bytes, load_16, load_32

cdef enum ActionKind:
    IN_PYTHON = 0
    RENAME = 1
    RENAME_RESOURCE = 2
    RENAME_KEY = 3
    CHANGE_ADDRESS = 4
    REFUSE_VALUE = 5
    REMOVE_TEXT = 6
    LIMIT_RANGE = 7
    SET_VALUE = 8
    # of what Python has to do, that which needs no call of the action
    APPLY = 9
    LOOK_UP = 10

cdef enum:
    RAISED = -1  # a Python exception
    FAILED = 0  # the frame cannot be edited
    DONE = 1
    MOST_TYPES = 4
    LITERAL_PATTERN = 3
    NO_TYPE = -1

cdef struct TypedNames:
    int32_t type
    const Names* names

cdef struct Action:
    int32_t kind
    const Names* names
    TypedNames by_type[MOST_TYPES]
    int32_t types
    bint refuses_others
    bint acl
    const AddressList* addresses
    bint has_node
    bint has_listener
    Text text  # of a value that is set: no bytes for null
    bint blank
    PyObject* function  # or a dict, borrowed
    bint is_needed  # its place must be there
    const Ranges* ranges

cdef struct ActionSet:
    Action* singles  # of each choice
    Action* rules
    Py_ssize_t single_count
    bint needs  # some place must be there
    void* owner  # the Python object, borrowed

cdef struct CompiledEdit:
    EditDoor door
    MarkedProgram marked
    Program header
    int32_t registers
    Kind* single_kinds
    Kind* register_kinds
    Pattern* patterns  # of each choice; NULL: each single is a choice
    int32_t* first_choice  # of each single, one more than there are
    ActionSet* actions

# One message.
cdef struct EditRun:
    SpanWalk walk
    const CompiledEdit* program
    const ActionSet* actions
    Edited* edited
    Py_ssize_t offset  # of the message
    bint strict  # it ends where the bytes end
    PyObject* data  # of a splice, whose errors are raised at once; else NULL


cdef inline Change* add_change(EditRun* run, const Place* place, int32_t start, int32_t stop) except NULL nogil:
    """A change without bytes."""
    cdef Edited* edited = run.edited
    cdef Py_ssize_t room
    cdef Change* more
    if edited.count == edited.room:
        room = 2 * edited.room
        more = <Change*>realloc(NULL if edited.changes is edited.few else edited.changes, room * sizeof(Change))
        if more is NULL:
            with gil:
                raise MemoryError
        if edited.changes is edited.few:
            memcpy(more, edited.few, edited.room * sizeof(Change))
        edited.changes, edited.room = more, room
    more = &edited.changes[edited.count]
    more.start, more.stop = start, stop
    more.size, more.head_size, more.content = 0, 0, NULL
    more.section = more.element = -1
    if place is not NULL:
        more.section, more.element = place.section, place.element
    edited.count += 1
    return more


cdef inline void put_length(Change* change, const Kind* kind, Py_ssize_t size) noexcept nogil:
    change.head_size = <uint8_t>store_length(change.head, size, kind.compact, 2 if kind.code == STRING else 4)


cdef inline int put_content(EditRun* run, const Place* place, const Kind* kind, Bytes content, Py_ssize_t size) except -1 nogil:
    """Write a value of any length, NULL for null; nothing where it is there already."""
    cdef Change* change
    if content is NULL:
        if not place.null:
            put_length(add_change(run, place, place.begin, place.stop), kind, -1)
    elif not place.null and size == place.stop - place.content:
        if size and memcmp(content, run.walk.cursor.base + place.content, size):
            change = add_change(run, place, place.content, place.stop)
            change.content, change.size = content, <int32_t>size
    else:
        change = add_change(run, place, place.begin, place.stop)
        if place.begin != place.content or place.null:
            put_length(change, kind, size)
        change.content, change.size = content, <int32_t>size
    return DONE


cdef inline int drop_element(EditRun* run, const Place* place) noexcept nogil:
    if place.element < 0:
        return FAILED
    run.walk.elements[place.element].is_dropped = True
    return DONE


cdef inline int rename(EditRun* run, const Place* place, const Kind* kind, const Names* names) except -1 nogil:
    cdef Bytes old = run.walk.cursor.base + place.content
    cdef int32_t size = place.stop - place.content
    cdef int32_t grown = names.prefix.size
    cdef const Text* new
    cdef Change* change
    if place.null:
        return DONE
    if names.kind == NAMES_MAP:
        new = name_found(names, old, size)
        return DONE if new is NULL else put_content(run, place, kind, new.bytes, new.size)
    if names.kind == NAMES_ADD:
        if size == 0 and not names.empty:
            return DONE
        if size + grown > <int32_t>LONGEST_TEXT:
            return FAILED
        change = add_change(run, place, place.begin, place.content)
        put_length(change, kind, size + grown)
        change.content, change.size = names.prefix.bytes, grown
        return DONE
    if starts_with(old, size, &names.prefix):
        put_length(add_change(run, place, place.begin, place.content + grown), kind, size - grown)
        return DONE
    if names.foreign == FOREIGN_KEEP or (size == 0 and not names.empty):
        return DONE
    return drop_element(run, place) if names.foreign == FOREIGN_DROP else <int>FAILED


cdef inline int32_t small_number(const EditRun* run, const Place* place) noexcept nogil:
    return NO_TYPE if place.begin == MISSING else <signed char>run.walk.cursor.base[place.content]


cdef inline const Names* names_of_type(const Action* action, int32_t kind) noexcept nogil:
    cdef int32_t at
    for at in range(action.types):
        if action.by_type[at].type == kind:
            return action.by_type[at].names
    return NULL


cdef inline int rename_resource(EditRun* run, const Action* action, const Place* places, int32_t count, const Kind* kind) except -1 nogil:
    """RenameResource.__call__; without a type its value is None, which no mapping has."""
    cdef const Place* place = &places[count - 1]
    cdef const Names* names
    cdef int32_t pattern = LITERAL_PATTERN if count < 3 else small_number(run, &places[1])
    cdef int32_t size = place.stop - place.content
    names = NULL if places.begin == MISSING else <Names*>names_of_type(action, small_number(run, places))
    if names is not NULL and action.acl and (place.null or size == 0 or (size == 1 and run.walk.cursor.base[place.content] == 42)):  # *
        return DONE
    if names is not NULL and pattern == LITERAL_PATTERN:
        return rename(run, place, kind, names)
    return FAILED if action.refuses_others else <int>DONE


cdef inline int change_address(
    EditRun* run, const Action* action, const Place* places, const Kind* host_kind, const Kind* port_kind
) except -1 nogil:
    """ChangeAddress.__call__ with an AddressTable."""
    cdef Bytes base = run.walk.cursor.base
    cdef const Place* host = &places[action.has_node + action.has_listener]
    cdef const Place* port = host + 1
    cdef const Place* named = host - 1
    cdef const AddressList* addresses = action.addresses
    cdef const AddressEntry* entry
    cdef Change* change
    cdef Py_ssize_t at
    cdef Text listener = Text(NULL, 0)
    cdef int32_t node = -1
    cdef bint narrow = port_kind.code == UINT16
    if host.null or host.stop == host.content:
        return DONE
    if action.has_node and places.begin != MISSING:
        node = <int32_t>load_32(base + places.content)
        if node < 0:
            return DONE
    if action.has_listener and named.begin != MISSING and not named.null:
        listener = Text(base + named.content, named.stop - named.content)
        for at in range(addresses.kept_count):
            if is_text(&addresses.kept[at], listener.bytes, listener.size):
                return DONE
    entry = address_found(addresses, node, &listener)
    if entry is NULL:
        return DONE if addresses.keeps_unknown else <int>FAILED
    if narrow and entry.port > 0xFFFF:
        return FAILED
    put_content(run, host, host_kind, entry.host.bytes, entry.host.size)
    if entry.port != <int32_t>(load_16(base + port.content) if narrow else load_32(base + port.content)):
        change = add_change(run, port, port.content, port.stop)
        change.head_size = <uint8_t>store_length(change.head, entry.port, False, 2 if narrow else 4)
    return DONE


cdef inline int remove_text(EditRun* run, const Action* action, const Place* place, const Kind* kind) except -1 nogil:
    cdef Bytes old = run.walk.cursor.base + place.content
    cdef Py_ssize_t size = place.stop - place.content
    cdef Py_ssize_t first = 0 if place.null else find_text(old, size, &action.text, 0)
    cdef Py_ssize_t at, found = 0
    if place.null or first < 0:
        return DONE
    if action.blank:
        return put_content(run, place, kind, old, 0)
    at = first
    while at >= 0:
        found += 1
        at = find_text(old, size, &action.text, at + action.text.size)
    put_length(add_change(run, place, place.begin, place.content), kind, size - found * action.text.size)
    at = first
    while at >= 0:
        add_change(run, place, place.content + <int32_t>at, place.content + <int32_t>at + action.text.size)
        at = find_text(old, size, &action.text, at + action.text.size)
    return DONE


cdef inline int limit_range(EditRun* run, const Action* action, const Place* places) except -1 nogil:
    cdef Bytes base = run.walk.cursor.base
    cdef int key = load_16(base + places.content)
    cdef int low = <short>load_16(base + places[1].content)
    cdef int high = <short>load_16(base + places[2].content)
    cdef const Ranges* ranges = action.ranges
    cdef int least = ranges.low[key] if key < LIMITED_KEYS else ranges.other_low
    cdef int most = ranges.high[key] if key < LIMITED_KEYS else ranges.other_high
    cdef Change* change
    if max(low, least) > min(high, most):
        return drop_element(run, &places[2])
    if least > low:
        change = add_change(run, &places[1], places[1].content, places[1].stop)
        change.head_size = <uint8_t>store_length(change.head, least, False, 2)
    if most < high:
        change = add_change(run, &places[2], places[2].content, places[2].stop)
        change.head_size = <uint8_t>store_length(change.head, most, False, 2)
    return DONE


cdef inline int spread_drops(EditRun* run) noexcept nogil:
    cdef SpanWalk* walk = &run.walk
    cdef Py_ssize_t at
    cdef int32_t outer
    for at in range(walk.element_count):
        outer = walk.arrays[walk.elements[at].array].element
        if outer >= 0 and walk.elements[outer].is_dropped:
            walk.elements[at].is_dropped = True
        walk.arrays[walk.elements[at].array].dropped += walk.elements[at].is_dropped
    return 0


cdef inline bint is_gone(const SpanWalk* walk, int32_t element) noexcept nogil:
    return element >= 0 and walk.elements[element].is_dropped


cdef inline void leave_out_dropped(EditRun* run) noexcept nogil:
    """Changes inside dropped elements are none."""
    cdef Edited* edited = run.edited
    cdef Py_ssize_t at, kept = 0
    for at in range(edited.count):
        if not is_gone(&run.walk, edited.changes[at].element):
            if kept != at:
                edited.changes[kept] = edited.changes[at]
            kept += 1
    edited.count = kept


cdef inline int drop_elements(EditRun* run) except -1 nogil:
    cdef SpanWalk* walk = &run.walk
    cdef NotedArray* array
    cdef Change* change
    cdef Py_ssize_t at
    for at in range(walk.element_count):
        array = &walk.arrays[walk.elements[at].array]
        if walk.elements[at].is_dropped and not is_gone(walk, array.element):
            change = add_change(run, NULL, walk.elements[at].begin, walk.elements[at].stop)
            change.section = array.section
    for at in range(walk.array_count):
        array = &walk.arrays[at]
        if array.dropped and not is_gone(walk, array.element):
            change = add_change(run, NULL, array.begin, array.stop)
            change.section = array.section
            change.head_size = <uint8_t>store_length(change.head, array.count - array.dropped, array.compact, 4)
    return 0


cdef inline int resize_sections(EditRun* run) except -1 nogil:
    """_Changes._sections, once all other changes are known."""
    cdef SpanWalk* walk = &run.walk
    cdef Edited* edited = run.edited
    cdef Change* change
    cdef Py_ssize_t at, delta
    for at in range(edited.count):
        change = &edited.changes[at]
        if change.section >= 0:
            walk.sections[change.section].delta += change.head_size + change.size - (change.stop - change.start)
    for at in range(walk.section_count - 1, -1, -1):  # those inside a tagged field come behind it
        delta = walk.sections[at].delta
        if delta:
            change = add_change(run, NULL, <int32_t>walk.sections[at].begin, <int32_t>walk.sections[at].stop)
            change.head_size = <uint8_t>store_length(change.head, walk.sections[at].size + delta - 1, True, 0)
            if walk.sections[at].parent >= 0:
                walk.sections[walk.sections[at].parent].delta += delta + change.head_size - (change.stop - change.start)
    return 0
