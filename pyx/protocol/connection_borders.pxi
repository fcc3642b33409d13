# Part of tracker.pyx: borders of frames that have to be found again (kwire/protocol/tracking/frames.py, resync.py).


cdef Py_ssize_t seek_border(Connection self, int side, Bytes p, Py_ssize_t size, Py_ssize_t pos, int64_t* needed) except -1:
    """FrameSplitter._seek: where a frame begins, and 0; or up to where there is none, and the bytes that are needed from there on."""
    cdef Cutter* cutter = &self.cutters[side]
    cdef int64_t base = cutter.base
    cdef Py_ssize_t best = -1
    cdef Py_ssize_t end = size + 1
    cdef Py_ssize_t window = WINDOW_REQUEST if side == REQUEST else WINDOW_RESPONSE
    cdef Py_ssize_t at = <Py_ssize_t>max(cutter.scanned - base, <int64_t>pos)
    cdef Py_ssize_t found
    cdef int64_t wants, offset
    cdef int index
    cdef int count = cutter.pending_count
    cutter.pending_count = 0
    for index in range(count):
        offset, wants = cutter.pending[index].offset, cutter.pending[index].need
        found = <Py_ssize_t>(offset - base)
        if wants <= size - found:
            wants = judge_border(self, side, p, size, found)
        if wants > size - found:
            cutter_wait(cutter, offset, wants)
        elif wants and found + wants < end:
            best, end = found, <Py_ssize_t>(found + wants)
    while cutter.pending_count < MOST_PENDING:
        found = find_border(self, side, p, size, at) if cutter.candidates < MOST_CANDIDATES else -1
        if not 0 <= found < end:
            if found < 0:
                at = max(at, size - window + 1)
            break
        cutter.candidates += 1
        at = found + 1
        if best >= 0 and found + min(LENGTH + <int64_t>load_32(p + found), LEAST_BELIEVED) >= end:
            continue  # it cannot be accepted with fewer bytes of the stream
        wants = judge_border(self, side, p, size, found)
        if wants > size - found:
            cutter_wait(cutter, base + found, wants)
        elif wants and found + wants < end:
            best, end = found, <Py_ssize_t>(found + wants)
    if best >= 0:
        cutter.pending_count = 0
        cutter.scanned = cutter.candidates = 0
        needed[0] = 0
        return best
    cutter.scanned = base + at
    if cutter.pending_count:
        found = <Py_ssize_t>(cutter.pending[0].offset - base)
        needed[0] = size - found + 1
        return found
    needed[0] = window
    return at


cdef Py_ssize_t find_border(Connection self, int side, Bytes p, Py_ssize_t size, Py_ssize_t start) except -2:
    """Judge.find."""
    return find_request(p, size, start) if side == REQUEST else find_response(&self.state, p, size, start)


cdef int64_t judge_border(Connection self, int side, Bytes p, Py_ssize_t size, Py_ssize_t start) except -1:
    """Judge.judge: 0, or a number of bytes: a frame is believed when they are there, else they are needed to ask again."""
    cdef int64_t length = load_32(p + start)
    cdef Py_ssize_t have = <Py_ssize_t>min(<int64_t>(size - start - LENGTH), length)
    cdef Bytes payload = p + start + LENGTH
    cdef Py_ssize_t trial = TRIALS[0]
    cdef int64_t following
    cdef WaitingRequest* asked
    cdef const FieldPlan* field_plan
    cdef int index
    if side == REQUEST:
        field_plan = request_field_plan(self.series, payload, have)
        if length < SHORTEST_REQUEST or field_plan is NULL or (field_plan.traits & API_VERSIONS_TRAIT and load_16(payload + 2) == 0):
            return ClientJudge(self).judge(PyBytes_FromStringAndSize(<const char*>p + start, LENGTH + have), 0)
    else:
        asked = waiting_open(&self.state, <int32_t>load_32(payload), NULL)
        if length < SHORTEST_RESPONSE or asked is NULL or asked.row.api_key == no_int() or asked.row.api_version == no_int():
            return 0
        field_plan = response_field_plan(self.series, asked.row.api_key, asked.row.api_version)
        if field_plan is not NULL and asked.row.api_key == API_VERSIONS and have == length and length >= 6:
            if load_16(payload + 4) == UNSUPPORTED_VERSION:  # in version 0 form, whatever was asked (KIP-511)
                field_plan = response_field_plan(self.series, API_VERSIONS, 0)
        if field_plan is NULL:
            return _resync.judge_response(
                PyBytes_FromStringAndSize(<const char*>payload, have), length, asked.row.api_key, asked.row.api_version
            )
    if have == length and length <= BELIEVED:
        return LENGTH + length if reads_as_frame(self, side, field_plan, payload, have, length) else 0
    trial, following = 0, length
    for index in range(4):
        if TRIALS[index] <= have:
            trial = TRIALS[index]
        elif following > TRIALS[index]:
            following = TRIALS[index]
    if trial and side == REQUEST and length > BELIEVED and not names_client(field_plan, payload, trial, length):
        return 0
    if trial and not reads_as_frame(self, side, field_plan, payload, trial, length):
        return 0
    return LENGTH + (trial if trial == BELIEVED else following)


cdef bint names_client(const FieldPlan* field_plan, Bytes payload, Py_ssize_t have, int64_t length) except -1:
    """kwire.protocol.tracking.resync._names_client of a request of which `have` bytes are there: what is not plain ASCII Python judges."""
    cdef Py_ssize_t size = <int16_t>load_16(payload + CLIENT_ID_SIZE)
    cdef Py_ssize_t end = CLIENT_ID_SIZE + 2 + max(size, 0)
    cdef Py_ssize_t index
    if field_plan.header_version == 1 or (field_plan.header_version == 2 and (end >= have or payload[end] == 0)):
        if end > have:
            return True
        for index in range(CLIENT_ID_SIZE + 2, end):
            if payload[index] >= 0x80:
                break
            if not 0x20 <= payload[index] < 0x7f:
                return False
        else:
            return size > 0
    return _resync._names_client(PyBytes_FromStringAndSize(<const char*>payload, have), length)


cdef bint reads_as_frame(Connection self, int side, const FieldPlan* field_plan, Bytes payload, Py_ssize_t have, int64_t length) except -1:
    """Return whether a frame, or its beginning, can be one of these."""
    cdef Cursor cursor
    cdef Trace trace
    cdef const FieldPlan* header
    cdef Py_ssize_t start
    if side == REQUEST:
        header = &self.series.plans.request_headers[field_plan.header_version]
    else:
        header = &self.series.plans.response_headers[field_plan.header_version]
    trace.depth = 0
    cursor_open(&cursor, payload, have, 0)
    if not skip_block(&header.program, &cursor, header.program.blocks, &trace) or cursor.code != OK:
        return have < length and cursor.code == TRUNCATED
    start = cursor.p - payload
    return check_body(field_plan, payload, have, length, start) == (CHECK_WHOLE if have == length else CHECK_CUT)


cdef int lose_stream(Connection self, int side, int64_t count, int64_t t, bint cut) except -1:
    """FrameSplitter.lose."""
    cdef Cutter* cutter = &self.cutters[side]
    cdef int64_t taken, length
    cdef Py_ssize_t start = 0
    while count:
        if cutter.is_broken:
            cutter.is_damaged = True
            cutter.is_doubtful = False
            cutter.skipped_ns = t
            taken = min(count, cutter.skip)
            cutter.skip -= taken
            cutter.base += taken
            count -= taken
            if cutter.skip:
                return 0
            cutter.is_ended = cut
            end_broken(self, side)
            if count:
                cutter.base += count
                cutter.sought_from = cutter.base
                cutter.seeking = True
            return 0
        start = salvage_frame(self, side, count) if cutter.seeking else 0
        if start < 0 or cutter.size - start < LENGTH:
            cutter.bytes_opaque += cutter.size
            cutter.seeking = True
            cutter_drop(cutter, cutter.size + count)
            cutter.sought_from = cutter.base
            return 0
        cutter.bytes_opaque += start
        if cutter.seeking:
            cutter.unproven = PROVEN
        cutter.seeking = False
        length = <int32_t>load_32(cutter.bytes + start)
        taken = cutter.base + start
        cutter.base += cutter.size
        cutter_break(
            cutter, cutter.bytes + start + LENGTH, cutter.size - start - LENGTH, length, taken,
            LENGTH + length - (cutter.size - start), True,
        )
    return 0


cdef Py_ssize_t salvage_frame(Connection self, int side, int64_t count) except -2:
    """FrameSplitter._salvage: where a frame begins whose end is lost, -1 for nowhere."""
    cdef Cutter* cutter = &self.cutters[side]
    cdef Py_ssize_t found = find_border(self, side, cutter.bytes, cutter.size, 0)
    cdef bint at_border
    cdef int64_t length
    while found >= 0:
        at_border = cutter.base + found == cutter.sought_from
        if side == REQUEST:
            data = PyBytes_FromStringAndSize(<const char*>cutter.bytes + found, cutter.size - found)
            if ClientJudge(self).salvage(data, 0, count, at_border):
                return found
        else:
            length = load_32(cutter.bytes + found)
            if judge_border(self, side, cutter.bytes, cutter.size, found) and LENGTH + length >= cutter.size - found:
                if at_border or found + LENGTH + length == cutter.size + count:
                    return found
        found = find_border(self, side, cutter.bytes, cutter.size, found + 1)
    return -1
