"""Conversion of structs of header fields and body to request frames, the reverse of `kwire.spark.frame_structs`."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.classes import compiled, message_class
from kwire.codec.encoding import encode_request
from kwire.codec.json_reading import from_json
from kwire.codec.layout import attribute_of, layouts_of
from kwire.errors import InputError, KwireError
from kwire.schema import catalog

__all__ = ["RequestFrames"]

_NEEDED: Final = ("api_key", "api_version", "body")


def _objects(name: str, struct: str, version: int, array: Any) -> list[Any]:
    """Return objects of a struct of a message; fields that the array lacks have their defaults, and those of other versions too."""
    if pa.types.is_null(array.type):
        return [None] * len(array)
    message = catalog()[name]
    make = dict(zip((layout.name for layout in layouts_of(message)), compiled().classes(name), strict=True))[struct]
    fields = {attribute_of(message, field): field for field in message.structs[struct].fields if version in field.versions}
    held = [field.name for field in array.type if field.name in fields]
    columns = [_values(name, fields[attribute], version, array.field(attribute)) for attribute in held]
    made = [make() for _ in range(len(array))]
    for attribute, values in zip(held, columns, strict=True):  # half the time of calls with names
        for each, value in zip(made, values, strict=True):
            setattr(each, attribute, value)
    return [each if valid else None for each, valid in zip(made, array.is_valid().to_pylist(), strict=True)] if array.null_count else made


def _values(name: str, field: Any, version: int, array: Any) -> list[Any]:
    if not field.is_struct or pa.types.is_null(array.type):
        found: list[Any] = array.to_pylist()
        return found
    if not field.is_array:
        return _objects(name, field.element_type, version, array)
    elements = iter(_objects(name, field.element_type, version, array.flatten()))
    return [None if count is None else list(islice(elements, count)) for count in array.value_lengths().to_pylist()]


class RequestFrames:
    """Mapping of structs to frames; a null, and a null body, give a null."""

    takes = 1
    type = pa.binary()

    def __call__(self, structs: Any) -> Any:
        """Return the frames of an array of structs with typed bodies, or with the JSON of Kafka's converters."""
        names = [field.name for field in structs.type] if pa.types.is_struct(structs.type) else []
        if missing := [name for name in _NEEDED if name not in names]:
            raise InputError(f"to_kafka_request takes a struct with {', '.join(_NEEDED)}; it lacks {', '.join(missing)}.")
        given = np.asarray(pc.and_(structs.is_valid(), structs.field("body").is_valid()))
        keys, versions = (np.asarray(structs.field(name).cast(pa.int16()).fill_null(-1)) for name in _NEEDED[:2])
        frames: list[bytes | None] = [None] * len(structs)
        for key, version in sorted(set(zip(keys[given].tolist(), versions[given].tolist(), strict=True))):
            rows = np.flatnonzero(given & (keys == key) & (versions == version))
            self._write(key, version, rows.tolist(), structs.take(pa.array(rows)), frames)
        return pa.array(frames, self.type)

    def _write(self, key: int, version: int, rows: list[int], structs: Any, frames: list[bytes | None]) -> None:
        message = catalog().request(key)
        if message is None or version not in message.valid_versions:
            raise InputError(f"to_kafka_request knows no request with API key {key} and version {version}.")
        bodies = structs.field("body")
        texts = not pa.types.is_struct(bodies.type)
        objects = bodies.to_pylist() if texts else _objects(message.name, message.name, version, bodies)
        header = message_class("RequestHeader")(api_key=key, api_version=version)
        held = {field.name for field in structs.type}
        ids = structs.field("correlation_id").cast(pa.int32()).fill_null(0).to_pylist() if "correlation_id" in held else [0] * len(rows)
        clients = structs.field("client_id").to_pylist() if "client_id" in held else [None] * len(rows)
        for row, body, header.correlation_id, header.client_id in zip(rows, objects, ids, clients, strict=True):
            try:
                frames[row] = encode_request(header, from_json(message.name, json.loads(body), version) if texts else body)
            except KwireError as error:
                error.add_note(f"in row {row} of the batch")
                raise
