"""What a proxy costs: CPU time an exchange, memory of idle connections, handshakes, latency, and the time of a drain, as one table.

    python benchmarks/proxy_figures.py [--rounds 5] [WORK ...]

All proxies that are installed (kwire's two loops; its native loop for a tenant, with a tap, with quotas of bytes and of requests; nginx's
stream module, HAProxy; Kroxylicious where Java and Maven are, which fetches its jars) stand in front of one broker on this machine that
answers at once, with and without TLS towards clients. Broker and clients are the C program proxy_load.c, which gcc makes with OpenSSL's
headers. Proxies that are not there are named and left out. They take turns in one run: a noisy machine hits all alike. CPU time is the
proxy's own, kernel included. Each has one thread (the tap a second one); Kroxylicious has as many as it takes by itself, and is measured
when the JVM has compiled what the load needs.

The table has the median of kwire's rounds, and for the others the median ratio to kwire in the same round, with their own median.
"""

from __future__ import annotations

import argparse
import resource
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from proxy_peers import NotInstalled, Running, Start, free_port, peers

SOURCE = Path(__file__).with_name("proxy_load.c")
IDLE = 2000
HEARTBEAT = bytes.fromhex("00000015 000c 0000 00000007 0001 63 0001 67 00000001 0001 6d")
API_VERSIONS = bytes.fromhex("0000001b 0012 0003 00000007 0006 636c69656e74 00 05 6b776972 04 312e30 00")
RATE = 1000
SPARE_FILES = 1000
HANDSHAKES = 200
DRAINED = 10  # connections
BASE, NO_PROXY = "kwire", "no proxy"
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE


@dataclass(frozen=True)
class Load:
    """Requests of `size` bytes, `in_flight` on each of `connections`."""

    connections: int
    in_flight: int
    size: int
    exchanges: int


LOADS = {
    "16 KB": Load(1, 16, 16_384, 20_000),
    "1 KB": Load(1, 64, 1024, 200_000),
    "70 bytes": Load(1, 64, 70, 400_000),
    "70 bytes, 50 connections": Load(50, 4, 70, 100_000),
}
LATENCIES = {"latency, 1 connection": 1, "latency, 50 connections": 50, "latency, 500 connections": 500}


class Figures:
    """Values of all rounds, by work and proxy."""

    def __init__(self, proxies: list[Running]) -> None:
        self._names = [*dict.fromkeys(proxy.name for proxy in proxies), NO_PROXY]
        self._rounds: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._units: dict[str, str] = {}

    def add(self, work: str, proxy: Running, unit: str, value: float) -> None:
        """Take the value of one round."""
        self.add_named(f"{work}, TLS" if proxy.tls else work, proxy.name, unit, value)

    def add_named(self, work: str, name: str, unit: str, value: float) -> None:
        """Take the value of one round."""
        self._units[work] = unit
        self._rounds[work][name].append(value)

    def print_head(self) -> None:
        """The first lines of the table in Markdown."""
        print(f"| | {' | '.join(self._names)} |\n{'|---' * (len(self._names) + 1)}|", flush=True)

    def print_rows(self) -> None:
        """The lines of works that were measured since the last call."""
        for work, row in self._rounds.items():
            print(f"| {work}, {self._units[work]} | {' | '.join(self._cell(row, name) for name in self._names)} |", flush=True)
        self._rounds.clear()

    def _cell(self, row: dict[str, list[float]], name: str) -> str:
        if name not in row:
            return ""
        own = f"{float(f'{median(row[name]):.3g}'):,g}"
        if name == BASE or BASE not in row:
            return own
        return f"{median(each / base for each, base in zip(row[name], row[BASE], strict=True)):.2f} x ({own})"


class Bench:
    """The load program."""

    def __init__(self, folder: Path) -> None:
        self._program = folder / "proxy_load"
        subprocess.run(["gcc", "-O2", "-o", str(self._program), str(SOURCE), "-lssl", "-lcrypto"], check=True)
        self.port = free_port()
        self._broker = subprocess.Popen([str(self._program), "broker", str(self.port)])
        time.sleep(0.3)

    def clients(self, port: int, load: Load, rate: float = 0, *, tls: bool = False) -> tuple[float, float, float]:
        """Wall seconds, median and 99th hundredth of latencies in microseconds."""
        given = (port, load.connections, load.in_flight, load.size, load.exchanges, rate, int(tls))
        done = subprocess.run([str(self._program), "clients", *map(str, given)], check=True, capture_output=True, text=True)
        seconds, half, most = map(float, done.stdout.split())
        return seconds, half, most

    def warm(self, proxy: Running, load: Load) -> None:
        """Give a proxy a load until it has used as much processor time as it needs to be warm."""
        begin = proxy.cpu_seconds()
        while proxy.cpu_seconds() - begin < proxy.seconds_to_warm:
            self.clients(proxy.port, load, tls=proxy.tls)

    def close(self) -> None:
        """End the broker."""
        self._broker.kill()
        self._broker.wait()


def processor(bench: Bench, proxies: list[Running], rounds: int, wanted: list[str], figures: Figures) -> None:
    """CPU time of an exchange."""
    for work, load in LOADS.items():
        if work not in wanted:
            continue
        for proxy in proxies:
            bench.warm(proxy, load)
        for number in range(rounds + 1):
            for proxy in in_turn(proxies, number):
                before = proxy.cpu_seconds()
                bench.clients(proxy.port, load, tls=proxy.tls)
                if number:  # the first one warms up
                    figures.add(work, proxy, "us", (proxy.cpu_seconds() - before) / load.exchanges * 1e6)
        figures.print_rows()


def in_turn(proxies: list[Running], number: int) -> list[Running]:
    """Proxies in the order of a round: none always comes behind the same one's load."""
    first = number * 5 % len(proxies)
    return proxies[first:] + proxies[:first]


def client(proxy: Running) -> socket.socket:
    """Connect a client that has asked ApiVersions and sent a Heartbeat."""
    found = socket.create_connection(("127.0.0.1", proxy.port), 30)
    if proxy.tls:
        found = CONTEXT.wrap_socket(found)
    for request in (API_VERSIONS, HEARTBEAT):
        found.sendall(request)
        if not found.recv(1000):
            raise RuntimeError(f"{proxy.name} closed an idle connection")
    return found


def handshakes(proxies: list[Running], rounds: int, figures: Figures) -> None:
    """CPU time of a connection that is opened, used for two exchanges, and closed."""
    for number in range(rounds + 1):
        for proxy in in_turn(proxies, number):
            before = proxy.cpu_seconds()
            for _ in range(HANDSHAKES):
                client(proxy).close()
            if number:
                figures.add("connection: opened, two exchanges, closed", proxy, "ms", (proxy.cpu_seconds() - before) / HANDSHAKES * 1e3)


def idle(proxies: list[Running], count: int, figures: Figures) -> None:
    """Memory of idle connections, each of which has asked ApiVersions and sent a Heartbeat."""
    for proxy in proxies:
        before = proxy.resident_bytes()
        with ExitStack() as open_:
            for _ in range(count):
                open_.enter_context(client(proxy))
            time.sleep(1)
            figures.add(f"memory of {count} idle connections", proxy, "KB each", (proxy.resident_bytes() - before) / count / 1e3)


def latency(bench: Bench, proxies: list[Running], rounds: int, wanted: list[str], figures: Figures) -> None:
    """Latencies of 70-byte exchanges, 1,000 a second in all."""
    for work, connections in LATENCIES.items():
        if work not in wanted:
            continue
        load = Load(connections, 1, 70, 2 * RATE)
        for proxy in proxies:
            bench.warm(proxy, Load(connections, 1, 70, 20 * RATE))  # as fast as it can: 1,000 a second would take minutes
        for number in range(rounds):
            for name, value in zip(("p50", "p99"), bench.clients(bench.port, load, RATE)[1:], strict=True):
                figures.add_named(f"{work}, {name}", NO_PROXY, "us", value)
            for proxy in in_turn(proxies, number):
                for name, value in zip(("p50", "p99"), bench.clients(proxy.port, load, RATE, tls=proxy.tls)[1:], strict=True):
                    figures.add(f"{work}, {name}", proxy, "us", value)
        figures.print_rows()


def exchange_until_closed(connection: socket.socket) -> None:
    """Have a request under way all the time."""
    with connection, suppress(OSError):
        connection.sendall(HEARTBEAT)
        while connection.recv(1000):
            connection.sendall(HEARTBEAT)


def drain(start: Start, folder: Path, broker: int, figures: Figures) -> None:
    """Time from SIGTERM to the end of the process, while every client has a request under way."""
    proxy = start(folder, broker, DRAINED + 100)
    threads = [threading.Thread(target=exchange_until_closed, args=(client(proxy),)) for _ in range(DRAINED)]
    for each in threads:
        each.start()
    time.sleep(0.5)
    figures.add("SIGTERM to exit", proxy, "ms", proxy.drain_seconds() * 1e3)
    for each in threads:
        each.join()


def main() -> None:
    """Run what is asked for."""
    works = [*LOADS, "idle", "connections", *LATENCIES, "drain"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"{', '.join(works)}; all by default")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    wanted = given.works or works
    if unknown := set(wanted) - set(works):
        parser.error(f"unknown: {', '.join(unknown)}")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = min(IDLE, (most - SPARE_FILES) // 2)  # a proxy has two sockets for each
    with tempfile.TemporaryDirectory() as made, ExitStack() as running:
        folder = Path(made)
        bench = Bench(folder)
        running.callback(bench.close)
        proxies, starts = list[Running](), list[Start]()
        for start in peers():
            try:
                proxy = start(folder, bench.port, count + 100)
            except NotInstalled as missing:
                print(f"left out: {missing}")
                continue
            running.callback(proxy.stop)
            proxies.append(proxy)
            starts.append(start)
        figures = Figures(proxies)
        figures.print_head()
        processor(bench, proxies, given.rounds, wanted, figures)
        if "connections" in wanted:
            handshakes(proxies, given.rounds, figures)
            figures.print_rows()
        if "idle" in wanted:
            idle(proxies, count, figures)
            figures.print_rows()
        latency(bench, proxies, given.rounds, wanted, figures)
        if "drain" in wanted:
            for _ in range(given.rounds):
                for start in starts:
                    drain(start, folder, bench.port, figures)
            figures.print_rows()


if __name__ == "__main__":
    main()
