"""Kafka's own JSON of one message at a time, of the decoded message."""

from __future__ import annotations

from typing import Any

from kwire.codec.json_text import json_text
from kwire.errors import WireError

__all__ = ["MessageJson"]


class MessageJson:
    """Writes messages of one plan.

    Arguments:
        decoder: the twin's `Decoder`.
        records: write record batches as base64; else their size, as a broker's request log does.
    """

    def __init__(self, decoder: Any, *, records: bool = True) -> None:
        self._decoder = decoder
        self._records = records

    def write(self, data: Any, offset: int) -> tuple[bytes, int] | None:
        """Write the message that begins at an offset; bytes may follow it.

        Arguments:
            data: any contiguous buffer.
            offset: where the message begins.

        Returns:
            The text that `kwire.codec.json_text` gives, in UTF-8, and where the message ends; None for a message that breaks a rule. The
            native twin writes none either whose tagged fields come in an order that Kafka never writes.

        Raises:
            ValueError: the offset is outside of the bytes.
        """
        try:
            message, end = self._decoder.decode(data, offset)
        except WireError:
            return None
        return json_text(message, self._decoder.plan.version, records=self._records).encode(), end
