# cython: language_level=3
"""Record batches of the native twin: headers of all batches of a buffer, records as objects, records as columns.

The readable contract is `kwire.codec._pure.records`; the layout and its checks are in `record_layout.pxd`, columns in `record_columns.pxd`.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libc.string cimport memset

from checksum cimport crc32c as compute_crc32c
from checksum cimport crc_start
from cursor cimport BAD_UTF8, OK, TRAILING_BYTES, TRUNCATED, Bytes, Cursor, cursor_fail, cursor_open
from record_columns cimport (
    SCALARS, Growing, Table, Texts, end_row, fill_batch, fill_message, fill_message_set, fill_records, table_cut, table_grow, table_open,
    table_release, texts_add, scalar_width,
)
from record_layout cimport (
    BROKEN, END, NULL, RECORD_HEADER_KEY, RECORDS, WHOLE, Head, RawHeader, RawRecord, Trouble, check_batch_count, codec_of, end_record,
    read_body_lengths, read_frame, read_head, read_inner, read_record, read_record_header, relative_base, trouble,
)

from kwire.errors import WireError

__all__ = ["BatchHeader", "Columns", "Record", "crc32c", "read_records", "scan"]

crc_start()

cdef enum:
    UNLOCKED = 1 << 15  # bytes of checksum that are worth letting other threads run

cdef tuple NO_HEADERS = ()


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Record:
    """One record; see the pure twin. The cyclic collector does not see records: they hold only bytes, text and numbers."""

    cdef readonly int64_t offset
    cdef readonly int64_t timestamp
    cdef readonly int32_t sequence
    cdef readonly object key
    cdef readonly object value
    cdef readonly object headers

    def __init__(self, int64_t offset=0, int64_t timestamp=-1, int32_t sequence=-1, key=None, value=None, headers=()):
        self.offset = offset
        self.timestamp = timestamp
        self.sequence = sequence
        self.key = key
        self.value = value
        self.headers = tuple(headers)

    def __eq__(self, other):
        if type(other) is not Record:
            return NotImplemented
        cdef Record that = <Record>other
        return (
            self.offset == that.offset and self.timestamp == that.timestamp and self.sequence == that.sequence
            and self.key == that.key and self.value == that.value and self.headers == that.headers
        )

    __hash__ = None

    def __repr__(self):
        return (
            f"Record(offset={self.offset!r}, timestamp={self.timestamp!r}, sequence={self.sequence!r}, key={self.key!r}, "
            f"value={self.value!r}, headers={self.headers!r})"
        )

    def __reduce__(self):
        return Record, (self.offset, self.timestamp, self.sequence, self.key, self.value, self.headers)


cdef class BatchHeader:
    """The header of a batch; see the pure twin."""

    cdef Head head
    cdef readonly object data
    cdef readonly Py_ssize_t index
    cdef readonly object flaw

    @property
    def position(self):
        return self.head.position

    @property
    def size(self):
        return self.head.size

    @property
    def payload_start(self):
        return self.head.payload

    @property
    def payload_end(self):
        return self.head.payload_end

    @property
    def magic(self):
        return self.head.magic

    @property
    def crc(self):
        return self.head.crc

    @property
    def attributes(self):
        return self.head.attributes

    @property
    def stored_offset(self):
        return self.head.stored_offset

    @property
    def stored_count(self):
        return self.head.count

    @property
    def last_offset_delta(self):
        return self.head.last_offset_delta

    @property
    def partition_leader_epoch(self):
        return self.head.partition_leader_epoch

    @property
    def base_timestamp(self):
        return self.head.base_timestamp

    @property
    def max_timestamp(self):
        return self.head.max_timestamp

    @property
    def producer_id(self):
        return self.head.producer_id

    @property
    def producer_epoch(self):
        return self.head.producer_epoch

    @property
    def base_sequence(self):
        return self.head.base_sequence


cdef tuple flaw_of(const Trouble* found):
    return found.code, found.offset, found.place, found.record, found.header, found.detail


cdef void read_head_unlocked(Bytes data, Head* head, bint check_crc, Trouble* found):
    if check_crc and head.size >= UNLOCKED:
        with nogil:
            read_head(data, head, check_crc, found)
    else:
        read_head(data, head, check_crc, found)


def crc32c(data):
    """The CRC-32C of a buffer."""
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
    """The headers of all batches of a buffer; see the pure twin."""
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
    cdef RawHeader header
    cdef int32_t index
    cdef int place
    cdef list made = []
    cdef object name
    for index in range(raw.headers):
        place = read_record_header(cursor, &header)
        if place == 0:
            try:
                name = PyUnicode_DecodeUTF8(<const char*>header.key, header.key_size, NULL_ERRORS if strict else "replace")
            except UnicodeDecodeError:
                cursor_fail(cursor, BAD_UTF8, header.key)
                place = RECORD_HEADER_KEY
        if place:
            trouble(found, cursor.code, cursor.offset, place, record, 0)
            found.header = index
            return NO_HEADERS
        made.append((name, content_of(header.value, header.value_size)))
    return tuple(made)


cdef const char* NULL_ERRORS = "strict"


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
        trouble(found, TRAILING_BYTES, cursor.p - data, RECORDS, NULL, 0)
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
        trouble(found, TRUNCATED, start, RECORDS, NULL, 0)
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
    """The records of a batch; see the pure twin."""
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


@cython.final
cdef class ColumnBuffer:
    """The bytes of a column; they live as long as something refers to them."""

    cdef object owner
    cdef Growing* buffer
    cdef Py_ssize_t size

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.buffer.data, self.size, True, flags)

    def __releasebuffer__(self, Py_buffer* view):
        pass


@cython.final
cdef class Columns:
    """Collects the records of many buffers as columns; see the pure twin."""

    cdef Table table
    cdef bint finished

    def __cinit__(self):
        memset(&self.table, 0, sizeof(Table))
        if not table_open(&self.table):
            raise MemoryError

    def __dealloc__(self):
        table_release(&self.table)

    cdef int flawed(self, error, faults, int32_t buffer, int32_t batch, Py_ssize_t rows, Py_ssize_t headers) except -1:
        """Put one row of nulls in the place of a batch's rows."""
        cdef Head head
        table_cut(&self.table, rows, headers)
        faults.refuse(error, rows)
        memset(&head, 0, sizeof(Head))
        if not table_grow(&self.table, 1, 0):
            raise MemoryError
        texts_add(&self.table.keys, NULL_BYTES, NULL, NULL_BYTES)
        texts_add(&self.table.values, NULL_BYTES, NULL, NULL_BYTES)
        end_row(&self.table, 0, 0, 0)
        fill_batch(&self.table, &head, buffer, batch, rows)
        return 0

    def add(self, int32_t buffer, data, bint check_crc, faults):
        cdef Py_buffer view
        if self.finished:
            raise ValueError("the columns were taken already")
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            self.add_batches(buffer, data, <Bytes>view.buf, view.len, check_crc, faults)
        finally:
            PyBuffer_Release(&view)

    cdef int add_batches(self, int32_t buffer, data, Bytes start, Py_ssize_t size, bint check_crc, faults) except -1:
        cdef Table* table = &self.table
        cdef Head head
        cdef Trouble found
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t rows = 0
        cdef Py_ssize_t headers = 0
        cdef int32_t batch = -1
        cdef int reading = END
        cdef bint packed = False
        cdef bint filled = False
        while True:
            with nogil:
                while True:
                    batch += 1
                    found.code = OK
                    packed = False
                    filled = True
                    rows = table.rows
                    headers = table.headers
                    reading = read_frame(start, size, at, &head, &found)
                    if reading != WHOLE:
                        break
                    read_head(start, &head, check_crc, &found)
                    at += head.size
                    if found.code != OK:
                        break
                    packed = codec_of(&head) != 0
                    if packed:
                        break
                    if head.magic == 2:
                        filled = fill_records(table, &head, start, head.payload, head.payload_end, &found)
                    else:
                        filled = fill_message(table, &head, start, head.payload_end, &found)
                    if not filled:
                        break
                    fill_batch(table, &head, buffer, batch, rows)
            if not filled and found.code == OK:
                table_cut(table, rows, headers)
                raise MemoryError
            if packed:
                if head.magic < 2 or head.count != 0:
                    self.add_packed(buffer, batch, data, &head, check_crc, faults)
                continue
            if found.code != OK:
                self.flawed(faults.error(buffer, batch, flaw_of(&found), -1), faults, buffer, batch, rows, headers)
            if reading != WHOLE:
                return 0

    cdef int add_packed(self, int32_t buffer, int32_t batch, data, Head* head, bint check_crc, faults) except -1:
        cdef Table* table = &self.table
        cdef Py_ssize_t rows = table.rows
        cdef Py_ssize_t headers = table.headers
        cdef Py_buffer view
        cdef Trouble found
        cdef bint filled
        try:
            unpacked = faults.unpack(buffer, batch, codec_of(head), head.magic, memoryview(data)[head.payload:head.payload_end], head.payload)
        except WireError as error:
            self.flawed(error, faults, buffer, batch, rows, headers)
            return 0
        found.code = OK
        PyObject_GetBuffer(unpacked, &view, PyBUF_SIMPLE)
        with nogil:
            if head.magic == 2:
                filled = fill_records(table, head, <Bytes>view.buf, 0, view.len, &found)
            else:
                filled = fill_message_set(table, head, <Bytes>view.buf, view.len, check_crc, &found)
            if filled:
                fill_batch(table, head, buffer, batch, rows)
        PyBuffer_Release(&view)
        if found.code != OK:
            self.flawed(faults.error(buffer, batch, flaw_of(&found), head.payload), faults, buffer, batch, rows, headers)
        elif not filled:
            table_cut(table, rows, headers)
            raise MemoryError
        return 0

    cdef object view_of(self, Growing* buffer, Py_ssize_t size):
        cdef ColumnBuffer made = ColumnBuffer()
        made.owner = self
        made.buffer = buffer
        made.size = size
        return made

    cdef tuple texts_of(self, Texts* texts, Py_ssize_t rows):
        return (
            self.view_of(&texts.present, rows), self.view_of(&texts.offsets, 4 * (rows + 1)), self.view_of(&texts.content, texts.content.used),
        )

    def finish(self):
        cdef Table* table = &self.table
        cdef int column
        self.finished = True
        scalars = []
        for column in range(SCALARS):
            scalars.append(self.view_of(&table.scalars[column], table.rows * scalar_width(column)))
        return (
            table.rows, table.headers, tuple(scalars), self.texts_of(&table.keys, table.rows), self.texts_of(&table.values, table.rows),
            self.view_of(&table.header_offsets, 4 * (table.rows + 1)), self.texts_of(&table.header_keys, table.headers),
            self.texts_of(&table.header_values, table.headers),
        )


cdef Bytes NULL_BYTES = <Bytes>b""
