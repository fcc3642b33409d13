"""Record batches without their records' contents, in place and without the GIL.

The readable contract is `kwire.protocol.secrets.record_blanking`. Messages of magic 0 and 1 that are compressed are unpacked and packed
again, which needs Python: then the caller begins once more with the bytes as they came.
"""

from libc.stdint cimport int32_t, uint32_t, uint8_t
from libc.string cimport memcmp, memset

from codec.record_layout cimport (
    CHECKED_AT, CONTROL, CRC_AT, HEAD, LEGACY_BODY_AT, LEGACY_CRC_AT, MAGIC_AT, RECORDS_AT, TIMESTAMPED_BODY_AT, WHOLE, Head, Trouble,
    codec_of, read_frame, read_head,
)
from wire.checksum cimport crc32, crc32c
from wire.cursor cimport OK, Bytes, Cursor, cursor_open, load_32, read_varint, read_varlong, read_zigzag
from wire.write_buffer cimport store_32

cdef enum:
    FILL = 0x78  # kwire.protocol.secrets.token_blanking.FILL
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4
    GZIP_HEAD = 10
    GZIP_SIZE = 4  # at the end
    XERIAL_MARK = 8
    XERIAL_HEAD = 20
    LONGEST_LENGTH = 5  # of a varint of 32 bits


cdef inline void fill(Bytes start, Bytes stop) noexcept nogil:
    if start < stop:
        memset(<uint8_t*>start, FILL, stop - start)


cdef inline bint blank_content(Cursor* cursor, bint kept) noexcept nogil:
    """Step over a key, a value or a part of a header; False, and the cursor before its length, where it cannot be read."""
    cdef Bytes before = cursor.p
    cdef int32_t size = read_zigzag(cursor)
    if cursor.code != OK or size > cursor.end - cursor.p:
        cursor.p = before
        return False
    if size > 0:
        if not kept:
            memset(<uint8_t*>cursor.p, FILL, size)
        cursor.p += size
    return True


cdef inline Bytes blank_contents(Bytes at, Bytes stop, bint control) noexcept nogil:
    """Blank the contents of a record of magic 2; up to where it is understood."""
    cdef Cursor cursor
    cdef Bytes known = at
    cdef Py_ssize_t left
    if at == stop:
        return at
    cursor_open(&cursor, at, stop - at, 1)  # behind the attributes
    read_varlong(&cursor)
    if cursor.code != OK:
        return known
    known = cursor.p
    read_zigzag(&cursor)
    if cursor.code != OK:
        return known
    if not blank_content(&cursor, control) or not blank_content(&cursor, False):
        return cursor.p
    known = cursor.p
    left = max(read_zigzag(&cursor), <int32_t>0)
    if cursor.code != OK:
        return known
    left = 2 * min(left, <Py_ssize_t>(stop - cursor.p))
    while left > 0 and blank_content(&cursor, False):
        left -= 1
    return cursor.p


cdef inline void blank_many(Bytes at, Bytes end, bint control) noexcept nogil:
    """The records of a batch of magic 2; behind the first that cannot be read nothing stays."""
    cdef Cursor cursor
    cdef Bytes before
    cdef int32_t size
    cursor_open(&cursor, at, end - at, 0)
    while cursor.p < end:
        before = cursor.p
        size = read_zigzag(&cursor)
        if cursor.code != OK:
            cursor.p = before + min(<Py_ssize_t>LONGEST_LENGTH, <Py_ssize_t>(end - before))  # what is wrong stays
            break
        if size < 0 or size > end - cursor.p:
            break
        fill(blank_contents(cursor.p, cursor.p + size, control), cursor.p + size)
        cursor.p += size
    fill(cursor.p, end)


cdef inline void blank_message(Bytes at, Bytes end) noexcept nogil:
    """Key and value of a message of magic 0 or 1."""
    cdef int32_t _index
    cdef int32_t size
    for _index in range(2):
        if end - at < 4:
            break
        size = max(<int32_t>load_32(at), <int32_t>0)
        at += 4
        size = <int32_t>min(<Py_ssize_t>size, <Py_ssize_t>(end - at))
        fill(at, at + size)
        at += size
    fill(at, end)


cdef inline bint begins_with(Bytes payload, Py_ssize_t size, const char* mark, Py_ssize_t mark_size) noexcept nogil:
    return size >= mark_size and memcmp(payload, mark, mark_size) == 0


cdef inline Py_ssize_t packing_of(int codec, Bytes payload, Py_ssize_t size, Py_ssize_t* last) noexcept nogil:
    """Return the size of a compressed payload's header, and in `last` of its trailer; 0 if it does not begin with its codec's mark."""
    cdef Cursor cursor
    cdef uint8_t flags
    last[0] = 0
    if codec == GZIP and begins_with(payload, size, b"\x1f\x8b", 2):
        if size < GZIP_HEAD + GZIP_SIZE:
            return 2
        last[0] = GZIP_SIZE
        return GZIP_HEAD
    if codec == SNAPPY:
        if begins_with(payload, size, b"\x82SNAPPY\x00", XERIAL_MARK):
            return XERIAL_HEAD
        cursor_open(&cursor, payload, size, 0)
        read_varint(&cursor)
        return cursor.p - payload if cursor.code == OK else 0
    if codec == LZ4 and begins_with(payload, size, b"\x04\x22\x4d\x18", 4):
        return 15 if size > 4 and payload[4] & 0x08 else 7
    if codec == ZSTD and size > 4 and begins_with(payload, size, b"\x28\xb5\x2f\xfd", 4):
        flags = payload[4]
        return 5 + (0 if flags & 0x20 else 1) + (4 if flags & 3 == 3 else flags & 3) + (
            flags >> 5 & 1 if flags >> 6 == 0 else 1 << (flags >> 6)
        )
    return 0


cdef inline bint blank_batch(Bytes data, const Head* head, bint flawed) noexcept nogil:
    """Blank the records of a batch that `read_frame` found; False where they have to be packed again."""
    cdef Bytes start = data + head.payload
    cdef Bytes stop = data + head.payload_end
    cdef int codec = codec_of(head)
    cdef Py_ssize_t keep, last
    if flawed:
        fill(data + head.position + (RECORDS_AT if head.magic == 2 else TIMESTAMPED_BODY_AT if head.magic else LEGACY_BODY_AT), stop)
    elif codec and head.magic < 2:
        return False
    elif codec:
        keep = packing_of(codec, start, stop - start, &last)
        if keep < stop - start:
            fill(start + keep, stop - last)
    elif head.magic == 2:
        blank_many(start, stop, head.attributes & CONTROL)
    else:
        blank_message(start, stop)
    return True


cdef inline uint32_t checksum_of(Bytes data, const Head* head) noexcept nogil:
    cdef Bytes end = data + head.payload_end
    cdef Bytes start = data + head.position + (CHECKED_AT if head.magic == 2 else MAGIC_AT)
    return crc32c(start, end - start, True) if head.magic == 2 else crc32(start, end - start)


cdef inline bint blank_records(uint8_t* data, Py_ssize_t size) noexcept nogil:
    """Blank record batches, of any magic and mixture; a last batch may be cut.

    False where messages have to be packed again; some of the bytes are blanked already then.
    """
    cdef Head head
    cdef Trouble found
    cdef Py_ssize_t end = 0
    cdef Py_ssize_t known = HEAD
    cdef bint was_right
    while True:
        found.code = OK
        if read_frame(data, size, end, &head, &found) != WHOLE:
            break
        read_head(data, &head, False, &found)
        end += head.size
        was_right = checksum_of(data, &head) == head.crc
        if not blank_batch(data, &head, found.code != OK):
            return False
        if was_right:
            store_32(data + head.position + (CRC_AT if head.magic == 2 else LEGACY_CRC_AT), checksum_of(data, &head))
    # of a cut batch its header stays, of what is no batch only what says so
    if size - end > MAGIC_AT and data[end + MAGIC_AT] <= 2:
        known = RECORDS_AT if data[end + MAGIC_AT] == 2 else TIMESTAMPED_BODY_AT if data[end + MAGIC_AT] else LEGACY_BODY_AT
    fill(data + min(end + known, size), data + size)
    return True
