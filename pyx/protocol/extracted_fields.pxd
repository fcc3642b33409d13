"""Values extracted from a message, as C structs: first fields, partitions, and the parts of an answer's cache key.

Values come by the marks of a field_plan (`field_plan.pxd`), in the order of the wire; who walks over the message is `field_extraction.pxd`.
"""

from libc.stdint cimport INT32_MIN, int8_t, int16_t, int32_t, uint8_t, uint32_t
from libc.string cimport memcmp, memcpy, memset

from codec.program cimport BOOL, INT8, INT16, INT32, UINT16, UUID, fixed_size
from protocol.field_plan cimport (
    CLIENT_ID, COLUMN_SHIFT, ERROR_CODE, INNER_ERROR, INSTANCE_ID, KEY_PART, MARK_MASK, MARKED_TEXTS, MOST_USES, REPLICA_ID, TOKEN,
    TOPIC_NAME, TOPIC_NAMES, USED_ERROR, USED_ID, USED_MASK, USED_NAME, USED_NUMBER, TaggedDefault,
)
from protocol.record_batches cimport Weight
from protocol.request_rows cimport MOST_COLUMNS
from wire.cursor cimport Bytes, load_16, load_32, unlikely
from wire.grown cimport grown, kept_room

cdef extern from *:
    """
    static const unsigned char kwire_zeros[16] = {0};
    """
    const uint8_t* ZEROS "kwire_zeros"

cdef enum:
    KEPT_PARTS = 1 << 20

cdef enum Met:
    # What a message of which bytes are missing got as far as
    MET_ERROR = 1
    MET_TOPICS = 2

# A partition that a message names; pointers into the message.
cdef struct Use:
    Bytes topic
    Py_ssize_t topic_size
    Bytes topic_id  # NULL for none and for zeros
    Bytes records
    Py_ssize_t records_size
    int32_t number
    int32_t error_code  # INT32_MIN for none
    bint numbered
    bint recorded  # its records were there, be they null
    bint unseen  # PartitionUse.unseen
    Weight weight

cdef struct UseList:
    Use* uses
    int32_t count
    Py_ssize_t room

cdef struct Parts:
    uint8_t* bytes
    Py_ssize_t size
    Py_ssize_t room

cdef struct Fields:
    Bytes text[MARKED_TEXTS]  # by mark; NULL where there is none
    Py_ssize_t text_size[MARKED_TEXTS]  # where there is one
    Bytes instance_id
    int32_t topic_count
    int32_t topics_claimed  # of a message that was cut: the count in front of its topics, -1 where it is not there or topics lie deeper
    int32_t replica_id
    int32_t error  # of the whole message
    int32_t inner_error  # the first that is not 0
    uint32_t met
    bint cut  # bytes are missing behind those that are there
    uint32_t columns_met  # a bit for each column of which a value was there that is not null
    bint topics_null
    bint partial_batch
    bint needs_fallback  # Python reads the body
    Use use  # the one that is being read
    UseList* uses
    Parts* parts
    # by slot, where it was met
    Bytes column_at[MOST_COLUMNS]
    Py_ssize_t column_value[MOST_COLUMNS]  # the number; of a text its size


cdef inline void fields_open(Fields* fields, Parts* parts, UseList* uses) noexcept nogil:
    memset(fields.text, 0, sizeof(fields.text))
    fields.error = fields.inner_error = 0
    fields.instance_id = NULL
    fields.topic_count = 0
    fields.replica_id = fields.topics_claimed = -1
    fields.met = fields.columns_met = 0
    fields.cut = fields.topics_null = fields.partial_batch = fields.needs_fallback = False
    fields.use.topic = fields.use.topic_id = NULL
    fields.use.topic_size = 0
    fields.parts = parts
    fields.uses = uses
    parts_clear(parts)
    uses.count = 0


cdef inline void use_begin(Use* use) noexcept nogil:
    """The next partition, of the same topic."""
    use.records = NULL
    use.records_size = 0
    use.number = 0
    use.numbered = use.recorded = use.unseen = False
    use.error_code = INT32_MIN
    memset(&use.weight, 0, sizeof(Weight))


cdef inline bint use_add(Fields* fields) noexcept nogil:
    """Keep the partition that was read; False without memory, and for a frame that names too many."""
    cdef UseList* list = fields.uses
    cdef Use* made
    if fields.use.topic_size == 0 and fields.use.topic_id is NULL:
        return True
    if list.count == MOST_USES:
        return False
    made = <Use*>grown(list.uses, &list.room, list.count + 1, 16, sizeof(Use))
    if made is NULL:
        return False
    list.uses = made
    list.uses[list.count] = fields.use
    list.count += 1
    return True


cdef inline void parts_clear(Parts* parts) noexcept nogil:
    """Nothing is in it; what a huge frame needed is given back."""
    parts.size = 0
    parts.bytes = <uint8_t*>kept_room(parts.bytes, &parts.room, KEPT_PARTS)


cdef inline bint parts_add(Parts* parts, Bytes data, Py_ssize_t size) noexcept nogil:
    """Put bytes behind the others; False without memory."""
    cdef uint8_t* made
    if size == 0:
        return True
    made = <uint8_t*>grown(parts.bytes, &parts.room, parts.size + size, 4096, 1)
    if made is NULL:
        return False
    parts.bytes = made
    memcpy(parts.bytes + parts.size, data, size)
    parts.size += size
    return True


cdef inline void take_column(Fields* fields, int mark, Bytes p, Py_ssize_t value) noexcept nogil:
    """Take a number, or the size of a text, for the column that a mark names; the first that is met counts."""
    cdef int slot = (mark >> COLUMN_SHIFT) - 1
    if fields.columns_met >> <uint32_t>slot & 1:
        return
    fields.columns_met |= <uint32_t>1 << <uint32_t>slot
    fields.column_at[slot] = p
    fields.column_value[slot] = value


cdef inline void take_default(Fields* fields, const TaggedDefault* default) noexcept nogil:
    """Take the value of a column whose tagged field is left out."""
    take_column(fields, default.mark, default.text, default.value)


cdef inline void take_fixed(Fields* fields, int mark, int32_t code, Bytes p) noexcept nogil:
    """Take a marked value of a fixed size."""
    cdef int used = mark & USED_MASK
    if mark >> COLUMN_SHIFT:
        if code == INT32:
            take_column(fields, mark, p, <int32_t>load_32(p))
        elif code == INT16:
            take_column(fields, mark, p, <int16_t>load_16(p))
        elif code == UINT16:
            take_column(fields, mark, p, load_16(p))
        elif code == INT8 or code == BOOL:
            take_column(fields, mark, p, <int8_t>p[0])
    if unlikely(used):
        take_used(fields, used, code, p)
    mark &= MARK_MASK
    if mark == INNER_ERROR:
        if fields.inner_error == 0:
            fields.inner_error = number_at(code, p)
    elif mark == ERROR_CODE:
        fields.met |= MET_ERROR
        fields.error = number_at(code, p)
    elif unlikely(mark == KEY_PART):
        if not parts_add(fields.parts, p, fixed_size(code)):
            fields.needs_fallback = True
    elif mark == INSTANCE_ID:
        if fields.instance_id is NULL and code == UUID:
            fields.instance_id = p
    elif mark == REPLICA_ID:
        fields.replica_id = max(fields.replica_id, number_at(code, p))


cdef inline int32_t number_at(int32_t code, Bytes p) noexcept nogil:
    return <int16_t>load_16(p) if code == INT16 else <int32_t>load_32(p) if code == INT32 else INT32_MIN


cdef inline void take_used(Fields* fields, int used, int32_t code, Bytes p) noexcept nogil:
    """Take a value of a partition."""
    if used == USED_NUMBER:
        fields.use.number = <int32_t>load_32(p) if code == INT32 else 0
        fields.use.numbered = True
    elif used == USED_ERROR:
        fields.use.error_code = <int16_t>load_16(p) if code == INT16 else 0
    elif used == USED_ID:
        fields.use.topic_id = p
        if memcmp(p, ZEROS, 16) == 0:
            fields.use.topic_id = NULL


cdef inline void take_text(Fields* fields, int mark, Bytes p, Py_ssize_t size) noexcept nogil:
    """Take a marked text that is not null."""
    cdef int used = mark & USED_MASK
    if mark >> COLUMN_SHIFT:
        take_column(fields, mark, p, size)
    if used == USED_NAME:
        fields.use.topic = p
        fields.use.topic_size = size
    mark &= MARK_MASK
    if mark == TOPIC_NAMES:
        fields.met |= MET_TOPICS
        fields.topic_count += 1
        mark = TOPIC_NAME
    elif mark == TOPIC_NAME and fields.topic_count != 1:
        return
    if CLIENT_ID <= mark <= TOKEN and fields.text[mark] is NULL:
        fields.text[mark] = p
        fields.text_size[mark] = size
