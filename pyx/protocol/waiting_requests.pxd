"""Requests that wait for their responses: in the order of sending, and by correlation id where many wait.

The readable contract is kwire/protocol/tracking/pairing.py and waiting_index.py.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from protocol.exchange_state cimport FEW_WAITING, MOST_SPARE, MOST_ORDINALS, SAME_SLOT, SENT, ExchangeState, SpareRequests
from protocol.exchange_state cimport WaitingRequest, WaitingSlot
from protocol.request_rows cimport no_long
from protocol.topic_uses cimport sums_free
from wire.raw_python cimport raw_xdecref

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define kwire_bits_of(word) __builtin_popcountll(word)
    #else
    static inline int kwire_bits_of(unsigned long long word) {
        int count = 0;
        for (; word; word &= word - 1) count++;
        return count;
    }
    #endif
    """
    int bits_of "kwire_bits_of"(uint64_t word) noexcept nogil


cdef inline WaitingSlot* slot_of_id(const ExchangeState* exchange, int32_t correlation_id) noexcept nogil:
    return exchange.slots + ((<uint32_t>correlation_id * <uint32_t>0x9E3779B1u) >> 8 & exchange.slot_mask)


cdef inline void link(WaitingRequest** first, WaitingRequest** last, WaitingRequest* waiting, int order) noexcept nogil:
    """Put a request behind the last one of a list."""
    waiting.before[order] = last[0]
    waiting.after[order] = NULL
    if last[0] is NULL:
        first[0] = waiting
    else:
        last[0].after[order] = waiting
    last[0] = waiting


cdef inline void unlink(WaitingRequest** first, WaitingRequest** last, const WaitingRequest* waiting, int order) noexcept nogil:
    """Take a request out of a list."""
    if waiting.before[order] is NULL:
        first[0] = waiting.after[order]
    else:
        waiting.before[order].after[order] = waiting.after[order]
    if waiting.after[order] is NULL:
        last[0] = waiting.before[order]
    else:
        waiting.after[order].before[order] = waiting.before[order]


cdef inline void slot_link(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    """Find a request by its id from now on."""
    cdef WaitingSlot* slot
    if waiting.is_token or waiting.row.correlation_id == no_long():
        return
    slot = slot_of_id(exchange, <int32_t>waiting.row.correlation_id)
    link(&slot.first, &slot.last, waiting, SAME_SLOT)


cdef inline void slot_unlink(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    cdef WaitingSlot* slot
    if waiting.is_token or waiting.row.correlation_id == no_long():
        return
    slot = slot_of_id(exchange, <int32_t>waiting.row.correlation_id)
    unlink(&slot.first, &slot.last, waiting, SAME_SLOT)


cdef inline bint waiting_index(ExchangeState* exchange) noexcept nogil:
    """Give each that waits its slot, where there are too few slots; whether that was done. Without memory they are looked through."""
    cdef uint32_t size = 64
    cdef WaitingRequest* each = exchange.waiting
    if exchange.waiting_count <= FEW_WAITING or (
        exchange.slots is not NULL and <uint32_t>exchange.waiting_count * 2 <= exchange.slot_mask + 1
    ):
        return False
    while size < <uint32_t>exchange.waiting_count * 4:
        size *= 2
    free(exchange.slots)
    exchange.slots = <WaitingSlot*>calloc(size, sizeof(WaitingSlot))
    if exchange.slots is NULL:
        return True
    exchange.slot_mask = size - 1
    while each is not NULL:
        slot_link(exchange, each)
        each = each.after[SENT]
    return True


cdef inline WaitingRequest* waiting_new(SpareRequests* spare) noexcept nogil:
    """One to be added, zeroed but for its row, which the caller fills in; NULL without memory."""
    cdef WaitingRequest* made = spare.first
    if made is not NULL:
        spare.first = made.after[SENT]
        spare.count -= 1
    else:
        made = <WaitingRequest*>malloc(sizeof(WaitingRequest))
    if made is not NULL:
        made.request_ns = made.kept = made.size = made.ordinal = 0
        made.losses = made.response_breaks = made.overtaken_by = made.use_count = made.body = 0
        made.damaged = made.is_token = made.may_be_silent = made.is_untimed = made.is_lost = made.noted = False
        made.uses, made.payload = NULL, NULL
        made.before[SAME_SLOT] = made.after[SAME_SLOT] = NULL
    return made


cdef inline int32_t overtakes(const ExchangeState* exchange, const WaitingRequest* waiting) noexcept nogil:
    """Count the later requests that were answered before this one."""
    cdef int32_t found = waiting.overtaken_by
    cdef int64_t word = (waiting.ordinal + 1) // 64
    if exchange.overtaking is NULL:
        return found
    found += bits_of(exchange.overtaking[word] >> <uint64_t>((waiting.ordinal + 1) % 64)) if word * 64 < exchange.waiting_next else 0
    word += 1
    while word * 64 < exchange.waiting_next:
        found += bits_of(exchange.overtaking[word])
        word += 1
    return found


cdef inline int overtake(ExchangeState* exchange, const WaitingRequest* waiting) except -1 nogil:
    """It is answered, and others wait that were sent before."""
    if exchange.overtaking is NULL:
        exchange.overtaking = <uint64_t*>calloc(MOST_ORDINALS // 64, sizeof(uint64_t))
        if exchange.overtaking is NULL:
            with gil:
                raise MemoryError
    exchange.overtaking[waiting.ordinal // 64] |= <uint64_t>1 << <uint64_t>(waiting.ordinal % 64)
    return 0


cdef inline void ordinals_again(ExchangeState* exchange) noexcept nogil:
    """Number those that wait from 0 again, and count home what the bits say."""
    cdef WaitingRequest* each = exchange.waiting
    cdef int64_t ordinal = 0
    while each is not exchange.waiting_last:  # which is being added, and has no ordinal yet
        each.overtaken_by = overtakes(exchange, each)
        each = each.after[SENT]
    each = exchange.waiting
    while each is not NULL:
        each.ordinal = ordinal
        ordinal += 1
        each = each.after[SENT]
    exchange.waiting_next = ordinal - 1
    if exchange.overtaking is not NULL:
        memset(exchange.overtaking, 0, MOST_ORDINALS // 8)


cdef inline void waiting_add(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    """It waits from now on, behind the others."""
    if exchange.waiting_last is not NULL and waiting.response_breaks < exchange.waiting_last.response_breaks:
        waiting.response_breaks = exchange.waiting_last.response_breaks
    link(&exchange.waiting, &exchange.waiting_last, waiting, SENT)
    exchange.waiting_count += 1
    if exchange.waiting_next == MOST_ORDINALS:
        ordinals_again(exchange)
    waiting.ordinal = exchange.waiting_next
    exchange.waiting_next += 1
    exchange.waiting_uneven += waiting.is_token or waiting.may_be_silent
    exchange.waiting_kept += waiting.kept
    if not waiting_index(exchange) and exchange.slots is not NULL:
        slot_link(exchange, waiting)


cdef inline void waiting_remove(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    """It waits no longer; it is the caller's now, to be let go of by `waiting_free`."""
    unlink(&exchange.waiting, &exchange.waiting_last, waiting, SENT)
    if exchange.slots is not NULL:
        slot_unlink(exchange, waiting)
    exchange.waiting_count -= 1
    exchange.waiting_kept -= waiting.kept
    exchange.waiting_uneven -= waiting.is_token or waiting.may_be_silent
    if exchange.waiting_count == 0:
        free(exchange.slots)
        free(exchange.overtaking)
        exchange.slots = NULL
        exchange.overtaking = NULL
        exchange.waiting_next = 0


cdef inline WaitingRequest* waiting_with(const ExchangeState* exchange, int32_t correlation_id) noexcept nogil:
    """The first that was sent with this id, NULL for none."""
    cdef WaitingRequest* each = exchange.waiting
    if exchange.slots is NULL:
        while each is not NULL and (each.is_token or each.row.correlation_id != correlation_id):
            each = each.after[SENT]
        return each
    each = slot_of_id(exchange, correlation_id).first
    while each is not NULL and each.row.correlation_id != correlation_id:
        each = each.after[SAME_SLOT]
    return each


cdef inline WaitingRequest* waiting_open(const ExchangeState* exchange, int32_t correlation_id, bint* several) noexcept nogil:
    """The first with this id whose response is not lost, NULL for none; `several`, if given: whether there is another."""
    cdef WaitingRequest* each = exchange.waiting if exchange.slots is NULL else slot_of_id(exchange, correlation_id).first
    cdef WaitingRequest* found = NULL
    while each is not NULL:
        if not each.is_token and not each.is_lost and each.row.correlation_id == correlation_id:
            if found is not NULL:
                several[0] = True
                return found
            found = each
            if several is NULL:
                return found
        each = each.after[SENT] if exchange.slots is NULL else each.after[SAME_SLOT]
    return found


cdef inline void waiting_free(SpareRequests* spare, WaitingRequest* waiting) noexcept nogil:
    """Let go of one that does not wait."""
    free(waiting.uses)
    free(waiting.payload)
    if spare.count < MOST_SPARE:
        waiting.after[SENT] = spare.first
        spare.first = waiting
        spare.count += 1
    else:
        free(waiting)


cdef inline void spare_free(SpareRequests* spare) noexcept nogil:
    cdef WaitingRequest* each
    while spare.first is not NULL:
        each = spare.first
        spare.first = each.after[SENT]
        free(each)


cdef inline void exchange_free(ExchangeState* exchange) noexcept:
    """Free what a connection has; it is as if it had never been."""
    cdef WaitingRequest* each = exchange.waiting
    cdef WaitingRequest* after
    while each is not NULL:
        after = each.after[SENT]
        free(each.uses)
        free(each.payload)
        free(each)
        each = after
    free(exchange.slots)
    free(exchange.overtaking)
    free(exchange.client_ids)
    raw_xdecref(exchange.reported_rules)
    sums_free(&exchange.topics)
    raw_xdecref(exchange.advertised)
    raw_xdecref(exchange.sasl)
    memset(exchange, 0, sizeof(ExchangeState))
