"""Lines of a JSON request log, and their bodies, without an object for what nobody asks for.

The short way of `kwire.capture.request_log_lines` and `kwire.capture.request_log_bodies`, which are the contract: it reads what brokers
write as a rule, and gives None for everything else, good or bad, which those then read. So it never says that a line is broken.
"""

import json
from types import SimpleNamespace

from kwire.capture.request_log_entry import LogEntry, connection_name
from kwire.capture.request_log_times import find_stamp

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_SetItem
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp

from json_text cimport Json, JsonText, json_integer, json_is_null, json_name, json_skip, json_space, json_string
from request_log_values cimport duration, header, is_name, software_of, text_of
from utf8 cimport is_plain

__all__ = ["BodyReader", "EntryReader"]

cdef enum:
    MOST_FIELDS = 64
    MOST_KEPT = 4096  # texts whose value is remembered
    MOST_KEPT_BYTES = 64
    MOST_NESTED = 32
    STAMP = 25  # of "[2026-01-01 00:00:00,000]"
    TO_THE_MINUTE = 17

cdef enum Kind:
    OTHER = 0
    INTEGER = 1
    STRING = 2
    STRUCTS = 3
    STRUCT = 4
    PLAIN = 5  # a value that does not change, made of a short text
    UUID = 6

cdef dict KINDS = {"other": OTHER, "integer": INTEGER, "string": STRING, "structs": STRUCTS, "struct": STRUCT, "plain": PLAIN, "uuid": UUID}
cdef object MARK = b"Completed request:"
cdef object NOBODY = "User:ANONYMOUS"
cdef object new_entry = LogEntry.__new__


cdef struct Field:
    const uint8_t* name
    Py_ssize_t size
    int kind
    int64_t low
    int64_t most


cdef class BodyReader:
    """Reads the structs of one kind.

    Args:
        fields: `kwire.capture.request_log_body_source.WantedField`, those that are asked for, at most 64 of them.
    """

    cdef Field[MOST_FIELDS] fields
    cdef int count
    cdef uint64_t every
    cdef list wanted
    cdef list names
    cdef list inner
    cdef list kept
    cdef tuple beside

    def __init__(self, fields):
        self.wanted = list(fields)
        if len(self.wanted) > MOST_FIELDS:
            raise ValueError("too many fields")
        self.names = []
        self.inner = []
        self.kept = []
        self.beside = tuple(pair for each in self.wanted for pair in each.beside)
        self.count = 0
        self.every = 0
        for each in self.wanted:
            name = each.json_name.encode()
            self.names.append(name)
            self.inner.append(None)
            self.kept.append({})
            self.fields[self.count].name = <const uint8_t*> PyBytes_AS_STRING(name)
            self.fields[self.count].size = len(name)
            self.fields[self.count].kind = KINDS[each.kind]
            if each.bounds is not None:
                self.fields[self.count].low, self.fields[self.count].most = each.bounds[0], each.bounds[1] - 1
            elif self.fields[self.count].kind == INTEGER:
                raise ValueError("an integer without bounds")
            self.every |= <uint64_t> 1 << self.count
            self.count += 1

    def read(self, bytes body not None):
        """Make a message of a JSON object; None for one that the long way has to read.

        Args:
            body: the object, nothing before or behind it.
        """
        cdef Json text
        text.at = <const uint8_t*> PyBytes_AS_STRING(body)
        text.end = text.at + PyBytes_GET_SIZE(body)
        try:
            found = self.struct(&text, 0)
        except ValueError:  # UTF-8 that is none, or a value that `convert` refuses: the long way says which
            return None
        return found if text.at == text.end else None

    cdef inline int find(self, JsonText* name, int expected) noexcept:
        cdef int index
        cdef Field* field
        if expected < self.count:
            field = &self.fields[expected]
            if field.size == name.size and memcmp(field.name, name.at, name.size) == 0:
                return expected
        for index in range(self.count):
            field = &self.fields[index]
            if field.size == name.size and memcmp(field.name, name.at, name.size) == 0:
                return index
        return -1

    cdef object struct(self, Json* text, int depth):
        """The object that is next, None for the long way."""
        cdef uint64_t seen = 0
        cdef JsonText name
        cdef int index
        cdef int expected = 0
        cdef uint8_t byte
        if text.at >= text.end or text.at[0] != 0x7B or depth > MOST_NESTED:
            return None
        text.at += 1
        json_space(text)
        found = SimpleNamespace()
        cdef dict values = found.__dict__
        if text.at < text.end and text.at[0] == 0x7D:
            text.at += 1
        else:
            while True:
                if not json_name(text, &name):
                    return None
                index = self.find(&name, expected)
                if index < 0:
                    if not json_skip(text):
                        return None
                else:
                    if not self.value(values, text, index, depth):
                        return None
                    seen |= <uint64_t> 1 << index
                    expected = index + 1
                json_space(text)
                if text.at >= text.end:
                    return None
                byte = text.at[0]
                text.at += 1
                if byte == 0x7D:
                    break
                if byte != 0x2C:
                    return None
                json_space(text)
        if seen != self.every:
            for index in range(self.count):
                if not seen >> index & 1:
                    wanted = self.wanted[index]
                    if wanted.absent is None:
                        return None
                    values[wanted.attribute] = wanted.absent()
        for attribute, constant in self.beside:
            values[attribute] = constant
        return found

    cdef bint value(self, dict values, Json* text, int index, int depth) except -1:
        """Read a value into its place; 0 for the long way."""
        cdef Field* field = &self.fields[index]
        cdef int kind = field.kind
        cdef int64_t number
        cdef JsonText string
        cdef const uint8_t* first = text.at
        cdef list elements
        cdef dict kept
        cdef uint8_t byte
        attribute = self.wanted[index].attribute
        if kind == INTEGER:  # which is never null
            if not json_integer(text, &number) or not field.low <= number <= field.most:
                return False
            PyDict_SetItem(values, attribute, number)
            return True
        if text.at[0] == 0x6E and kind != UUID:
            PyDict_SetItem(values, attribute, None)
            return json_is_null(text)
        if kind == STRING:
            if not json_string(text, &string) or string.escaped:
                return False
            PyDict_SetItem(values, attribute, text_of(&string))
            return True
        if kind == STRUCT:
            made = self.reader(index).struct(text, depth + 1)
            if made is None:
                return False
            PyDict_SetItem(values, attribute, made)
            return True
        if kind == STRUCTS:
            if text.at[0] != 0x5B:
                return False
            text.at += 1
            json_space(text)
            elements = []
            PyDict_SetItem(values, attribute, elements)
            if text.at < text.end and text.at[0] == 0x5D:
                text.at += 1
                return True
            inner = self.reader(index)
            while True:
                made = (<BodyReader> inner).struct(text, depth + 1)
                if made is None:
                    return False
                elements.append(made)
                json_space(text)
                if text.at >= text.end:
                    return False
                byte = text.at[0]
                text.at += 1
                if byte == 0x5D:
                    return True
                if byte != 0x2C:
                    return False
                json_space(text)
        if not json_skip(text):
            return False
        raw = PyBytes_FromStringAndSize(<const char*> first, text.at - first)
        kept = self.kept[index]
        made = kept.get(raw)
        if made is None:
            made = self.wanted[index].convert(json.loads(raw))
            if b"\\u" in raw:  # half of a surrogate pair
                return False
            if (kind == PLAIN or kind == UUID) and len(raw) <= MOST_KEPT_BYTES and made is not None:
                if len(kept) >= MOST_KEPT:
                    kept.clear()
                kept[raw] = made
        PyDict_SetItem(values, attribute, made)
        return True

    cdef BodyReader reader(self, int index):
        found = self.inner[index]
        if found is None:
            found = self.inner[index] = self.wanted[index].inner()
        return <BodyReader?> found


cdef class EntryReader:
    """Reads the lines of a log.

    Args:
        zone: of stamps that do not name theirs.
    """

    cdef object zone
    cdef dict minutes
    cdef dict levels

    def __init__(self, zone):
        self.zone = zone
        self.minutes = {}
        self.levels = {}

    def __reduce__(self):
        return EntryReader, (self.zone,)

    def read(self, bytes line not None, number):
        """Make an entry of a line, its bodies still JSON; None for a line that the long way has to read.

        Args:
            line: without its end.
            number: of it in its file, from 1.
        """
        cdef Json text
        cdef const uint8_t* first = <const uint8_t*> PyBytes_AS_STRING(line)
        cdef Py_ssize_t at = 0
        text.at, text.end = first, first + PyBytes_GET_SIZE(line)
        if text.at >= text.end:
            return None
        entry = new_entry(LogEntry)
        entry.level = entry.logged_us = None
        try:
            if first[0] != 0x7B:
                if first[0] != 0x5B:  # not [
                    return None
                at = line.find(MARK)
                if at < 0 or not self.stamp(entry, line, first, at):
                    return None
                text.at += at + len(MARK)
                if text.at < text.end and text.at[0] == 0x20:
                    text.at += 1
            if text.end - text.at < 2 or text.at[0] != 0x7B or text.at[1] != 0x22 or not self.entry(entry, &text):
                return None
        except ValueError:  # UTF-8 that is none, or no connection
            return None
        entry.line = number
        return entry

    cdef bint stamp(self, entry, bytes line, const uint8_t* first, Py_ssize_t size) except -1:
        """Time and level of Kafka's own layout, `[2026-01-01 00:00:00,000] DEBUG `; 0 for any other."""
        cdef int index
        cdef int64_t seconds
        cdef int64_t fraction
        if size < STAMP or size > STAMP + 8 or first[STAMP - 1] != 0x5D or (first[20] != 0x2C and first[20] != 0x2E) or first[17] != 0x3A:
            return False
        for index in (18, 19, 21, 22, 23):
            if not 0x30 <= first[index] <= 0x39:
                return False
        if first[18] > 0x36:
            return False
        minute = line[:TO_THE_MINUTE]
        base = self.minutes.get(minute)
        if base is None:
            if not is_plain(first, TO_THE_MINUTE):
                return False
            base = find_stamp(minute.decode() + ":00]", self.zone)
            if base is None:
                return False
            if len(self.minutes) >= MOST_KEPT:
                self.minutes.clear()
            self.minutes[minute] = base
        rest = line[STAMP:size]
        level = self.levels.get(rest)
        if level is None:
            level = rest.strip(b" ").decode()
            if level not in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR") or not rest.startswith(b" "):
                return False
            self.levels[rest] = level
        seconds = (first[18] - 0x30) * 10 + first[19] - 0x30
        fraction = (first[21] - 0x30) * 100 + (first[22] - 0x30) * 10 + first[23] - 0x30
        entry.logged_us = <int64_t> base + seconds * 1_000_000 + fraction * 1000
        entry.level = level
        return True

    cdef bint entry(self, entry, Json* text) except -1:
        """The object that is next; 0 for the long way."""
        cdef JsonText name
        cdef JsonText string
        cdef const uint8_t* first
        cdef uint8_t byte
        cdef bint headed = False
        connection = principal = software = security = listener = request = response = None
        total = queue = local = remote = None
        forwarded = False
        text.at += 1
        while True:
            if not json_name(text, &name):
                return False
            first = text.at
            byte = first[0]
            if is_name(&name, b"requestHeader", 13):
                if headed or not header(entry, text):
                    return False
                headed = True
            elif is_name(&name, b"request", 7):
                if not json_skip(text):
                    return False
                request = None if byte != 0x7B else PyBytes_FromStringAndSize(<const char*> first, text.at - first)
            elif is_name(&name, b"response", 8):
                if not json_skip(text):
                    return False
                response = None if byte != 0x7B else PyBytes_FromStringAndSize(<const char*> first, text.at - first)
            elif is_name(&name, b"connection", 10):
                if not json_string(text, &string) or string.escaped:
                    return False
                connection = text_of(&string)
            elif is_name(&name, b"totalTimeMs", 11):
                total = duration(text)
                if total is False:
                    return False
            elif is_name(&name, b"requestQueueTimeMs", 18):
                queue = duration(text)
                if queue is False:
                    return False
            elif is_name(&name, b"localTimeMs", 11):
                local = duration(text)
                if local is False:
                    return False
            elif is_name(&name, b"remoteTimeMs", 12):
                remote = duration(text)
                if remote is False:
                    return False
            elif is_name(&name, b"securityProtocol", 16):
                if not json_string(text, &string) or string.escaped:
                    return False
                security = text_of(&string)
            elif is_name(&name, b"principal", 9):
                if not json_string(text, &string) or string.escaped:
                    return False
                principal = text_of(&string)
            elif is_name(&name, b"listener", 8):
                if not json_string(text, &string) or string.escaped:
                    return False
                listener = text_of(&string)
            elif is_name(&name, b"clientInformation", 17):
                software = software_of(text)
                if software is None:
                    return False
            elif is_name(&name, b"isForwarded", 11):
                if byte == 0x74:
                    forwarded = True
                elif byte == 0x66:
                    forwarded = False
                else:
                    return False
                if not json_skip(text):
                    return False
            elif is_name(&name, b"time", 4) or is_name(&name, b"state", 5):  # as `kwire decode` writes them
                return False
            elif not json_skip(text):
                return False
            json_space(text)
            if text.at >= text.end:
                return False
            byte = text.at[0]
            text.at += 1
            if byte == 0x7D:
                break
            if byte != 0x2C:
                return False
            json_space(text)
        if not headed or connection is None:
            return False
        entry.connection = connection_name(connection)
        entry.request = request
        entry.response = response
        entry.exact = True
        entry.is_forwarded = forwarded
        entry.arrived_us = None
        entry.total_us = total
        entry.queue_us = queue
        entry.local_us = local
        entry.remote_us = remote
        entry.principal = None if not principal or principal == NOBODY else principal
        entry.software = software
        entry.security_protocol = security
        entry.listener = listener
        entry.other = {}
        return True
