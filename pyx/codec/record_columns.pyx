# cython: language_level=3
"""Records as columns in the native backend. The readable contract is `kwire.codec._pure.record_columns`, the loops `record_filling.pxd`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from build_id cimport build_id
from codec.arrow_export cimport Held, Node, held_leave, hold_columns, import_batch, lower_nodes
from codec.column_buffers cimport put_null, reserve_content, store_close
from codec.record_filling cimport fill_batch, fill_message, fill_message_set, fill_records, put_counted, put_record
from codec.record_layout cimport (
    ABSENT, COUNT_AT, END, LEAST_RECORD, WHOLE, Head, RawRecord, Trouble, check_batch_count, codec_of, flaw_of, read_frame, read_head,
)
from codec.record_rows cimport (
    BATCH, BUFFER, HEADER_KEY, HEADER_VALUE, HEADERS, KEY, VALUE, RecordRows, content_used, cut_rows, keeps, open_rows,
    reserve_headers, reserve_records,
)
from wire.buffer_pool cimport empty_pool
from wire.checksum cimport crc_start
from wire.cursor cimport OK, Bytes
from wire.turns cimport Turn, one_at_a_time, turn_leave

from kwire.errors import WireError

__all__ = ["Columns"]
__build__ = build_id()

crc_start()


def free_kept():
    """Give the memory that is kept for the next batches back to the system; it is not counted as that of a batch."""
    empty_pool()


cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cdef Bytes NOTHING = <Bytes>b""

# What a byte of input became in the columns that were made last: records, headers, and content of the columns from KEY on. It is a guess
# of how much room is wanted, so it does no harm if threads mix theirs.
cdef struct Rates:
    double records
    double headers
    double[HEADER_VALUE + 1] content

cdef Rates last_rates
memset(&last_rates, 0, sizeof(Rates))


@cython.final
cdef class Columns:
    """Collects the records of many buffers as columns; see the pure backend."""

    cdef Turn* turn  # see wire/turns.pxd
    cdef RecordRows rows
    cdef Held* held
    cdef Py_ssize_t size  # bytes of input

    def __cinit__(self, bint keys=True, bint values=True, bint headers=True, bint records=True):
        if not open_rows(&self.rows):
            raise MemoryError
        self.rows.keeps_keys = keys
        self.rows.keeps_values = values
        self.rows.keeps_headers = headers
        self.rows.reads_records = records

    def __dealloc__(self):
        held_leave(self.held)
        store_close(&self.rows.store)
        turn_leave(self.turn)

    cdef int flawed(self, error, faults, int32_t buffer, int32_t batch, Py_ssize_t records, Py_ssize_t headers) except -1:
        """Put one row of nulls in the place of a batch's rows."""
        cdef Head head
        cdef RawRecord raw
        cdef int column
        cut_rows(&self.rows, records, headers)
        faults.refuse(error, records)
        memset(&head, 0, sizeof(Head))
        memset(&raw, 0, sizeof(RawRecord))
        raw.key_size = raw.value_size = ABSENT
        if not reserve_records(&self.rows, 1, 0) or not put_record(&self.rows, 0, 0, 0, &raw, NOTHING):
            raise MemoryError
        fill_batch(&self.rows, &head, buffer, batch, records)
        for column in range(HEADERS + 1):
            if column not in (BUFFER, BATCH, KEY, VALUE) and not put_null(&self.rows.store, &self.rows.store.columns[column], records):
                raise MemoryError
        return 0

    def add_all(self, list buffers, bint check_crc, faults):
        """Add the records of all batches of buffers."""
        cdef Py_buffer view
        cdef int32_t index
        if self.held is not NULL:
            raise ValueError("the columns were taken already")
        self.reserve(sum([len(data) for data in buffers if data is not None]))
        for index, data in enumerate(buffers):
            if data is None:
                continue
            PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
            try:
                self.add_batches(index, data, <Bytes>view.buf, view.len, check_crc, faults)
            finally:
                PyBuffer_Release(&view)

    cdef int reserve(self, Py_ssize_t size) except -1:
        """Make room for what so many bytes became of late, and for something: Arrow wants buffers even for nothing."""
        cdef int column
        cdef Py_ssize_t records = <Py_ssize_t>(min(1.06 * last_rates.records, 1.0 / LEAST_RECORD) * size)
        cdef Py_ssize_t headers = <Py_ssize_t>(min(1.06 * last_rates.headers, 0.5) * size) if self.rows.keeps_headers else 0
        cdef Py_ssize_t content
        self.size += size
        if not reserve_records(&self.rows, records + 1, 0) or not reserve_headers(&self.rows, headers + 1, 0):
            raise MemoryError
        for column in (KEY, VALUE, HEADER_KEY, HEADER_VALUE):
            content = content_used(&self.rows, column) + 1
            if keeps(&self.rows, column):
                content += <Py_ssize_t>(min(1.06 * last_rates.content[column], 1.0) * size)
            if not reserve_content(&self.rows.store, &self.rows.store.columns[column], content):
                raise MemoryError
        return 0

    cdef int learn(self) except -1:
        cdef int column
        if self.size > 0:
            last_rates.records = <double>self.rows.rows / self.size
            if self.rows.keeps_headers:
                last_rates.headers = <double>self.rows.headers / self.size
            for column in (KEY, VALUE, HEADER_KEY, HEADER_VALUE):
                if keeps(&self.rows, column):
                    last_rates.content[column] = <double>content_used(&self.rows, column) / self.size
        return 0

    cdef int add_batches(self, int32_t buffer, data, Bytes start, Py_ssize_t size, bint check_crc, faults) except -1:
        cdef RecordRows* rows = &self.rows
        cdef Head head
        cdef Trouble found
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t records = 0
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
                    records = rows.rows
                    headers = rows.headers
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
                        filled = fill_records(rows, &head, start, head.payload, head.payload_end, &found)
                    else:
                        filled = fill_message(rows, &head, start, head.payload_end, &found)
                    if not filled:
                        break
                    fill_batch(rows, &head, buffer, batch, records)
            if not filled and found.code == OK:
                cut_rows(rows, records, headers)
                raise MemoryError
            if packed:
                if head.magic < 2 or head.count != 0:
                    self.add_packed(buffer, batch, data, &head, check_crc, faults)
                continue
            if found.code != OK:
                self.flawed(faults.error(buffer, batch, flaw_of(&found), -1), faults, buffer, batch, records, headers)
            if reading != WHOLE:
                return 0

    cdef int add_packed(self, int32_t buffer, int32_t batch, data, Head* head, bint check_crc, faults) except -1:
        cdef RecordRows* rows = &self.rows
        cdef Py_ssize_t records = rows.rows
        cdef Py_ssize_t headers = rows.headers
        cdef Py_buffer view
        cdef Trouble found
        cdef bint filled
        if head.magic == 2 and not rows.reads_records:
            return self.add_counted(buffer, batch, head, faults)
        try:
            payload = memoryview(data)[head.payload:head.payload_end]
            unpacked = faults.unpack(buffer, batch, codec_of(head), head.magic, payload, head.payload)
        except WireError as error:
            self.flawed(error, faults, buffer, batch, records, headers)
            return 0
        found.code = OK
        PyObject_GetBuffer(unpacked, &view, PyBUF_SIMPLE)
        with nogil:
            if head.magic == 2:
                filled = fill_records(rows, head, <Bytes>view.buf, 0, view.len, &found)
            else:
                filled = fill_message_set(rows, head, <Bytes>view.buf, view.len, check_crc, &found)
            if filled:
                fill_batch(rows, head, buffer, batch, records)
        PyBuffer_Release(&view)
        if found.code != OK:
            self.flawed(faults.error(buffer, batch, flaw_of(&found), head.payload), faults, buffer, batch, records, headers)
        elif not filled:
            cut_rows(rows, records, headers)
            raise MemoryError
        return 0

    cdef int add_counted(self, int32_t buffer, int32_t batch, Head* head, faults) except -1:
        """The rows of a batch whose records are not asked for."""
        cdef Py_ssize_t records = self.rows.rows
        cdef Trouble found
        found.code = OK
        try:
            if not check_batch_count(head, PY_SSIZE_T_MAX, &found):
                raise faults.error(buffer, batch, flaw_of(&found), -1)
            faults.claim(buffer, batch, <int64_t>head.count * LEAST_RECORD, head.position + COUNT_AT)
        except WireError as error:
            self.flawed(error, faults, buffer, batch, records, self.rows.headers)
            return 0
        if not put_counted(&self.rows, head.count):
            raise MemoryError
        fill_batch(&self.rows, head, buffer, batch, records)
        return 0

    def finish(self, list nodes, schema, importer):
        """Some of the columns as a `pyarrow.RecordBatch`; nothing can be added afterwards."""
        cdef Node* tree
        cdef int32_t count
        if self.held is NULL:
            self.learn()
            self.reserve(0)
            self.held = hold_columns(&self.rows.store)
            if self.held is NULL:
                raise MemoryError
        tree = lower_nodes(nodes, &count)
        try:
            return import_batch(self.held, tree, count, self.rows.rows, schema, importer)
        finally:
            PyMem_Free(tree)


cdef Turn** turn_of_columns(PyObject* self) noexcept:
    return &(<Columns>self).turn


one_at_a_time(Columns, turn_of_columns)
