"""State shared by the connections of a series, or owned by one tracked connection: field plans, texts, rows, cached answers."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset

from protocol.answers cimport AnswerTable, answers_free, answers_write_back
from protocol.event_classes cimport EventClasses
from protocol.exchange_state cimport ExchangeState, SpareRequests
from protocol.extracted_fields cimport Parts, UseList
from protocol.field_plans cimport KEEPS_REQUEST, USES_TOPICS, WATCHED, WATCHED_ON_ERROR, FieldPlans
from protocol.request_rows cimport RequestRows, rows_free
from protocol.text_table cimport IS_ASKED, TextTable, text_object, text_of, texts_free, texts_open
from protocol.topic_uses cimport TopicRows, TopicUses, topic_rows_free
from protocol.waiting_requests cimport spare_free
from wire.raw_python cimport raw_incref, raw_xdecref

cdef struct SeriesState:
    PyObject* callbacks  # a kwire.tables.row_callbacks.RowCallbacks
    FieldPlans* plans
    TextTable texts
    RequestRows rows
    TopicRows topic_rows
    AnswerTable answers
    uint32_t wanted  # traits that matter to the tables that are asked for
    int32_t asked_key  # of the message whose frames are wanted, -1 for none
    int32_t asked_version
    bint asks_responses
    Parts parts
    Parts key
    UseList uses
    TopicUses request_uses
    TopicUses response_uses
    TopicUses merged
    TextTable row_texts  # those of `topic_rows`
    const TextTable* connection_ids  # ids of connections
    EventClasses* classes  # of events, NULL where they are not made
    SpareRequests spare
    PyObject** objects  # by text: its Python text, NULL where it was not asked for
    int32_t objects_room


cdef inline void objects_forget(SeriesState* series) noexcept:
    """Let go of the Python texts: before numbers change, and at the end."""
    cdef int32_t number
    for number in range(series.objects_room):
        raw_xdecref(series.objects[number])
    free(series.objects)
    series.objects = NULL
    series.objects_room = 0


cdef inline int series_open(
    SeriesState* series, FieldPlans* plans, const TextTable* connection_ids, object callbacks, int32_t texts=1024
) except -1:
    """Begin a series.

    `plans` must stay as long as the series does; `callbacks` is a `kwire.tables.row_callbacks.RowCallbacks`."""
    memset(series, 0, sizeof(SeriesState))
    texts_open(&series.texts, callbacks.seed, texts)
    texts_open(&series.row_texts, callbacks.seed, texts)
    series.answers.seed = callbacks.seed
    series.wanted = <uint32_t>~0
    if not callbacks.observing:
        series.wanted &= ~<uint32_t>(KEEPS_REQUEST | WATCHED | WATCHED_ON_ERROR | USES_TOPICS)
    series.asked_key = -1
    if callbacks.asked is not None:
        series.asks_responses = callbacks.asked.direction == "response"
        series.asked_key, series.asked_version = callbacks.asked.api_key, callbacks.asked.api_version
    series.plans = plans
    series.connection_ids = connection_ids
    raw_incref(<PyObject*>callbacks)
    series.callbacks = <PyObject*>callbacks
    return 0


cdef inline int series_write_back(SeriesState* series) except -1:
    """Bring the series' facts up to date: before they are read, pickled or added to by a merge."""
    answers_write_back(&series.answers)
    return 0


cdef inline void series_close(SeriesState* series) noexcept:
    """Free all, without bringing anything up to date."""
    texts_free(&series.texts)
    rows_free(&series.rows)
    topic_rows_free(&series.topic_rows)
    answers_free(&series.answers)
    free(series.parts.bytes)
    free(series.key.bytes)
    free(series.uses.uses)
    free(series.request_uses.uses)
    free(series.response_uses.uses)
    free(series.merged.uses)
    spare_free(&series.spare)
    objects_forget(series)
    texts_free(&series.row_texts)
    raw_xdecref(series.callbacks)
    memset(series, 0, sizeof(SeriesState))


cdef inline int text_facts(SeriesState* series, int32_t text) except -1:
    """Return the `TextFact` bits of a text; Python computes them once."""
    cdef int facts
    if text < 0:
        return 0
    facts = series.texts.facts[text]
    if not facts & IS_ASKED:
        facts = IS_ASKED | <int>(<object>series.callbacks).text_facts(text_object(&series.texts, text))
        series.texts.facts[text] = <uint8_t>facts
    return facts


cdef inline int sasl_known(ExchangeState* exchange, SeriesState* series, object sasl) except -1:
    """Take over what a kwire.protocol.sasl.SaslState says now."""
    if <PyObject*>sasl is not exchange.sasl:
        raw_incref(<PyObject*>sasl)
        raw_xdecref(exchange.sasl)
        exchange.sasl = <PyObject*>sasl
    exchange.sasl_pending = sasl.pending
    exchange.sasl_counts = not sasl.ends_unsaid
    exchange.principal = text_of(&series.texts, sasl.principal)
    return 0
