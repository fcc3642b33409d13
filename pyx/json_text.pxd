"""JSON as brokers write it, stepped over and read in place: no object is made of what nobody asks for.

Every function gives 0 where the text is not JSON, and also where it is JSON of a kind that brokers do not write in that place (escapes in a
name, numbers of a hundred digits, nesting beyond any message): the caller asks Python then. No byte behind `end` is looked at.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp

cdef enum:
    JSON_DEPTH = 64
    JSON_DIGITS = 400  # a longer number is left to Python, which has a limit of its own


cdef struct Json:
    const uint8_t* at
    const uint8_t* end


cdef struct JsonText:  # what stands between two quotes
    const uint8_t* at
    Py_ssize_t size
    bint escaped


cdef extern from *:
    """
    /* What ends a string, escapes, or may not stand in one. */
    static const unsigned char kwire_json_stop[256] = {
        1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,
        0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
        0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0
    };
    """
    const uint8_t[256] JSON_STOP "kwire_json_stop"


cdef inline void json_space(Json* json) noexcept nogil:
    while json.at < json.end and (json.at[0] == 0x20 or (0x09 <= json.at[0] <= 0x0D and json.at[0] != 0x0B and json.at[0] != 0x0C)):
        json.at += 1


cdef inline bint is_hex(uint8_t byte) noexcept nogil:
    return 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x46 or 0x61 <= byte <= 0x66


cdef inline bint json_string(Json* json, JsonText* text) noexcept nogil:
    """The string whose quote is next."""
    cdef const uint8_t* at = json.at + 1
    cdef const uint8_t* end = json.end
    cdef int _left
    if json.at >= end or json.at[0] != 0x22:
        return False
    text.at = at
    text.escaped = False
    while True:
        while at < end and not JSON_STOP[at[0]]:
            at += 1
        if at >= end:
            return False
        if at[0] == 0x22:
            break
        if at[0] != 0x5C or at + 1 >= end:
            return False
        text.escaped = True
        at += 1
        if at[0] == 0x75:  # u and four digits
            for _left in range(4):
                at += 1
                if at >= end or not is_hex(at[0]):
                    return False
        elif at[0] not in (0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74):
            return False
        at += 1
    text.size = at - text.at
    json.at = at + 1
    return True


cdef inline bint json_name(Json* json, JsonText* text) noexcept nogil:
    """The name of a member and its colon; then its value is next."""
    if not json_string(json, text) or text.escaped:
        return False
    json_space(json)
    if json.at >= json.end or json.at[0] != 0x3A:
        return False
    json.at += 1
    json_space(json)
    return json.at < json.end


cdef inline bint json_word(Json* json, const char* word, Py_ssize_t size) noexcept nogil:
    """`true`, `false` or `null`."""
    if json.end - json.at < size or memcmp(json.at, word, size) != 0:
        return False
    json.at += size
    return True


cdef inline bint json_is_null(Json* json) noexcept nogil:
    return json.at < json.end and json.at[0] == 0x6E and json_word(json, b"null", 4)


cdef inline Py_ssize_t json_digits(Json* json) noexcept nogil:
    cdef const uint8_t* first = json.at
    while json.at < json.end and 0x30 <= json.at[0] <= 0x39:
        json.at += 1
    return json.at - first


cdef inline bint json_number(Json* json) noexcept nogil:
    """Step over a number."""
    cdef const uint8_t* first = json.at
    cdef Py_ssize_t digits
    if json.at < json.end and json.at[0] == 0x2D:
        json.at += 1
    if json.at < json.end and json.at[0] == 0x30:
        json.at += 1
    elif json_digits(json) == 0:
        return False
    if json.at < json.end and json.at[0] == 0x2E:
        json.at += 1
        if json_digits(json) == 0:
            return False
    if json.at < json.end and (json.at[0] | 0x20) == 0x65:
        json.at += 1
        if json.at < json.end and (json.at[0] == 0x2B or json.at[0] == 0x2D):
            json.at += 1
        digits = json_digits(json)
        if digits == 0:
            return False
    return json.at - first < JSON_DIGITS


cdef inline bint json_integer(Json* json, int64_t* value) noexcept nogil:
    """Read an integer of at most 18 digits."""
    cdef const uint8_t* first
    cdef bint negative = json.at < json.end and json.at[0] == 0x2D
    cdef int64_t found = 0
    cdef Py_ssize_t digits
    if negative:
        json.at += 1
    first = json.at
    while json.at < json.end and 0x30 <= json.at[0] <= 0x39 and json.at - first < 19:
        found = found * 10 + (json.at[0] - 0x30) if json.at - first < 18 else found
        json.at += 1
    digits = json.at - first
    if digits == 0 or digits > 18 or (digits > 1 and first[0] == 0x30):
        return False
    if json.at < json.end and (json.at[0] == 0x2E or (json.at[0] | 0x20) == 0x65):
        return False
    value[0] = -found if negative else found
    return True


cdef inline bint json_scalar(Json* json) noexcept nogil:
    cdef JsonText text
    cdef uint8_t first = json.at[0]
    if first == 0x22:
        return json_string(json, &text)
    if first == 0x74:
        return json_word(json, b"true", 4)
    if first == 0x66:
        return json_word(json, b"false", 5)
    if first == 0x6E:
        return json_word(json, b"null", 4)
    return json_number(json)


cdef inline bint json_skip(Json* json) noexcept nogil:
    """Step over a value of any kind. Which brackets are open is a bit each: no nesting makes this function call itself."""
    cdef uint64_t objects = 0
    cdef int depth = 0
    cdef JsonText name
    cdef uint8_t byte
    while True:
        if json.at >= json.end:
            return False
        byte = json.at[0]
        if byte == 0x7B or byte == 0x5B:
            if depth == JSON_DEPTH:
                return False
            depth += 1
            objects = objects << 1 | (byte == 0x7B)
            json.at += 1
            json_space(json)
            if json.at >= json.end:
                return False
            if json.at[0] != byte + 2:  # not empty
                if byte == 0x7B and not json_name(json, &name):
                    return False
                continue
        elif not json_scalar(json):
            return False
        # behind a value, or at the bracket that closes
        while depth:
            json_space(json)
            if json.at >= json.end:
                return False
            byte = json.at[0]
            json.at += 1
            if byte == 0x2C:
                json_space(json)
                if objects & 1 and not json_name(json, &name):
                    return False
                break
            if byte != (0x7D if objects & 1 else 0x5D):
                return False
            objects >>= 1
            depth -= 1
        else:
            return True
