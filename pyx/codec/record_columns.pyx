# cython: language_level=3
"""Records as columns in the native twin. The readable contract is `kwire.codec._pure.record_columns`, the loops `record_filling.pxd`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t
from libc.string cimport memset

from checksum cimport crc_start
from cursor cimport OK, Bytes
from record_buffers cimport (
    SCALARS, Growing, Table, Texts, scalar_width, table_cut, table_grow, table_open, table_release, table_reset, table_room, texts_add,
)
from record_filling cimport end_row, fill_batch, fill_message, fill_message_set, fill_records
from record_layout cimport ABSENT, END, WHOLE, Head, Trouble, codec_of, flaw_of, read_frame, read_head

from kwire.errors import WireError

__all__ = ["Columns"]

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define KWIRE_FREE_THREADED 1
    #else
    #define KWIRE_FREE_THREADED 0
    #endif
    """
    bint FREE_THREADED "KWIRE_FREE_THREADED"

crc_start()

cdef enum:
    SPARES = 2  # one is filled while the columns of the last are still looked at
    SPARE_BYTES = 64 << 20  # of one

cdef Bytes NOTHING = <Bytes>b""


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


# Tables whose columns nobody refers to any more. Memory that is new to the process costs several times what filling it costs, for the
# system clears each page: a reader that goes from buffer to buffer lives in the same pages. The GIL guards them.
cdef Table[SPARES] spares
cdef int spare_count = 0


@cython.final
cdef class Columns:
    """Collects the records of many buffers as columns; see the pure twin."""

    cdef Table table
    cdef bint finished

    def __cinit__(self):
        global spare_count
        if spare_count > 0:
            spare_count -= 1
            self.table = spares[spare_count]
            table_reset(&self.table)
            return
        memset(&self.table, 0, sizeof(Table))
        if not table_open(&self.table):
            raise MemoryError

    def __dealloc__(self):
        global spare_count
        if not FREE_THREADED and spare_count < SPARES and table_room(&self.table) <= SPARE_BYTES:
            spares[spare_count] = self.table
            spare_count += 1
        else:
            table_release(&self.table)

    cdef int flawed(self, error, faults, int32_t buffer, int32_t batch, Py_ssize_t rows, Py_ssize_t headers) except -1:
        """Put one row of nulls in the place of a batch's rows."""
        cdef Head head
        table_cut(&self.table, rows, headers)
        faults.refuse(error, rows)
        memset(&head, 0, sizeof(Head))
        if not table_grow(&self.table, 1, 0):
            raise MemoryError
        texts_add(&self.table.keys, NOTHING, ABSENT, NOTHING)
        texts_add(&self.table.values, NOTHING, ABSENT, NOTHING)
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
            payload = memoryview(data)[head.payload:head.payload_end]
            unpacked = faults.unpack(buffer, batch, codec_of(head), head.magic, payload, head.payload)
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
            self.view_of(&texts.present, rows), self.view_of(&texts.offsets, 4 * (rows + 1)),
            self.view_of(&texts.content, texts.content.used),
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
