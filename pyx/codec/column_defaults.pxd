"""Values of a row that are not on the wire (defaults of tagged fields, nulls), and removal of a row that is written again."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t
from libc.string cimport memcpy, memset

from codec.column_buffers cimport BITS, CONTENT, EMPTY, FIXED, OF_FIELDS, Column, forget_nulls, put_bit, put_null, reserve_content
from codec.column_program cimport Rows
from codec.program cimport ARRAY_OF_STRUCTS, NULLABLE_STRUCT, RUN, SKIPPED, STRUCT, UUID, Block, Step


cdef inline void put_default_bits(Column* column, Py_ssize_t row) noexcept nogil:
    if column.width == 1:
        (<int8_t*>column.data)[row] = <int8_t>column.default_bits
    elif column.width == 2:
        (<int16_t*>column.data)[row] = <int16_t>column.default_bits
    elif column.width == 4:
        (<int32_t*>column.data)[row] = <int32_t>column.default_bits
    else:
        (<int64_t*>column.data)[row] = column.default_bits


cdef inline bint put_default(Rows* rows, Py_ssize_t row, const Step* step) noexcept nogil:
    """The default of a field that the wire left out."""
    cdef Column* column = rows.store.columns + step.operation
    cdef const Block* block
    cdef const Step* field
    cdef Py_ssize_t start
    cdef int32_t index
    if column.default == FIXED:
        if column.width == BITS:
            put_bit(column, row, column.default_bits != 0)
        else:
            put_default_bits(column, row)
        return True
    if column.default == CONTENT:
        if step.code == UUID:
            memcpy(column.data + row * column.width, column.default_content, column.width)
            return True
        start = column.offsets[row]
        if not reserve_content(&rows.store, column, start + column.default_size):
            return False
        memcpy(column.data + start, column.default_content, column.default_size)
        column.offsets[row + 1] = <int32_t>(start + column.default_size)
        return True
    if column.default == EMPTY:
        column.offsets[row + 1] = column.offsets[row]
        return True
    if column.default == OF_FIELDS:
        block = rows.program.blocks + step.block
        field = rows.program.steps + block.first
        for index in range(block.untagged + block.tagged):
            if field[index].code != RUN and field[index].code != SKIPPED and not put_default(rows, row, field + index):
                return False
        if rows.unknown_tags:
            column = rows.store.columns + 2 * rows.operations + 3 * step.block
            column.offsets[row + 1] = column.offsets[row]
        return True
    return put_blank_value(rows, row, step)


cdef inline bint put_blank_value(Rows* rows, Py_ssize_t row, const Step* step) noexcept nogil:
    """A null, with zeros where Arrow wants some bytes."""
    cdef Column* column = rows.store.columns + step.operation
    if column.has_offsets:
        column.offsets[row + 1] = column.offsets[row]
    elif column.width == BITS:
        put_bit(column, row, False)
    elif column.width > 0:
        memset(column.data + row * column.width, 0, column.width)
    elif not put_blank(rows, rows.program.blocks + step.block, step.block, row):
        return False
    return put_null(&rows.store, column, row)


cdef inline bint put_blank(Rows* rows, const Block* block, int32_t number, Py_ssize_t row) noexcept nogil:
    cdef const Step* step = rows.program.steps + block.first
    cdef Column* tags
    cdef int32_t index
    for index in range(block.untagged + block.tagged):
        if step[index].code != RUN and step[index].code != SKIPPED and not put_blank_value(rows, row, step + index):
            return False
    if rows.unknown_tags:
        tags = rows.store.columns + 2 * rows.operations + 3 * number
        tags.offsets[row + 1] = tags.offsets[row]
        return put_null(&rows.store, tags, row)
    return True


cdef inline void forget_value(Rows* rows, Py_ssize_t first, const Step* step) noexcept nogil:
    """Take back the nulls of one field from row `first` on, all the way down."""
    cdef Column* column = rows.store.columns + step.operation
    forget_nulls(column, first)
    if step.code == ARRAY_OF_STRUCTS:
        if column.offsets is not NULL:
            forget_rows(rows, step.block, column.offsets[first])
    elif step.code == STRUCT or step.code == NULLABLE_STRUCT:
        forget_rows(rows, step.block, first)


cdef inline void forget_rows(Rows* rows, int32_t number, Py_ssize_t first) noexcept nogil:
    """Take back the nulls of the rows of a block from `first` on: they are going to be written again."""
    cdef const Block* block = rows.program.blocks + number
    cdef const Step* step = rows.program.steps + block.first
    cdef int32_t index
    for index in range(block.untagged + block.tagged):
        if step[index].code != RUN and step[index].code != SKIPPED:
            forget_value(rows, first, step + index)
    if rows.unknown_tags:
        forget_nulls(rows.store.columns + 2 * rows.operations + 3 * number, first)
