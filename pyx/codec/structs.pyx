# cython: language_level=3
"""Message objects of the native backend: one type per struct, made from its layout. The readable contract is `kwire.codec._pure.structs`.

The types are made at run time, with a slot at a fixed offset for each field, so that the decoder stores values without any lookup. Objects
whose slots hold only numbers, text and bytes are invisible to the cyclic garbage collector: keeping a million of them costs a collection
nothing. The price: a reference cycle that a user ties through such an object is never freed (as with `gc=False` in msgspec).
"""

import copyreg

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

from build_id cimport build_id
from codec.slotted cimport (
    Attribute, is_slotted, pool_make, slot_count, slot_get, slot_owned, slot_replace, slot_swap, slots_of, slotted_new, slotted_type,
)

from kwire.codec.class_descriptions import by_current_names, replace, shown_fields, text_of
from kwire.codec.layout import Default
from kwire.codec.memory_views import owned

__all__ = ["MessageObject", "make_classes"]  # and POOL and LATER, for the other modules of this backend alone
__build__ = build_id()

POOL = pool_make()
# In the slot of a struct that the wire left out: its object of defaults is made when somebody asks for it. Most are never looked at (a
# FetchResponse has three in each partition). It never leaves this backend.
LATER = object()
cdef PyObject* later = <PyObject*>LATER

cdef enum:
    CONSTANT = 0
    LIST = 1
    STRUCT = 2

assert (CONSTANT, LIST, STRUCT) == (Default.CONSTANT, Default.LIST, Default.STRUCT)

cdef extern from "Python.h":
    void PyObject_GC_Track(PyObject* self)
    PyTypeObject* Py_TYPE(object self)
    PyObject* PyDict_GetItemWithError(dict values, object key) except? NULL
    bint PyType_IS_GC(PyTypeObject* type)
    const char* PyUnicode_AsUTF8(object text) except NULL


@cython.final
cdef class ClassInfo:
    """Facts of a class for the methods of `MessageObject`: slot names and defaults."""

    cdef tuple names  # of the slots, `unknown_tagged_fields` the last
    cdef tuple values  # constants; the index of the class for STRUCT
    cdef bytes defaults  # a byte each: CONSTANT, LIST, STRUCT
    cdef bytes scalar_arrays
    cdef public tuple classes

    def __cinit__(self, layout):
        self.names = (*[slot.attribute for slot in layout.slots], "unknown_tagged_fields")
        self.values = tuple([slot.value for slot in layout.slots])
        self.defaults = bytes([slot.default for slot in layout.slots])
        self.scalar_arrays = bytes([slot.scalar_array for slot in layout.slots])


cdef ClassInfo class_info_of(object message):
    """Return the facts of an object's class, checked against its number of slots, because users can change classes."""
    cdef PyTypeObject* kind = Py_TYPE(message)
    cdef object found
    if is_slotted(kind):
        found = type(message).class_info
        if type(found) is ClassInfo and len((<ClassInfo>found).names) == slot_count(kind):
            return found
    raise TypeError(f"{type(message).__qualname__} is not a class that make_classes made")


cdef int put(object message, Py_ssize_t index, object value) except -1:
    Py_INCREF(value)
    Py_XDECREF(slot_swap(<void*>message, index, <PyObject*>value))
    return 0


cdef int fill_later(object message, ClassInfo class_info, Py_ssize_t index) except -1:
    made = class_info.classes[class_info.values[index]]()
    Py_INCREF(made)
    slot_replace(<void*>message, index, later, <PyObject*>made)  # making it may have run anything, and another thread may have been quicker
    return 0


cdef int fill_all(object message, ClassInfo class_info) except -1:
    cdef PyObject** slots = slots_of(<void*>message)
    cdef Py_ssize_t index
    for index in range(len(class_info.names)):
        if slots[index] is later:
            fill_later(message, class_info, index)
    return 0


cdef object get_later(object message, void* index):
    cdef PyObject* value = slot_get(<void*>message, <Py_ssize_t>index)
    if value is later:
        fill_later(message, class_info_of(message), <Py_ssize_t>index)
        Py_XDECREF(value)
        value = slot_get(<void*>message, <Py_ssize_t>index)
    if value is NULL:
        raise AttributeError(class_info_of(message).names[<Py_ssize_t>index])
    return slot_owned(value)


cdef int set_later(object message, PyObject* value, void* index) except -1:
    cdef PyObject* old
    if value is not NULL:
        return put(message, <Py_ssize_t>index, <object>value)
    old = slot_swap(<void*>message, <Py_ssize_t>index, NULL)
    if old is NULL:
        raise AttributeError(class_info_of(message).names[<Py_ssize_t>index])
    Py_XDECREF(old)
    return 0


cdef dict values_of(object message):
    """The slots that hold something, in order."""
    cdef ClassInfo class_info = class_info_of(message)
    cdef tuple names = class_info.names
    cdef PyObject* value
    cdef Py_ssize_t index
    cdef dict found = {}
    fill_all(message, class_info)
    for index in range(len(names)):
        value = slot_get(<void*>message, index)
        if value is not NULL:
            found[names[index]] = slot_owned(value)
    return found


cdef class MessageObject:
    """Base of all message classes. Slots outside a projection stay empty; reading one raises AttributeError."""

    def __init__(self, **values):
        cdef ClassInfo class_info = class_info_of(self)
        cdef const unsigned char* defaults = class_info.defaults
        cdef const unsigned char* scalar_arrays = class_info.scalar_arrays
        cdef Py_ssize_t last = len(class_info.names) - 1
        cdef Py_ssize_t used = 0
        cdef Py_ssize_t index
        cdef PyObject* given
        cdef object value
        for index in range(last):
            given = PyDict_GetItemWithError(values, class_info.names[index])
            if given is not NULL:
                used += 1
                value = <object>given
                if scalar_arrays[index] and type(value) is list:
                    value = tuple(<list>value)
            elif defaults[index] == CONSTANT:
                value = class_info.values[index]
            elif defaults[index] == LIST:
                value = []
            else:
                value = LATER
            put(self, index, value)
        value = ()
        if used < len(values) and class_info.names[last] in values:
            used += 1
            value = tuple(values[class_info.names[last]])
        put(self, last, value)
        if used != len(values):
            MessageObject.__init__(self, **by_current_names(type(self), values))

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        cdef ClassInfo class_info = class_info_of(self)
        cdef PyObject* ours
        cdef PyObject* theirs
        cdef Py_ssize_t index
        for index in range(len(class_info.names)):
            ours, theirs = slot_get(<void*>self, index), slot_get(<void*>other, index)
            if (ours is later) != (theirs is later):
                Py_XDECREF(ours)
                Py_XDECREF(theirs)
                fill_later(self if ours is later else other, class_info, index)
                ours, theirs = slot_get(<void*>self, index), slot_get(<void*>other, index)
            if ours is theirs or ours is NULL or theirs is NULL:
                Py_XDECREF(ours)
                Py_XDECREF(theirs)
                if ours is not theirs:
                    return False
                continue  # one object is equal to itself, as in lists; so are two that are empty, or promised
            # values are held while they are compared: a foreign __eq__ may replace them
            mine, yours = slot_owned(ours), slot_owned(theirs)
            if not PyObject_RichCompareBool(mine, yours, Py_EQ):
                return False
        return True

    __hash__ = None

    def __repr__(self):
        return text_of(self, values_of(self))

    def __rich_repr__(self):
        return shown_fields(self, values_of(self))

    def __replace__(self, /, **changes):
        return replace(self, **changes)

    def __copy__(self):
        cdef ClassInfo class_info = class_info_of(self)
        cdef PyTypeObject* kind = Py_TYPE(self)
        cdef PyObject* made
        cdef Py_ssize_t index
        fill_all(self, class_info)  # a copy shares what is in the slots
        made = slotted_new(kind)
        if made is NULL:
            raise MemoryError
        for index in range(len(class_info.names)):
            slots_of(made)[index] = slot_get(<void*>self, index)
        if PyType_IS_GC(kind):
            PyObject_GC_Track(made)
        result = <object>made
        Py_XDECREF(made)
        return result

    def __reduce__(self):
        # The state is set slot by slot, so that an object travels between the twins and slots outside a projection stay empty.
        return copyreg.__newobj__, (type(self),), (None, {name: owned(value) for name, value in values_of(self).items()})


cdef object make_class(object layout):
    cdef ClassInfo class_info = ClassInfo(layout)
    cdef tuple names = class_info.names
    cdef bytes qualified = f"kwire.messages.{layout.name}".encode()
    cdef Attribute* attributes = <Attribute*>PyMem_Calloc(len(names), sizeof(Attribute))
    cdef Py_ssize_t index
    if attributes is NULL:
        raise MemoryError
    try:
        for index in range(len(names)):
            attributes[index].name = PyUnicode_AsUTF8(names[index])
            if index < len(class_info.defaults) and class_info.defaults[index] == STRUCT:
                attributes[index].get = get_later
                attributes[index].set = set_later
        made = slotted_type(qualified, (MessageObject,), attributes, len(names), layout.tracked)
    finally:
        PyMem_Free(attributes)
    # The descriptors of the type point into the names, and a descriptor may outlive every dictionary that holds them: they are never freed.
    Py_INCREF(names)
    if layout.name != layout.message:
        made.__qualname__ = f"{layout.message}.{layout.name}"
    made.layout = layout
    made.slot_names = names
    made.class_info = class_info
    return made


def make_classes(layouts):
    """Make one class per struct of a message."""
    classes = tuple([make_class(layout) for layout in layouts])
    for each in classes:
        each.classes = classes
        each.class_info.classes = classes
    for nested in classes[1:]:
        setattr(classes[0], nested.__name__, nested)
    return classes
