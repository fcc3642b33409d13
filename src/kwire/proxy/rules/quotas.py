"""`[[quotas]]`: bytes and requests per second of clients and tenants.

As brokers do (KIP-13, KIP-124, KIP-219), the proxy forwards a response at once with the time to wait in `throttle_time_ms`, and does not
read the client for that time, so a client that ignores the field waits too. A bucket holds the amount of one second; what exceeds it is a
debt, which the rate pays off.

The frames of a client with a quota are buffered whole; those of other clients are streamed.
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
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.proxy.config import QuotaConfig
from kwire.proxy.rules.api_versions_answer import API_VERSIONS
from kwire.proxy.rules.rule import ConnectionRule, Outcome, Peer, Watched
from kwire.schema import catalog

__all__ = ["QuotasRule"]

_SASL: Final = (17, 36)  # SaslHandshake and SaslAuthenticate
_MOST_SECONDS: Final = 10.0  # of one wait, below the request timeouts of clients; the rest of a debt is waited for later
_MOST_BUCKETS: Final = 10_000
_LENGTH: Final = 4


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
        """Take amounts, and return the seconds until no debt is left."""
        wait = 0.0
        with self.lock:
            passed, self.time = max(now - self.time, 0.0), now
            for index, (rate, amount) in enumerate(zip(self.rates, amounts, strict=True)):
                if rate is not None:
                    self.left[index] = min(self.left[index] + passed * rate, float(rate)) - amount
                    wait = max(wait, -self.left[index] / rate)
        return wait


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
            if message.kind == "request" and message.api_key not in (None, *_SASL):
                yield RelayRule("request", message.api_key, None, CALL)

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
        self.watches = True

    def request(self, held: Held, frame: bytes) -> Outcome:
        client_id = kwire.peek_header(frame, strict=False).client_id or ""
        if self._of != (client_id, self._peer.principal):
            self._of = client_id, self._peer.principal
            self._buckets = self._rule.buckets(self._peer, client_id)
        if not self._buckets:
            self.watches = held.api_key == API_VERSIONS  # the principal may not be known yet
            return None
        delay = max(self._until - self._rule.clock(), 0.0)
        self._take((len(frame) + _LENGTH, 0, 1))
        return Watched(frame, self._answered, delay)

    def _take(self, amounts: tuple[int, int, int]) -> int:
        """Take from all buckets, and return the milliseconds to wait."""
        now = self._rule.clock()
        wait = min(max(each.take(amounts, now) for each in self._buckets), _MOST_SECONDS)
        self._until = max(self._until, now + wait)
        return int(wait * 1000)

    def _answered(self, held: Held, frame: bytes) -> bytes | None:
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
