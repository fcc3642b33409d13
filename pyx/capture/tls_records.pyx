"""Native backend of `kwire.capture.tls.records`: bytes are collected without a Python object for each segment."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove

from build_id cimport build_id
from wire.grown cimport grown
from wire.turns cimport Turn, one_at_a_time, turn_leave

from kwire.capture.tls.records import Broken, Record, RecordState

__all__ = ["RecordStream"]
__build__ = build_id()

cdef enum:
    CHANGE_CIPHER = 20
    HEARTBEAT = 24
    HEADER = 5
    MOST_BODY = 18432
    LEAST_RECORD = 22
    MOST_SOUGHT = 73728  # 4 * MOST_BODY
    MOST_PENDING = 64
    LARGE = 32768  # bytes of a buffer that is kept when it is empty


cdef inline Py_ssize_t body_size(const uint8_t* header) noexcept nogil:
    return header[3] << 8 | header[4]


cdef inline bint is_header(const uint8_t* at) noexcept nogil:
    return CHANGE_CIPHER <= at[0] <= HEARTBEAT and at[1] == 3 and body_size(at) <= MOST_BODY


cdef bint whole_record(const uint8_t* data, Py_ssize_t size, RecordView* record) noexcept:
    """The next whole record behind `record.end` of a segment that begins at a border, with the mark of the segment."""
    cdef const uint8_t* at = data + record.end
    size -= record.end
    if size < HEADER or not is_header(at) or size < HEADER + body_size(at):
        return False
    record.kind, record.version = at[0], at[1] << 8 | at[2]
    record.body, record.size = at + HEADER, body_size(at)
    record.first_bytes, record.lost_before = record.size, 0
    record.end += HEADER + record.size
    return True


cdef object record_object(const RecordView* record, int64_t lost, int64_t gap):
    return Record(
        record.kind, record.version, PyBytes_FromStringAndSize(<const char*>record.body, record.size),
        (record.first_ns, record.first_packet), (record.last_ns, record.last_packet), record.first_bytes, lost, gap,
    )


@cython.freelist(64)
cdef class RecordStream:
    """The records of one direction; arguments, attributes and methods are those of `kwire.capture.tls.records.RecordStream`."""

    def __init__(self, state=None):
        cdef bytes data
        if self.size or self.mark_count:
            raise TypeError("a stream of records begins once")
        if state is None:
            return
        data = state.buffer
        if PyBytes_GET_SIZE(data):
            self.add(<const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), 0, 0)
        self.mark_count = 0
        for offset, time_ns, packet in state.marks:
            self.mark(offset, time_ns, packet)
        self.base, self.skip_left, self.seeking, self.sound_end = state.base, state.skip, state.seeking, state.sound_end
        for offset in state.candidates[:MOST_PENDING]:
            self.candidates[self.candidate_count] = offset
            self.candidate_count += 1
        self.scanned, self.ended, self.opaque = state.scanned, state.ended, state.opaque

    def __dealloc__(self):
        free(self.bytes)
        free(self.marks)
        turn_leave(self.turn)

    def state(self):
        cdef Py_ssize_t index
        marks = tuple([(self.marks[index].offset, self.marks[index].time_ns, self.marks[index].packet) for index in range(self.mark_count)])
        candidates = tuple([self.candidates[index] for index in range(self.candidate_count)])
        return RecordState(
            self.part(0, self.size), marks, self.base, self.skip_left, bool(self.seeking), self.sound_end, candidates, self.scanned,
            bool(self.ended), self.opaque,
        )

    cdef object part(self, Py_ssize_t at, Py_ssize_t end):
        return PyBytes_FromStringAndSize(<const char*>self.bytes + at if end > at else NULL, end - at)

    cdef int mark(self, int64_t offset, int64_t time_ns, int64_t packet) except -1:
        cdef RecordMark* marks = <RecordMark*>grown(self.marks, &self.mark_room, self.mark_count + 1, 16, sizeof(RecordMark))
        if marks is NULL:
            raise MemoryError
        self.marks = marks
        marks[self.mark_count].offset, marks[self.mark_count].time_ns, marks[self.mark_count].packet = offset, time_ns, packet
        self.mark_count += 1
        return 0

    # bytes in

    def take(self, bytes data, int64_t t, int64_t packet):
        return bool(self.add(<const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet))

    cdef bint is_at_border(self) noexcept:
        return not (self.size or self.ended or self.skip_left or self.seeking)

    cdef void pass_records(self, Py_ssize_t count) noexcept:
        """Whole records were taken past the stream: `take`, `records` and `drop` of them."""
        self.base += count
        if count:
            self.sound_end = self.base

    cdef int add(self, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet) except -1:
        """RecordStream.take; `data` is copied."""
        cdef Py_ssize_t passed
        cdef uint8_t* buffer
        if self.ended:
            self.opaque += size
            self.base += size
            return False
        if self.skip_left:
            passed = <Py_ssize_t>min(self.skip_left, <int64_t>size)
            self.skip_left -= passed
            self.base += passed
            data += passed
            size -= passed
            if not self.skip_left:
                self.sound_end = self.base
        if not size:
            return False
        buffer = <uint8_t*>grown(self.bytes, &self.room, self.size + size, 4096, 1)
        if buffer is NULL:
            raise MemoryError
        self.bytes = buffer
        self.mark(self.base + self.size, time_ns, packet)
        memcpy(buffer + self.size, data, size)
        self.size += size
        return self.seeking or self.begins_with_record()

    cdef bint begins_with_record(self) noexcept:
        return self.size >= HEADER and (not is_header(self.bytes) or self.size >= HEADER + body_size(self.bytes))

    # records out

    def records(self, accepts):
        cdef list made = []
        cdef RecordView record
        if self.seeking:
            found = self.sought(accepts)
            if found is None:
                return made
            made.append(found)
        record.end = 0
        while self.next_record(&record):
            made.append(record_object(&record, 0, 0))
        self.drop_records(&record)
        return made

    cdef bint next_record(self, RecordView* record) noexcept:
        """The next whole record behind those that were given since `record.end` was 0; they stay until `drop_records`."""
        cdef Py_ssize_t at = record.end
        if self.size - at < HEADER:
            return False
        if not is_header(self.bytes + at):
            self.ended = True
            self.opaque += self.size - at
            record.end = self.size
            return False
        if self.size - at < HEADER + body_size(self.bytes + at):
            return False
        record.end = at + HEADER + body_size(self.bytes + at)
        self.describe(at, record.end, record)
        return True

    cdef void drop_records(self, const RecordView* record) noexcept:
        self.drop(record.end)
        if record.end:
            self.sound_end = self.base

    cdef void describe(self, Py_ssize_t at, Py_ssize_t end, RecordView* record) noexcept:
        cdef const RecordMark* first = self.mark_at(self.base + at)
        cdef const RecordMark* last = self.mark_at(self.base + end - 1)
        cdef int64_t following = self.base + end
        record.kind, record.version = self.bytes[at], self.bytes[at + 1] << 8 | self.bytes[at + 2]
        record.body, record.size = self.bytes + at + HEADER, end - at - HEADER
        record.first_ns, record.first_packet = first.time_ns, first.packet
        record.last_ns, record.last_packet = last.time_ns, last.packet
        record.lost_before = 0
        record.first_bytes = record.size
        if first.time_ns != last.time_ns or first.packet != last.packet:
            if first + 1 < self.marks + self.mark_count:
                following = first[1].offset
            record.first_bytes = max(following - self.base - at - HEADER, 0)

    cdef const RecordMark* mark_at(self, int64_t offset) noexcept:
        """The mark of a byte: the last one that is not behind it. There is one where there are bytes."""
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = self.mark_count
        cdef Py_ssize_t middle
        while high - low > 1:
            middle = (low + high) >> 1
            if self.marks[middle].offset > offset:
                high = middle
            else:
                low = middle
        return &self.marks[low]

    cdef object made(self, Py_ssize_t at, Py_ssize_t end, int64_t lost, int64_t gap):
        cdef RecordView record
        self.describe(at, end, &record)
        return record_object(&record, lost, gap)

    cdef void drop(self, Py_ssize_t count) noexcept:
        cdef Py_ssize_t passed
        if not count:
            return
        self.size -= count
        self.base += count
        if not self.size:
            self.mark_count = 0
            if self.room < LARGE:  # many directions never fill theirs again
                free(self.bytes)
                self.bytes, self.room = NULL, 0
            return
        memmove(self.bytes, self.bytes + count, self.size)
        passed = self.mark_at(self.base) - self.marks
        if passed:
            self.mark_count -= passed
            memmove(self.marks, self.marks + passed, self.mark_count * sizeof(RecordMark))

    cdef object sought(self, object accepts):
        cdef Py_ssize_t at = <Py_ssize_t>max(self.scanned - self.base, 0)
        cdef Py_ssize_t size, end, first
        cdef int64_t offset, gap
        cdef int index
        cdef int kept = 0
        while at + 3 <= self.size:
            if CHANGE_CIPHER <= self.bytes[at] <= HEARTBEAT and self.bytes[at + 1] == 3 and self.bytes[at + 2] <= 4:
                if self.candidate_count < MOST_PENDING:
                    self.candidates[self.candidate_count] = self.base + at
                    self.candidate_count += 1
                at += 2
            at += 1
        self.scanned = self.base + max(self.size - 2, 0)
        for index in range(self.candidate_count):
            offset = self.candidates[index]
            at = <Py_ssize_t>(offset - self.base)
            if self.size - at < HEADER:
                self.candidates[kept] = offset
                kept += 1
                continue
            size = body_size(self.bytes + at)
            end = at + HEADER + size
            if not 0 < size <= MOST_BODY:
                continue
            if end > self.size:
                self.candidates[kept] = offset
                kept += 1
                continue
            gap = offset - self.sound_end
            version = self.bytes[at + 1] << 8 | self.bytes[at + 2]
            if accepts(self.bytes[at], version, self.part(at + HEADER, end), gap // LEAST_RECORD):
                record = self.made(at, end, gap // LEAST_RECORD, gap)
                self.opaque += at
                self.drop(end)
                self.seeking, self.candidate_count = False, 0
                self.sound_end = self.base
                return record
        self.candidate_count = kept
        if self.size > MOST_SOUGHT:
            first = self.size - 2
            if kept:
                first = min(<Py_ssize_t>(self.candidates[0] - self.base), first)
            first = max(first, self.size - MOST_SOUGHT // 2)
            self.opaque += first
            kept = 0
            for index in range(self.candidate_count):
                if self.candidates[index] >= self.base + first:
                    self.candidates[kept] = self.candidates[index]
                    kept += 1
            self.candidate_count = kept
            self.drop(first)
        return None

    # losses

    def lose(self, int64_t count, int64_t t, int64_t packet, cut):
        cdef int64_t passed, rest
        broken = None
        if self.ended:
            self.base += count
            return None
        if self.skip_left:
            passed = min(self.skip_left, count)
            self.skip_left -= passed
            self.base += passed
            count -= passed
            if self.skip_left or not count:
                if not self.skip_left:
                    self.sound_end = self.base
                return None
            self.sound_end = self.base
        elif not self.seeking and self.size >= HEADER:
            broken = Broken(self.bytes[0], body_size(self.bytes), self.part(HEADER, self.size), cut, (t, packet))
            rest = HEADER + body_size(self.bytes) - self.size
            self.drop(self.size)
            passed = min(rest, count)
            self.base += passed
            self.skip_left = rest - passed
            count -= passed
            if not self.skip_left:
                self.sound_end = self.base
            if not count:
                return broken
        self.base += self.size + count
        self.opaque += self.size
        self.size = self.mark_count = 0
        self.candidate_count, self.scanned = 0, self.base
        self.seeking = True
        return broken

    def unfinished(self):
        cdef const RecordMark* last
        if self.ended or self.skip_left or self.seeking or self.size < HEADER:
            return None
        last = self.mark_at(self.base + self.size - 1)
        return Broken(self.bytes[0], body_size(self.bytes), self.part(HEADER, self.size), False, (last.time_ns, last.packet))

    def give_up(self):
        self.opaque += self.size
        self.base += self.size
        self.size = self.mark_count = 0
        self.ended = True


cdef Turn** turn_of_record_stream(PyObject* self) noexcept:
    return &(<RecordStream>self).turn


one_at_a_time(RecordStream, turn_of_record_stream)
