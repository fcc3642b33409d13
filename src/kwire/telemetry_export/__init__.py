"""Receivers of client metrics that leave the process: a file of JSON lines, an OpenTelemetry collector.

Both block: put a `kwire.protocol.telemetry.receivers.QueueingReceiver` before them and drain it outside the thread that handles requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.telemetry_export.json_lines import JsonLinesReceiver, point_line
    from kwire.telemetry_export.otlp_http import ExportFailed, OtlpHttpReceiver

__all__ = ["ExportFailed", "JsonLinesReceiver", "OtlpHttpReceiver", "point_line"]

_HOME = {
    "ExportFailed": "kwire.telemetry_export.otlp_http",
    "JsonLinesReceiver": "kwire.telemetry_export.json_lines",
    "OtlpHttpReceiver": "kwire.telemetry_export.otlp_http",
    "point_line": "kwire.telemetry_export.json_lines",
}

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(globals(), _HOME)
