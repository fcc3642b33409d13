"""Record batches and messages into room that grows. The layouts are those of `record_layout.pxd`.

C-level entry for `kwire.codec._native.records`: a `Row` is taken of a Python object, given its place by `take_place`, and put by `put_row`
or `put_message`. Room is asked for before each row, for all that the row was found to take.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE, _PyBytes_Resize
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from codec.record_layout cimport CHECKED_AT, CRC_AT, FRAMING, LEGACY_CRC_AT, MAGIC_AT, RECORDS_AT
from wire.checksum cimport crc32, crc32c
from wire.raw_python cimport raw_bytes, raw_decref, raw_none

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(PyObject*, Py_ssize_t*) except NULL
    bint is_bytes "PyBytes_CheckExact"(PyObject*) noexcept
    bint is_text "PyUnicode_CheckExact"(PyObject*) noexcept
    bint is_tuple "PyTuple_CheckExact"(PyObject*) noexcept
    bint is_list "PyList_CheckExact"(PyObject*) noexcept
    bint is_integer "PyLong_CheckExact"(PyObject*) noexcept
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) except? -1

cdef enum:
    LENGTH_ROOM = 5  # a varint of 32 bits
    MESSAGE_ROOM = 34  # a message of magic 1 but for key and value
    LARGEST = 0x7FFFFFFF - RECORDS_AT  # of what is behind a batch's header

# The offsets and timestamps of the records that are being written.
cdef struct Order:
    int64_t base_offset
    int64_t base_timestamp
    int64_t last_offset
    int64_t max_timestamp
    bint has_base_timestamp

# A key, a value, or the name or value of a header; `size` is -1 for null.
cdef struct Content:
    const uint8_t* data
    Py_ssize_t size

# One record. `headers` is borrowed, a tuple or a list, NULL for none.
cdef struct Row:
    int64_t offset
    int64_t timestamp
    Content key
    Content value
    PyObject* headers

# A bytes object without another owner, and how much of it is in use.
cdef struct Room:
    PyObject* made
    Py_ssize_t used


cdef inline bint room_open(Room* room, Py_ssize_t used, Py_ssize_t expected) except False:
    """Room for `expected` bytes, the first `used` of which are left to the caller."""
    room.used = used
    room.made = raw_bytes(NULL, max(used + expected, <Py_ssize_t>16))
    if room.made is NULL:
        raise MemoryError
    return True


cdef inline void room_close(Room* room) noexcept:
    """Give it up; it may be given up twice."""
    if room.made is not NULL:
        raw_decref(room.made)
        room.made = NULL


cdef inline uint8_t* room_for(Room* room, Py_ssize_t size) except NULL:
    """Return a place for `size` bytes. After an exception the buffer is released."""
    cdef Py_ssize_t there = PyBytes_GET_SIZE(<object>room.made)
    if size > there - room.used:
        _PyBytes_Resize(&room.made, max(room.used + size, there + there // 2))
    return <uint8_t*>PyBytes_AS_STRING(<object>room.made) + room.used


cdef inline bytes room_taken(Room* room):
    """The bytes in use, as an object."""
    _PyBytes_Resize(&room.made, room.used)
    made = <bytes>room.made
    room_close(room)
    return made


cdef inline bint take_bytes(PyObject* value, Content* content) noexcept:
    """Find the content of a key or value; return False if it is neither None nor bytes."""
    content.data = NULL
    content.size = -1
    if value is raw_none:
        return True
    if not is_bytes(value):
        return False
    content.data = <const uint8_t*>PyBytes_AS_STRING(<object>value)
    content.size = PyBytes_GET_SIZE(<object>value)
    return True


cdef inline bint take_integer(PyObject* value, int64_t* number) except -1:
    cdef int overflow = 0
    if not is_integer(value):
        return False
    number[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
    return overflow == 0


cdef inline bint take_tuple(PyObject* row, Row* taken) except -1:
    """A row that is a tuple: key, value, and maybe timestamp and headers."""
    cdef Py_ssize_t size = PyTuple_GET_SIZE(<object>row)
    taken.offset = -1
    taken.timestamp = -1
    taken.headers = NULL
    if not 2 <= size <= 4:
        return False
    if size > 2 and not take_integer(<PyObject*>PyTuple_GET_ITEM(<object>row, 2), &taken.timestamp):
        return False
    if size > 3:
        taken.headers = <PyObject*>PyTuple_GET_ITEM(<object>row, 3)
    return (
        take_bytes(<PyObject*>PyTuple_GET_ITEM(<object>row, 0), &taken.key)
        and take_bytes(<PyObject*>PyTuple_GET_ITEM(<object>row, 1), &taken.value)
    )


cdef inline Py_ssize_t header_count(PyObject* headers) noexcept:
    """Return the number of headers; -1 for a type that only the pure backend takes."""
    if headers is NULL:
        return 0
    if is_tuple(headers):
        return PyTuple_GET_SIZE(<object>headers)
    return PyList_GET_SIZE(<object>headers) if is_list(headers) else -1


cdef inline bint take_header(PyObject* headers, Py_ssize_t index, Content* name, Content* value) except -1:
    """The header with this index; False where it is no pair of text that UTF-8 holds and bytes or None."""
    cdef PyObject* pair
    if is_tuple(headers):
        pair = <PyObject*>PyTuple_GET_ITEM(<object>headers, index)
    else:
        pair = <PyObject*>PyList_GET_ITEM(<object>headers, index)
    if not is_tuple(pair) or PyTuple_GET_SIZE(<object>pair) != 2 or not is_text(<PyObject*>PyTuple_GET_ITEM(<object>pair, 0)):
        return False
    try:
        name.data = <const uint8_t*>PyUnicode_AsUTF8AndSize(<PyObject*>PyTuple_GET_ITEM(<object>pair, 0), &name.size)
    except UnicodeEncodeError:
        return False
    return take_bytes(<PyObject*>PyTuple_GET_ITEM(<object>pair, 1), value)


cdef inline uint64_t zigzag(int64_t value) noexcept nogil:
    return (<uint64_t>value << 1) ^ <uint64_t>(value >> 63)


cdef inline Py_ssize_t varint_size(uint64_t value) noexcept nogil:
    cdef Py_ssize_t size = 1
    while value >= 0x80:
        value >>= 7
        size += 1
    return size


cdef inline uint8_t* put_varint(uint8_t* p, uint64_t value) noexcept nogil:
    while value >= 0x80:
        p[0] = <uint8_t>(value | 0x80)
        value >>= 7
        p += 1
    p[0] = <uint8_t>value
    return p + 1


cdef inline uint8_t* put_16(uint8_t* p, uint16_t value) noexcept nogil:
    p[0] = <uint8_t>(value >> 8)
    p[1] = <uint8_t>value
    return p + 2


cdef inline uint8_t* put_32(uint8_t* p, uint32_t value) noexcept nogil:
    return put_16(put_16(p, <uint16_t>(value >> 16)), <uint16_t>value)


cdef inline uint8_t* put_64(uint8_t* p, uint64_t value) noexcept nogil:
    return put_32(put_32(p, <uint32_t>(value >> 32)), <uint32_t>value)


cdef inline uint8_t* put_bytes(uint8_t* p, const uint8_t* content, Py_ssize_t size) noexcept nogil:
    memcpy(p, content, <size_t>size)
    return p + size


cdef inline Py_ssize_t content_size(const Content* content) noexcept nogil:
    """Return its size with its length prefix."""
    return 1 if content.size < 0 else varint_size(<uint64_t>content.size << 1) + content.size


cdef inline uint8_t* put_content(uint8_t* p, const Content* content) noexcept nogil:
    p = put_varint(p, zigzag(content.size))
    return p if content.size <= 0 else put_bytes(p, content.data, content.size)


cdef inline uint8_t* put_long_content(uint8_t* p, const Content* content) noexcept nogil:
    """As messages have it, behind an int32."""
    p = put_32(p, <uint32_t><int32_t>content.size)
    return p if content.size <= 0 else put_bytes(p, content.data, content.size)


cdef inline bint take_place(Order* order, Row* row) noexcept nogil:
    """Give a row its place behind the one before; an offset of -1 becomes the next one. False where it cannot be written there."""
    if row.offset == -1:
        if order.last_offset == <int64_t>0x7FFFFFFFFFFFFFFF:
            return False
        row.offset = order.last_offset + 1
    if row.offset <= order.last_offset or row.timestamp < -1 or row.offset - order.base_offset > 0x7FFFFFFF:
        return False
    order.last_offset = row.offset
    if not order.has_base_timestamp:
        order.has_base_timestamp = True
        order.base_timestamp = row.timestamp
    if row.timestamp > order.max_timestamp:
        order.max_timestamp = row.timestamp
    return True


cdef inline bint put_row(Room* room, const Order* order, const Row* row) except -1:
    """A record of magic 2; False where it has to be written, or refused, by the pure backend."""
    cdef uint64_t time_delta = zigzag(<int64_t>(<uint64_t>row.timestamp - <uint64_t>order.base_timestamp))
    cdef uint64_t offset_delta = <uint64_t>(row.offset - order.base_offset) << 1
    cdef Py_ssize_t headers = header_count(row.headers)
    cdef Py_ssize_t index, size
    cdef Content name, value
    cdef uint8_t* p
    cdef uint8_t* end
    if headers < 0:
        return False
    size = 1 + varint_size(time_delta) + varint_size(offset_delta) + content_size(&row.key) + content_size(&row.value)
    size += varint_size(<uint64_t>headers << 1)
    for index in range(headers):
        if not take_header(row.headers, index, &name, &value):
            return False
        size += content_size(&name) + content_size(&value)
    if size > LARGEST - LENGTH_ROOM - room.used:
        return False
    p = room_for(room, LENGTH_ROOM + size)
    p = put_varint(p, <uint64_t>size << 1)
    end = p + size
    p[0] = 0  # attributes, of which no bit is in use
    p = put_varint(p + 1, time_delta)
    p = put_varint(p, offset_delta)
    p = put_content(p, &row.key)
    p = put_content(p, &row.value)
    p = put_varint(p, <uint64_t>headers << 1)
    for index in range(headers):
        # Nothing ran since the sizes were added up that could have changed them; memory does not hang on it.
        if not take_header(row.headers, index, &name, &value) or content_size(&name) + content_size(&value) > end - p:
            return False
        p = put_content(put_content(p, &name), &value)
    room.used = p - <uint8_t*>PyBytes_AS_STRING(<object>room.made)
    return True


cdef inline uint8_t* put_message(uint8_t* p, int magic, int attributes, int64_t offset, const Row* row) noexcept nogil:
    """A message of magic 0 or 1 with its checksum, which takes `MESSAGE_ROOM` and its contents at most."""
    cdef uint8_t* start = p
    put_64(p, <uint64_t>offset)
    p[MAGIC_AT] = <uint8_t>magic
    p[MAGIC_AT + 1] = <uint8_t>attributes
    p += MAGIC_AT + 2
    if magic:
        p = put_64(p, <uint64_t>row.timestamp)
    p = put_long_content(put_long_content(p, &row.key), &row.value)
    put_32(start + FRAMING - 4, <uint32_t>(p - start - FRAMING))
    put_32(start + LEGACY_CRC_AT, crc32(start + MAGIC_AT, <size_t>(p - start - MAGIC_AT)))
    return p


cdef inline void put_batch_head(
    uint8_t* start, Py_ssize_t size, int32_t leader_epoch, int16_t attributes, const Order* order, int64_t producer_id,
    int16_t producer_epoch, int32_t base_sequence, int32_t count,
) noexcept nogil:
    """The header of a batch of `size` bytes whose records are in place, and its checksum. `order` has the batch's last offset and times."""
    cdef uint8_t* p = put_32(put_64(start, <uint64_t>order.base_offset), <uint32_t>(size - FRAMING))
    p = put_32(p, <uint32_t>leader_epoch)
    p[0] = 2
    p = put_16(start + CHECKED_AT, <uint16_t>attributes)
    p = put_32(p, <uint32_t>(order.last_offset - order.base_offset))
    p = put_64(put_64(p, <uint64_t>order.base_timestamp), <uint64_t>order.max_timestamp)
    p = put_16(put_64(p, <uint64_t>producer_id), <uint16_t>producer_epoch)
    put_32(put_32(p, <uint32_t>base_sequence), <uint32_t>count)
    put_32(start + CRC_AT, crc32c(start + CHECKED_AT, <size_t>(size - CHECKED_AT), True))
