"""C interface of pyx/protocol/frame_blanking.pyx: blanking of frames in place."""

from libc.stdint cimport int64_t, uint8_t

from wire.turns cimport Turn


cdef class FrameBlanker:
    cdef Turn* turn  # see wire/turns.pxd
    cdef object pure  # the readable twin, for what takes more than the frame
    cdef dict groups, carried  # its own, by the index of a request
    cdef bint hides_hosts

    cdef bint blank_request(self, uint8_t* frame, Py_ssize_t size, bint whole) except -1
    cdef bint blank_response(self, uint8_t* frame, Py_ssize_t size, int api_key, int version, int64_t index, bint whole) except -1
