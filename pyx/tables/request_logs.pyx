"""Entries of request logs to rows of `requests`: the native twin of `LogRows.take` and of `LogConnection.take` behind it.

What is known of a connection stays in the objects of the pure twin, which are read and changed through their attributes. What an exchange
says beyond its row and its topics comes from `LogConnection.beyond`. Entries whose bodies the fast path has not read, and what came in an
Envelope, are left to `LogConnection.take`, answers that came before to `learned_answers.pxi`.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport INT32_MIN, int8_t, int32_t, int64_t, uint32_t
from libc.string cimport memcpy, memset

from build_id cimport build_id
from protocol.field_plans cimport BodyColumns
from protocol.request_rows cimport ANSWERED, BODY_DECODED, NO_RESPONSE_EXPECTED, PACKET_BITS, RequestRow, RequestRows, rows_add, rows_free
from protocol.text_table cimport NO_TEXT, TextTable, text_of, texts_clear, texts_crowded, texts_free, texts_open
from protocol.waiting_objects cimport columns_of_objects, int_or_none, long_or_none
from wire.turns cimport Turn, one_at_a_time, turn_leave
from tables.row_batches cimport flush_requests

from kwire.protocol._native.tracker cimport field_plans

import os
from functools import cache

import pyarrow as pa

from kwire.capture.request_logs.folding import LineFault
from kwire.protocol.row_columns import BODY_COLUMNS
from kwire.protocol.events import BrokersLearned, TopicsNamed, VersionsLearned
from kwire.protocol.tracking.first_fields import TOP_ERROR, first_value, request_fields, response_fields, topics_of
from kwire.protocol.tracking.identity import api_role
from kwire.protocol.tracking.topic_names import naming_paths, text_of_id
from kwire.protocol.tracking.topic_use import TOPIC_USERS
from kwire.schema import catalog, error_name
from kwire.tables.column_builder import BATCH_ROWS
from kwire.tables.request_logs.exchange_kinds import LOGGED_COLUMNS, exchange_kind
from kwire.tables.request_logs.messages import response_of
from kwire.tables.row_callbacks import ROW_BODIES, ROW_STATES
from kwire.tables.schemas import REQUESTS

__all__ = ["LoggedRows"]
__build__ = build_id()

cdef enum:
    MOST_LEARNED = 8  # distinct answers of an api at a version
    MOST_LEARNED_LISTS = 256
    PRODUCE = 0
    FETCH = 1
    API_VERSIONS = 18
    SHARE_FETCH = 78
    MOST_KINDS = 4096


include "logged_kinds.pxi"
include "logged_topics.pxi"
include "learned_answers.pxi"


cdef inline int count_entry(object file, object entry) except -1:
    """Count an entry in the file where it begins: _LogFile.count."""
    logged, arrived = (<tuple>entry)[10], (<tuple>entry)[19]
    if arrived is not None or (logged is not None and (file.end_us is None or <int64_t>logged < <int64_t>file.start_us)):
        file.count(entry)
        return 0
    file.requests += 1
    if logged is None:
        file.untimed += 1
    elif <int64_t>logged > <int64_t>file.end_us:
        file.end_us = logged
    return 0


@cython.final
cdef class LoggedRows:
    """Reads entries of request logs, and keeps their rows as C structs until there are enough of them for a record batch.

    Of a row `request_bytes`, `response_bytes` and `stream_offset` hold the times in the queue, of local and of remote work: a log has those
    where a capture has these.
    """

    cdef Turn* turn  # see wire/turns.pxd
    cdef RequestRows rows
    cdef TextTable texts  # of the rows alone
    cdef const BodyColumns* columns
    cdef Py_ssize_t batch_rows
    cdef tuple names
    cdef list batches
    cdef dict kinds
    cdef object facts

    def __cinit__(self, sink, batch_rows=BATCH_ROWS):
        self.columns = &field_plans().columns
        texts_open(&self.texts, int.from_bytes(os.urandom(8), "little"))
        series = sink.series
        self.names = (lambda _: series, sink.files.__getitem__, cache(catalog().api_name), error_name, ROW_STATES, ROW_BODIES)
        self.batch_rows, self.batches, self.kinds = batch_rows, [], {}

    def __dealloc__(self):
        rows_free(&self.rows)
        texts_free(&self.texts)
        turn_leave(self.turn)

    def take(self, *, whole):
        if whole:
            self.flush()
        batches, self.batches = self.batches, []
        return batches

    def read(self, rows, sink, items):
        """Take what was read of a file; `sink` takes what exchanges say beyond their rows."""
        cdef int64_t place
        cdef object latest = None
        cdef object live = rows.live
        cdef frozenset ports = sink.ports
        series, files = sink.series, sink.files
        if self.facts is not sink.facts:
            self.facts = sink.facts
            self.kinds.clear()
        for item in items:
            if type(item) is LineFault:
                rows.take_fault(item)
                continue
            number, entry = <tuple>item
            name = (<tuple>entry)[5]
            if ports and name.server_port not in ports:
                continue
            count_entry(rows.files[number], entry)
            if rows.deprecated_only and not ((<tuple>entry)[18] and (<tuple>entry)[9] not in ("DEBUG", "TRACE")):
                rows.deprecated_only = False
            connection = (<dict>live).get(name)
            if connection is None:
                connection = rows.begin(number, entry)
            elif connection is not latest:
                live.move_to_end(name)
            latest = connection
            place = <int64_t>number << PACKET_BITS | <int64_t>(<tuple>entry)[0]
            events = self.take_typed(connection, entry, place)
            if events is None:
                row, events = connection.take(entry, series, files[number], place)
                self.add(row, place)
            for event in <list>events:
                sink.take_event(connection, event)
            if self.rows.count >= self.batch_rows or texts_crowded(&self.texts):
                self.flush()

    cdef int flush(self) except -1:
        if self.rows.count:
            flush_requests(pa, REQUESTS, self.batches, self.names, self.rows.rows, self.rows.count, &self.texts, &self.texts, True)
        self.rows.count = 0
        return texts_clear(&self.texts)

    cdef int open_row(self, RequestRow* row, int64_t place) except -1:
        memset(row, 0, sizeof(RequestRow))
        row.packet = place
        memcpy(row.columns, self.columns.nulls, sizeof(row.columns))
        return 0

    cdef int put_row(self, const RequestRow* row) except -1:
        cdef RequestRow* made = rows_add(&self.rows)
        if made is NULL:
            raise MemoryError
        made[0] = row[0]
        return 0

    cdef int add(self, tuple given, int64_t place) except -1:
        """Append a row of `LOGGED_COLUMNS`."""
        cdef RequestRow made
        cdef RequestRow* row = &made
        cdef dict of = dict(zip(LOGGED_COLUMNS, given))
        self.open_row(row, place)
        row.connection, row.client_id = text_of(&self.texts, of["connection_id"]), text_of(&self.texts, of["client_id"])
        row.client_instance_id, row.principal = text_of(&self.texts, of["client_instance_id"]), text_of(&self.texts, of["principal"])
        row.software_name, row.software_version = text_of(&self.texts, of["software_name"]), text_of(&self.texts, of["software_version"])
        row.first_topic, row.topic_count = text_of(&self.texts, of["first_topic"]), int_or_none(of["topic_count"])
        row.api_key, row.api_version, row.header_version = of["api_key"], of["api_version"], int_or_none(of["header_version"])
        row.request_index, row.correlation_id = of["request_index"], long_or_none(of["correlation_id"])
        row.request_us, row.response_us = long_or_none(of["request_time"]), long_or_none(of["response_time"])
        row.latency_us, row.error_code = long_or_none(of["latency_us"]), int_or_none(of["error_code"])
        row.request_bytes, row.response_bytes = long_or_none(of["queue_time_us"]), long_or_none(of["local_time_us"])
        row.stream_offset = long_or_none(of["remote_time_us"])
        row.state, row.body = <int8_t>ROW_STATES.index(of["state"]), <int8_t>ROW_BODIES.index(of["body"])
        columns_of_objects(row.columns, &self.texts, self.columns, of)
        return self.put_row(row)

    cdef KindFields fields_of(self, object key, object version):
        cdef object place = (key, version)
        found = self.kinds.get(place)
        if found is None:
            if len(self.kinds) >= MOST_KINDS:
                self.kinds.clear()
            found = self.kinds[place] = KindFields(exchange_kind(key, version))
        return found

    cdef int put_columns(self, RequestRow* row, list columns, object message) except -1:
        cdef int slot
        for slot, path in columns:
            value = value_at(message, path)
            row.columns[slot] = text_of(&self.texts, value) if self.columns.texts >> <uint32_t>slot & 1 else int_or_none(value)
        return 0

    cdef int put_topics(self, RequestRow* row, KindFields fields, object request) except -1:
        """first_fields.topics_of."""
        if not fields.has_topics:
            row.first_topic, row.topic_count = NO_TEXT, INT32_MIN
            return 0
        held = None if fields.topics is None else getattr(request, fields.topics, None)
        if type(held) is not list:
            name, count = topics_of(request, fields.request_fields)
            row.first_topic, row.topic_count = text_of(&self.texts, name), int_or_none(count)
            return 0
        name = (<list>held)[0] if held else None
        if name is not None and fields.topic_name != "":
            name = None if fields.topic_name is None else getattr(name, fields.topic_name, None)
        row.first_topic, row.topic_count = text_of(&self.texts, name), <int32_t>len(<list>held)
        return 0

    cdef list take_typed(self, object connection, object entry, int64_t place):
        """Append the row of an entry whose bodies are messages, and give what it says beyond; None for an entry of another kind."""
        cdef KindFields fields, answered
        cdef RequestRow made
        cdef RequestRow* row = &made
        cdef bint is_silent, is_plain, is_known
        (
            _, key, version, correlation_id, client_id, _, form, request, response, _, logged, total, queue, local, remote, principal,
            software, is_forwarded, _, _, _,
        ) = <tuple>entry
        if form != "typed" or not request or is_forwarded:  # an empty one is of an ApiVersions request that the broker could not read
            return None
        fields = answered = self.fields_of(key, version)
        kind = fields.kind
        index = connection.requests
        connection.requests = index + 1
        arrived = see_times(connection, logged, total)
        if key == SHARE_FETCH:
            connection.sizes_known = False
        connection.last_api_name = fields.api_name
        broken = self.see_client(connection, entry, fields, client_id, correlation_id, software, principal, request)

        self.open_row(row, place)
        self.put_columns(row, fields.request_columns, request)
        self.put_topics(row, fields, request)
        row.connection, row.client_id, row.principal = (
            text_of(&self.texts, connection.connection_id), text_of(&self.texts, client_id), text_of(&self.texts, principal)
        )
        row.client_instance_id = text_of(&self.texts, connection.identity.instance_id)
        row.software_name = row.software_version = -1
        if software is not None:
            row.software_name, row.software_version = (
                text_of(&self.texts, (<tuple>software)[0]), text_of(&self.texts, (<tuple>software)[1])
            )
        row.api_key, row.api_version, row.header_version = fields.api_key, fields.api_version, fields.header_version
        row.request_index, row.correlation_id, row.request_us = index, long_or_none(correlation_id), long_or_none(arrived)
        row.request_bytes, row.response_bytes, row.stream_offset = long_or_none(queue), long_or_none(local), long_or_none(remote)
        is_silent = fields.api_key == PRODUCE and row.columns[self.columns.acks] == 0
        row.state, row.body = NO_RESPONSE_EXPECTED if is_silent else ANSWERED, BODY_DECODED
        responded = None
        if is_silent:
            response = None
        else:
            connection.responses += 1
            responded = logged
            if fields.api_key == API_VERSIONS:
                found, response = response_of(entry, kind)
                answered = fields if found is kind else self.fields_of(key, found.row[2])
        row.response_us, row.latency_us = long_or_none(responded), long_or_none(None if is_silent else total)
        row.error_code = INT32_MIN
        if response is not None:
            row.error_code = error_code_of(answered, response)
            self.put_columns(row, answered.response_columns, response)
        self.put_row(row)

        if fields.uses_topics:
            acks = None if row.columns[self.columns.acks] == INT32_MIN else row.columns[self.columns.acks]
            arrived_ns = None if arrived is None else arrived * 1000
            add_topics(
                fields.shapes, connection.topics, client_id, acks, arrived_ns, request, response,
                fields.api_key == PRODUCE or response is not None or is_silent,
            )
        is_plain = not broken and (row.error_code == 0 or row.error_code == INT32_MIN)
        if is_plain and not (fields.says_more and (not fields.of_groups or (arrived is not None and response is not None))):
            return []
        is_known = is_plain and fields.learned is not None and response is not None
        if is_known and learned_again(fields, connection.server, request, response, arrived, responded):
            return []
        code = None if row.error_code == INT32_MIN else row.error_code
        events = connection.beyond(
            entry, kind, place, index, arrived, responded, ROW_STATES[row.state], "decoded", request, response, code, broken or []
        )
        return learn(fields, self.facts, connection.server, request, response, events) if is_known else events

    cdef list see_client(
        self, object connection, object entry, KindFields fields, object client_id, object correlation_id, object software,
        object principal, object request
    ):
        """LogConnection.see_identity, where the entry says anything new of the client."""
        cdef object latest = connection.latest
        cdef object role = fields.role if fields.api_key != FETCH or is_consumer(request) else "broker"
        if (
            not fields.is_identifying and latest is not None and (<tuple>latest)[0] == client_id and (<tuple>latest)[1] == software
            and (<tuple>latest)[2] == principal and (correlation_id is None or correlation_id >= 0)
            and (role is None or connection.identity.role == role or connection.identity.role == "controller")
        ):
            if client_id:
                identity = connection.identity
                known = <dict>identity._client_ids
                if client_id in <dict>known:
                    known[client_id] += 1
                else:
                    identity.count_client_id(client_id)
            return None
        broken = connection.see_identity(entry, fields.kind, "decoded", request)
        connection.latest = None if fields.is_identifying else (client_id, software, principal)
        return broken


cdef object see_times(object connection, object logged, object total):
    """LogConnection._see_times, of an entry that does not say itself when its request came; gives when that was."""
    cdef int64_t first, last
    if logged is None:
        return None
    last = logged
    arrived = None if total is None else logged - total
    first = last if arrived is None else arrived
    if connection.first_us is None or first < connection.first_us:
        connection.first_us = first
    if connection.last_us is None or last > connection.last_us:
        connection.last_us = last
    return arrived


cdef Turn** turn_of_logged_rows(PyObject* self) noexcept:
    return &(<LoggedRows>self).turn


one_at_a_time(LoggedRows, turn_of_logged_rows)
