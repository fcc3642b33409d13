# cython: language_level=3
"""Kafka's own JSON of the messages in a binary column. The readable contract is `kwire.codec._pure.json_columns`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int16_t, int32_t, uint8_t
from libc.string cimport memset

from build_id cimport build_id
from codec.arrow_export cimport NODE_STRUCT, NODE_TEXT, Held, Node, held_leave, hold_columns, import_batch
from codec.binary_column cimport OUTSIDE, PRESENT, BinaryColumn, column_close, column_element, column_open, refuse_element
from codec.column_buffers cimport (
    NO_FAILURE, TOO_LARGE, Store, grow_content, grow_table, order_columns, put_null, store_close, store_open,
)
from codec.json_executor cimport JsonRun, write_block
from codec.json_program cimport JsonProgram, json_lower, json_release
from codec.json_values cimport text_open
from wire.cursor cimport Bytes, cursor_open, unlikely
from wire.free_threading cimport publish, published
from wire.uuid_text cimport fill_pairs

from kwire.codec.json_text import field_texts
from kwire.errors import KwireError

__all__ = ["JsonWriter"]
__build__ = build_id()

fill_pairs()

cdef enum:
    KEYS = 128  # api keys that the table holds; Kafka has used 93 in its whole life
    VERSIONS = 32  # of one api; Kafka's highest is 18
    # Why the loop stops
    DONE = 0
    UNKNOWN_PAIR = 1  # the row's api and version are not in the table
    BAD_OFFSETS = 2
    NO_ROOM = 3


@cython.final
cdef class Lowered:
    """The plan of a decoder as a program that writes JSON."""

    cdef JsonProgram program
    cdef tuple fields  # keeps texts alive that the program points into

    def __cinit__(self, decoder):
        self.fields = field_texts(decoder.plan, decoder.classes)
        json_lower(&self.program, decoder.plan, self.fields)

    def __dealloc__(self):
        json_release(&self.program)


# What reads the messages of one api at one version: nothing yet, nothing at all, or a program. `known` is published last.
cdef struct Pair:
    int known
    const JsonProgram* program


cdef struct Writing:
    const BinaryColumn* messages
    const int16_t* keys
    const int16_t* versions
    const Pair* pairs
    Store store
    uint8_t* left  # by row: it is not written
    Py_ssize_t row
    bint some_left


cdef bint leave_row(Writing* writing) noexcept nogil:
    """A null for a row that the caller has to look at."""
    writing.left[writing.row] = True
    writing.some_left = True
    return put_null(&writing.store, writing.store.columns, writing.row)


cdef int write_rows(Writing* writing) noexcept nogil:
    """Write the rows from `row` on; why it stops."""
    cdef JsonRun run
    cdef int32_t* offsets = writing.store.columns.offsets
    cdef const Pair* pair
    cdef Bytes data
    cdef Py_ssize_t size
    cdef int found
    cdef bint done
    cdef int key, version
    while writing.row < writing.messages.length:
        done = True
        found = column_element(writing.messages, writing.row, &data, &size)
        offsets[writing.row + 1] = offsets[writing.row]
        if unlikely(found != PRESENT):
            if found == OUTSIDE:
                return BAD_OFFSETS
            done = put_null(&writing.store, writing.store.columns, writing.row)
        else:
            key = writing.keys[writing.row]
            version = writing.versions[writing.row]
            pair = NULL
            if 0 <= key < KEYS and 0 <= version < VERSIONS:
                pair = writing.pairs + key * VERSIONS + version
                if unlikely(not published(&pair.known)):
                    return UNKNOWN_PAIR
            if unlikely(pair is NULL or pair.program is NULL):
                done = leave_row(writing)
            else:
                run.program = pair.program
                run.unknown = 0
                cursor_open(&run.cursor, data, size, 0)
                text_open(&run.out, &writing.store, writing.store.columns, offsets[writing.row])
                if write_block(&run, 0) and run.cursor.p == run.cursor.end:
                    offsets[writing.row + 1] = <int32_t>(run.out.p - writing.store.columns.data)
                else:
                    done = writing.store.failure == NO_FAILURE and leave_row(writing)
        if not done:
            return NO_ROOM
        writing.row += 1
    return DONE


@cython.final
cdef class JsonWriter:
    """Writes messages as the text of Kafka's own JSON."""

    cdef Pair* pairs
    cdef dict lowered
    cdef object decoder_of

    def __cinit__(self, decoder_of):
        self.decoder_of = decoder_of
        self.lowered = {}
        self.pairs = <Pair*>PyMem_Calloc(KEYS * VERSIONS, sizeof(Pair))
        if self.pairs is NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.pairs)

    cdef int learn(self, int key, int version) except -1:
        cdef Lowered found = None
        decoder = self.decoder_of(key, version)
        if decoder is not None and field_texts(decoder.plan, decoder.classes) is not None:
            found = self.lowered.setdefault((key, version), Lowered(decoder))  # another thread may have been quicker
        return self.keep(&self.pairs[key * VERSIONS + version], found)

    @cython.critical_section
    cdef int keep(self, Pair* pair, Lowered found) except -1:
        if not pair.known:
            pair.program = NULL if found is None else &found.program
            publish(&pair.known, True)
        return 0

    def write(self, chunk, keys, versions, schema, importer):
        """Write the messages of a binary column."""
        cdef BinaryColumn messages
        cdef Writing writing
        cdef Py_buffer key_view, version_view
        memset(&key_view, 0, sizeof(Py_buffer))
        memset(&version_view, 0, sizeof(Py_buffer))
        memset(&messages, 0, sizeof(BinaryColumn))
        memset(&writing, 0, sizeof(Writing))
        try:
            PyObject_GetBuffer(keys, &key_view, PyBUF_SIMPLE)
            PyObject_GetBuffer(versions, &version_view, PyBUF_SIMPLE)
            column_open(&messages, chunk)
            if key_view.len // 2 < messages.length or version_view.len // 2 < messages.length:
                raise ValueError("there are fewer api keys or versions than messages")
            writing.messages = &messages
            writing.pairs = self.pairs
            writing.keys, writing.versions = <const int16_t*>key_view.buf, <const int16_t*>version_view.buf
            return self.run(&writing, schema, importer)
        finally:
            column_close(&messages)
            store_close(&writing.store)
            PyMem_Free(writing.left)
            PyBuffer_Release(&key_view)
            PyBuffer_Release(&version_view)

    cdef object run(self, Writing* writing, object schema, object importer):
        cdef Py_ssize_t count = writing.messages.length
        cdef Node nodes[2]
        cdef Held* held
        cdef int stop = UNKNOWN_PAIR
        writing.left = <uint8_t*>PyMem_Calloc(count + 1, 1)
        if writing.left is NULL or not store_open(&writing.store, 1, 1):
            raise MemoryError
        writing.store.columns.table = 0
        writing.store.columns.has_offsets = writing.store.columns.has_content = True
        order_columns(&writing.store)
        # texts are some two to four times as long as what they are of
        if not grow_table(&writing.store, 0, count) or not grow_content(&writing.store, writing.store.columns, 1024):
            self.fail(writing)
        while stop != DONE:
            with nogil:
                stop = write_rows(writing)
            if stop == UNKNOWN_PAIR:
                self.learn(writing.keys[writing.row], writing.versions[writing.row])
            elif stop == BAD_OFFSETS:
                refuse_element(writing.row)
            elif stop == NO_ROOM:
                self.fail(writing)
        nodes[0].kind, nodes[0].column, nodes[0].children = NODE_STRUCT, -1, 1
        nodes[1].kind, nodes[1].column, nodes[1].children = NODE_TEXT, 0, 0
        held = hold_columns(&writing.store)
        if held is NULL:
            raise MemoryError
        try:
            left = [row for row in range(count) if writing.left[row]] if writing.some_left else []
            return import_batch(held, nodes, 2, count, schema, importer), left
        finally:
            held_leave(held)

    cdef int fail(self, Writing* writing) except -1:
        if writing.store.failure == TOO_LARGE:
            raise KwireError("the JSON of the batch would take more than 2 GiB: give fewer messages at a time")
        raise MemoryError
