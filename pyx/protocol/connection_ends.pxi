# Part of tracker.pyx: the first bytes of a direction once they say what is spoken, and its end (kwire/protocol/tracking/connection.py).


cdef int opening_decided(Connection self, int side, object opening, str verdict) except -1:
    """Connection._opened."""
    self.openings[side] = None
    self.opened[side] = True
    if opening.skipped and self.state.reports_frames:
        self.say([FrameSeen(DIRECTIONS[side], "proxy", 0, opening.skipped)])
    if verdict == "kafka":
        if not self.cutters[side].seeking:
            self.cutters[side].base = opening.skipped
    else:
        self.say(self._foreign(DIRECTIONS[side], opening, verdict))
    return self.feed_all(side, opening.give_up())


cdef bint begins_with_tls(const uint8_t* data, Py_ssize_t size) noexcept:
    """Whether the first bytes of a connection are a TLS record: kwire.protocol.tracking.foreign_protocols._tls."""
    cdef Py_ssize_t length
    if size < 6 or not 0x15 <= data[0] <= 0x16 or data[1] != 3 or data[2] > 4:
        return False
    length = data[3] << 8 | data[4]
    return 0 < length <= 16640 and (1 <= data[5] <= 2 or (data[5] == 0 and data[0] == 0x15))


cdef int tls_decided(Connection self, int side) except -1:
    """Connection._opened of a direction that begins with TLS."""
    self.opened[side] = True
    self.protocol_name = "tls"
    self.hellos = {} if self.encrypted else {direction: _connection.HelloReader() for direction in DIRECTIONS}
    return 0


cdef int end_direction(Connection self, int side, int64_t t) except -1:
    """Connection._end, FrameSplitter.end."""
    cdef Cutter* cutter = &self.cutters[side]
    cdef object opening = self.openings[side]
    cdef const Arrival* arrival
    cdef int64_t rest
    if opening is not None and opening.has_bytes:
        self.openings[side] = None
        self.opened[side] = True
        self.feed_all(side, opening.give_up())
    if self.protocol_name is not None:
        return 0
    if cutter.is_broken:
        cutter.skipped_ns = t
        if cutter.is_damaged:
            cutter.is_ended = False
            return end_broken(self, side, UNFINISHED)
        rest = cutter.skip
        cutter.is_broken = False
        cutter.skip = 0
        say_unfinished(
            self, side, cutter.bytes, cutter.size, cutter.broken_length, LENGTH + cutter.broken_length - rest, cutter.broken_offset,
            cutter.broken_packet, cutter.broken_ns,
        )
        cutter_shift(cutter, cutter.size)
        return 0
    if cutter.seeking:
        cutter.bytes_opaque += cutter.size
    elif cutter.size:
        arrival = cutter_arrival(cutter, cutter.base)
        say_unfinished(
            self, side, cutter.bytes + LENGTH, max(cutter.size - LENGTH, 0),
            <int32_t>load_32(cutter.bytes) if cutter.size >= LENGTH else -1,
            cutter.size, cutter.base, arrival.packet, arrival.time_ns,
        )
    cutter_drop(cutter, cutter.size)
    return 0
