"""Taps of a proxy's connections (a capture, a request log, or both), and the proxy's files."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Protocol

from kwire.capture.exported_packets import PCAPNG_HEAD
from kwire.codec.impl import load_native
from kwire.protocol.events import Direction
from kwire.protocol.relay import Buffer
from kwire.proxy.logged_connection import LoggedConnection
from kwire.proxy.rules.rule import Peer
from kwire.proxy.tap_file import TapFile
from kwire.proxy.tapped_connection import TappedConnection as PureTappedConnection

if TYPE_CHECKING:
    from kwire.proxy.config import FilesConfig, ProxyConfig

__all__ = ["TappedConnection", "Tapped", "Taps"]


def _choose() -> type[PureTappedConnection]:
    native = load_native("proxy", "tapped_connection", "proxy tap") if sys.platform == "linux" else None
    return PureTappedConnection if native is None else native.TappedConnection


TappedConnection: Final[type[PureTappedConnection]] = _choose()
_MOST_QUEUED: Final = 16 << 20  # the loop keeps the memory, for new pages cost more than copying


class Tapped(Protocol):
    """Observer of one connection. Times are nanoseconds since 1970 UTC."""

    def from_client(self, data: Buffer, time_ns: int) -> None: ...
    def to_client(self, pieces: Iterable[Buffer], time_ns: int) -> None: ...
    def missed(self, direction: Direction, count: int, time_ns: int) -> None: ...
    def closed(self, time_ns: int) -> None: ...


class _Both:
    def __init__(self, each: tuple[Tapped, Tapped]) -> None:
        self._each = each

    def from_client(self, data: Buffer, time_ns: int) -> None:
        for one in self._each:
            one.from_client(data, time_ns)

    def to_client(self, pieces: Iterable[Buffer], time_ns: int) -> None:
        given = list(pieces)
        for one in self._each:
            one.to_client(given, time_ns)

    def missed(self, direction: Direction, count: int, time_ns: int) -> None:
        for one in self._each:
            one.missed(direction, count, time_ns)

    def closed(self, time_ns: int) -> None:
        for one in self._each:
            one.closed(time_ns)


class Taps:
    """Files of a proxy; `missed_bytes` counts bytes of the native loop that arrived faster than they could be blanked."""

    def __init__(self, config: ProxyConfig) -> None:
        self._config = config
        self._number = itertools.count()
        self.capture = self.request_log = self.telemetry = self.audit = None
        self.missed_bytes = 0
        try:
            if config.tap is not None:
                self.capture = _file(config.tap, "tap", PCAPNG_HEAD)
            if config.request_log is not None:
                self.request_log = _file(config.request_log, "request log", b"")
            if config.telemetry is not None:
                self.telemetry = _file(config.telemetry, "telemetry", b"")
            if config.audit is not None:
                self.audit = _file(config.audit, "audit log", b"")
        except BaseException:  # also Ctrl-C: files that are open are closed, and the fault goes on
            self.close()
            raise

    def connected(self, peer: Peer, local: tuple[str, int]) -> Tapped | None:
        packets = lines = None
        if self.capture is not None and self._config.tap is not None:
            packets = TappedConnection(self.capture, peer, local, self._config.tap.snaplen, time.time_ns())
        if self.request_log is not None and self._config.request_log is not None:
            lines = LoggedConnection(self.request_log, peer, local, next(self._number), self._config.request_log.snaplen)
        return (packets or lines) if packets is None or lines is None else _Both((packets, lines))

    @property
    def max_queued(self) -> int:
        """Limit of bytes of the native loop's connections that wait for observation; 0 without a tap."""
        asked = [each.max_queued for each in (self._config.tap, self._config.request_log) if each is not None]
        return min(max(asked, default=0), _MOST_QUEUED)

    def close(self) -> None:
        for file in (self.capture, self.request_log, self.telemetry, self.audit):
            if file is not None:
                file.close()


def _file(config: FilesConfig, name: str, head: bytes) -> TapFile:
    sizes = {"max_bytes": config.max_bytes, "max_files": config.max_files, "max_queued": config.max_queued}
    return TapFile(config.file, head=head, name=name, **sizes)
