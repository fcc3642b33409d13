# Part of tracker.pyx: the first bytes of a direction once they say what is spoken, and its end (kwire/protocol/tracking/connection.py).


cdef int begin_opening(Connection self, int side, bint joined_late) except -1:
    """Collect the first bytes of a direction."""
    made = _opening.Opening(DIRECTIONS[side], joined_late, self.cutters[side].max_frame)
    self.openings = [made, self.openings[1]] if side == REQUEST else [self.openings[0], made]
    return 0


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
