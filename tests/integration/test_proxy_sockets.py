"""The proxy's sockets, with a broker that a test plays: pieces, half-close, slow readers, limits, and an end in good order."""

from __future__ import annotations

import asyncio
import random
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kwire
from kwire import messages, tables
from kwire.errors import InputError
from kwire.proxy.config import TapConfig
from kwire.proxy.loop_native import WorkerCalls
from kwire.proxy.server import ProxyServer
from proxied_frames import HEARTBEAT, answer, echo, frames, heartbeat
from proxied_sockets import OPEN, connect, proxied, serving

pytestmark = pytest.mark.usefixtures("secured")


def test_bytes_in_random_pieces_and_a_half_close() -> None:
    random_ = random.Random(5)
    sizes = [random_.choice((0, 5, 900, 70_000)) for _ in range(200)]
    asked = b"".join(heartbeat(number, size) for number, size in enumerate(sizes))
    expected = b"".join(answer(number, len(HEARTBEAT) + size) for number, size in enumerate(sizes))

    async def go() -> bytes:
        async with proxied(echo) as server:
            reader, writer = await connect(server)
            reading = asyncio.ensure_future(reader.read(-1))
            at = 0
            while at < len(asked):
                size = random_.randint(1, 20_000)
                writer.write(asked[at : at + size])
                at += size
                await writer.drain()
            writer.write_eof()  # the answers that are owed still come
            return await asyncio.wait_for(reading, 30)

    assert asyncio.run(go()) == expected


def test_frames_that_rules_change_in_random_pieces_of_both_directions() -> None:
    """Metadata v9 and ApiVersions v3 are changed, Heartbeats pass; with three threads, whose rules are the same."""
    kinds = random.Random(6).choices((3, 18, 12), k=300)
    broker = messages.MetadataResponse.MetadataResponseBroker(node_id=1, host="kafka-1", port=9092)
    node = messages.MetadataResponse.MetadataResponseBroker(node_id=1, host="proxy.example.com", port=19092)
    ranges = messages.ApiVersionsResponse.ApiVersion

    def asked(number: int) -> bytes:
        key = kinds[number]
        if key == 12:
            return heartbeat(number, number * 7)
        header = messages.RequestHeader(api_key=key, api_version=9 if key == 3 else 3, correlation_id=number, client_id="shop")
        body = (
            messages.MetadataRequest()
            if key == 3
            else messages.ApiVersionsRequest(client_software_name="sarama", client_software_version="1.45")
        )
        frame = kwire.encode_request(header, body)
        return len(frame).to_bytes(4, "big") + frame

    def answered(number: int, broker: Any, fetch: int) -> bytes:
        key = kinds[number]
        if key == 12:
            return answer(number, number * 5)
        body: Any = messages.MetadataResponse(brokers=[broker], controller_id=1)
        if key == 18:
            body = messages.ApiVersionsResponse(api_keys=[ranges(api_key=1, min_version=4, max_version=fetch)])
        frame = kwire.encode_response(number, body, key, 9 if key == 3 else 3)
        return len(frame).to_bytes(4, "big") + frame

    async def in_pieces(writer: asyncio.StreamWriter, data: bytes, seed: int) -> None:
        random_, at = random.Random(seed), 0
        while at < len(data):
            size = random_.choice((1, 3, 40, 5000))
            writer.write(data[at : at + size])
            at += size
            await asyncio.sleep(0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for frame in frames(reader):
            number = int.from_bytes(frame[4:8], "big")
            await in_pieces(writer, answered(number, broker, 18), number)
        writer.close()

    async def client(server: ProxyServer, seed: int) -> bytes:
        reader, writer = await connect(server)
        reading = asyncio.ensure_future(reader.read(-1))
        await in_pieces(writer, b"".join(map(asked, range(len(kinds)))), seed)
        writer.write_eof()
        return await asyncio.wait_for(reading, 60)

    async def go() -> list[bytes]:
        async with proxied(serve, advertised="proxy.example.com:19092", threads=3) as server:
            return await asyncio.gather(*(client(server, seed) for seed in range(6)))

    expected = b"".join(answered(number, node, 15) for number in range(len(kinds)))
    assert asyncio.run(go()) == [expected] * 6


async def ended(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.read(-1), 30)


async def wrong(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for frame in frames(reader):
        writer.write(answer(int.from_bytes(frame[4:8], "big") + 1))


# options of the proxy, what the client sends, and what is logged
CLOSED: dict[str, tuple[dict[str, Any], bytes, str]] = {
    "no whole frame": ({"first_frame_seconds": 0.2}, heartbeat(7)[:9], "no whole frame within"),
    "a frame over the limit": ({"max_frame": 1000}, heartbeat(7, 1001), ""),
    "no broker": ({"broker_address": "127.0.0.1:1"}, b"", "cannot be reached"),
    "a broker's name that is unknown": ({"broker_address": "none.invalid:9092"}, b"", "the broker cannot be reached: "),
    # nothing is at an address of documentation (RFC 5737), so no answer comes, or one that says so
    "no answer": ({"broker_address": "192.0.2.1:9092", "connect_seconds": 0.3}, b"", "the broker cannot be reached: "),
    "a broker that answers out of order": ({"serve": wrong}, heartbeat(7), "correlation id 8"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_connection_is_closed(name: str, caplog: pytest.LogCaptureFixture) -> None:
    options, sent, logged = CLOSED[name]

    async def go() -> bytes:
        async with proxied(**{"serve": echo, **options}) as server:
            reader, writer = await connect(server)
            writer.write(sent)
            return await ended(reader)

    assert asyncio.run(go()) == b""
    assert logged in caplog.text


def test_a_stop_while_the_last_connection_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native loop's thread is asked to stop after it looked whether it shall, and before it looks whether a connection is left."""
    over = WorkerCalls.over

    def stopped(self: WorkerCalls, *given: Any) -> None:
        over(self, *given)
        self._loop.stop(time.monotonic())

    monkeypatch.setattr(WorkerCalls, "over", stopped)

    async def go() -> bytes:
        async with proxied(echo, first_frame_seconds=0.05) as server:
            reader, _ = await connect(server)
            return await ended(reader)

    assert asyncio.run(go()) == b""


def test_a_large_request_before_authentication_is_closed_at_its_first_bytes(caplog: pytest.LogCaptureFixture) -> None:
    """ApiVersions v3 of 90 MiB, as tagged fields would fill it: the proxy closes while 16 bytes are there; another client goes on."""
    begun = (90 << 20).to_bytes(4, "big") + bytes.fromhex("0012 0003 00000001 ffff 00")

    async def go() -> tuple[bytes, bytes, int]:
        async with proxied(echo) as server:
            other_reader, other_writer = await connect(server)
            reader, writer = await connect(server)
            writer.write(begun)
            closed = await asyncio.wait_for(reader.read(-1), 30)
            other_writer.write(heartbeat(7))
            served = await asyncio.wait_for(other_reader.readexactly(len(answer(7, len(HEARTBEAT)))), 30)
            return closed, served, server.budget.used

    assert asyncio.run(go()) == (b"", answer(7, len(HEARTBEAT)), 0)
    assert "an ApiVersions or SASL request of 94371840 bytes is longer than the 524,288 that brokers accept" in caplog.text


@pytest.mark.parametrize("name", ["localhost", "a name of three addresses"])
def test_a_broker_whose_name_has_several_addresses(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next address is tried where one cannot be reached: nothing listens at 127.0.0.9 and at the documentation address of IPv6."""
    look_up = socket.getaddrinfo

    def found(host: Any, port: Any, *given: Any, **more: Any) -> Any:
        if host != "broker.example.com":
            return look_up(host, port, *given, **more)
        if more.get("flags", 0) & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        ends = (socket.AF_INET6, ("2001:db8::1", port, 0, 0)), (socket.AF_INET, ("127.0.0.9", port)), (socket.AF_INET, ("127.0.0.1", port))
        return [(family, socket.SOCK_STREAM, 6, "", end) for family, end in ends]

    monkeypatch.setattr(socket, "getaddrinfo", found)

    async def go() -> bytes:
        broker = await serving(echo)
        port = broker.sockets[0].getsockname()[1]
        async with proxied(echo, broker_address=f"{name if name == 'localhost' else 'broker.example.com'}:{port}") as server:
            reader, writer = await connect(server)
            writer.write(heartbeat(7))
            try:
                return await asyncio.wait_for(reader.readexactly(len(answer(7, len(HEARTBEAT)))), 30)
            finally:
                writer.close()
                await asyncio.sleep(0.1)
                broker.close()

    assert asyncio.run(go()) == answer(7, len(HEARTBEAT))


def test_an_error_in_a_rule_ends_its_connection_alone(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(self: Any, held: Any, frame: Any) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("kwire.proxy.rules.identity._Identity.request", faulty)
    frame = kwire.encode_request(
        messages.RequestHeader(api_key=18, api_version=3, correlation_id=1, client_id="shop"), messages.ApiVersionsRequest()
    )

    async def go() -> tuple[bytes, bytes]:
        async with proxied(echo) as server:
            other, writer = await connect(server)
            reader, faulted = await connect(server)
            faulted.write(len(frame).to_bytes(4, "big") + frame)
            gone = await ended(reader)
            writer.write(heartbeat(7))
            return gone, await other.readexactly(len(answer(7, len(HEARTBEAT))))

    assert asyncio.run(go()) == (b"", answer(7, len(HEARTBEAT)))
    assert "RuntimeError: a fault" in caplog.text


def test_a_port_that_another_process_has() -> None:
    async def go() -> None:
        async with proxied(echo) as server:
            listener = replace(server.config.listeners[0], listen=f"127.0.0.1:{server.ports[0]}")
            for threads in (1, 3):
                other = ProxyServer(replace(server.config, listeners=[listener], threads=threads))
                with pytest.raises(InputError, match=r"cannot be listened on: .*ddress already in use"):
                    await other.open()

    asyncio.run(go())


@pytest.mark.parametrize("limit", ["max_connections", "max_connections_of_address"])
def test_connections_over_the_limit_are_closed(limit: str) -> None:
    async def go() -> tuple[bytes, bytes]:
        async with proxied(echo, **{limit: 1}) as server:
            first, writer = await connect(server)
            writer.write(heartbeat(7))
            good = await first.readexactly(len(answer(7, len(HEARTBEAT))))
            second, _ = await connect(server)
            return good, await ended(second)

    assert asyncio.run(go()) == (answer(7, len(HEARTBEAT)), b"")


def test_clients_that_send_nothing_leave_half_of_a_port_to_others(caplog: pytest.LogCaptureFixture) -> None:
    async def go() -> list[bytes]:
        async with proxied(echo, max_connections=4) as server:
            found = []
            silent = [await connect(server) for _ in range(2)]
            await asyncio.sleep(0.2)
            turned_away, _ = await connect(server)
            found.append(await ended(turned_away))
            silent[0][1].write(heartbeat(7))
            found.append(await silent[0][0].readexactly(len(answer(7, len(HEARTBEAT)))))
            reader, writer = await connect(server)
            writer.write(heartbeat(8))
            found.append(await reader.readexactly(len(answer(8, len(HEARTBEAT)))))
            return found

    assert asyncio.run(go()) == [b"", answer(7, len(HEARTBEAT)), answer(8, len(HEARTBEAT))]
    assert "turned away: half of max_connections (4) are clients without a whole frame" in caplog.text


def test_who_holds_connections_to_the_metrics_starves_nobody() -> None:
    async def go() -> bytes:
        async with proxied(echo, metrics="127.0.0.1:0") as server:
            for _ in range(40):
                _, writer = await asyncio.open_connection("127.0.0.1", server.metrics_port)
                OPEN.append(writer)
                writer.write(b"GET /metrics HTTP/1.1\r\n")  # the head never ends
            reader, writer = await asyncio.open_connection("127.0.0.1", server.metrics_port)
            OPEN.append(writer)
            writer.write(b"GET /metrics HTTP/1.1\r\n\r\n")
            return await ended(reader)

    assert asyncio.run(go()).startswith(b"HTTP/1.1 200 OK\r\n")


async def refused(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            return
        OPEN.append(writer)
        await asyncio.sleep(0.05)


def test_a_stop_waits_for_the_answers_that_are_owed() -> None:
    asked, release = asyncio.Event(), asyncio.Event()

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for frame in frames(reader):
            asked.set()
            await release.wait()
            writer.write(answer(int.from_bytes(frame[4:8], "big")))

    async def go() -> bytes:
        async with proxied(late) as server:
            reader, writer = await connect(server)
            idle, _ = await connect(server)
            port = server.ports[0]
            writer.write(heartbeat(7))
            await asked.wait()
            stopping = asyncio.ensure_future(server.close(20))
            assert await ended(idle) == b""  # owed nothing: closed at once
            await asyncio.wait_for(refused(port), 30)
            release.set()
            found = await ended(reader)
            await stopping
            return found

    assert asyncio.run(go()) == answer(7)


def test_other_rules_hold_for_connections_that_come_later() -> None:
    async def go() -> tuple[bytes, bytes]:
        async with proxied(echo, unknown="pass") as server:
            unknown = bytes.fromhex("03e7 0000 00000007 0001 63")
            first, one = await connect(server)
            one.write(heartbeat(1))
            await first.readexactly(len(answer(1, len(HEARTBEAT))))
            server.replace_rules(replace(server.config, unknown="close"))
            second, other = await connect(server)
            for writer in (one, other):
                writer.write(len(unknown).to_bytes(4, "big") + unknown)
            return await asyncio.wait_for(first.readexactly(8), 30), await ended(second)

    found, closed = asyncio.run(go())
    assert found[4:8] == (7).to_bytes(4, "big")
    assert closed == b""


def test_metrics_of_a_proxy_that_runs() -> None:
    async def go() -> tuple[bytes, bytes]:
        async with proxied(echo, metrics="127.0.0.1:0", max_connections=1) as server:
            reader, writer = await connect(server)
            writer.write(heartbeat(7))
            await reader.readexactly(len(answer(7, len(HEARTBEAT))))
            second, _ = await connect(server)
            await ended(second)
            found = []
            for closing in (True, False):
                scraping, asking = await asyncio.open_connection("127.0.0.1", server.metrics_port)
                OPEN.append(asking)
                asking.write(b"GET /metrics HTTP/1.1\r\n\r\n")
                found.append(await ended(scraping))
                if closing:
                    writer.write(heartbeat(8) + b"\xff\xff\xff\xff")
                    await ended(reader)
            return found[0], found[1]

    running, closed = asyncio.run(go())
    assert b'kwire_proxy_connections{client_software_name="unknown",client_software_version="unknown",node_id="1",tenant=""} 1.0' in running
    assert b'kwire_proxy_connections_opened_total{node_id="1",tenant=""} 1.0' in running
    assert b'kwire_proxy_connections_closed_total{node_id="1",reason="too_many",tenant=""} 1.0' in running
    assert (
        b'kwire_proxy_latency_seconds_count{api="Heartbeat",client_software_name="unknown",client_software_version="unknown",tenant=""} 1.0'
        in running
    )
    assert b'kwire_proxy_connections_closed_total{node_id="1",reason="length_negative",tenant=""} 1.0' in closed
    assert b"kwire_proxy_connections{" not in closed


def test_a_tap_sees_what_the_client_sends_and_gets(tmp_path: Path) -> None:
    async def go() -> None:
        tap = TapConfig(file=str(tmp_path / "tap.pcapng"))
        async with proxied(echo, tap=tap, metrics="127.0.0.1:0") as server:
            reader, writer = await connect(server)
            for number in range(100):
                writer.write(heartbeat(number))
            await reader.readexactly(100 * len(answer(0, len(HEARTBEAT))))
            ports.append(server.ports[0])
            with pytest.raises(InputError, match="tap can only be changed by a restart"):
                server.replace_rules(replace(server.config, tap=None))

    ports: list[int] = []
    asyncio.run(go())
    with tables.read_series([str(tmp_path / "tap_00001.pcapng")], "x", tuple(ports)) as found:
        rows = found.table("requests").to_pylist()
    assert [(each["correlation_id"], each["state"]) for each in rows] == [(number, "answered") for number in range(100)]
