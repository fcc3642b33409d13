"""The state of a scan between two chunks: a `kwire.capture.packet_columns.FileState`, and the struct that the scan works with."""

from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport malloc

from capture.packet_scan cimport Port, Scan


cdef inline int scan_open_state(Scan* scan, object state, uint32_t packet_limit, uint32_t block_limit, int64_t near_ns) except -1:
    """Go on where the state is; `free_ports` frees what is reserved."""
    scan.kind, scan.record_header = state.kind, state.record_header
    scan.packet_limit, scan.block_limit, scan.near_ns = packet_limit, block_limit, near_ns
    cdef Py_ssize_t proven = state.proven
    scan.strict, scan.ended = state.strict, state.ended
    scan.proven = scan.at + min(proven, scan.end - scan.at) if scan.strict else scan.end
    scan.big_endian = state.big_endian
    scan.port_room = scan.port_count = len(state.interfaces)
    scan.ports = <Port*>malloc((scan.port_count + 1) * sizeof(Port))
    if scan.ports == NULL:
        raise MemoryError
    for index, interface in enumerate(state.interfaces):
        scan.ports[index] = Port(
            interface.link_type, interface.snaplen, interface.resolution, interface.offset_s, interface.dropped
        )
    scan.dropped_before = state.dropped_before
    scan.snaplen = state.snaplen
    scan.time_ns = state.time_ns
    scan.timed = state.start_ns is not None
    if scan.timed:
        scan.start_ns, scan.end_ns = state.start_ns, state.end_ns
    scan.packets, scan.tcp, scan.fragments = state.packets, state.tcp, state.fragments
    scan.others, scan.unreadable = state.others, state.unreadable
    scan.captured_bytes, scan.original_bytes, scan.cut_bytes = state.captured_bytes, state.original_bytes, state.cut_bytes
    return 0


cdef inline int scan_close_state(Scan* scan, object state, object kind) except -1:
    """Write the state back; `kind` is `Interface`."""
    cdef Py_ssize_t index
    state.big_endian = bool(scan.big_endian)
    state.interfaces = [
        kind(
            scan.ports[index].link_type, scan.ports[index].snaplen, scan.ports[index].resolution, scan.ports[index].offset_s,
            scan.ports[index].dropped,
        )
        for index in range(scan.port_count)
    ]
    for index in range(scan.secret_count):
        state.secrets.append((scan.secrets[index].start - scan.base, scan.secrets[index].size))
    state.dropped_before = scan.dropped_before
    state.snaplen = scan.snaplen
    state.time_ns = scan.time_ns
    if scan.timed:
        state.start_ns, state.end_ns = scan.start_ns, scan.end_ns
    state.packets, state.tcp, state.fragments = scan.packets, scan.tcp, scan.fragments
    state.others, state.unreadable = scan.others, scan.unreadable
    if scan.unread != NULL:
        for index in range(1 << 16):
            if scan.unread[index]:
                state.unread[index] = state.unread.get(index, 0) + scan.unread[index]
    state.captured_bytes, state.original_bytes, state.cut_bytes = scan.captured_bytes, scan.original_bytes, scan.cut_bytes
    return 0
