"""Receivers that export client metrics: to a file of JSON lines, or to an OpenTelemetry collector.

Both block, so put a `kwire.protocol.telemetry.receivers.QueueingReceiver` in front of them and drain it in another thread than the one that
handles requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.telemetry_export.json_lines import JsonLinesReceiver, point_line
    from kwire.telemetry_export.otlp_http import ExportFailed, OtlpHttpReceiver

__all__ = ["ExportFailed", "JsonLinesReceiver", "OtlpHttpReceiver", "point_line"]

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(globals(), json_lines="JsonLinesReceiver point_line", otlp_http="ExportFailed OtlpHttpReceiver")
