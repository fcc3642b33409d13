#!/usr/bin/env python3
"""Real clients through the proxy with all rules on, many records each way: whether all came back in their order, and what it cost.

    python tools/many_records.py [RECORDS] [--brokers 3.9.2]... [--client NAME]... [--loop auto|native|asyncio] [--protocol NAME]...

Each client makes a topic, sends RECORDS (100,000) and 100 more in a transaction, reads them in a group and deletes the topic. A line is a
client: seconds it took, and processor time of the proxy, which has a process of its own. Needs what
tests/integration/test_proxy_with_clients.py needs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / each) for each in ("tools", "tests", "tests/integration", "src")]

import trustme  # noqa: E402
from test_proxy_with_clients import CLIENTS, PROTOCOLS, Secured, run_client  # noqa: E402

from client_security import write_certificate  # noqa: E402
from kafka_broker import BrokerCertificate, start_broker  # noqa: E402
from threaded_proxy import free_port  # noqa: E402

CACHE = ROOT / ".cache" / "kafka-jars"
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """User and system time so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def toml(port: int, broker: int, tls: dict[str, Any], loop: str, folder: Path) -> str:
    """All rules at once, as in the tests, but without taps, whose cost is known."""
    text = f'loop = "{loop}"\nmetrics = "127.0.0.1:0"\n[[listeners]]\nlisten = "127.0.0.1:{port}"\nadvertised = "127.0.0.1:{port}"\n'
    text += f'broker = "127.0.0.1:{broker}"\nnode_id = 1\n'
    for side, config in tls.items():
        given = {name: getattr(config, name) for name in config.__struct_fields__}
        text += f"[listeners.{side}]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items() if value)
    text += f'[versions]\ncap = "4.4"\n[rehearsal]\nrelease = "4.4"\n[telemetry]\nfile = "{folder}/pushed.jsonl"\n'
    return text + '[[refusals]]\nclient_id = "none such"\n'


@contextlib.contextmanager
def proxy(config: str, port: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`kwire proxy` with this configuration."""
    path = folder / "proxy.toml"
    path.write_text(config)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with (folder / "proxy.log").open("ab") as log:
        running = subprocess.Popen([sys.executable, "-m", "kwire", "proxy", str(path)], env=environment, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 20
        while f"port {port} stands" not in (folder / "proxy.log").read_text():
            if running.poll() is not None or time.monotonic() > until:
                raise SystemExit((folder / "proxy.log").read_text())
            time.sleep(0.1)
        yield running
    finally:
        running.terminate()
        running.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=int, nargs="?", default=100_000)
    parser.add_argument("--brokers", action="append", help="release of a broker")
    parser.add_argument("--client", action="append", choices=CLIENTS)
    parser.add_argument("--protocol", action="append", choices=PROTOCOLS)
    parser.add_argument("--loop", default="auto")
    given = parser.parse_args()
    wrong = 0
    authority = trustme.CA(organization_name="kwire")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        authority.cert_pem.write_to_path(str(folder / "ca.pem"))
        files = [write_certificate(authority.issue_cert("127.0.0.1", common_name=name), folder / f"{name}.pem") for name in
                 ("proxy", "upstream", "client", "broker")]  # fmt: skip
        secured = Secured(str(folder / "ca.pem"), *files[:3])
        for release in given.brokers or ["3.9.2", "4.4.0"]:
            (folder / release).mkdir()
            broker = start_broker(release, folder / release, CACHE, BrokerCertificate(Path(files[3]), folder / "ca.pem"))
            try:
                for protocol in given.protocol or PROTOCOLS[:1]:
                    listening, tls, security = secured.listener(protocol, broker)
                    for client in given.client or CLIENTS:
                        port = free_port()
                        with proxy(toml(port, listening, tls, given.loop, folder), port, folder) as running:
                            used, began, result = processor_seconds(running), time.monotonic(), "all came back"
                            try:
                                run_client(client, f"127.0.0.1:{port}", f"{protocol}-{client}", security, given.records)
                            except Exception as error:  # noqa: BLE001 - how it failed is the result
                                wrong += 1
                                result = f"{type(error).__name__}: {str(error)[:300]}"
                            used = processor_seconds(running) - used
                            took = time.monotonic() - began
                        print(f"{release} {protocol} {client}: {result}; {took:.1f} s, proxy {used:.2f} s of processor time", flush=True)
            finally:
                broker.stop()
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
