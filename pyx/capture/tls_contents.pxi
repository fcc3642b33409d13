# Part of tls_connection.pyx: records, and what they hold (kwire/capture/tls/connection.py).


cdef bint is_record(TlsConnection self, Direction direction, int kind, int version, bytes body, int64_t lost) except -1:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(body)
    cdef const uint8_t* data = <const uint8_t*>PyBytes_AS_STRING(body)
    if direction.epochs and (self.version_number < TLS_1_3 or kind == APPLICATION):
        self.has_found = direction.opens(kind, version, data, size, lost)
        if self.has_found:
            return True
        if direction.stopped:
            direction.stream.seeking = False
            direction.stream.ended = True
            return False
    if direction.encrypted or direction.opened:
        return False
    if kind == HANDSHAKE:
        return size >= 4 and data[0] in KNOWN_MESSAGES and data[1] == 0
    return (kind == ALERT and size == 2 and 1 <= data[0] <= 2) or (kind == CHANGE_CIPHER and size == 1 and data[0] == 1)


cdef int take_record(TlsConnection self, object keys, int side, Direction direction, const RecordView* record) except -1:
    cdef bint found = self.has_found
    cdef bytes body
    self.has_found = False
    if record.kind == CHANGE_CIPHER and not direction.encrypted and not found:
        if self.version_number < TLS_1_3:
            find_12(self, keys, None)
            direction.encrypted = True
        return 0
    if not found and not direction.encrypted and record.kind != APPLICATION:
        return take_content(self, keys, side, direction, record, record.kind, record.body, record.size, None)
    direction.protected += 1
    direction.largest = max(direction.largest, record.size)
    if not found:
        if not direction.epochs and (self.version_number or self.client_hello is None):
            direction.unopened += 1
            direction.opaque_bytes += record.size
            return 0
        if not direction.epochs and not self.version_number:
            find_late(self, keys, side, direction, record)
        if not direction.opens(record.kind, record.version, record.body, record.size, record.lost_before):
            direction.unopened += 1
            direction.opaque_bytes += record.size
            if direction.epochs:
                direction.failures += 1
                if direction.failures >= MOST_FAILURES:
                    direction.stopped = True
                self.miss(side, direction, -1, False, record.last_ns, record.last_packet)
            return 0
    if self.version_number < TLS_1_3:
        direction.encrypted = True
    direction.opened += 1
    direction.failures = 0
    if direction.padding == -2:
        direction.padding = direction.shape.padding
    elif direction.padding != direction.shape.padding:
        direction.padding = -1
    body = direction.plain
    return take_content(
        self, keys, side, direction, record, direction.shape.kind, <const uint8_t*>PyBytes_AS_STRING(body), direction.shape.size, body
    )


cdef int take_broken(TlsConnection self, object keys, int side, Direction direction, object broken) except -1:
    cdef int64_t count = -1
    cdef Epoch epoch = None
    cdef bint is_13 = self.version_number >= TLS_1_3
    if not direction.encrypted and broken.kind != APPLICATION:
        if broken.kind == HANDSHAKE:
            take_broken_hello(self, keys, side, direction, broken)
        return 0
    if direction.epochs:
        epoch = direction.epochs[0]
        epoch.sequence += 1
    direction.unopened += 1
    direction.opaque_bytes += len(broken.beginning)
    if epoch is None:
        return 0
    cipher = epoch.cipher.plain()
    padding = max(direction.padding, 0)
    if epoch.kind == DATA and (not cipher.hides_length or (is_13 and direction.padding != -1)):
        count = max(cipher.plain_bytes(broken.size) - padding, 0)
    if epoch.kind == DATA and direction.opened_bytes and keys.options.unverified and (is_13 or broken.kind == APPLICATION):
        data = cipher.open_beginning(epoch.sequence - 1, broken.beginning, broken.size)
        if data:
            if count >= 0:
                data = data[:count]
                count -= len(data)
            self.unverified_bytes += len(data)
            self.add_plain(side, data, 0, len(data), broken.mark[0], broken.mark[1])
    return self.miss(side, direction, count, broken.cut, broken.mark[0], broken.mark[1])


cdef int take_broken_hello(TlsConnection self, object keys, int side, Direction direction, object broken) except -1:
    """Read what there is of a flight in clear: snaplen often cuts off what follows a random."""
    cdef bytes beginning = broken.beginning
    cdef const uint8_t* data = <const uint8_t*>PyBytes_AS_STRING(beginning)
    feed_messages(self, keys, side, direction, data, PyBytes_GET_SIZE(beginning), broken.mark[0], broken.mark[1])
    if PyBytes_GET_SIZE(beginning) and data[0] == CLIENT_HELLO and self.client_hello is None:
        take_client_hello(self, side, data, PyBytes_GET_SIZE(beginning))
    direction.pending = b""
    self.transcript = None
    return 0


cdef int take_content(
    TlsConnection self, object keys, int side, Direction direction, const RecordView* record, int kind, const uint8_t* data,
    Py_ssize_t size, bytes owner,
) except -1:
    """TlsConnection._content; `owner` begins with the data, None for what lies in the stream."""
    if kind == APPLICATION:
        if not size:
            return 0
        if owner is None:
            owner = PyBytes_FromStringAndSize(<const char*>data, size)
        if direction.is_doubtful or self.of(1 - side).is_doubtful:
            self.settle_doubt(side)
        direction.opened_bytes += size
        if 0 < record.first_bytes < size and (record.first_ns != record.last_ns or record.first_packet != record.last_packet):
            self.add_plain(side, owner, 0, record.first_bytes, record.first_ns, record.first_packet)
            self.add_plain(side, owner, record.first_bytes, size, record.last_ns, record.last_packet)
        else:
            self.add_plain(side, owner, 0, size, record.last_ns, record.last_packet)
    elif kind == HANDSHAKE:
        return feed_messages(self, keys, side, direction, data, size, record.last_ns, record.last_packet)
    elif kind == ALERT:
        if len(self.read_alerts) < MOST_ALERTS and size == 2:
            said = PyBytes_FromStringAndSize(<const char*>data, size)
            self.read_alerts.append((side, said, record.last_ns, record.last_packet))
    elif kind == CHANGE_CIPHER and len(direction.epochs) > 1:
        del direction.epochs[0]  # a renegotiation's, itself encrypted
    return 0
