"""Conversion of pushed metrics (KIP-714) in a binary column to arrays of data points."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

import pyarrow as pa

from kwire.codec.binary_chunks import messages_in
from kwire.errors import WireError
from kwire.json_encoding import encode_json
from kwire.protocol.telemetry.metric_points import decode_metrics
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
    return encode_json(value, ascii_only=False, default=_base64)


def _point(point: dict[str, Any]) -> dict[str, Any]:
    """Convert a point for Arrow: texts as labels, JSON buckets, numbers capped at the highest signed one."""
    told = {name: point[name] for name in _FIELDS if name in point}
    for name in ("attributes", "resource"):
        told[name] = [(label, value if isinstance(value, str) else _text(value)) for label, value in point[name].items()]
    for name in ("count", "start_time_unix_nano", "time_unix_nano"):
        told[name] = None if point[name] is None else min(point[name], _HIGHEST)
    told["value"] = None if point["value"] is None else float(point["value"])
    told["buckets"] = None if point["buckets"] is None else _text(point["buckets"])
    return told


class MetricArrays:
    """Mapping of the `metrics` of PushTelemetry requests to points; an unreadable payload is one element of nulls with an `error`."""

    takes = 2
    type = pa.list_(pa.struct(list(_FIELDS.items())))

    def __init__(self, options: ReadingOptions | None = None) -> None:
        self.options = options or ReadingOptions()

    def __call__(self, payloads: Any, compressions: Any) -> Any:
        """Return the points of payloads, given their compression types; a null in either gives a null."""
        rows: list[list[dict[str, Any]] | None] = []
        for data, compression in zip(messages_in(payloads), compressions.to_pylist(), strict=True):
            if data is None or compression is None:
                rows.append(None)
                continue
            try:
                rows.append([_point(point) for point in decode_metrics(data, compression)])
            except WireError as error:
                self.options.refuse(error, len(rows))
                rows.append([{"error": str(error)}])
        return pa.array(rows, self.type)
