"""Client instances of a broker, limited in number, in time, and in new instances per connection and address."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kwire.codec.uuids import Uuid
from kwire.protocol.telemetry.subscriptions import ClientIdentity, Wanted, subscription_id_of

__all__ = ["INSTANCE_LIMIT", "Instance", "InstanceCache"]

INSTANCE_LIMIT: Final = 16_384  # ClientMetricsManager.CACHE_MAX_SIZE
_MS: Final = 1_000_000
_SHORTEST_LIFE_MS: Final = 60_000
_INTERVALS_KEPT: Final = 3


@dataclass(slots=True)
class Instance:
    """Client instance."""

    instance_id: Uuid
    identity: ClientIdentity
    wanted: Wanted
    version: int  # of the subscription table of `wanted`
    connection: str
    address: str | None
    expires: int
    is_terminated: bool = False  # its last push came
    asked: int | None = None  # nanoseconds, as `pushed` and `expires`
    pushed: int | None = None
    last_error: int = 0

    @property
    def subscription_id(self) -> int:
        return subscription_id_of(self.wanted, self.instance_id)

    def _waited(self, t: int) -> bool:
        last = max((each for each in (self.asked, self.pushed) if each is not None), default=None)
        return last is None or t - last >= self.wanted.interval_ms * _MS

    def may_ask(self, t: int) -> bool:
        """Return whether an interval has passed since the latest request; if so, this one is the latest."""
        if not self._waited(t):
            return False
        self.asked = t
        return True

    def may_push(self, t: int) -> bool:
        """Do the same for a push. The first push after a subscription may come early."""
        first = self.asked is not None and (self.pushed is None or self.asked > self.pushed)
        if not first and not self._waited(t):
            return False
        self.pushed = t
        return True


class InstanceCache:
    """Cache of instances by id; beyond `limit` the least recently used one is dropped."""

    def __init__(self, limit: int = INSTANCE_LIMIT, *, per_connection: int = 64, per_address: int = 4096) -> None:
        self.limit = limit
        self.per_connection = per_connection
        self.per_address = per_address
        self._instances: OrderedDict[Uuid, Instance] = OrderedDict()
        self._connections: Counter[str] = Counter()
        self._addresses: Counter[str | None] = Counter()

    def __len__(self) -> int:
        return len(self._instances)

    def __contains__(self, instance_id: object) -> bool:
        return instance_id in self._instances

    @staticmethod
    def life_ns(wanted: Wanted) -> int:
        """Return how long a silent instance is kept: a minute or three intervals, whichever is longer."""
        return max(_SHORTEST_LIFE_MS, _INTERVALS_KEPT * wanted.interval_ms) * _MS

    def get(self, instance_id: Uuid, t: int) -> Instance | None:
        found = self._instances.get(instance_id)
        if found is None:
            return None
        if t >= found.expires:
            self.drop(instance_id)
            return None
        found.expires = t + self.life_ns(found.wanted)
        self._instances.move_to_end(instance_id)
        return found

    def has_room(self, connection: str, address: str | None) -> bool:
        return self._connections[connection] < self.per_connection and self._addresses[address] < self.per_address

    def add(self, instance: Instance) -> None:
        while len(self._instances) >= self.limit:
            self.drop(next(iter(self._instances)))
        self._instances[instance.instance_id] = instance
        self._connections[instance.connection] += 1
        self._addresses[instance.address] += 1

    def drop(self, instance_id: Uuid) -> None:
        gone = self._instances.pop(instance_id)
        for counts, key in ((self._connections, gone.connection), (self._addresses, gone.address)):
            counts[key] -= 1  # type: ignore[index]
            if not counts[key]:  # type: ignore[index]
                del counts[key]

    def _drop_all(self, is_gone: Callable[[Instance], bool]) -> list[Uuid]:
        gone = [each.instance_id for each in self._instances.values() if is_gone(each)]
        for instance_id in gone:
            self.drop(instance_id)
        return gone

    def disconnected(self, connection: str) -> list[Uuid]:
        return self._drop_all(lambda each: each.connection == connection) if connection in self._connections else []

    def expire(self, t: int) -> list[Uuid]:
        return self._drop_all(lambda each: t >= each.expires)

    def silent(self, t: int, grace_ms: int = 0) -> list[Uuid]:
        """Return the ids of instances that stopped pushing: no push for one and a half intervals plus the grace period."""
        return [
            each.instance_id
            for each in self._instances.values()
            if each.pushed is not None and t - each.pushed > (each.wanted.interval_ms * 3 // 2 + grace_ms) * _MS
        ]
