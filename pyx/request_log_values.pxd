"""Values in the lines of a JSON request log: durations, the client's software, the request's header.

What brokers do not write as a rule is for the long way, `kwire.capture.request_log_json`.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport rint
from libc.stdint cimport INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, int64_t, uint8_t
from libc.string cimport memcmp

from json_text cimport Json, JsonText, json_integer, json_is_null, json_name, json_number, json_skip, json_space, json_string


cdef extern from *:
    """
    static const double kwire_tens[16] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    #define KWIRE_LONGEST_MS (10 * 366 * 86400000.0)  /* as `kwire.capture.request_log_times` has it */
    """
    const double[16] TENS "kwire_tens"
    const double LONGEST_MS "KWIRE_LONGEST_MS"


cdef inline object text_of(JsonText* text):
    """The string, None where it has escapes."""
    if text.escaped:
        return None
    return PyUnicode_DecodeUTF8(<const char*> text.at, text.size, NULL)


cdef inline bint decimal(Json* text, double* value) noexcept:
    """Read a number that is not negative, as Python's `float` does: up to 2^53 and 15 places, one division is exact to the last bit."""
    cdef const uint8_t* first = text.at
    cdef const uint8_t* at
    cdef int64_t digits = 0
    cdef int places = 0
    cdef bint behind = False
    if text.at[0] == 0x2D or not json_number(text) or text.at - first > 16:
        return False
    at = first
    while at < text.at:
        if at[0] == 0x2E:
            behind = True
        elif not 0x30 <= at[0] <= 0x39:
            return False
        else:
            digits = digits * 10 + (at[0] - 0x30)
            places += behind
        at += 1
    if digits > <int64_t> 1 << 53:
        return False
    value[0] = <double> digits / TENS[places]
    return True


cdef inline bint is_name(JsonText* name, const char* known, Py_ssize_t size) noexcept:
    return name.size == size and memcmp(name.at, known, size) == 0


cdef inline object duration(Json* text):
    """Microseconds, None for null, False for the long way."""
    cdef double value
    cdef int64_t number
    if text.at[0] == 0x6E:
        return None if json_is_null(text) else False
    if text.at[0] == 0x2D:  # -1: the broker never came to this step
        return None if json_integer(text, &number) and number < 0 else False
    if not decimal(text, &value) or value > LONGEST_MS:
        return False
    return <int64_t> rint(value * 1000.0)


cdef inline object software_of(Json* text):
    """Name and version, None for the long way."""
    cdef JsonText name
    cdef JsonText string
    cdef uint8_t byte
    software = version = None
    if text.at[0] != 0x7B:
        return None
    text.at += 1
    json_space(text)
    while True:
        if not json_name(text, &name) or not json_string(text, &string) or string.escaped:
            return None
        if is_name(&name, b"softwareName", 12):
            software = text_of(&string)
        elif is_name(&name, b"softwareVersion", 15):
            version = text_of(&string)
        json_space(text)
        if text.at >= text.end:
            return None
        byte = text.at[0]
        text.at += 1
        if byte == 0x7D:
            return None if software is None or version is None else (software, version)
        if byte != 0x2C:
            return None
        json_space(text)


cdef inline bint header(entry, Json* text) except -1:
    """The request's header; 0 for the long way."""
    cdef JsonText name
    cdef JsonText string
    cdef uint8_t byte
    cdef int64_t key = INT32_MIN
    cdef int64_t version = INT32_MIN
    cdef int64_t number
    correlation = client = None
    deprecated = False
    if text.at[0] != 0x7B:
        return False
    text.at += 1
    json_space(text)
    while True:
        if not json_name(text, &name):
            return False
        byte = text.at[0]
        if is_name(&name, b"requestApiKey", 13):
            if not json_integer(text, &key):
                return False
        elif is_name(&name, b"requestApiVersion", 17):
            if not json_integer(text, &version):
                return False
        elif is_name(&name, b"correlationId", 13):
            if not json_integer(text, &number) or not INT32_MIN <= number <= INT32_MAX:
                return False
            correlation = number
        elif is_name(&name, b"clientId", 8):
            if byte == 0x6E:
                client = None
                if not json_is_null(text):
                    return False
            elif not json_string(text, &string) or string.escaped:
                return False
            else:
                client = text_of(&string)
        elif is_name(&name, b"requestApiVersionDeprecated", 27):
            deprecated = byte == 0x74
            if not json_skip(text):
                return False
        elif not json_skip(text):
            return False
        json_space(text)
        if text.at >= text.end:
            return False
        byte = text.at[0]
        text.at += 1
        if byte == 0x7D:
            break
        if byte != 0x2C:
            return False
        json_space(text)
    if not INT16_MIN <= key <= INT16_MAX or not INT16_MIN <= version <= INT16_MAX:
        return False
    entry.api_key = key
    entry.api_version = version
    entry.correlation_id = correlation
    entry.client_id = client
    entry.deprecated = deprecated
    return True
