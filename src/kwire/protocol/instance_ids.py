"""Client instance ids: creation, and the rule that a connection keeps its id (KIP-714, KIP-1313).

If the first request has request header 3, it names the id, and every later request except SaslHandshake repeats it. The proposal does not
cover connections that begin with an older header; here they may name an id later and must keep it from then on.
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

    Without `hyphens` its text contains no hyphen, as in Kafka from 2026 on (apache/kafka#21313). Otherwise only a leading hyphen is
    avoided, because a command line would read it as an option.
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
    """Rule that one connection keeps one client instance id (KIP-1313, "Proposed Changes"); do not call it for SaslHandshake."""

    __slots__ = ("instance_id",)

    def __init__(self) -> None:
        self.instance_id: Uuid | None = None

    def see(self, header_version: int, instance_id: bytes) -> str | None:
        """Check a request header; return the reason for INVALID_REQUEST (42), or None. A rejected request changes nothing."""
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
