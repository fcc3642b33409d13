"""Identity of a connection's client: client ids, software, instance id, principal, role; tracking/identity.py has the rules."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport realloc
from libc.string cimport memcmp, memcpy, memset

from protocol.exchange_state cimport (
    BROKER, CLIENT, CONTROLLER, MOST_CLIENT_IDS, MOST_CLIENT_ID_TEXT, NOT_OBSERVED, NOT_SENT, ClientIdCount, ExchangeState, sasl_object,
)
from protocol.extracted_fields cimport Fields
from protocol.field_plan cimport CLIENT_ID, MECHANISM, TOKEN, FieldPlan
from protocol.field_plans cimport BROKER_API, CONTROLLER_API, FETCH
from protocol.request_rows cimport NO_TEXT
from protocol.series_state cimport SeriesState, sasl_known, text_facts
from protocol.text_table cimport (
    IS_BROKER_CLIENT, NO_ROOM, UNKNOWN_TEXT, TextTable, hash_bytes, text_add, text_find, text_intern, text_is,
)
from wire.cursor cimport Bytes, likely
from wire.utf8 cimport is_utf8
from wire.uuid_text cimport put_uuid


cdef inline int32_t text_taken(SeriesState* series, Bytes text, Py_ssize_t size) noexcept nogil:
    """The number of a text of the wire, NO_TEXT for null, NO_ROOM for what is not UTF-8."""
    cdef uint64_t hashed, slot
    cdef int32_t number
    if text is NULL:
        return NO_TEXT
    hashed = hash_bytes(series.texts.seed, text, size)
    number = text_find(&series.texts, text, size, hashed, &slot)
    if likely(number >= 0):  # what is known is UTF-8
        return number
    return text_add(&series.texts, text, size, hashed, slot) if is_utf8(text, size) else NO_ROOM


cdef inline int32_t field_taken(SeriesState* series, const Fields* fields, int mark) noexcept nogil:
    """The number of a marked text, as `text_taken`."""
    return NO_TEXT if fields.text[mark] is NULL else text_taken(series, fields.text[mark], fields.text_size[mark])


cdef inline int32_t client_id_taken(SeriesState* series, const ExchangeState* exchange, const Fields* fields) noexcept nogil:
    """The number of the client id, as `text_taken`; nearly always that of the request before."""
    cdef int32_t latest = exchange.judge_client_id
    if latest >= 0 and fields.text[CLIENT_ID] is not NULL and text_is(
        &series.texts, latest, fields.text[CLIENT_ID], fields.text_size[CLIENT_ID]
    ):
        return latest
    return field_taken(series, fields, CLIENT_ID)


cdef inline bint columns_taken(SeriesState* series, const Fields* fields, int32_t* columns) noexcept nogil:
    """Fill in the columns whose values a message has; False for a text that is not UTF-8."""
    cdef uint32_t met = fields.columns_met
    cdef int slot = 0
    while met:
        if met & 1:
            if series.plans.columns.texts >> <uint32_t>slot & 1:
                columns[slot] = text_taken(series, fields.column_at[slot], fields.column_value[slot])
                if columns[slot] == NO_ROOM:
                    return False
            else:
                columns[slot] = <int32_t>fields.column_value[slot]
        met >>= 1
        slot += 1
    return True


cdef inline int32_t uuid_taken(SeriesState* series, Bytes value) noexcept nogil:
    """The number of a UUID's text."""
    cdef uint8_t text[22]
    if value is NULL:
        return NO_TEXT
    put_uuid(text, value)
    return text_intern(&series.texts, text, 22)


cdef inline int client_id_of(const ExchangeState* exchange) noexcept nogil:
    """ClientIdentity.client_id: the most frequent one, the first of equals."""
    cdef int index
    cdef int best = 0
    for index in range(1, exchange.client_id_count):
        if exchange.client_ids[index].count > exchange.client_ids[best].count:
            best = index
    return exchange.client_ids[best].client_id if exchange.client_id_count else -1


cdef inline int text_characters(const TextTable* table, int32_t text) noexcept nogil:
    """Return the number of characters of a text; 0 without one."""
    cdef int32_t at
    cdef int count = 0
    if text < 0:
        return 0
    for at in range(table.offsets[text], table.offsets[text + 1]):
        count += table.bytes[at] & 0xC0 != 0x80
    return count


cdef inline int count_client_id(ExchangeState* exchange, const TextTable* table, int32_t client_id, int64_t times) except -1:
    """ClientIdentity.count_client_id."""
    cdef int index = exchange.last_client
    cdef int length
    cdef ClientIdCount* grown
    if index >= exchange.client_id_count or exchange.client_ids[index].client_id != client_id:
        for index in range(exchange.client_id_count):
            if exchange.client_ids[index].client_id == client_id:
                break
        else:
            index = exchange.client_id_count
            length = text_characters(table, client_id)
            if index == MOST_CLIENT_IDS or exchange.client_id_text + length > MOST_CLIENT_ID_TEXT:
                return 0
            if index == exchange.client_id_room:
                grown = <ClientIdCount*>realloc(exchange.client_ids, (2 * index + 1) * sizeof(ClientIdCount))
                if grown is NULL:
                    raise MemoryError
                exchange.client_ids = grown
                exchange.client_id_room = 2 * index + 1
            exchange.client_ids[index].client_id = client_id
            exchange.client_ids[index].count = 0
            exchange.client_id_count += 1
            exchange.client_id_text += length
    exchange.last_client = index
    exchange.client_ids[index].count += times
    return 0


cdef inline void see_instance_id(ExchangeState* exchange, SeriesState* series, Bytes value) noexcept nogil:
    """ClientIdentity._see_instance_id."""
    cdef int32_t text
    cdef uint8_t zeros[16]
    if value is NULL or (exchange.instance_id >= 0 and memcmp(exchange.instance_bytes, value, 16) == 0):
        return
    memset(zeros, 0, 16)
    if memcmp(value, zeros, 16) == 0:
        return
    text = uuid_taken(series, value)
    if text >= 0:
        exchange.instance_id = text
        memcpy(exchange.instance_bytes, value, 16)


cdef inline void unsay(ExchangeState* exchange) noexcept nogil:
    """ClientIdentity._unsay."""
    if exchange.source == NOT_SENT:
        exchange.source = NOT_OBSERVED
        exchange.software_name = exchange.software_version = NO_TEXT


cdef inline void not_sent(ExchangeState* exchange) noexcept nogil:
    if exchange.source == NOT_OBSERVED:
        exchange.source = NOT_SENT
        exchange.software_name = exchange.software_version = UNKNOWN_TEXT


cdef inline int see_role(
    ExchangeState* exchange, SeriesState* series, const FieldPlan* field_plan, const Fields* fields, int32_t client_id
) except -1:
    """ClientIdentity._see_role."""
    if exchange.role == CONTROLLER:
        return 0
    if field_plan.traits & CONTROLLER_API:
        exchange.role = CONTROLLER
    elif exchange.role == CLIENT and (
        field_plan.traits & BROKER_API
        or (field_plan.traits & FETCH and fields.replica_id >= 0)
        or text_facts(series, client_id) & IS_BROKER_CLIENT
    ):
        exchange.role = BROKER
    return 0


cdef inline object bytes_of(const Fields* fields, int mark):
    """A marked value, None where there is none."""
    return None if fields.text[mark] is NULL else PyBytes_FromStringAndSize(<const char*>fields.text[mark], fields.text_size[mark])


cdef inline int authenticate(ExchangeState* exchange, SeriesState* series, const Fields* fields, int version) except -1:
    """A SaslHandshake or SaslAuthenticate request."""
    sasl = sasl_object(exchange)
    sasl = (<object>series.callbacks).sasl_request(sasl, bytes_of(fields, MECHANISM), bytes_of(fields, TOKEN), version)
    return sasl_known(exchange, series, sasl)
