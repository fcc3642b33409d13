"""C interface of pyx/capture/tls_records.pyx: one direction of TLS, split into records."""

from libc.stdint cimport int64_t, uint8_t

cdef struct RecordMark:
    int64_t offset  # in the stream
    int64_t time_ns
    int64_t packet

cdef struct RecordView:
    # kwire.capture.tls.records.Record; `body` lies in the stream
    int kind, version
    const uint8_t* body
    Py_ssize_t size
    int64_t first_ns, first_packet, last_ns, last_packet
    int64_t first_bytes, lost_before
    Py_ssize_t end  # of what the stream has given

cdef bint whole_record(const uint8_t* data, Py_ssize_t size, RecordView* record) noexcept


from wire.turns cimport Turn

cdef class RecordStream:
    cdef Turn* turn  # see wire/turns.pxd
    cdef uint8_t* bytes
    cdef Py_ssize_t size, room
    cdef RecordMark* marks
    cdef Py_ssize_t mark_count, mark_room
    cdef int64_t base, skip_left, sound_end, scanned
    cdef readonly int64_t opaque
    cdef public bint seeking
    cdef public bint ended
    cdef int64_t[64] candidates
    cdef int candidate_count

    cdef bint is_at_border(self) noexcept
    cdef void pass_records(self, Py_ssize_t count) noexcept
    cdef int add(self, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet) except -1
    cdef object part(self, Py_ssize_t at, Py_ssize_t end)
    cdef int mark(self, int64_t offset, int64_t time_ns, int64_t packet) except -1
    cdef bint begins_with_record(self) noexcept
    cdef const RecordMark* mark_at(self, int64_t offset) noexcept
    cdef object made(self, Py_ssize_t at, Py_ssize_t end, int64_t lost, int64_t gap)
    cdef void describe(self, Py_ssize_t at, Py_ssize_t end, RecordView* record) noexcept
    cdef void drop(self, Py_ssize_t count) noexcept
    cdef bint next_record(self, RecordView* record) noexcept
    cdef void drop_records(self, const RecordView* record) noexcept
    cdef object sought(self, object accepts)
