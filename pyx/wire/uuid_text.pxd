"""UUIDs as Kafka writes them: 22 characters of base64url."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from wire.cursor cimport Bytes

cdef extern from *:
    """
    /* Two characters of base64url for each 12 bits. */
    static unsigned char kwire_pairs[4096][2];
    static void kwire_fill_pairs(void) {
        static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        for (int i = 0; i < 4096; i++) {
            kwire_pairs[i][0] = (unsigned char)alphabet[i >> 6];
            kwire_pairs[i][1] = (unsigned char)alphabet[i & 63];
        }
    }
    """
    const uint8_t (*pairs "kwire_pairs")[2]
    void fill_pairs "kwire_fill_pairs"() noexcept  # makes the table; once, before the others


cdef inline void put_uuid(uint8_t* to, Bytes p) noexcept nogil:
    """22 characters of base64url, as Kafka writes a UUID."""
    cdef int _group
    cdef uint32_t three
    for _group in range(5):
        three = <uint32_t>p[0] << 16 | <uint32_t>p[1] << 8 | p[2]
        memcpy(to, pairs[three >> 12], 2)
        memcpy(to + 2, pairs[three & 0xFFF], 2)
        p += 3
        to += 4
    memcpy(to, pairs[<uint32_t>p[0] << 4], 2)
