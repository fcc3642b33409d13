"""The fast path through a JSON request log: around bodies a line is read natively, bodies by msgspec as the types that brokers write.

`kwire.capture.request_logs.lines` is the contract and the fallback: what has another type, or is not there, is None here and left to that,
good or bad. So this never says that a line is broken. It accepts a line that the fallback refuses in one case alone: a value that was not
asked for is good JSON, and yet more than Python reads (a number of thousands of digits, brackets a thousand deep).

Of a body the bytes are found first (`json_container`). The latest of each kind are kept: one with the same bytes is the same message.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.object cimport PyTypeObject
from libc.math cimport rint
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MIN, int64_t, uint8_t
from libc.string cimport memcmp

from build_id cimport build_id
from protocol.event_rows cimport tuple_like
from wire.cursor cimport Bytes, Cursor, cursor_open
from wire.json_text cimport JsonNumber, JsonString, json_container, json_next, json_number, json_sign, json_string, json_word
from wire.turns cimport Turn, one_at_a_time, turn_leave

import re

import msgspec

from kwire.capture.request_logs.entry import LogEntry, connection_name
from kwire.capture.request_logs.json_form import ANONYMOUS, MARK
from kwire.capture.request_logs.times import LONGEST_MS, find_stamp
from kwire.capture.request_logs.typed_bodies import body_decoders, software_decoder

__all__ = ["LineReader"]
__build__ = build_id()

# Kafka's own layout before the object: `[2026-01-01 00:00:00,000] DEBUG Completed request:`.
MINUTE = re.compile(rb"\[([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}):")
MARKED = re.compile(rb"\] +(TRACE|DEBUG|INFO|WARN|ERROR) *" + MARK.encode() + rb" ?")
# How brokers begin the object; the api and its version stand before anything that a client chose.
HEADER = re.compile(
    rb'\{"isForwarded":(?:false|true),"requestHeader":\{"requestApiKey":(-?[0-9]{1,5}),"requestApiVersion":(-?[0-9]{1,5})'
)

cdef enum:
    API_VERSIONS = 18
    FIRST_WITH_NAME = 3  # version of ApiVersions (KIP-511)
    MINUTE_BYTES = 18
    STAMP_BYTES = 24
    LONGEST_MARK = 64
    LONGEST_HEADER = 128
    MOST_KEPT = 4096
    MOST_BODIES = 8
    LONGEST_BODY = 65536
    MOST_BODY_BYTES = 4 << 20  # of all kinds together

cdef double longest_ms = LONGEST_MS
# what only msgspec reads: texts with escapes; and values that are not wanted, which have to be good JSON all the same
cdef object text_in_json = msgspec.json.Decoder(str).decode
cdef object software_in_json = software_decoder()
cdef object checked = msgspec.json.Decoder(msgspec.Raw).decode


cdef inline object keep(dict kept, bytes key, object value):
    """Remember a value; what hostile lines make of it stays bounded."""
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[key] = value
    return value


cdef inline object duration_us(double milliseconds):
    """times.duration_us, of a number."""
    if not 0 <= milliseconds <= longest_ms:
        return None
    return <int64_t>rint(milliseconds * 1000)


cdef inline bytes bytes_of(Bytes start, Bytes end):
    return PyBytes_FromStringAndSize(<const char*>start, end - start)


@cython.final
cdef class KeptBodies:
    """The latest distinct bodies of one kind, the newest first, and their messages, which nothing changes."""

    cdef list texts
    cdef list messages
    cdef tuple decoders  # one after the other, until one fits; none where text is wanted

    def __init__(self, decoders):
        self.texts, self.messages, self.decoders = [], [], decoders

    cdef object known(self, Bytes start, Py_ssize_t size):
        """The message of these bytes; None where they are not among the latest."""
        cdef Py_ssize_t place
        for place, text in enumerate(self.texts):
            if PyBytes_GET_SIZE(text) == size and memcmp(PyBytes_AS_STRING(text), start, size) == 0:
                message = self.messages[place]
                if place:
                    self.texts.insert(0, self.texts.pop(place))
                    self.messages.insert(0, self.messages.pop(place))
                return message
        return None

    cdef object decoded(self, bytes text):
        """Read a body that is new; an error of msgspec where it does not fit."""
        if not self.decoders:
            checked(text)
            return text
        for decode in self.decoders[:-1]:
            try:
                return decode(text)
            except msgspec.ValidationError:  # the next one may fit
                pass
        return self.decoders[-1](text)

    cdef Py_ssize_t keep(self, bytes text, object message) except? -1:
        """Put a body first, and let go of the oldest; gives by how many bytes what is kept has grown."""
        cdef Py_ssize_t more = len(text)
        self.texts.insert(0, text)
        self.messages.insert(0, message)
        if len(self.texts) > MOST_BODIES:
            more -= len(<bytes>self.texts.pop())
            del self.messages[MOST_BODIES:]
        return more


@cython.final
cdef class LineKind:
    """Lines that begin alike: an api at a version, and its bodies."""

    cdef int64_t key
    cdef int64_t version
    cdef object api_key
    cdef object api_version
    cdef KeptBodies requests
    cdef KeptBodies responses

    def __init__(self, key, version, wanted):
        self.key = self.api_key = key
        self.version = self.api_version = version
        self.requests, self.responses = (KeptBodies(body_decoders(version, wanted, side)) for side in (False, True))


include "line_fields.pxi"


@cython.final
cdef class LineReader:
    """Reads the lines of a log.

    Arguments:
        zone: of stamps that do not name theirs.
        wanted: which bodies are wanted of an api at a version; see `WantedBodies`.
    """

    cdef Turn* turn  # see wire/turns.pxd
    cdef object zone
    cdef object wanted
    cdef dict minutes  # microseconds since 1970 by the first bytes of stamps
    cdef dict levels  # by what stands between stamp and object
    cdef dict kinds  # `LineKind` by how the object begins
    cdef dict texts  # client ids and principals
    cdef dict connections  # by their bytes, as are
    cdef dict software
    cdef Py_ssize_t body_bytes  # kept of all kinds

    def __init__(self, zone, wanted):
        self.zone, self.wanted = zone, wanted
        self.minutes, self.levels, self.kinds, self.texts, self.connections, self.software = {}, {}, {}, {}, {}, {}
        self.body_bytes = 0

    def __dealloc__(self):
        turn_leave(self.turn)

    def read(self, bytes line not None, number):
        """Make an entry of a line; None for a line that the fallback has to read.

        Arguments:
            line: with or without its end.
            number: of it in its file, from 1.
        """
        cdef Py_ssize_t at = 0
        cdef Cursor cursor
        cdef LineFields found
        cdef LineKind kind
        level = logged_us = None
        try:
            if line[:1] == b"[":
                at = line.find(b'{"', STAMP_BYTES, LONGEST_MARK)
                level, logged_us = self.level_of(line[STAMP_BYTES:at]), self.stamp_of(line)
                if logged_us is None or level is None:
                    return None
            opening = line[at : line.find(b',"correlationId"', at, at + LONGEST_HEADER)]
            known = self.kinds[opening] if opening in self.kinds else self.kind_of(opening)
            if known is None:
                return None
            kind = known
            cursor_open(&cursor, <Bytes>PyBytes_AS_STRING(line), PyBytes_GET_SIZE(line), at)
            if not take_line(&cursor, &found) or found.key != kind.key or found.version != kind.version:  # it may have two of them
                return None
            if found.request is NULL or found.request[0] == 0x6E:
                request = None
            elif found.request[0] == 0x7B:
                if kind.key == API_VERSIONS and kind.version >= FIRST_WITH_NAME and found.request_end - found.request == 2:
                    request = {}  # a broker that does not know the version reads a request without fields (KIP-511)
                else:
                    request = self.body_of(kind.requests, found.request, found.request_end)
            else:
                return None
            if found.response is NULL or found.response[0] == 0x6E or found.response[0] == 0x22:
                response = None  # Produce without acknowledgement has an empty text in place of a response
            elif found.response[0] == 0x7B:
                response = self.body_of(kind.responses, found.response, found.response_end)
            elif kind.responses.decoders:
                return None
            else:
                response = None
            principal = self.text_of(&found.principal)
            name, client_id, software = self.connection_of(&found.connection), self.text_of(&found.client_id), self.software_of(&found)
        except (msgspec.MsgspecError, ValueError, RecursionError):  # another type, not JSON, not UTF-8, not a connection
            return None
        return tuple_like(
            <PyTypeObject*>LogEntry,
            (
                number, kind.api_key, kind.api_version, None if found.correlation_id == INT64_MIN else found.correlation_id, client_id,
                name, "typed", request, response, level, logged_us,
                duration_us(found.total_ms), duration_us(found.queue_ms), duration_us(found.local_ms), duration_us(found.remote_ms),
                None if principal == ANONYMOUS else principal or None, software,
                found.is_forwarded, found.is_deprecated, None, None,
            ),
        )

    cdef object body_of(self, KeptBodies kept, Bytes start, Bytes end):
        """The message of a body; an error of msgspec where it is none."""
        message = kept.known(start, end - start)
        if message is None:
            text = bytes_of(start, end)
            message = kept.decoded(text)
            if end - start <= LONGEST_BODY:
                self.body_bytes += kept.keep(text, message)
                if self.body_bytes > MOST_BODY_BYTES:
                    self.kinds.clear()
                    self.body_bytes = 0
        return message

    cdef object text_of(self, const JsonString* found):
        """The text of a string that comes again and again; None for null."""
        if found.start is NULL:
            return None
        if not found.is_plain:
            return text_in_json(bytes_of(found.start - 1, found.start + found.size + 1))
        raw = bytes_of(found.start, found.start + found.size)
        text = self.texts.get(raw)
        return keep(self.texts, raw, raw.decode()) if text is None else text

    cdef object connection_of(self, const JsonString* found):
        """The connection that a string names."""
        if not found.is_plain:
            return connection_name(self.text_of(found))
        raw = bytes_of(found.start, found.start + found.size)
        name = self.connections.get(raw)
        return keep(self.connections, raw, connection_name(raw.decode())) if name is None else name

    cdef object software_of(self, const LineFields* found):
        """Name and version in `clientInformation`, None without one."""
        if found.software is NULL or found.software[0] == 0x6E:
            return None
        raw = bytes_of(found.software, found.software_end)
        software = self.software.get(raw)
        return keep(self.software, raw, software_in_json(raw)) if software is None else software

    cdef object level_of(self, bytes before):
        """The level in what stands between stamp and object; None for what is not Kafka's own layout."""
        level = self.levels.get(before)
        if level is None:
            found = MARKED.fullmatch(before)
            level = None if found is None else keep(self.levels, before, found[1].decode())
        return level

    cdef object stamp_of(self, bytes line):
        """Microseconds since 1970 of the stamp before an object; None for any other stamp than Kafka's own."""
        cdef const uint8_t* digit = <const uint8_t*>PyBytes_AS_STRING(line)
        cdef int64_t milliseconds = 0
        cdef int place
        if PyBytes_GET_SIZE(line) < STAMP_BYTES or digit[MINUTE_BYTES] > 0x36 or digit[MINUTE_BYTES + 2] not in (0x2C, 0x2E):
            return None
        for place in range(MINUTE_BYTES, STAMP_BYTES):
            if place == MINUTE_BYTES + 2:
                continue
            if not 0x30 <= digit[place] <= 0x39:
                return None
            milliseconds = 10 * milliseconds + (digit[place] - 0x30)
        stamp = line[:MINUTE_BYTES]
        minute = self.minutes.get(stamp)
        if minute is None:
            found = MINUTE.fullmatch(stamp)
            minute = None if found is None else find_stamp(found[1].decode("ascii") + ":00", self.zone)
            if minute is None:
                return None
            keep(self.minutes, stamp, minute)
        return <int64_t>minute + 1000 * milliseconds

    cdef object kind_of(self, bytes opening):
        """The kind of the objects that begin so; None where it is not known."""
        found = HEADER.fullmatch(opening)
        wanted = None if found is None else self.wanted(int(found[1]), int(found[2]))
        return keep(self.kinds, opening, None if wanted is None else LineKind(int(found[1]), int(found[2]), wanted))


cdef Turn** turn_of_line_reader(PyObject* self) noexcept:
    return &(<LineReader>self).turn


one_at_a_time(LineReader, turn_of_line_reader)
