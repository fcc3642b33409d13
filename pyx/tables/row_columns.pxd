"""Rows that are C structs into Arrow columns: values in the buffers of a `bytes` each, nulls in bitmaps, texts gathered by their numbers.

Every function takes the rows as a pointer to the first one's field and the distance to the next (`stride`). A field is an int64, whose null
is INT64_MIN, or an int32 with INT32_MIN; the number of a text is null when it is negative.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport INT32_MIN, INT64_MIN, int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from protocol.text_table cimport TextTable, text_of
from protocol.wide_rows cimport WideRows, wide_add

cdef extern from "Python.h":
    bytes new_bytes "PyBytes_FromStringAndSize"(const char* data, Py_ssize_t size)

cdef enum:
    MEMO = 256
    AT_ONCE = 32  # bytes, most texts are shorter: copied without a call
    WIDE_NULL = 0  # how a column of wide rows is made
    WIDE_TEXT = 1
    WIDE_INT = 2
    WIDE_LONG = 3


cdef inline int64_t field_at(const char* first, Py_ssize_t place, bint is_long) noexcept nogil:
    """A field as an int64, null as INT64_MIN."""
    cdef int32_t value
    if is_long:
        return (<const int64_t*><const void*>(first + place))[0]
    value = (<const int32_t*><const void*>(first + place))[0]
    return INT64_MIN if value == INT32_MIN else value


cdef inline object long_column(object pa, object kind, const void* first, Py_ssize_t stride, Py_ssize_t count):
    """A column of 64 bits, such as int64 and times in microseconds, from int64 fields."""
    return number_column(pa, kind, 8, first, stride, count, True)


cdef inline object int_column(object pa, const void* first, Py_ssize_t stride, Py_ssize_t count, bint is_long):
    return number_column(pa, pa.int32(), 4, first, stride, count, is_long)


cdef inline object number_column(
    object pa, object kind, int width, const void* first, Py_ssize_t stride, Py_ssize_t count, bint is_long
):
    cdef bytes values = new_bytes(NULL, count * width)
    cdef bytes bits = new_bytes(NULL, (count + 7) // 8)
    cdef int64_t* long_value = <int64_t*><void*>PyBytes_AS_STRING(values)
    cdef int32_t* int_value = <int32_t*><void*>PyBytes_AS_STRING(values)
    cdef uint8_t* bit = <uint8_t*>PyBytes_AS_STRING(bits)
    cdef Py_ssize_t index
    cdef Py_ssize_t nulls = 0
    cdef int64_t found
    memset(bit, 0xFF, (count + 7) // 8)
    for index in range(count):
        found = field_at(<const char*>first, index * stride, is_long)
        if found == INT64_MIN:
            found = 0
            bit[index >> 3] &= ~(<uint8_t>1 << (index & 7))
            nulls += 1
        if width == 8:
            long_value[index] = found
        else:
            int_value[index] = <int32_t>found
    return pa.Array.from_buffers(kind, count, [pa.py_buffer(bits) if nulls else None, pa.py_buffer(values)], nulls)


cdef inline object text_column(object pa, const void* first, Py_ssize_t stride, Py_ssize_t count, bint is_long, const TextTable* texts):
    """Return a column of texts, from their numbers in `texts`; raise OverflowError for more than 2 GiB in one batch."""
    cdef bytes offsets = new_bytes(NULL, (count + 1) * 4)
    cdef bytes bits = new_bytes(NULL, (count + 7) // 8)
    cdef bytes starts = new_bytes(NULL, count * 4)
    cdef int32_t* offset = <int32_t*><void*>PyBytes_AS_STRING(offsets)
    cdef int32_t* start = <int32_t*><void*>PyBytes_AS_STRING(starts)
    cdef uint8_t* bit = <uint8_t*>PyBytes_AS_STRING(bits)
    cdef Py_ssize_t index
    cdef Py_ssize_t nulls = 0
    cdef int64_t total = 0
    cdef int64_t number
    cdef int64_t last_offset, last_start  # up to which all of AT_ONCE is there
    cdef const uint8_t* text = texts.bytes
    cdef int32_t size
    cdef bytes made
    cdef char* at
    memset(bit, 0xFF, (count + 7) // 8)
    for index in range(count):
        offset[index] = <int32_t>total
        number = field_at(<const char*>first, index * stride, is_long)
        if number < 0:
            bit[index >> 3] &= ~(<uint8_t>1 << (index & 7))
            nulls += 1
            start[index] = 0
        else:
            start[index] = texts.offsets[number]
            total += texts.offsets[number + 1] - texts.offsets[number]
            if total > 0x7FFFFFFF:
                raise OverflowError("more than 2 GiB of text in one batch of rows")
    offset[count] = <int32_t>total
    made = new_bytes(NULL, total)
    at = PyBytes_AS_STRING(made)
    last_offset, last_start = total - AT_ONCE, texts.size - AT_ONCE
    for index in range(count):
        size = offset[index + 1] - offset[index]
        if size <= AT_ONCE and offset[index] <= last_offset and start[index] <= last_start:
            memcpy(at + offset[index], text + start[index], AT_ONCE)  # what is too much lies where the next text comes
        elif size:
            memcpy(at + offset[index], text + start[index], size)
    buffers = [pa.py_buffer(bits) if nulls else None, pa.py_buffer(offsets), pa.py_buffer(made)]
    return pa.Array.from_buffers(pa.string(), count, buffers, nulls)


cdef inline object named_column(
    object pa, const void* first, Py_ssize_t stride, Py_ssize_t count, bint is_long, int shift, TextTable* names, object name_of
):
    """A column of texts, from those that `name_of` gives for the values of a field, shifted to the right; null where there is none."""
    cdef bytes made = new_bytes(NULL, count * sizeof(int32_t))
    cdef int32_t* number = <int32_t*><void*>PyBytes_AS_STRING(made)
    cdef int32_t memo[MEMO]
    cdef Py_ssize_t index
    cdef int64_t value
    for index in range(MEMO):
        memo[index] = INT32_MIN
    for index in range(count):
        value = field_at(<const char*>first, index * stride, is_long)
        if value == INT64_MIN:
            number[index] = -1
            continue
        value >>= shift
        if not 0 <= value < MEMO:
            number[index] = text_of(names, name_of(value))
            continue
        if memo[value] == INT32_MIN:
            memo[value] = text_of(names, name_of(value))
        number[index] = memo[value]
    return text_column(pa, number, sizeof(int32_t), count, False, names)


cdef inline object small_column(object pa, const int8_t* first, Py_ssize_t stride, Py_ssize_t count, TextTable* names, tuple of):
    """A column of texts, from fields of 8 bits that are places in a tuple."""
    cdef bytes made = new_bytes(NULL, count * sizeof(int32_t))
    cdef int32_t* number = <int32_t*><void*>PyBytes_AS_STRING(made)
    cdef int32_t known[8]
    cdef Py_ssize_t index
    for index in range(min(len(of), 8)):
        known[index] = text_of(names, of[index])
    for index in range(count):
        number[index] = known[first[index * stride]]
    return text_column(pa, number, sizeof(int32_t), count, False, names)


cdef inline tuple cells_of(tuple native, object schema):
    """Return the columns of wide rows: first those that native code fills in, in its order, then the others."""
    return native + tuple([name for name in schema.names if name not in native])


cdef inline int wide_kind_of(object pa, object kind) except -1:
    if pa.types.is_string(kind):
        return WIDE_TEXT
    if pa.types.is_int32(kind):
        return WIDE_INT
    if pa.types.is_int64(kind) or pa.types.is_timestamp(kind):
        return WIDE_LONG
    return WIDE_NULL


cdef inline list wide_columns(object pa, tuple cells, object schema):
    """Return index, kind and type of each column of a table, for `wide_batch`."""
    return [(cells.index(field.name), wide_kind_of(pa, field.type), field.type) for field in schema]


cdef inline object wide_batch(object pa, const WideRows* rows, object schema, list columns, const TextTable* texts):
    """Return a record batch of wide rows; columns that are neither numbers nor texts are null."""
    cdef Py_ssize_t stride = rows.width * sizeof(int64_t)
    cdef Py_ssize_t index
    cdef int what
    arrays = []
    for index, what, kind in columns:
        if what == WIDE_TEXT:
            arrays.append(text_column(pa, rows.values + index, stride, rows.count, True, texts))
        elif what == WIDE_INT:
            arrays.append(int_column(pa, rows.values + index, stride, rows.count, True))
        elif what == WIDE_LONG:
            arrays.append(long_column(pa, kind, rows.values + index, stride, rows.count))
        else:
            arrays.append(pa.nulls(rows.count, kind))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


cdef inline int wide_row_of(WideRows* rows, TextTable* texts, object row, list places) except -1:
    """Append a row of Python values (texts, integers and None), each at its place."""
    cdef int64_t* made = wide_add(rows)
    cdef Py_ssize_t index
    for index, value in zip(places, row):
        if isinstance(value, str):
            made[index] = text_of(texts, value)
        elif value is not None:
            made[index] = value
    return 0
