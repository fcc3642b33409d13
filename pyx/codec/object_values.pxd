"""Single values as Python objects: ints, text, bytes, UUIDs.

What repeats is made once and shared, for it is immutable, and within bounds: see `Build` and `TextMemo`.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from codec.object_program cimport HIGHEST, LOWEST, Objects
from codec.program cimport BOOL, INT8, INT16, INT32, INT64, STRING, STRING_COMPACT, UINT16, UINT32, UUID, Trace
from codec.skip cimport read_size
from wire.cursor cimport (
    BAD_UTF8, NULL_LENGTH, Bytes, Cursor, cursor_fail, cursor_open, likely, load_16, load_32, load_64, load_double, unlikely,
)
from wire.raw_python cimport (
    new_none, raw_bytes, raw_decref, raw_error_clear, raw_error_is, raw_false, raw_float, raw_incref, raw_long, raw_long_long,
    raw_text_data, raw_text_decode, raw_text_is_ascii, raw_text_new, raw_text_size, raw_true, raw_unicode_error, raw_xdecref, uuid_new,
    view_new,
)

cdef enum:
    MEMO = 64  # a power of two
    MEMO_FROM = 8  # elements in an array of structs that make the memo worth its start
    TEXTS = 128  # a power of two
    TEXT_LIMIT = 64  # bytes of the longest text that is kept

# Texts that an owner meets again and again, such as client ids: at most TEXTS of them, one per place, none longer than TEXT_LIMIT.
cdef struct TextMemo:
    PyObject* texts[TEXTS]

# Ints that are met again and again, such as broker ids and size limits: the last one of each place.
cdef struct NumberMemo:
    PyObject* numbers[MEMO]
    int32_t values[MEMO]

# One run of the executor. What repeats inside one message is made once and shared, for it is immutable: big ints and neighbouring arrays
# with the same content (the replicas of a partition and those in sync). Both are forgotten when the run ends, unless its owner has memos
# that outlive it.
cdef struct Build:
    Cursor cursor
    Trace trace
    const char* errors  # how text that is not UTF-8 is treated, NULL for strict
    PyObject* source  # what values of type bytes are views of, see `build_views`; NULL where they are copied
    PyObject* array  # the last array of fixed-size elements, or NULL
    Bytes array_start  # its first element on the wire
    Py_ssize_t array_size  # in bytes
    int32_t array_element
    TextMemo* texts  # or NULL
    NumberMemo* numbers  # or NULL
    NumberMemo own_numbers


cdef inline void build_open(Build* build, Bytes base, Py_ssize_t size, Py_ssize_t start, bint lenient) noexcept:
    cursor_open(&build.cursor, base, size, start)
    build.trace.depth = 0
    build.errors = NULL
    if lenient:
        build.errors = "replace"
    build.source = NULL
    build.array = NULL
    build.texts = NULL
    build.numbers = NULL


cdef inline void build_views(Build* build, PyObject* source) noexcept:
    """Leave values of type bytes where they are. `source` has the bytes that are read: `bytes`, or a view that `read_only` gave."""
    raw_incref(source)
    build.source = source


cdef inline void build_close(Build* build) noexcept:
    raw_xdecref(build.source)
    raw_xdecref(build.array)
    if build.numbers is &build.own_numbers:
        forget_numbers(&build.own_numbers)


cdef inline void build_remember(Build* build) noexcept:
    """Remember numbers from now on: the message is long enough to make that worth its start."""
    if build.numbers is NULL:
        build.numbers = &build.own_numbers
        memset(build.numbers, 0, sizeof(NumberMemo))


cdef inline void forget_numbers(NumberMemo* memo) noexcept:
    cdef int index
    for index in range(MEMO):
        raw_xdecref(memo.numbers[index])


cdef inline void forget_texts(TextMemo* memo) noexcept:
    cdef int index
    for index in range(TEXTS):
        raw_xdecref(memo.texts[index])


cdef inline PyObject* build_small(const Objects* objects, int value) noexcept:
    cdef PyObject* number
    if LOWEST <= value <= HIGHEST:
        number = objects.small[value - LOWEST]
        raw_incref(number)
        return number
    return raw_long(value)


cdef inline PyObject* build_int32(const Objects* objects, Build* build, int32_t value) noexcept:
    cdef NumberMemo* memo = build.numbers
    cdef PyObject* number
    cdef PyObject* old
    cdef uint32_t place
    if LOWEST <= value <= HIGHEST:
        number = objects.small[value - LOWEST]
        raw_incref(number)
        return number
    if memo is NULL:
        return raw_long(value)
    place = (<uint32_t>value * <uint32_t>2654435769U) >> 26
    old = memo.numbers[place]
    if old is not NULL and memo.values[place] == value:
        raw_incref(old)
        return old
    number = raw_long(value)
    if number is not NULL:
        raw_incref(number)
        memo.numbers[place] = number
        memo.values[place] = value
        raw_xdecref(old)
    return number


cdef inline PyObject* build_int64(const Objects* objects, int64_t value) noexcept:
    cdef PyObject* number
    if LOWEST <= value <= HIGHEST:
        number = objects.small[value - LOWEST]
        raw_incref(number)
        return number
    return raw_long_long(value)


cdef inline PyObject* build_fixed(const Objects* objects, Build* build, int32_t code, Bytes* p) noexcept:
    """A value of fixed size at `p`, which moves behind it; its bytes are known to be there."""
    cdef Bytes at = p[0]
    cdef PyObject* flag
    if code == INT32:
        p[0] = at + 4
        return build_int32(objects, build, <int32_t>load_32(at))
    elif code == INT16:
        p[0] = at + 2
        return build_small(objects, <int16_t>load_16(at))
    elif code == INT64:
        p[0] = at + 8
        return build_int64(objects, <int64_t>load_64(at))
    elif code == INT8:
        p[0] = at + 1
        return build_small(objects, <int8_t>at[0])
    elif code == BOOL:
        p[0] = at + 1
        flag = raw_true if at[0] else raw_false
        raw_incref(flag)
        return flag
    elif code == UUID:
        p[0] = at + 16
        return uuid_new(objects.uuid, at)
    elif code == UINT16:
        p[0] = at + 2
        return build_small(objects, load_16(at))
    elif code == UINT32:
        p[0] = at + 4
        return build_int64(objects, load_32(at))
    p[0] = at + 8
    return raw_float(load_double(at))


cdef inline bint copy_ascii(uint8_t* target, const uint8_t* source, Py_ssize_t size) noexcept nogil:
    """Copy text, words at a time, for most is short; whether it is plain ASCII."""
    cdef uint64_t seen = 0
    cdef uint64_t eight
    cdef uint8_t one
    if size < 8:
        while size > 0:
            size -= 1
            one = source[size]
            target[size] = one
            seen |= one
    else:
        while size > 8:
            memcpy(&eight, source, 8)
            memcpy(target, &eight, 8)
            seen |= eight
            source += 8
            target += 8
            size -= 8
        memcpy(&eight, source + size - 8, 8)  # may overlap what was copied, with the same
        memcpy(target + size - 8, &eight, 8)
        seen |= eight
    return seen & <uint64_t>0x8080808080808080ULL == 0


cdef inline PyObject* decode_text(Build* build, Bytes content, Py_ssize_t size) noexcept:
    cdef PyObject* text = raw_text_decode(<const char*>content, size, build.errors)
    if text is NULL and raw_error_is(raw_unicode_error):
        raw_error_clear()
        cursor_fail(&build.cursor, BAD_UTF8, content)
    return text


cdef inline PyObject* copy_text(Build* build, Bytes content, Py_ssize_t size) noexcept:
    """The text of `size` bytes. What is looked at is what was copied: the buffer may be one that another process writes."""
    cdef PyObject* text
    if size == 1:
        return decode_text(build, content, size)
    text = raw_text_new(size, 127)
    if unlikely(text is NULL):
        return NULL
    if likely(copy_ascii(raw_text_data(text), content, size)):
        return text
    raw_decref(text)
    return decode_text(build, content, size)


cdef inline bint same_text(const uint8_t* one, const uint8_t* other, Py_ssize_t size) noexcept nogil:
    """Compare two texts of at least two bytes by words; most are short and equal."""
    cdef uint64_t ours, theirs
    if size < 8:
        return memcmp(one, other, size) == 0
    while size > 8:
        memcpy(&ours, one, 8)
        memcpy(&theirs, other, 8)
        if ours != theirs:
            return False
        one += 8
        other += 8
        size -= 8
    memcpy(&ours, one + size - 8, 8)
    memcpy(&theirs, other + size - 8, 8)
    return ours == theirs


cdef inline PyObject* build_text(Build* build, Bytes content, Py_ssize_t size) noexcept:
    """The text of `size` bytes, from the memo if there is one and it has it."""
    cdef PyObject** place
    cdef PyObject* text
    cdef uint64_t first = 0
    cdef uint64_t last = 0
    if build.texts is NULL or size < 2 or size > TEXT_LIMIT:
        return copy_text(build, content, size)
    if size >= 8:
        memcpy(&first, content, 8)
        memcpy(&last, content + size - 8, 8)
    else:
        first = <uint64_t>content[0] << 8 | content[size >> 1]
        last = content[size - 1]
    first = (first ^ (last * 3) ^ <uint64_t>size) * <uint64_t>0x9E3779B97F4A7C15ULL
    place = &build.texts.texts[first >> 57]
    text = place[0]
    if text is not NULL and raw_text_size(text) == size and same_text(raw_text_data(text), content, size):
        raw_incref(text)
        return text
    text = copy_text(build, content, size)
    if text is not NULL and raw_text_is_ascii(text):
        raw_xdecref(place[0])
        place[0] = text
        raw_incref(text)
    return text


cdef inline PyObject* build_view(Build* build, Bytes content, Py_ssize_t size) noexcept:
    """A view of `size` bytes. Each is made from the one before, so that all of them share what the first got of the exporter."""
    cdef PyObject* view = view_new(build.source, content, size)
    if likely(view is not NULL):
        raw_incref(view)
        raw_decref(build.source)
        build.source = view
    return view


cdef inline PyObject* build_sized(Build* build, int32_t code, bint nullable) noexcept:
    cdef Cursor* cursor = &build.cursor
    cdef Py_ssize_t size = read_size(cursor, code, nullable)
    cdef Bytes content = cursor.p
    if size < 0:
        return new_none() if size == NULL_LENGTH else NULL
    cursor.p = content + size
    if code == STRING or code == STRING_COMPACT:
        return build_text(build, content, size)
    if build.source is not NULL:
        return build_view(build, content, size)
    return raw_bytes(<const char*>content, size)
