"""Cache keys of answers (`answers.pxd`): the kind of request, and the bytes of the answer that count."""

from libc.stdint cimport uint8_t

from protocol.exchange_state cimport WaitingRequest
from protocol.extracted_fields cimport parts_add, parts_clear
from protocol.series_state cimport SeriesState
from wire.cursor cimport Bytes

cdef enum:
    # A key begins with one of these, or with an api key, which is below 128
    ANSWER_VERSIONS = 0xF0
    ANSWER_SILENT = 0xF1
    # Beside the version, below 32, in what an answer is known by
    REQUEST_CUT = 0x20
    RESPONSE_CUT = 0x40
    MOST_KNOWN_BY = 1 << 16  # bytes by which an answer is known again; Python reads those with more every time


cdef inline int key_begin(SeriesState* series, int kind, int version, Bytes first, Py_ssize_t first_size) except -1:
    """Begin what an answer is known by: what it is an answer to; `version` with what is cut."""
    cdef uint8_t head[6]
    parts_clear(&series.key)
    head[0] = <uint8_t>kind
    head[1] = <uint8_t>version
    head[2], head[3] = <uint8_t>(first_size >> 24), <uint8_t>(first_size >> 16)
    head[4], head[5] = <uint8_t>(first_size >> 8), <uint8_t>first_size
    if not parts_add(&series.key, head, 6) or not parts_add(&series.key, first, first_size):
        raise MemoryError
    return 0


cdef inline int key_add(SeriesState* series, Bytes data, Py_ssize_t size) except -1:
    if not parts_add(&series.key, data, size):
        raise MemoryError
    return 0


cdef inline int cut_version(const WaitingRequest* waiting, bint damaged) noexcept nogil:
    """The version of an exchange, with what of it is cut."""
    return waiting.row.api_version | REQUEST_CUT * waiting.damaged | RESPONSE_CUT * damaged
