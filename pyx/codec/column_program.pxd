"""A program lowered once more for the column executor: beside each step the column that it fills.

The plan is a tree (`kwire.codec.column_layout.tree_of`): an operation is a column. Columns of a program with n operations are numbered so:
the value of operation i is column i, the elements of an array of scalars are column n + i, and the unknown tags of block b are the columns
2n + 3b (a list), 2n + 3b + 1 (tag) and 2n + 3b + 2 (value).
"""

from libc.stdint cimport int32_t

from codec.column_buffers cimport Column, Store, Table, raw_calloc, raw_free
from codec.program cimport ARRAY, BYTES_COMPACT, INT32, RUN, SKIPPED, STRING_COMPACT, Program, Step, Trace, fixed_size
from wire.cursor cimport Cursor

cdef enum:
    # Codes that only moves have, behind those of program.pxd
    COMPACT_INT32S = 32
    SKIP_FIXED = 33  # `size` bytes outside the projection
    SKIP_COMPACT = 34  # a compact value outside the projection, `size` bytes for each that it counts
    OTHER = 35  # whatever has no quick way

# A step with what filling its column takes, so that the hot loop follows no index.
cdef struct Move:
    int32_t code
    int32_t size  # bytes of a fixed value, of a run, or of what a value outside the projection counts
    int32_t count  # moves of a run
    Column* column
    Column* elements  # of an array of scalars
    Table* child  # the elements' rows
    const Step* step

cdef struct Rows:
    Program program
    Store store
    Move* moves  # one for each step
    int32_t operations
    bint unknown_tags

cdef struct Fill:
    Cursor cursor
    Trace trace


cdef inline int lower_moves(Rows* rows) except -1:
    """Make the moves of a program whose columns are known."""
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t index
    cdef Move* move
    cdef Step* step
    for index in range(rows.program.block_count):
        count = max(count, rows.program.blocks[index].first + rows.program.blocks[index].untagged + rows.program.blocks[index].tagged)
    rows.moves = <Move*>raw_calloc(count + 1, sizeof(Move))
    if rows.moves is NULL:
        raise MemoryError
    for index in range(count):
        move = rows.moves + index
        step = rows.program.steps + index
        move.step = step
        move.column = rows.store.columns + step.operation
        if step.code == RUN:
            move.code = RUN
            move.size = step.minimum
            move.count = step.count
        elif fixed_size(step.code):
            move.code = step.code
            move.size = fixed_size(step.code)
        elif step.code == STRING_COMPACT:
            move.code = STRING_COMPACT
        elif step.code == ARRAY and step.compact and step.element == INT32:
            move.code = COMPACT_INT32S
            move.elements = rows.store.columns + rows.operations + step.operation
            move.child = rows.store.tables + move.column.child
        else:
            move.code = OTHER
            if step.code == SKIPPED:
                lower_skip(move)
    return 0


cdef inline void lower_skip(Move* move) noexcept:
    cdef const Step* step = move.step
    if fixed_size(step.shape):
        move.code = SKIP_FIXED
        move.size = fixed_size(step.shape)
    elif step.shape == STRING_COMPACT or step.shape == BYTES_COMPACT:
        move.code = SKIP_COMPACT
        move.size = 1
    elif step.shape == ARRAY and step.compact and fixed_size(step.element):
        move.code = SKIP_COMPACT
        move.size = fixed_size(step.element)


cdef inline void release_moves(Rows* rows) noexcept:
    raw_free(rows.moves)
    rows.moves = NULL
