"""The table of a plan as C arrays, and how to find the acks of a Produce: what kwire/protocol/relay/plan.py and heads.py say.

Filled once by `kwire.protocol._native.relay.PlanTable`, then only read, by any number of threads.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t

from codec.edit_run cimport EditDoor
from codec.program cimport Program, Trace
from codec.skip cimport skip_block
from wire.cursor cimport OK, Bytes, Cursor, cursor_open, load_16

cdef enum:
    # The numbers of kwire.protocol.relay.plan
    KEYS = 128
    VERSIONS = 32
    PASS = 0
    CALL = -1
    CLOSE = -2
    REFUSE = -3

cdef enum:
    REQUEST_HEADERS = 4
    NO_ACKS = -1000  # in place of acks: they cannot be read from these bytes

cdef struct RelayTable:
    int8_t known[KEYS][VERSIONS]  # whether some release has this request
    int32_t requests[KEYS][VERSIONS]  # actions
    int32_t responses[KEYS][VERSIONS]
    int32_t unknown  # action for requests that no release has
    int8_t header_versions[KEYS][VERSIONS]  # of requests, -1 where there is none
    int8_t errors_at[KEYS][VERSIONS]  # observed.error_at
    int8_t flexible_answers[KEYS][VERSIONS]  # the header of the response has tagged fields
    Program request_headers[REQUEST_HEADERS]
    Program up_to_acks[VERSIONS]  # of Produce
    const EditDoor** programs  # by number of the program less 1; NULL for one that only Python has
    int16_t lowest  # versions of ApiVersions
    int16_t highest


cdef inline bint is_known(const RelayTable* table, int key, int version) noexcept nogil:
    return 0 <= key < KEYS and 0 <= version < VERSIONS and table.known[key][version]


cdef inline int32_t request_action(const RelayTable* table, int key, int version) noexcept nogil:
    return table.requests[key][version] if is_known(table, key, version) else table.unknown


cdef inline int32_t response_action(const RelayTable* table, int key, int version) noexcept nogil:
    return table.responses[key][version] if 0 <= key < KEYS and 0 <= version < VERSIONS else <int32_t>PASS


cdef inline bint skip_header(const RelayTable* table, int key, int version, Cursor* cursor) noexcept nogil:
    """Step over the header of a known request."""
    cdef const Program* program = &table.request_headers[table.header_versions[key][version]]
    cdef Trace trace
    trace.depth = 0
    return skip_block(program, cursor, program.blocks, &trace) and cursor.code == OK


cdef inline int read_acks(const RelayTable* table, int version, Bytes payload, Py_ssize_t have) noexcept nogil:
    """heads.acks_of: the acks of a Produce of a known version, or NO_ACKS."""
    cdef const Program* program = &table.up_to_acks[version]
    cdef Cursor cursor
    cdef Trace trace
    trace.depth = 0
    cursor_open(&cursor, payload, have, 0)
    if not skip_header(table, 0, version, &cursor):
        return NO_ACKS
    if not skip_block(program, &cursor, program.blocks, &trace) or cursor.code != OK:
        return NO_ACKS
    return <int16_t>load_16(cursor.p - 2)  # the last of what was stepped over
