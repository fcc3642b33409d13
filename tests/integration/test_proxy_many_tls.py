"""Thousands of clients with TLS at once through the native loop: all are served, and idle ones cost little memory."""

from __future__ import annotations

import resource
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import trustme

from proxied_frames import HEARTBEAT, answer, heartbeat
from proxied_sockets import TlsOfBoth
from running_proxy import RunningProxy, until

MANY = 10_000
SPARE = 200  # files of a process beside its clients'
IDLE_BYTES = 50 << 10
BROKER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from proxied_frames import echo

async def serve():
    server = await asyncio.start_server(echo, "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(serve())
"""
LIMITS = f'loop = "native"\nmax_connections = {2 * MANY}\n' + "".join(
    f"max_{each}_of_address = {2 * MANY}\n" for each in ("rate", "connections", "handshakes")
)


@pytest.fixture
def most_files() -> Iterator[int]:
    """Raise the limit of this process and its children, beyond the hard limit where that is allowed."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(2 * MANY + SPARE, before[1])
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    yield most
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[0], most))


@pytest.fixture
def broker(most_files: int) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", BROKER, str(Path(__file__).parents[1])], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield int(running.stdout.readline())
        running.kill()


@pytest.mark.weighs_process
@pytest.mark.parametrize("wanted", [500, pytest.param(MANY, marks=pytest.mark.matrix)])
def test_clients_with_tls(
    wanted: int, most_files: int, broker: int, tmp_path: Path, authority: trustme.CA, capsys: pytest.CaptureFixture[str]
) -> None:
    count = min(wanted, (most_files - SPARE) // 2)  # the proxy has two files for each
    if count < wanted:
        with capsys.disabled():
            print(f"\n{count:,} clients, not {wanted:,}: a process may have {most_files:,} files here")
    tls = TlsOfBoth(authority, tmp_path)
    proxy = RunningProxy(tmp_path, broker, LIMITS, tls.tables(upstream=False))

    def connected(number: int) -> ssl.SSLSocket:
        found = tls.client.wrap_socket(socket.create_connection(("127.0.0.1", proxy.port), 60), server_hostname="proxy.example.com")
        asked(found, number)
        return found

    def asked(client: ssl.SSLSocket, number: int) -> None:
        client.sendall(heartbeat(number))
        expected, found = answer(number, len(HEARTBEAT)), b""
        while len(found) < len(expected):
            more = client.recv(len(expected) - len(found))
            assert more, "the proxy has closed a connection"
            found += more
        assert found == expected

    with ExitStack() as opened, ThreadPoolExecutor(4) as pool:
        opened.callback(proxy.stop)
        opened.enter_context(connected(0))
        files, memory = proxy.open_files(), proxy.most_memory()
        clients = [opened.enter_context(each) for each in pool.map(connected, range(count))]
        assert proxy.open_files() >= files + 2 * count
        assert (proxy.most_memory() - memory) / count < IDLE_BYTES
        list(pool.map(asked, clients, range(count)))
        for each in clients:
            each.close()
        until(lambda: proxy.open_files() <= files, "connections of clients that left stay open")
