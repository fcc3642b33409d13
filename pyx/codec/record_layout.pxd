"""Record batches and messages as they lie in a buffer, as `kwire.codec._pure.record_layout` draws them.

Nothing that reads needs the GIL. C-level entry for other modules: `read_frame` and `read_head` for the headers of batches, `read_record`,
`read_content` and `end_record` for what is in them.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from codec.program cimport BYTES
from codec.skip cimport read_size
from wire.checksum cimport crc32, crc32c
from wire.cursor cimport (
    BAD_LENGTH, NULL_NOT_ALLOWED, OK, TRAILING_BYTES, TRUNCATED, Bytes, Cursor, cursor_fail, cursor_has, cursor_open, load_16, load_32,
    load_64, read_varlong, read_zigzag, unlikely,
)

cdef enum:
    # Codes of kwire.errors.Fault that only records have
    UNSUPPORTED_VERSION = 7
    LIMIT_EXCEEDED = 9
    BAD_CHECKSUM = 10

cdef enum Place:
    # The numbers of kwire.codec.records.places.Place
    SIZE = 0
    MAGIC = 1
    CRC = 2
    ATTRIBUTES = 3
    COUNT = 4
    RECORDS = 5
    RECORD = 6
    RECORD_ATTRIBUTES = 7
    RECORD_TIMESTAMP = 8
    RECORD_OFFSET = 9
    RECORD_KEY = 10
    RECORD_VALUE = 11
    RECORD_HEADERS = 12
    RECORD_HEADER_KEY = 13
    RECORD_HEADER_VALUE = 14
    RECORD_CRC = 15
    RECORD_MAGIC = 16
    RECORD_SIZE = 17

cdef enum:
    LENGTH_AT = 8
    FRAMING = 12  # offset and length: what stands before the bytes that the length counts
    LEGACY_CRC_AT = 12
    MAGIC_AT = 16
    HEAD = 17
    CRC_AT = 17
    CHECKED_AT = 21  # the first byte that the CRC of magic 2 covers
    RECORDS_AT = 61
    COUNT_AT = 57
    LEGACY_BODY_AT = 18  # of magic 0
    TIMESTAMPED_BODY_AT = 26  # of magic 1
    LEAST_LENGTH = 14  # of anything, as Kafka has it: an empty message of magic 0
    LEAST_RECORD = 7  # length, attributes, two deltas, key length, value length, number of headers: a byte each
    CODEC_MASK = 0x07
    LOG_APPEND_TIME = 0x08
    TRANSACTIONAL = 0x10
    CONTROL = 0x20
    DELETE_HORIZON = 0x40
    ABSENT = -1

cdef enum Reading:
    END = 0
    WHOLE = 1
    BROKEN = 2  # nothing after it can be found

# A fault; `code` is OK while there is none.
cdef struct Trouble:
    int code
    Py_ssize_t offset
    int place
    Py_ssize_t record
    Py_ssize_t header
    uint32_t detail

# The header of a batch, or of a message of magic 0 or 1, which is a batch of its own as in Kafka.
cdef struct Head:
    Py_ssize_t position
    Py_ssize_t size
    Py_ssize_t payload  # where the records, or the compressed bytes, begin and end
    Py_ssize_t payload_end
    int64_t stored_offset
    int64_t base_timestamp
    int64_t max_timestamp
    int64_t producer_id
    int32_t partition_leader_epoch
    int32_t last_offset_delta
    int32_t base_sequence
    int32_t count
    uint32_t crc
    int16_t attributes
    int16_t producer_epoch
    int magic

cdef struct RawRecord:
    int64_t offset
    int64_t timestamp
    int32_t sequence
    int32_t headers
    Bytes key
    Bytes value
    Py_ssize_t key_size  # ABSENT for a null
    Py_ssize_t value_size


cdef inline void trouble(Trouble* found, int code, Py_ssize_t offset, int place, Py_ssize_t record, uint32_t detail) noexcept nogil:
    found.code = code
    found.offset = offset
    found.place = place
    found.record = record
    found.header = 0
    found.detail = detail


cdef inline tuple flaw_of(const Trouble* found):
    """As `kwire.codec.records.places.Flaw` takes it."""
    return found.code, found.offset, found.place, found.record, found.header, found.detail


cdef inline int codec_of(const Head* head) noexcept nogil:
    return head.attributes & CODEC_MASK


cdef inline int read_frame(Bytes data, Py_ssize_t size, Py_ssize_t at, Head* head, Trouble* found) noexcept nogil:
    """Find the batch at `at`: its position, size and magic. The order of the checks is that of Kafka's ByteBufferLogInputStream.

    END also where a batch is cut by the end of the buffer, as brokers send them (KIP-74).
    """
    cdef int32_t length
    cdef int least
    if size - at < FRAMING:
        return END
    length = <int32_t>load_32(data + at + LENGTH_AT)
    if length < LEAST_LENGTH:
        trouble(found, BAD_LENGTH, at + LENGTH_AT, SIZE, ABSENT, 0)
        return BROKEN
    if size - at < HEAD:
        return END
    head.magic = data[at + MAGIC_AT]
    if head.magic > 2:
        trouble(found, UNSUPPORTED_VERSION, at + MAGIC_AT, MAGIC, ABSENT, head.magic)
        return BROKEN
    least = LEAST_LENGTH if head.magic == 0 else 22 if head.magic == 1 else RECORDS_AT - FRAMING
    if length < least:
        trouble(found, BAD_LENGTH, at + LENGTH_AT, SIZE, ABSENT, 0)
        return BROKEN
    if length > size - at - FRAMING:
        return END
    head.position = at
    head.size = FRAMING + <Py_ssize_t>length
    head.payload_end = at + head.size
    return WHOLE


cdef inline void read_body_lengths(Bytes data, Head* head, RawRecord* raw, Py_ssize_t record, Trouble* found) noexcept nogil:
    """Key and value of a message of magic 0 or 1."""
    cdef Cursor cursor
    cdef int place = RECORD_KEY
    raw.key = raw.value = data
    raw.headers = 0
    raw.sequence = -1
    raw.value_size = ABSENT
    cursor_open(&cursor, data, head.payload_end, head.payload)
    raw.key_size = read_size(&cursor, BYTES, True)
    raw.key = cursor.p
    if cursor.code == OK:
        place = RECORD_VALUE
        cursor.p += max(raw.key_size, <Py_ssize_t>0)
        raw.value_size = read_size(&cursor, BYTES, True)
        raw.value = cursor.p
        cursor.p += max(raw.value_size, <Py_ssize_t>0)
    if cursor.code == OK and cursor.p != cursor.end:
        place = RECORD
        cursor_fail(&cursor, TRAILING_BYTES, cursor.p)
    if cursor.code != OK:
        trouble(found, cursor.code, cursor.offset, place, record, 0)


cdef inline void read_head(Bytes data, Head* head, bint check_crc, Trouble* found) noexcept nogil:
    """The header of a batch that `read_frame` found."""
    cdef Bytes p = data + head.position
    cdef uint32_t computed
    cdef RawRecord raw
    head.stored_offset = <int64_t>load_64(p)
    if head.magic == 2:
        head.partition_leader_epoch = <int32_t>load_32(p + 12)
        head.crc = load_32(p + CRC_AT)
        head.attributes = <int16_t>load_16(p + 21)
        head.last_offset_delta = <int32_t>load_32(p + 23)
        head.base_timestamp = <int64_t>load_64(p + 27)
        head.max_timestamp = <int64_t>load_64(p + 35)
        head.producer_id = <int64_t>load_64(p + 43)
        head.producer_epoch = <int16_t>load_16(p + 51)
        head.base_sequence = <int32_t>load_32(p + 53)
        head.count = <int32_t>load_32(p + 57)
        head.payload = head.position + RECORDS_AT
        if check_crc:
            computed = crc32c(p + CHECKED_AT, head.size - CHECKED_AT, True)
            if computed != head.crc:
                trouble(found, BAD_CHECKSUM, head.position + CRC_AT, CRC, ABSENT, computed)
                return
        if codec_of(head) > 4:
            trouble(found, UNSUPPORTED_VERSION, head.position + 21, ATTRIBUTES, ABSENT, codec_of(head))
        return
    head.partition_leader_epoch = -1
    head.crc = load_32(p + LEGACY_CRC_AT)
    head.attributes = p[17]
    head.last_offset_delta = 0
    head.base_timestamp = head.max_timestamp = -1 if head.magic == 0 else <int64_t>load_64(p + LEGACY_BODY_AT)
    head.producer_id = -1
    head.producer_epoch = -1
    head.base_sequence = -1
    head.count = ABSENT
    head.payload = head.position + (LEGACY_BODY_AT if head.magic == 0 else TIMESTAMPED_BODY_AT)
    if check_crc:
        computed = crc32(p + MAGIC_AT, head.size - MAGIC_AT)
        if computed != head.crc:
            trouble(found, BAD_CHECKSUM, head.position + LEGACY_CRC_AT, CRC, ABSENT, computed)
            return
    if codec_of(head) > 3:
        trouble(found, UNSUPPORTED_VERSION, head.position + 17, ATTRIBUTES, ABSENT, codec_of(head))
    elif codec_of(head):
        # The payload is the value; a key is of no use here, and Kafka does not look at it.
        read_body_lengths(data, head, &raw, 0, found)
        if found.code == OK:
            if raw.value_size == ABSENT:
                trouble(found, NULL_NOT_ALLOWED, head.payload_end - 4, RECORDS, ABSENT, 0)
            else:
                head.payload = raw.value - data
        if found.code != OK:
            head.payload = head.payload_end


cdef inline Py_ssize_t read_content(Cursor* cursor, bint nullable, Bytes* content) noexcept nogil:
    """Length and content of a key or value; every negative length is a null, as for Kafka."""
    cdef Bytes start = cursor.p
    cdef Py_ssize_t length = read_zigzag(cursor)
    content[0] = cursor.p
    if unlikely(length < 0):
        if not nullable:
            cursor_fail(cursor, BAD_LENGTH, start)
        return ABSENT
    if unlikely(length > cursor.end - cursor.p):
        cursor_fail(cursor, TRUNCATED, cursor.p)
        return ABSENT
    cursor.p += length
    return length


cdef inline int read_record(Cursor* cursor, const Head* head, RawRecord* raw) noexcept nogil:
    """A record up to its headers; the cursor ends where the record does from here on. The place of the fault if there is one."""
    cdef Bytes start = cursor.p
    cdef Py_ssize_t length = read_zigzag(cursor)
    cdef int32_t delta
    if unlikely(length < 0):
        cursor_fail(cursor, BAD_LENGTH, start)
    elif unlikely(length > cursor.end - cursor.p):
        cursor_fail(cursor, TRUNCATED, cursor.p)
    if unlikely(cursor.code != OK):
        return RECORD
    cursor.end = cursor.p + length
    if unlikely(not cursor_has(cursor, 1)):
        return RECORD_ATTRIBUTES
    cursor.p += 1
    raw.timestamp = <int64_t>(<uint64_t>head.base_timestamp + <uint64_t>read_varlong(cursor))
    if unlikely(cursor.code != OK):
        return RECORD_TIMESTAMP
    if head.attributes & LOG_APPEND_TIME:
        raw.timestamp = head.max_timestamp
    delta = read_zigzag(cursor)
    if unlikely(cursor.code != OK):
        return RECORD_OFFSET
    raw.offset = <int64_t>(<uint64_t>head.stored_offset + <uint64_t><int64_t>delta)
    # sequence numbers go from 2^31-1 to 0
    raw.sequence = -1 if head.base_sequence < 0 else <int32_t>((<uint32_t>head.base_sequence + <uint32_t>delta) & 0x7FFFFFFF)
    raw.key_size = read_content(cursor, True, &raw.key)
    if unlikely(cursor.code != OK):
        return RECORD_KEY
    raw.value_size = read_content(cursor, True, &raw.value)
    if unlikely(cursor.code != OK):
        return RECORD_VALUE
    start = cursor.p
    raw.headers = read_zigzag(cursor)
    if unlikely(raw.headers < 0):
        cursor_fail(cursor, BAD_LENGTH, start)
    elif unlikely(<int64_t>raw.headers * 2 > cursor.end - cursor.p):  # two lengths of a byte each
        cursor_fail(cursor, TRUNCATED, start)
    if unlikely(cursor.code != OK):
        return RECORD_HEADERS
    return 0


cdef inline int end_record(Cursor* cursor, Bytes end) noexcept nogil:
    """Check the end of a record; `end` is that of all records."""
    if unlikely(cursor.p != cursor.end):
        cursor_fail(cursor, TRAILING_BYTES, cursor.p)
        return RECORD
    cursor.end = end
    return 0


cdef inline bint check_batch_count(const Head* head, Py_ssize_t size, Trouble* found) noexcept nogil:
    """Return whether `size` bytes can hold the claimed number of records; check before allocating."""
    if head.count < 0:
        trouble(found, BAD_LENGTH, head.position + COUNT_AT, COUNT, ABSENT, 0)
        return False
    if <int64_t>head.count * LEAST_RECORD > size:
        trouble(found, TRUNCATED, head.position + COUNT_AT, COUNT, ABSENT, 0)
        return False
    return True


cdef inline bint read_inner(
    Bytes data, Py_ssize_t size, Py_ssize_t at, const Head* outer, Py_ssize_t record, bint check_crc, Head* inner, RawRecord* raw,
    Trouble* found,
) noexcept nogil:
    """A message inside a compressed one (Kafka's DeepRecordsIterator); its offset is as stored."""
    cdef Bytes p = data + at
    cdef int32_t length
    cdef uint32_t computed
    if size - at < HEAD:
        trouble(found, TRUNCATED, at, RECORD, record, 0)
        return False
    length = <int32_t>load_32(p + LENGTH_AT)
    inner.magic = p[MAGIC_AT]
    if inner.magic != outer.magic:
        trouble(found, UNSUPPORTED_VERSION, at + MAGIC_AT, RECORD_MAGIC, record, inner.magic)
        return False
    if length < (LEAST_LENGTH if inner.magic == 0 else 22):
        trouble(found, BAD_LENGTH, at + LENGTH_AT, RECORD_SIZE, record, 0)
        return False
    if length > size - at - FRAMING:
        trouble(found, TRUNCATED, at + FRAMING, RECORD, record, 0)
        return False
    inner.size = FRAMING + <Py_ssize_t>length
    inner.payload = at + (LEGACY_BODY_AT if inner.magic == 0 else TIMESTAMPED_BODY_AT)
    inner.payload_end = at + inner.size
    if check_crc:
        computed = crc32(p + MAGIC_AT, inner.size - MAGIC_AT)
        if computed != load_32(p + LEGACY_CRC_AT):
            trouble(found, BAD_CHECKSUM, at + LEGACY_CRC_AT, RECORD_CRC, record, computed)
            return False
    if p[17] & CODEC_MASK:
        trouble(found, LIMIT_EXCEEDED, at + 17, RECORD_ATTRIBUTES, record, 0)
        return False
    read_body_lengths(data, inner, raw, record, found)
    raw.offset = <int64_t>load_64(p)
    raw.timestamp = -1
    if inner.magic == 1:
        raw.timestamp = outer.max_timestamp if outer.attributes & LOG_APPEND_TIME else <int64_t>load_64(p + LEGACY_BODY_AT)
    return found.code == OK


cdef inline int64_t relative_base(const Head* outer, int64_t last) noexcept nogil:
    """Return the base of the offsets in a compressed set whose last message has `last`; 0 if they are absolute.

    Magic 1 stores offsets from 0 on inside and the last message's offset outside (KIP-31). A producer's set, which no broker has given
    offsets yet, comes out negative; Kafka then takes the stored ones.
    """
    cdef int64_t base = <int64_t>(<uint64_t>outer.stored_offset - <uint64_t>last)
    return base if outer.magic == 1 and base > 0 else 0
