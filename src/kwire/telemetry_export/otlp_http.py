"""Receiver that forwards metrics to an OpenTelemetry collector over OTLP/HTTP: a client's push is already such a request, except for the
labels."""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Mapping
from urllib.parse import urlsplit

from kwire.errors import InputError, KwireError
from kwire.protocol.telemetry.otlp import with_resource_labels
from kwire.protocol.telemetry.receivers import MetricsPayload, PushContext

__all__ = ["ExportFailed", "OtlpHttpReceiver"]

_RETRYABLE = (429, 502, 503, 504)  # OTLP/HTTP, "Failures"
_PATH = "/v1/metrics"


class ExportFailed(KwireError):
    """A collector did not accept a payload.

    Attributes:
        status: HTTP status of its answer, None without an answer.
        retryable: whether the same payload may be accepted later.
    """

    def __init__(self, why: str, status: int | None, retryable: bool) -> None:
        super().__init__(why)
        self.status = status
        self.retryable = retryable


class OtlpHttpReceiver:
    """Receiver that posts each payload to a collector, in protobuf.

    Args:
        endpoint: URL such as `http://localhost:4318`; the default path is `/v1/metrics`, as in OpenTelemetry's exporters.
        headers: further HTTP headers, such as `Authorization`; they are never shown.
        timeout_s: seconds for the connection and for the answer.
        compress: with gzip.

    Raises:
        InputError: the endpoint is not an http or https address.
    """

    def __init__(self, endpoint: str, *, headers: Mapping[str, str] | None = None, timeout_s: float = 10.0, compress: bool = True) -> None:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{parts.scheme or 'this'}://... is not the address of a collector: http://HOST:4318 is one.")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port or (443 if self._secure else 80)
        self._path = parts.path if parts.path not in ("", "/") else _PATH
        self._headers = {"Content-Type": "application/x-protobuf", **({"Content-Encoding": "gzip"} if compress else {}), **(headers or {})}
        self._timeout_s = timeout_s
        self._compress = compress

    def __repr__(self) -> str:
        return f"OtlpHttpReceiver({self._host}:{self._port}{self._path})"

    def export(self, context: PushContext, payload: MetricsPayload) -> None:
        """Send a payload with the receiver's labels and wait for the answer.

        Raises:
            WireError: the payload is not OTLP metrics.
            ExportFailed: the collector cannot be reached or rejected the payload.
        """
        body = with_resource_labels(payload.data, payload.labels)
        if self._compress:
            body = gzip.compress(body, mtime=0)
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout_s)
        try:
            connection.request("POST", self._path, body, self._headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise ExportFailed(f"{self!r}: {error}", None, True) from error
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise ExportFailed(f"{self!r} answered {answer.status} {answer.reason}", answer.status, answer.status in _RETRYABLE)
