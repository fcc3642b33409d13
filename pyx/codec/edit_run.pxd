"""Running an edit without the GIL: what native code needs of `kwire.codec._native.edits`.

    edit = edit_of(capsule)                            `Edit.program.capsule`; good while the program lives
    edit_frame(edit, frame, size, &edited)             1: done; 0: the frame cannot be edited; -1: a Python exception
    edited.changes[0 .. edited.count - 1]              what becomes of the frame, in its order
    edited_free(&edited)                               always

A change takes the place of the frame's bytes from `start` to `stop`: first `head`, then `content`, which lies in memory of the edit, of
`edited` or of the frame.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from wire.cursor cimport Bytes

cdef enum:
    LONGEST_HEAD = 8
    FEW_CHANGES = 6

cdef struct Change:
    int32_t start
    int32_t stop
    int32_t size  # of the content
    int32_t section  # around it, of the walk; -1 where there is none
    int32_t element
    uint8_t head_size
    uint8_t head[LONGEST_HEAD]
    Bytes content

# Memory that Python made for one frame; its bytes lie behind it.
cdef struct Made:
    Made* next

cdef struct Edited:
    Change* changes
    Py_ssize_t count
    Py_ssize_t room
    Made* made
    Py_ssize_t size  # of the edited frame
    Change few[FEW_CHANGES]  # most frames have no more

ctypedef int (*RunFunction)(const void* program, Bytes frame, Py_ssize_t size, Edited* edited) except -1 nogil

cdef struct EditDoor:
    # The first member of each program
    RunFunction run
    const void* program


cdef inline const EditDoor* edit_of(object capsule) except NULL:
    return <const EditDoor*>PyCapsule_GetPointer(capsule, "kwire.codec.edit")


cdef inline void edited_open(Edited* edited, Py_ssize_t size) noexcept nogil:
    edited.changes, edited.made = edited.few, NULL
    edited.count, edited.room = 0, FEW_CHANGES
    edited.size = size


cdef inline int edit_frame(const EditDoor* edit, Bytes frame, Py_ssize_t size, Edited* edited) except -1 nogil:
    """Work out what becomes of a frame without its length; 0 where it cannot be read or a new value does not fit."""
    edited_open(edited, size)
    return edit.run(edit.program, frame, size, edited)


cdef inline void edited_free(Edited* edited) noexcept nogil:
    cdef Made* made = edited.made
    cdef Made* following
    if edited.changes is not edited.few:
        free(edited.changes)
    while made is not NULL:
        following = made.next
        free(made)
        made = following
    edited.changes, edited.made = edited.few, NULL


cdef inline uint8_t* store_change(const Change* change, uint8_t* out) noexcept nogil:
    """Write what a change puts into the frame; gives what follows."""
    memcpy(out, change.head, change.head_size)
    out += change.head_size
    if change.size:
        memcpy(out, change.content, change.size)
    return out + change.size
