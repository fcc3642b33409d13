"""One direction of a tracked connection: where it stands, and what is kept of the frame whose end has not come.

Of a frame that is read all bytes are kept, in the buffer of the `kwire.protocol.frames.FrameSplitter` inside: both ways add to the one
buffer, so that going from one to the other copies nothing. Of a frame that is passed over only its head is kept.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cursor cimport Bytes, load_32
from event_slots cimport int_of, set_shared
from raw_python cimport raw_xdecref

cdef enum:
    LENGTH = 4

cdef struct Stream:
    bint ready  # the state is here; else only the splitter has it
    int64_t base  # stream offset of the next byte
    int64_t received  # counts that are not home yet
    int64_t frames
    # of the frame that is under way
    Py_ssize_t kept  # bytes of it in the buffer
    Py_ssize_t kept_before  # of which the splitter has found out that it needs so many:
    Py_ssize_t need
    Py_ssize_t left  # bytes of one that is passed over which are to come
    int32_t length  # of one that is passed over
    int64_t offset
    int64_t begin_ns
    PyObject* packet  # that began it; owned, as the two below, NULL before there was one
    PyObject* head  # bytes, of one that is passed over
    PyObject* buffer  # the splitter's bytearray


cdef inline void stream_free(Stream* stream) noexcept:
    raw_xdecref(stream.packet)
    raw_xdecref(stream.head)
    raw_xdecref(stream.buffer)
    stream.packet = stream.head = stream.buffer = NULL


cdef inline bint is_under_way(const Stream* stream) noexcept nogil:
    return stream.kept > 0 or stream.left > 0


cdef inline Bytes kept_bytes(const Stream* stream) noexcept:
    """The bytes in the buffer; valid until it changes."""
    return <Bytes>PyByteArray_AS_STRING(<object>stream.buffer)


cdef inline Bytes kept_head(const Stream* stream, Py_ssize_t* size) noexcept:
    """The head of a frame that is passed over, without its length."""
    size[0] = PyBytes_GET_SIZE(<object>stream.head)
    return <Bytes>PyBytes_AS_STRING(<object>stream.head)


cdef inline Py_ssize_t frame_left(const Stream* stream, Bytes data, Py_ssize_t size) noexcept:
    """How many of the next bytes belong to the frame that is under way or begins with them; all where that cannot be said."""
    cdef unsigned char prefix[LENGTH]
    cdef Py_ssize_t index
    cdef int64_t left = stream.left
    if left == 0:
        if stream.kept + size < LENGTH:
            return size
        for index in range(LENGTH):
            prefix[index] = kept_bytes(stream)[index] if index < stream.kept else data[index - stream.kept]
        left = <int64_t><int32_t>load_32(prefix) + LENGTH - stream.kept
    return <Py_ssize_t>left if 0 < left < size else size


cdef inline int stream_keep(Stream* stream, Bytes data, Py_ssize_t size) except -1:
    """Keep the next bytes of the frame that is under way.

    Raises:
        MemoryError: no room.
    """
    PyByteArray_Resize(<object>stream.buffer, stream.kept + size)
    memcpy(PyByteArray_AS_STRING(<object>stream.buffer) + stream.kept, data, size)
    stream.kept += size
    return 0


cdef inline int stream_keep_only(Stream* stream, Py_ssize_t kept) except -1:
    """Keep only so many bytes."""
    PyByteArray_Resize(<object>stream.buffer, kept)
    stream.kept = kept
    return 0


cdef inline int stream_pass(Stream* stream, Bytes begun, Py_ssize_t size, Py_ssize_t head) except -1:
    """Pass over the frame of which `size` bytes are there, its length among them; `head` bytes behind that are kept."""
    made = PyBytes_FromStringAndSize(<const char*>begun + LENGTH, head)
    set_shared(&stream.head, <PyObject*>made)
    stream.length = <int32_t>load_32(begun)
    stream.left = LENGTH + <Py_ssize_t>stream.length - size
    return 0


cdef inline bint stream_resume(Stream* stream, splitter, bint is_open) except -1:
    """Take up the state of a splitter; False where it is not ordinary.

    Arguments:
        splitter: a `kwire.protocol.frames.FrameSplitter`; it stays as it is.
        is_open: the first bytes have told what is spoken.
    """
    broken, buffer = splitter._broken, splitter._buffer
    stream.ready = False
    stream.received = stream.frames = 0
    stream.kept = stream.kept_before = stream.left = 0
    if not is_open or splitter.seeking:
        return False
    if broken is not None:
        time, packet = broken.begin_time, broken.packet
        if broken.damaged or not int_of(<PyObject*>time, &stream.begin_ns):
            return False
        stream.left, stream.length, stream.offset = splitter._skip, broken.length, broken.offset
        head = broken.payload
        set_shared(&stream.head, <PyObject*>head)
        set_shared(&stream.packet, <PyObject*>packet)
    elif buffer:
        _, time, packet = splitter._marks[0]
        if not int_of(<PyObject*>time, &stream.begin_ns):
            return False
        stream.kept = stream.kept_before = len(buffer)
        stream.need, stream.offset = splitter._need, splitter._base
        set_shared(&stream.packet, <PyObject*>packet)
    set_shared(&stream.buffer, <PyObject*>buffer)
    stream.base = splitter._base + stream.kept
    stream.ready = True
    return True


cdef inline int stream_settle(Stream* stream, splitter, frame_type) except -1:
    """Bring the state home, but for the counts.

    Arguments:
        splitter: as in `stream_resume`.
        frame_type: `kwire.protocol.frames.Frame`.
    """
    splitter._base = stream.base - stream.kept
    splitter._skip = stream.left
    splitter._need = stream.need if stream.kept and stream.kept == stream.kept_before else LENGTH  # else it finds out anew
    splitter._broken = None
    if stream.left:
        splitter._broken = frame_type(
            <object>stream.head, stream.length, stream.offset, <object>stream.packet, stream.begin_ns, stream.begin_ns
        )
    if stream.kept:
        splitter._marks = [(stream.offset, stream.begin_ns, <object>stream.packet)]
    elif splitter._marks:
        splitter._marks = []
    return 0
