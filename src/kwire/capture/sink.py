"""What the floor above offers to take the streams of TCP connections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kwire.capture.secrets_blocks import SecretsBlock
    from kwire.capture.tcp import TcpConnection

__all__ = ["StreamSink", "give_secrets"]


class StreamSink(Protocol):
    """Takes events of all connections of a piece, in the order of their packets.

    `direction` is 0 for bytes from endpoint a to b, 1 for b to a; which of them is the server is for the taker to find out. Times are
    nanoseconds since 1970, UTC; `packet` counts from 1 in the file. What has to outlive the piece belongs into `connection.attachment`,
    which must pickle.

    The compiled reassembly calls these methods too. A sink that has a compiled one (`kwire.capture._native.sink.StreamSink`) as
    `stream_sink` lets it take the events instead, without a Python object for each.
    """

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        """The first packet of a connection was seen; may set `connection.attachment`, or `connection.ignored` to hear no more of it."""

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        """The next bytes of a direction."""

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        """`count` bytes at this place of a direction are missing: cut by snaplen, or a gap."""

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        """A direction ended, by FIN or by RST; after a RST bytes may still come that were on their way."""

    def ended(self, connection: TcpConnection) -> None:
        """Nothing more will come of this connection: it was closed a while ago, its ports are used again, or the series is over."""


def give_secrets(sink: StreamSink, secrets: Iterable[SecretsBlock]) -> None:
    """Give the Decryption Secrets Blocks of a capture to a sink that reads TLS."""
    take = getattr(sink, "take_secrets", None)
    if take is not None:
        for block in secrets:
            take(block)
