"""Conversion of pushed metrics (KIP-714) in a binary column to arrays of data points."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.binary_chunks import messages_in
from kwire.errors import WireError
from kwire.json_encoding import encode_json
from kwire.protocol.telemetry.known_metrics import MEASURED, Point, read_points
from kwire.spark.reading_options import ReadingOptions

__all__ = ["MetricArrays"]

_LABELS: Final[Any] = pa.map_(pa.string(), pa.string())
_HIGHEST: Final = (1 << 63) - 1
_FIELDS: Final[dict[str, Any]] = {
    "metric": pa.string(), "unit": pa.string(), "description": pa.string(), "type": pa.string(), "temporality": pa.string(),
    "is_monotonic": pa.bool_(), "value": pa.float64(), "count": pa.int64(), "buckets": pa.string(), "attributes": _LABELS,
    "resource": _LABELS, "start_time_unix_nano": pa.int64(), "time_unix_nano": pa.int64(), "error": pa.string(),
}  # fmt: skip


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else encode_json(value, ascii_only=False, default=_base64)


def _labels(labels: dict[str, Any]) -> list[tuple[str, str]]:
    return [(label, _text(value)) for label, value in labels.items()]


_CONVERSIONS: Final[dict[str, Any]] = {"value": float, "buckets": _text, "attributes": _labels, "resource": _labels}


def _column(name: str, values: list[Any]) -> Any:
    """Return a field of points: texts as labels, JSON buckets, numbers capped at the highest signed one."""
    kind = _FIELDS[name]
    if kind == pa.int64():
        return pc.min_element_wise(pa.array(values, pa.uint64()), pa.scalar(_HIGHEST, pa.uint64()), skip_nulls=False).cast(kind)
    convert = _CONVERSIONS.get(name)
    return pa.array(values if convert is None else [None if each is None else convert(each) for each in values], kind)


def _distinct(values: list[Any]) -> tuple[list[Any], Any]:
    """Return the different objects among values, and the index of each value in them."""
    places = [*map(id, values)]
    found = dict(zip(places, values, strict=True))
    return list(found.values()), pa.array(places, pa.uint64()).dictionary_encode().indices


class MetricArrays:
    """Mapping of the `metrics` of PushTelemetry requests to points; an unreadable payload is one element of nulls with an `error`."""

    takes = 2
    type = pa.list_(pa.struct(list(_FIELDS.items())))

    def __init__(self, options: ReadingOptions | None = None) -> None:
        self.options = options or ReadingOptions()

    def __call__(self, payloads: Any, compressions: Any) -> Any:
        """Return the points of payloads, given their compression types; a null in either gives a null."""
        points: list[Point] = []
        ends: list[Any] = [0]
        for row, (data, compression) in enumerate(zip(messages_in(payloads), compressions.to_pylist(), strict=True)):
            if data is None or compression is None:
                ends[-1:] = [None, len(points)]
                continue
            try:
                points += read_points(data, compression)
            except WireError as error:
                self.options.refuse(error, row)
                points.append(({"error": str(error)}, None, None, None, None))
            ends.append(len(points))
        columns = {name: _column(name, [point[place] for point in points]) for place, name in enumerate(MEASURED, 2)}
        resources, index = _distinct([point[1] for point in points])
        columns["resource"] = _column("resource", resources).take(index)
        first, index = _distinct([point[0] for point in points])
        for name in _FIELDS.keys() - columns.keys():
            columns[name] = _column(name, [each.get(name) for each in first]).take(index)
        structs: Any = pa.StructArray.from_arrays([columns[name] for name in _FIELDS], fields=list(self.type.value_type))
        places: Any = pa.array(ends, pa.int32())
        return pa.ListArray.from_arrays(places, structs, type=self.type)
