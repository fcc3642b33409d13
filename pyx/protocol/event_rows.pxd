"""Events of a tracked connection out of C rows: `RequestCompleted`, `TopicsUsed`, `FrameSeen` of kwire/protocol/events.py."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport INT32_MIN, INT64_MIN, int32_t, int64_t, uint32_t
from libc.stdlib cimport realloc
from libc.string cimport memset

from protocol.event_classes cimport EventClasses
from protocol.exchange_state cimport ExchangeState, WaitingRequest
from protocol.field_plans cimport KEYS, BodyColumns
from protocol.request_rows cimport MOST_COLUMNS, NO_TEXT, RequestRow
from protocol.series_state cimport SeriesState
from protocol.text_table cimport TextTable, text_object
from protocol.topic_uses cimport TopicUse, TopicUses
from protocol.wire_frame cimport WireFrame
from wire.cursor cimport Bytes
from wire.free_threading cimport publish_pointer, published_pointer
from wire.python_slots cimport python_new, python_slots, slot_index
from wire.raw_python cimport raw_decref, raw_incref, raw_long, raw_long_long, raw_none

cdef extern from *:
    """
    /* An object of a NamedTuple class, as its _make gives it, without the call. */
    static inline PyObject *kwire_tuple_like(PyTypeObject *type, PyObject *items) {
        PyObject *arguments = PyTuple_Pack(1, items);
        if (arguments == NULL) return NULL;
        PyObject *made = PyTuple_Type.tp_new(type, arguments, NULL);
        Py_DECREF(arguments);
        return made;
    }
    """
    object tuple_like "kwire_tuple_like"(PyTypeObject* type, tuple items)

cdef inline PyObject* lasting(value) noexcept:
    """A reference that is never released."""
    raw_incref(<PyObject*>value)
    return <PyObject*>value


cdef inline int events_open(EventClasses* events) except -1:
    """Ask the classes, once."""
    from kwire.protocol.events import FrameSeen, PartitionUse, RequestCompleted, TopicsUsed
    from kwire.protocol.row_columns import BODY_COLUMNS
    from kwire.protocol.tracking.callbacks import ROW_BODIES, ROW_STATES

    cdef int index
    kind = RequestCompleted
    slots = len(kind.__slots__)
    memset(events, 0, sizeof(EventClasses))
    events.row_type = <PyTypeObject*>lasting(kind)
    events.request_index = slot_index(kind, "request_index", slots)
    events.api_key = slot_index(kind, "api_key", slots)
    events.api_name = slot_index(kind, "api_name", slots)
    events.api_version = slot_index(kind, "api_version", slots)
    events.header_version = slot_index(kind, "header_version", slots)
    events.correlation_id = slot_index(kind, "correlation_id", slots)
    events.client_id = slot_index(kind, "client_id", slots)
    events.client_instance_id = slot_index(kind, "client_instance_id", slots)
    events.software_name = slot_index(kind, "software_name", slots)
    events.software_version = slot_index(kind, "software_version", slots)
    events.principal = slot_index(kind, "principal", slots)
    events.request_time = slot_index(kind, "request_time", slots)
    events.response_time = slot_index(kind, "response_time", slots)
    events.latency_us = slot_index(kind, "latency_us", slots)
    events.request_bytes = slot_index(kind, "request_bytes", slots)
    events.response_bytes = slot_index(kind, "response_bytes", slots)
    events.error_code = slot_index(kind, "error_code", slots)
    events.first_topic = slot_index(kind, "first_topic", slots)
    events.topic_count = slot_index(kind, "topic_count", slots)
    events.state = slot_index(kind, "state", slots)
    events.body = slot_index(kind, "body", slots)
    events.packet_number = slot_index(kind, "packet_number", slots)
    events.stream_offset = slot_index(kind, "stream_offset", slots)
    for index, column in enumerate(BODY_COLUMNS):
        events.columns[index] = slot_index(kind, column.name, slots)
    for index in range(6):
        events.states[index] = lasting(ROW_STATES[index])
    for index in range(5):
        events.bodies[index] = lasting(ROW_BODIES[index])
    events.topics_used, events.partition_use, events.frame_seen = lasting(TopicsUsed), lasting(PartitionUse), lasting(FrameSeen)
    return 0


cdef inline PyObject* text_borrowed(SeriesState* series, int32_t text) except NULL:
    """The Python text of a number, None for null; the series keeps it until its texts get new numbers."""
    cdef PyObject** grown
    cdef int32_t room
    if text < 0:
        return raw_none
    if text >= series.objects_room:
        room = max(2 * series.objects_room, text + 8)
        grown = <PyObject**>realloc(series.objects, room * sizeof(PyObject*))
        if grown is NULL:
            raise MemoryError
        memset(grown + series.objects_room, 0, (room - series.objects_room) * sizeof(PyObject*))
        series.objects = grown
        series.objects_room = room
    if series.objects[text] is NULL:
        made = text_object(&series.texts, text)
        raw_incref(<PyObject*>made)
        series.objects[text] = <PyObject*>made
    return series.objects[text]


cdef inline PyObject* shared(PyObject* value) noexcept:
    raw_incref(value)
    return value


cdef inline PyObject* new_long(int64_t value) noexcept:
    """A number, None for its null."""
    return shared(raw_none) if value == INT64_MIN else raw_long_long(value)


cdef inline PyObject* new_int(int32_t value) noexcept:
    return shared(raw_none) if value == INT32_MIN else raw_long(value)


cdef inline PyObject* api_name(EventClasses* events, int32_t key) except NULL:
    """Borrowed; None for a key that the catalog does not have."""
    if not 0 <= key < KEYS:
        return raw_none
    cdef PyObject* name = <PyObject*>published_pointer(&events.names[key])
    if name is NULL:
        from kwire.schema import catalog

        name = lasting(catalog().api_name(key))
        publish_pointer(&events.names[key], name)
    return name


cdef inline object new_row(EventClasses* events, SeriesState* series, const WaitingRequest* waiting, int64_t response_ns):
    """The `RequestCompleted` of a request; `response_ns` is INT64_MIN without a response."""
    cdef const RequestRow* row = &waiting.row
    cdef PyObject** own
    cdef PyObject* made
    cdef PyObject* name = api_name(events, row.api_key)
    cdef PyObject* client_id = text_borrowed(series, row.client_id)
    cdef PyObject* instance_id = text_borrowed(series, row.client_instance_id)
    cdef PyObject* software = text_borrowed(series, row.software_name)
    cdef PyObject* version = text_borrowed(series, row.software_version)
    cdef PyObject* principal = text_borrowed(series, row.principal)
    cdef PyObject* topic = text_borrowed(series, row.first_topic)
    cdef const BodyColumns* columns = &series.plans.columns
    cdef PyObject* texts[MOST_COLUMNS]
    cdef int slot
    for slot in range(columns.count):
        if columns.texts >> <uint32_t>slot & 1:
            texts[slot] = text_borrowed(series, row.columns[slot])
    made = python_new(events.row_type)
    if made is NULL:
        raise MemoryError
    own = python_slots(made)
    own[events.request_index] = raw_long_long(row.request_index)
    own[events.api_key] = new_int(row.api_key)
    own[events.api_name] = shared(name)
    own[events.api_version] = new_int(row.api_version)
    own[events.header_version] = new_int(row.header_version)
    own[events.correlation_id] = new_long(row.correlation_id)
    own[events.client_id] = shared(client_id)
    own[events.client_instance_id] = shared(instance_id)
    own[events.software_name] = shared(software)
    own[events.software_version] = shared(version)
    own[events.principal] = shared(principal)
    own[events.request_time] = new_long(waiting.request_ns)
    own[events.response_time] = new_long(response_ns)
    own[events.latency_us] = new_long(row.latency_us)
    own[events.request_bytes] = new_long(row.request_bytes)
    own[events.response_bytes] = new_long(row.response_bytes)
    own[events.error_code] = new_int(row.error_code)
    own[events.first_topic] = shared(topic)
    own[events.topic_count] = new_int(row.topic_count)
    for slot in range(columns.count):
        own[events.columns[slot]] = shared(texts[slot]) if columns.texts >> <uint32_t>slot & 1 else new_int(row.columns[slot])
    own[events.state] = shared(events.states[row.state])
    own[events.body] = shared(events.bodies[row.body])
    own[events.packet_number] = raw_long_long(row.packet)
    own[events.stream_offset] = raw_long_long(row.stream_offset)
    result = <object>made
    raw_decref(made)
    return result


cdef inline int say_row(ExchangeState* exchange, SeriesState* series, const WaitingRequest* waiting, int64_t response_ns) except -1:
    """A request is complete."""
    (<list>exchange.events).append(new_row(series.classes, series, waiting, response_ns))
    return 0


cdef inline object last_row(list events, PyTypeObject* row_type):
    """The latest `RequestCompleted` event."""
    for event in reversed(events):
        if (<PyObject*>event).ob_type is row_type:
            return event
    raise AssertionError("no row was made")


cdef inline object frame_seen(
    const ExchangeState* exchange, const EventClasses* classes, bint is_response, const RequestRow* row, int64_t offset, int64_t length
):
    cdef str kind = "response" if is_response else "request"
    mechanism = None if exchange.sasl is NULL else (<object>exchange.sasl).mechanism
    return (<object>classes.frame_seen)(kind, kind, offset, length, row.request_index, row.api_key, row.api_version, mechanism)


cdef inline int say_frame(
    ExchangeState* exchange, SeriesState* series, bint is_response, const RequestRow* row, const WireFrame* frame
) except -1:
    """The `FrameSeen` of a request or a response, for those who ask for it; `row` is the request's."""
    if exchange.take_frame is not NULL:
        return exchange.take_frame(exchange.receiver, is_response, row, frame)
    (<list>exchange.events).append(frame_seen(exchange, series.classes, is_response, row, frame.offset, frame.length))
    return 0


cdef inline object use_object(SeriesState* series, const TopicUse* use):
    """A `PartitionUse`."""
    return tuple_like(<PyTypeObject*>series.classes.partition_use, (
        <object>text_borrowed(series, use.topic), <object>text_borrowed(series, use.topic_id), use.number,
        None if use.error_code == INT32_MIN else use.error_code, use.weight.records, use.weight.batches, use.weight.bytes,
        use.weight.largest, use.weight.magics, use.weight.codecs, bool(use.unseen),
    ))


cdef inline list use_objects(SeriesState* series, const TopicUse* uses, int32_t count):
    cdef int32_t index
    return [use_object(series, uses + index) for index in range(count)]


cdef inline int say_topics(
    ExchangeState* exchange, SeriesState* series, const TopicUses* uses, const WaitingRequest* waiting, int32_t error_code
) except -1:
    """Report the topic use of an exchange, once its row is complete."""
    cdef const RequestRow* row = &waiting.row
    cdef int32_t acks = row.columns[series.plans.columns.acks]
    if uses.count:
        (<list>exchange.events).append((<object>series.classes.topics_used)(
            row.request_index, waiting.request_ns, "produce" if row.api_key == 0 else "fetch", <object>text_borrowed(series, row.client_id),
            None if acks == INT32_MIN else acks, error_code, use_objects(series, uses.uses, uses.count),
        ))
    return 0
