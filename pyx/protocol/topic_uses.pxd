"""Topic use of a series' connections, as C structs: protocol/tracking/topic_use.py and the sums of tables/observed_rows.py.

A request's uses wait for its response; both together are added to the sums of the connection, one a topic, direction and client id in the
order of first use; at its end these become rows of `topic_use`, whose lists lie in pools of integers.

Bounded: a frame names at most `MOST_USES` partitions; the sums are as large as what the connection has named.
"""

from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MIN, int8_t, int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memmove, memset

from protocol.record_batches cimport Weight
from protocol.request_rows cimport microseconds
from protocol.text_table cimport TextTable, text_copied
from wire.grown cimport grown

cdef enum TopicDirection:
    # Indices in kwire.tables.row_callbacks.DIRECTIONS
    PRODUCED = 0
    FETCHED = 1

cdef enum:
    FEW = 4

# Distinct integers in ascending order; the first few need no memory of their own.
cdef struct IntSet:
    int32_t few[FEW]
    int32_t* more  # all of them, once there were more than a few
    int32_t count
    int32_t room

# A partition that was used.
cdef struct TopicUse:
    int32_t topic  # numbers of texts
    int32_t topic_id
    int32_t number
    int32_t error_code  # INT32_MIN for none
    bint unseen
    Weight weight

cdef struct TopicUses:
    TopicUse* uses
    int32_t count
    Py_ssize_t room

cdef struct TopicSum:
    int32_t topic
    int32_t topic_id
    int32_t client_id
    int8_t direction
    uint32_t magics
    uint32_t codecs
    int64_t requests
    int64_t errors
    int64_t records
    int64_t batches
    int64_t bytes
    int64_t largest
    int64_t first_ns
    int64_t last_ns
    int64_t seen  # requests of which all that travelled was seen, or not
    int64_t unseen
    int64_t counted  # the exchange that was counted last
    int64_t counted_unseen  # the latest one that counts as unseen
    IntSet acks
    IntSet partitions
    IntSet refused

# The sums of one connection.
cdef struct TopicSums:
    TopicSum* sums
    int32_t count
    Py_ssize_t room
    int32_t latest  # the one that was found last
    int64_t exchanges

cdef struct IntPool:
    int32_t* values
    Py_ssize_t count
    Py_ssize_t room

cdef struct TopicRow:
    int64_t requests
    int64_t errors
    int64_t records
    int64_t batches
    int64_t bytes
    int64_t largest
    int64_t first_us
    int64_t last_us
    int64_t unseen
    uint32_t magics  # bit sets
    uint32_t codecs
    int32_t connection  # texts of their own
    int32_t client_id
    int32_t topic
    int32_t topic_id
    int32_t acks_count
    int32_t partitions_count
    int32_t errors_count
    int8_t direction

cdef struct TopicRows:
    TopicRow* rows
    Py_ssize_t count
    Py_ssize_t room
    IntPool acks
    IntPool partitions
    IntPool error_codes


cdef inline const int32_t* ints_of(const IntSet* ints) noexcept nogil:
    if ints.more is NULL:
        return &ints.few[0]
    return ints.more


cdef inline bint ints_add(IntSet* ints, int32_t value) noexcept nogil:
    """Put an integer where it belongs, if it is not there; False without memory."""
    cdef int32_t* values = <int32_t*>ints_of(ints)
    cdef int32_t room = FEW if ints.more is NULL else ints.room
    cdef int32_t low = 0
    cdef int32_t high = ints.count
    cdef int32_t middle
    cdef int32_t* larger
    while low < high:
        middle = (low + high) >> 1
        if values[middle] == value:
            return True
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    if ints.count == room:
        if room > INT32_MAX // 8:
            return False
        larger = <int32_t*>realloc(ints.more, 2 * <size_t>room * sizeof(int32_t))  # not `grown`: the first few lie elsewhere
        if larger is NULL:
            return False
        if ints.more is NULL:
            memcpy(larger, ints.few, sizeof(ints.few))
        ints.more = values = larger
        ints.room = 2 * room
    memmove(values + low + 1, values + low, (ints.count - low) * sizeof(int32_t))
    values[low] = value
    ints.count += 1
    return True


cdef inline void sums_free(TopicSums* sums) noexcept nogil:
    cdef int32_t index
    for index in range(sums.count):
        free(sums.sums[index].acks.more)
        free(sums.sums[index].partitions.more)
        free(sums.sums[index].refused.more)
    free(sums.sums)
    memset(sums, 0, sizeof(TopicSums))


cdef inline TopicSum* sum_of(TopicSums* sums, int direction, const TopicUse* use, int32_t client_id, int64_t time_ns) noexcept nogil:
    """The sum that a use belongs to, new or known; NULL without memory.

    The search begins where the last one ended: clients name their topics in one order.
    """
    cdef int32_t _step
    cdef int32_t index = sums.latest
    cdef TopicSum* each
    for _step in range(sums.count):
        each = sums.sums + index
        if each.topic == use.topic and each.topic_id == use.topic_id and each.direction == direction and each.client_id == client_id:
            sums.latest = index
            return each
        index = index + 1 if index + 1 < sums.count else 0
    each = <TopicSum*>grown(sums.sums, &sums.room, sums.count + 1, 1, sizeof(TopicSum))
    if each is NULL:
        return NULL
    sums.sums = each
    each = sums.sums + sums.count
    sums.latest = sums.count
    sums.count += 1
    memset(each, 0, sizeof(TopicSum))
    each.topic = use.topic
    each.topic_id = use.topic_id
    each.client_id = client_id
    each.direction = direction
    each.first_ns = each.last_ns = time_ns
    return each


cdef inline bint sums_add(
    TopicSums* sums, int direction, const TopicUses* uses, int32_t client_id, int32_t acks, int64_t time_ns
) noexcept nogil:
    """Count one exchange; False without memory. `acks` is INT32_MIN for none."""
    cdef const TopicUse* use
    cdef TopicSum* found
    cdef int32_t index
    sums.exchanges += 1
    for index in range(uses.count):
        use = uses.uses + index
        found = sum_of(sums, direction, use, client_id, time_ns)
        if found is NULL:
            return False
        found.records += use.weight.records
        found.batches += use.weight.batches
        found.bytes += use.weight.bytes
        found.largest = max(found.largest, use.weight.largest)
        found.magics |= use.weight.magics
        found.codecs |= use.weight.codecs
        if not ints_add(&found.partitions, use.number):
            return False
        if use.error_code != INT32_MIN and use.error_code != 0:
            found.errors += 1
            if not ints_add(&found.refused, use.error_code):
                return False
        if found.counted != sums.exchanges:
            found.counted = sums.exchanges
            found.requests += 1
            found.seen += 1
            found.first_ns = min(found.first_ns, time_ns)
            found.last_ns = max(found.last_ns, time_ns)
            if acks != INT32_MIN and not ints_add(&found.acks, acks):
                return False
        if use.unseen and found.counted_unseen != sums.exchanges:
            found.counted_unseen = sums.exchanges
            found.unseen += 1
            found.seen -= 1
    return True


cdef inline TopicUse* uses_add(TopicUses* uses) noexcept nogil:
    """The next use; NULL without memory. Valid until the next one is added."""
    cdef TopicUse* made = <TopicUse*>grown(uses.uses, &uses.room, uses.count + 1, 16, sizeof(TopicUse))
    if made is NULL:
        return NULL
    uses.uses = made
    uses.count += 1
    return uses.uses + uses.count - 1


cdef inline uint64_t partition_hash(const TopicUse* use) noexcept nogil:
    cdef uint64_t mixed = (<uint64_t><uint32_t>use.topic << 32 ^ <uint32_t>use.number) * <uint64_t>0x9E3779B97F4A7C15u
    mixed = (mixed ^ mixed >> 32 ^ <uint32_t>use.topic_id) * <uint64_t>0xBF58476D1CE4E5B9u
    return mixed ^ mixed >> 29


cdef inline bint same_partition(const TopicUse* one, const TopicUse* other) noexcept nogil:
    return one.topic == other.topic and one.topic_id == other.topic_id and one.number == other.number


cdef inline int32_t partition_at(const TopicUses* merged, int32_t* slots, uint64_t mask, const TopicUse* use, int32_t guess) noexcept nogil:
    """Index of a partition among the merged ones, -1 for none; it is entered as the next one then."""
    cdef uint64_t slot
    if guess < merged.count and same_partition(merged.uses + guess, use):
        return guess
    slot = partition_hash(use) & mask
    while slots[slot]:
        if same_partition(merged.uses + slots[slot] - 1, use):
            return slots[slot] - 1
        slot = (slot + 1) & mask
    slots[slot] = merged.count + 1
    return -1


cdef inline bint uses_merge(
    TopicUses* merged, const TopicUse* request, int32_t request_count, const TopicUse* response, int32_t response_count, bint is_fetch,
    bint is_request_whole, bint is_whole,
) noexcept nogil:
    """Request and response together, a partition once, as kwire.protocol.tracking.topic_use.used; False without memory."""
    cdef bint unseen
    cdef uint64_t size = 16
    cdef int32_t* slots
    cdef int32_t few[16]
    cdef int32_t index
    cdef int32_t found
    cdef const TopicUse* use
    cdef TopicUse* known
    cdef bint done = True
    while size < 2 * <uint64_t>(request_count + response_count):
        size *= 2
    if size == 16:
        memset(few, 0, sizeof(few))
        slots = few
    else:
        slots = <int32_t*>calloc(size, sizeof(int32_t))
        if slots is NULL:
            return False
    merged.count = 0
    for index in range(request_count + response_count):
        use = request + index if index < request_count else response + (index - request_count)
        found = partition_at(merged, slots, size - 1, use, index if index < request_count else index - request_count)
        if found < 0:
            known = uses_add(merged)
            if known is NULL:
                done = False
                break
            known[0] = use[0]
            if index < request_count:
                known.unseen = known.unseen or (is_fetch and not is_whole)
            elif not is_fetch:
                known.unseen = not is_request_whole
            continue
        known = merged.uses + found
        unseen = use.unseen
        if index < request_count:
            unseen = unseen or (is_fetch and not is_whole)
        elif not is_fetch:
            unseen = known.unseen
        if index < request_count or use.weight.batches or not known.weight.batches:
            known[0] = use[0]
            known.unseen = unseen
        else:
            known.error_code = use.error_code
    if size != 16:
        free(slots)
    return done


cdef inline bint pool_add(IntPool* pool, const int32_t* values, Py_ssize_t count) noexcept nogil:
    """Put integers behind the others; False without memory."""
    cdef int32_t* made = <int32_t*>grown(pool.values, &pool.room, pool.count + count, 1024, sizeof(int32_t))
    if made is NULL:
        return False
    pool.values = made
    memcpy(made + pool.count, values, count * sizeof(int32_t))
    pool.count += count
    return True


cdef inline TopicRow* topic_row_add(TopicRows* rows) except NULL:
    """The next row, zeroed; valid until the next one is added."""
    cdef TopicRow* made = <TopicRow*>grown(rows.rows, &rows.room, rows.count + 1, 256, sizeof(TopicRow))
    if made is NULL:
        raise MemoryError
    rows.rows = made
    rows.count += 1
    memset(&made[rows.count - 1], 0, sizeof(TopicRow))
    return &made[rows.count - 1]


cdef inline int topic_rows_add(
    TopicRows* rows, TextTable* row_texts, const TextTable* texts, int32_t connection, const TopicSums* sums
) except -1:
    """Add the rows of a connection that is over. `connection` is a number in `row_texts`; `texts` are those of the sums."""
    cdef const TopicSum* each
    cdef TopicRow* row
    cdef int32_t index
    for index in range(sums.count):
        each = sums.sums + index
        if not (
            pool_add(&rows.acks, ints_of(&each.acks), each.acks.count)
            and pool_add(&rows.partitions, ints_of(&each.partitions), each.partitions.count)
            and pool_add(&rows.error_codes, ints_of(&each.refused), each.refused.count)
        ):
            raise MemoryError
        row = topic_row_add(rows)
        row.acks_count, row.partitions_count, row.errors_count = each.acks.count, each.partitions.count, each.refused.count
        row.connection, row.direction = connection, each.direction
        row.client_id = text_copied(row_texts, texts, each.client_id)
        row.topic, row.topic_id = text_copied(row_texts, texts, each.topic), text_copied(row_texts, texts, each.topic_id)
        row.requests, row.errors, row.records, row.batches = each.requests, each.errors, each.records, each.batches
        row.bytes, row.largest, row.magics, row.codecs = each.bytes, each.largest, each.magics, each.codecs
        row.unseen = each.unseen
        if each.unseen and not each.seen:
            row.records = row.batches = row.bytes = row.largest = INT64_MIN
        row.first_us, row.last_us = microseconds(each.first_ns), microseconds(each.last_ns)
    return 0


cdef inline void topic_rows_clear(TopicRows* rows) noexcept nogil:
    rows.count = rows.acks.count = rows.partitions.count = rows.error_codes.count = 0


cdef inline void topic_rows_free(TopicRows* rows) noexcept nogil:
    free(rows.rows)
    free(rows.acks.values)
    free(rows.partitions.values)
    free(rows.error_codes.values)
    memset(rows, 0, sizeof(TopicRows))
