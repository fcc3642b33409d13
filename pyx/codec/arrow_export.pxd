"""Columns handed to Arrow through its C data interface: one call for all of a batch, where a pyarrow array for each column costs more than
filling it.

What is handed over is a tree of *nodes* in preorder, each with a kind, its column and the number of its children. The blocks that the
columns lie in belong to a `Held`, which counts who uses it: the Python object that filled them, and each array of a tree, for who imports a
tree may take a child out of it and keep that alone. The last one gives the blocks back to the pool, in whatever thread it is.

C-level entry for other modules: `hold_columns`, `import_batch`, `held_leave`; without the GIL `export_nodes`.
"""

from cpython.mem cimport PyMem_Calloc
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from codec.column_buffers cimport UUID_TEXT, Column, Store, raw_calloc, raw_free
from wire.buffer_pool cimport count_down, count_up, give_block, take_block

cdef extern from *:
    """
    #ifndef ARROW_C_DATA_INTERFACE
    #define ARROW_C_DATA_INTERFACE
    struct ArrowArray {  /* as Arrow's specification has it */
        int64_t length;
        int64_t null_count;
        int64_t offset;
        int64_t n_buffers;
        int64_t n_children;
        const void **buffers;
        struct ArrowArray **children;
        struct ArrowArray *dictionary;
        void (*release)(struct ArrowArray *);
        void *private_data;
    };
    #endif
    """
    cdef struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void** buffers
        ArrowArray** children
        ArrowArray* dictionary
        void (*release)(ArrowArray*) noexcept nogil
        void* private_data

cdef enum NodeKind:
    # The numbers of kwire.codec.column_nodes.Kind
    NODE_PLAIN = 0  # values of a fixed width, or bits
    NODE_TEXT = 1  # offsets and content
    NODE_UUID = 2  # 22 characters each, so there are no offsets
    NODE_LIST = 3
    NODE_STRUCT = 4
    NODE_ROW = 5  # the number of the row, an int32
    NODE_NULLS = 6  # nulls of what has values
    NODE_NULL_TEXTS = 7
    NODE_NULL_LISTS = 8
    NODE_NULL_STRUCTS = 9

cdef struct Node:
    int32_t kind
    int32_t column  # -1 where it has none: of a struct that is never null, of nulls
    int32_t children

cdef struct Held:
    long users
    int32_t count
    Column* columns

# The longest arrays of a tree that need what no column has; -1 where there are none.
cdef struct Needs:
    int64_t rows  # numbered
    int64_t uuids
    int64_t nulls

# An exported tree: its arrays, their buffers, and what they keep alive.
cdef struct Tree:
    long users  # arrays that are not released
    int32_t array_count
    int32_t child_count
    Held* held
    uint8_t* rows  # block: numbers of rows
    uint8_t* uuids  # block: offsets of texts of one length
    uint8_t* zeros  # block: what nulls need
    ArrowArray* arrays
    ArrowArray** children
    const void** buffers


cdef inline void held_leave(Held* held) noexcept nogil:
    """One user less; the last one gives the blocks back."""
    cdef int32_t index
    if held is NULL or count_down(&held.users) > 0:
        return
    for index in range(held.count):
        give_block(held.columns[index].data)
        give_block(held.columns[index].offsets)
        give_block(held.columns[index].valid)
    raw_free(held.columns)
    raw_free(held)


cdef inline Held* hold_columns(Store* store) noexcept nogil:
    """Take what was filled out of a store, which is empty afterwards; NULL without memory. The caller is its first user."""
    cdef Held* held = <Held*>raw_calloc(1, sizeof(Held))
    cdef Column* column
    cdef int32_t index
    if held is NULL:
        return NULL
    held.columns = <Column*>raw_calloc(store.column_count + 1, sizeof(Column))
    if held.columns is NULL:
        raw_free(held)
        return NULL
    held.users = 1
    held.count = store.column_count
    for index in range(store.column_count):
        column = &store.columns[index]
        held.columns[index] = column[0]
        column.data = column.valid = NULL
        column.offsets = NULL
        column.data_room = column.null_end = 0
    for index in range(store.table_count):
        store.tables[index].room = 0
    return held


cdef inline void tree_leave(Tree* tree) noexcept nogil:
    if count_down(&tree.users) > 0:
        return
    held_leave(tree.held)
    give_block(tree.rows)
    give_block(tree.uuids)
    give_block(tree.zeros)
    raw_free(tree.arrays)
    raw_free(tree.children)
    raw_free(tree.buffers)
    raw_free(tree)


cdef inline void release_array(ArrowArray* array) noexcept nogil:
    """As the interface asks: an array releases those of its children that were not taken."""
    cdef int64_t index
    for index in range(array.n_children):
        if array.children[index].release is not NULL:
            array.children[index].release(array.children[index])
    array.release = NULL
    tree_leave(<Tree*>array.private_data)


cdef inline bint count_rows(uint8_t** block, int64_t rows, int32_t step) noexcept nogil:
    """A block with the first `rows` multiples of `step`, and one more."""
    cdef int32_t* numbers
    cdef int64_t index
    block[0] = take_block((rows + 1) * sizeof(int32_t))
    if block[0] is NULL:
        return False
    numbers = <int32_t*>block[0]
    for index in range(rows + 1):
        numbers[index] = <int32_t>index * step
    return True


cdef inline const Node* measure(const Held* held, const Node* node, int64_t rows, Needs* needs) noexcept nogil:
    """Find out what a tree needs; the node behind the tree."""
    cdef int32_t _child
    cdef int64_t below = rows
    cdef int32_t count = node.children
    if node.kind == NODE_LIST:
        below = held.columns[node.column].offsets[rows]
    elif node.kind == NODE_UUID:
        needs.uuids = max(needs.uuids, rows)
    elif node.kind == NODE_ROW:
        needs.rows = rows
    elif node.kind >= NODE_NULLS:
        needs.nulls = max(needs.nulls, rows)
        below = 0 if node.kind == NODE_NULL_LISTS else rows
    node += 1
    for _child in range(count):
        node = measure(held, node, below, needs)
    return node


cdef inline const Node* fill_array(Tree* tree, const Node* node, int64_t rows, ArrowArray* array) noexcept nogil:
    """Say of a node's array where its buffers are, and of those below it; the node behind them."""
    cdef Column* column = &tree.held.columns[node.column] if node.column >= 0 else NULL
    cdef const void** buffers = tree.buffers + 3 * (array - tree.arrays)
    cdef int32_t kind = node.kind
    cdef int32_t count = node.children
    cdef int32_t child
    cdef int64_t below = rows
    array.length = rows
    array.buffers = buffers
    array.n_buffers = 2
    array.n_children = count
    array.children = tree.children + tree.child_count
    array.private_data = tree
    array.release = release_array
    tree.child_count += count
    if column is not NULL and column.null_end > 0:
        buffers[0] = column.valid
        array.null_count = -1
    if kind == NODE_PLAIN:
        buffers[1] = column.data
    elif kind == NODE_TEXT or kind == NODE_UUID:
        array.n_buffers = 3
        buffers[1] = <void*>column.offsets if kind == NODE_TEXT else <void*>tree.uuids
        buffers[2] = column.data
    elif kind == NODE_LIST:
        buffers[1] = column.offsets
        below = column.offsets[rows]
    elif kind == NODE_STRUCT:
        array.n_buffers = 1
    elif kind == NODE_ROW:
        buffers[1] = tree.rows
    else:
        array.null_count = rows
        buffers[0] = buffers[1] = buffers[2] = tree.zeros
        array.n_buffers = 3 if kind == NODE_NULL_TEXTS else 1 if kind == NODE_NULL_STRUCTS else 2
        below = 0 if kind == NODE_NULL_LISTS else rows
    node += 1
    for child in range(count):
        array.children[child] = tree.arrays + tree.array_count
        tree.array_count += 1
        node = fill_array(tree, node, below, array.children[child])
    return node


cdef inline bint export_nodes(Held* held, const Node* nodes, int32_t count, int64_t rows, ArrowArray* root) noexcept nogil:
    """Make an array, with all below it, of the tree of `count` nodes; the first has `rows` rows. False without memory."""
    cdef Tree* tree = <Tree*>raw_calloc(1, sizeof(Tree))
    cdef Needs needs
    cdef bint done
    if tree is NULL:
        return False
    needs.rows = needs.uuids = needs.nulls = -1
    measure(held, nodes, rows, &needs)
    tree.users = 1
    tree.arrays = <ArrowArray*>raw_calloc(count, sizeof(ArrowArray))
    tree.children = <ArrowArray**>raw_calloc(count, sizeof(ArrowArray*))
    tree.buffers = <const void**>raw_calloc(3 * count, sizeof(void*))
    done = tree.arrays is not NULL and tree.children is not NULL and tree.buffers is not NULL
    if done and needs.rows >= 0:
        done = count_rows(&tree.rows, needs.rows, 1)
    if done and needs.uuids >= 0:
        done = count_rows(&tree.uuids, needs.uuids, UUID_TEXT)
    if done and needs.nulls >= 0:
        tree.zeros = take_block(8 * (needs.nulls + 1))
        done = tree.zeros is not NULL
        if done:
            memset(tree.zeros, 0, 8 * (needs.nulls + 1))
    if not done:
        tree_leave(tree)
        return False
    tree.held = held
    count_up(&held.users)
    tree.array_count = 1
    fill_array(tree, nodes, rows, tree.arrays)
    tree.users = tree.array_count
    root[0] = tree.arrays[0]
    return True


cdef inline Node* lower_nodes(object nodes, int32_t* count) except NULL:
    """Nodes of `kwire.codec.column_nodes` as an array of C, which the caller frees."""
    cdef Node* made = <Node*>PyMem_Calloc(len(nodes), sizeof(Node))
    cdef Py_ssize_t index
    if made is NULL:
        raise MemoryError
    count[0] = <int32_t>len(nodes)
    for index in range(count[0]):
        made[index].kind, made[index].column, made[index].children = nodes[index]
    return made


cdef inline object import_batch(Held* held, const Node* nodes, int32_t count, int64_t rows, object schema, object importer):
    """The tree of a struct as a `pyarrow.RecordBatch`; `importer` is its `_import_from_c`."""
    cdef ArrowArray root
    if not export_nodes(held, nodes, count, rows, &root):
        raise MemoryError
    try:
        return importer(<size_t>&root, schema)
    finally:
        if root.release is not NULL:
            root.release(&root)
