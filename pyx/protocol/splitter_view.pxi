# Part of tracker.pyx: a direction as kwire/protocol/tracking/frames.py has it.


cdef class Splitter:
    """A direction as `kwire.protocol.tracking.frames.FrameSplitter` has it."""

    cdef Connection of
    cdef int side

    def __init__(self, Connection of, int side):
        self.of, self.side = of, side

    cdef Cutter* cutter(self) noexcept:
        return &self.of.cutters[self.side]

    @property
    def seeking(self):
        return bool(self.cutter().seeking)

    @seeking.setter
    def seeking(self, value):
        self.cutter().seeking = value

    @property
    def bytes_opaque(self):
        return self.cutter().bytes_opaque

    @bytes_opaque.setter
    def bytes_opaque(self, value):
        self.cutter().bytes_opaque = value

    @property
    def max_frame(self):
        return self.cutter().max_frame

    @property
    def _base(self):
        return self.cutter().base

    @_base.setter
    def _base(self, value):
        self.cutter().base = value

    @property
    def _buffer(self):
        cdef Cutter* cutter = self.cutter()
        return bytearray() if cutter.is_broken else bytearray(PyBytes_FromStringAndSize(<const char*>cutter.bytes, cutter.size))

    @_buffer.setter
    def _buffer(self, value):
        cdef bytes data = bytes(value)
        self.cutter().size = 0
        cutter_add(self.cutter(), <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    @property
    def _marks(self):
        cdef Cutter* cutter = self.cutter()
        cdef Py_ssize_t index
        return [
            (cutter.arrivals[index].offset, cutter.arrivals[index].time_ns, cutter.arrivals[index].packet)
            for index in range(cutter.arrival_count)
        ]

    @_marks.setter
    def _marks(self, value):
        self.cutter().arrival_count = 0
        for offset, time, packet in value:
            cutter_arrived(self.cutter(), offset, time, packet)

    @property
    def _need(self):
        return self.cutter().need

    @_need.setter
    def _need(self, value):
        self.cutter().need = value

    @property
    def _broken(self):
        cdef Cutter* cutter = self.cutter()
        if not cutter.is_broken:
            return None
        return Frame(
            PyBytes_FromStringAndSize(<const char*>cutter.bytes, cutter.size), cutter.broken_length, cutter.broken_offset,
            cutter.broken_packet, cutter.broken_ns, cutter.broken_ns, bool(cutter.is_damaged), bool(cutter.is_ended),
            bool(cutter.is_doubtful),
        )

    @_broken.setter
    def _broken(self, value):
        cdef Cutter* cutter = self.cutter()
        cutter.is_broken = value is not None
        if value is not None:
            self._buffer = value.payload
            cutter.broken_length, cutter.broken_offset, cutter.broken_packet = value.length, value.offset, value.packet
            cutter.broken_ns, cutter.is_damaged, cutter.is_ended = value.begin_time, value.damaged, value.ended
            cutter.is_doubtful = value.doubtful

    @property
    def _skip(self):
        return self.cutter().skip

    @_skip.setter
    def _skip(self, value):
        self.cutter().skip = value

    @property
    def _skipped_time(self):
        return self.cutter().skipped_ns

    @_skipped_time.setter
    def _skipped_time(self, value):
        self.cutter().skipped_ns = value

    @property
    def _sought_from(self):
        return self.cutter().sought_from

    @_sought_from.setter
    def _sought_from(self, value):
        self.cutter().sought_from = value

    @property
    def _pending(self):
        cdef Cutter* cutter = self.cutter()
        cdef int index
        return [(cutter.pending[index].offset, cutter.pending[index].need) for index in range(cutter.pending_count)]

    @_pending.setter
    def _pending(self, value):
        self.cutter().pending_count = 0
        for offset, need in value:
            cutter_wait(self.cutter(), offset, need)

    @property
    def _candidates(self):
        return self.cutter().candidates

    @_candidates.setter
    def _candidates(self, value):
        self.cutter().candidates = value

    @property
    def _unproven(self):
        return self.cutter().unproven

    @_unproven.setter
    def _unproven(self, value):
        self.cutter().unproven = value

    @property
    def _scanned(self):
        return self.cutter().scanned

    @_scanned.setter
    def _scanned(self, value):
        self.cutter().scanned = value
