"""`[cluster]`: the proxy asks for the brokers, which come and go while it runs; ports and SNI names stand for node ids."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
import trustme

from kwire.cli.proxy_check import check_brokers
from kwire.cluster.broker_session import Address
from kwire.errors import InputError
from kwire.proxy.broker_reach import BrokerReach
from kwire.proxy.cluster_map import ClusterMap
from kwire.proxy.config_file import load_config
from kwire.proxy.server import ProxyServer
from kwire.schema import releases
from listening_port import listening
from naming_brokers import Brokers, asked, naming
from threaded_proxy import running


def free_ports(count: int) -> int:
    """The first of some ports in a row that are free."""
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
        try:
            for each in range(port, port + count):
                with socket.socket() as other:
                    other.bind(("127.0.0.1", each))
        except (OSError, OverflowError):
            continue
        return port


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def written(folder: Path, bootstrap: str, port: int, more: str = "", cluster: str = "") -> Path:
    path = folder / "proxy.toml"
    path.write_text(
        f'{more}\n[cluster]\nbootstrap = "{bootstrap}"\nfirst_node_id = 1\nlast_node_id = 4\nbrokers_file = "{folder}/brokers.json"\n'
        f'{cluster}\n[[port_listeners]]\nlisten = "127.0.0.1:{port}"\nadvertised = "127.0.0.1:{port}"\n'
    )
    return path


@pytest.mark.parametrize("loop", ["native", "asyncio"])
def test_brokers_come_and_go(loop: str, tmp_path: Path) -> None:
    port = free_ports(5)
    brokers: Brokers = {}
    with naming(brokers) as one, naming(brokers) as two:
        own = {address: int(address.rpartition(":")[2]) for address in (one, two)}
        brokers[1] = one
        config = load_config(written(tmp_path, one, port, f'loop = "{loop}"', "refresh_seconds = 0.2"))
        with running(ProxyServer(config)):
            found = asked(port)
            assert [(each.node_id, each.host, each.port) for each in found.brokers] == [(1, "127.0.0.1", port + 1)]
            assert asked(port + 1).controller_id == own[one]
            assert asked(port + 3) is None
            brokers[3] = two
            found = asked(port + 1)
            assert [(each.node_id, each.port) for each in found.brokers] == [(1, port + 1), (3, port + 3)]
            until(lambda: asked(port + 3) is not None)
            assert asked(port + 3).controller_id == own[two]
            state = tmp_path / "brokers.json"
            until(lambda: len(json.loads(state.read_text())["brokers"]) == 2)
            assert json.loads(state.read_text())["brokers"][1] == {"node_id": 3, "broker": two, "advertised": [f"127.0.0.1:{port + 3}"]}
            brokers[1] = two  # moved
            until(lambda: asked(port + 1).controller_id == own[two])
            del brokers[1]
            until(lambda: asked(port + 1) is None)
            assert asked(port).controller_id == own[two]  # the way in leads to those that are left


@pytest.mark.parametrize("loop", ["native", "asyncio"])
def test_names_stand_for_node_ids(loop: str, tmp_path: Path, authority: trustme.CA) -> None:
    made = authority.issue_cert("*.kafka.test")
    made.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    made.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    brokers: Brokers = {}
    with naming(brokers) as one:
        brokers |= {1: one, 2: one}
        (tmp_path / "proxy.toml").write_text(
            f'loop = "{loop}"\n[cluster]\nbootstrap = "{one}"\nlast_node_id = 4\n[[sni_listeners]]\nlisten = "127.0.0.1:0"\n'
            f'advertised_port = 443\ndomain = "kafka.test"\n[sni_listeners.tls]\ncertificate = "{tmp_path}/cert.pem"\n'
            f'key = "{tmp_path}/key.pem"\n'
        )
        with running(ProxyServer(load_config(tmp_path / "proxy.toml"))) as server:
            (port,) = server.ports
            for name in ("bootstrap", "broker-2"):
                found = asked(port, trusting, f"{name}.kafka.test")
                assert [(each.node_id, each.host, each.port) for each in found.brokers] == [
                    (1, "broker-1.kafka.test", 443), (2, "broker-2.kafka.test", 443),
                ]  # fmt: skip
            assert asked(port, trusting, "broker-3.kafka.test") is None


def test_a_cluster_that_does_not_answer_keeps_its_brokers(tmp_path: Path) -> None:
    warned: list[str] = []
    brokers: Brokers = {}
    with naming(brokers) as one, naming(brokers) as other:
        brokers[1], brokers[9] = other, one
        found = ClusterMap(load_config(written(tmp_path, one, free_ports(5))), warned.append)
        assert found.place("@1:1").result(30) == other
        assert found.place("kafka:9092").result(30) == "kafka:9092"
        with pytest.raises(OSError, match="the cluster has no broker 2"):
            found.place("@2:1").result(30)
        del brokers[9]
    found.refresh().result(30)
    assert found.place("@1:1").result(30) == other
    (text,) = warned
    assert text.startswith("the cluster cannot be asked for its brokers: cannot connect to 127.0.0.1:")


@pytest.mark.parametrize("loop", ["native", "asyncio"])
def test_clients_of_known_brokers_do_not_wait_for_unknown_ones(
    loop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The bootstrap broker takes connections and does not answer; there are more clients than threads that resolve names."""
    monkeypatch.setattr("kwire.proxy.cluster_map._SECONDS", 600)
    came: list[socket.socket] = []
    released = threading.Event()

    def hang(connection: socket.socket) -> None:
        came.append(connection)
        released.wait(120)

    port = free_ports(5)
    brokers: Brokers = {}
    with naming(brokers) as one, listening(hang) as silent, ExitStack() as clients:
        brokers[1] = one
        config = load_config(written(tmp_path, silent, port, f'loop = "{loop}"\nconnect_seconds = 600', "refresh_seconds = 600"))
        server = ProxyServer(config)
        assert server.cluster is not None
        server.cluster.nodes = {1: Address("127.0.0.1", int(one.rpartition(":")[2]))}
        try:
            with running(server):
                waiting = [clients.enter_context(socket.create_connection(("127.0.0.1", port + 3), 60)) for _ in range(12)]
                until(lambda: server.connections == len(waiting) and bool(came))
                for each in (port, port + 1):
                    assert asked(each).controller_id == int(one.rpartition(":")[2])
                assert server.connections >= len(waiting)
                assert len(came) == 1  # one ask for all
                released.set()  # the next broker is asked, and has no broker 3
                for client in waiting:
                    assert client.recv(1) == b""
        finally:
            released.set()
    assert "broker 3: closed: the broker cannot be reached: the cluster has no broker 3" in caplog.text


def test_a_proxy_is_ready_when_the_cluster_has_named_its_brokers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.proxy.broker_reach._SECONDS", 30)
    brokers: Brokers = {}
    with naming(brokers) as one:
        config = load_config(written(tmp_path, one, free_ports(5)))
        reach = BrokerReach(config, ClusterMap(config, print))
        assert asyncio.run(reach.missing()) == f"no broker can be reached: the cluster at {one} has not named its brokers"
        brokers[1] = one
        assert asyncio.run(reach.missing()) == ""
    assert asyncio.run(reach.missing()) == ""


@pytest.mark.matrix
@pytest.mark.xdist_group("kafka")
def test_a_client_of_a_cluster_that_authenticates(kafka_broker: Callable[[str], Any], tmp_path: Path) -> None:
    """The proxy logs in to ask; librdkafka begins at the bootstrap port, and finds the broker behind the port of its node id."""
    broker = kafka_broker(releases().newest.name)
    port = free_ports(5)
    properties = tmp_path / "client.properties"
    properties.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        'sasl.jaas.config=PlainLoginModule required username="alice" password="secret";\n'
    )
    config = load_config(written(tmp_path, f"127.0.0.1:{broker.sasl}", port, cluster=f'client_properties = "{properties}"'))
    assert check_brokers(config).wrong == []
    with running(ProxyServer(config)) as server:
        login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "secret"}
        client = confluent_kafka.Producer({"bootstrap.servers": f"127.0.0.1:{port}", **login})
        assert {each.id: each.port for each in client.list_topics(timeout=20).brokers.values()} == {1: port + 1}
        client.produce("of-a-cluster", b"x")
        assert client.flush(20) == 0
        assert 1 in {each.node_id for each in server.peers()}
        del client


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[cluster]\nbootstrap = "k:9092"\nlast_node_id = 3', "[cluster] needs [[port_listeners]]"),
        ('[[port_listeners]]\nlisten = ":19092"\nadvertised = "p:19092"', "[[port_listeners]] need [cluster]"),
        (
            '[cluster]\nbootstrap = "k:9092"\nfirst_node_id = 4\nlast_node_id = 3\n[[port_listeners]]\nlisten = ":1"\nadvertised = "p:1"',
            "there are 1 to 1,000 node ids",
        ),
        (
            '[cluster]\nbootstrap = "k:9092"\nlast_node_id = 99\n[[port_listeners]]\nlisten = ":65500"\nadvertised = "p:1"',
            "need 100 further ports",
        ),
        (
            'metrics = ":4"\n[cluster]\nbootstrap = "k:9092"\nlast_node_id = 3\n[[port_listeners]]\nlisten = ":1"\nadvertised = "p:1"',
            "are one port",
        ),
    ],
)
def test_what_cannot_work_is_said(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "proxy.toml").write_text(text)
    with pytest.raises(InputError) as raised:
        load_config(tmp_path / "proxy.toml")
    assert sentence in str(raised.value)


def test_brokers_outside_of_the_node_ids(tmp_path: Path) -> None:
    brokers: Brokers = {}
    with naming(brokers) as one:
        brokers |= {1: one, 7: one}
        (wrong,) = check_brokers(load_config(written(tmp_path, one, 19_092))).wrong
    assert wrong == "broker 7 of the cluster: outside of first_node_id to last_node_id, so clients cannot reach them"
