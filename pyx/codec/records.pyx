# cython: language_level=3
"""Record batches of the native backend: headers of all batches of a buffer, records as objects, batches of records.

The readable contract is `kwire.codec._pure.records`; layout and checks are in `record_layout.pxd`, writing in `record_writing.pxd`.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from build_id cimport build_id
from codec.record_layout cimport (
    ABSENT, BROKEN, END, RECORD_HEADER_KEY, RECORD_HEADER_VALUE, RECORDS, RECORDS_AT, WHOLE, Head, RawRecord, Trouble, check_batch_count,
    codec_of, end_record, flaw_of, read_body_lengths, read_content, read_frame, read_head, read_inner, read_record, relative_base, trouble,
)
from codec.record_writing cimport (
    LARGEST, MESSAGE_ROOM, Order, Room, Row, header_count, is_list, is_tuple, put_batch_head, put_message, put_row, room_close, room_for,
    room_open, room_taken, take_bytes, take_integer, take_place, take_tuple,
)
from wire.checksum cimport crc32c as compute_crc32c
from wire.checksum cimport crc_start
from wire.cursor cimport BAD_UTF8, OK, TRAILING_BYTES, TRUNCATED, Bytes, Cursor, cursor_fail, cursor_open
from wire.free_threading cimport FREE_THREADED

__all__ = ["BatchHeader", "Record", "crc32c", "read_records", "scan", "write_batch", "write_messages"]
__build__ = build_id()

crc_start()

cdef enum:
    UNLOCKED = 1 << 15  # bytes of checksum that are worth letting other threads run
    MOST = 0x7FFFFFFFFFFFFFFF
    EXPECTED = 1 << 20  # bytes of room that are made ready on the look of the first record

cdef tuple NO_HEADERS = ()


include "codec/record_objects.pxi"


cdef void read_head_unlocked(Bytes data, Head* head, bint check_crc, Trouble* found):
    if check_crc and head.size >= UNLOCKED:
        with nogil:
            read_head(data, head, check_crc, found)
    else:
        read_head(data, head, check_crc, found)


def crc32c(data):
    cdef Py_buffer view
    cdef uint32_t found
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    with nogil:
        found = compute_crc32c(<Bytes>view.buf, view.len, True)
    PyBuffer_Release(&view)
    return found


def crc32c_by_tables(data):
    """The CRC-32C of a buffer as machines without the instruction compute it; a test compares the two."""
    cdef Py_buffer view
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        return compute_crc32c(<Bytes>view.buf, view.len, False)
    finally:
        PyBuffer_Release(&view)


def scan(data, kind, bint check_crc, bint strict):
    cdef Py_buffer view
    cdef BatchHeader header
    cdef Head head
    cdef Trouble found
    cdef Py_ssize_t at = 0
    cdef int reading = END
    cdef list batches = []
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        while True:
            found.code = OK
            reading = read_frame(<Bytes>view.buf, view.len, at, &head, &found)
            if reading != WHOLE:
                break
            read_head_unlocked(<Bytes>view.buf, &head, check_crc, &found)
            header = kind.__new__(kind)
            header.head = head
            header.data = data
            header.index = len(batches)
            header.flaw = None
            batches.append(header)
            if found.code != OK:
                header.flaw = flaw_of(&found)
                if strict:
                    return batches, 0, header.flaw
            at += head.size
        return batches, view.len - at, flaw_of(&found) if reading == BROKEN else None
    finally:
        PyBuffer_Release(&view)


cdef object content_of(Bytes content, Py_ssize_t size):
    return None if size < 0 else PyBytes_FromStringAndSize(<const char*>content, size)


cdef tuple build_headers(Cursor* cursor, RawRecord* raw, Py_ssize_t record, bint strict, Trouble* found):
    cdef Bytes content
    cdef Py_ssize_t size
    cdef int32_t index
    cdef int place
    cdef list made = []
    cdef object name = None
    cdef const char* errors = "strict"
    if not strict:
        errors = "replace"
    for index in range(raw.headers):
        place = RECORD_HEADER_KEY
        size = read_content(cursor, False, &content)
        if cursor.code == OK:
            try:
                name = PyUnicode_DecodeUTF8(<const char*>content, size, errors)
            except UnicodeDecodeError:
                cursor_fail(cursor, BAD_UTF8, content)
        if cursor.code == OK:
            place = RECORD_HEADER_VALUE
            size = read_content(cursor, True, &content)
        if cursor.code != OK:
            trouble(found, cursor.code, cursor.offset, place, record, 0)
            found.header = index
            return NO_HEADERS
        made.append((name, content_of(content, size)))
    return tuple(made)


cdef Record make_record(const RawRecord* raw, tuple headers):
    cdef Record made = Record.__new__(Record)
    made.offset = raw.offset
    made.timestamp = raw.timestamp
    made.sequence = raw.sequence
    if raw.key_size >= 0:
        made.key = PyBytes_FromStringAndSize(<const char*>raw.key, raw.key_size)
    if raw.value_size >= 0:
        made.value = PyBytes_FromStringAndSize(<const char*>raw.value, raw.value_size)
    made.headers = headers
    return made


cdef list build_records(const Head* head, Bytes data, Py_ssize_t start, Py_ssize_t size, bint strict, Trouble* found):
    cdef Cursor cursor
    cdef RawRecord raw
    cdef Bytes end = data + size
    cdef Py_ssize_t record
    cdef int place = 0
    cdef tuple headers
    cdef list made
    if head.count == 0:
        return []
    if not check_batch_count(head, size - start, found):
        return []
    made = [None] * head.count
    cursor_open(&cursor, data, size, start)
    for record in range(head.count):
        place = read_record(&cursor, head, &raw)
        if place == 0:
            headers = build_headers(&cursor, &raw, record, strict, found) if raw.headers else NO_HEADERS
            if found.code != OK:
                del made[record:]
                return made
            place = end_record(&cursor, end)
        if place:
            trouble(found, cursor.code, cursor.offset, place, record, 0)
            del made[record:]
            return made
        made[record] = make_record(&raw, headers)
    if cursor.p != end:
        trouble(found, TRAILING_BYTES, cursor.p - data, RECORDS, ABSENT, 0)
    return made


cdef list build_messages(Head* head, Bytes data, Py_ssize_t start, Py_ssize_t size, bint check_crc, Trouble* found):
    cdef Head inner
    cdef RawRecord raw
    cdef list made = []
    cdef Py_ssize_t at = start
    cdef Record record
    cdef int64_t base
    if codec_of(head) == 0:
        read_body_lengths(data, head, &raw, 0, found)
        if found.code == OK:
            raw.offset = head.stored_offset
            raw.timestamp = head.max_timestamp
            made.append(make_record(&raw, NO_HEADERS))
        return made
    if size == start:
        trouble(found, TRUNCATED, start, RECORDS, ABSENT, 0)
        return made
    while at < size:
        if not read_inner(data, size, at, head, len(made), check_crc, &inner, &raw, found):
            break
        made.append(make_record(&raw, NO_HEADERS))
        at += inner.size
    if found.code == OK:
        base = relative_base(head, raw.offset)
        for record in made:
            record.offset = <int64_t>(<unsigned long long>record.offset + <unsigned long long>base)
    return made


def read_records(BatchHeader header, data, Py_ssize_t start, Py_ssize_t end, bint check_crc, bint strict):
    cdef Py_buffer view
    cdef Trouble found
    cdef list made
    found.code = OK
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        if not 0 <= start <= end <= view.len:
            raise ValueError("start and end must lie in the buffer")
        if header.head.magic == 2:
            made = build_records(&header.head, <Bytes>view.buf, start, end, strict, &found)
        else:
            made = build_messages(&header.head, <Bytes>view.buf, start, end, check_crc, &found)
    finally:
        PyBuffer_Release(&view)
    return made, flaw_of(&found) if found.code != OK else None


cdef inline bint take_row(object each, Row* row) except -1:
    """A record of this backend, or a tuple; False for what the pure backend has to look at."""
    if type(each) is not Record:
        return is_tuple(<PyObject*>each) and take_tuple(<PyObject*>each, row)
    row.offset = (<Record>each).offset
    row.timestamp = (<Record>each).timestamp
    row.headers = <PyObject*>(<Record>each).headers
    return take_bytes(<PyObject*>(<Record>each).key, &row.key) and take_bytes(<PyObject*>(<Record>each).value, &row.value)


cdef bint take_number(object value, int64_t lowest, int64_t highest, int64_t* number) except -1:
    return take_integer(<PyObject*>value, number) and lowest <= number[0] <= highest


cdef Py_ssize_t order_open(Order* order, list records, base_offset) except -2:
    """Take the first offset; return the expected bytes of all records, -1 if the pure backend must decide."""
    cdef Row row
    cdef Py_ssize_t expected = 0
    order.base_offset = 0
    order.max_timestamp = -1
    if records:
        if not take_row(records[0], &row):
            return -1
        order.base_offset = max(row.offset, <int64_t>0)
        expected = min(len(records) * (16 + max(row.key.size, <Py_ssize_t>0) + max(row.value.size, <Py_ssize_t>0)), <Py_ssize_t>EXPECTED)
    if base_offset is not None and not take_number(base_offset, 0, MOST, &order.base_offset):
        return -1
    order.last_offset = order.base_offset - 1
    return expected


cdef bytes put_rows(list records, Order* order, Py_ssize_t lead, Py_ssize_t expected):
    """The records behind `lead` bytes of room; None for what the pure backend has to look at."""
    cdef Room room
    cdef Row row
    cdef object held
    room_open(&room, lead, expected)
    try:
        for each in records:
            if not take_row(each, &row):
                return None
            if FREE_THREADED and row.headers is not NULL and is_list(row.headers):
                held = tuple(<list>row.headers)  # which no other thread changes
                row.headers = <PyObject*>held
            if not take_place(order, &row) or not put_row(&room, order, &row):
                return None
        return room_taken(&room)
    finally:
        room_close(&room)


cdef bytes packed_behind_head(bytes plain, pack):
    """Compress the records with `pack`, behind space for a batch's header; return None if the result is too large."""
    cdef bytes packed = pack(plain)
    cdef Room room
    cdef Py_ssize_t size = len(packed)
    if size > LARGEST:
        return None
    room_open(&room, RECORDS_AT, size)
    memcpy(room_for(&room, size), PyBytes_AS_STRING(packed), <size_t>size)
    room.used += size
    return room_taken(&room)


def write_batch(
    records, base_offset, partition_leader_epoch, int16_t attributes, last_offset, base_timestamp, max_timestamp, producer_id,
    producer_epoch, base_sequence, pack,
):
    """A batch of magic 2, or None where the pure backend has to write it or to say why it cannot; see there."""
    cdef Order order
    cdef bytes made
    cdef uint8_t* start
    cdef Py_ssize_t size, expected
    cdef int64_t leader, producer, epoch, sequence, last = 0, highest = -1
    cdef int32_t count
    order.base_timestamp = -1
    if (
        type(records) is not list
        or not take_number(partition_leader_epoch, -0x80000000, 0x7FFFFFFF, &leader)
        or not take_number(producer_id, -1, MOST, &producer)
        or not take_number(producer_epoch, -1, 0x7FFF, &epoch)
        or not take_number(base_sequence, -1, 0x7FFFFFFF, &sequence)
        or (last_offset is not None and not take_number(last_offset, 0, MOST, &last))
        or (base_timestamp is not None and not take_number(base_timestamp, -1, MOST, &order.base_timestamp))
        or (max_timestamp is not None and not take_number(max_timestamp, -1, MOST, &highest))
    ):
        return None
    order.has_base_timestamp = base_timestamp is not None
    if FREE_THREADED:
        records = list(records)
    expected = order_open(&order, records, base_offset)
    if expected < 0:
        return None
    made = put_rows(records, &order, RECORDS_AT if pack is None else 0, expected)
    count = <int32_t>len(records)
    if made is not None and pack is not None:
        made = packed_behind_head(made, pack)
    if made is None:
        return None
    if last_offset is None:
        last = max(order.last_offset, order.base_offset)
    if last < max(order.last_offset, order.base_offset) or last - order.base_offset > 0x7FFFFFFF:
        return None
    order.last_offset = last
    if max_timestamp is not None:
        order.max_timestamp = highest
    start = <uint8_t*>PyBytes_AS_STRING(made)
    size = len(made)
    if size < UNLOCKED:
        put_batch_head(start, size, <int32_t>leader, attributes, &order, producer, <int16_t>epoch, <int32_t>sequence, count)
    else:
        with nogil:
            put_batch_head(start, size, <int32_t>leader, attributes, &order, producer, <int16_t>epoch, <int32_t>sequence, count)
    return made


def write_messages(records, int magic, int attributes, base_offset, bint relative):
    """Messages of magic 0 or 1, the last offset and the highest timestamp, or None as `write_batch` gives it; see the pure backend."""
    cdef Order order
    cdef Room room
    cdef Row row
    cdef uint8_t* p
    cdef Py_ssize_t size
    cdef Py_ssize_t expected = -1
    order.base_timestamp = -1
    order.has_base_timestamp = False
    if type(records) is list:
        expected = order_open(&order, records, base_offset)
    if expected < 0:
        return None
    room_open(&room, 0, expected)
    try:
        for each in records:
            if not take_row(each, &row) or not take_place(&order, &row):
                return None
            if header_count(row.headers) or (magic == 0 and row.timestamp != -1):
                return None
            size = MESSAGE_ROOM + max(row.key.size, <Py_ssize_t>0) + max(row.value.size, <Py_ssize_t>0)
            if size > LARGEST - room.used:
                return None
            p = room_for(&room, size)
            room.used += put_message(p, magic, attributes, row.offset - order.base_offset if relative else row.offset, &row) - p
        return room_taken(&room), order.last_offset, order.max_timestamp
    finally:
        room_close(&room)
