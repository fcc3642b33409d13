"""`kwire proxy`: a proxy in front of brokers, and an upgrade rehearsed with it."""

from __future__ import annotations

import click
import cloup

from kwire.errors import InputError

__all__ = ["proxy"]


@click.command(short_help="Proxy brokers, and rehearse an upgrade with real clients.")
@click.argument("config", metavar="[CONFIG]", required=False)
@cloup.option_group(
    "One broker without a configuration file",
    cloup.option("--listen", metavar="HOST:PORT", help="Where clients connect."),
    cloup.option("--broker", metavar="HOST:PORT", help="The broker behind it."),
    cloup.option("--node-id", type=int, metavar="N", default=1, show_default=True, help="Of that broker."),
    cloup.option("--advertised", metavar="HOST:PORT", help="The address that clients are given for it; --listen by default."),
)
@cloup.option_group(
    "Rehearse an upgrade",
    cloup.option("--rehearse", metavar="RELEASE", help="The Kafka release that clients are to meet, such as 4.3."),
    cloup.option("--count", "mode", flag_value="count", help="Only count requests that it would reject (default)."),
    cloup.option("--break", "mode", flag_value="break", help="Reject them as it would: for a canary listener."),
)
@click.option("--check", is_flag=True, help="Check the configuration and stop.")
def proxy(
    config: str | None, listen: str | None, broker: str | None, node_id: int, advertised: str | None,
    rehearse: str | None, mode: str | None, check: bool,
) -> None:  # fmt: skip
    """Forward connections to brokers under the rules of CONFIG (TOML), or to one broker.

    SIGTERM stops it when the answers are out; SIGHUP reads CONFIG again.

    \b
    Examples:
      kwire proxy --listen :19092 --broker kafka-1:9092 --advertised localhost:19092
      kwire proxy --listen :19092 --broker kafka-1:9092 --advertised localhost:19092 --rehearse 4.3 --break
      kwire proxy proxy.toml --check
    """
    import asyncio
    import logging

    from kwire.proxy.config import ListenerConfig, ProxyConfig, RehearsalConfig, load_config
    from kwire.proxy.rules.rehearsal import RehearsalRule
    from kwire.proxy.server import ProxyServer

    if (config is None) == (listen is None or broker is None):
        raise click.UsageError("give a configuration file, or --listen and --broker.")
    if mode is not None and rehearse is None:
        raise click.UsageError("--count and --break go with --rehearse.")

    def read() -> ProxyConfig:
        if config is not None:
            found = load_config(config)
        else:
            assert listen is not None
            assert broker is not None
            seen = advertised or (listen if not listen.startswith((":", "0.0.0.0:", "[::]:")) else None)
            found = ProxyConfig(listeners=[ListenerConfig(listen=listen, broker=broker, node_id=node_id, advertised=seen)])
        if rehearse is not None:
            from msgspec.structs import replace

            found = replace(found, rehearsal=RehearsalConfig(release=rehearse, mode="break" if mode == "break" else "count"))
        return found

    wanted = read()
    if check:
        click.echo(f"{config or 'the configuration'} is right: {len(wanted.listeners)} listener(s).")
        return
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")

    def ready(server: ProxyServer) -> None:
        for listener, port in zip(server.config.listeners, server.ports, strict=True):
            click.echo(f"port {port} stands for broker {listener.node_id} at {listener.broker}", err=True)

    server = ProxyServer(wanted)
    asyncio.run(server.run(ready, read if config is not None else None))
    for rule in server.rules.rules:
        if isinstance(rule, RehearsalRule):
            _tell(rule)


def _tell(rule: object) -> None:
    from kwire.proxy.rules.rehearsal import RehearsalRule
    from kwire.schema import catalog

    if not isinstance(rule, RehearsalRule):
        raise InputError("no rehearsal")
    if rule.mode == "break":
        return
    click.echo(f"Requests that Kafka {rule.release.name} would reject: {sum(rule.rejected.values()) + rule.others:,}")
    for who, count in rule.rejected.most_common():
        library = f"{who.software_name} {who.software_version}".strip() or "library not sent"
        api = f"{catalog().api_name(who.api_key)} v{who.api_version}"
        click.echo(f"  {who.client_id or '(no client id)'} ({library}, {who.address}): {api}, {count:,} times")
