# Part of codec/edits.pyx: the actions of an edit, lowered from `kwire.codec.edit_actions`.

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from libc.string cimport memset

from codec.edit_program cimport (
    APPLY, CHANGE_ADDRESS, LIMIT_RANGE, LOOK_UP, MOST_TYPES, REFUSE_VALUE, REMOVE_TEXT, RENAME, RENAME_KEY, RENAME_RESOURCE, SET_VALUE,
    Action, ActionSet, TypedNames,
)
from codec.edit_tables cimport (
    FOREIGN_DROP, FOREIGN_KEEP, FOREIGN_REFUSE, LIMITED_KEYS, NAMES_ADD, NAMES_MAP, NAMES_REMOVE, AddressEntry, AddressList, Names,
    NameSlot, Ranges, Text, name_put,
)
from codec.program cimport INT8, INT16, INT32, UINT16
from codec.skip cimport LONGEST_TEXT
from wire.cursor cimport Bytes

from kwire.codec.broker_addresses import AddressTable, ChangeAddress
from kwire.codec.edit_actions import (
    ApplyFunction, LimitRange, MapValue, RefuseValue, RemoveText, Rename, RenameKey, RenameResource, SetValue,
)
from kwire.codec.edit_names import AddPrefix, RemovePrefix

cdef dict FOREIGN = {"refuse": FOREIGN_REFUSE, "drop": FOREIGN_DROP, "keep": FOREIGN_KEEP}


@cython.final
cdef class Actions:
    """Lowered actions of an edit; mappings of more than `most` names are not lowered."""

    cdef ActionSet set
    cdef object marking
    cdef tuple singles
    cdef tuple rules
    cdef Py_ssize_t most
    cdef list held  # memory of the C structs

    def __cinit__(self, marking, tuple singles, tuple rules, Py_ssize_t most=0x7FFFFFFF):
        cdef Py_ssize_t at
        self.marking, self.singles, self.rules, self.most = marking, singles, rules, most
        self.held = []
        self.set.owner = <void*>self
        self.set.single_count = len(singles)
        self.set.singles = <Action*>self.room((len(singles) + len(rules) + 1) * sizeof(Action))
        self.set.rules = self.set.singles + len(singles)
        for at in range(len(singles)):
            self.lower(&self.set.singles[at], singles[at])
        for at in range(len(rules)):
            self.lower_rule(&self.set.rules[at], rules[at], marking.rules[at])

    cdef void* room(self, Py_ssize_t size) except NULL:
        """Memory of zeros that lives as long as the actions."""
        block = zeros(size)
        self.held.append(block)
        return PyBytes_AS_STRING(block)

    cdef Text text(self, str text):
        return self.content(text.encode())

    cdef Text content(self, bytes content):
        self.held.append(content)
        return Text(<Bytes>PyBytes_AS_STRING(content), <int32_t>PyBytes_GET_SIZE(content))

    cdef const Names* names(self, object names) except? NULL:
        """NULL for what only Python can do."""
        cdef Names* made
        if type(names) is not AddPrefix and type(names) is not RemovePrefix and type(names) is not dict:
            return NULL
        if type(names) is dict:
            names = names.copy()  # another thread may change it
            if len(names) > self.most or not all([is_plain(each) for pair in names.items() for each in pair]):
                return NULL
            made = <Names*>self.room(sizeof(Names))
            made.kind = NAMES_MAP
            made.mask = (1 << (2 * len(names)).bit_length()) - 1
            made.slots = <NameSlot*>self.room((made.mask + 1) * sizeof(NameSlot))
            for old, new in names.items():
                name_put(made, self.text(old), self.text(new))
            return made
        made = <Names*>self.room(sizeof(Names))
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

    cdef int lower(self, Action* action, object given) except -1:
        """Fill the action of a single; what is not lowered is called."""
        cdef type kind = type(given)
        if kind is SetValue:
            action.kind, action.is_needed = SET_VALUE, bool(given.path)
            self.set.needs |= action.is_needed
            if given.content is not None:
                action.text = self.content(given.content)
        elif kind is Rename or kind is MapValue:
            action.names = self.names(given.names)
            if action.names is not NULL:
                action.kind = RENAME
            elif type(given.names) is dict:
                action.kind, action.function = LOOK_UP, <PyObject*>given.names
                self.held.append(given.names)
        elif kind is ApplyFunction:
            action.kind, action.function = APPLY, <PyObject*>given.function
            self.held.append(given.function)
        elif kind is RefuseValue:
            action.kind = REFUSE_VALUE
        elif kind is RemoveText and given.text:
            action.kind, action.text, action.blank = REMOVE_TEXT, self.text(given.text), given.blank
        return 0

    cdef int lower_rule(self, Action* action, object given, object shape) except -1:
        """Fill the action of a rule; what is not lowered is called."""
        cdef type kind = type(given)
        cdef list codes
        if kind is not RenameResource and kind is not RenameKey and kind is not ChangeAddress and kind is not LimitRange:
            return 0
        codes = [-1 if each < 0 else self.marking.leaves[self.marking.registers[each]].code for each in (*shape.reads, *shape.writes)]
        if kind is RenameResource:
            if all([code == INT8 or code < 0 for code in codes[:-1]]) and self.typed(action, given.by_type):
                action.kind, action.refuses_others, action.acl = RENAME_RESOURCE, given.others == "refuse", given.acl
        elif kind is RenameKey:
            if (codes[0] == INT8 or codes[0] < 0) and self.typed(action, given.by_type):
                action.kind = RENAME_KEY
        elif kind is LimitRange:
            if codes == [INT16] * 3:
                action.ranges = self.ranges(given.limits)
                if action.ranges is not NULL:
                    action.kind = LIMIT_RANGE
        elif type(given.addresses) is AddressTable and len(given.addresses.addresses) <= self.most and codes[-1] in (INT32, UINT16):
            if given.has_node and codes[0] not in (INT32, -1):
                return 0
            action.has_node, action.has_listener = given.has_node, given.has_listener
            action.addresses = self.addresses(given.addresses)
            action.kind = CHANGE_ADDRESS
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


cdef bytes zeros(Py_ssize_t size):
    made = PyBytes_FromStringAndSize(NULL, size)
    memset(PyBytes_AS_STRING(made), 0, size)
    return made


def is_plain(text):
    try:
        return isinstance(text, str) and len(text.encode()) <= LONGEST_TEXT
    except UnicodeEncodeError:
        return False


def by_node(entry):
    """The order of `AddressList`: of a node those with a listener come first."""
    return entry[0], not entry[1], entry[1]
