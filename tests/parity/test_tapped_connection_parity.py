"""The twins of a proxy's tap write the same packets, at every call: connections cut into any pieces, with holes, SASL and bytes that are no
frames."""

from __future__ import annotations

import logging
import random
import sys
from collections.abc import Iterator
from typing import Any, Final

import pytest

from kafka_bytes import Frames, framed
from kwire.codec.impl import load_twin
from kwire.protocol.tracking.pairing import MAX_WAITING
from kwire.proxy.rules.rule import Peer
from kwire.proxy.tapped_connection import TappedConnection

if sys.platform != "linux":
    pytest.skip("the native loop, whose tap this is, is Linux's", allow_module_level=True)

Native: Final = load_twin("proxy", "tapped_connection", "native").TappedConnection
PEER: Final = Peer("10.0.0.9", 50_000, 1)
SNAPLENS: Final = (0, 3, 40, 65_536)
CONVERSATIONS: Final = 60
NOW: Final = 1_700_000_000_123_456_789  # nanoseconds


class Offered(list[bytes]):
    def offer(self, packets: bytes) -> bool:
        self.append(packets)
        return True


def text(value: bytes) -> bytes:
    return len(value).to_bytes(2, "big") + value


def sasl(version: int, number: int) -> tuple[bytes, bytes]:
    """SaslHandshake for PLAIN with its response, then a token: raw behind version 0, in SaslAuthenticate behind version 1."""
    ids = number.to_bytes(4, "big"), (number + 1).to_bytes(4, "big")
    asked = framed(b"\0\x11" + version.to_bytes(2, "big") + ids[0] + text(b"shop") + text(b"PLAIN"))
    answered = framed(ids[0] + b"\0\0\0\0\0\1" + text(b"PLAIN"))
    token = b"\0alice\0secret"
    if version == 0:
        return asked + framed(token), answered + framed(b"")
    asked += framed(bytes.fromhex("0024 0001") + ids[1] + text(b"shop") + framed(token))
    return asked, answered + framed(ids[1] + bytes(2) + b"\xff\xff" + framed(b"") + bytes(8))


def conversation(frames: Frames, chance: random.Random) -> list[tuple[bytes, bytes]]:
    made = [sasl(chance.randrange(2), 500)] if chance.random() < 0.4 else []
    if chance.random() < 0.2:
        made.insert(0, (b"PROXY TCP4 192.0.2.1 10.0.0.1 40000 9092\r\n", b""))
    for number in range(chance.randrange(1, 12)):
        api, case = chance.choice(frames.apis), chance.randrange(9)
        request, response = (framed(frames.frame(api, kind, case, 1000 + number)) for kind in ("request", "response"))
        luck = chance.random()
        if luck < 0.05:
            request = b"\xff\xff\xff\xff" + request
        elif luck < 0.1:
            response = response[: len(response) // 2]
        elif luck < 0.2:
            response = response[:-1] + b"\xff"
        elif luck < 0.25:
            request = request[:4] + b"\x7f\xff" + request[6:]
        if made and chance.random() < 0.5:  # several in flight
            request, response = made[-1][0] + request, made[-1][1] + response
            made.pop()
        made.append((request, response))
    return made


def calls(frames: Frames, chance: random.Random) -> Iterator[tuple[str, Any]]:
    """What a tap is given, in pieces of any size; some of them are missed."""
    longest = chance.choice((7, 60, 5000))
    for number, pair in enumerate(conversation(frames, chance)):
        for side, data in enumerate(pair):
            while data:
                size = chance.randrange(1, longest + 1)
                piece, data = data[:size], data[size:]
                if number and chance.random() < 0.02:
                    yield "missed", (("request", "response")[side], len(piece))
                elif side == 0:
                    yield "from_client", (piece if chance.random() < 0.5 else bytearray(piece),)
                else:
                    yield "to_client", ([piece[: size // 2], memoryview(piece)[size // 2 :]],)
    yield "closed", ()
    yield "from_client", (b"too late",)


@pytest.mark.parametrize("snaplen", SNAPLENS)
@pytest.mark.parametrize("local", [("10.0.0.1", 9092), ("2001:db8::1", 9092)])
def test_conversations(frames: Frames, snaplen: int, local: tuple[str, int], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    peer = PEER if "." in local[0] else Peer("fe80::2%eth0", 50_000, 1)
    bytes_of_packets = 0
    for seed in range(CONVERSATIONS):
        files = Offered(), Offered()
        twins = [kind(file, peer, local, snaplen, NOW) for kind, file in zip((TappedConnection, Native), files, strict=True)]  # type: ignore[arg-type]
        for step, (name, given) in enumerate(calls(frames, random.Random(seed))):
            for twin in twins:
                getattr(twin, name)(*given, NOW + step)
            # one joins what the other offers piece by piece
            assert b"".join(files[1]) == b"".join(files[0]), (seed, step, name)
        bytes_of_packets += sum(map(len, files[0]))
        assert b"secret" not in b"".join(files[1])
    assert bytes_of_packets > 100_000
    assert not caplog.text, "a fault would end both at once"


def test_a_fault_ends_it_for_that_connection_alone(caplog: pytest.LogCaptureFixture) -> None:
    class Faulty(Offered):
        def offer(self, packets: bytes) -> bool:
            if self:
                raise RuntimeError("a fault")
            return super().offer(packets)

    asked = bytes.fromhex("0000000d 0012 0000 00000007 0003 666f6f")  # ApiVersions v0
    for kind in (TappedConnection, Native):
        caplog.clear()
        one, other = Faulty(), Offered()
        twins = [kind(file, PEER, ("10.0.0.1", 9092), 100, 1) for file in (one, other)]  # type: ignore[arg-type]
        for twin in twins:
            twin.from_client(asked, 2)
            twin.from_client(asked, 3)
            twin.closed(4)
        assert caplog.text.count("the tap stops looking at a connection") == 1
        assert len(one) == 1
        assert asked in b"".join(other)


def test_frames_share_packets_as_long_as_they_fit() -> None:
    """Nine frames of 20,024 bytes in two reads: behind two SYNs, packets with three, two, three and one of them."""
    asked = bytes.fromhex("00004e34 000c 0000 00000007 0001 63 4e20") + b"g" * 20_000 + bytes.fromhex("00000001 0001 6d")
    files = Offered(), Offered()
    for kind, file in zip((TappedConnection, Native), files, strict=True):
        twin = kind(file, PEER, ("10.0.0.1", 9092), 65_536, 1)  # type: ignore[arg-type]
        twin.from_client(asked * 5 + asked[:10_000], 2)
        twin.from_client(asked[10_000:] + asked * 3, 3)
    assert b"".join(files[1]) == b"".join(files[0])
    written = b"".join(files[1])
    assert written.count(asked) == 9
    blocks, at = 0, 0
    while at < len(written):
        at += int.from_bytes(written[at + 4 : at + 8], "little")
        blocks += 1
    assert blocks == 2 + 2 + 2


def test_requests_that_get_no_response() -> None:
    """More Heartbeats than are kept for their responses, some answered out of order, and Produce v3 without a response (acks 0)."""
    silent = framed(bytes.fromhex("0000 0003 00000001 0001 63 ffff 0000 00000001 00000000"))
    files = Offered(), Offered()
    for kind, file in zip((TappedConnection, Native), files, strict=True):
        twin = kind(file, PEER, ("10.0.0.1", 9092), 65_536, 1)  # type: ignore[arg-type]
        for number in range(MAX_WAITING + 100):
            twin.from_client(
                framed(bytes.fromhex("000c 0000") + number.to_bytes(4, "big") + bytes.fromhex("0001 63 0001 67 00000001 0001 6d")), 2
            )
        for number in (MAX_WAITING, MAX_WAITING - 9, 3):
            twin.to_client([framed(number.to_bytes(4, "big") + bytes(2))], 3)
        twin.from_client(silent * 3, 4)
        twin.missed("response", 10, 5)
        twin.to_client([framed((MAX_WAITING + 1).to_bytes(4, "big") + bytes(2))], 6)
    assert b"".join(files[1]) == b"".join(files[0])
    assert b"".join(files[1]).count(silent) == 3


def test_a_frame_longer_than_a_packet() -> None:
    """ApiVersions v0 with 200,000 bytes behind it, which are blanked: three packets of 65,536 bytes, and what is left."""
    asked = (200_009).to_bytes(4, "big") + bytes.fromhex("0012 0000 00000007 0001 63") + b"s" * 199_998
    files = Offered(), Offered()
    for kind, file in zip((TappedConnection, Native), files, strict=True):
        twin = kind(file, PEER, ("10.0.0.1", 9092), 1 << 20, 1)  # type: ignore[arg-type]
        twin.from_client(asked[:70_000], 2)
        twin.from_client(asked[70_000:], 3)
    assert len(b"".join(files[0])) > len(asked)
    assert b"".join(files[1]) == b"".join(files[0])
    assert b"s" * 3 not in b"".join(files[1])
