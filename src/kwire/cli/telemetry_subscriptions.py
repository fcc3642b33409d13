"""`kwire broker telemetry list|alter|describe|delete`: metrics that a live cluster wants of its clients.

The arguments follow the rules of `kafka-client-metrics.sh`. Its own form, with the action as an option, and the option names of the
proposal's draft work too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final

import click
import cloup

from kwire.errors import InputError

if TYPE_CHECKING:
    from kwire.cli.client_metrics_configs import ClientMetricsConfigs
    from kwire.cluster.broker_session import Address

    Cluster = AbstractContextManager[ClientMetricsConfigs]

__all__ = ["ActionGroup", "alter", "delete", "describe", "list_names"]

_ACTIONS: Final = {"--alter": "alter", "--delete": "delete", "--describe": "describe", "--list": "list", "--add": "alter"}
"""Options of Kafka's tool (the last one is the draft's), and their commands."""


class ActionGroup(click.Group):
    """Group of commands that also accepts the form of Kafka's tool: `--list --bootstrap-server ...`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and not {"-h", "--help"} & set(args):
            found = [each for each in args if each in _ACTIONS]
            if len(found) != 1:
                raise click.UsageError("Give exactly one of --alter, --delete, --describe and --list.", ctx)
            args.remove(found[0])
            args = [_ACTIONS[found[0]], *args]
        return super().parse_args(ctx, args)


class _Servers(click.ParamType["tuple[Address, ...]"]):
    name = "HOST:PORT,.."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Address, ...]:
        from kwire.cluster.broker_session import addresses

        try:
            return addresses(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


def _not_empty(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value == "":
        raise click.BadParameter("a subscription's name is not empty.", ctx, param)
    return value


def _for_cluster(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for a cluster; the command gets `cluster`, a context manager of its subscriptions, and `as_json`."""

    @functools.wraps(command)
    def reached(
        *, servers: tuple[Address, ...], sasl_user: str | None, config: str | None, timeout: float, as_json: bool, **options: Any
    ) -> None:
        command(_configs(servers, sasl_user, config, timeout), as_json, **options)

    for option in (
        click.option("--json", "as_json", is_flag=True, help="JSON lines."),
        click.option("--timeout", type=click.FloatRange(0.1, 3600), default=30.0, show_default=True, help="Seconds to wait for an answer."),
        click.option(
            "--sasl-user", metavar="NAME", help="Log in by SASL PLAIN; the password is asked for, or taken from KWIRE_SASL_PASSWORD."
        ),
        click.option(
            "--command-config", "config", metavar="FILE", help="Properties as Kafka's tools take them: TLS by PEM, SASL PLAIN and SCRAM."
        ),
        click.option("--bootstrap-server", "servers", type=_Servers(), required=True, help="Brokers to try in this order."),
    ):
        reached = option(reached)
    return reached


def _name_option(help_text: str, *, required: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option("--name", "--id", "name", metavar="NAME", required=required, callback=_not_empty, help=help_text)


@contextmanager
def _configs(servers: tuple[Address, ...], sasl_user: str | None, config: str | None, timeout: float) -> Iterator[ClientMetricsConfigs]:
    import os

    from kwire.cli.client_metrics_configs import ClientMetricsConfigs
    from kwire.cluster.broker_session import BrokerSession, Login

    login = tls = None
    if config is not None:
        from kwire.cluster.client_properties import read_client_properties

        login, tls = read_client_properties(config)
    if sasl_user is not None:
        if login is not None:
            raise click.UsageError("Give one of --sasl-user and a --command-config with a login.")
        # not an option: other users of a machine see the arguments of its processes
        password = os.environ.get("KWIRE_SASL_PASSWORD")
        login = Login(sasl_user, click.prompt("Password", hide_input=True, err=True) if password is None else password)
    with BrokerSession(servers, timeout=timeout, login=login, tls=tls) as session:
        yield ClientMetricsConfigs(session)


def _new_name() -> str:
    """Return a random UUID in Kafka's form that does not look like an option (`Uuid.randomUuid`)."""
    from uuid import uuid4

    from kwire.codec.uuids import Uuid

    while (name := str(Uuid(uuid4().bytes))).startswith("-"):
        pass
    return name


def _prefixes(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _tell(as_json: bool, sentence: str, **facts: object) -> None:
    from kwire.cli.terminal import json_line, printable

    click.echo(json_line(facts) if as_json else printable(sentence))


@cloup.command("list", short_help="List the subscriptions of a cluster.")
@_for_cluster
def list_names(cluster: Cluster, as_json: bool) -> None:
    """List the names of a cluster's subscriptions.

    \b
    Example:
      kwire broker telemetry list --bootstrap-server localhost:9092
    """
    with cluster as configs:
        for name in configs.names():
            _tell(as_json, name, name=name)


@cloup.command(short_help="Create or change a subscription.")
@_for_cluster
@_name_option("The subscription.")
@cloup.option("--generate-name", is_flag=True, help="Create a subscription with a random name.")
@cloup.option("--interval", "--interval-ms", "interval", metavar="MS", help="Milliseconds between pushes, 100 to 3600000.")
@cloup.option("--match", metavar="KEY=REGEX,..", help="Clients to match, such as client_software_name=librdkafka [default: all].")
@cloup.option("--metrics", metavar="PREFIX,..", help="Prefixes of the metrics to push; * for all.")
@cloup.option("--metric", "added", multiple=True, metavar="PREFIX", help="Prefix to add (repeatable).")
def alter(
    cluster: Cluster, as_json: bool, name: str | None, generate_name: bool, interval: str | None, match: str | None, metrics: str | None,
    added: tuple[str, ...],
) -> None:  # fmt: skip
    """Create or change a subscription; an empty value removes a setting.

    \b
    Example:
      kwire broker telemetry alter --bootstrap-server localhost:9092 --name slow-producers --interval 60000 \\
        --metrics org.apache.kafka.producer.node.request.latency. --match client_id=orders-.*
      kwire broker telemetry alter --bootstrap-server localhost:9092 --name slow-producers --match ""
    """
    from kwire.protocol.telemetry.subscriptions import Subscription

    if (name is None) is not generate_name:
        raise click.UsageError("Give one of --name and --generate-name.")
    if metrics is not None and added:
        raise click.UsageError("Give one of --metrics and --metric: the first sets all prefixes, the second adds one.")
    given = {"interval.ms": interval, "match": match, "metrics": ",".join(added) if added else metrics}
    properties = {key: value for key, value in given.items() if value is not None}
    if not properties:
        raise click.UsageError("No change given; give --interval, --match, --metrics or --metric.")
    subscription = _new_name() if name is None else name
    # The expressions of a match are Java's, so the broker judges them.
    Subscription.from_config(subscription, {key: value for key, value in properties.items() if value and key != "match"})
    with cluster as configs:
        if added:
            there = _prefixes(configs.properties(subscription).get("metrics", ""))
            properties["metrics"] = ",".join(dict.fromkeys((*there, *_prefixes(properties["metrics"]))))
        configs.alter(subscription, properties)
    changed = {key: value or None for key, value in properties.items()}
    _tell(as_json, f"Altered {subscription}.", name=subscription, altered=changed)


@cloup.command(short_help="Show the subscriptions.")
@_for_cluster
@_name_option("Only this subscription.")
def describe(cluster: Cluster, as_json: bool, name: str | None) -> None:
    """Show the settings of a cluster's subscriptions; others have Kafka's defaults.

    \b
    Example:
      kwire broker telemetry describe --bootstrap-server localhost:9092 --name slow-producers
    """
    from kwire.cli.tables import print_table

    with cluster as configs:
        found = {each: configs.properties(each) for each in configs.names()} if name is None else {name: configs.known(name)}
    if as_json:
        for each, properties in found.items():
            _tell(True, "", name=each, properties=properties)
    else:
        rows = [(each, key, value) for each, properties in found.items() for key, value in properties.items()]
        print_table(("subscription", "key", "value"), rows)


@cloup.command(short_help="Delete a subscription.")
@_for_cluster
@_name_option("The subscription.", required=True)
@cloup.option("--metric", "removed", multiple=True, metavar="PREFIX", help="Prefix to remove (repeatable).")
def delete(cluster: Cluster, as_json: bool, name: str, removed: tuple[str, ...]) -> None:
    """Delete a subscription, or some of its prefixes; removing the last prefix deletes the subscription.

    \b
    Example:
      kwire broker telemetry delete --bootstrap-server localhost:9092 --name slow-producers
    """
    with cluster as configs:
        left: list[str] = []
        if removed:
            there = _prefixes(configs.known(name).get("metrics", ""))
            if unknown := [each for each in removed if each not in there]:
                raise InputError(f"subscription {name!r} does not want {unknown[0]!r}; it wants {', '.join(there) or 'nothing'}")
            left = [each for each in there if each not in removed]
        if left:
            configs.alter(name, {"metrics": ",".join(left)})
        else:
            configs.delete(name)
    if left:
        _tell(as_json, f"Removed {', '.join(removed)} from {name}.", name=name, deleted=False, metrics=left)
    else:
        _tell(as_json, f"Deleted {name}.", name=name, deleted=True)
