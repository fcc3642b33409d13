"""Headers of the frames in a binary column as columns of Arrow, without the GIL: what is asked for, and nothing between.

`BLOCK` rows are read at a time by the loop's own readers (`header_columns.pxd`), into arrays that stay in the first cache; from there the
columns that are wanted are filled. A client id that is not UTF-8 stops the loop: its text is made with the GIL, then the loop continues.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from codec.binary_column cimport ABSENT, OUTSIDE, BinaryColumn, column_element
from codec.column_buffers cimport NO_FAILURE, Column, Store, put_bytes, put_null, reserve_content
from codec.header_columns cimport LIMIT_EXCEEDED, Output, Scan, scan_frame, scan_quick
from wire.cursor cimport MAX_LENGTH, OK, Bytes, likely, unlikely
from wire.utf8 cimport is_short_plain, is_utf8

cdef enum:
    BLOCK = 256
    SHORT_TEXT = 32  # bytes that `is_short_plain` looks at

cdef enum:
    # The places of `_LAYOUT` in kwire.codec.header_batch
    FRAME_LENGTH = 0
    HEADER_VERSION = 1
    API_KEY = 2
    API_VERSION = 3
    CORRELATION_ID = 4
    CLIENT_ID = 5
    BODY_OFFSET = 6
    ERROR = 7
    COLUMN_COUNT = 8

cdef enum:
    DONE = 0
    BAD_TEXT = 1  # the client id of the row is not UTF-8
    BAD_OFFSETS = 2
    NO_ROOM = 3

# The rows of one block, as the readers write them.
cdef struct Block:
    Bytes[BLOCK] frames  # NULL for a null
    int64_t[BLOCK] frame_offset
    int32_t[BLOCK] frame_length
    int8_t[BLOCK] header_version
    int16_t[BLOCK] api_key
    int16_t[BLOCK] api_version
    int32_t[BLOCK] correlation_id
    int64_t[BLOCK] client_id_offset  # in the frame
    int32_t[BLOCK] client_id_length
    int64_t[BLOCK] body_offset  # in the frame
    int8_t[BLOCK] error
    bint incomplete  # some row lacks a header, a body or is at fault

cdef struct Filling:
    const Scan* scan
    const BinaryColumn* frames
    Store* store
    int8_t* errors  # of all rows
    Block* block
    Py_ssize_t block_start  # row of the first one in the block
    Py_ssize_t block_rows
    Py_ssize_t texts  # rows whose client id is written
    bint faulty  # some row is at fault


cdef inline void block_output(Block* block, Output* out) noexcept nogil:
    out.frame_offset = block.frame_offset
    out.frame_length = block.frame_length
    out.header_version = block.header_version
    out.api_key = block.api_key
    out.api_version = block.api_version
    out.correlation_id = block.correlation_id
    out.client_id_offset = block.client_id_offset
    out.client_id_length = block.client_id_length
    out.body_offset = block.body_offset
    out.error = block.error
    out.room = BLOCK
    out.count = 0


cdef inline void put_missing(Block* block, Py_ssize_t row, int32_t length, int error) noexcept nogil:
    """A row without a header: a null, or a frame of which nothing can be read."""
    block.frame_length[row] = length
    block.header_version[row] = -1
    block.api_key[row] = block.api_version[row] = -1
    block.correlation_id[row] = 0
    block.client_id_length[row] = -1
    block.body_offset[row] = -1
    block.error[row] = <int8_t>error
    block.incomplete = True


cdef inline bint read_block(Filling* filling) noexcept nogil:
    """Read the headers of the next rows; False where the offsets of an element, the last of the block, leave the column's bytes."""
    cdef Block* block = filling.block
    cdef Output out
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t last
    cdef Bytes frame
    cdef Py_ssize_t size
    cdef int found
    block_output(block, &out)
    block.incomplete = False
    filling.block_start += filling.block_rows
    last = min(<Py_ssize_t>BLOCK, filling.frames.length - filling.block_start)
    while row < last:
        found = column_element(filling.frames, filling.block_start + row, &frame, &size)
        if unlikely(found != 1):
            if found == OUTSIDE:
                filling.block_rows = row
                return False
            block.frames[row] = NULL
            put_missing(block, row, 0, OK)
        elif unlikely(size > MAX_LENGTH):
            block.frames[row] = frame
            put_missing(block, row, MAX_LENGTH, LIMIT_EXCEEDED)
        else:
            block.frames[row] = frame
            if unlikely(not scan_quick(filling.scan.quick, frame, &out, row, frame, size)):
                scan_frame(filling.scan, frame, &out, row, frame, size)
                block.incomplete = True
        row += 1
    filling.block_rows = last
    return True


cdef inline bint put_values(Filling* filling, int32_t number, const void* values, int32_t width) noexcept nogil:
    """Move a column of the block to its place; a row without header has a null, and so has a body that is nowhere."""
    cdef Column* column = &filling.store.columns[number]
    cdef Block* block = filling.block
    cdef Py_ssize_t row
    cdef bint missing
    if column.table < 0:
        return True
    memcpy(column.data + filling.block_start * width, values, filling.block_rows * width)
    if likely(not block.incomplete):
        return True
    for row in range(filling.block_rows):
        if number == FRAME_LENGTH:
            missing = block.frames[row] is NULL
        elif number == BODY_OFFSET:
            missing = block.body_offset[row] < 0
        else:
            missing = block.header_version[row] < 0
        if missing and not put_null(filling.store, column, filling.block_start + row):
            return False
    return True


cdef inline bint put_fixed(Filling* filling) noexcept nogil:
    """Fill the columns of numbers, and keep the errors of the block."""
    cdef Block* block = filling.block
    cdef int32_t body[BLOCK]
    cdef Py_ssize_t row
    memcpy(filling.errors + filling.block_start, block.error, filling.block_rows)
    if unlikely(block.incomplete):
        for row in range(filling.block_rows):
            filling.faulty |= block.error[row] != OK
    if filling.store.columns[BODY_OFFSET].table >= 0:
        for row in range(filling.block_rows):
            body[row] = <int32_t>block.body_offset[row]
    return (
        put_values(filling, FRAME_LENGTH, block.frame_length, 4)
        and put_values(filling, HEADER_VERSION, block.header_version, 1)
        and put_values(filling, API_KEY, block.api_key, 2)
        and put_values(filling, API_VERSION, block.api_version, 2)
        and put_values(filling, CORRELATION_ID, block.correlation_id, 4)
        and put_values(filling, BODY_OFFSET, body, 4)
    )


cdef inline bint is_text(Bytes text, Py_ssize_t size, Bytes end) noexcept nogil:
    if likely(size <= SHORT_TEXT and end - text >= SHORT_TEXT and is_short_plain(text, size)):
        return True
    return is_utf8(text, size)


cdef inline int put_texts(Filling* filling) noexcept nogil:
    """Copy the client ids of the block, from the first that is not written on."""
    cdef Column* column = &filling.store.columns[CLIENT_ID]
    cdef Block* block = filling.block
    cdef Bytes end = filling.frames.end
    cdef Py_ssize_t row = filling.texts - filling.block_start
    cdef Py_ssize_t used = column.offsets[filling.texts]
    cdef Py_ssize_t size
    cdef Bytes text
    while row < filling.block_rows:
        size = block.client_id_length[row]
        if likely(size >= 0):
            text = block.frames[row] + block.client_id_offset[row]
            if unlikely(not is_text(text, size, end)):
                return BAD_TEXT
            if not reserve_content(filling.store, column, used + size):
                return NO_ROOM
            put_bytes(column.data + used, text, size, end)
            used += size
        elif not put_null(filling.store, column, filling.texts):
            return NO_ROOM
        filling.texts += 1
        column.offsets[filling.texts] = <int32_t>used
        row += 1
    return DONE


cdef inline int fill_columns(Filling* filling) noexcept nogil:
    """Fill all rows, or as many as can be without the GIL; `DONE` when no row is left."""
    cdef bint whole
    cdef int stop
    while True:
        if filling.store.columns[CLIENT_ID].table >= 0 and filling.texts < filling.block_start + filling.block_rows:
            stop = put_texts(filling)
            if stop != DONE:
                return stop
        if filling.block_start + filling.block_rows >= filling.frames.length:
            return DONE
        whole = read_block(filling)
        if not whole:
            return BAD_OFFSETS
        if not put_fixed(filling):
            return NO_ROOM
