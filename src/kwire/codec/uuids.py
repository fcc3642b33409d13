"""UUIDs as Kafka has them: 16 bytes, written as base64url without padding (`org.apache.kafka.common.Uuid`)."""

from __future__ import annotations

import base64
from typing import Final

__all__ = ["ZERO_UUID", "Uuid"]


class Uuid(bytes):
    """Sixteen bytes with Kafka's text form: 22 characters of base64url. Compares and hashes like `bytes`."""

    __slots__ = ()

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(self).decode()[:22]

    def __repr__(self) -> str:
        return f"Uuid({str(self)!r})"

    @classmethod
    def parse(cls, text: str) -> Uuid:
        """Read a UUID: 22 characters of base64 (either alphabet, padding allowed), or 32 hex digits with or without hyphens.

        Raises:
            ValueError: the text has another form.
        """
        bare = text.strip().rstrip("=")
        if len(bare) == 22:
            return cls(base64.b64decode(bare.replace("-", "+").replace("_", "/") + "==", validate=True))
        import uuid  # it asks the platform many things when it is loaded

        return cls(uuid.UUID(text).bytes)


ZERO_UUID: Final = Uuid(16)
