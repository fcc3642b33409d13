"""A real broker on this machine, from the published jars: for tests, and for tools that run clients against it.

Needs Maven and Java and, when jars are not there yet, the network.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_jars import fetch_broker, fetch_old_broker
from kwire.protocol.negotiation import NegotiatingClient
from kwire.protocol.negotiation.outcomes import Agreed, Over, Send

__all__ = ["Broker", "BrokerCertificate", "free_ports", "start_broker", "start_old_broker"]

CLUSTER_ID = "kwireTestsQmNUu0Mw9cVQ"  # 22 characters of base64url
SCRAM_USER = "SCRAM-SHA-256=[name=alice,password=scrambled]"
SINK = Path(__file__).resolve().parents[1] / "tests" / "integration" / "java" / "TelemetrySink.java"
# A broker of tests lives for minutes: compiling its code well takes longer than running it.
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

# KRaft, broker and controller in one process, with listeners that authenticate and one that does not.
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}{tls_listeners}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl}{tls_listeners}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";
listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
log.dirs={folder}/data
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.consumer.min.assignment.interval.ms=0
group.consumer.assignment.interval.ms=0
group.consumer.assignor.offload.enable=false
metric.reporters=TelemetrySink
telemetry.sink.file={folder}/pushed.txt
"""
# Brokers with ZooKeeper, from before KRaft.
_OLD_PROPERTIES = """\
broker.id=1
listeners=PLAINTEXT://127.0.0.1:{port}
zookeeper.connect=127.0.0.1:{zookeeper}
log.dirs={folder}/data
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
"""
# Requests are logged as JSON (KIP-673) once `kafka.request.logger` is set to DEBUG, with kafka-configs or by an admin client. Kafka 4 takes
# the form of log4j 1 too.
_LOGGING = """\
log4j.rootLogger=WARN, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.appender.requests=org.apache.log4j.FileAppender
log4j.appender.requests.File={folder}/requests.log
log4j.appender.requests.layout=org.apache.log4j.PatternLayout
log4j.appender.requests.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.kafka.request.logger=WARN, requests
log4j.additivity.kafka.request.logger=false
"""
_TLS_PROPERTIES = """\
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={truststore}
listener.name.ssl.ssl.client.auth=required
"""


@dataclass(frozen=True)
class BrokerCertificate:
    """PEM files for the listeners with TLS."""

    keystore: Path  # key in PKCS #8, as Kafka requires, and the certificates of 127.0.0.1
    truststore: Path  # the authority of clients


@dataclass(frozen=True)
class Broker:
    """A running broker; ports are on 127.0.0.1."""

    release: str
    plain: int
    sasl: int  # user `alice` has password `secret` by PLAIN, and `scrambled` by SCRAM-SHA-256
    tls: int  # with a client certificate; 0 without `BrokerCertificate`
    sasl_tls: int
    libs: Path  # folder with its jars
    folder: Path  # `broker.log`, `pushed.txt` of `TelemetrySink.java`, `requests.log` if `kafka.request.logger` has level DEBUG
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.plain}"

    def stop(self, seconds: float = 15) -> None:
        """Stop it, gracefully if it ends in time."""
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in found]


def _answers(port: int) -> bool:
    machine = NegotiatingClient()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            outcomes = machine.connected(time.monotonic_ns())
            while not any(isinstance(each, (Agreed, Over)) for each in outcomes):
                connection.sendall(b"".join(each.data for each in outcomes if isinstance(each, Send)))
                data = connection.recv(65536)
                outcomes = machine.receive(data, time.monotonic_ns()) if data else machine.closed(time.monotonic_ns())
    except OSError:
        return False
    return not machine.over


def start_broker(release: str, folder: Path, cache: Path, certificate: BrokerCertificate | None = None) -> Broker:
    """Start a broker with files in an empty folder, and wait until it answers. Raises RuntimeError: a tool is missing, or it does not
    start."""
    missing = [tool for tool in ("mvn", "java", "javac") if shutil.which(tool) is None]
    if missing:
        raise RuntimeError(f"{' and '.join(missing)} cannot be found (Debian: apt-get install maven default-jdk)")
    libs = fetch_broker(release, cache)
    plain, sasl, controller, tls, sasl_tls = free_ports(5)
    properties = folder / "server.properties"
    listeners = "" if certificate is None else f",SSL://127.0.0.1:{tls},SASL_SSL://127.0.0.1:{sasl_tls}"
    text = _PROPERTIES.format(plain=plain, sasl=sasl, controller=controller, tls_listeners=listeners, folder=folder)
    if certificate is not None:
        text += _TLS_PROPERTIES.format(keystore=certificate.keystore, truststore=certificate.truststore)
    properties.write_text(text)
    # Brokers advertise telemetry (KIP-714) once a plug-in takes it.
    _run("javac", *(f"-J{option}" for option in _QUICK), "-cp", f"{libs}/*", "-d", str(folder / "plugin"), str(SINK))
    java = ["java", *_QUICK, "-Xmx384m", "-cp", f"{libs}/*:{folder / 'plugin'}"]
    _run(*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties), "-S", SCRAM_USER)
    logging = folder / "log4j.properties"
    logging.write_text(_LOGGING.format(folder=folder))
    options = [f"-Dlog4j.configuration=file:{logging}", "-Dlog4j1.compatibility=true"]
    with (folder / "broker.log").open("wb") as log:
        process = subprocess.Popen([*java, *options, "kafka.Kafka", str(properties)], stdout=log, stderr=subprocess.STDOUT)
    _wait(process, plain, folder, 120)
    opened = (0, 0) if certificate is None else (tls, sasl_tls)
    return Broker(release, plain, sasl, *opened, libs, folder, process)


@contextlib.contextmanager
def start_old_broker(release: str, folder: Path, cache: Path) -> Iterator[int]:
    """Start a broker of a release from 0.10 to 2.7 with its ZooKeeper, and yield its port once it answers; stop both at the end. Raises
    RuntimeError: the broker does not start."""
    zookeeper, port = free_ports(2)
    properties, logging = folder / "server.properties", folder / "log4j.properties"
    properties.write_text(_OLD_PROPERTIES.format(port=port, zookeeper=zookeeper, folder=folder))
    logging.write_text(_LOGGING.format(folder=folder))
    given = [f"-Dlog4j.configuration=file:{logging}", "-Dzookeeper.jmx.log4j.disable=true"]
    java = ["java", *_QUICK, "-Xmx384m", "-cp", f"{fetch_old_broker(release, cache)}/*", *given]
    with contextlib.ExitStack() as stack:
        log = stack.enter_context((folder / "broker.log").open("wb"))
        for main in (
            ("org.apache.zookeeper.server.ZooKeeperServerMain", str(zookeeper), str(folder / "zookeeper")),
            ("kafka.Kafka", str(properties)),
        ):
            process = stack.enter_context(subprocess.Popen([*java, *main], stdout=log, stderr=subprocess.STDOUT))
            stack.callback(process.kill)
        _wait(process, port, folder, 60)
        yield port


def _wait(process: subprocess.Popen[bytes], port: int, folder: Path, seconds: int) -> None:
    until = time.monotonic() + seconds
    while not _answers(port):
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise RuntimeError(f"the broker did not start:\n{(folder / 'broker.log').read_text()[-3000:]}")
        time.sleep(0.05)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
