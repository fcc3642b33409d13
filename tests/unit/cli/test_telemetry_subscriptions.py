"""`kwire broker telemetry list|alter|describe|delete`: which arguments go together, and what is said when a broker does not do as asked."""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from click.testing import CliRunner

from kwire import messages
from kwire.cli.entry import commands
from kwire.cluster.broker_session import Login, addresses
from kwire.errors import InputError
from kwire.protocol.negotiation import NegotiatingBroker
from kwire.protocol.negotiation.broker_role import TokenAnswer
from kwire.protocol.negotiation.outcomes import Send
from listening_port import listening

LIST, DESCRIBE, ALTER = 74, 32, 44
REFUSED = os.strerror(errno.ECONNREFUSED)


def broker(release: str, **more: Any) -> Callable[[socket.socket], None]:
    def serve(connection: socket.socket) -> None:
        machine = NegotiatingBroker.of_release(release, **more)
        while not machine.over and (data := connection.recv(65536)):
            for each in machine.receive(data, 0):
                if isinstance(each, Send):
                    connection.sendall(each.data)

    return serve


def run(server: str, *arguments: str, **environment: str) -> Any:
    return CliRunner(env=environment).invoke(commands, ["broker", "telemetry", *arguments, "--bootstrap-server", server])


@pytest.fixture
def nobody() -> str:
    """A port where nobody listens: arguments that make sense end there, with status 1."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


ARGUMENTS = {
    "list": ("list", None),
    "list with a name": ("list --name x", "No such option '--name'"),
    "describe all": ("describe", None),
    "describe one": ("describe --name x", None),
    "describe with an interval": ("describe --name x --interval 100", "No such option '--interval'"),
    "delete": ("delete --name x", None),
    "delete without a name": ("delete", "Missing option '--name'"),
    "delete with metrics": ("delete --name x --metrics a", "No such option '--metrics'"),
    "alter": ("alter --name x --interval 100 --match client_id=a --metrics a,b", None),
    "alter a new one": ("alter --generate-name --metrics a", None),
    "alter without a name": ("alter --metrics a", "Give one of --name and --generate-name."),
    "alter with both names": ("alter --name x --generate-name --metrics a", "Give one of --name and --generate-name."),
    "alter nothing": ("alter --name x", "No change given"),
    "alter to remove keys": ("alter --name x --interval= --match= --metrics=", None),
    "alter all and one more": ("alter --name x --metrics a --metric b", "Give one of --metrics and --metric"),
    "no name": ("describe --name=", "a subscription's name is not empty"),
    "no action": ("--name x", "Give exactly one of --alter, --delete, --describe and --list."),
    "two actions": ("--list --describe", "Give exactly one of --alter, --delete, --describe and --list."),
    "Kafka's list": ("--list", None),
    "Kafka's alter": ("--alter --generate-name --interval 100", None),
    "the draft's add": ("--add --id x --metric a --metric b --interval-ms 100", None),
    "the draft's delete": ("--delete --id x --metric a", None),
}


@pytest.mark.requirement("K714-98", "K714-99", "K714-100", "K714-101")
@pytest.mark.parametrize("case", ARGUMENTS)
def test_which_arguments_go_together(nobody: str, case: str) -> None:
    given, refusal = ARGUMENTS[case]
    result = run(nobody, *given.split(" "))
    if refusal is None:
        assert (result.exit_code, result.stderr) == (1, f"kwire: cannot connect to {nobody}: {REFUSED}.\n")
    else:
        assert result.exit_code == 2
        assert refusal in result.stderr


@pytest.mark.requirement("K714-101")
@pytest.mark.parametrize("action", ["list", "describe", "delete --name x", "alter --name x --metrics a"])
def test_a_server_is_required(action: str) -> None:
    result = CliRunner().invoke(commands, ["broker", "telemetry", *action.split(" ")])
    assert result.exit_code == 2
    assert "Missing option '--bootstrap-server'" in result.stderr


@pytest.mark.parametrize("interval", ["99", "3600001", "often"])
def test_an_interval_that_kafka_refuses_is_not_sent(nobody: str, interval: str) -> None:
    result = run(nobody, "alter", "--name", "x", "--interval", interval)
    assert result.exit_code == 1
    assert "interval.ms" in result.stderr


def test_addresses() -> None:
    assert [tuple(each) for each in addresses("a:1, [::1]:65535")] == [("a", 1), ("::1", 65535)]
    assert str(addresses("[::1]:9092")[0]) == "[::1]:9092"
    for text in ("", "a", "a:", ":1", "a:0", "a:65536", "a:x", "::1", "::1:1", "[::1:1", "a:1,", "a:\u0661"):
        with pytest.raises(InputError):
            addresses(text)


def configs_of(table: dict[str, dict[str, str]], asked: list[Any]) -> dict[int, Callable[[Any], Any]]:
    """Answers from a table of subscriptions, name to properties, which stays as it is; what is asked is written down."""

    def listed(request: Any) -> Any:
        asked.append(list(request.body.resource_types))
        rows = [messages.ListConfigResourcesResponse.ConfigResource(resource_name=name, resource_type=16) for name in table]
        return messages.ListConfigResourcesResponse(config_resources=rows)

    def described(request: Any) -> Any:
        (resource,) = request.body.resources
        assert resource.resource_type == 16
        response = messages.DescribeConfigsResponse
        found = table.get(resource.resource_name, {})
        rows = [response.DescribeConfigsResourceResult(name=key, value=value, config_source=7) for key, value in found.items()]
        if "interval.ms" not in found:
            rows.append(response.DescribeConfigsResourceResult(name="interval.ms", value="300000", config_source=5))
        return response(results=[response.DescribeConfigsResult(resource_type=16, resource_name=resource.resource_name, configs=rows)])

    def altered(request: Any) -> Any:
        (resource,) = request.body.resources
        assert resource.resource_type == 16
        for config in resource.configs:
            asked.append((config.name, config.config_operation, config.value))
        return messages.IncrementalAlterConfigsResponse(
            responses=[messages.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse(resource_type=16, resource_name="x")]
        )

    return {LIST: listed, DESCRIBE: described, ALTER: altered}


@pytest.mark.parametrize(("release", "types"), [("4.1", [16]), ("3.9", [])])
def test_what_is_asked_of_a_broker(release: str, types: list[int]) -> None:
    asked: list[Any] = []
    table = {"x": {"metrics": "a.,b.", "match": "client_id=\x1b[2J"}, "w": {"interval.ms": "100"}}
    with listening(broker(release, answers=configs_of(table, asked))) as server:
        assert run(server, "list").output == "w\nx\n"
        assert asked == [types]
        shown = run(server, "describe").output
        for text in ("metrics", "a.,b.", "interval.ms", "100"):
            assert text in shown
        assert "300000" not in shown  # a default, which nobody set
        assert "\x1b" not in shown
        asked.clear()
        assert run(server, "alter", "--name", "x", "--metric", "c.", "--metric", "a.", "--match", "").output == "Altered x.\n"
        assert asked == [("match", 1, None), ("metrics", 0, "a.,b.,c.")]
        asked.clear()
        assert run(server, "delete", "--name", "x", "--metric", "a.").output == "Removed a. from x.\n"
        assert run(server, "delete", "--name", "x", "--metric", "a.", "--metric", "b.").output == "Deleted x.\n"
        assert asked == [("metrics", 0, "b."), ("match", 1, None), ("metrics", 1, None)]
        result = run(server, "delete", "--name", "x", "--metric", "z.")
        assert result.stderr == "kwire: subscription 'x' does not want 'z.'; it wants a., b.\n"
        result = run(server, "delete", "--name", "y")
        assert (result.exit_code, result.stderr) == (1, f"kwire: {server} knows no subscription 'y'.\n")


def test_a_cluster_without_subscriptions_lists_nothing() -> None:
    with listening(broker("4.1", answers=configs_of({}, []))) as server:
        result = run(server, "list", "--json")
        assert (result.exit_code, result.output) == (0, "")


def test_who_may_not() -> None:
    answer = messages.ListConfigResourcesResponse(error_code=31)
    with listening(broker("4.1", answers={LIST: lambda _: answer})) as server:
        result = run(server, "list")
    assert result.stderr == f"kwire: {server} refuses to list subscriptions: not authorized (CLUSTER_AUTHORIZATION_FAILED, 31).\n"


def test_a_broker_that_is_too_old() -> None:
    with listening(broker("3.6")) as server:
        result = run(server, "list")
    assert result.exit_code == 1
    assert "has no client metrics subscriptions, which came with Kafka 3.7 and KRaft" in result.stderr


def test_ports_that_are_no_brokers(nobody: str) -> None:
    def close(connection: socket.socket) -> None:
        connection.recv(1)

    def speak_http(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    for serve in (close, speak_http):
        with listening(serve) as server:
            result = run(f"{nobody},{server}", "list")
        first = f"cannot connect to {nobody}: {REFUSED}"
        hint = "for TLS, give client properties with security.protocol=SSL"
        assert result.stderr == f"kwire: {first}; {server} does not answer as a Kafka broker without TLS does; {hint}.\n"


def test_a_broker_that_does_not_answer() -> None:
    ended = threading.Event()

    def silent(_: socket.socket) -> None:
        ended.wait()

    with listening(silent) as server:
        result = run(server, "list", "--timeout", "0.1")
        ended.set()
    assert result.exit_code == 1
    assert "did not answer ApiVersions v" in result.stderr
    assert "in 0.1 s" in result.stderr


def test_a_broker_that_answers_byte_by_byte() -> None:
    def trickle(connection: socket.socket) -> None:
        connection.recv(65536)
        with suppress(OSError):  # until the other side has had enough
            connection.sendall(b"\0\0\x40\0")
            while True:
                connection.sendall(b"\0")
                time.sleep(0.01)

    with listening(trickle) as server:
        result = run(server, "list", "--timeout", "0.1")
    assert result.exit_code == 1
    assert "did not answer ApiVersions v" in result.stderr


def test_a_broker_that_answers_something_else() -> None:
    answer = messages.DescribeConfigsResponse(results=[])
    with listening(broker("4.1", answers={DESCRIBE: lambda _: answer})) as server:
        result = run(server, "describe", "--name", "x")
    assert result.stderr == f"kwire: {server} answers DescribeConfigs of one subscription with 0 results.\n"


def test_a_login() -> None:
    def told(mechanism: str, token: bytes) -> TokenAnswer:
        return TokenAnswer(principal="alice") if token == b"\0alice\0p\xc3\xa4ss" else TokenAnswer(refused="no")

    more: dict[str, Any] = {"mechanisms": ["PLAIN"], "authenticate": told, "answers": configs_of({"x": {}}, [])}
    with listening(broker("4.1", **more)) as server:
        assert run(server, "list", "--sasl-user", "alice", KWIRE_SASL_PASSWORD="päss").output == "x\n"
        typed = CliRunner().invoke(
            commands, ["broker", "telemetry", "list", "--bootstrap-server", server, "--sasl-user", "alice"], input="päss\n"
        )
        assert typed.stdout == "x\n"
        result = run(server, "list", "--sasl-user", "alice", KWIRE_SASL_PASSWORD="guess")
        assert result.stderr == f"kwire: {server} refuses to log in 'alice': no (SASL_AUTHENTICATION_FAILED, 58).\n"
        assert "a listener that authenticates does so without a login" in run(server, "list").stderr
    with listening(broker("4.1", **(more | {"mechanisms": ["GSSAPI"]}))) as server:
        result = run(server, "list", "--sasl-user", "alice", KWIRE_SASL_PASSWORD="guess")
    assert result.stderr == f"kwire: {server} has GSSAPI for authentication, and the login is for PLAIN.\n"
    assert "secret" not in repr(Login("alice", "secret"))
