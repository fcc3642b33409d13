"""Client instance ids: creation, and the rule that a connection keeps one (KIP-714, KIP-1313).

A connection whose first request has request header 3 names the id there, and every later request but SaslHandshake repeats it. Decision
where the proposal is silent: a connection that begins with an older header may name an id later, and must keep it from then on.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from kwire.codec.uuids import ZERO_UUID, Uuid

__all__ = ["WITH_INSTANCE_ID", "InstanceIdRule", "new_instance_id"]

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


class InstanceIdRule:
    """Rule that one connection keeps one client instance id (KIP-1313, "Proposed Changes"); do not show it SaslHandshake."""

    __slots__ = ("instance_id",)

    def __init__(self) -> None:
        self.instance_id: Uuid | None = None

    def see(self, header_version: int, instance_id: bytes) -> str | None:
        """Take a request header; return why a broker answers INVALID_REQUEST (42). A refused request changes nothing."""
        if header_version < WITH_INSTANCE_ID:
            if self.instance_id is None:
                return None
            return f"a request with header {header_version} has no client instance id, and the connection began with {self.instance_id}"
        if instance_id == ZERO_UUID:
            return "request header 3 has no client instance id"
        if self.instance_id is None:
            self.instance_id = Uuid(instance_id)
        elif instance_id != self.instance_id:
            return f"the client instance id {Uuid(instance_id)} is not {self.instance_id}, with which the connection began"
        return None
