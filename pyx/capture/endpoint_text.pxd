"""Addresses, ports and ids of connections as text, from the packed endpoints of `PacketColumns.keys`."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

cdef enum:
    ADDRESS_ROOM = 48  # the longest IPv6 address has 39 characters
    ID_ROOM = 160


cdef inline int packed_port(const uint8_t* key, int side) noexcept nogil:
    cdef int size = 4 if key[0] == 4 else 16
    cdef const uint8_t* at = key + 1 + size + (size + 2 if side else 0)
    return at[0] << 8 | at[1]


cdef inline Py_ssize_t put_number(char* out, int64_t number) noexcept nogil:
    """Write a number that is not negative; gives how many digits."""
    cdef char digits[20]
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t index
    while True:
        digits[count] = <char>(48 + number % 10)
        number //= 10
        count += 1
        if number == 0:
            break
    for index in range(count):
        out[index] = digits[count - 1 - index]
    return count


cdef inline Py_ssize_t put_address(char* out, const uint8_t* key, int side, object address_of) except -1:
    """Write the address of a side, at most ADDRESS_ROOM bytes; `address_of` spells those that have 16 bytes. Gives how many bytes."""
    cdef int size = 4 if key[0] == 4 else 16
    cdef const uint8_t* at = key + 1 + (size + 2 if side else 0)
    cdef Py_ssize_t length = 0
    cdef int index
    cdef bytes text
    if size == 4:
        for index in range(4):
            if index:
                out[length] = c"."
                length += 1
            length += put_number(out + length, at[index])
        return length
    text = address_of(PyBytes_FromStringAndSize(<const char*>at, 16))
    length = PyBytes_GET_SIZE(text)
    if length > ADDRESS_ROOM:
        raise ValueError("an address of more than 48 characters")
    memcpy(out, PyBytes_AS_STRING(text), length)
    return length


cdef inline Py_ssize_t put_endpoint(char* out, const uint8_t* key, int side, object address_of) except -1:
    """Write address:port of a side; gives how many bytes."""
    cdef Py_ssize_t length = put_address(out, key, side, address_of)
    out[length] = c":"
    return length + 1 + put_number(out + length + 1, packed_port(key, side))


cdef inline Py_ssize_t put_connection_id(
    char* out, const uint8_t* key, int server_side, int64_t n, object address_of, Py_ssize_t* server_size
) except -1:
    """Write the id of a connection, server:port-client:port-n, at most ID_ROOM bytes; gives how many, and how many are of the server."""
    cdef Py_ssize_t length = put_endpoint(out, key, server_side, address_of)
    server_size[0] = length
    out[length] = c"-"
    length += 1
    length += put_endpoint(out + length, key, 1 - server_side, address_of)
    out[length] = c"-"
    return length + 1 + put_number(out + length + 1, n)
