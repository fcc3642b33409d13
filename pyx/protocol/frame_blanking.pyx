# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""Frames without secrets, blanked where they lie: the native twin of `kwire.protocol.secrets.frame_blanking`, which is the contract.

A frame is blanked here when it can be looked at by itself, as nearly all can (`frame_plan` of the contract says which). SASL tokens,
requests in requests, messages of groups with their members' bytes, records that have to be packed again, and all frames where hosts are
replaced, are the pure twin's.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t

from build_id cimport build_id
from codec.listed_fields cimport ListedFields, field_at, fields_free, fields_list
from codec.marked_program cimport MarkedProgram, marked_lower, marked_release
from protocol.record_blanking cimport blank_records, fill
from wire.checksum cimport crc_start
from wire.cursor cimport OK, load_16
from wire.free_threading cimport publish, publish_pointer, published, published_pointer
from wire.turns cimport Turn, one_at_a_time, turn_leave

from kwire.protocol.secrets.frame_blanking import FrameBlanker as PureBlanker
from kwire.protocol.secrets.frame_blanking import frame_plan

__all__ = ["FrameBlanker"]

__build__ = build_id()

crc_start()

cdef enum:
    KEYS = 128  # api keys that the table holds; Kafka has used 93 in its whole life
    VERSIONS = 32  # of one api; Kafka's highest is 18
    HEAD = 8  # api key, version, correlation id
    API_VERSIONS = 18
    UNSUPPORTED_VERSION = 35
    BEHIND_ERROR = 6  # of a response without a flexible header
    UNLOCKED = 1 << 15  # bytes of a frame that are worth letting other threads run

cdef enum Outcome:
    DONE = 0
    BY_PYTHON = 1
    NO_MEMORY = 2


@cython.final
cdef class Plan:
    """Blanking plan of one message at one version."""

    cdef MarkedProgram header
    cdef MarkedProgram body
    cdef uint8_t* records  # by field

    def __cinit__(self, plan):
        marked_lower(&self.header, plan.header)
        marked_lower(&self.body, plan.body)
        self.records = <uint8_t*>PyMem_Calloc(len(plan.records) + 1, 1)
        if self.records is NULL:
            raise MemoryError
        for index, held in enumerate(plan.records):
            self.records[index] = held

    def __dealloc__(self):
        marked_release(&self.header)
        marked_release(&self.body)
        PyMem_Free(self.records)


cdef struct Known:
    int asked  # is published last
    PyObject* plan  # NULL for what the pure twin blanks

cdef Known[2][KEYS][VERSIONS] KNOWN
cdef list PLANS = []  # keeps them alive


cdef Plan plan_of(bint is_response, int key, int version):
    """None for what the pure twin blanks."""
    cdef Known* known
    cdef PyObject* plan
    if not (0 <= key < KEYS and 0 <= version < VERSIONS):
        return None
    known = &KNOWN[is_response][key][version]
    if not published(&known.asked):
        found = frame_plan("response" if is_response else "request", key, version)
        if found is not None:
            made = Plan(found)
            PLANS.append(made)
            publish_pointer(&known.plan, <PyObject*>made)  # threads that come at once make one each, and either serves
        publish(&known.asked, True)
    plan = <PyObject*>published_pointer(&known.plan)
    return None if plan is NULL else <Plan>plan


cdef Outcome blank_message(
    const MarkedProgram* program, const uint8_t* records, uint8_t* frame, Py_ssize_t size, bint whole, Py_ssize_t* end, bint* readable
) noexcept nogil:
    """Blank what a message holds that begins at `end`, which becomes where what is understood of it ends."""
    cdef ListedFields found
    cdef Py_ssize_t number, begin, stop
    cdef int32_t choice
    cdef Outcome outcome
    fields_list(&found, program, frame, size, end[0], whole)
    readable[0], end[0] = found.code == OK, found.end
    outcome = NO_MEMORY if found.no_memory else DONE
    number = 0
    while outcome == DONE and number < found.count:
        choice = field_at(&found, number, &begin, &stop)
        if choice < 0 or not records[choice]:
            fill(frame + begin, frame + stop)
        elif not blank_records(frame + begin, stop - begin):
            outcome = BY_PYTHON
        number += 1
    fields_free(&found)
    return outcome


cdef bint is_zero(const uint8_t* at, const uint8_t* end) noexcept nogil:
    while at < end and at[0] == 0:
        at += 1
    return at == end


cdef Outcome blank_frame(Plan plan, bint is_response, uint8_t* frame, Py_ssize_t size, bint whole) noexcept nogil:
    """Blank a frame; with BY_PYTHON some of its bytes are blanked already."""
    cdef Py_ssize_t end = 0
    cdef bint readable = True
    cdef Outcome outcome = blank_message(&plan.header, NULL, frame, size, whole, &end, &readable)
    if outcome == DONE and (readable or is_response):
        outcome = blank_message(&plan.body, plan.records, frame, size, whole, &end, &readable)
    if outcome == DONE and not is_zero(frame + end, frame + size):
        fill(frame + end, frame + size)
    return outcome


cdef bint blanked(Plan plan, bint is_response, uint8_t* frame, Py_ssize_t size, bint whole) except -1:
    """Blank the frame; return False if the pure backend must do it, with some bytes possibly blanked already."""
    cdef Outcome outcome
    if plan is None:
        return False
    if size < UNLOCKED:
        outcome = blank_frame(plan, is_response, frame, size, whole)
    else:
        with nogil:
            outcome = blank_frame(plan, is_response, frame, size, whole)
    if outcome == NO_MEMORY:
        raise MemoryError
    return outcome == DONE


@cython.final
cdef class FrameBlanker:
    """Blanks the frames of one connection; arguments and methods are those of the pure twin."""

    def __cinit__(self, group_types=None, hosts=None):
        self.pure = PureBlanker(group_types, hosts)
        self.groups, self.carried = self.pure._groups, self.pure._carried
        self.hides_hosts = hosts is not None

    def __dealloc__(self):
        turn_leave(self.turn)

    def request(self, bytes frame not None, *, index=-1, mechanism=None, bint whole=True):
        cdef bytes made = PyBytes_FromStringAndSize(PyBytes_AS_STRING(frame), PyBytes_GET_SIZE(frame))
        if self.blank_request(<uint8_t*>PyBytes_AS_STRING(made), PyBytes_GET_SIZE(made), whole):
            return made
        return self.pure.request(frame, index=index, mechanism=mechanism, whole=whole)

    def response(self, bytes frame not None, api_key, api_version, *, index=-1, mechanism=None, bint whole=True):
        cdef bytes made = PyBytes_FromStringAndSize(PyBytes_AS_STRING(frame), PyBytes_GET_SIZE(frame))
        if api_key is not None and api_version is not None:
            if self.blank_response(<uint8_t*>PyBytes_AS_STRING(made), PyBytes_GET_SIZE(made), api_key, api_version, index, whole):
                return made
        return self.pure.response(frame, api_key, api_version, index=index, mechanism=mechanism, whole=whole)

    def seen(self, event, bytes frame not None):
        if event.kind == "token":
            return self.pure.seen(event, frame)
        whole, index = len(frame) == event.length, -1 if event.request_index is None else event.request_index
        if event.direction == "request":
            return self.request(frame, index=index, mechanism=event.sasl_mechanism, whole=whole)
        return self.response(frame, event.api_key, event.api_version, index=index, mechanism=event.sasl_mechanism, whole=whole)

    cdef bint blank_request(self, uint8_t* frame, Py_ssize_t size, bint whole) except -1:
        """Blank a frame; False for what the pure twin has to blank, from the bytes as they came."""
        if self.hides_hosts or size < HEAD:
            return False
        return blanked(plan_of(False, <int16_t>load_16(frame), <int16_t>load_16(frame + 2)), False, frame, size, whole)

    cdef bint blank_response(self, uint8_t* frame, Py_ssize_t size, int api_key, int version, int64_t index, bint whole) except -1:
        cdef Plan plan
        if self.hides_hosts:
            return False
        if api_key == API_VERSIONS and size >= BEHIND_ERROR and load_16(frame + BEHIND_ERROR - 2) == UNSUPPORTED_VERSION:
            version = 0  # a refusal comes in version 0 form whatever was asked (KIP-511)
        plan = plan_of(True, api_key, version)
        if not blanked(plan, True, frame, size, whole):
            return False
        if self.groups:
            self.groups.pop(index, None)
        if self.carried:
            self.carried.pop(index, None)
        return True


cdef Turn** turn_of_frame_blanker(PyObject* self) noexcept:
    return &(<FrameBlanker>self).turn


one_at_a_time(FrameBlanker, turn_of_frame_blanker)
