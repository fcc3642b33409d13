"""Conversion of pushed metrics (KIP-714) in a binary column to arrays of data points."""

from __future__ import annotations

from base64 import b64encode
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.binary_chunks import messages_in
from kwire.errors import WireError
from kwire.json_encoding import encode_json
from kwire.protocol.telemetry.known_metrics import MEASURED, Points, read_points
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
    found = {id(each): each for each in values}
    numbers = {place: number for number, place in enumerate(found)}
    return list(found.values()), np.fromiter((numbers[id(each)] for each in values), np.int64, len(values))


def _spread(lengths: Any, index: Any) -> Any:
    """Return the places of elements of lists that follow one another, for the lists at `index`."""
    counts = lengths[index]
    begins = (np.cumsum(lengths) - lengths)[index] - (np.cumsum(counts) - counts)
    return np.repeat(begins, counts) + np.arange(counts.sum())


class MetricArrays:
    """Mapping of the `metrics` of PushTelemetry requests to points; an unreadable payload is one element of nulls with an `error`."""

    takes = 2
    type = pa.list_(pa.struct(list(_FIELDS.items())))

    def __init__(self, options: ReadingOptions | None = None) -> None:
        self.options = options or ReadingOptions()

    def __call__(self, payloads: Any, compressions: Any) -> Any:
        """Return the points of payloads, given their compression types; a null in either gives a null."""
        found: list[Points] = []
        ends: list[Any] = [0]
        count = 0
        for row, (data, compression) in enumerate(zip(messages_in(payloads), compressions.to_pylist(), strict=True)):
            if data is None or compression is None:
                ends[-1:] = [None, count]
                continue
            try:
                read = read_points(data, compression)
            except WireError as error:
                self.options.refuse(error, row)
                read = [Points([{"error": str(error)}], None, [None], [None], [None])]
            found += read
            count += sum(len(each.first) for each in read)
            ends.append(count)
        measured: Any = ([each.start_times for each in found], [each.times for each in found], [each.values for each in found])
        columns = {name: _column(name, [*chain.from_iterable(each)]) for name, each in zip(MEASURED, measured, strict=True)}
        firsts, index = _distinct([each.first for each in found])
        resources, of_resources = _distinct([each.resource for each in found])
        lengths = np.array([*map(len, firsts)], np.int64)
        columns["resource"] = _column("resource", resources).take(pa.array(np.repeat(of_resources, lengths[index])))
        points = [point for first in firsts for point in first]
        places = pa.array(_spread(lengths, index))
        for name in _FIELDS.keys() - columns.keys():
            columns[name] = _column(name, [each.get(name) for each in points]).take(places)
        structs: Any = pa.StructArray.from_arrays([columns[name] for name in _FIELDS], fields=list(self.type.value_type))
        offsets: Any = pa.array(ends, pa.int32())
        return pa.ListArray.from_arrays(offsets, structs, type=self.type)
