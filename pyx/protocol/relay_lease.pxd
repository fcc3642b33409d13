"""A lease of a relay: frames that a rule has to count pass until amounts, time or client id run out. kwire/protocol/relay/lease.py."""

from libc.stdint cimport int64_t
from libc.string cimport memcmp

from protocol.relay_state cimport LENGTH, REQUEST, RESPONSE, Lease, RelayCore
from protocol.relay_table cimport CALL, request_action, response_action
from wire.cursor cimport Bytes, load_16

cdef enum:
    CLIENT_AT = 14  # of a request: behind its length, API key, version, correlation id and the length of the client id
    REQUESTS = 2  # in `Lease.left`


cdef inline bint lease_counts(const RelayCore* core, int side, int key, int version) noexcept nogil:
    """Return True for a frame that the relay's own plan would hold."""
    if core.lease is NULL:
        return False
    return (request_action(core.next_table, key, version) if side == REQUEST else response_action(core.next_table, key, version)) == CALL


cdef inline Py_ssize_t lease_needs(const RelayCore* core, int64_t length) noexcept nogil:
    """Bytes of a request up to the end of the client id; 0 for one that is too short to have the lease's."""
    cdef Py_ssize_t found = CLIENT_AT + core.lease.client_size
    return found if found <= LENGTH + length else 0


cdef inline bint lease_is_of(const RelayCore* core, int key, int version, Bytes p, int64_t length) noexcept nogil:
    """Return True for a request with the client id of the lease; `lease_needs` bytes of it are there."""
    cdef const Lease* lease = core.lease
    if core.table.header_versions[key][version] < 1 or lease_needs(core, length) == 0:  # header v0 has no client id
        return False
    return <Py_ssize_t>load_16(p + CLIENT_AT - 2) == lease.client_size and memcmp(p + CLIENT_AT, lease.client, lease.client_size) == 0


cdef inline void lease_take(RelayCore* core, int side, int64_t size, int64_t t, bint is_of) noexcept nogil:
    """Count a frame with its length; end the lease where it does not cover the frame, which the next plan then decides."""
    cdef Lease* lease = core.lease
    if is_of and t < lease.until and size <= lease.left[side] and (side == RESPONSE or lease.left[REQUESTS] > 0):
        lease.left[side] -= size
        lease.left[REQUESTS] -= side == REQUEST
        return
    lease.is_on = False
    core.lease = NULL
    core.table = core.next_table
