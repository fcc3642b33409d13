"""The texts that a connection uses, when the series frees unused ones (`text_table.pxd`)."""

from libc.stdint cimport int32_t, uint32_t

from protocol.exchange_state cimport SENT, ExchangeState, WaitingRequest
from protocol.request_rows cimport MOST_COLUMNS
from protocol.text_table cimport TextTable, text_keep, text_renamed


cdef inline void visit_text(TextTable* table, int32_t* text, bint renaming) noexcept nogil:
    if renaming:
        text[0] = text_renamed(table, text[0])
    else:
        text_keep(table, text[0])


cdef inline void visit_texts(ExchangeState* exchange, TextTable* table, uint32_t columns, bint renaming) noexcept nogil:
    """Keep all texts that a connection names, or give them their new numbers; `columns` as of `BodyColumns.texts`."""
    cdef WaitingRequest* waiting = exchange.waiting
    cdef int32_t index
    cdef int32_t each
    cdef int slot
    visit_text(table, &exchange.server, renaming)
    visit_text(table, &exchange.software_name, renaming)
    visit_text(table, &exchange.software_version, renaming)
    visit_text(table, &exchange.named_name, renaming)
    visit_text(table, &exchange.named_version, renaming)
    visit_text(table, &exchange.instance_id, renaming)
    visit_text(table, &exchange.principal, renaming)
    visit_text(table, &exchange.judge_client_id, renaming)
    for index in range(exchange.client_id_count):
        visit_text(table, &exchange.client_ids[index].client_id, renaming)
    for index in range(exchange.topics.count):
        visit_text(table, &exchange.topics.sums[index].topic, renaming)
        visit_text(table, &exchange.topics.sums[index].topic_id, renaming)
        visit_text(table, &exchange.topics.sums[index].client_id, renaming)
    while waiting is not NULL:
        visit_text(table, &waiting.row.client_id, renaming)
        visit_text(table, &waiting.row.client_instance_id, renaming)
        visit_text(table, &waiting.row.software_name, renaming)
        visit_text(table, &waiting.row.software_version, renaming)
        visit_text(table, &waiting.row.principal, renaming)
        visit_text(table, &waiting.row.first_topic, renaming)
        for slot in range(MOST_COLUMNS):
            if columns >> <uint32_t>slot & 1:
                visit_text(table, &waiting.row.columns[slot], renaming)
        for each in range(waiting.use_count):
            visit_text(table, &waiting.uses[each].topic, renaming)
            visit_text(table, &waiting.uses[each].topic_id, renaming)
        waiting = waiting.after[SENT]


cdef inline void exchange_keep_texts(ExchangeState* exchange, TextTable* table, uint32_t columns) noexcept nogil:
    """Keep all texts that a connection names."""
    visit_texts(exchange, table, columns, False)


cdef inline void exchange_rename_texts(ExchangeState* exchange, TextTable* table, uint32_t columns) noexcept nogil:
    """Give the texts that a connection names their new numbers."""
    visit_texts(exchange, table, columns, True)
