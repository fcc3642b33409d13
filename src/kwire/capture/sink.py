"""Interface of receivers of TCP streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kwire.capture.secrets_blocks import SecretsBlock
    from kwire.capture.tcp import TcpConnection

__all__ = ["StreamSink", "give_secrets"]


class StreamSink(Protocol):
    """Receiver of events of all connections of a file, in packet order.

    `direction` is 0 for bytes from endpoint a to b, 1 for b to a. Times are nanoseconds since 1970, UTC; `packet` counts from 1 in a file.
    State that must outlive the file belongs in `connection.attachment`.

    A sink may have a native `stream_sink` (`kwire.capture._native.sink.StreamSink`), which gets the events without Python objects.
    """

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        """Handle the first packet of a connection; may set `connection.attachment`, or `connection.ignored` to skip its streams."""

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None: ...
    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        """Handle `count` missing bytes of a direction: cut by snaplen, or a gap."""

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        """Handle the end of a direction, by FIN or RST; after a RST late bytes may still arrive."""

    def ended(self, connection: TcpConnection) -> None:
        """Drop a connection: it closed some time ago, its ports are used again, or the series has ended."""


def give_secrets(sink: StreamSink, secrets: Iterable[SecretsBlock]) -> None:
    take = getattr(sink, "take_secrets", None)
    if take is not None:
        for block in secrets:
            take(block)
