"""JSON (as Kafka's JsonConverter writes it) of single messages."""

from __future__ import annotations

from typing import Any

from kwire.codec.json_text import json_text
from kwire.errors import WireError

__all__ = ["MessageJson"]


class MessageJson:
    """JSON writer of one plan; `records` as in `kwire.codec.json_form.to_json`."""

    def __init__(self, decoder: Any, *, records: bool = True) -> None:
        self._decoder = decoder
        self._records = records

    def write(self, data: Any, offset: int) -> tuple[bytes, int] | None:
        """Return the JSON (UTF-8) of the message at an offset and the message's end; None if it is malformed (or, natively, unusual)."""
        try:
            message, end = self._decoder.decode(data, offset)
        except WireError:
            return None
        return json_text(message, self._decoder.plan.version, records=self._records).encode(), end
