"""JSON (as Kafka's JsonConverter writes it) of the messages in a binary column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwire.codec.json_text import json_text
from kwire.errors import WireError

__all__ = ["JsonWriter"]


class JsonWriter:
    """Writer of messages as JSON; `decoder_of(api_key, api_version)` returns the `Decoder` or None."""

    def __init__(self, decoder_of: Callable[[int, int], Any]) -> None:
        self._decoder_of = decoder_of

    def write(self, chunk: Any, keys: Any, versions: Any, schema: Any, importer: Any) -> tuple[Any, list[int]]:
        """Write the messages of a `BinaryChunk`; `keys` and `versions` are int16 buffers.

        Returns a batch with a text for each message and the indexes of those that are malformed (the native backend adds unusual ones).
        """
        import pyarrow as pa

        from kwire.codec.binary_chunks import messages_of

        texts: list[str | None] = []
        left: list[int] = []
        key_view, version_view = (memoryview(each).cast("B").cast("h") for each in (keys, versions))
        if min(len(key_view), len(version_view)) < chunk.length:
            raise ValueError("there are fewer api keys or versions than messages")
        for row, message in enumerate(messages_of(chunk)):
            text = None
            if message is not None:
                text = self._text(message, key_view[row], version_view[row])
                if text is None:
                    left.append(row)
            texts.append(text)
        return pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], schema=schema), left

    def _text(self, message: Any, key: int, version: int) -> str | None:
        decoder = self._decoder_of(key, version)
        try:
            return None if decoder is None else json_text(decoder.decode_whole(message), version)
        except WireError:
            return None
