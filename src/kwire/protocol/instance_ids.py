"""Client instance ids: creation, and the rule that a connection keeps one (KIP-714, KIP-1313).

A connection whose first request has request header 3 names the id there, and every later request but SaslHandshake repeats it. Decision
where the proposal is silent: a connection that begins with an older header may name an id later, and must keep it from then on.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.protocol.transitions import Transitions

__all__ = ["INSTANCE_ID", "WITH_INSTANCE_ID", "InstanceIdEvent", "InstanceIdRule", "InstanceIdState", "new_instance_id"]

_ONE: Final = Uuid(bytes(15) + b"\x01")
WITH_INSTANCE_ID: Final = 3  # the request header that carries the id


def new_instance_id(random: Callable[[int], bytes] = secrets.token_bytes, *, hyphens: bool = True) -> Uuid:
    """Return a random UUID of version 4, never a reserved one (0 and 1), as `org.apache.kafka.common.Uuid.randomUuid`.

    Without `hyphens` its text has none, as in Kafka from 2026 on (apache/kafka#21313); else only a leading one is avoided, which a
    command line would take for an option.
    """
    while True:
        data = bytearray(random(16))
        data[6] = data[6] & 0x0F | 0x40
        data[8] = data[8] & 0x3F | 0x80
        made = Uuid(data)
        text = str(made)
        if made not in (ZERO_UUID, _ONE) and not text.startswith("-") and (hyphens or "-" not in text):
            return made


class InstanceIdState(Enum):
    """States of a connection with regard to its client instance id."""

    NO_REQUEST = auto()
    NO_ID = auto()  # requests came, with older headers
    FIXED = auto()


class InstanceIdEvent(Enum):
    NAMED = auto()
    REPEATED = auto()
    CHANGED = auto()
    ZERO = auto()  # header 3 with the id that stands for none
    OLDER_HEADER = auto()


INSTANCE_ID: Final = Transitions(
    "the instance id of a connection",
    InstanceIdState,
    InstanceIdEvent,
    InstanceIdState.NO_REQUEST,
    {
        InstanceIdState.NO_REQUEST: {
            InstanceIdEvent.NAMED: InstanceIdState.FIXED,
            InstanceIdEvent.ZERO: InstanceIdState.NO_REQUEST,
            InstanceIdEvent.OLDER_HEADER: InstanceIdState.NO_ID,
        },
        InstanceIdState.NO_ID: {
            InstanceIdEvent.NAMED: InstanceIdState.FIXED,
            InstanceIdEvent.ZERO: InstanceIdState.NO_ID,
            InstanceIdEvent.OLDER_HEADER: InstanceIdState.NO_ID,
        },
        InstanceIdState.FIXED: {
            InstanceIdEvent.REPEATED: InstanceIdState.FIXED,
            InstanceIdEvent.CHANGED: InstanceIdState.FIXED,
            InstanceIdEvent.ZERO: InstanceIdState.FIXED,
            InstanceIdEvent.OLDER_HEADER: InstanceIdState.FIXED,
        },
    },
)


class InstanceIdRule:
    """Rule that one connection keeps one client instance id (KIP-1313, "Proposed Changes"); do not show it SaslHandshake."""

    __slots__ = ("instance_id", "state")

    def __init__(self) -> None:
        self.state = INSTANCE_ID.start
        self.instance_id: Uuid | None = None

    def see(self, header_version: int, instance_id: bytes) -> str | None:
        """Take a request header; return why a broker answers INVALID_REQUEST (42). A refused request changes nothing."""
        before = self.state
        event = self._event(header_version, instance_id)
        self.state = INSTANCE_ID.after(before, event)
        if event is InstanceIdEvent.NAMED:
            self.instance_id = Uuid(instance_id)
        if event is InstanceIdEvent.ZERO:
            return "request header 3 has no client instance id"
        if event is InstanceIdEvent.CHANGED:
            return f"the client instance id {Uuid(instance_id)} is not {self.instance_id}, with which the connection began"
        if event is InstanceIdEvent.OLDER_HEADER and before is InstanceIdState.FIXED:
            return f"a request with header {header_version} has no client instance id, and the connection began with {self.instance_id}"
        return None

    def _event(self, header_version: int, instance_id: bytes) -> InstanceIdEvent:
        if header_version < WITH_INSTANCE_ID:
            return InstanceIdEvent.OLDER_HEADER
        if instance_id == ZERO_UUID:
            return InstanceIdEvent.ZERO
        if self.instance_id is None:
            return InstanceIdEvent.NAMED
        return InstanceIdEvent.REPEATED if instance_id == self.instance_id else InstanceIdEvent.CHANGED
