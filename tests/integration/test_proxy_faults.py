"""Faults around a proxy, for each loop and for TLS: bounded memory, no wrong byte, and log lines that name the cause."""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import random
import resource
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest
import trustme

import proxied_sockets
from proxied_frames import HEARTBEAT, answer, echo, frames, heartbeat
from running_proxy import RunningProxy, until
from tls_streams import TlsServer

MIB = 1 << 20
Start = Callable[..., RunningProxy]
T = TypeVar("T")
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


OPEN: list[asyncio.StreamWriter] = []
SERVERS: list[asyncio.Server | TlsServer] = []


@pytest.fixture
def start(tmp_path: Path, secured: str) -> Iterator[Start]:
    """`start(broker, more)` starts a proxy with that loop, and two threads of it."""
    running: list[RunningProxy] = []

    def started(broker: int, more: str = "") -> RunningProxy:
        tls = "" if proxied_sockets.TLS is None else proxied_sockets.TLS.tables()
        running.append(RunningProxy(tmp_path, broker, f'loop = "{secured}"\nthreads = 2\n{more}', tls))
        return running[-1]

    yield started
    for each in running:
        each.stop()


async def serving(serve: Serve, port: int = 0) -> tuple[asyncio.Server | TlsServer, int]:
    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        OPEN.append(writer)
        with suppress(ConnectionError):
            await serve(reader, writer)
        writer.close()

    server = await proxied_sockets.serving(served, port)
    SERVERS.append(server)
    return server, server.sockets[0].getsockname()[1]


def run(go: Callable[[], Awaitable[T]]) -> T:
    async def whole() -> T:
        try:
            return await go()
        finally:
            while SERVERS:
                SERVERS.pop().close()
            for writer in OPEN:
                writer.transport.abort()
            while OPEN:
                await hung_up(OPEN.pop())
            await asyncio.sleep(0.05)  # transports end in the loop's next turns

    return asyncio.run(whole())


async def ended(reader: asyncio.StreamReader) -> bytes:
    found = b""
    with suppress(ConnectionError):
        while data := await asyncio.wait_for(reader.read(1 << 16), 30):
            found += data
    return found


async def connected(proxy: RunningProxy) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await proxied_sockets.opened(proxy.port)
    OPEN.append(writer)
    return reader, writer


async def hung_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError, ssl.SSLError):
        await writer.wait_closed()


async def served(proxy: RunningProxy, number: int = 7) -> bool:
    reader, writer = await connected(proxy)
    with suppress(OSError):
        writer.write(heartbeat(number))
        writer.write_eof()
    found = await ended(reader)
    await hung_up(writer)
    return found == answer(number, len(HEARTBEAT))


def test_a_broker_that_is_killed_under_load_and_comes_back(start: Start) -> None:
    writers: list[asyncio.StreamWriter] = []
    answered = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        writers.append(writer)
        async for frame in frames(reader):
            writer.write(answer(int.from_bytes(frame[4:8], "big"), len(frame)))
            await writer.drain()
            answered += 1

    async def client(proxy: RunningProxy, seed: int) -> tuple[bytes, bytes]:
        random_ = random.Random(seed)
        reader, writer = await connected(proxy)
        reading, expected = asyncio.ensure_future(ended(reader)), bytearray()
        with suppress(ConnectionError):
            for number in range(1_000_000):
                size = random_.choice((0, 100, 30_000))
                expected += answer(number, len(HEARTBEAT) + size)
                writer.write(heartbeat(number, size))
                await writer.drain()
                if reading.done():
                    break
        await hung_up(writer)
        return await reading, bytes(expected)

    async def go() -> None:
        broker, port = await serving(serve)
        proxy = await asyncio.to_thread(start, port)
        clients = [asyncio.ensure_future(client(proxy, seed)) for seed in range(8)]
        while answered < 500:
            await asyncio.sleep(0.01)
        broker.close()
        while len(writers) < 8:
            await asyncio.sleep(0.01)
        for writer in writers:
            writer.transport.abort()
        for found, expected in await asyncio.gather(*clients):
            assert found == expected[: len(found)]
        assert not await served(proxy)
        await asyncio.to_thread(proxy.logged, "127.0.0.1:", 9)  # one line for each of the nine
        await asyncio.to_thread(proxy.logged, "to broker 1: closed: the broker cannot be reached: ")
        await serving(serve, port)
        assert await served(proxy)

    run(go)


@pytest.mark.weighs_process
def test_readers_that_sleep_cost_little_memory(start: Start, secured: str) -> None:
    """24 clients ask for 100 MB each and read nothing: what the proxy keeps of each is one read, and what its transport holds."""
    size, sent = MIB, 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        async for frame in frames(reader):
            writer.write(answer(int.from_bytes(frame[4:8], "big"), size))
            await writer.drain()
            sent += 1

    async def go() -> None:
        _, port = await serving(pour)
        proxy = await asyncio.to_thread(start, port)
        assert await served_with(proxy, size)
        before, writers, readers = proxy.most_memory(), [], []
        for _ in range(24):
            reader, writer = await connected(proxy)
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(b"".join(map(heartbeat, range(100))))
            writers.append(writer)
            readers.append(reader)
        last = -1
        while sent != last:
            last = sent
            await asyncio.sleep(1)
        grown = proxy.most_memory() - before
        assert last < 24 * 30  # sockets are full, and the rest has not been sent
        assert grown < 24 * (256 << 10 if secured == "native" else MIB)
        writers[0].transport.resume_reading()  # type: ignore[attr-defined]
        for number in range(100):
            assert await asyncio.wait_for(readers[0].readexactly(size + 10), 30) == answer(number, size)
        for writer in writers:
            writer.transport.abort()

    async def served_with(proxy: RunningProxy, size: int) -> bool:
        reader, writer = await connected(proxy)
        writer.write(heartbeat(1))
        found = await reader.readexactly(size + 10)
        await hung_up(writer)
        return found == answer(1, size)

    run(go)


@pytest.mark.parametrize("secured", ["native", "native, TLS"], indirect=True)
def test_clients_that_never_read_are_closed(start: Start) -> None:
    """Their connections are over, and the ten seconds are too in which they may take what they were given."""

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in frames(reader):
            writer.write(answer(1, 16 * MIB))  # more than the buffers of all sockets on the way
            await writer.drain()

    async def go() -> None:
        _, port = await serving(pour)
        proxy = await asyncio.to_thread(start, port)
        writers = [(await connected(proxy))[1] for _ in range(4)]
        for writer in writers:
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(heartbeat(1))
        await asyncio.sleep(1)  # until the buffers are full
        files = proxy.open_files()
        for writer in writers:
            writer.write(b"\xff\xff\xff\xff")  # a negative length
        await asyncio.to_thread(proxy.logged, "closed: frame length is -1", 4)
        await asyncio.to_thread(until, lambda: proxy.open_files() <= files - 8, "sockets stay open")

    run(go)


@pytest.mark.parametrize("begin", [b"", heartbeat(1, 5000)[:400]], ids=["a byte now and then", "a frame that stops"])
def test_clients_that_never_finish_a_frame(start: Start, begin: bytes) -> None:
    async def loris(proxy: RunningProxy) -> bytes:
        reader, writer = await connected(proxy)
        reading = asyncio.ensure_future(ended(reader))
        with suppress(ConnectionError):
            writer.write(begin)
            for byte in heartbeat(1) if not begin else b"":
                writer.write(bytes([byte]))
                await asyncio.sleep(0.2)
                if reading.done():
                    break
        found = await reading
        await hung_up(writer)
        return found

    async def go() -> None:
        _, port = await serving(echo)
        seconds, clients = (1, 100) if proxied_sockets.TLS is None else (3, 20)  # handshakes of the test take their time too
        proxy = await asyncio.to_thread(start, port, f"first_frame_seconds = {seconds}")
        reader, writer = await connected(proxy)
        writer.write(heartbeat(1))
        await reader.readexactly(len(answer(1, len(HEARTBEAT))))
        assert await asyncio.gather(*(loris(proxy) for _ in range(clients))) == [b""] * clients
        await asyncio.to_thread(proxy.logged, f"closed: no whole frame within {seconds} s", clients)
        writer.write(heartbeat(2))  # the client that has sent one may take its time
        assert await reader.readexactly(len(answer(2, len(HEARTBEAT)))) == answer(2, len(HEARTBEAT))
        await hung_up(writer)

    run(go)


@pytest.mark.weighs_process
def test_frames_of_100_mb_pass_without_being_kept(start: Start) -> None:
    size = 100 * 1_000_000
    block = random.Random(1).randbytes(MIB)
    whole = hashlib.sha256()

    async def mirror(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.read(4):
            left = int.from_bytes(head, "big") - len(HEARTBEAT)
            number = (await reader.readexactly(len(HEARTBEAT)))[4:8]
            writer.write((6 + left).to_bytes(4, "big") + number + b"\0\0")
            while left:
                data = await reader.read(min(left, MIB))
                left -= len(data)
                writer.write(data)
                await writer.drain()

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write((len(HEARTBEAT) + size).to_bytes(4, "big") + heartbeat(7)[4:])
        for at in range(0, size, MIB):
            piece = block[: size - at]
            whole.update(piece)
            writer.write(piece)
            await writer.drain()

    async def go() -> bytes:
        _, port = await serving(mirror)
        proxy = await asyncio.to_thread(start, port)
        before = proxy.most_memory()
        reader, writer = await connected(proxy)
        sending = asyncio.ensure_future(send(writer))
        assert await reader.readexactly(10) == (6 + size).to_bytes(4, "big") + (7).to_bytes(4, "big") + b"\0\0"
        found, left = hashlib.sha256(), size
        while left:
            data = await reader.read(min(left, MIB))
            left -= len(data)
            found.update(data)
        await sending
        await hung_up(writer)
        assert proxy.most_memory() - before < 16 * MIB
        return found.digest()

    assert run(go) == whole.digest()


@pytest.mark.parametrize("secured", ["native"], indirect=True)
@pytest.mark.parametrize("spare", [20, 21], ids=["for a client", "for its broker"])
def test_a_process_without_more_files(spare: int, start: Start) -> None:
    """Clients that find no file wait at the port, and are served when others have gone. asyncio has a way of its own."""

    async def accepted_again(proxy: RunningProxy) -> None:
        while not await served(proxy):  # it hears of their ends one after the other, and a client takes two files
            await asyncio.sleep(0.05)

    async def go() -> None:
        _, port = await serving(echo)
        proxy = await asyncio.to_thread(start, port)
        await asyncio.to_thread(proxy.logged, "cannot be reached")  # the check at the start is over
        await asyncio.sleep(0.5)  # it has closed what it reached them by
        used = proxy.open_files()
        resource.prlimit(proxy.process.pid, resource.RLIMIT_NOFILE, (used + spare, used + spare))
        clients = [await connected(proxy) for _ in range(40)]
        await asyncio.to_thread(proxy.logged, "no connection can be accepted: Too many open files")
        assert proxy.log().count("Too many open files") < 10  # few clients are closed because their brokers find no file
        for _, writer in clients[:36]:
            await hung_up(writer)
        await asyncio.wait_for(accepted_again(proxy), 30)

    run(go)


HOSTILE = (
    bytes.fromhex("ffffffff"),  # a negative length
    bytes.fromhex("7fffffff 0003 0001"),  # 2 GiB
    bytes.fromhex("00000003 000000"),  # shorter than a header
    bytes.fromhex("0000000a 0000 0063 00000001 0000"),  # a Produce of version 99: nothing says whether it is owed an answer
    bytes.fromhex("00000010 0000 0003 00000001 ffff 0001 00 00 00 00"),  # a Produce that ends before its acks are whole
    b"GET / HTTP/1.1\r\n\r\n",
    bytes.fromhex("16 0301 0200 0100"),  # TLS
    bytes.fromhex("05f5e100 0012 0003 00000001 0001 63"),  # ApiVersions of 100,000,000 bytes, which a rule wants whole
)


@pytest.mark.weighs_process
def test_500_hostile_connections(start: Start) -> None:
    async def hostile(proxy: RunningProxy, number: int) -> None:
        random_ = random.Random(number)
        data = HOSTILE[number % (len(HOSTILE) + 1)] if number % (len(HOSTILE) + 1) < len(HOSTILE) else random_.randbytes(5000)
        with suppress(ConnectionError):
            reader, writer = await connected(proxy)
            writer.write(data + random_.randbytes(random_.choice((0, 3, 3000))))
            if number % 3 == 0:
                writer.transport.abort()
            else:
                with suppress(asyncio.TimeoutError):  # Python 3.10's is none of the built-in one
                    await asyncio.wait_for(ended(reader), 2)
            await hung_up(writer)

    async def good(proxy: RunningProxy, ending: asyncio.Event) -> int:
        reader, writer = await connected(proxy)
        number = 0
        while not ending.is_set() or number < 200:
            writer.write(heartbeat(number, number % 500))
            expected = answer(number, len(HEARTBEAT) + number % 500)
            assert await asyncio.wait_for(reader.readexactly(len(expected)), 30) == expected
            number += 1
        await hung_up(writer)
        return number

    async def go() -> None:
        _, port = await serving(echo)
        proxy = await asyncio.to_thread(start, port)
        assert await served(proxy)
        before, ending = proxy.most_memory(), asyncio.Event()
        working = asyncio.ensure_future(good(proxy, ending))
        await asyncio.gather(*(hostile(proxy, number) for number in range(500)))
        ending.set()
        assert await working >= 200
        assert await served(proxy)
        assert proxy.most_memory() - before < 48 * MIB
        log = await asyncio.to_thread(proxy.log)
        assert "Traceback" not in log

    run(go)


def test_a_mistake_in_the_configuration_at_reload(start: Start) -> None:
    unknown = bytes.fromhex("0000000b 03e7 0000 00000007 0001 63")

    async def passes(proxy: RunningProxy) -> bool:
        reader, writer = await connected(proxy)
        with suppress(OSError):
            writer.write(unknown)
            writer.write_eof()
        found = await ended(reader)
        await hung_up(writer)
        return found != b""

    async def go() -> None:
        _, port = await serving(echo)
        proxy = await asyncio.to_thread(start, port)
        settings = proxy.config.read_text()
        for text, line in (
            (settings.replace("threads = 2", 'threads = "two"'), "threads: expected `int`, got `str`"),
            (settings.replace("threads = 2", "threads = "), "is not TOML"),
            (
                settings.replace("threads = 2", "threads = 3"),
                "listeners, cluster, loop, threads, metrics, audit, telemetry, request_log and tap can only be changed by a restart",
            ),
        ):
            proxy.config.write_text(text)
            proxy.process.send_signal(signal.SIGHUP)
            await asyncio.to_thread(proxy.logged, line)
            assert await passes(proxy)
        proxy.config.write_text('unknown = "close"\n' + settings)
        proxy.process.send_signal(signal.SIGHUP)
        await asyncio.to_thread(proxy.logged, "configuration reloaded")
        assert not await passes(proxy)

    run(go)


def expired(authority: trustme.CA, name: str, folder: Path, days: int) -> tuple[Path, Path]:
    """A certificate and its key that end so many days from now."""
    made = authority.issue_cert(name, not_after=datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days))
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    made.cert_chain_pems[0].write_to_path(str(certificate))
    made.private_key_pem.write_to_path(str(key))
    return certificate, key


def test_certificates_that_have_expired_and_are_replaced(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    certificate, key = expired(authority, "proxy.example.com", tmp_path, -1)
    own = expired(authority, "client.example.com", tmp_path, 30)
    old = expired(authority, "old.example.com", tmp_path, -1)
    files = f'certificate = "{certificate}"\nkey = "{key}"\nclient_ca = "{tmp_path / "ca.pem"}"'

    def trusting(files: tuple[Path, Path]) -> ssl.SSLContext:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        context.load_cert_chain(*files)
        return context

    def asked(proxy: RunningProxy, context: ssl.SSLContext) -> bytes:
        """Blocking: asyncio's client goes away without the alert that says why."""
        plain = socket.create_connection(("127.0.0.1", proxy.port), 30)
        with plain, context.wrap_socket(plain, server_hostname="proxy.example.com") as secured:
            secured.sendall(heartbeat(7))
            return secured.recv(1000)

    async def go() -> None:
        _, port = await serving(echo)
        proxy = await asyncio.to_thread(RunningProxy, tmp_path, port, "max_connections = 4", f"[listeners.tls]\n{files}")
        try:
            for _ in range(5):  # more than may be connected at once: those that failed are not counted among them
                with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
                    await asyncio.to_thread(asked, proxy, trusting(own))
            await asyncio.to_thread(proxy.logged, "to broker 1: TLS failed: ", 5)
            assert "alert certificate expired" in proxy.log()
            expired(authority, "proxy.example.com", tmp_path, 30)
            proxy.process.send_signal(signal.SIGHUP)
            await asyncio.to_thread(proxy.logged, "configuration reloaded")
            assert await asyncio.to_thread(asked, proxy, trusting(own)) == answer(7, len(HEARTBEAT))
            with suppress(ssl.SSLError, ConnectionError):
                assert await asyncio.to_thread(asked, proxy, trusting(old)) == b""
            await asyncio.to_thread(proxy.logged, "TLS failed: certificate has expired")
        finally:
            await asyncio.to_thread(proxy.stop)

    run(go)
