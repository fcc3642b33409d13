"""Recipes by api and version, for a whole process: how to read each message.

Each is asked of `kwire.protocol.lane_recipes` when it is first needed.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from protocol.field_plan cimport LEFT_TO_PYTHON, NOT_ASKED, Recipe, recipe_free, recipe_load

cdef enum:
    KEYS = 128
    VERSIONS = 32
    REQUEST_HEADERS = 3
    RESPONSE_HEADERS = 2

cdef enum Trait:
    # The numbers of kwire.protocol.lane_recipes.Trait
    PRODUCE = 1
    FETCH = 2
    API_VERSIONS = 4
    CONTROLLER_API = 8
    BROKER_API = 16
    LEARNS = 32
    KEEPS_REQUEST = 64
    WATCHED = 128
    WATCHED_ON_ERROR = 256
    USES_TOPICS = 512
    SASL = 1024
    STEPS = 2048

# How to read each api version, for a whole process; a recipe is made when it is first needed.
cdef struct RecipeBook:
    Recipe* requests  # KEYS * VERSIONS
    Recipe* responses
    Recipe request_headers[REQUEST_HEADERS]
    Recipe response_headers[RESPONSE_HEADERS]


cdef inline void book_close(RecipeBook* book) noexcept:
    cdef Py_ssize_t index
    if book.requests is not NULL and book.responses is not NULL:
        for index in range(KEYS * VERSIONS):
            recipe_free(&book.requests[index])
            recipe_free(&book.responses[index])
    for index in range(REQUEST_HEADERS):
        recipe_free(&book.request_headers[index])
    for index in range(RESPONSE_HEADERS):
        recipe_free(&book.response_headers[index])
    free(book.requests)
    free(book.responses)
    memset(book, 0, sizeof(RecipeBook))


cdef inline int recipe_ask(Recipe* recipe, str kind, int api_key, int version) except -1:
    """Make a recipe, with what kwire.protocol.lane_recipes says."""
    from kwire.protocol.lane_recipes import recipe_of

    known = recipe_of(kind, api_key, version)
    if recipe.state != NOT_ASKED:  # another thread was quicker
        return 0
    recipe.state = LEFT_TO_PYTHON
    if known is not None:
        recipe_load(recipe, known.plan, known.marks, known.traits, known.header_version)
    return 0


cdef inline int book_open(RecipeBook* book) except -1:
    """Make an empty book; only headers are read up.

    Raises:
        MemoryError: no room.
    """
    cdef int version
    memset(book, 0, sizeof(RecipeBook))
    book.requests = <Recipe*>calloc(KEYS * VERSIONS, sizeof(Recipe))
    book.responses = <Recipe*>calloc(KEYS * VERSIONS, sizeof(Recipe))
    if book.requests is NULL or book.responses is NULL:
        book_close(book)
        raise MemoryError
    for version in range(REQUEST_HEADERS):
        recipe_ask(&book.request_headers[version], "request_header", -1, version)
    for version in range(RESPONSE_HEADERS):
        recipe_ask(&book.response_headers[version], "response_header", -1, version)
    return 0
