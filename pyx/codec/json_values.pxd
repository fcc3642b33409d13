"""Values as the text of JSON, written into the content of a column of texts.

Who writes asks for room first (`text_room`); behind it there is always `SLACK` more, so short names are moved with a fixed size.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, int8_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, strlen

from codec.column_buffers cimport SLACK, Column, Store, reserve_content
from codec.program cimport BOOL, FLOAT64, INT16, INT32, INT64, INT8, UINT16, UINT32, UUID
from wire.cursor cimport Bytes, likely, load_16, load_32, load_64, load_double, unlikely
from wire.utf8 cimport is_utf8
from wire.uuid_text cimport put_uuid

cdef extern from *:
    """
    /* The digits of 0 to 99. */
    static const char kwire_digits[201] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
        "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    static const char kwire_base64[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char kwire_hex[17] = "0123456789abcdef";

    static inline unsigned char *kwire_put_number(unsigned char *p, uint64_t value) {
        unsigned char text[20];
        unsigned char *at = text + 20;
        if (value < 10) {
            *p = (unsigned char)('0' + value);
            return p + 1;
        }
        while (value >= 100) {
            memcpy(at -= 2, kwire_digits + 2 * (value % 100), 2);
            value /= 100;
        }
        if (value >= 10) memcpy(at -= 2, kwire_digits + 2 * value, 2);
        else *--at = (unsigned char)('0' + value);
        memcpy(p, at, (size_t)(text + 20 - at));
        return p + (text + 20 - at);
    }

    /* Of which of eight bytes JSON or UTF-8 has more to say: quotes, backslashes, control characters, what is not ASCII. */
    static inline uint64_t kwire_special(uint64_t word) {
        const uint64_t ones = 0x0101010101010101ULL, high = 0x8080808080808080ULL;
        uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * 0x5C);
        return (word | ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & high;
    }
    """
    const char* base64_letters "kwire_base64"
    const char* hex_digits "kwire_hex"
    uint8_t* put_number "kwire_put_number"(uint8_t* p, uint64_t value) noexcept nogil
    uint64_t special_bytes "kwire_special"(uint64_t word) noexcept nogil

cdef extern from "Python.h":
    enum: Py_DTSF_ADD_DOT_0
    char* double_text "PyOS_double_to_string"(double value, char letter, int precision, int flags, int* kind) except NULL
    void free_text "PyMem_Free"(void*)

# The content of a column of texts, and where it is written.
cdef struct TextOut:
    Store* store
    Column* column
    uint8_t* p
    uint8_t* end  # of the room; the slack is behind it


cdef inline void text_open(TextOut* out, Store* store, Column* column, Py_ssize_t used) noexcept nogil:
    out.store = store
    out.column = column
    out.p = column.data + used
    out.end = column.data + column.data_room - SLACK


cdef inline bint grow_text(TextOut* out, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t used = out.p - out.column.data
    if not reserve_content(out.store, out.column, used + size):
        return False
    text_open(out, out.store, out.column, used)
    return True


cdef inline bint text_room(TextOut* out, Py_ssize_t size) noexcept nogil:
    """Make room for `size` bytes; False where a column can hold no more, or memory ends."""
    return likely(out.end - out.p >= size) or grow_text(out, size)


cdef inline void put_name(TextOut* out, Bytes name, int32_t size) noexcept nogil:
    """Write a name; there is room."""
    if likely(size <= SLACK):
        memcpy(out.p, name, SLACK)  # names are followed by as much, see kwire.codec.json_fields
    else:
        memcpy(out.p, name, size)
    out.p += size


cdef inline void put_word(TextOut* out, const char* word, int32_t size) noexcept nogil:
    """Write a word of JSON; there is room."""
    memcpy(out.p, word, size)
    out.p += size


cdef inline void put_null_text(TextOut* out) noexcept nogil:
    put_word(out, "null", 4)


cdef inline void put_integer(TextOut* out, int64_t value) noexcept nogil:
    if value < 0:
        out.p[0] = c"-"
        out.p = put_number(out.p + 1, 0 - <uint64_t>value)
    else:
        out.p = put_number(out.p, value)


cdef inline void put_float(TextOut* out, double value) noexcept nogil:
    """A float as Python and Java write one that is finite; names of the others as texts, for JSON has no such numbers."""
    cdef char* text
    if value != value:
        put_word(out, '"NaN"', 5)
    elif value - value != 0:
        if value > 0:
            put_word(out, '"Infinity"', 10)
        else:
            put_word(out, '"-Infinity"', 11)
    else:
        with gil:
            text = double_text(value, c"r", 0, Py_DTSF_ADD_DOT_0, NULL)
            put_word(out, text, <int32_t>strlen(text))
            free_text(text)


cdef inline int32_t longest_text(int32_t code) noexcept nogil:
    """Bytes that a value of fixed size takes at most."""
    if code == BOOL or code == INT8:
        return 5
    if code == INT16 or code == UINT16:
        return 6
    return 11 if code == INT32 or code == UINT32 else 32


cdef inline void put_fixed(TextOut* out, int32_t code, Bytes* p) noexcept nogil:
    """Write a value of fixed size, which is all there, and step behind it; there is room for `LONGEST_VALUE` bytes."""
    cdef Bytes at = p[0]
    if code == INT32:
        p[0] = at + 4
        put_integer(out, <int32_t>load_32(at))
    elif code == INT16:
        p[0] = at + 2
        put_integer(out, <int16_t>load_16(at))
    elif code == INT64:
        p[0] = at + 8
        put_integer(out, <int64_t>load_64(at))
    elif code == BOOL:
        p[0] = at + 1
        if at[0]:
            put_word(out, "true", 4)
        else:
            put_word(out, "false", 5)
    elif code == INT8:
        p[0] = at + 1
        put_integer(out, <int8_t>at[0])
    elif code == UUID:
        p[0] = at + 16
        out.p[0] = c'"'
        put_uuid(out.p + 1, at)
        out.p[23] = c'"'
        out.p += 24
    elif code == UINT16:
        p[0] = at + 2
        out.p = put_number(out.p, load_16(at))
    elif code == UINT32:
        p[0] = at + 4
        out.p = put_number(out.p, load_32(at))
    else:
        p[0] = at + 8
        put_float(out, load_double(at))


cdef inline bint is_literal(Bytes text, Py_ssize_t size) noexcept nogil:
    """Return whether a text is ASCII and needs no escape in JSON."""
    cdef uint64_t word
    cdef uint64_t found = 0
    cdef Bytes last
    cdef uint8_t one
    if size >= 8:
        last = text + size - 8
        while text < last:
            memcpy(&word, text, 8)
            found |= special_bytes(word)
            text += 8
        memcpy(&word, last, 8)
        return (found | special_bytes(word)) == 0
    while size > 0:
        size -= 1
        one = text[size]
        if one < 0x20 or one > 0x7F or one == c'"' or one == c"\\":
            return False
    return True


cdef inline int escaped_size(uint8_t one) noexcept nogil:
    if one >= 0x20:
        return 2 if one == c'"' or one == c"\\" else 1
    return 2 if one == 8 or one == 9 or one == 10 or one == 12 or one == 13 else 6


cdef inline bint put_escaped(TextOut* out, Bytes text, Py_ssize_t size) noexcept nogil:
    """Write a text byte by byte, with the escapes of Python's and Java's writers."""
    cdef Py_ssize_t whole = 2
    cdef Py_ssize_t index
    cdef uint8_t one
    cdef uint8_t* p
    for index in range(size):
        whole += escaped_size(text[index])
    if not text_room(out, whole + 4):
        return False
    p = out.p
    p[0] = c'"'
    p += 1
    for index in range(size):
        one = text[index]
        if escaped_size(one) == 1:
            p[0] = one
            p += 1
            continue
        p[0] = c"\\"
        if one >= 0x20:
            p[1] = one
        elif one == 8:
            p[1] = c"b"
        elif one == 9:
            p[1] = c"t"
        elif one == 10:
            p[1] = c"n"
        elif one == 12:
            p[1] = c"f"
        elif one == 13:
            p[1] = c"r"
        else:
            memcpy(p + 1, <const char*>"u00", 3)
            p[4] = hex_digits[one >> 4]
            p[5] = hex_digits[one & 15]
            p += 4
        p += 2
    p[0] = c'"'
    out.p = p + 1
    return True


cdef inline bint put_string(TextOut* out, Bytes text, Py_ssize_t size, bint* refused) noexcept nogil:
    """Write a text in quotes; False without room, or, `refused`, where it is not UTF-8."""
    if likely(is_literal(text, size)):
        if not text_room(out, size + 4):
            return False
        out.p[0] = c'"'
        memcpy(out.p + 1, text, size)
        out.p[size + 1] = c'"'
        out.p += size + 2
        return True
    if unlikely(not is_utf8(text, size)):
        refused[0] = True
        return False
    return put_escaped(out, text, size)


cdef inline bint put_base64(TextOut* out, Bytes content, Py_ssize_t size) noexcept nogil:
    """Write bytes as base64, with padding."""
    cdef const char* letters = base64_letters
    cdef uint32_t three
    cdef uint8_t* p
    if not text_room(out, (size + 2) // 3 * 4 + 4):
        return False
    p = out.p
    p[0] = c'"'
    p += 1
    while size >= 3:
        three = <uint32_t>content[0] << 16 | <uint32_t>content[1] << 8 | content[2]
        p[0] = letters[three >> 18]
        p[1] = letters[three >> 12 & 63]
        p[2] = letters[three >> 6 & 63]
        p[3] = letters[three & 63]
        p += 4
        content += 3
        size -= 3
    if size:
        three = <uint32_t>content[0] << 16 | (<uint32_t>content[1] << 8 if size == 2 else 0)
        p[0] = letters[three >> 18]
        p[1] = letters[three >> 12 & 63]
        p[2] = letters[three >> 6 & 63] if size == 2 else <uint8_t>c"="
        p[3] = c"="
        p += 4
    p[0] = c'"'
    out.p = p + 1
    return True
