# Part of records.pyx: records and headers of batches as objects.

cimport cython
from cpython.number cimport PyNumber_Index


cdef int64_t integer(object value, int64_t highest, str name) except? -1:
    """Convert as `operator.index` does; C's conversion would truncate floats and accept objects that only have `__int__`."""
    cdef int64_t number
    if not take_integer(<PyObject*>value, &number):
        value = int(PyNumber_Index(value))  # an int without a class of its own
        if not take_integer(<PyObject*>value, &number):
            raise OverflowError(f"the {name} does not fit into 64 bits" if highest == MOST else f"the {name} does not fit into 32 bits")
    if not -highest - 1 <= number <= highest:
        raise OverflowError(f"the {name} does not fit into 32 bits")
    return number


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Record:
    """One record; see the pure backend. The cyclic collector does not see records: they hold only bytes, text and numbers."""

    cdef readonly int64_t offset
    cdef readonly int64_t timestamp
    cdef readonly int32_t sequence
    cdef readonly object key
    cdef readonly object value
    cdef readonly object headers

    def __init__(self, offset=-1, timestamp=-1, sequence=-1, key=None, value=None, headers=()):
        self.offset = integer(offset, MOST, "offset")
        self.timestamp = integer(timestamp, MOST, "timestamp")
        self.sequence = <int32_t>integer(sequence, 0x7FFFFFFF, "sequence")
        self.key = key
        self.value = value
        self.headers = tuple(headers)

    def __eq__(self, other):
        if type(other) is not Record:
            return NotImplemented
        cdef Record that = <Record>other
        return (
            self.offset == that.offset and self.timestamp == that.timestamp and self.sequence == that.sequence
            and self.key == that.key and self.value == that.value and self.headers == that.headers
        )

    __hash__ = None

    def __repr__(self):
        return (
            f"Record(offset={self.offset!r}, timestamp={self.timestamp!r}, sequence={self.sequence!r}, key={self.key!r}, "
            f"value={self.value!r}, headers={self.headers!r})"
        )

    def __reduce__(self):
        return Record, (self.offset, self.timestamp, self.sequence, self.key, self.value, self.headers)


cdef class BatchHeader:
    """The header of a batch; see the pure backend."""

    cdef Head head
    cdef readonly object data
    cdef readonly Py_ssize_t index
    cdef readonly object flaw

    @property
    def position(self):
        return self.head.position

    @property
    def size(self):
        return self.head.size

    @property
    def payload_start(self):
        return self.head.payload

    @property
    def payload_end(self):
        return self.head.payload_end

    @property
    def magic(self):
        return self.head.magic

    @property
    def crc(self):
        return self.head.crc

    @property
    def attributes(self):
        return self.head.attributes

    @property
    def stored_offset(self):
        return self.head.stored_offset

    @property
    def stored_count(self):
        return self.head.count

    @property
    def last_offset_delta(self):
        return self.head.last_offset_delta

    @property
    def partition_leader_epoch(self):
        return self.head.partition_leader_epoch

    @property
    def base_timestamp(self):
        return self.head.base_timestamp

    @property
    def max_timestamp(self):
        return self.head.max_timestamp

    @property
    def producer_id(self):
        return self.head.producer_id

    @property
    def producer_epoch(self):
        return self.head.producer_epoch

    @property
    def base_sequence(self):
        return self.head.base_sequence
