"""The fast path through a JSON request log: msgspec reads a line and both bodies in one pass, by the types that brokers write.

`kwire.capture.request_logs.lines` is the contract and the fallback: what has another type, or is not there, is None here and left to that,
good or bad. So this never says that a line is broken. It accepts a line that the fallback refuses in one case alone: a value that was not
asked for is good JSON, and yet more than Python reads (a number of thousands of digits, brackets a thousand deep).
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyTypeObject
from libc.math cimport rint
from libc.stdint cimport int64_t, uint8_t

from build_id cimport build_id
from protocol.event_rows cimport tuple_like

import os
import re

import msgspec
from msgspec.structs import astuple

from kwire.capture.request_logs.entry import LogEntry, connection_name
from kwire.capture.request_logs.json_form import ANONYMOUS, MARK
from kwire.capture.request_logs.times import LONGEST_MS, find_stamp
from kwire.capture.request_logs.typed_bodies import line_decoders

__all__ = ["LineReader"]
__build__ = build_id()

# Kafka's own layout before the object: `[2026-01-01 00:00:00,000] DEBUG Completed request:`.
MINUTE = re.compile(rb"\[([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}):")
MARKED = re.compile(rb"\] +(TRACE|DEBUG|INFO|WARN|ERROR) *" + MARK.encode() + rb" ?")
# How brokers begin the object; the api and its version stand before anything that a client chose.
HEADER = re.compile(
    rb'\{"isForwarded":(?:false|true),"requestHeader":\{"requestApiKey":(-?[0-9]{1,5}),"requestApiVersion":(-?[0-9]{1,5})'
)
# In JSON these bytes are a name and the beginning of its value: a quote inside a text has a backslash before it.
RESPONSE = b',"response":{'

cdef enum:
    MOST_ANSWERS = 8
    LONGEST_ANSWER = 65536
    LINE_END_BYTES = 2
    MINUTE_BYTES = 18
    STAMP_BYTES = 24
    LONGEST_MARK = 64
    LONGEST_HEADER = 128
    MOST_KEPT = 4096

cdef double longest_ms = LONGEST_MS


cdef inline object keep(dict kept, bytes key, object value):
    """Remember a value; what hostile lines make of it stays bounded."""
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[key] = value
    return value


cdef inline object duration_us(object milliseconds):
    """times.duration_us, of a number."""
    if milliseconds is None or not 0 <= <double>milliseconds <= longest_ms:
        return None
    return <int64_t>rint(<double>milliseconds * 1000)


@cython.final
cdef class LineReader:
    """Reads the lines of a log.

    Arguments:
        zone: of stamps that do not name theirs.
        wanted: which bodies are wanted of an api at a version; see `WantedBodies`.
    """

    cdef object zone
    cdef object wanted
    cdef dict minutes  # microseconds since 1970 by the first bytes of stamps
    cdef dict levels  # by what stands between stamp and object
    # by how the object begins: api, version, what reads it, and reads it as former releases wrote it, whether the response stays text
    cdef dict decoders
    cdef list answers  # the latest distinct responses that stay text
    cdef bytes mark  # JSON that stands for one of them, and that no line can have

    def __init__(self, zone, wanted):
        self.zone, self.wanted = zone, wanted
        self.minutes, self.levels, self.decoders, self.answers = {}, {}, {}, []
        self.mark = b'"%s"' % os.urandom(16).hex().encode()

    def read(self, bytes line not None, number):
        """Make an entry of a line; None for a line that the fallback has to read.

        Arguments:
            line: without its end.
            number: of it in its file, from 1.
        """
        cdef Py_ssize_t end, at = 0
        level = logged_us = None
        try:
            if line[:1] == b"[":
                at = line.find(b'{"', STAMP_BYTES, LONGEST_MARK)
                level, logged_us = self.level_of(line[STAMP_BYTES:at]), self.stamp_of(line)
                if logged_us is None or level is None:
                    return None
            opening = line[at : line.find(b',"correlationId"', at, at + LONGEST_HEADER)]
            known = self.decoders[opening] if opening in self.decoders else self.decoder_of(opening)
            if known is None:
                return None
            key, version, decode, decode_older, as_text = <tuple>known
            end = line.rfind(b"}") + 1
            # JSON may have its line's end behind it, so most lines need no copy
            text = line[at:end] if at or PyBytes_GET_SIZE(line) - end > LINE_END_BYTES else line
            if as_text:
                text, answer = self.marked(text)
            try:
                found = decode(text)
            except msgspec.ValidationError:
                if decode_older is None:
                    return None
                found = decode_older(text)
            # all fields at once: each attribute costs as much as all of them
            (
                header, connection, is_forwarded, total, queue, local, remote, principal, software, _, _, request, response,
            ) = <tuple>astuple(found)
            name = connection_name(connection)
        except (msgspec.MsgspecError, ValueError, RecursionError):  # another type, not JSON, not UTF-8, not a connection
            return None
        api_key, api_version, correlation_id, client_id, deprecated = <tuple>astuple(header)
        if api_key != key or api_version != version:  # it has two of them
            return None
        if as_text:
            response = self.answer_of(bytes(response), answer)
        elif type(response) is str:  # Produce without acknowledgement has an empty text in place of a response
            response = None
        return tuple_like(
            <PyTypeObject*>LogEntry,
            (
                number, key, version, correlation_id, client_id, name, "typed", request, response, level, logged_us,
                duration_us(total), duration_us(queue), duration_us(local), duration_us(remote),
                None if principal == ANONYMOUS else principal or None, None if software is None else astuple(software),
                is_forwarded, deprecated, None, None,
            ),
        )

    cdef tuple marked(self, bytes text):
        """The text with `mark` in place of a response that is one of the latest, and that response; else the text and None.

        Servers answer ApiVersions with kilobytes that are the same for weeks. An object that begins with a whole one is that one.
        """
        cdef Py_ssize_t place = text.find(RESPONSE) + len(RESPONSE) - 1
        if place >= len(RESPONSE):
            for answer in self.answers:
                if text.startswith(answer, place):
                    return b"".join((text[:place], self.mark, text[place + len(<bytes>answer):])), answer
        return text, None

    cdef bytes answer_of(self, bytes response, bytes answer):
        """The response of a line, None where it is not an object; `answer` is what the mark stands for."""
        if response == self.mark:
            return answer
        if response[:1] != b"{":
            return None
        if len(response) <= LONGEST_ANSWER:
            self.answers.insert(0, response)
            del self.answers[MOST_ANSWERS:]
        return response

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

    cdef object decoder_of(self, bytes opening):
        """What reads the objects that begin so; None where that is not known."""
        found = HEADER.fullmatch(opening)
        wanted = None if found is None else self.wanted(int(found[1]), int(found[2]))
        return keep(
            self.decoders, opening,
            None if wanted is None else (int(found[1]), int(found[2]), *line_decoders(int(found[2]), wanted), wanted.response is None),
        )
