"""Rows that are C structs become record batches, table by table, and leave their place to the next."""

from protocol.request_rows cimport RequestRow
from protocol.text_table cimport TextTable, texts_clear
from protocol.topic_uses cimport topic_rows_clear
from tables.request_batch cimport request_batch
from tables.row_columns cimport wide_batch
from tables.series_rows cimport SeriesRows, known_texts_forget
from tables.topic_batch cimport topic_batch


cdef inline Py_ssize_t most_rows(const SeriesRows* rows) noexcept nogil:
    """Of the tables, the rows of that which has most."""
    return max(rows.shared.rows.count, rows.connections.count, rows.shared.topic_rows.count)


cdef inline int flush_requests(
    object pa, object schema, list batches, tuple names, const RequestRow* row, Py_ssize_t count, const TextTable* texts,
    const TextTable* places,
) except -1:
    """A batch of rows of `requests`, or several where their texts are too much for one; arguments as for `request_batch`."""
    try:
        batches.append(request_batch(pa, schema, schema.field("request_time").type, row, count, texts, places, names))
    except OverflowError:
        flush_requests(pa, schema, batches, names, row, count // 2, texts, places)
        flush_requests(pa, schema, batches, names, row + count // 2, count - count // 2, texts, places)
    return 0


cdef inline int flush_rows(SeriesRows* rows, object pa, dict schemas, list wide, dict batches, tuple names, tuple directions) except -1:
    """Append all rows to the batches by table; `names` as `request_columns` takes them, `directions` the words for those of `topic_use`."""
    if rows.shared.rows.count:
        flush_requests(
            pa, schemas["requests"], batches["requests"], names, rows.shared.rows.rows, rows.shared.rows.count, &rows.shared.texts,
            &rows.connection_ids,
        )
        rows.shared.rows.count = 0
    if rows.connections.count:
        batches["connections"].append(wide_batch(pa, &rows.connections, schemas["connections"], wide, &rows.row_texts))
        rows.connections.count = 0
        known_texts_forget(rows)
        texts_clear(&rows.row_texts)
    if rows.shared.topic_rows.count:
        batches["topic_use"].append(topic_batch(pa, &rows.shared.topic_rows, schemas["topic_use"], &rows.shared.row_texts, directions))
        topic_rows_clear(&rows.shared.topic_rows)
    return texts_clear(&rows.shared.row_texts)
