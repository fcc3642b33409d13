# Part of tracker.pyx: bytes into frames, and what stands where no frame can be read (kwire/protocol/tracking/frames.py, connection.py).


cdef int take_pieces(Connection self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1:
    """FrameSplitter.feed."""
    cdef Cutter* cutter = &self.cutters[side]
    cdef Py_ssize_t taken
    cdef WireFrame frame
    if cutter.is_broken:
        taken = <Py_ssize_t>min(cutter.skip, <int64_t>size)
        cutter.skip -= taken
        cutter.base += taken
        cutter.skipped_ns = t
        if cutter.skip:
            return 0
        end_broken(self, side)
        data += taken
        size -= taken
    if size > LENGTH and cutter.size == 0 and not cutter.seeking:
        frame.length = <int32_t>load_32(data)
        if LENGTH + frame.length == size and frame.length <= cutter.max_frame:  # nearly always these bytes are one frame
            frame.payload, frame.size = data + LENGTH, size - LENGTH
            frame.offset, frame.packet = cutter.base, packet
            frame.begin_ns = frame.end_ns = t
            frame.flags = DOUBTFUL if cutter.unproven else 0
            take_frame(self, side, &frame)
            cutter.unproven -= cutter.unproven > 0
            cutter.base += size
            cutter.need = LENGTH
            return 0
    while size:
        if cutter.size == 0:
            cutter.arrival_count = 0
            cutter_arrived(cutter, cutter.base, t, packet)
            taken = split_frames(self, side, data, size, t)
            if not cutter.is_broken and taken < size:
                cutter_add(cutter, data + taken, size - taken)
            cutter_forget(cutter)
            return 0
        if cutter.seeking:
            taken = size
        elif cutter.size < LENGTH:
            taken = min(LENGTH - cutter.size, size)
        else:
            taken = <Py_ssize_t>min(LENGTH + <int64_t>load_32(cutter.bytes) - cutter.size, <int64_t>size)
        if cutter.seeking or cutter.size < LENGTH:
            cutter_arrived(cutter, cutter.base + cutter.size, t, packet)
        cutter_add(cutter, data, taken)
        data += taken
        size -= taken
        if cutter.size < cutter.need:
            continue
        taken = split_frames(self, side, cutter.bytes, cutter.size, t)
        if cutter.is_broken:
            # what came behind the head of a frame that is passed over
            taken = <Py_ssize_t>min(cutter.skip, <int64_t>size)
            cutter.skip -= taken
            cutter.base += taken
            cutter.skipped_ns = t
            if cutter.skip:
                return 0
            end_broken(self, side)
            data += taken
            size -= taken
            continue
        cutter_shift(cutter, taken)
        cutter_forget(cutter)
    return 0


cdef Py_ssize_t split_frames(Connection self, int side, Bytes p, Py_ssize_t size, int64_t t) except -1:
    """FrameSplitter._split; gives how many bytes are done."""
    cdef Cutter* cutter = &self.cutters[side]
    cdef int64_t base = cutter.base
    cdef Py_ssize_t pos = 0
    cdef Py_ssize_t found, head
    cdef int64_t need = 0
    cdef int64_t length
    cdef const Arrival* arrival
    cdef WireFrame frame
    frame.end_ns = t
    while True:
        if cutter.seeking:
            found = seek_border(self, side, p, size, pos, &need)
            cutter.bytes_opaque += found - pos
            pos = found
            if need:
                break
            cutter.seeking = False
            cutter.unproven = PROVEN
        need = LENGTH
        if size - pos < LENGTH:
            break
        length = <int32_t>load_32(p + pos)
        if not 0 <= length <= cutter.max_frame:
            arrival = cutter_arrival(cutter, base + pos)
            say_fault(self, side, "negative" if length < 0 else "too_large", length, LENGTH, base + pos, arrival.packet, arrival.time_ns)
            cutter.seeking = True
            cutter.bytes_opaque += 1
            pos += 1
            continue
        need = LENGTH + length
        if size - pos < need:
            head = head_of(self, side, p + pos + LENGTH, size - pos - LENGTH) if self.state.ways is not NULL else 0
            if head:
                if head <= size - pos - LENGTH:
                    cutter.base = base + size
                    cutter_break(cutter, p + pos + LENGTH, head, length, base + pos, need - (size - pos), False)
                    cutter.skipped_ns = cutter.broken_ns
                    return size
                need = min(need, <int64_t>(LENGTH + head))
            break
        arrival = cutter_arrival(cutter, base + pos)
        frame.payload, frame.size, frame.length = p + pos + LENGTH, <Py_ssize_t>length, length
        frame.offset, frame.packet, frame.begin_ns = base + pos, arrival.packet, arrival.time_ns
        frame.flags = DOUBTFUL if cutter.unproven else 0
        take_frame(self, side, &frame)
        cutter.unproven -= cutter.unproven > 0
        pos += <Py_ssize_t>need
    cutter.base = base + pos
    cutter.need = need
    return pos


cdef Py_ssize_t head_of(Connection self, int side, Bytes payload, Py_ssize_t have) except -1:
    """Passing.request_head and response_head: how many bytes of a frame suffice whose end has not come, 0 for all."""
    cdef const WaitingRequest* first = self.state.waiting
    if side == REQUEST:
        if have < SHORTEST_REQUEST_FRAME and not self.state.sasl_raw:
            return SHORTEST_REQUEST_FRAME
        return request_head(&self.state, self.series, payload, have)
    if first is NULL or first.is_token or first.row.body != BODY_SKIPPED or self.held.count:
        return 0
    return SHORTEST_RESPONSE if have < SHORTEST_RESPONSE or first.row.correlation_id == <int32_t>load_32(payload) else 0


cdef int take_frame(Connection self, int side, const WireFrame* frame) except -1:
    """A frame has ended."""
    self.state.frames[side] += 1
    if side == REQUEST:
        self.state.seeks_responses = self.cutters[RESPONSE].seeking
        return take_request_frame(self, frame)
    return take_response_frame(self, frame)


cdef object frame_object(const WireFrame* frame):
    cdef int flags = frame.flags
    return Frame(
        PyBytes_FromStringAndSize(<const char*>frame.payload, frame.size), frame.length, frame.offset, frame.packet, frame.begin_ns,
        frame.end_ns, bool(flags & DAMAGED), not flags & UNENDED, bool(flags & DOUBTFUL), bool(flags & UNFINISHED),
    )


cdef int flags_of(object frame) except -1:
    return (
        DAMAGED * bool(frame.damaged) | UNENDED * (not frame.ended) | DOUBTFUL * bool(frame.doubtful)
        | UNFINISHED * bool(frame.unfinished)
    )


cdef int end_broken(Connection self, int side, int unfinished=0) except -1:
    """The end of a frame has come that is damaged or was passed over."""
    cdef Cutter* cutter = &self.cutters[side]
    cdef WireFrame frame
    cutter.is_broken = False
    cutter.skip = 0
    if not cutter.is_damaged:
        cutter.unproven -= cutter.unproven > 0
    frame.payload, frame.size, frame.length, frame.offset = cutter.bytes, cutter.size, cutter.broken_length, cutter.broken_offset
    frame.packet, frame.begin_ns, frame.end_ns = cutter.broken_packet, cutter.broken_ns, cutter.skipped_ns
    frame.flags = DAMAGED * cutter.is_damaged | UNENDED * (not cutter.is_ended) | DOUBTFUL * cutter.is_doubtful | unfinished
    take_frame(self, side, &frame)
    cutter_shift(cutter, cutter.size)
    return 0


cdef int say_fault(
    Connection self, int side, str kind, int64_t length, int64_t have, int64_t offset, int64_t packet, int64_t time_ns
) except -1:
    """Connection._fault for an impossible length."""
    direction = DIRECTIONS[side]
    fault = FrameFault(kind, length, have, offset, packet, time_ns, doubtful=self.cutters[side].unproven > 0)
    self.say(Exchange(self).seen(direction, "length", fault))
    if side == REQUEST:
        self.state.requests_lost = True
    else:
        lose_responses(self)
    if fault.doubtful:
        reason = f"the frame length is {length}"
        return self.say([Exchange(self).violation("frame_border_lost", direction, fault, reason=reason)])
    if kind == "negative":
        self.say([Exchange(self).violation("frame_length_negative", direction, fault, length=length)])
    else:
        self.say([Exchange(self).violation("frame_length_too_large", direction, fault, length=length, limit=self.cutters[side].max_frame)])
    return 0


cdef int say_unfinished(
    Connection self, int side, Bytes payload, Py_ssize_t size, int64_t length, int64_t have, int64_t offset, int64_t packet, int64_t time_ns
) except -1:
    """Connection._fault for a frame that the end of its direction cuts off."""
    cdef WireFrame frame
    direction = DIRECTIONS[side]
    fault = FrameFault("unfinished", length, have, offset, packet, time_ns, PyBytes_FromStringAndSize(<const char*>payload, size))
    self.say(Exchange(self).seen(direction, "length", fault))
    needed = length + LENGTH if have >= LENGTH else "unknown"
    self.say([Exchange(self).violation("frame_unfinished", direction, fault, have=have, length=needed)])
    if side == REQUEST or self.state.waiting is NULL or self.state.waiting.is_token or size < SHORTEST_RESPONSE:
        return 0
    # The server did answer, and the outcome may say more than its correlation id; the time of its end is unknown.
    self.state.losses += 1
    frame.payload, frame.size, frame.length, frame.offset, frame.packet = payload, size, length, offset, packet
    frame.begin_ns = frame.end_ns = time_ns
    frame.flags = DAMAGED | UNENDED | UNFINISHED
    return take_response_frame(self, &frame)
