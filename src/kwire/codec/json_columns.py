"""Kafka's JSON of many messages as a column of texts, without an object per message or field."""

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
    """JSON writer of a catalog's requests or responses."""

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
        """Return the JSON of bodies (without headers), null for a null, and the indexes of bodies not written, which are null too.

        Not written are malformed messages, unknown versions, and tagged fields in an order that Kafka never writes. `api_keys` and
        `api_versions` are int16 buffers.
        """
        batch, left = self._writer.write(bodies, api_keys, api_versions, _SCHEMA, IMPORT_BATCH)
        return batch.column(0), left
