# What relays share: the budget of bytes that are held, and counters of exchanges; part of relay.pyx.

from libc.stdint cimport int64_t, uint64_t

from protocol.relay_counters cimport (
    BUCKETS, NO_ERROR_CODE, Counters, Row, counters_free, counters_open, lock, row_at, unlock,
)
from protocol.relay_state cimport add_shared
from protocol.text_table cimport TextTable

from os import urandom

from kwire.protocol.relay.counters import MAX_CLIENTS, MAX_SERIES, MAX_SOFTWARE, row_order
from kwire.protocol.relay.observed import OTHER, UNKNOWN


@cython.final
cdef class HeldBudget:
    """`kwire.protocol.relay.budget.HeldBudget`, for relays in any number of threads."""

    def __cinit__(self, limit):
        if limit < 0:
            raise ValueError(f"a budget of {limit} bytes")
        self.budget.limit = limit

    @property
    def limit(self):
        return self.budget.limit

    @property
    def used(self):
        return self.budget.used

    def take(self, int64_t count):
        if add_shared(&self.budget.used, count) <= self.budget.limit:
            return True
        add_shared(&self.budget.used, -count)
        return False

    def give(self, int64_t count):
        add_shared(&self.budget.used, -count)


@cython.final
cdef class RelayCounters:
    """`kwire.protocol.relay.counters.RelayCounters`, for the relays of one thread; any thread may read it."""

    def __cinit__(self, *, int32_t max_clients=MAX_CLIENTS, int32_t max_software=MAX_SOFTWARE, int32_t max_series=MAX_SERIES):
        counters_open(&self.counters, max_clients, max_software, max_series, <uint64_t>int.from_bytes(urandom(8), "big"))

    def __dealloc__(self):
        counters_free(&self.counters)

    @property
    def dropped(self):
        return self.counters.dropped

    def rows(self):
        cdef Counters* counters = &self.counters
        cdef const Row* row
        cdef int32_t number
        cdef int32_t count
        cdef list rows = []
        lock(counters)
        try:
            clients = texts_of(&counters.clients)
            software = [tuple(text.split("\0")) for text in texts_of(&counters.software)]
            count = counters.rows
        finally:
            unlock(&counters.locked)
        for number in range(count):
            row = row_at(counters, number)
            name = version = OTHER if row.software == TEXT_OTHER else UNKNOWN
            if row.software >= 0:
                name, version = software[row.software]
            rows.append({
                "software_name": name,
                "software_version": version,
                "client_id": OTHER if row.client == TEXT_OTHER else None if row.client < 0 else clients[row.client],
                "api_key": row.api_key,
                "api_version": row.api_version,
                "error_code": None if row.error_code == NO_ERROR_CODE else row.error_code,
                "exchanges": row.exchanges,
                "request_bytes": row.request_bytes,
                "response_bytes": row.response_bytes,
                "latency_us": row.latency_us,
                "latencies": [row.latencies[bucket] for bucket in range(BUCKETS)],
            })
        return sorted(rows, key=row_order)


cdef list texts_of(const TextTable* table):
    cdef int32_t number
    return [
        table.bytes[table.offsets[number]:table.offsets[number + 1]].decode("utf-8") for number in range(table.count)
    ]
