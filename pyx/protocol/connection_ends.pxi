# Part of tracker.pyx: the first bytes of a direction until they say what is spoken, and its end (tracking/opening.py, connection.py).


cdef int take_opening(Connection self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1:
    """Opening.take: these bytes and those before them do not say yet that it is Kafka."""
    cdef Opening* opening = self.openings[side]
    cdef int spoken = PROXY
    cdef object header
    if opening is NULL:
        opening = self.openings[side] = opening_new()
    opening_add(opening, data, size, t, packet)
    while spoken == PROXY:
        spoken = self.spoken(side, opening.bytes + opening.skipped, opening.size - opening.skipped)
        if spoken == PROXY:
            header = _foreign_protocols.recognise(
                PyBytes_FromStringAndSize(<const char*>opening.bytes + opening.skipped, opening.size - opening.skipped), 0
            ).proxy
            if header is None:
                spoken = UNKNOWN
            else:
                opening.skipped += <Py_ssize_t>header.size
                if header.address is not None:
                    self._proxied = header.address
    if spoken == MORE:
        if opening.size - opening.skipped < MOST_OPENING_BYTES:
            return 0
        spoken = UNKNOWN
    return opening_decided(self, side, spoken)


cdef int opening_decided(Connection self, int side, int spoken) except -1:
    """Connection._opened."""
    cdef Opening* opening = self.openings[side]
    cdef object begun = None if spoken == KAFKA else opening_object(self, side)
    self.opened[side] = True
    if opening.skipped and self.state.reports_frames:
        self.say([FrameSeen(DIRECTIONS[side], "proxy", 0, opening.skipped)])
    if spoken != KAFKA:
        self.say(self._foreign(DIRECTIONS[side], begun, (<list>FOREIGN.names)[spoken]))
    elif not self.cutters[side].seeking:
        self.cutters[side].base = opening.skipped
    return feed_opening(self, side)


cdef int feed_opening(Connection self, int side) except -1:
    """Opening.give_up: the bytes behind PROXY headers are read in the pieces in which they came."""
    cdef Opening* opening = self.openings[side]
    cdef Py_ssize_t index, begin, end
    self.openings[side] = NULL
    self.opened[side] = True
    try:
        for index in range(opening.count):
            begin = max(<Py_ssize_t>opening.pieces[index].offset, opening.skipped)
            end = opening_end(opening, index)
            if end > begin:
                self.feed(side, opening.bytes + begin, end - begin, opening.pieces[index].time_ns, opening.pieces[index].packet)
    finally:
        opening_free(opening)
    return 0


cdef object opening_object(Connection self, int side):
    """Collector of a direction's first bytes (kwire.protocol.tracking.opening.Opening); None once the protocol is known."""
    cdef Opening* opening = self.openings[side]
    cdef Py_ssize_t index, begin
    if self.opened[side]:
        return None
    made = _opening.Opening(DIRECTIONS[side], bool(self.is_middle[side]), self.cutters[side].max_frame)
    if opening is NULL:
        return made
    for index in range(opening.count):
        begin = <Py_ssize_t>opening.pieces[index].offset
        data = PyBytes_FromStringAndSize(<const char*>opening.bytes + begin, opening_end(opening, index) - begin)
        made._chunks.append((data, opening.pieces[index].time_ns, opening.pieces[index].packet))
    made._data = PyBytes_FromStringAndSize(<const char*>opening.bytes + opening.skipped, opening.size - opening.skipped)
    made.skipped = opening.skipped
    return made


cdef int take_over_opening(Connection self, int side, object known) except -1:
    """Take the first bytes of a direction from what `opening_object` gave."""
    opening_free(self.openings[side])
    self.openings[side] = NULL
    self.opened[side] = known is None
    if known is None:
        return 0
    self.is_middle[side] = known._joined_late
    if known._chunks:
        self.openings[side] = opening_new()
        self.openings[side].skipped = known.skipped
        for data, t, packet in known._chunks:
            opening_add(self.openings[side], <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet)
    return 0


cdef bint begins_with_tls(const uint8_t* data, Py_ssize_t size) noexcept:
    """Return whether the first bytes of a connection are a TLS record: kwire.protocol.tracking.foreign_protocols._tls."""
    cdef Py_ssize_t length
    if size < 6 or not 0x15 <= data[0] <= 0x16 or data[1] != 3 or data[2] > 4:
        return False
    length = data[3] << 8 | data[4]
    return 0 < length <= 16640 and (1 <= data[5] <= 2 or (data[5] == 0 and data[0] == 0x15))


cdef int tls_decided(Connection self, int side) except -1:
    """Connection._opened of a direction that begins with TLS."""
    self.opened[side] = True
    self._protocol = "tls"
    self._hellos = {} if self.encrypted else {direction: _connection.HelloReader() for direction in DIRECTIONS}
    return 0


cdef int end_direction(Connection self, int side, int64_t t) except -1:
    """Connection._end, FrameSplitter.end."""
    cdef Cutter* cutter = &self.cutters[side]
    cdef const Opening* opening = self.openings[side]
    cdef const Arrival* arrival
    cdef int64_t rest
    if opening is not NULL and opening.size > opening.skipped:
        feed_opening(self, side)
    if self._protocol is not None:
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
