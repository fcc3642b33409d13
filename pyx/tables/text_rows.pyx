"""Rows by their texts, and texts by their rows: the native twin of `PlainTextRows` and `texts_at` of kwire/tables/connection_index.py.

Arrow's arrays are read in their buffers. Their offsets are compared with the sizes of the buffers before a text is looked at.
"""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport int32_t, uint64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset

from build_id cimport build_id
from protocol.request_rows cimport NO_TEXT
from protocol.text_table cimport TextTable, hash_bytes, text_find, text_intern, texts_free, texts_open
from tables.row_columns cimport int_column, text_column
from wire.grown cimport grown

import os

import pyarrow as pa

__all__ = ["TextRows", "texts_at"]
__build__ = build_id()

cdef int32_t NO_ROW = -1
cdef int32_t NULL_INT = -0x80000000

# A string array of Arrow.
cdef struct Texts:
    const uint8_t* valid  # NULL where no text is null
    const int32_t* offsets
    const uint8_t* bytes
    int32_t size  # of all bytes
    Py_ssize_t first  # where the array begins in its buffers
    Py_ssize_t count


cdef int texts_look(Texts* texts, object array) except -1:
    """Look at a string array, which must be kept while the struct is used.

    Raises:
        TypeError: it is of another type.
        ValueError: its buffers are too short.
    """
    cdef Py_ssize_t index
    if array.type != pa.string():
        raise TypeError(f"texts are wanted, not {array.type}")
    valid, offsets, data = array.buffers()
    memset(texts, 0, sizeof(Texts))
    texts.first, texts.count = array.offset, len(array)
    if texts.count == 0:
        return 0
    if offsets is None or offsets.size < (texts.first + texts.count + 1) * 4 or (
        valid is not None and valid.size < (texts.first + texts.count + 7) // 8
    ):
        raise ValueError("the buffers of an array of texts are too short")
    texts.offsets = <const int32_t*><size_t>offsets.address
    texts.size = 0 if data is None else min(data.size, 0x7FFFFFFF)
    if data is not None:
        texts.bytes = <const uint8_t*><size_t>data.address
    if valid is not None:
        texts.valid = <const uint8_t*><size_t>valid.address
    if texts.offsets[texts.first] < 0 or texts.offsets[texts.first + texts.count] > texts.size:
        raise ValueError("a text does not lie in its buffer")
    for index in range(texts.first, texts.first + texts.count):
        if texts.offsets[index + 1] < texts.offsets[index]:
            raise ValueError("a text does not lie in its buffer")
    return 0


cdef inline bint is_valid(const uint8_t* valid, Py_ssize_t index) noexcept nogil:
    return valid is NULL or valid[index >> 3] >> (index & 7) & 1


@cython.final
@cython.no_gc
cdef class TextRows:
    """Finds the row of a text.

    Arguments:
        texts: a string array, a text for each row; of equal ones the last counts.
    """

    cdef TextTable table
    cdef int32_t* rows  # by the number of the text
    cdef Py_ssize_t room

    def __cinit__(self, array):
        cdef Texts texts
        cdef Py_ssize_t index, at
        cdef int32_t number
        texts_look(&texts, array)
        texts_open(&self.table, int.from_bytes(os.urandom(8), "little"))
        for index in range(-1, texts.count):
            number = 0  # that of the text that every table has
            if index >= 0:
                at = texts.first + index
                if not is_valid(texts.valid, at):
                    continue
                number = text_intern(&self.table, texts.bytes + texts.offsets[at], texts.offsets[at + 1] - texts.offsets[at])
            rows = NULL if number < 0 else grown(self.rows, &self.room, number + 1, 1024, sizeof(int32_t))
            if rows is NULL:
                raise MemoryError
            self.rows = <int32_t*>rows
            self.rows[number] = <int32_t>index

    def __dealloc__(self):
        texts_free(&self.table)
        free(self.rows)

    def rows_of(self, array):
        """Give the row of each text as int32; null where there is none."""
        cdef Texts texts
        cdef Py_ssize_t index, at
        cdef uint64_t slot
        cdef int32_t number
        cdef const uint8_t* text
        cdef Py_ssize_t size
        texts_look(&texts, array)
        cdef bytearray room = bytearray(4 * texts.count)
        cdef int32_t* found = <int32_t*>PyByteArray_AS_STRING(room)
        for index in range(texts.count):
            at = texts.first + index
            found[index] = NULL_INT
            if is_valid(texts.valid, at):
                text, size = texts.bytes + texts.offsets[at], texts.offsets[at + 1] - texts.offsets[at]
                number = text_find(&self.table, text, size, hash_bytes(self.table.seed, text, size), &slot)
                if number != NO_TEXT and self.rows[number] != NO_ROW:
                    found[index] = self.rows[number]
        return int_column(pa, found if texts.count else NULL, sizeof(int32_t), texts.count, False)


def texts_at(array, rows):
    """Give the texts at some rows, null where a row or its text is null.

    Arguments:
        array: of texts.
        rows: an int32 array.

    Raises:
        IndexError: there is no such row.
        OverflowError: they are more than 2 GiB.
    """
    cdef Texts texts
    cdef TextTable table
    cdef Py_ssize_t index
    cdef Py_ssize_t count = len(rows)
    cdef Py_ssize_t first = rows.offset
    cdef const uint8_t* valid = NULL
    cdef const int32_t* row
    texts_look(&texts, array)
    if rows.type != pa.int32():
        raise TypeError(f"rows are int32, not {rows.type}")
    bits, values = rows.buffers()
    if count and (values is None or values.size < (first + count) * 4 or (bits is not None and bits.size < (first + count + 7) // 8)):
        raise ValueError("the buffers of an array of rows are too short")
    cdef bytearray room = bytearray(4 * count)
    cdef int32_t* found = <int32_t*>PyByteArray_AS_STRING(room)
    if count:
        if bits is not None:
            valid = <const uint8_t*><size_t>bits.address
        row = <const int32_t*><size_t>values.address + first
        for index in range(count):
            if not is_valid(valid, first + index):
                found[index] = NO_TEXT
            elif not 0 <= row[index] < texts.count:
                raise IndexError(f"there is no row {row[index]}")
            else:
                found[index] = row[index] if is_valid(texts.valid, texts.first + row[index]) else NO_TEXT
    memset(&table, 0, sizeof(TextTable))
    table.bytes, table.size = <uint8_t*>texts.bytes, texts.size
    table.offsets = <int32_t*>texts.offsets + texts.first
    return text_column(pa, found if count else NULL, sizeof(int32_t), count, False, &table)
