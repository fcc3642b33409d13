"""Files of `[telemetry]`, through either loop: rotated, their owner's alone, and given up where the disk is full."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import kwire
from kwire import messages
from kwire.cli.entry import commands
from kwire.errors import InputError
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.proxy.config import TelemetryConfig
from kwire.proxy.server import ProxyServer
from kwire.proxy.tap_file import TapFile
from proxied_frames import HEARTBEAT, answer, echo, heartbeat
from proxied_sockets import connect, proxied

METRICS = encode_metrics([{"metric": "org.apache.kafka.producer.x", "type": "gauge", "value": 1}])


pytestmark = pytest.mark.usefixtures("loop")


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: int, body: Any) -> Any:
    frame = kwire.encode_request(messages.RequestHeader(api_key=key, api_version=0, correlation_id=8, client_id="shop"), body)
    writer.write(len(frame).to_bytes(4, "big") + frame)
    size = int.from_bytes(await asyncio.wait_for(reader.readexactly(4), 30), "big")
    return kwire.decode_response(await asyncio.wait_for(reader.readexactly(size), 30), key, 0).body


async def pushing(server: ProxyServer, count: int) -> list[int]:
    """Error codes of that many pushes, each of an instance of its own, behind a heartbeat."""
    reader, writer = await connect(server)
    served = answer(7, len(HEARTBEAT))
    writer.write(heartbeat(7))
    assert await asyncio.wait_for(reader.readexactly(len(served)), 30) == served
    codes = []
    for _ in range(count):
        asked = await exchange(reader, writer, 71, messages.GetTelemetrySubscriptionsRequest())
        pushed = messages.PushTelemetryRequest(
            client_instance_id=asked.client_instance_id, subscription_id=asked.subscription_id, metrics=METRICS
        )
        codes.append((await exchange(reader, writer, 72, pushed)).error_code)
    return codes


def test_files_are_rotated_and_their_owners_alone(tmp_path: Path) -> None:
    async def go() -> tuple[int, int, list[Path]]:
        wanted = TelemetryConfig(file=str(tmp_path / "pushed.jsonl"), max_bytes=1, max_files=2)
        async with proxied(echo, telemetry=wanted) as server:
            assert await pushing(server, 5) == [0] * 5
            assert server.taps is not None
            file = server.taps.telemetry
            assert file is not None
        return file.written_bytes, file.dropped_bytes, file.files()

    written, dropped, files = asyncio.run(go())
    assert [path.name for path in files] == ["pushed_00004.jsonl", "pushed_00005.jsonl"]
    assert sorted(tmp_path.iterdir()) == files
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert (dropped, written > 0) == (0, True)
    shown = CliRunner().invoke(commands, ["broker", "telemetry", "show", "--json", *map(str, files)])
    assert [json.loads(line)["metric"] for line in shown.stdout.splitlines()] == ["org.apache.kafka.producer.x"] * 2


def test_a_full_disk_ends_the_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(self: TapFile) -> Any:
        raise OSError(28, "No space left on device")

    async def go() -> None:
        async with proxied(echo, telemetry=TelemetryConfig(file=str(tmp_path / "pushed.jsonl"), max_bytes=1)) as server:
            monkeypatch.setattr(TapFile, "_next", full)
            assert server.taps is not None
            assert server.taps.telemetry is not None
            assert await pushing(server, 2) == [0, 0]
            await asyncio.to_thread(server.taps.telemetry._thread.join, 30)
            assert await pushing(server, 1) == [0]
            assert server.taps.telemetry.dropped >= 2

    asyncio.run(go())
    assert "the telemetry ends" in caplog.text
    assert "No space left on device" in caplog.text


def test_a_reload_goes_on_with_the_file(tmp_path: Path) -> None:
    wanted = TelemetryConfig(file=str(tmp_path / "pushed.jsonl"))

    async def go() -> None:
        async with proxied(echo, telemetry=wanted) as server:
            await pushing(server, 1)
            server.replace_rules(server.config)
            await pushing(server, 1)
            with pytest.raises(InputError, match="telemetry, request_log and tap can only be changed by a restart"):
                server.replace_rules(replace(server.config, telemetry=None))

    asyncio.run(go())
    (file,) = tmp_path.iterdir()
    assert len(file.read_text().splitlines()) == 2
