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
import gc
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from client_security import write_certificate
from kwire import messages
from kwire.protocol.negotiation import NegotiatingClient
from kwire.protocol.negotiation.outcomes import Agreed, Answered, Over, Send

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import SparkSession
    from selenium.webdriver import Chrome

    from kafka_broker import Broker, BrokerCertificate
    from kwire.proxy.server import ProxyServer
    from page_browser import Pages
    from standalone_cluster import Cluster, Drivers

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "kafka-jars"
sys.path.insert(0, str(ROOT / "tools"))


@pytest.fixture(autouse=True)
def sockets_of_clients(request: pytest.FixtureRequest) -> Iterator[None]:
    """What clients left is collected before another test could be blamed for it."""
    yield
    if "kafka" in getattr(request.node.get_closest_marker("xdist_group"), "args", ()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA(organization_name="kwire tests")


@pytest.fixture(scope="session")
def broker_certificate(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> BrokerCertificate:
    from kafka_broker import BrokerCertificate

    folder = tmp_path_factory.mktemp("broker-certificate")
    found = BrokerCertificate(folder / "broker.pem", folder / "authority.pem")
    write_certificate(authority.issue_cert("127.0.0.1"), found.keystore)
    authority.cert_pem.write_to_path(str(found.truststore))
    return found


@pytest.fixture(scope="session")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory, broker_certificate: BrokerCertificate) -> Iterator[Callable[[str], Broker]]:
    """`kafka_broker("4.4.0")`: the broker of a release, the same one for all tests."""
    from kafka_broker import start_broker

    running: dict[str, Broker] = {}

    def broker(release: str) -> Broker:
        if release not in running:
            folder = tmp_path_factory.mktemp(f"kafka-{release}")
            running[release] = start_broker(release, folder, CACHE, broker_certificate)
        return running[release]

    yield broker
    for each in running.values():
        each.process.terminate()
    for each in running.values():
        each.stop()


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


@pytest.fixture(params=["asyncio", "native"])
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each loop of the proxy."""
    from proxied_sockets import LOOP

    monkeypatch.setitem(LOOP, "loop", request.param)
    return str(request.param)


@pytest.fixture(params=["asyncio", "native", "native, TLS"])
def secured(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """Each loop of the proxy, the native one also with TLS on both sides; gives the loop's name."""
    import proxied_sockets

    loop, *tls = request.param.split(", ")
    monkeypatch.setitem(proxied_sockets.LOOP, "loop", loop)
    if tls:
        monkeypatch.setattr(proxied_sockets, "TLS", proxied_sockets.TlsOfBoth(authority, tmp_path_factory.mktemp("tls")))
    return loop


@pytest.fixture
def tls_proxy(loop: str, tmp_path: Path, authority: trustme.CA) -> Iterator[ProxyServer]:
    """A proxy with TLS towards clients, in front of a broker that echoes."""
    from proxied_sockets import TlsOfBoth
    from threaded_proxy import echo_broker, proxied

    limits = {f"max_{each}_of_address": 1000 for each in ("rate", "connections", "handshakes")}
    with echo_broker() as port, proxied(port, TlsOfBoth(authority, tmp_path).towards_clients, loop=loop, threads=1, **limits) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def state(tmp_path: Path) -> Path:
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
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if group is not None and "kafka" in group.args:  # client libraries leave sockets to the collector, which says so in any test
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
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
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Drivers:
    from standalone_cluster import Drivers

    return Drivers(tmp_path_factory.mktemp("drivers"))


@pytest.fixture(scope="session")
def standalone_cluster(drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master, and what workers are left of a test: each asks for those that it needs (`Cluster.ready`)."""
    from standalone_cluster import Cluster

    cluster = Cluster(tmp_path_factory.mktemp("cluster"), drivers)
    try:
        yield cluster
    finally:
        cluster.end()


@pytest.fixture(scope="session")
def two_packs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The captures of `standalone_cluster.two_packs`."""
    from standalone_cluster import two_packs

    return two_packs(tmp_path_factory.mktemp("two-packs"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kwire's sdist; tests that use it share the xdist group `build`."""
    from built_wheel import make_sdist

    return make_sdist(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def compiled_wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from built_wheel import make_wheel

    return make_wheel(sdist, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory, analysis_tables: ModuleType, large_fleet: ModuleType) -> Pages:
    from page_browser import make_pages

    return make_pages(tmp_path_factory.mktemp("pages"), analysis_tables, large_fleet)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser that may write to the clipboard; tests that use it share the xdist group `browser`."""
    from page_browser import started

    with started(tmp_path_factory.mktemp("profile")) as driver:
        driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        yield driver
