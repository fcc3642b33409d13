"""What a proxy costs: processor time an exchange, memory of idle connections, latency that it adds.

    python benchmarks/proxy_figures.py [--rounds 5] [WORK ...]

All proxies that are installed (kwire's two loops, its native loop for a tenant, nginx's stream module, HAProxy; Kroxylicious where Java
and Maven are, which fetches its jars; the loops, nginx and HAProxy also with TLS towards clients) stand in front of one broker on this
machine that answers at once; both are the C program proxy_load.c, which gcc makes with OpenSSL's headers. Those that are not there are
named and left out. They take turns in one run, and medians of the rounds are printed: a noisy machine hits all alike. Processor time is
the proxy's own, kernel included. Each has one thread; Kroxylicious has as many as it takes by itself, and is measured when the JVM has
compiled what the load needs.
"""

from __future__ import annotations

import argparse
import resource
import socket
import ssl
import subprocess
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from proxy_peers import NotInstalled, Running, free_port, peers

SOURCE = Path(__file__).with_name("proxy_load.c")
IDLE = 10_000
HEARTBEAT = bytes.fromhex("00000015 000c 0000 00000007 0001 63 0001 67 00000001 0001 6d")
API_VERSIONS = bytes.fromhex("0000001b 0012 0003 00000007 0006 636c69656e74 00 05 6b776972 04 312e30 00")
RATE = 1000
SPARE_FILES = 1000
HANDSHAKES = 200
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
LATENCIES = {f"latency, {connections} connections": connections for connections in (1, 50, 500)}


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


def processor(bench: Bench, proxies: list[Running], rounds: int, wanted: list[str]) -> None:
    """Microseconds of processor time an exchange."""
    for work, load in LOADS.items():
        if work not in wanted:
            continue
        found: defaultdict[str, list[float]] = defaultdict(list)
        for proxy in proxies:
            bench.warm(proxy, load)
        for number in range(rounds + 1):
            for proxy in proxies:
                before = proxy.cpu_seconds()
                bench.clients(proxy.port, load, tls=proxy.tls)
                if number:  # the first one warms up
                    found[proxy.name].append((proxy.cpu_seconds() - before) / load.exchanges * 1e6)
        ours = found["kwire native"]
        print(f"{work}, {load.in_flight} in flight on {load.connections} connection(s): us an exchange, and its speed in turns")
        for name, each in found.items():
            ratio = median(theirs / own for theirs, own in zip(each, ours, strict=True))
            print(f"  {name:18} {median(each):8.3f}   kwire native is {ratio:5.2f} of its speed")


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


def handshakes(proxies: list[Running], rounds: int, wanted: list[str]) -> None:
    """Processor time of a connection that is opened, used and closed."""
    if "handshakes" not in wanted:
        return
    found: defaultdict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        for proxy in proxies:
            before = proxy.cpu_seconds()
            for _ in range(HANDSHAKES):
                client(proxy).close()
            if number:
                found[proxy.name].append((proxy.cpu_seconds() - before) / HANDSHAKES * 1e3)
    for name, each in found.items():
        print(f"connections that are opened and closed: {name:18} {median(each):6.3f} ms each")


def idle(proxies: list[Running], count: int, wanted: list[str]) -> None:
    """Memory of idle connections, each of which has asked ApiVersions and sent a Heartbeat."""
    if "idle" not in wanted:
        return
    for proxy in proxies:
        before = proxy.resident_bytes()
        with ExitStack() as open_:
            for _ in range(count):
                open_.enter_context(client(proxy))
            grown, used = proxy.resident_bytes() - before, proxy.cpu_seconds()
            time.sleep(3)
            used = proxy.cpu_seconds() - used
            grown = round(grown * IDLE / count)
            print(f"idle: {proxy.name:18} {grown / 1e6:7.1f} MB more for {IDLE:,}, {used / 3:.3f} of a processor ({count:,} measured)")


def latency(bench: Bench, proxies: list[Running], rounds: int, wanted: list[str]) -> None:
    """Median latency of 70-byte exchanges, 1,000 a second in all."""
    for work, connections in LATENCIES.items():
        if work not in wanted:
            continue
        found: defaultdict[str, list[float]] = defaultdict(list)
        load = Load(connections, 1, 70, 2 * RATE)
        for proxy in proxies:
            bench.warm(proxy, Load(connections, 1, 70, 20 * RATE))  # as fast as it can: 1,000 a second would take minutes
        for _ in range(rounds):
            found["no proxy"].append(bench.clients(bench.port, load, RATE)[1])
            for proxy in proxies:
                found[proxy.name].append(bench.clients(proxy.port, load, RATE, tls=proxy.tls)[1])
        base = median(found["no proxy"])
        print(f"{work}, {RATE} exchanges a second: median us, and what it adds")
        for name, each in found.items():
            print(f"  {name:18} {median(each):8.1f} {median(each) - base:8.1f}")


def main() -> None:
    """Run what is asked for."""
    works = [*LOADS, "idle", "handshakes", *LATENCIES]
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
        proxies = []
        for start in peers():
            try:
                proxy = start(folder, bench.port, count + 100)
            except NotInstalled as missing:
                print(f"left out: {missing}")
                continue
            running.callback(proxy.stop)
            proxies.append(proxy)
        processor(bench, proxies, given.rounds, wanted)
        idle(proxies, count, wanted)
        handshakes(proxies, given.rounds, wanted)
        latency(bench, proxies, given.rounds, wanted)


if __name__ == "__main__":
    main()
