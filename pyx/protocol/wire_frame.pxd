"""A frame of one direction, as it is handed from the splitter to pairing and to what reads it: tracking/frames.py, Frame."""

from libc.stdint cimport int64_t

from wire.cursor cimport Bytes

cdef enum FrameFlag:
    # Attributes of kwire.protocol.tracking.frames.Frame
    DAMAGED = 1  # bytes of it are lost
    UNENDED = 2  # its last byte was not seen
    UNFINISHED = 4  # the connection was over before it was
    DOUBTFUL = 8  # borders were lost and found again a few frames ago

cdef struct WireFrame:
    Bytes payload  # behind the length; of a damaged frame the bytes before the cut, of one that is passed over its head
    Py_ssize_t size
    int64_t length  # that it claims, without the length itself
    int64_t offset  # of its first byte, that of its length
    int64_t packet  # of that byte
    int64_t begin_ns  # arrival of that byte
    int64_t end_ns  # and of its last one
    int flags
