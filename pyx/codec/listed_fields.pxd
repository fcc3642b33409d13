"""The fields of a message that were chosen, and those that no version defines, as a walk lists them in bytes of any quality.

C-level entry for other modules: `fields_list`, `fields_free`, and what `ListedFields` has then. The contract is
`kwire.codec.field_spans.FieldWalker`.
"""

from libc.stdint cimport int32_t

from codec.marked_program cimport MarkedProgram
from codec.span_walk cimport SpanWalk, walk_block, walk_clear, walk_close, walk_open
from codec.spans cimport Place
from wire.cursor cimport OK, Bytes

cdef enum:
    FEW = 8  # fields for which a walk needs no memory of its own

cdef struct ListedFields:
    SpanWalk walk
    Place[FEW] few
    Py_ssize_t count
    Py_ssize_t end  # offset up to which the message is understood
    int code  # the Fault that ended the walk, OK for none
    bint no_memory


cdef inline void fields_list(
    ListedFields* found, const MarkedProgram* program, Bytes data, Py_ssize_t size, Py_ssize_t offset, bint whole
) noexcept nogil:
    """List the fields of the message at an offset, whose end was cut off unless it is `whole`; `fields_free` comes after it."""
    walk_clear(&found.walk)
    found.walk.places = found.walk.few_places = found.few
    found.walk.place_room = FEW
    found.walk.lists = True
    found.walk.cut = not whole
    walk_open(&found.walk, program, data, size, offset)
    walk_block(&found.walk, 0)
    found.code = found.walk.cursor.code
    found.end = (found.walk.cursor.p if found.code == OK else found.walk.understood) - data
    found.count = found.walk.place_count
    found.no_memory = found.walk.no_memory


cdef inline int32_t field_at(const ListedFields* found, Py_ssize_t number, Py_ssize_t* begin, Py_ssize_t* stop) noexcept nogil:
    """Return the index of a field's choice, -1 for an unknown tagged field; `begin` and `stop` receive its bounds."""
    begin[0] = found.walk.places[number].content
    stop[0] = found.walk.places[number].stop
    return found.walk.places[number].choice


cdef inline void fields_free(ListedFields* found) noexcept nogil:
    walk_close(&found.walk)
