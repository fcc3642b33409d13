# cython: language_level=3
"""Kafka's own JSON of one message at a time. The readable contract is `kwire.codec._pure.json_messages`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize

from build_id cimport build_id
from codec.column_buffers cimport NO_FAILURE, TOO_LARGE, Store, reserve_content, store_clear, store_close, store_open
from codec.json_executor cimport JsonRun, write_block
from codec.json_program cimport JsonProgram, json_lower, json_release
from codec.json_values cimport text_open
from wire.cursor cimport Bytes, cursor_open
from wire.free_threading cimport flag_left, flag_taken
from wire.uuid_text cimport fill_pairs

from kwire.codec.json_text import field_texts

__all__ = ["MessageJson"]
__build__ = build_id()

fill_pairs()

cdef enum:
    FIRST_BYTES = 1024
    MOST_KEPT = 1 << 16  # bytes of memory that wait for the next message


@cython.final
cdef class MessageJson:
    """Writes messages of one plan; see the pure backend."""

    cdef JsonProgram program
    cdef Store store
    cdef tuple fields  # keeps texts alive that the program points into
    cdef int busy

    def __cinit__(self, decoder, *, bint records=True):
        self.fields = field_texts(decoder.plan, decoder.classes, records=records)
        if not store_open(&self.store, 1, 1):
            raise MemoryError
        if self.fields is not None:
            json_lower(&self.program, decoder.plan, self.fields)

    def __dealloc__(self):
        json_release(&self.program)
        store_close(&self.store)

    def write(self, data, Py_ssize_t offset):
        """As the pure backend; None for messages that are unusual too."""
        cdef Py_buffer view
        if self.fields is None:
            return None
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            if not flag_taken(&self.busy):
                return None
            try:
                return self.run(<Bytes>view.buf, view.len, offset)
            finally:
                flag_left(&self.busy)
        finally:
            PyBuffer_Release(&view)

    cdef object run(self, Bytes data, Py_ssize_t size, Py_ssize_t offset):
        cdef JsonRun run
        cdef bint done
        if not 0 <= offset <= size:
            raise ValueError("the offset is outside of the bytes")
        if not reserve_content(&self.store, self.store.columns, FIRST_BYTES):
            raise MemoryError
        run.program = &self.program
        run.unknown = 0
        cursor_open(&run.cursor, data, size, offset)
        text_open(&run.out, &self.store, self.store.columns, 0)
        done = write_block(&run, 0)
        if self.store.failure != NO_FAILURE and self.store.failure != TOO_LARGE:
            store_clear(&self.store)
            raise MemoryError
        found = None
        if done:
            found = PyBytes_FromStringAndSize(<const char*>self.store.columns.data, run.out.p - self.store.columns.data)
        if self.store.columns.data_room > MOST_KEPT or self.store.failure != NO_FAILURE:
            store_clear(&self.store)
        return None if found is None else (found, <Py_ssize_t>(run.cursor.p - run.cursor.base))
