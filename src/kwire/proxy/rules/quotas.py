"""`[[quotas]]`: bytes and requests per second of clients and tenants.

As brokers do (KIP-13, KIP-124, KIP-219), the proxy forwards a response at once with the time to wait in `throttle_time_ms`, and does not
read the client for that time, so a client that ignores the field waits too. A bucket holds the amount of one second; what exceeds it is a
debt, which the rate pays off.

A client far below its quota gets a lease of a part of its amounts, from which the relay counts its frames and streams them. Behind the
lease a frame is buffered whole and asks for the next one, as each does near the limit. Frames of other clients are streamed.
"""

from __future__ import annotations

import fnmatch
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import kwire
from kwire.errors import InputError
from kwire.protocol.relay import CALL, Held, Lease, RelayPlan, RelayRule
from kwire.proxy.config import QuotaConfig
from kwire.proxy.rules.api_versions_answer import API_VERSIONS
from kwire.proxy.rules.rule import ConnectionRule, Outcome, Peer, Watched
from kwire.schema import catalog

__all__ = ["QuotasRule"]

_SASL: Final = (17, 36)  # SaslHandshake and SaslAuthenticate
_MOST_SECONDS: Final = 10.0  # of one wait, below the request timeouts of clients; the rest of a debt is waited for later
_MOST_BUCKETS: Final = 10_000
_LENGTH: Final = 4
_LEASED: Final = 8  # part of what is left of a bucket
_LEASE_NS: Final = 100_000_000  # after which the rest of a lease comes back
_LEAST_BYTES: Final = 4096
_LEAST_REQUESTS: Final = 8
_UNLIMITED: Final = 1 << 62


@dataclass(slots=True)
class _Bucket:
    """Amounts left of a table for one client, or for all together; negative for a debt."""

    rates: tuple[int | None, ...]  # request bytes, response bytes and requests per second
    time: float
    left: list[float] = field(init=False)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.left = [float(rate or 0) for rate in self.rates]

    def take(self, amounts: Sequence[int], now: float) -> float:
        """Take amounts, or give negative ones back, and return the seconds until no debt is left."""
        wait = 0.0
        with self.lock:
            passed, self.time = max(now - self.time, 0.0), now
            for index, (rate, amount) in enumerate(zip(self.rates, amounts, strict=True)):
                if rate is not None:
                    self.left[index] = min(min(self.left[index] + passed * rate, rate) - amount, float(rate))
                    wait = max(wait, -self.left[index] / rate)
        return wait

    def lendable(self) -> list[int]:
        """Return the amounts that a lease may take."""
        with self.lock:
            return [_UNLIMITED if rate is None else int(left / _LEASED) for rate, left in zip(self.rates, self.left, strict=True)]


class QuotasRule:
    """Rule for quotas; `clock` returns seconds."""

    name = "quotas"

    def __init__(self, quotas: Sequence[QuotaConfig], clock: Callable[[], float] = time.monotonic) -> None:
        self._quotas = tuple(quotas)
        if any((each.request_bytes, each.response_bytes, each.requests) == (None,) * 3 for each in self._quotas):
            raise InputError("a quota without a limit: write request_bytes, response_bytes or requests")
        self.clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[tuple[int, str, str, str], _Bucket] = OrderedDict()  # the least recently used first
        self._throttled: Counter[str] = Counter()

    def relay_rules(self) -> Iterable[RelayRule]:
        return ()

    def watching_rules(self) -> Iterator[RelayRule]:
        for message in catalog().messages.values():
            if message.kind in ("request", "response") and message.api_key is not None and message.api_key not in _SASL:
                yield RelayRule(message.kind, message.api_key, None, CALL)

    def connected(self, peer: Peer) -> ConnectionRule | None:
        return _Limited(self, peer) if any(each.tenant in (None, peer.tenant) for each in self._quotas) else None

    def buckets(self, peer: Peer, client_id: str) -> list[_Bucket]:
        """Return the buckets of a client; each client id or principal that a pattern matches has its own."""
        found = []
        for index, quota in enumerate(self._quotas):
            pairs = ((quota.client_id, client_id), (quota.principal, peer.principal))
            if quota.tenant not in (None, peer.tenant) or any(
                pattern is not None and not fnmatch.fnmatchcase(text, pattern) for pattern, text in pairs
            ):
                continue
            names = ["" if pattern is None else text for pattern, text in pairs]
            key = index, peer.tenant, names[0], names[1]
            with self._lock:
                bucket = self._buckets.pop(key, None)
                if bucket is None:
                    bucket = _Bucket((quota.request_bytes, quota.response_bytes, quota.requests), self.clock())
                    if len(self._buckets) >= _MOST_BUCKETS:
                        self._buckets.popitem(last=False)
                self._buckets[key] = bucket
            found.append(bucket)
        return found

    def count(self, tenant: str) -> None:
        with self._lock:
            self._throttled[tenant] += 1

    def read(self) -> Counter[str]:
        """Return the number of throttled responses by tenant."""
        with self._lock:
            return self._throttled.copy()


class _Limited(ConnectionRule):
    """Rule of one connection; it watches until a request shows that no quota applies."""

    def __init__(self, rule: QuotasRule, peer: Peer) -> None:
        self._rule = rule
        self._peer = peer
        self._of: tuple[str, str] | None = None
        self._buckets: list[_Bucket] = []
        self._until = 0.0
        self._lease: Lease | None = None
        self._lendable: tuple[bytes, int] | None = None  # client id and time of a request that may begin a lease
        self.watches = True

    def request(self, held: Held, frame: bytes) -> Outcome:
        if self._is_leased():
            return None
        client_id = kwire.peek_header(frame, strict=False).client_id or ""
        if self._of != (client_id, self._peer.principal):
            self._of = client_id, self._peer.principal
            self._buckets = self._rule.buckets(self._peer, client_id)
        if not self._buckets:
            self.watches = held.api_key == API_VERSIONS  # the principal may not be known yet
            return None
        delay = max(self._until - self._rule.clock(), 0.0)
        if self._take((len(frame) + _LENGTH, 0, 1)) == 0 and client_id and held.api_key != API_VERSIONS:
            self._lendable = client_id.encode(), held.time
        return Watched(frame, None, delay)

    def take_lease(self, plan: RelayPlan) -> Lease | None:
        if self._lendable is None:
            return None
        (client_id, began), self._lendable = self._lendable, None
        requested, answered, requests = map(min, zip(*(each.lendable() for each in self._buckets), strict=True))
        if min(requested, answered) < _LEAST_BYTES or requests < _LEAST_REQUESTS:
            return None
        self._lease = Lease(plan, client_id, (requested, answered, requests), began + _LEASE_NS)
        self._take((requested, answered, requests))
        return self._lease

    def _is_leased(self) -> bool:
        """Return whether the relay has counted a frame; else give the rest of an earlier lease back."""
        if self._lease is not None and not self._lease.is_on:
            self.closed()
        return self._lease is not None

    def closed(self) -> None:
        if self._lease is not None:
            requested, answered, requests = self._lease.left
            self._lease = None
            self._take((-requested, -answered, -requests))

    def _take(self, amounts: tuple[int, int, int]) -> int:
        """Take from all buckets, and return the milliseconds to wait."""
        now = self._rule.clock()
        wait = min(max(each.take(amounts, now) for each in self._buckets), _MOST_SECONDS)
        self._until = max(self._until, now + wait)
        return int(wait * 1000)

    def response(self, held: Held, frame: bytes) -> bytes | None:
        if not self._buckets or self._is_leased():
            return None
        milliseconds = self._take((0, len(frame) + _LENGTH, 0))
        if not milliseconds:
            return None
        self._rule.count(self._peer.tenant)
        if not _has_throttle_time(held.api_key, held.api_version):
            return None
        longer = {"throttle_time_ms": lambda old: max(old, milliseconds)}
        return kwire.splice(frame, longer, held.api_key, held.api_version, strict=False)


@cache
def _has_throttle_time(api_key: int, version: int) -> bool:
    message = catalog().response(api_key)
    return message is not None and any(each.name == "ThrottleTimeMs" and version in each.versions for each in message.fields)
