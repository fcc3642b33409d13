"""Restarts that refuse no client: a second process on the same ports, and ports that systemd keeps."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kwire.errors import InputError
from kwire.proxy.config import ListenerConfig, ProxyConfig
from kwire.proxy.proxy_protocol import header_of
from kwire.proxy.server import ProxyServer
from proxied_frames import answer, echo, heartbeat
from running_proxy import RunningProxy, until
from threaded_proxy import free_port

ANSWER = answer(7, len(heartbeat(7)) - 4)
CLIENTS = 4
# as systemd starts a service: sd_listen_fds(3)
PASSES = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])
"""
HEADER = header_of(("10.1.2.3", 50_000), ("192.0.2.1", 9092))
MORE = 'loop = "{}"\nthreads = {}\nmax_rate_of_address = 1000000\n'


@pytest.fixture
def broker() -> Iterator[int]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(asyncio.start_server(echo, "127.0.0.1", 0), loop).result(10)
    yield server.sockets[0].getsockname()[1]
    loop.call_soon_threadsafe(server.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


@contextmanager
def load(port: int, header: bytes = b"") -> Iterator[Callable[[], Counter[str]]]:
    """Clients that connect, ask once and leave, without a pause; gives how their connections have ended so far."""
    ended: Counter[str] = Counter()
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            try:
                with socket.create_connection(("127.0.0.1", port), 30) as client:
                    client.sendall(header + heartbeat(7))
                    found = b""
                    while len(found) < len(ANSWER) and (data := client.recv(100)):
                        found += data
                ended["answered" if found == ANSWER else "closed" if not found else "cut"] += 1
            except OSError as error:
                ended[type(error).__name__] += 1

    threads = [threading.Thread(target=run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield ended.copy
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)


def served(count: Callable[[], Counter[str]], more: int) -> None:
    wanted = count()["answered"] + more
    until(lambda: count()["answered"] >= wanted, f"clients are not served: {count()}")


@pytest.mark.parametrize(
    ("loop", "threads", "header"),
    [
        pytest.param("native", 1, b"", marks=pytest.mark.matrix),
        ("native", 2, b""),
        ("asyncio", 1, b""),
        ("native", 2, HEADER),
        ("asyncio", 1, HEADER),
    ],
)
def test_a_second_process_takes_over(broker: int, loop: str, threads: int, header: bytes, tmp_path: Path) -> None:
    """It listens while the first still serves, and the first stops under load."""
    listener = "proxy_protocol = true\n" if header else ""
    more = MORE.format(loop, threads) + f'reuse_port = true\nmetrics = "127.0.0.1:{free_port()}"\n'
    (tmp_path / "0").mkdir()
    running = RunningProxy(tmp_path / "0", broker, more, listener, listen=free_port())
    try:
        with load(running.port, header) as count:
            for number in (1, 2):
                served(count, 100)
                (tmp_path / str(number)).mkdir()
                successor = RunningProxy(tmp_path / str(number), broker, more, listener, listen=running.port)
                before, running = running, successor
                served(count, 100)
                before.stop()
            served(count, 100)
        assert set(count()) <= {"answered", "closed"}
        assert count()["closed"] <= 2 * CLIENTS  # asked while the first process stopped
    finally:
        running.stop()


@pytest.mark.parametrize("loop", ["native", "asyncio"])
def test_systemd_keeps_the_port(broker: int, loop: str, tmp_path: Path) -> None:
    """Socket activation: clients that come between two processes wait for the second one."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as held:
        port, file = held.getsockname()[1], held.fileno()

        def start() -> RunningProxy:
            more = MORE.format(loop, 2 if loop == "native" else 1)
            return RunningProxy(tmp_path, broker, more, listen=port, via=(sys.executable, "-c", PASSES, str(file)), files=(file,))

        running = start()
        try:
            with load(port) as count:
                for _ in range(2):
                    served(count, 100)
                    running.stop()
                    running = start()
                served(count, 100)
        finally:
            running.stop()
    assert set(count()) <= {"answered", "closed"}
    assert count()["closed"] <= 2 * CLIENTS


def test_a_socket_of_no_listener_is_an_error() -> None:
    """Its clients would wait for ever."""
    config = ProxyConfig(listeners=[ListenerConfig(listen="127.0.0.1:0", broker="127.0.0.1:9092")])
    with socket.create_server(("127.0.0.1", 0)) as passed, pytest.raises(InputError, match="systemd passed a socket that no listener has"):
        asyncio.run(ProxyServer(config).open([passed]))
