# cython: language_level=3
"""Columns of the native backend: messages to buffers in the layout of Arrow. The readable contract is `kwire.codec._pure.columns`."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from build_id cimport build_id
from codec.arrow_export cimport Held, Node, held_leave, hold_columns, import_batch, lower_nodes
from codec.column_batch cimport Faults, fill_rows
from codec.column_buffers cimport (
    BITS, CONTENT, EMPTY, FIRST_BYTES, FIRST_ROWS, FIXED, NONE, OF_FIELDS, OF_NULL, TOO_LARGE, UUID_TEXT, Column, Store, order_columns,
    raw_free, reserve_content, reserve_rows, store_clear, store_close, store_open,
)
from codec.column_program cimport Rows, lower_moves, release_moves
from codec.program cimport ARRAY, BOOL, BYTES, STRING, STRUCT, UINT16, UINT32, UUID, fixed_size, program_lower, program_release
from wire.buffer_pool cimport empty_pool
from wire.free_threading cimport flag_left, flag_taken
from wire.uuid_text cimport fill_pairs

from kwire.codec.column_nodes import level_nodes
from kwire.codec.layout import Default
from kwire.codec.plan import Flag
from kwire.errors import KwireError

__all__ = ["ColumnReader"]
__build__ = build_id()

fill_pairs()

cdef enum:
    TAGGED_AT_MOST = 64  # tagged fields in one struct: the executor keeps a bit for each
    SAMPLE = 16  # messages


def free_kept():
    """Give the memory that is kept for the next batches back to the system; it is not counted as that of a batch."""
    empty_pool()


cdef int32_t width_of(int32_t code) noexcept:
    if code == BOOL:
        return BITS
    if code == UUID:
        return UUID_TEXT
    if code == UINT16 or code == UINT32:
        return 2 * fixed_size(code)  # Arrow's next wider signed type
    return fixed_size(code)


include "codec/column_input.pxi"


@cython.final
cdef class Trees:
    """The nodes of a layout: for each level without and with the columns for errors."""

    cdef Node** nodes
    cdef int32_t* sizes
    cdef Py_ssize_t count

    def __cinit__(self, layout):
        cdef Py_ssize_t index
        self.nodes = <Node**>PyMem_Calloc(2 * len(layout.levels), sizeof(Node*))
        self.sizes = <int32_t*>PyMem_Calloc(2 * len(layout.levels), sizeof(int32_t))
        self.count = 2 * len(layout.levels)
        if self.nodes is NULL or self.sizes is NULL:
            raise MemoryError
        for index in range(self.count):
            self.nodes[index] = lower_nodes(level_nodes(layout, index // 2, index % 2 == 1), &self.sizes[index])

    def __dealloc__(self):
        cdef Py_ssize_t index
        for index in range(self.count):
            if self.nodes is not NULL:
                PyMem_Free(self.nodes[index])
        PyMem_Free(self.nodes)
        PyMem_Free(self.sizes)


@cython.final
cdef class Filled:
    """The columns of a batch. They live as long as this does, or an array that was made of them."""

    cdef Held* held
    cdef Trees trees

    def __dealloc__(self):
        held_leave(self.held)

    def batch(self, Py_ssize_t level, int64_t rows, bint errors, schema, importer):
        """The columns of a level as a `pyarrow.RecordBatch`."""
        cdef Py_ssize_t index = 2 * level + errors
        if not 0 <= index < self.trees.count:
            raise IndexError(f"there is no level {level}")
        return import_batch(self.held, self.trees.nodes[index], self.trees.sizes[index], rows, schema, importer)

    def offsets(self, Py_ssize_t column, Py_ssize_t rows):
        """Return the offsets of an array's elements: one int32 for each row, and the end of the last."""
        if not 0 <= column < self.held.count or self.held.columns[column].offsets is NULL:
            raise IndexError(f"column {column} has no offsets")
        return PyBytes_FromStringAndSize(<const char*>self.held.columns[column].offsets, (rows + 1) * <Py_ssize_t>sizeof(int32_t))


@cython.final
cdef class ColumnReader:
    """Turns messages into columns."""

    cdef Rows rows
    cdef object layout
    cdef list names  # of operations
    cdef list constants  # keeps the content of defaults alive
    cdef Trees trees
    cdef int busy
    cdef bint learned
    cdef double* rates  # rows and bytes that one byte of input made of late, by table and then by column

    def __cinit__(self, layout):
        plan = layout.plan
        self.layout = layout
        self.rows.unknown_tags = layout.unknown_tags
        self.rows.operations = <int32_t>(len(plan.ops) // 8)
        self.names = [None] * self.rows.operations
        self.constants = []
        self.trees = Trees(layout)
        program_lower(&self.rows.program, plan, 0)
        self.lower_columns(plan)
        order_columns(&self.rows.store)
        lower_moves(&self.rows)
        self.rates = <double*>PyMem_Calloc(self.rows.store.table_count + self.rows.store.column_count, sizeof(double))
        if self.rates is NULL:
            raise MemoryError

    def __dealloc__(self):
        store_close(&self.rows.store)
        release_moves(&self.rows)
        PyMem_Free(self.rates)
        program_release(&self.rows.program)

    cdef int lower_columns(self, object plan) except -1:
        """Say of each column what it holds and which table it belongs to."""
        cdef Store* store = &self.rows.store
        cdef int32_t operations = self.rows.operations
        cdef int32_t number
        cdef int32_t index
        cdef Column* column
        # an operation or a block has one table below it at most
        if not store_open(store, 2 * operations + 3 * <int>len(plan.blocks), 1 + operations + <int>len(plan.blocks)):
            raise MemoryError
        store.table_count = 1
        self.lower_block(plan, 0, 0)
        for number, block in enumerate(plan.blocks):
            if block.tagged > TAGGED_AT_MOST:
                raise ValueError(f"{plan.message} has a struct with more than {TAGGED_AT_MOST} tagged fields")
            slots = plan.layouts[block.layout].slots
            for index in range(block.first, block.first + block.untagged + block.tagged):
                operation = plan.operation(index)
                self.names[index] = plan.attribute(number, index)
                column = &store.columns[index]
                if not operation.flags & Flag.SKIP and column.table >= 0:
                    self.lower_default(column, slots[operation.slot], operation.code)
        return 0

    cdef int lower_block(self, object plan, int32_t number, int32_t table) except -1:
        """Give the columns of a block their table, and those of the blocks below it."""
        cdef Store* store = &self.rows.store
        cdef int32_t operations = self.rows.operations
        cdef Column* tags = store.columns + 2 * operations + 3 * number
        cdef Column* column
        cdef Column* elements
        cdef int32_t code
        block = plan.blocks[number]
        for index in range(block.first, block.first + block.untagged + block.tagged):
            operation = plan.operation(index)
            if operation.flags & Flag.SKIP:
                continue
            code = operation.code
            column = store.columns + <int32_t>index
            column.table = table
            column.width = width_of(code)
            column.has_offsets = code == STRING or code == BYTES or code == ARRAY
            column.has_content = code == STRING or code == BYTES
            if code == ARRAY:
                column.child = store.table_count
                store.table_count += 1
                if operation.element == STRUCT:
                    self.lower_block(plan, operation.block, column.child)
                else:
                    elements = store.columns + operations + <int32_t>index
                    elements.table = column.child
                    elements.width = width_of(operation.element)
                    elements.has_offsets = elements.has_content = elements.width == NONE
            elif code == STRUCT:
                self.lower_block(plan, operation.block, table)
        if self.rows.unknown_tags:
            tags[0].table = table
            tags[0].has_offsets = True
            tags[0].child = tags[1].table = tags[2].table = store.table_count
            store.table_count += 1
            tags[1].width = 8
            tags[2].has_offsets = tags[2].has_content = True
        return 0

    cdef int lower_default(self, Column* column, object slot, int32_t code) except -1:
        value = slot.value
        if slot.default == Default.STRUCT:
            column.default = OF_FIELDS
        elif slot.default == Default.LIST or value == () and code == ARRAY:
            column.default = EMPTY
        elif value is None:
            column.default = OF_NULL
        elif code == UUID or code == STRING or code == BYTES:
            content = str(value).encode() if code == UUID else value.encode() if code == STRING else bytes(value)
            self.constants.append(content)
            column.default = CONTENT
            column.default_content = <const uint8_t*>PyBytes_AS_STRING(content)
            column.default_size = PyBytes_GET_SIZE(content)
        else:
            column.default = FIXED
            if isinstance(value, float):
                as_float = <double>value
                memcpy(&column.default_bits, &as_float, 8)
            else:
                column.default_bits = value
        return 0

    cdef int reserve(self, Py_ssize_t rows, Py_ssize_t size) except -1:
        """Make room for as much as such input made of late."""
        cdef Store* store = &self.rows.store
        cdef int index
        cdef Py_ssize_t room
        for index in range(store.table_count):
            room = <Py_ssize_t>(self.rates[index] * size)
            room = max(rows if index == 0 else 0, room + room // 16, <Py_ssize_t>FIRST_ROWS)
            if not reserve_rows(store, index, room):
                self.fail()
        for index in range(store.column_count):
            if store.columns[index].has_content and store.columns[index].table >= 0:
                room = <Py_ssize_t>(self.rates[store.table_count + index] * size)
                room = max(room + room // 16, <Py_ssize_t>FIRST_BYTES)
                if not reserve_content(store, &store.columns[index], room):
                    self.fail()
        return 0

    cdef int fail(self) except -1:
        if self.rows.store.failure == TOO_LARGE:
            raise KwireError("a column of the batch would exceed 2 GiB: pass fewer messages at a time")
        raise MemoryError

    cdef int learn(self, Py_ssize_t count, Py_ssize_t size) except -1:
        """Keep how much was made of how many bytes."""
        cdef Store* store = &self.rows.store
        cdef Py_ssize_t* rows = <Py_ssize_t*>PyMem_Calloc(store.table_count, sizeof(Py_ssize_t))
        cdef Column* column
        cdef int table, index, place
        if rows is NULL:
            raise MemoryError
        rows[0] = count
        # a table has a lower number than those below it
        for table in range(store.table_count):
            self.rates[table] = <double>rows[table] / size if table and size else 0.0
            for place in range(store.tables[table].first, store.tables[table].first + store.tables[table].count):
                index = store.order[place]
                column = &store.columns[index]
                if column.child >= 0:
                    rows[column.child] = column.offsets[rows[table]]
                if column.has_content:
                    self.rates[store.table_count + index] = <double>column.offsets[rows[table]] / size if size else 0.0
        PyMem_Free(rows)
        self.learned = size > 0
        return 0

    cdef list faults_of(self, const Faults* faults):
        cdef list found = []
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t level
        cdef const int64_t* values
        while at < faults.used:
            values = faults.values + at
            steps = []
            for level in range(values[3] - 1, -1, -1):
                name = self.names[values[4 + 2 * level]]
                steps.append(name if values[5 + 2 * level] < 0 else f"{name}[{values[5 + 2 * level]}]")
            found.append((values[0], values[1], values[2], ".".join(steps)))
            at += 4 + 2 * values[3]
        return found

    cdef object run(self, Spans spans, bint stop):
        cdef Faults faults
        cdef Filled filled
        cdef Py_ssize_t sample
        cdef Py_ssize_t done
        faults.values = NULL
        faults.used = faults.room = 0
        try:
            self.reserve(spans.count, spans.bytes)
            # a few messages say how much room the others need: cheaper than to double it again and again
            sample = 0 if self.learned or spans.count <= SAMPLE else SAMPLE
            with nogil:
                done = fill_rows(&self.rows, spans.spans, 0, sample, stop, &faults)
            if done == sample:
                if sample:
                    self.learn(sample, sum_sizes(spans.spans, sample))
                    self.reserve(spans.count, spans.bytes)
                with nogil:
                    done = fill_rows(&self.rows, spans.spans, sample, spans.count, stop, &faults)
            if done < spans.count and not (stop and faults.used):
                self.fail()
            if done == spans.count:
                self.learn(done, spans.bytes)
            filled = Filled()
            filled.trees = self.trees
            filled.held = hold_columns(&self.rows.store)
            if filled.held is NULL:
                raise MemoryError
            return filled, self.faults_of(&faults)
        finally:
            raw_free(faults.values)
            store_clear(&self.rows.store)

    def read(self, list buffers, bint stop):
        """Read messages."""
        cdef Spans spans = Spans(len(buffers))
        spans.add_buffers(list(buffers))
        return self.fork(spans, stop)

    def read_chunks(self, list chunks, bint stop):
        """Read messages out of binary arrays; arguments and errors as in `read`."""
        cdef Spans spans = Spans(sum([chunk.length for chunk in chunks]))
        for chunk in chunks:
            spans.add_chunk(chunk)
        return self.fork(spans, stop)

    cdef object fork(self, Spans spans, bint stop):
        """Run here, or, while another thread does, in a reader of its own."""
        if not flag_taken(&self.busy):
            return ColumnReader(self.layout).run_alone(spans, stop)
        try:
            return self.run(spans, stop)
        finally:
            flag_left(&self.busy)

    cdef object run_alone(self, Spans spans, bint stop):
        return self.run(spans, stop)
