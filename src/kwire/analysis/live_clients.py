"""Live clients: rates, errors, latency and verdict of each, from rows of `requests`, in limited memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kwire.analysis.known_clients import known_maximum
from kwire.analysis.latency_buckets import bucket_of, middle_of
from kwire.analysis.release_ranges import target_range
from kwire.analysis.verdicts import Use, judge
from kwire.protocol.expected_errors import is_error
from kwire.schema import Release, catalog

__all__ = ["LiveClient", "LiveClients"]

_IDENTITY: Final = ("client_id", "software_name", "software_version")
_USED: Final = ("api_key", "api_version", "error_code")
# A hostile client can send any api and version; real ones use a few dozen.
_MOST_USES: Final = 512
_MOST_JUDGED: Final = 100_000
_OTHERS: Final = "(others)"
_UNKNOWN: Final = "unknown"  # as KIP-511 calls a client that does not name its library
_API_VERSIONS: Final = 18
_UNSUPPORTED_VERSION: Final = 35
_HANDSHAKE: Final = frozenset((17, _API_VERSIONS, 36))  # before a client gives its name, or while it logs in


@dataclass(slots=True)
class LiveClient:
    """One client.

    Attributes:
        library, version: name and version that it sends (KIP-511); empty without a name.
        recent, recent_errors: counts since the last interval.
    """

    client_id: str
    library: str
    version: str
    requests: int = 0
    errors: int = 0
    recent: int = 0
    recent_errors: int = 0
    _uses: dict[tuple[int, int], None] = field(default_factory=dict)  # by time
    _latencies: Counter[int] = field(default_factory=Counter)

    def quantile_us(self, part: float) -> int | None:
        """Return the quantile `part` of the latencies since the last interval, in microseconds; None without responses."""
        left = part * self._latencies.total()
        for bucket, count in sorted(self._latencies.items()):
            left -= count
            if left <= 0:
                return int(middle_of(np.array([bucket]))[0])
        return None


class LiveClients:
    """Clients of a stream of rows; those beyond `most` are counted together as `(others)`."""

    def __init__(self, release: Release, most: int = 10_000) -> None:
        self.release = release
        self._most = most
        self._clients: dict[tuple[str, str, str], LiveClient] = {}
        self._answered: dict[int, int] = {}  # the highest version of each API that a broker answered, so it offers that
        self._negotiates: dict[str, bool] = {}  # by client id; False needs the beginning of a connection
        self._judged: dict[tuple[Any, ...], bool] = {}

    def add(self, rows: pa.RecordBatch) -> None:
        if not rows.num_rows:
            return
        table = pa.Table.from_batches([rows]).select([*_IDENTITY, *_USED, "latency_us"])
        latency = table.column("latency_us").to_numpy()
        seen = ~np.isnan(latency)
        buckets = np.where(seen, bucket_of(np.where(seen, latency, 0).astype(np.int64)), -1)
        counted = table.append_column("bucket", pa.array(buckets)).group_by([*_IDENTITY, *_USED, "bucket"]).aggregate([([], "count_all")])
        for row in counted.to_pylist():
            self._count(row)

    def _count(self, row: dict[str, Any]) -> None:
        library, version = (("" if row[name] in (None, _UNKNOWN) else row[name]) for name in ("software_name", "software_version"))
        client = self._client((row["client_id"] or "", library, version))
        count = row["count_all"]
        client.requests += count
        client.recent += count
        if is_error(row["api_key"], row["error_code"]):
            client.errors += count
            client.recent_errors += count
        if row["bucket"] >= 0:
            client._latencies[row["bucket"]] += count
        api_key, api_version = use = row["api_key"], row["api_version"]
        if client.library or api_key == _API_VERSIONS:
            self._negotiates[client.client_id] = True
        elif row["software_name"] == _UNKNOWN:
            self._negotiates.setdefault(client.client_id, False)
        if None in use:
            return
        if row["error_code"] not in (None, _UNSUPPORTED_VERSION):
            self._answered[api_key] = max(self._answered.get(api_key, 0), api_version)
        if len(client._uses) < _MOST_USES:
            client._uses[use] = None

    def rejected(self, client: LiveClient) -> list[str]:
        """Return uses that break on the release, as text, by time; a client negotiates if any connection of its id does."""
        negotiates = self._negotiates.get(client.client_id)
        named = {use: catalog().api_name(use[0]) or f"API {use[0]}" for use in client._uses}
        return [f"{api} v{use[1]}" for use, api in named.items() if self._breaks(client, api, *use, negotiates)]

    def _breaks(self, client: LiveClient, api: str, api_key: int, api_version: int, negotiates: bool | None) -> bool:
        highest = self._answered.get(api_key)
        case = (client.library, client.version, api_key, api_version, negotiates, highest)
        found = self._judged.get(case)
        if found is None:
            known = known_maximum(client.library or None, client.version or None, None, api)
            use = Use(api_name=api, api_version=api_version, broker_highest=highest, negotiates=negotiates, known=known)
            if len(self._judged) >= _MOST_JUDGED:
                self._judged.clear()
            found = self._judged[case] = judge(use, target_range(self.release, api_key)).verdict == "breaks"
        return found

    def _client(self, key: tuple[str, str, str]) -> LiveClient:
        found = self._clients.get(key)
        if found is None:
            if len(self._clients) >= self._most:
                key = (_OTHERS, "", "")
            found = self._clients.setdefault(key, LiveClient(*key))
        return found

    def __iter__(self) -> Iterator[LiveClient]:
        """Yield clients that break first, then those with most requests since the last interval."""
        return iter(sorted(self._clients.values(), key=lambda one: (not self.rejected(one), -one.recent, -one.requests, one.client_id)))

    def applications(self) -> list[LiveClient]:
        """Return the clients in the order of iteration, without handshakes of clients that sent their library later."""
        named = {one.client_id for one in self._clients.values() if one.library}
        return [one for one in self if one.library or one.client_id not in named or not {key for key, _ in one._uses} <= _HANDSHAKE]

    def __len__(self) -> int:
        return len(self._clients)

    def begin_interval(self) -> None:
        for one in self._clients.values():
            one.recent = one.recent_errors = 0
            one._latencies.clear()
