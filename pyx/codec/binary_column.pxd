"""Elements of an Arrow array of bytes: offsets, content and validity bits, checked against each other.

What is asked of the column itself is checked when it is opened; the offsets of an element, which came from elsewhere, when it is read.

C-level entry for other modules: `column_open`, `column_close`, `column_element`; `refuse_element` where the last one gives `OUTSIDE`.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from wire.cursor cimport Bytes, unlikely

cdef enum Element:
    ABSENT = 0  # a null
    PRESENT = 1
    OUTSIDE = 2  # its offsets leave the content

cdef struct BinaryColumn:
    Py_buffer offsets
    Py_buffer content
    Py_buffer validity
    Py_buffer starts
    bint held_offsets
    bint held_content
    bint has_nulls  # holds validity bits
    bint has_starts  # of each element, without an offset, the first byte that counts (int32), negative for a null
    bint wide  # the offsets are int64
    Bytes base  # of the content; never NULL
    Bytes end
    Py_ssize_t first
    Py_ssize_t length


cdef inline void column_close(BinaryColumn* column) noexcept:
    if column.held_offsets:
        PyBuffer_Release(&column.offsets)
    if column.held_content:
        PyBuffer_Release(&column.content)
    if column.has_nulls:
        PyBuffer_Release(&column.validity)
    if column.has_starts:
        PyBuffer_Release(&column.starts)
    memset(column, 0, sizeof(BinaryColumn))


cdef inline int column_open(BinaryColumn* column, object chunk) except -1:
    """Hold the buffers of a `kwire.codec.binary_chunks.BinaryChunk`; the caller closes the column, after errors too."""
    memset(column, 0, sizeof(BinaryColumn))
    PyObject_GetBuffer(chunk.offsets, &column.offsets, PyBUF_SIMPLE)
    column.held_offsets = True
    PyObject_GetBuffer(chunk.content, &column.content, PyBUF_SIMPLE)
    column.held_content = True
    if chunk.validity is not None:
        PyObject_GetBuffer(chunk.validity, &column.validity, PyBUF_SIMPLE)
        column.has_nulls = True
    if chunk.starts is not None:
        PyObject_GetBuffer(chunk.starts, &column.starts, PyBUF_SIMPLE)
        column.has_starts = True
    column.first = chunk.first
    column.length = chunk.length
    column.wide = chunk.wide
    # an empty buffer may have no address
    column.base = <Bytes>column.content.buf if column.content.buf is not NULL else <Bytes>b""
    column.end = column.base + column.content.len
    if column.first < 0 or column.length < 0 or column.first + column.length + 1 > column.offsets.len // (8 if column.wide else 4):
        raise ValueError("the offsets of a binary array are shorter than the array")
    if column.has_nulls and column.first + column.length > 8 * column.validity.len:
        raise ValueError("the validity bits of a binary array are shorter than the array")
    if column.has_starts and column.length > column.starts.len // <Py_ssize_t>sizeof(int32_t):
        raise ValueError("there are fewer starts than elements")
    return 0


cdef inline int column_element(const BinaryColumn* column, Py_ssize_t index, Bytes* data, Py_ssize_t* size) noexcept nogil:
    """Find element `index`, from 0 on and below the column's length."""
    cdef Py_ssize_t place = column.first + index
    cdef int64_t start, stop
    cdef int32_t skipped = (<const int32_t*>column.starts.buf)[index] if column.has_starts else 0
    if skipped < 0:
        return ABSENT
    if column.has_nulls and not (<const uint8_t*>column.validity.buf)[place >> 3] >> (place & 7) & 1:
        return ABSENT
    if column.wide:
        start = (<const int64_t*>column.offsets.buf)[place]
        stop = (<const int64_t*>column.offsets.buf)[place + 1]
    else:
        start = (<const int32_t*>column.offsets.buf)[place]
        stop = (<const int32_t*>column.offsets.buf)[place + 1]
    if unlikely(not 0 <= start <= stop <= column.content.len or skipped > stop - start):
        return OUTSIDE
    data[0] = column.base + start + skipped
    size[0] = stop - start - skipped
    return PRESENT


cdef inline int refuse_element(Py_ssize_t index) except -1:
    raise ValueError(f"the offsets of a binary array leave its bytes at element {index}")
