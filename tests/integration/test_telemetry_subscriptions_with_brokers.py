"""`kwire broker telemetry list|alter|describe|delete` against real brokers of the newest release and of 3.9."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.cluster.broker_session import Address, BrokerSession
from kwire.protocol.telemetry import MetricStore, TelemetryClient
from kwire.protocol.telemetry.client_outcomes import Accepted, Subscribed
from kwire.schema import releases

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

CREATED = "org.apache.kafka.producer.connection.creation.total"
CLIENT = "kwire-operator"


class Operator:
    def __init__(self, server: str) -> None:
        self.server = server

    def invoke(self, *arguments: str, **environment: str) -> Any:
        return CliRunner(env=environment).invoke(commands, ["broker", "telemetry", *arguments, "--bootstrap-server", self.server])

    def say(self, *arguments: str, **environment: str) -> list[Any]:
        result = self.invoke(*arguments, "--json", **environment)
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.output.splitlines()]

    def names(self) -> list[str]:
        return [each["name"] for each in self.say("list")]

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what the broker learns of a change, a moment after the controller has confirmed it."""
        end = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.requirement("K714-98", "K714-99", "K714-100", "K714-101")
@pytest.mark.parametrize("release", [releases().newest.name, releases().resolve("3.9").name])
def test_subscriptions_of_a_cluster(kafka_broker: Callable[[str], Any], release: str) -> None:
    operator = Operator(kafka_broker(release).address)
    before = operator.names()
    assert "slow" not in before

    set_first = {"interval.ms": "60000", "match": "client_id=a.*,client_software_name=librdkafka", "metrics": "a.,b."}
    arguments = ("--interval", set_first["interval.ms"], "--match", set_first["match"], "--metrics", set_first["metrics"])
    assert operator.say("alter", "--name", "slow", *arguments) == [{"name": "slow", "altered": set_first}]
    operator.until(lambda: "slow" in operator.names())
    assert operator.say("describe", "--name", "slow") == [{"name": "slow", "properties": set_first}]

    operator.say("alter", "--name", "slow", "--match", "", "--metrics", "a.")  # an empty value removes the key
    left = {"interval.ms": "60000", "metrics": "a."}
    operator.until(lambda: operator.say("describe", "--name", "slow") == [{"name": "slow", "properties": left}])

    operator.say("--add", "--id", "slow", "--metric", "c.", "--metric", "d.", "--interval-ms", "500")  # as the draft has it
    more = {"interval.ms": "500", "metrics": "a.,c.,d."}
    operator.until(lambda: {"name": "slow", "properties": more} in operator.say("describe"))
    assert operator.say("--delete", "--id", "slow", "--metric", "a.", "--metric", "d.") == [
        {"name": "slow", "deleted": False, "metrics": ["c."]}
    ]
    operator.until(lambda: operator.say("describe", "--name", "slow")[0]["properties"]["metrics"] == "c.")

    (made,) = operator.say("--alter", "--generate-name", "--interval", "1000")
    assert len(made["name"]) == 22
    operator.until(lambda: sorted(operator.names()) == sorted((*before, "slow", made["name"])))
    for name in ("slow", made["name"]):
        assert operator.say("delete", "--name", name) == [{"name": name, "deleted": True}]
    operator.until(lambda: operator.names() == before)
    unknown = operator.invoke("describe", "--name", "slow")
    assert (unknown.exit_code, unknown.stderr) == (1, f"kwire: {operator.server} knows no subscription 'slow'.\n")
    refused = operator.invoke("alter", "--name", "slow", "--match", "client_id=(")
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"kwire: {operator.server} refuses to alter 'slow': Illegal client matching pattern")


def test_a_listener_that_authenticates(kafka_broker: Callable[[str], Any]) -> None:
    operator = Operator(f"127.0.0.1:{kafka_broker(releases().newest.name).sasl}")
    assert isinstance(operator.say("list", "--sasl-user", "alice", KWIRE_SASL_PASSWORD="secret"), list)
    wrong = operator.invoke("list", "--sasl-user", "alice", KWIRE_SASL_PASSWORD="guessed")
    assert wrong.exit_code == 1
    assert "refuses to log in 'alice'" in wrong.stderr
    assert "SASL_AUTHENTICATION_FAILED" in wrong.stderr
    assert "guessed" not in wrong.output
    nobody = operator.invoke("list")
    assert nobody.exit_code == 1
    assert "a listener that authenticates" in nobody.stderr


@pytest.mark.parametrize("release", [releases().newest.name, releases().resolve("3.9").name])
def test_a_login_by_scram(kafka_broker: Callable[[str], Any], tmp_path: Path, release: str) -> None:
    operator = Operator(f"127.0.0.1:{kafka_broker(release).sasl}")
    config = tmp_path / "client.properties"
    for password in ("scrambled", "guessed"):
        jaas = f'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="{password}";'
        config.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config={jaas}\n")
        done = operator.invoke("list", "--command-config", str(config))
        assert (done.exit_code, "SASL_AUTHENTICATION_FAILED" in done.stderr) == ((0, False) if password == "scrambled" else (1, True))


@pytest.mark.requirement("K714-104")
def test_a_client_is_watched_and_let_go(kafka_broker: Callable[[str], Any]) -> None:
    broker = kafka_broker(releases().newest.name)
    operator = Operator(broker.address)
    store = MetricStore()
    store.add(CREATED, 2)
    said: list[Any] = []
    heard = 0  # when the latest answer came
    operator.say("alter", "--name", "watch", "--match", f"client_id={CLIENT}", "--metrics", CREATED, "--interval", "200")

    def turn() -> None:
        nonlocal heard
        time.sleep(max(0, ((client.due or 0) - time.time_ns()) / 1e9))
        body = client.next_request(time.time_ns())
        if body is not None:
            answer, heard = session.ask(body), time.time_ns()
            said.extend(client.receive(answer, heard))

    def watched() -> bool:
        nonlocal client
        client = TelemetryClient(store, client_id=CLIENT)
        turn()
        return isinstance(said[-1], Subscribed) and said[-1].wanted.prefixes == (CREATED,)

    def let_go() -> bool:
        turn()
        return isinstance(said[-1], Subscribed) and said[-1].wanted.nothing

    client = TelemetryClient(store, client_id=CLIENT)
    with BrokerSession([Address("127.0.0.1", broker.plain)], client_id=CLIENT) as session:
        operator.until(watched)
        turn()
        assert said[-1] == Accepted(terminating=False)
        operator.say("delete", "--name", "watch")
        operator.until(let_go)
        assert client.due is not None
        assert client.due - heard > 200e9  # it asks again in five minutes and pushes nothing until then
