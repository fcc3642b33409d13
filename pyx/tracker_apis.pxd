"""What the catalog says of each api, for a tracker: header versions, where the acks of a Produce lie, who uses an api, its name."""

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t

from raw_python cimport raw_incref
from request_heads cimport ACKS_FIRST, BEHIND_COMPACT, BEHIND_STRING, KEYS, OTHER, PLAIN, TAGGED, VERSIONS, HeadTables

cdef enum Role:
    CLIENT = 0
    BROKER = 1
    CONTROLLER = 2

cdef struct ApiTable:
    HeadTables heads
    uint8_t[KEYS] asked
    uint8_t[KEYS] roles  # what a peer is that uses the api
    PyObject* names[KEYS]  # owned; of those that were asked for


cdef inline int role_number(role) except -1:
    """The number of a `kwire.protocol.events.Role`; None is whoever may be a client."""
    return BROKER if role == "broker" else CONTROLLER if role == "controller" else CLIENT


cdef inline int api_ask(ApiTable* table, int key) except -1:
    """Enter an api."""
    from kwire.protocol.identity import api_role
    from kwire.protocol.passing import PRODUCE, acks_layout
    from kwire.protocol.reading import released_header
    from kwire.schema import catalog

    cdef int version, kind
    cdef object header
    name = catalog().api_name(key)
    raw_incref(<PyObject*>name)
    table.names[key] = <PyObject*>name
    table.roles[key] = <uint8_t>role_number(api_role(key))
    for version in range(VERSIONS):
        released, header = released_header(key, version)
        kind = OTHER
        if released and header in (1, 2):
            kind = PLAIN if header == 1 else TAGGED
            if key == PRODUCE:
                behind, compact = acks_layout(version)
                table.heads.acks[version] = ACKS_FIRST if not behind else BEHIND_COMPACT if compact else BEHIND_STRING
        table.heads.headers[key][version] = <uint8_t>kind
    table.asked[key] = True
    return 0
