"""Received metrics as JSON, one data point a line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from kwire.json_encoding import encode_json
from kwire.protocol.telemetry.receivers import MetricsPayload, PushContext

__all__ = ["JsonLinesReceiver", "point_line"]

Clean = Callable[[Iterable[dict[str, Any]]], Iterable[dict[str, Any]]]


def point_line(point: Mapping[str, Any], *, terminating: bool = False) -> str:
    """Return one point as a line of JSON in ASCII; non-finite numbers become texts, as in protobuf's JSON."""
    return encode_json({**point, "terminating": terminating}, default=bytes.hex) + "\n"


def _own(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # client ids and principals are for the owner alone


class JsonLinesReceiver:
    """Receiver that appends the points of each payload, with the receiver's labels, to a file that only its owner can read.

    Args:
        clean: function that changes the points before they are stored, such as `LabelLimit.hold` or `PrivateLabels.clean`.

    A payload is written completely or, if it cannot be read, not at all.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path | str, *, clean: Clean = lambda points: points) -> None:
        self._file = open(path, "a", encoding="ascii", opener=_own)  # noqa: SIM115 (closed by `close`)
        self._clean = clean

    def export(self, context: PushContext, payload: MetricsPayload) -> None:
        """Write the points.

        Raises:
            WireError: the payload is not OTLP metrics.
            OSError: it cannot be written.
        """
        self._file.write("".join(point_line(point, terminating=payload.terminating) for point in self._clean(payload.points())))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> JsonLinesReceiver:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
