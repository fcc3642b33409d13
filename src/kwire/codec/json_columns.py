"""Kafka's own JSON of many messages, as a column of texts with no object for a message or a field."""

from __future__ import annotations

from typing import Any, Final, Literal

import pyarrow as pa

from kwire.codec.binary_chunks import BinaryChunk
from kwire.codec.classes import CompiledCatalog
from kwire.codec.column_nodes import IMPORT_BATCH
from kwire.codec.impl import load_twin

__all__ = ["JsonColumns"]

_SCHEMA: Final = pa.schema([("json", pa.string())])


class JsonColumns:
    """Writes the requests or responses of a catalog as JSON.

    Arguments:
        source: the compiled catalog.
        kind: which of the two.
    """

    def __init__(self, source: CompiledCatalog, kind: Literal["request", "response"]) -> None:
        self._source = source
        self._kind = kind
        self._writer = load_twin("codec", "json_columns", source.twin).JsonWriter(self._decoder_of)

    def _decoder_of(self, api_key: int, api_version: int) -> Any:
        found = self._source.catalog.request(api_key) if self._kind == "request" else self._source.catalog.response(api_key)
        if found is None or api_version not in found.valid_versions:
            return None
        return self._source.decoder(found.name, api_version)

    def texts(self, bodies: BinaryChunk, api_keys: Any, api_versions: Any) -> tuple[Any, list[int]]:
        """The JSON of bodies without their headers.

        Arguments:
            bodies: of a binary array.
            api_keys, api_versions: of each body, int16 buffers.

        Returns:
            An Arrow array with the text that `kwire.codec.json_text` gives, null for a null; and which bodies are not written and null too:
            they break a rule, no version is known that they are in, or their tagged fields come in an order that Kafka never writes.

        Raises:
            KwireError: the texts take more than 2 GiB.
            ValueError: buffers do not fit the array.
        """
        batch, left = self._writer.write(bodies, api_keys, api_versions, _SCHEMA, IMPORT_BATCH)
        return batch.column(0), left
