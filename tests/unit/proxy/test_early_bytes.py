"""What a client sends before its broker is reached comes first, and what it sends while the broker is reached comes behind it."""

from __future__ import annotations

import asyncio

import pytest

from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.loop_asyncio import ClientSide, Side
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.rule import Peer
from proxied_frames import heartbeat


class PlayedTransport(asyncio.Transport):
    """A transport that keeps what is written and says what it was told."""

    def __init__(self) -> None:
        super().__init__({"peername": ("10.0.0.9", 50_000), "sockname": ("10.0.0.1", 9092)})
        self.paused = False
        self.written = b""
        self.said: list[str] = []

    def pause_reading(self) -> None:
        self.paused = True
        self.said.append("pause")

    def resume_reading(self) -> None:
        self.paused = False
        self.said.append("resume")

    def is_reading(self) -> bool:
        return not self.paused

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: object) -> None:
        self.written += bytes(data)  # type: ignore[call-overload]

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.said.append("end")

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        self.said.append("close")


class Played:
    """A client that has just connected, and what its broker gets once it is reached."""

    first_frame_seconds = 60.0

    def __init__(self) -> None:
        self.received = memoryview(bytearray(1 << 18))
        self.leaving: set[Side] = set()
        self.endings: list[str] = []
        self.opening: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self.side = ClientSide(self, lambda: None)
        self.client, self.broker = PlayedTransport(), PlayedTransport()
        self.side.connection_made(self.client)

    def made(self, side: ClientSide, local: tuple[str, int]) -> ProxiedConnection:
        return ProxiedConnection(RuleSet([IdentityRule()]), Peer("10.0.0.9", 50_000, 1), max_frame=1 << 20, max_held=1 << 20)

    def connect(self, side: ClientSide) -> asyncio.Future[object]:
        return self.opening

    def closed(self, side: ClientSide, ending: str, reason: str) -> None:
        self.endings.append(ending)

    def sends(self, data: bytes) -> None:
        self.side.get_buffer(-1)[: len(data)] = data
        self.side.buffer_updated(len(data))

    async def reached(self) -> None:
        """The loop says so to whoever opened the connection one round after it said so to the protocol."""
        self.opening.set_result(None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)


SENT = heartbeat(1) + heartbeat(2)


@pytest.mark.parametrize("first", [1, 4, 7, len(heartbeat(1)), len(SENT) - 1])
@pytest.mark.parametrize("ends", [False, True])
def test_bytes_come_in_their_order(first: int, ends: bool) -> None:
    async def play() -> Played:
        played = Played()
        played.sends(SENT[:first])
        played.side.broker.connection_made(played.broker)
        played.sends(SENT[first:])
        if ends:
            played.side.eof_received()
        assert played.broker.written == b""
        await played.reached()
        played.side.over("stopped")
        return played

    played = asyncio.run(play())
    assert played.broker.written == SENT
    assert played.broker.said == ["end"] * ends + ["close"]


def test_a_client_is_not_read_before_its_broker_is_reached() -> None:
    """Python 3.10 and 3.11.2 have read a first time all the same: its pause is made to be one."""

    async def play() -> Played:
        played = Played()
        played.sends(SENT[:7])
        played.side.broker.connection_made(played.broker)
        assert played.client.said == ["pause", "resume", "pause"]
        await played.reached()
        played.side.over("stopped")
        return played

    assert asyncio.run(play()).client.said == ["pause", "resume", "pause", "resume", "close"]


def test_a_fault_in_what_came_early_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """As asyncio ends it for one in what comes later, and tells whoever listens to the loop."""

    def faulty(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(ProxiedConnection, "from_client", faulty)
    told: list[str] = []

    async def play() -> Played:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(str(context["exception"])))
        played = Played()
        played.sends(SENT)
        played.side.broker.connection_made(played.broker)
        await played.reached()
        return played

    played = asyncio.run(play())
    assert told == ["a fault"]
    assert played.endings == ["client_broke"]
    assert played.client.said[-1] == played.broker.said[-1] == "close"


def test_ends_read_into_one_buffer() -> None:
    """Each had one of 256 KB, kept for as long as large reads came; the bytes of one are sent on before the other reads."""
    answered = bytes.fromhex("00000006 00000001 0000")

    async def play() -> Played:
        played = Played()
        played.side.broker.connection_made(played.broker)
        await played.reached()
        played.sends(SENT)
        broker = played.side.broker
        assert broker.get_buffer(-1) is played.side.get_buffer(-1) is played.received
        broker.get_buffer(-1)[: len(answered)] = answered
        broker.buffer_updated(len(answered))
        played.side.over("stopped")
        return played

    played = asyncio.run(play())
    assert (bytes(played.broker.written), bytes(played.client.written)) == (SENT, answered)
