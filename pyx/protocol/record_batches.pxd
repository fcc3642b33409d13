"""Record batches of a Produce request or Fetch response: are they as they should be, and how much do they hold?

The conditions of tracking/record_batches.py and the counts of tracking/topic_use.py. Only headers are looked at and the length
of a first record; nothing is unpacked. The Python modules report what is malformed.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from codec.record_layout cimport (
    BROKEN, CONTROL, END, LEAST_RECORD, UNSUPPORTED_VERSION, Head, Trouble, codec_of, read_frame, read_head, read_zigzag,
)
from wire.cursor cimport OK, Bytes, Cursor, cursor_open

cdef enum Batches:
    BATCHES_REGULAR = 0
    BATCHES_PARTIAL = 1  # regular, but the last one is cut
    BATCHES_FALLBACK = 2

cdef enum:
    GZIP = 1
    LZ4 = 3
    ZSTD = 4
    LARGE = 1 << 20
    SUSPICIOUS_RATIO = 200

cdef struct Weight:
    int64_t records
    int64_t batches  # whole ones
    int64_t bytes
    int64_t largest
    uint32_t magics  # bit sets
    uint32_t codecs
    bint packed  # there are compressed messages of magic 0 or 1, which do not say how many they hold: `records` lacks them


cdef inline uint64_t little(Bytes payload, Py_ssize_t size, Py_ssize_t start, Py_ssize_t count) noexcept nogil:
    """A little-endian number of as many of `count` bytes as there are."""
    cdef uint64_t value = 0
    cdef Py_ssize_t index
    for index in range(count):
        if 0 <= start + index < size:
            value |= <uint64_t>payload[start + index] << 8 * index
    return value


cdef inline uint64_t claimed_size(int codec, Bytes payload, Py_ssize_t size) noexcept nogil:
    """The unpacked size that a payload of at least four bytes states, 0 where it states none."""
    cdef int single, flag, count
    cdef uint64_t value
    if codec == GZIP:
        return little(payload, size, size - 4, 4)
    if codec == LZ4:
        return little(payload, size, 6, 8) if size > 4 and payload[4] & 0x08 else 0
    if size < 6:
        return 0
    single = payload[4] >> 5 & 1
    flag = payload[4] >> 6
    count = payload[4] & 3
    count = 4 if count == 3 else count
    value = little(payload, size, 5 + (1 - single) + count, 1 << flag if flag else single)
    return value + 256 if flag == 1 else value


cdef inline bint is_marked(int codec, Bytes payload, Py_ssize_t size) noexcept nogil:
    """Return whether a payload begins with its codec's mark."""
    if codec == GZIP:
        return size >= 2 and payload[0] == 0x1F and payload[1] == 0x8B
    if size < 4:
        return False
    if codec == LZ4:
        return payload[0] == 0x04 and payload[1] == 0x22 and payload[2] == 0x4D and payload[3] == 0x18
    return payload[0] == 0x28 and payload[1] == 0xB5 and payload[2] == 0x2F and payload[3] == 0xFD


cdef inline bint is_regular(Bytes data, const Head* head) noexcept nogil:
    """Return whether a batch of magic 2 is valid."""
    cdef int codec = codec_of(head)
    cdef Py_ssize_t size = head.payload_end - head.payload
    cdef Bytes payload = data + head.payload
    cdef uint64_t most
    cdef Cursor cursor
    cdef int32_t length
    if head.count < 0 or (codec == 0 and <int64_t>head.count * LEAST_RECORD > size):
        return False
    if size and (codec == GZIP or codec == LZ4 or codec == ZSTD):
        if not is_marked(codec, payload, size):
            return False
        most = <uint64_t>size * SUSPICIOUS_RATIO
        if claimed_size(codec, payload, size) > (most if most > LARGE else <uint64_t>LARGE):
            return False
    if codec == 0 and head.count:
        cursor_open(&cursor, payload, size, 0)
        length = read_zigzag(&cursor)
        if cursor.code != OK or length < LEAST_RECORD - 1 or length > cursor.end - cursor.p:
            return False
    return True


cdef inline void weigh(const Head* head, Weight* weight) noexcept nogil:
    """Count one batch."""
    weight.batches += 1
    weight.bytes += head.size
    if head.size > weight.largest:
        weight.largest = head.size
    weight.magics |= <uint32_t>1 << head.magic
    weight.codecs |= <uint32_t>1 << codec_of(head)
    if head.magic == 2:
        if not head.attributes & CONTROL and head.count > 0:
            weight.records += head.count
    elif codec_of(head) == 0:
        weight.records += 1
    else:
        weight.packed = True


cdef inline int look_at_batches(Bytes data, Py_ssize_t size, Weight* weight) noexcept nogil:
    """Classify the batches in `size` bytes as a value of `Batches`; add their contents to `weight`."""
    cdef Head head
    cdef Trouble found
    cdef Py_ssize_t at = 0
    cdef int reading
    while True:
        found.code = OK
        reading = read_frame(data, size, at, &head, &found)
        if reading == BROKEN:
            return BATCHES_FALLBACK
        if reading == END:
            return BATCHES_REGULAR if at == size else BATCHES_PARTIAL
        read_head(data, &head, False, &found)
        if found.code == UNSUPPORTED_VERSION or (head.magic == 2 and not is_regular(data, &head)):
            return BATCHES_FALLBACK
        weigh(&head, weight)
        at += head.size
