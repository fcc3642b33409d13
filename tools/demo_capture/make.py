#!/usr/bin/env python3
"""Make examples/three-brokers.pcap.gz: a fleet of clients of all ages on three brokers, each client with an address of its own.

    sudo python tools/demo_capture/make.py SCRATCH_FOLDER [SECONDS]

Needs Linux, root (network namespaces), dumpcap and editcap (wireshark-common), Java with javac, Maven, Go, npm, and the package registries.
The brokers run Kafka 3.9; consumer groups rebalance while members come and go, one client is throttled by a quota, two push telemetry.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "src")]

RELEASE = "3.9.2"
BRIDGE = "kwiredemo"
BROKERS = {1: "10.20.0.11", 2: "10.20.0.12", 3: "10.20.0.13"}
BOOTSTRAP = ",".join(f"{host}:9092" for host in BROKERS.values())
TOPICS = ("orders", "payments", "clicks", "audit")
JAVA = ("0.10.2.2", "0.11.0.3", "1.1.1", "2.0.1", "2.8.2", "3.7.2", "4.3.1")
PYTHON = {
    "kafka-python-1.4": ["kafka-python==1.4.7"], "kafka-python-2.0": ["kafka-python==2.0.2"], "aiokafka": ["aiokafka==0.12.0"],
    "confluent-2.0": ["confluent-kafka==2.0.2"], "confluent-2.6": ["confluent-kafka==2.6.1"],
}  # fmt: skip
KAFKAJS = {"kafkajs-1.4": "kafkajs@1.4.6", "kafkajs-2.2": "kafkajs@2.2.4"}

PROPERTIES = """\
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://{host}:9092,CONTROLLER://{host}:9093
advertised.listeners=PLAINTEXT://{host}:9092
controller.listener.names=CONTROLLER
log.dirs={folder}/data
num.partitions=3
default.replication.factor=2
offsets.topic.num.partitions=3
offsets.topic.replication.factor=3
group.initial.rebalance.delay.ms=0
replica.fetch.wait.max.ms=3000
controller.quorum.fetch.timeout.ms=6000
metric.reporters=TelemetrySink
telemetry.sink.file={folder}/pushed.txt
"""


class Application(NamedTuple):
    """One client: its address, client id, library, and what it does from when to when (seconds)."""

    address: str
    client_id: str
    library: str
    mode: str
    topic: str
    group: str
    begin: int
    end: int


def applications(seconds: int) -> list[Application]:
    """The fleet; groups have members that come and go."""
    whole, half = (2, seconds), (seconds // 3, 2 * seconds // 3)
    return [
        Application("10.20.1.11", "pricing-svc", "java-0.10.2.2", "produce", "orders", "-", *whole),
        Application("10.20.1.14", "stock-feed", "java-0.11.0.3", "produce", "clicks", "-", *whole),
        Application("10.20.1.12", "ledger-batch", "java-1.1.1", "consume", "payments", "ledger", *whole),
        Application("10.20.1.13", "crm-sync", "java-2.0.1", "consume", "orders", "crm", *whole),
        Application("10.20.2.11", "checkout-1", "java-3.7.2", "produce", "orders", "-", *whole),
        Application("10.20.2.12", "checkout-2", "java-4.3.1", "produce", "payments", "-", *whole),
        Application("10.20.2.13", "etl-bulk", "java-2.8.2", "produce", "clicks", "bulk", *whole),
        Application("10.20.2.21", "fulfilment-1", "java-4.3.1", "consume", "orders", "fulfilment", *whole),
        Application("10.20.2.22", "fulfilment-2", "java-2.8.2", "consume", "orders", "fulfilment", *half),
        Application("10.20.3.11", "recommender", "confluent-2.0", "consume", "clicks", "recommender", *whole),
        Application("10.20.3.12", "web-events", "confluent-2.6", "produce", "clicks", "-", *whole),
        Application("10.20.3.13", "fraud-scorer", "confluent-2.6", "consume", "payments", "fraud", *whole),
        Application("10.20.3.14", "fraud-scorer-2", "confluent-2.6", "consume", "payments", "fraud", *half),
        Application("10.20.4.11", "audit-export", "kafka-python-1.4", "consume", "audit", "audit", *whole),
        Application("10.20.4.12", "report-builder", "kafka-python-2.0", "consume", "orders", "reports", *whole),
        Application("10.20.4.13", "notifier", "aiokafka", "consume", "orders", "notifier", *whole),
        Application("10.20.5.11", "edge-gateway", "sarama-1.23", "produce", "audit", "0.10.2.0", *whole),
        Application("10.20.5.12", "edge-gateway-new", "sarama-1.43", "produce", "audit", "2.8.0", *whole),
        Application("10.20.5.13", "web-frontend-old", "kafkajs-1.4", "consume", "clicks", "frontend-old", *whole),
        Application("10.20.5.14", "web-frontend", "kafkajs-2.2", "consume", "clicks", "frontend", *whole),
    ]


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run to the end, or stop with what it said."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


class Libraries:
    """Installs each client library once and says how to start an application with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def install(self) -> None:
        for release in JAVA:
            self._java(release)
        for name, packages in PYTHON.items():
            if not (self._folder / name).exists():
                run(sys.executable, "-m", "venv", self._folder / name)
                run(self._folder / name / "bin" / "pip", "install", "-q", "--only-binary", ":all:", *packages)
        for name, package in KAFKAJS.items():
            if not (self._folder / name / "node_modules").exists():
                (self._folder / name).mkdir(exist_ok=True)
                run("npm", "install", "--silent", "--prefix", self._folder / name, package)
                (self._folder / name / "client.js").write_text((HERE / "kafkajs_client.js").read_text())
        # the module moved from Shopify to IBM with 1.38
        self._sarama("sarama-1.23", "github.com/Shopify/sarama", "v1.23.1")
        self._sarama("sarama-1.43", "github.com/IBM/sarama", "v1.43.3")

    def _java(self, release: str) -> None:
        libs = self._folder / f"java-{release}"
        if (libs / "DemoClient.class").exists():
            return
        pom = self._folder / f"pom-{release}.xml"
        pom.write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            "<groupId>demo</groupId><artifactId>demo</artifactId><version>1</version><dependencies><dependency>"
            "<groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId>"
            f"<version>{release}</version></dependency></dependencies></project>"
        )
        run("mvn", "-q", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={libs}")
        run("javac", "--release", "8", "-Xlint:-options", "-cp", f"{libs}/*", "-d", libs, HERE / "DemoClient.java")

    def _sarama(self, name: str, module: str, version: str) -> None:
        folder = self._folder / name
        if (folder / "client").exists():
            return
        folder.mkdir(exist_ok=True)
        (folder / "main.go").write_text((HERE / "sarama.go").read_text().replace("github.com/IBM/sarama", module))
        (folder / "go.mod").write_text(f"module demo\n\ngo 1.21\n\nrequire {module} {version}\n")
        run("go", "mod", "tidy", cwd=folder)
        run("go", "build", "-o", "client", ".", cwd=folder)

    def command(self, one: Application) -> list[str]:
        """How to start an application."""
        folder, seconds = self._folder / one.library, str(one.end - one.begin)
        kind = one.library.rpartition("-")[0] or one.library
        if kind == "java":
            java = ["java", "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", f"{folder}/*:{folder}"]
            return [*java, "DemoClient", BOOTSTRAP, one.client_id, seconds, one.mode, one.topic, one.group]
        if kind == "sarama":
            return [f"{folder}/client", BOOTSTRAP, one.client_id, seconds, one.topic, one.group]
        if kind == "kafkajs":
            return ["node", f"{folder}/client.js", BOOTSTRAP, one.client_id, seconds, one.topic, one.group]
        library = {"kafka-python": "kafka-python", "confluent": "confluent"}.get(kind, "aiokafka")
        return [f"{folder}/bin/python", str(HERE / "client.py"), BOOTSTRAP, one.client_id, seconds, one.mode, one.topic, one.group, library]


@contextmanager
def network(addresses: list[str]) -> Iterator[None]:
    """A bridge with the brokers' addresses, and a namespace for each client."""
    names = [f"kwd{number}" for number in range(len(addresses))]
    try:
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        for host in BROKERS.values():
            run("ip", "addr", "add", f"{host}/16", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for name, address in zip(names, addresses, strict=True):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"{name}h", "type", "veth", "peer", "name", f"{name}c")
            run("ip", "link", "set", f"{name}c", "netns", name)
            run("ip", "link", "set", f"{name}h", "master", BRIDGE, "up")
            run("ip", "netns", "exec", name, "ip", "addr", "add", f"{address}/16", "dev", f"{name}c")
            run("ip", "netns", "exec", name, "ip", "link", "set", f"{name}c", "up")
            run("ip", "netns", "exec", name, "ip", "link", "set", "lo", "up")
        yield
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", BRIDGE], capture_output=True, check=False)


@contextmanager
def brokers(folder: Path, libs: Path) -> Iterator[None]:
    """Three brokers that are controllers too."""
    from confluent_kafka.admin import AdminClient, NewTopic

    plugin = folder / "plugin"
    run("javac", "-cp", f"{libs}/*", "-d", plugin, ROOT / "tests" / "integration" / "java" / "TelemetrySink.java")
    voters = ",".join(f"{node}@{host}:9093" for node, host in BROKERS.items())
    java = ["java", "-Xmx320m", "-XX:TieredStopAtLevel=1", "-cp", f"{libs}/*:{plugin}"]
    with ExitStack() as stack:
        for node, host in BROKERS.items():
            own = folder / f"broker-{node}"
            own.mkdir(parents=True, exist_ok=True)
            properties = own / "server.properties"
            properties.write_text(PROPERTIES.format(node=node, host=host, voters=voters, folder=own))
            run(*java, "kafka.tools.StorageTool", "format", "-t", "kwireDemoQmNUu0Mw9cVQg", "-c", properties)
            log = stack.enter_context((own / "broker.log").open("wb"))
            process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=subprocess.STDOUT)
            stack.callback(process.wait)
            stack.callback(process.kill)
        wait_for_brokers()
        admin = AdminClient({"bootstrap.servers": BOOTSTRAP})
        for made in admin.create_topics([NewTopic(topic, 3, 2) for topic in TOPICS]).values():
            made.result()
        config = [*java, "kafka.admin.ConfigCommand", "--bootstrap-server", BOOTSTRAP, "--alter"]
        run(*config, "--add-config", "producer_byte_rate=1500", "--entity-type", "clients", "--entity-name", "etl-bulk")
        run(*config, "--add-config", "interval.ms=15000,metrics=[org.apache.kafka.producer.,org.apache.kafka.consumer.]", "--entity-type",
            "client-metrics", "--entity-name", "demo")  # fmt: skip
        yield


def wait_for_brokers() -> None:
    """Until all three are known to the first."""
    import socket

    until = time.monotonic() + 120
    for host in BROKERS.values():
        while True:
            try:
                socket.create_connection((host, 9092), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > until:
                    raise SystemExit(f"broker {host} does not start") from None
                time.sleep(0.5)
    time.sleep(8)


def play(libraries: Libraries, fleet: list[Application], folder: Path, seconds: int) -> None:
    """Start every application when its time comes, and wait for all."""
    running: list[subprocess.Popen[bytes]] = []
    begin = time.monotonic()
    for number, one in sorted(enumerate(fleet), key=lambda each: each[1].begin):
        time.sleep(max(0.0, begin + one.begin - time.monotonic()))
        with (folder / f"{one.client_id}.log").open("wb") as log:
            command = ["ip", "netns", "exec", f"kwd{number}", *libraries.command(one)]
            running.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT))
    for process in running:
        try:
            process.wait(max(1.0, begin + seconds + 30 - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()


def main() -> None:
    """Make the capture."""
    from kafka_jars import fetch_broker

    folder = Path(sys.argv[1]).resolve()
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 240
    folder.mkdir(parents=True, exist_ok=True)
    libraries = Libraries(folder)
    libraries.install()
    libs = fetch_broker(RELEASE, ROOT / ".cache" / "kafka-jars")
    fleet = applications(seconds)
    raw, whole = folder / "raw.pcapng", folder / "whole.pcap"
    with network([one.address for one in fleet]), brokers(folder, libs):
        capturing = subprocess.Popen(["dumpcap", "-q", "-i", BRIDGE, "-f", "tcp port 9092", "-w", str(raw)], stderr=subprocess.DEVNULL)
        time.sleep(2)
        try:
            play(libraries, fleet, folder, seconds)
        finally:
            capturing.terminate()
            capturing.wait()
    run("editcap", "-F", "pcap", raw, whole)
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    run(sys.executable, "-m", "kwire", "trim", whole, folder / "three-brokers.pcap", "--port", "9092", "--overwrite", env=env)
    run("gzip", "-9nf", folder / "three-brokers.pcap")
    print(folder / "three-brokers.pcap.gz", (folder / "three-brokers.pcap.gz").stat().st_size)


if __name__ == "__main__":
    main()
