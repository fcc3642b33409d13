"""A Spark session and real brokers for the tests that want one.

Sessions: `spark`. Brokers are started once for the whole run, from the published jars.

Needs Maven and Java and, on the first run, the network; jars are kept in `.cache/kafka-jars`. A test that wants a broker stands in the
xdist group ``kafka``, so that all of them run in one worker and share it::

    @pytest.mark.xdist_group("kafka")
    def test_something(kafka_broker):
        broker = kafka_broker(release)  # started when first asked for
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kwire import messages
from kwire.protocol.negotiation import NegotiatingClient
from kwire.protocol.negotiation.outcomes import Agreed, Answered, Over, Send

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import SparkSession
    from selenium.webdriver import Chrome

    from page_browser import Pages

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "kafka-jars"
CLUSTER_ID = "kwireTestsQmNUu0Mw9cVQ"  # 22 characters of base64url
SCRAM_USER = "SCRAM-SHA-256=[name=alice,password=scrambled]"

# KRaft, broker and controller in one process, with one listener that authenticates and one that does not.
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
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
group.initial.rebalance.delay.ms=0
group.consumer.min.assignment.interval.ms=0
group.consumer.assignment.interval.ms=0
group.consumer.assignor.offload.enable=false
metric.reporters=TelemetrySink
telemetry.sink.file={folder}/pushed.txt
"""
SINK = Path(__file__).with_name("java") / "TelemetrySink.java"


@dataclass(frozen=True)
class Broker:
    """A running broker.

    Attributes:
        release: such as 4.4.0.
        plain, sasl: ports on 127.0.0.1; the second one knows user `alice` with password `secret`, by PLAIN, and by
            SCRAM-SHA-256 with password `scrambled`.
        libs: the folder with its jars.
        folder: its files; what it says is in `broker.log`, what clients pushed to it in `pushed.txt` (`java/TelemetrySink.java`).
    """

    release: str
    plain: int
    sasl: int
    libs: Path
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.plain}"


def _free_ports(count: int) -> list[int]:
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


def _start(release: str, folder: Path) -> Broker:
    sys.path.insert(0, str(ROOT / "tools"))
    from kafka_jars import fetch_broker

    missing = [tool for tool in ("mvn", "java", "javac") if shutil.which(tool) is None]
    assert not missing, f"{' and '.join(missing)} cannot be found (Debian: apt-get install maven default-jdk)"
    libs = fetch_broker(release, CACHE)
    plain, sasl, controller = _free_ports(3)
    properties = folder / "server.properties"
    properties.write_text(PROPERTIES.format(plain=plain, sasl=sasl, controller=controller, folder=folder))
    # Brokers advertise telemetry (KIP-714) once a plug-in takes it.
    compiling = ["javac", "-cp", f"{libs}/*", "-d", str(folder / "plugin"), str(SINK)]
    made = subprocess.run(compiling, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    java = ["java", "-XX:TieredStopAtLevel=1", "-Xmx384m", "-cp", f"{libs}/*:{folder / 'plugin'}"]
    formatting = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties), "-S", SCRAM_USER]
    done = subprocess.run([*java, *formatting], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with (folder / "broker.log").open("wb") as log:
        process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=subprocess.STDOUT)
    until = time.monotonic() + 120
    while not _answers(plain):
        running = process.poll() is None and time.monotonic() < until
        if not running:
            process.kill()
            raise AssertionError(f"the broker did not start:\n{(folder / 'broker.log').read_text()[-3000:]}")
        time.sleep(0.3)
    return Broker(release, plain, sasl, libs, folder, process)


@pytest.fixture(scope="session")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Broker]]:
    """`kafka_broker("4.4.0")`: the broker of a release, the same one for all tests."""
    running: dict[str, Broker] = {}

    def broker(release: str) -> Broker:
        if release not in running:
            running[release] = _start(release, tmp_path_factory.mktemp(f"kafka-{release}"))
        return running[release]

    yield broker
    for each in running.values():
        each.process.terminate()
    for each in running.values():
        try:
            each.process.wait(15)
        except subprocess.TimeoutExpired:
            each.process.kill()
            each.process.wait()


Asking = Callable[..., Any]


@contextlib.contextmanager
def _connected(port: int) -> Iterator[Asking]:
    """A function that asks the broker and gives the body of its answer."""
    client = NegotiatingClient(client_id="c")
    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:

        def until(outcomes: list[Any], kind: type) -> Any:
            while True:
                wire.sendall(b"".join(each.data for each in outcomes if isinstance(each, Send)))
                found = [each for each in outcomes if isinstance(each, kind | Over)]
                if found:
                    assert isinstance(found[0], kind), found
                    return found[0]
                outcomes = client.receive(wire.recv(65536), time.monotonic_ns())

        until(client.connected(time.monotonic_ns()), Agreed)
        yield lambda body, version=None: until([client.send(body, time.monotonic_ns(), version)], Answered).response.body


def _coordinate(ask: Asking, group: str) -> None:
    """Wait until the broker coordinates groups: its first question makes it create the topic of offsets."""
    until = time.monotonic() + 60
    beat = messages.HeartbeatRequest(group_id=group, member_id="nobody", generation_id=1)
    while True:
        (found,) = ask(messages.FindCoordinatorRequest(coordinator_keys=[group]), 4).coordinators
        if not found.error_code and ask(beat, 4).error_code == 25:  # it has read its groups and knows no such member
            return
        assert time.monotonic() < until, found
        time.sleep(0.2)


@pytest.fixture(scope="session")
def coordinated() -> Callable[[int, str], contextlib.AbstractContextManager[Asking]]:
    """`with coordinated(port, group) as ask`: `ask(body, version)` gives what the group's coordinator answers."""

    @contextlib.contextmanager
    def session(port: int, group: str) -> Iterator[Asking]:
        with _connected(port) as ask:
            _coordinate(ask, group)
            yield ask

    return session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the captures and logs of a stream come to lie."""
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """What a stream is given as stateLocation."""
    return tmp_path / "state"


class SharedSession:
    """One Spark session for all tests that want just some session: its start, and the first query of each kind, take seconds."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._session: SparkSession | None = None

    def get(self) -> SparkSession:
        from kwire.spark.session import open_session

        if self._session is None:
            self._session = self._stack.enter_context(open_session("local[2]", "kwire tests"))
            self._session.conf.set("spark.sql.execution.arrow.pyspark.validateSchema.enabled", "true")
        return self._session

    def end(self) -> None:
        self._session = None
        self._stack.close()


SHARED = SharedSession()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start Spark in their own way come last: the session that others share would end in between and be started again."""
    alone = {item.path for item in items if "without_session" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path in alone)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Tests that are none of Spark find no session."""
    if nextitem is None or nextitem.get_closest_marker("spark") is None:
        SHARED.end()


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """The session that the tests share; `run_job` finds it, as it would in a notebook. Needs the mark `spark` on all tests of the file."""
    return SHARED.get()


@pytest.fixture(scope="module")
def without_session() -> None:
    """There is no session, for tests that start Spark in their own way."""
    SHARED.end()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory, analysis_tables: ModuleType, large_fleet: ModuleType) -> Pages:
    """The pages of `page_browser.Pages`, written once."""
    from page_browser import make_pages

    return make_pages(tmp_path_factory.mktemp("pages"), analysis_tables, large_fleet)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser that may write to the clipboard; tests that use it share the xdist group `browser`."""
    from page_browser import started

    with started(tmp_path_factory.mktemp("profile")) as driver:
        driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        yield driver
