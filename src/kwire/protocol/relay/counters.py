"""Counts of relayed exchanges by software, client id, API, version and error code, with a latency histogram.

Clients can send any text, so the number of texts and rows is limited.
"""

from __future__ import annotations

from typing import Any, Final

from kwire.protocol.relay.observed import OTHER, Software

__all__ = ["BUCKETS", "MAX_CLIENTS", "MAX_SERIES", "MAX_SOFTWARE", "RelayCounters", "bucket_of", "row_order"]

MAX_CLIENTS: Final = 1000
MAX_SOFTWARE: Final = 200
MAX_SERIES: Final = 20_000
# Bucket n has the latencies below 2**n microseconds that no smaller bucket has; the last one has all the others.
BUCKETS: Final = 32


def bucket_of(latency_ns: int) -> int:
    return min((max(latency_ns, 0) // 1000).bit_length(), BUCKETS - 1)


class RelayCounters:
    """Counters shared by the relays of one thread; client ids and software beyond the limits count as `other`, rows as `dropped`.

    An exchange counts when the last byte of its response has arrived; a Produce with acks 0 counts at the end of its request. The relay's
    own answers and requests, raw SASL tokens and unanswered requests do not count.
    """

    __slots__ = ("_clients", "_max_clients", "_max_series", "_max_software", "_series", "_software", "dropped")

    def __init__(self, *, max_clients: int = MAX_CLIENTS, max_software: int = MAX_SOFTWARE, max_series: int = MAX_SERIES) -> None:
        self._clients: set[str] = set()
        self._software: set[Software] = set()
        self._max_clients, self._max_software, self._max_series = max_clients, max_software, max_series
        # (software, client id, api key, version, error code) -> exchanges, request bytes, response bytes, microseconds, histogram
        self._series: dict[tuple[Software, str | None, int, int, int | None], list[Any]] = {}
        self.dropped = 0

    def client(self, text: str | None) -> str | None:
        if text is None or text == OTHER or text in self._clients:
            return text
        if len(self._clients) >= self._max_clients:
            return OTHER
        self._clients.add(text)
        return text

    def software(self, software: Software) -> Software:
        if software in self._software:
            return software
        if len(self._software) >= self._max_software or OTHER in software or any("\0" in text for text in software):
            return OTHER, OTHER
        self._software.add(software)
        return software

    def count(
        self,
        software: Software,
        client: str | None,
        api_key: int,
        api_version: int,
        error_code: int | None,
        request_bytes: int,
        response_bytes: int,
        latency_ns: int | None,
    ) -> None:
        """Count an exchange; `latency_ns` is None for a Produce without an answer."""
        key = software, client, api_key, api_version, error_code
        found = self._series.get(key)
        if found is None:
            if len(self._series) >= self._max_series:
                self.dropped += 1
                return
            found = self._series[key] = [0, 0, 0, 0, [0] * BUCKETS]
        found[0] += 1
        found[1] += request_bytes
        found[2] += response_bytes
        if latency_ns is not None:
            found[3] += max(latency_ns, 0) // 1000
            found[4][bucket_of(latency_ns)] += 1

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each software, client id, API, version and error code, sorted by them; `latencies` is a histogram."""
        rows = [
            {
                "software_name": software[0],
                "software_version": software[1],
                "client_id": client,
                "api_key": key,
                "api_version": version,
                "error_code": error,
                "exchanges": found[0],
                "request_bytes": found[1],
                "response_bytes": found[2],
                "latency_us": found[3],
                "latencies": list(found[4]),
            }
            for (software, client, key, version, error), found in self._series.items()
        ]
        return sorted(rows, key=row_order)


def row_order(row: dict[str, Any]) -> tuple[Any, ...]:
    texts = row["software_name"], row["software_version"], row["client_id"] or ""
    error = row["error_code"]
    return (*texts, row["client_id"] is None, row["api_key"], row["api_version"], -(1 << 16) if error is None else error)
