# Part of bulk.pyx: connections of which the first events are kept (kwire/tables/first_events.py), and what RowSink does with them.

from kwire.tables import first_events

cdef int64_t PACKET_MASK = (<int64_t>1 << PACKET_BITS) - 1
cdef Py_ssize_t MOST_FIRST_BYTES = first_events.MAX_FIRST_BYTES


cdef bint keep_data(
    RowBatches self, TcpConnection connection, int direction, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet
) except -1:
    """Keep bytes with the first events of a connection, where they fit."""
    if type(connection.attachment) is not bytes or size > MOST_FIRST_BYTES or (
        connection.tcp.opened_by >= 0 and connection.tcp.flows[direction].isn < 0
    ):
        return False
    opened_by = None if connection.tcp.opened_by < 0 else connection.tcp.opened_by
    content = PyBytes_FromStringAndSize(<const char*>data, size)
    kept = first_events.with_data(connection.attachment, opened_by, direction, content, time_ns, self.packet_of(packet))
    if kept is None:
        return False
    connection.attachment = kept
    return True


cdef TrackedStream begin_stream(RowBatches self, TcpConnection connection, bytes kept):
    """RowSink._tracked: begin with the events that were kept of a connection."""
    cdef const uint8_t* packed = <const uint8_t*>PyBytes_AS_STRING(connection.key)
    cdef TrackedStream stream = self.new_stream(connection)
    cdef int8_t opened_by = connection.tcp.opened_by
    cdef bint first = False
    cdef bint second = False
    begun, side, events = first_events.replay(kept)
    if self.ports:
        first, second = packed_port(packed, 0) in self.ports, packed_port(packed, 1) in self.ports
    if side is not None:
        self.begin(stream, connection, side, "syn", begun, None)
    elif first != second:
        self.begin(stream, connection, 1 if first else 0, "port", begun, None)
    else:
        begin_undecided(self, stream, packed, begun)
    connection.tcp.opened_by = -1 if side is None else side
    try:
        for direction, data, reset, time_ns, place in events:
            self.file_replayed = place >> PACKET_BITS
            if data is None:
                self.closed(connection, direction, reset, time_ns, place & PACKET_MASK)
            else:
                self.data(connection, direction, <const uint8_t*>PyBytes_AS_STRING(data), len(data), time_ns, place & PACKET_MASK)
    finally:
        self.file_replayed = -1
        connection.tcp.opened_by = opened_by
    return stream
