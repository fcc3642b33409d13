"""Rows of a series as C structs, from the beginning of a connection to its end: who is counted where, and the row of a connection."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from capture.endpoint_text cimport ADDRESS_ROOM, ID_ROOM, packed_port, put_address, put_connection_id
from capture.tcp_state cimport TcpState
from protocol.exchange_state cimport ExchangeState
from protocol.field_plans cimport KEYS, FieldPlans
from protocol.kept_texts cimport exchange_keep_texts, exchange_rename_texts
from protocol.request_identity cimport client_id_of
from protocol.request_rows cimport NO_TEXT, ORPHAN_RESPONSE, PACKET_BITS, UNANSWERED, UNSEEN, no_int, no_long
from protocol.series_state cimport SeriesState, objects_forget, series_close, series_open
from protocol.text_table cimport (
    TextTable, text_copied, text_keep, text_object, text_of, text_put, text_renamed, texts_compact, texts_free, texts_mark, texts_open,
    texts_renamed,
)
from protocol.topic_uses cimport FETCHED, PRODUCED, IntSet, TopicSum, TopicSums, TopicUse, ints_add, ints_of, sum_of, topic_rows_add
from protocol.wide_rows cimport WideRows, wide_add
from tables.connection_row cimport (
    CAPTURE, CLIENT_ADDRESS, CLIENT_KEY, CLIENT_PORT, CLOSED_BY, CONNECTION_ID, IDENTITY_SOURCE, LAST_API_NAME, PROTOCOL, ROLE,
    SERIES, SERVER_ADDRESS, SERVER_PORT, STATE, TLS_ALPN, TLS_CIPHER, TLS_CLIENT_SUBJECT, TLS_DECRYPTED, TLS_JA3, TLS_JA4, TLS_SNI,
    TLS_VERSION, ConnectionTotals, FileTotals, count_connection, put_counters, put_texts, was_refused,
)
from tables.connection_slots cimport Slot, SlotList
from wire.raw_python cimport raw_incref, raw_xdecref

from kwire.capture._native.tls_connection cimport TlsConnection
from kwire.protocol._native.tracker cimport Connection

cdef enum:
    MOST_CLIENT_KEYS = 65536
    KNOWN_TEXTS = 64

cdef enum ConnectionState:
    # The places of kwire.tables.row_callbacks.STATES
    STATE_OPEN = 0
    STATE_JOINED_LATE = 1
    STATE_RESET = 2
    STATE_COMPLETE = 3

# The number that a Python text has in the rows of connections.
cdef struct KnownText:
    PyObject* text  # NULL for none
    int32_t number

cdef struct SeriesRows:
    SeriesState shared
    TextTable connection_ids  # a row of `requests` names its connection so
    TextTable row_texts  # texts of the rows of connections
    KnownText known_texts[KNOWN_TEXTS]  # some of them, by the addresses of their objects
    int32_t known_apis[KEYS]  # the number that the name of an api has among them plus one, 0 where it was not asked for
    WideRows connections
    FileTotals* totals  # by file
    Py_ssize_t files_counted


cdef inline int rows_open(SeriesRows* rows, FieldPlans* plans, object callbacks, Py_ssize_t width) except -1:
    """Begin a series; `callbacks` is a `kwire.tables.row_callbacks.RowCallbacks`, `width` the columns of `connections`."""
    memset(rows, 0, sizeof(SeriesRows))
    series_open(&rows.shared, plans, &rows.connection_ids, callbacks)
    texts_open(&rows.connection_ids, callbacks.seed)
    texts_open(&rows.row_texts, callbacks.seed)
    rows.connections.width = width
    return 0


cdef inline int32_t number_of(SeriesRows* rows, object text) except -3:
    """The number of a text in the rows of connections; texts that come again are the same objects."""
    cdef KnownText* known
    if text is None:
        return NO_TEXT
    known = &rows.known_texts[(<size_t><PyObject*>text >> 4) % KNOWN_TEXTS]
    if known.text is not <PyObject*>text:
        known.number = text_of(&rows.row_texts, text)
        raw_incref(<PyObject*>text)
        raw_xdecref(known.text)
        known.text = <PyObject*>text
    return known.number


cdef inline int32_t number_of_api(SeriesRows* rows, int32_t key, object name_of) except -3:
    """The number of the name of an api in the rows of connections; `name_of` gives the name."""
    if key == no_int():
        return NO_TEXT
    if not 0 <= key < KEYS:
        return text_of(&rows.row_texts, name_of(key))
    if rows.known_apis[key] == 0:
        rows.known_apis[key] = text_of(&rows.row_texts, name_of(key)) + 1
    return rows.known_apis[key] - 1


cdef inline void known_texts_forget(SeriesRows* rows) noexcept:
    """The texts of the rows of connections are gone."""
    cdef int index
    for index in range(KNOWN_TEXTS):
        raw_xdecref(rows.known_texts[index].text)
        rows.known_texts[index].text = NULL
    memset(rows.known_apis, 0, sizeof(rows.known_apis))


cdef inline void rows_close(SeriesRows* rows) noexcept:
    known_texts_forget(rows)
    series_close(&rows.shared)
    texts_free(&rows.connection_ids)
    texts_free(&rows.row_texts)
    free(rows.connections.values)
    free(rows.totals)
    memset(rows, 0, sizeof(SeriesRows))


cdef inline FileTotals* totals_of(SeriesRows* rows, Py_ssize_t file) except NULL:
    cdef FileTotals* grown
    if file >= rows.files_counted:
        grown = <FileTotals*>realloc(rows.totals, (file + 1) * sizeof(FileTotals))
        if grown is NULL:
            raise MemoryError
        rows.totals = grown
        memset(&grown[rows.files_counted], 0, (file + 1 - rows.files_counted) * sizeof(FileTotals))
        rows.files_counted = file + 1
    return &rows.totals[file]


cdef inline int counts_write_back(SeriesRows* rows, object counts) except -1:
    cdef Py_ssize_t file
    cdef FileTotals* totals
    for file in range(rows.files_counted):
        totals, count = &rows.totals[file], counts[file]
        count.connections += totals.connections
        count.refused += totals.refused
        count.joined_late += totals.joined_late
        count.one_way += totals.one_way
        count.bytes_lost += totals.bytes_lost
        count.bytes_opaque += totals.bytes_opaque
        count.bytes_decrypted += totals.bytes_decrypted
        count.requests += totals.requests
        count.unanswered += totals.unanswered
        count.unseen += totals.unseen
    rows.files_counted = 0
    return 0


cdef inline int count_requests(SeriesRows* rows, Py_ssize_t start) except -1:
    """Count the rows of `requests` that a connection has added behind the first `start`."""
    cdef Py_ssize_t index
    cdef FileTotals* totals
    for index in range(start, rows.shared.rows.count):
        if rows.shared.rows.rows[index].state == ORPHAN_RESPONSE:
            continue
        totals = totals_of(rows, rows.shared.rows.rows[index].packet >> PACKET_BITS)
        totals.requests += 1
        totals.unanswered += rows.shared.rows.rows[index].state == UNANSWERED
        totals.unseen += rows.shared.rows.rows[index].state == UNSEEN
    return 0


cdef inline int server_text(
    SeriesRows* rows, ExchangeState* state, bytes name, int64_t n, int server_side, object address_of
) except -1:
    """Give a connection its id and the text of its server; `address_of` spells addresses of 16 bytes."""
    cdef char text[ID_ROOM]
    cdef Py_ssize_t server_size
    cdef Py_ssize_t size = put_connection_id(text, <const uint8_t*>PyBytes_AS_STRING(name), server_side, n, address_of, &server_size)
    state.connection = text_put(&rows.connection_ids, text, size)
    state.server = text_put(&rows.shared.texts, text, server_size)
    return 0


cdef inline object key_of_client(
    SeriesRows* rows, const ConnectionTotals* summary, const char* address, Py_ssize_t size, dict known, object asked
):
    """Tracked.client_key, asked once for each distinct client; `known` has what was asked before."""
    cdef const TextTable* texts = &rows.shared.texts
    cdef int32_t numbers[4 + ADDRESS_ROOM]
    cdef bytes key, key_with_address
    cdef bint is_direct = summary.proxied_address < 0
    numbers[0], numbers[1] = summary.software_name, summary.software_version
    numbers[2], numbers[3] = summary.client_id, summary.principal
    memcpy(&numbers[4], address, size)
    key = PyBytes_FromStringAndSize(<const char*>numbers, 16)
    key_with_address = PyBytes_FromStringAndSize(<const char*>numbers, 16 + size)
    if is_direct:
        found = known.get(key_with_address)
        if found is None:
            found = known.get(key)
        if found is not None:
            return found
        where = address[:size]
    else:
        where = text_object(texts, summary.proxied_address).rpartition(":")[0].encode()
    client_id = text_object(texts, summary.client_id)
    client_key, is_default_client_id = asked
    found = client_key(
        text_object(texts, summary.software_name), text_object(texts, summary.software_version), client_id,
        text_object(texts, summary.principal), where.decode(),
    )
    if len(known) >= MOST_CLIENT_KEYS:
        known.clear()
    if is_direct:
        known[key_with_address if is_default_client_id(client_id) else key] = found
    return found


cdef inline int put_ends(SeriesRows* rows, int64_t* row, const Slot* slot, bytes name, const ConnectionTotals* summary, object address_of,
                         dict known, object asked) except -1:
    cdef char text[ADDRESS_ROOM]
    cdef const uint8_t* key = <const uint8_t*>PyBytes_AS_STRING(name)
    cdef int side = slot.client_side
    cdef Py_ssize_t size = put_address(text, key, 1 - side, address_of)
    row[CONNECTION_ID] = text_copied(&rows.row_texts, &rows.connection_ids, slot.exchange.connection)
    row[SERVER_ADDRESS] = text_put(&rows.row_texts, text, size)
    row[SERVER_PORT], row[CLIENT_PORT] = packed_port(key, 1 - side), packed_port(key, side)
    size = put_address(text, key, side, address_of)
    row[CLIENT_ADDRESS] = text_put(&rows.row_texts, text, size)
    row[CLIENT_KEY] = number_of(rows, key_of_client(rows, summary, text, size, known, asked))
    return 0


cdef inline ConnectionState state_of(const ExchangeState* state) noexcept:
    if state.joined_late:
        return STATE_JOINED_LATE
    if state.reset:
        return STATE_RESET
    return STATE_COMPLETE if state.closed[0] and state.closed[1] else STATE_OPEN


cdef inline int summary_of(Connection connection, SeriesState* series, ConnectionTotals* summary) except -1:
    """Fill in the protocol's part of a connection's row: kwire.protocol.Connection.summary."""
    cdef const ExchangeState* state = &connection.state
    memset(summary, 0, sizeof(ConnectionTotals))
    summary.request_frames, summary.response_frames = state.frames[0], state.frames[1]
    summary.request_bytes, summary.response_bytes = state.received[0], state.received[1]
    summary.bytes_opaque = connection._stray + connection.cutters[0].bytes_opaque + connection.cutters[1].bytes_opaque
    summary.refused_index = state.refused_index
    summary.refused_key, summary.refused_version = state.refused_key, state.refused_version
    summary.last_api = state.last_api
    summary.software_name, summary.software_version = state.software_name, state.software_version
    summary.client_id, summary.client_instance_id = client_id_of(state), state.instance_id
    summary.sasl_mechanism = summary.attempted_principal = NO_TEXT
    summary.proxied_address = text_of(&series.texts, connection._proxied)
    summary.principal = state.principal
    summary.closed_by, summary.source, summary.role = state.closed_by, state.source, state.role
    summary.state = state_of(state)
    if state.sasl is not NULL:
        sasl = <object>state.sasl
        summary.auth_failures = sasl.failures
        summary.sasl_mechanism = text_of(&series.texts, sasl.mechanism)
        summary.attempted_principal = text_of(&series.texts, sasl.attempted_principal)
    return 0


cdef inline int end_stream(
    SeriesRows* rows, Slot* slot, Connection wire, Connection plaintext, TlsConnection tls, dict unsupported, bytes name,
    const TcpState* tcp, object sink, object series, list files, object violations, dict violating, tuple words, tuple asked, dict known,
) except -1:
    """Make the row of a connection that is over, and what the sink keeps of it.

    `wire` tracked the bytes of the wire, `plaintext` the decrypted ones (None without TLS). `words` and `asked` are those of `RowBatches`.
    """
    cdef ConnectionTotals summary
    cdef Connection connection = wire if plaintext is None else plaintext
    cdef ExchangeState* exchange = &connection.state
    cdef TextTable* said = &rows.row_texts
    cdef Py_ssize_t file = exchange.begun >> PACKET_BITS
    cdef int64_t* row
    if exchange.topics.count:
        topic_rows_add(
            &rows.shared.topic_rows, &rows.shared.row_texts, &rows.shared.texts,
            text_copied(&rows.shared.row_texts, &rows.connection_ids, exchange.connection), &exchange.topics,
        )
    summary_of(connection, &rows.shared, &summary)
    if plaintext is not None:
        of_wire(&summary, wire, &rows.shared)
        summary.bytes_opaque += tls.rules.opaque_bytes
        totals_of(rows, file).bytes_decrypted += tls.rules.decrypted_bytes
    if was_refused(tcp):
        summary.state = STATE_RESET  # also where the capture has the refusal before the SYN
    count_connection(totals_of(rows, file), tcp, summary.bytes_opaque)
    row = wide_add(&rows.connections)
    put_counters(row, tcp, &summary)
    put_texts(row, &summary, said, &rows.shared.texts)
    put_ends(rows, row, slot, name, &summary, asked[0], known, asked[1:3])
    row[SERIES], row[CAPTURE] = number_of(rows, series), number_of(rows, files[file])
    row[STATE] = number_of(rows, (<tuple>words[2])[<int>summary.state])
    row[CLOSED_BY] = -1 if summary.closed_by < 0 else number_of(rows, (<tuple>words[3])[<int>summary.closed_by])
    row[PROTOCOL] = number_of(rows, "kafka" if exchange.is_kafka else connection.protocol)
    if tls is not None:
        put_tls(row, tls, said)
    elif connection._hellos:
        hellos = connection._hellos
        row[TLS_VERSION] = text_of(said, hellos["response"].version or hellos["request"].version)
        row[TLS_SNI], row[TLS_JA3] = text_of(said, hellos["request"].server_name), text_of(said, hellos["request"].ja3)
        row[TLS_JA4] = text_of(said, hellos["request"].ja4)
    row[IDENTITY_SOURCE] = number_of(rows, (<tuple>words[4])[<int>summary.source])
    row[ROLE] = number_of(rows, (<tuple>words[5])[<int>summary.role])
    row[LAST_API_NAME] = number_of_api(rows, summary.last_api, asked[3])
    if unsupported is not None or (summary.refused_index != no_long() and summary.closed_by == 1):
        tell_refusals(rows, exchange, &summary, unsupported, sink.facts.refusals)
    if violating:
        place = text_object(&rows.connection_ids, exchange.connection)
        if place in violating:
            violations.over(place)
    return 0


cdef inline int of_wire(ConnectionTotals* summary, Connection wire, SeriesState* series) except -1:
    """Add the facts of the encrypted bytes to the summary of a decrypted connection: EncryptedConnection.summary."""
    cdef const ExchangeState* state = &wire.state
    summary.state, summary.closed_by = state_of(state), state.closed_by
    if summary.proxied_address < 0:
        summary.proxied_address = text_of(&series.texts, wire._proxied)
    return 0


cdef inline int put_tls(int64_t* row, TlsConnection tls, TextTable* said) except -1:
    facts = tls.rules
    row[TLS_VERSION], row[TLS_CIPHER] = text_of(said, facts.shown_version), text_of(said, facts.cipher)
    row[TLS_SNI], row[TLS_ALPN] = text_of(said, facts.server_name), text_of(said, facts.alpn)
    row[TLS_CLIENT_SUBJECT], row[TLS_DECRYPTED] = text_of(said, facts.subject), text_of(said, facts.decrypted)
    ja3, ja4 = facts.fingerprints
    row[TLS_JA3], row[TLS_JA4] = text_of(said, ja3), text_of(said, ja4)
    return 0


cdef inline int tell_refusals(
    SeriesRows* rows, const ExchangeState* exchange, const ConnectionTotals* summary, dict unsupported, object refusals
) except -1:
    """RowSink._refusals."""
    place = text_object(&rows.connection_ids, exchange.connection), text_object(&rows.shared.texts, exchange.server)
    if summary.refused_index != no_long() and summary.closed_by == 1:
        key, version = int_object(summary.refused_key), int_object(summary.refused_version)
        refusals.append((*place, summary.refused_index, key, version, "disconnected"))
    for (key, version), index in (unsupported or {}).items():
        refusals.append((*place, index, key, version, "unsupported_version"))
    return 0


cdef inline object int_object(int32_t value):
    return None if value == no_int() else value


cdef inline list ints_object(const IntSet* ints):
    cdef int32_t index
    return [ints_of(ints)[index] for index in range(ints.count)]


cdef inline tuple sum_object(SeriesState* series, const TopicSum* each):
    """As kwire.tables.observed_rows.TopicSums.plain has it."""
    return (
        "fetch" if each.direction == FETCHED else "produce", text_object(&series.texts, each.topic),
        text_object(&series.texts, each.topic_id), text_object(&series.texts, each.client_id), each.requests, each.errors, each.records,
        each.batches, each.bytes, each.largest, each.first_ns, each.last_ns, each.magics, each.codecs, each.seen,
        each.unseen, ints_object(&each.acks), ints_object(&each.partitions), ints_object(&each.refused),
    )


cdef inline list sums_objects(SeriesState* series, const TopicSums* sums):
    """As kwire.tables.observed_rows.TopicSums.plain has them."""
    cdef int32_t index
    return [sum_object(series, &sums.sums[index]) for index in range(sums.count)]


cdef inline int ints_take(IntSet* ints, object values) except -1:
    for value in values:
        if not ints_add(ints, value):
            raise MemoryError
    return 0


cdef inline int sums_take(SeriesState* series, TopicSums* sums, object known) except -1:
    """Add sums as kwire.tables.observed_rows.TopicSums.plain gives them."""
    cdef TopicUse use
    cdef TopicSum* made
    cdef int direction
    memset(&use, 0, sizeof(TopicUse))
    for each in known:
        direction = FETCHED if each[0] == "fetch" else PRODUCED
        use.topic, use.topic_id = text_of(&series.texts, each[1]), text_of(&series.texts, each[2])
        made = sum_of(sums, direction, &use, text_of(&series.texts, each[3]), each[10])
        if made is NULL:
            raise MemoryError
        made.requests, made.errors, made.records, made.batches = each[4], each[5], each[6], each[7]
        made.bytes, made.largest, made.first_ns, made.last_ns = each[8], each[9], each[10], each[11]
        made.magics, made.codecs, made.seen, made.unseen = each[12], each[13], each[14], each[15]
        ints_take(&made.acks, each[16])
        ints_take(&made.partitions, each[17])
        ints_take(&made.refused, each[18])
    return 0


cdef inline int forget_texts(SeriesRows* rows, const SlotList* slots) except -1:
    """Let go of the texts that no connection names; there must be no rows."""
    cdef Slot* slot
    objects_forget(&rows.shared)
    texts_mark(&rows.shared.texts)
    texts_mark(&rows.connection_ids)
    slot = slots.first
    while slot is not NULL:
        if slot.exchange is not NULL:
            exchange_keep_texts(slot.exchange, &rows.shared.texts, rows.shared.plans.columns.texts)
            text_keep(&rows.connection_ids, slot.exchange.connection)
        slot = slot.after
    texts_compact(&rows.shared.texts)
    texts_compact(&rows.connection_ids)
    slot = slots.first
    while slot is not NULL:
        if slot.exchange is not NULL:
            exchange_rename_texts(slot.exchange, &rows.shared.texts, rows.shared.plans.columns.texts)
            slot.exchange.connection = text_renamed(&rows.connection_ids, slot.exchange.connection)
        slot = slot.after
    texts_renamed(&rows.shared.texts)
    texts_renamed(&rows.connection_ids)
    return 0
