"""What operators see of a running proxy: health, metrics, and counts that survive a restart."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
import threading
from datetime import datetime, timezone
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import trustme
from prometheus_client.parser import text_string_to_metric_families

import kwire
from kafka_bytes import framed
from kwire import messages
from kwire.proxy.config import TlsConfig
from proxied_frames import HEARTBEAT, answer, echo, frames, heartbeat
from proxied_sockets import connect, proxied
from running_proxy import until


async def got(port: int, path: str) -> tuple[int, str]:
    def ask() -> tuple[int, str]:
        try:
            with urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as found:
                return found.status, found.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(ask)


async def samples(port: int) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families((await got(port, "/metrics"))[1]):
        for each in family.samples:
            found.setdefault(each.name, []).append((each.labels, each.value))
    return found


@pytest.mark.usefixtures("loop")
def test_a_proxy_is_ready_until_it_begins_to_stop() -> None:
    asked, answering = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in frames(reader):
            asked.set()
            await answering.wait()
            writer.write(answer(7, len(HEARTBEAT)))

    async def go() -> None:
        async with proxied(serve, metrics="127.0.0.1:0") as server:
            port = server.metrics_port
            assert port is not None
            assert [(await got(port, path))[0] for path in ("/healthz", "/readyz")] == [200, 200]
            reader, writer = await connect(server)
            writer.write(heartbeat(7))
            await asyncio.wait_for(asked.wait(), 30)
            closing = asyncio.ensure_future(server.close(60))
            await asyncio.sleep(0)
            assert [(await got(port, path))[0] for path in ("/healthz", "/readyz")] == [200, 503]
            answering.set()
            assert await asyncio.wait_for(reader.readexactly(len(answer(7, len(HEARTBEAT)))), 30) == answer(7, len(HEARTBEAT))
            await asyncio.wait_for(closing, 30)

    asyncio.run(go())


@pytest.mark.usefixtures("loop")
def test_a_proxy_is_not_ready_before_it_reached_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but the endpoint's caller tries: an orchestrator sends no clients before. Later, clients are sent whatever the broker does."""
    monkeypatch.setattr("kwire.proxy.broker_reach._SECONDS", 30)

    async def go() -> None:
        with socket.socket() as away:
            away.bind(("127.0.0.1", 0))  # does not listen
            broker = f"127.0.0.1:{away.getsockname()[1]}"
            async with proxied(echo, broker_address=broker, metrics="127.0.0.1:0") as server:
                port = server.metrics_port
                assert port is not None
                for _ in range(2):
                    status, text = await got(port, "/readyz")
                    assert (status, text.partition(" at ")[0]) == (503, "no broker can be reached: broker 1")
                    assert f" at {broker}: " in text
                assert (await got(port, "/healthz"))[0] == 200
                away.listen()
                assert await got(port, "/readyz") == (200, "ready\n")
                away.close()
                assert await got(port, "/readyz") == (200, "ready\n")

    asyncio.run(go())


@pytest.mark.usefixtures("loop")
def test_metrics_of_tls(tmp_path: Path) -> None:
    """The cause of a failed handshake is OpenSSL's, on both loops."""
    made = trustme.CA().issue_cert("proxy.example.com", not_after=datetime(2038, 1, 19, tzinfo=timezone.utc))
    certificate = key = tmp_path / "proxy.pem"
    made.private_key_and_cert_chain_pem.write_to_path(str(certificate))

    async def go() -> dict[str, list[tuple[dict[str, str], float]]]:
        async with proxied(
            lambda *_: asyncio.sleep(0), metrics="127.0.0.1:0", tls=TlsConfig(certificate=str(certificate), key=str(key))
        ) as server:
            assert server.metrics_port is not None
            for first in (b"GET / HTTP/1.1\r\n\r\n", b""):
                reader, writer = await connect(server)
                writer.write(first)
                writer.write_eof()
                await asyncio.wait_for(reader.read(-1), 30)
            return await samples(server.metrics_port)

    found = asyncio.run(go())
    failed = {labels["cause"]: (labels["tenant"], count) for labels, count in found["kwire_proxy_tls_handshakes_failed_total"]}
    assert failed == {"http request": ("", 1), "the client hung up": ("", 1)}
    ((labels, end),) = found["kwire_proxy_certificate_expiry_timestamp_seconds"]
    assert labels == {"listener": "127.0.0.1:0", "file": str(certificate)}
    assert end == 2147472000  # date --date '2038-01-19 UTC' +%s
    assert found["kwire_proxy_build_info"] == [({"version": kwire.__version__, "backend": kwire.backend}, 1)]
    assert found["process_open_fds"][0][1] > 0
    assert found["kwire_proxy_held_bytes"] == [({}, 0)]


def commit(number: int) -> bytes:
    """OffsetCommit v1, which Kafka 4.0 rejects (KIP-896)."""
    header = messages.RequestHeader(api_key=8, api_version=1, correlation_id=number, client_id="shop")
    return framed(kwire.encode_request(header, messages.OffsetCommitRequest(group_id="g", member_id="m")))


def test_counts_of_a_rehearsal_survive_signals_and_restarts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as broker:
        command = [
            sys.executable, "-m", "kwire", "proxy", "--listen", "127.0.0.1:0", "--broker", f"127.0.0.1:{broker.getsockname()[1]}",
            "--advertised", "127.0.0.1:19092", "--rehearse", "4.0", "--count", "--counts", str(tmp_path / "counts.json"),
        ]  # fmt: skip

        def take() -> None:
            while True:
                try:
                    broker.accept()[0].close()
                except OSError:
                    return

        def run(signals: list[signal.Signals]) -> str:
            log = tmp_path / "log"
            with log.open("wb") as file:
                process = subprocess.Popen(command, stdout=file, stderr=file)
            try:
                until(lambda: "listening on port" in log.read_text(), "the proxy did not start")
                port = int(re.findall(r"listening on port (\d+) for", log.read_text())[0])
                with socket.create_connection(("127.0.0.1", port)) as client:
                    client.sendall(commit(1))
                    client.recv(1)  # the broker hangs up
                for each in signals:
                    process.send_signal(each)
                    if each == signal.SIGHUP:
                        until(lambda: "nothing to reload" in log.read_text(), "SIGHUP")
                assert process.wait(30) == 0
            finally:
                process.kill()
                process.wait()
            return log.read_text()

        threading.Thread(target=take, daemon=True).start()
        assert "would reject: 1\n" in run([signal.SIGHUP, signal.SIGTERM])
        assert "would reject: 2\n  shop (library not sent, 127.0.0.1): OffsetCommit v1, 2 times\n" in run([signal.SIGTERM])
