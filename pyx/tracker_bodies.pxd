"""Reads the bodies of a tracked connection that break no rule, by the recipes of the lanes, and puts their first fields into rows.

kwire/protocol/reading.py for what is ordinary; of anything else nothing is said here, and Python reads it.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT32_MIN, int32_t
from libc.stdlib cimport free
from libc.string cimport memset

from cursor cimport Bytes, Cursor, cursor_open
from event_slots cimport EventSlots, replace, set_shared
from lane_fields cimport error_of, take_fields
from lane_groups cimport GroupFields
from lane_plain cimport plain_block
from lane_recipe cimport GROUP_ID, NOT_ASKED, READY, TOPIC_NAME, TRANSACTIONAL_ID, Recipe
from lane_taken cimport Fields, Parts, UseList, fields_open
from python_slots cimport python_slots
from raw_python cimport raw_long, raw_long_long, raw_text_decode
from recipe_book cimport KEYS, PRODUCE, VERSIONS, RecipeBook, recipe_ask
from utf8 cimport is_utf8

cdef enum:
    CORRELATION_ID = 4
    LONGEST_TEXT = 255  # bytes; who has a longer one waits with more than an ordinary request
    KEPT_ENTRIES = 256
    KEPT_USES = 1024

# What is taken out of one body. Python code may run while it is looked at, and in it, in other threads, other connections: so nobody shares
# it, but the memory for its lists is handed on.
cdef struct Body:
    Fields fields
    Parts parts
    UseList uses
    GroupFields group


cdef inline void body_open(Body* body, Body* spare) noexcept nogil:
    """Begin with the memory of `spare`, which has none then."""
    body.parts, body.uses, body.group = spare.parts, spare.uses, spare.group
    memset(spare, 0, sizeof(Body))


cdef inline void body_close(Body* body, Body* spare) noexcept nogil:
    """Hand the memory on to `spare`, unless it is much or `spare` has some by now."""
    if body.uses.room > KEPT_USES or spare.uses.uses is not NULL:
        free(body.uses.uses)
        memset(&body.uses, 0, sizeof(UseList))
    if body.group.room > KEPT_ENTRIES or spare.group.entries is not NULL:
        free(body.group.entries)
        memset(&body.group, 0, sizeof(GroupFields))
    if spare.parts.bytes is not NULL:
        free(body.parts.bytes)
        memset(&body.parts, 0, sizeof(Parts))
    if body.uses.uses is not NULL:
        spare.uses = body.uses
    if body.group.entries is not NULL:
        spare.group = body.group
    if body.parts.bytes is not NULL:
        spare.parts = body.parts


cdef inline const Recipe* recipe_of(RecipeBook* book, bint is_response, int key, int version) except? NULL:
    """How to read a message; NULL where Python reads it."""
    cdef Recipe* recipe
    if not (0 <= key < KEYS and 0 <= version < VERSIONS):
        return NULL
    recipe = (book.responses if is_response else book.requests) + key * VERSIONS + version
    if recipe.state == NOT_ASKED:
        recipe_ask(recipe, "response" if is_response else "request", key, version)
    return recipe if recipe.state == READY else NULL


cdef inline bint is_ordinary_text(const Fields* fields, int mark) noexcept nogil:
    cdef Bytes text = fields.text[mark]
    return text is NULL or (fields.text_size[mark] <= LONGEST_TEXT and is_utf8(text, fields.text_size[mark]))


cdef inline bint read_body(Body* body, const Recipe* recipe, Bytes data, Py_ssize_t size, Py_ssize_t start) noexcept nogil:
    """Whether the body that begins at `start` and ends with the frame breaks no rule; then its first fields are taken."""
    cdef Cursor cursor
    cursor_open(&cursor, data, size, start)
    fields_open(&body.fields, &body.parts, &body.uses, &body.group)
    return take_fields(recipe, &cursor, &body.fields) and cursor.p == cursor.end


cdef inline bint read_request_body(Body* body, const Recipe* recipe, Bytes data, Py_ssize_t size, Py_ssize_t start) noexcept nogil:
    """`read_body` of a request whose texts are ordinary too."""
    cdef Cursor cursor
    cdef Fields* fields = &body.fields
    if not read_body(body, recipe, data, size, start) or fields.partial_batch:
        return False
    if fields.topics_null:
        cursor_open(&cursor, data, size, start)
        if not plain_block(&recipe.program, &cursor, recipe.program.blocks):
            return False
    return is_ordinary_text(fields, GROUP_ID) and is_ordinary_text(fields, TRANSACTIONAL_ID) and is_ordinary_text(fields, TOPIC_NAME)


cdef inline bint read_response_body(Body* body, const Recipe* recipe, Bytes data, Py_ssize_t size, bint may_be_cut) noexcept nogil:
    """`read_body` of a response that is not refused for its records; one with tagged fields in its header is not ordinary.

    Arguments:
        may_be_cut: there is nothing more to say of a batch that ends in a part, as a broker cuts it.
    """
    cdef Py_ssize_t start = CORRELATION_ID + recipe.header_version
    cdef int32_t error
    if not 0 <= recipe.header_version <= 1 or size < start or (recipe.header_version == 1 and data[CORRELATION_ID] != 0):
        return False
    if not read_body(body, recipe, data, size, start) or (body.fields.partial_batch and not may_be_cut):
        return False
    error = error_of(recipe, &body.fields)
    return not (recipe.traits & PRODUCE and (error == 2 or error == 76 or error == 87))


cdef inline int put_text(PyObject** place, const Fields* fields, int mark) except -1:
    """Put a marked text into a slot; null leaves what is there."""
    cdef PyObject* made
    if fields.text[mark] is not NULL:
        made = raw_text_decode(<const char*>fields.text[mark], fields.text_size[mark], NULL)
        if made is NULL:
            raise MemoryError
        replace(place, made)
    return 0


cdef inline int put_request_fields(
    const EventSlots* slots, PyObject* row, const Recipe* recipe, const Fields* fields, PyObject* body
) except -1:
    """Put what a request says into its new row.

    Arguments:
        body: what became of its body.
    """
    cdef PyObject** own = python_slots(row)
    set_shared(&own[slots.body], body)
    put_text(&own[slots.group_id], fields, GROUP_ID)
    put_text(&own[slots.transactional_id], fields, TRANSACTIONAL_ID)
    put_text(&own[slots.first_topic], fields, TOPIC_NAME)
    if recipe.has_topics and not fields.topics_null:
        replace(&own[slots.topic_count], raw_long(fields.topic_count))
    return 0


cdef inline void put_response_fields(const EventSlots* slots, PyObject* row, const Recipe* recipe, const Fields* fields) noexcept:
    """Put what a response says into the row of its request."""
    cdef PyObject** own = python_slots(row)
    cdef int32_t error = error_of(recipe, fields)
    if error != INT32_MIN:
        replace(&own[slots.error_code], raw_long(error))
    if recipe.has_throttle_time:
        replace(&own[slots.throttle_time_ms], raw_long_long(fields.throttle_time_ms))
