"""HTTP endpoint: `/metrics` for Prometheus, `/healthz` and `/readyz` for orchestrators; one request per connection.

`prometheus_client`'s own server limits neither time nor connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kwire.errors import InputError
from kwire.proxy.metrics import CONTENT_TYPE, exposition

if TYPE_CHECKING:
    from prometheus_client.core import Metric

__all__ = ["MetricsEndpoint"]

_SECONDS: Final = 10.0  # for a request to come, and for its answer to be taken
_MOST_HEADER: Final = 16 << 10
_MOST_SCRAPERS: Final = 16


class MetricsEndpoint:
    """Endpoint for scrapes; the loop calls `collect` and `unready`, and another thread formats the metrics."""

    def __init__(self, collect: Callable[[], list[Metric]], unready: Callable[[], Awaitable[str]]) -> None:
        self._collect = collect
        self._unready = unready
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.StreamWriter, None] = {}  # the oldest first

    async def open(self, host: str, port: int, *, reuse_port: bool = False) -> None:
        try:
            self._server = await asyncio.start_server(self._serve, host or None, port, limit=_MOST_HEADER, reuse_port=reuse_port or None)
        except OSError as error:
            raise InputError(f"metrics: {host}:{port} cannot be listened on: {error.strerror or error}") from error

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= _MOST_SCRAPERS:  # those who ask and take their answer are quicker than those who hold a connection
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.transport.abort()
        self._open[writer] = None
        try:
            # asyncio has a TimeoutError of its own before Python 3.11
            with suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await asyncio.wait_for(self._exchange(reader, writer), _SECONDS)
        finally:
            self._open.pop(writer, None)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(await self._answer(head.split(b"\r\n", 1)[0]))
        writer.close()
        await writer.wait_closed()

    async def _answer(self, line: bytes) -> bytes:
        method, _, rest = line.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if method not in (b"GET", b"HEAD"):
            return _response("405 Method Not Allowed", b"only GET\n")
        is_head = method == b"HEAD"
        if path == b"/healthz":
            return _response("200 OK", b"ok\n", is_head=is_head)
        if path == b"/readyz":
            reason = await self._unready()
            status = "503 Service Unavailable" if reason else "200 OK"
            return _response(status, f"{reason or 'ready'}\n".encode(), is_head=is_head)
        if path != b"/metrics":
            return _response("404 Not Found", b"see /metrics, /healthz and /readyz\n")
        body = await asyncio.to_thread(exposition, self._collect())
        return _response("200 OK", body, kind=CONTENT_TYPE, is_head=is_head)


def _response(status: str, body: bytes, *, kind: str = "text/plain", is_head: bool = False) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + (b"" if is_head else body)
