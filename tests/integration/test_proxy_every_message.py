"""Every message that Kafka's Java classes wrote passes a running proxy as it came, in random pieces in both directions."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kwire
from kafka_bytes import Frames, framed
from kwire.proxy.config import AddressesConfig, ListenerConfig, ProxyConfig, RefusalConfig, RehearsalConfig, TapConfig, VersionsConfig
from kwire.proxy.server import ProxyServer
from kwire.schema import releases

PRODUCE, API_VERSIONS = 0, 18
RAW_TOKENS_FOLLOW = (17, 0)  # SaslHandshake
MOST = 3000


def conversation(frames: Frames, seed: int) -> list[tuple[tuple[int, int], bytes, bytes]]:
    """Api and version, request, and response: empty for a Produce with acks 0."""
    found = []
    for number, api in enumerate(each for each in frames.apis if each != RAW_TOKENS_FOLLOW):
        asked = frames.frame(api, "request", number + seed, number)
        silent = api[0] == PRODUCE and kwire.decode_request(asked).body.acks == 0
        found.append((api, framed(asked), b"" if silent else framed(frames.frame(api, "response", number + seed, number))))
    return found


async def pour(writer: asyncio.StreamWriter, data: bytes, seed: int) -> None:
    chance, at = random.Random(seed), 0
    while at < len(data):
        size = chance.choice((1, 2, 5, 11, 100, MOST))
        writer.write(data[at : at + size])
        await asyncio.sleep(0)
        await writer.drain()
        at += size


async def passed(config: ProxyConfig, talk: list[tuple[tuple[int, int], bytes, bytes]], seed: int) -> tuple[bytes, bytes]:
    got: list[bytes] = []
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _, asked, answered in talk:
            got.append(await reader.readexactly(len(asked)))
            await pour(writer, answered, seed + len(got))
        done.set()
        writer.close()

    broker = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = broker.sockets[0].getsockname()[1]
    advertised = "proxy.test:9092" if config.tap is not None else None
    listener = ListenerConfig(listen="127.0.0.1:0", broker=f"127.0.0.1:{port}", node_id=77_777, advertised=advertised)
    server = ProxyServer(replace(config, listeners=[listener]))
    await server.open()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.ports[0])
    sending = pour(writer, b"".join(asked for _, asked, _ in talk), seed)
    received, _ = await asyncio.gather(asyncio.wait_for(reader.read(-1), 120), sending)
    writer.close()
    await server.close(1)
    broker.close()
    return b"".join(got), received


def all_rules(folder: Path) -> ProxyConfig:
    """All that act on what passes, with no client that is refused and no broker whose address changes."""
    return ProxyConfig(
        metrics="127.0.0.1:0",
        addresses=AddressesConfig(large_answers="hold", unknown_node="keep"),
        versions=VersionsConfig(cap=releases().newest.name),
        rehearsal=RehearsalConfig(release="4.0", mode="count"),
        refusals=[RefusalConfig(software="none such")],
        tap=TapConfig(file=str(folder / "tap.pcapng")),
        request_log=TapConfig(file=str(folder / "log.jsonl")),
    )


@pytest.mark.parametrize("rules", ["none", "all"])
def test_every_message_passes_as_it_came(loop: Any, rules: str, vectors: Callable[[str], list[dict[str, Any]]], tmp_path: Path) -> None:
    """With all rules on, the one answer that changes is that to ApiVersions."""
    config = all_rules(tmp_path) if rules == "all" else ProxyConfig()
    talk = conversation(Frames(vectors), seed=7)
    assert len(talk) > 300
    if rules == "all":
        talk = [each for each in talk if each[0][0] != API_VERSIONS]
    asked, answered = asyncio.run(passed(replace(config, loop=loop), talk, 7))
    assert asked == b"".join(asked for _, asked, _ in talk)
    assert answered == b"".join(answered for _, _, answered in talk)
