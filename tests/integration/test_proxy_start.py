"""The first lines of `kwire proxy`: its ports, and what is wrong with its brokers, also by `--check --connect`."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka.admin import AdminClient

from kwire.cli.entry import commands
from kwire.cli.proxy_check import check_brokers
from kwire.cluster.broker_session import Login, addresses
from kwire.proxy.config import AddressesConfig, ListenerConfig, ProxyConfig
from kwire.schema import releases
from running_proxy import RunningProxy

LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (INFO|WARNING) (.+)")
ADVERTISED = 'advertised = "proxy.example.com:19092"\n'
BYPASS = "get the brokers' own addresses and bypass the proxy"


@pytest.fixture(scope="module")
def mock() -> Iterator[dict[int, str]]:
    """Addresses of the brokers of librdkafka's mock cluster, by node id."""
    admin = AdminClient({"test.mock.num.brokers": 3, "bootstrap.servers": "mock"})
    yield {each.id: f"{each.host}:{each.port}" for each in admin.list_topics(timeout=10).brokers.values()}
    del admin


def listener(broker: str, node_id: int, advertised: str | None = "proxy.example.com:19092") -> ListenerConfig:
    return ListenerConfig(listen=f":{19090 + node_id}", broker=broker, node_id=node_id, advertised=advertised)


def started(folder: Path, broker: int, text: str, more: str = ADVERTISED) -> list[tuple[str, str]]:
    proxy = RunningProxy(folder, broker, listener=more)
    try:
        proxy.logged(text)
        lines = [LINE.fullmatch(line) for line in proxy.log().splitlines()]
    finally:
        proxy.stop()
    assert None not in lines
    return [(line[1], line[2].replace(str(proxy.port), "PORT", 1)) for line in lines if line is not None]


def test_what_is_wrong_is_logged_at_once(mock: dict[int, str], tmp_path: Path) -> None:
    port = int(mock[2].rpartition(":")[2])
    assert started(tmp_path, port, "have no listener") == [
        ("INFO", f"listening on port PORT for broker 1 at 127.0.0.1:{port}"),
        ("WARNING", f"broker 1 at 127.0.0.1:{port}: its node id is 2, not 1: set node_id = 2, or --node-id 2"),
        (
            "WARNING",
            "brokers 1 and 3 have no listener, so clients whose answers name them are closed: add [[listeners]] with node_id = 1, or "
            'unknown_node = "keep" under [addresses]',
        ),
    ]


def test_clients_that_bypass_the_proxy_are_a_warning(mock: dict[int, str], tmp_path: Path) -> None:
    port = int(mock[1].rpartition(":")[2])
    _, (level, text), last = started(tmp_path, port, "can be reached", more="")
    assert level == "WARNING"
    assert BYPASS in text
    assert last == ("INFO", "all brokers can be reached (1)")


def test_a_broker_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as bound:  # a port that refuses connections, and that nobody else gets
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        first, second = started(tmp_path, port, "cannot be reached")
    assert first == ("INFO", f"listening on port PORT for broker 1 at 127.0.0.1:{port}")
    assert second == ("WARNING", f"broker 1 at 127.0.0.1:{port} cannot be reached: cannot connect to 127.0.0.1:{port}: Connection refused")


def test_all_listeners_of_a_cluster(mock: dict[int, str]) -> None:
    every = [listener(broker, node_id) for node_id, broker in mock.items()]
    found = check_brokers(ProxyConfig(listeners=every))
    assert (found.brokers, found.wrong, found.notes) == (3, [], [])
    found = check_brokers(ProxyConfig(listeners=every[:2]))
    assert [each.partition(",")[0] for each in found.wrong] == ["broker 3 has no listener"]
    found = check_brokers(ProxyConfig(listeners=every[:2], addresses=AddressesConfig(unknown_node="keep")))
    assert (found.wrong, found.notes) == ([], ["broker 3 has no listener: clients reach it without the proxy"])
    assert not check_brokers(ProxyConfig(listeners=[listener(mock[2], -1, None)])).wrong  # names no addresses


def test_check_connect(mock: dict[int, str]) -> None:
    arguments = ["proxy", "--listen", ":19092", "--advertised", "proxy.example.com:19092", "--check"]
    wrong = CliRunner().invoke(commands, [*arguments, "--broker", mock[1], "--node-id", "3", "--connect"])
    assert (wrong.exit_code, "its node id is 1, not 3" in wrong.output) == (1, True)
    assert CliRunner().invoke(commands, [*arguments, "--broker", mock[1], "--node-id", "3"]).exit_code == 0
    assert CliRunner().invoke(commands, [*arguments[:-1], "--broker", mock[1], "--connect"]).exit_code == 2


@pytest.mark.parametrize("listen", [":19092", "0.0.0.0:19092", "[::]:19092", "127.0.0.1:0"])
def test_a_rehearsal_that_clients_would_bypass(listen: str) -> None:
    arguments = ["proxy", "--listen", listen, "--broker", "kafka:9092", "--check"]
    warned = CliRunner().invoke(commands, arguments)
    assert (warned.exit_code, BYPASS in warned.stderr) == (0, True)
    refused = CliRunner().invoke(commands, [*arguments, "--rehearse", "4.3"])
    assert (refused.exit_code, "the rehearsal would miss their requests" in refused.output) == (1, True)
    assert CliRunner().invoke(commands, [*arguments, "--rehearse", "4.3", "--advertised", "proxy:19092"]).exit_code == 0


@pytest.mark.matrix
@pytest.mark.xdist_group("kafka")
@pytest.mark.parametrize("release", [releases().newest.name, releases().resolve("3.9").name])
def test_a_broker_says_its_own_node_id(kafka_broker: Callable[[str], Any], release: str) -> None:
    broker = kafka_broker(release)
    ((host, port),) = addresses(broker.address)
    place = f"localhost:{port}"  # not the address in Metadata
    assert host == "127.0.0.1"
    assert not check_brokers(ProxyConfig(listeners=[listener(place, 1)])).wrong
    (wrong,) = check_brokers(ProxyConfig(listeners=[listener(place, 4)])).wrong
    assert wrong == f"broker 4 at {place}: its node id is 1, not 4: set node_id = 1, or --node-id 1"
    sasl = ProxyConfig(listeners=[listener(f"127.0.0.1:{broker.sasl}", 4)])
    (note,) = check_brokers(sasl).notes
    assert "does not say its node id" in note
    (wrong,) = check_brokers(sasl, Login("alice", "secret")).wrong
    assert "its node id is 1, not 4" in wrong
