"""`kwire proxy`: a proxy in front of brokers, and an upgrade rehearsed with it."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
import cloup

from kwire.cli.completion import complete_release
from kwire.cli.target_option import command_config_option, target_text
from kwire.errors import InputError

if TYPE_CHECKING:
    from kwire.proxy.rules.rehearsal import RehearsalRule

__all__ = ["proxy"]


@cloup.command(short_help="Proxy brokers, and rehearse an upgrade with real clients.")
@cloup.argument("config", metavar="[CONFIG]", required=False)
@cloup.option_group(
    "One broker without a configuration file",
    cloup.option("--listen", metavar="HOST:PORT", help="Address that clients connect to."),
    cloup.option("--broker", metavar="HOST:PORT", help="The broker behind it."),
    cloup.option("--node-id", type=int, metavar="N", default=1, show_default=True, help="Node id of that broker."),
    cloup.option("--advertised", metavar="HOST:PORT", help="Address that clients get for it [default: --listen if that names a host]."),
)
@cloup.option_group(
    "Rehearse an upgrade",
    cloup.option(
        "--rehearse",
        metavar="RELEASE",
        shell_complete=complete_release,
        help="Target of the rehearsal: a Kafka release such as 4.3; "
        "HOST:PORT of a broker, which is asked; or a file with a broker's answer.",
    ),
    command_config_option("--rehearse, and of the brokers that the proxy asks at its start"),
    cloup.option("--count", "mode", flag_value="count", help="Count requests that the target would reject, and forward them (default)."),
    cloup.option("--break", "mode", flag_value="break", help="Reject them as the target would: for a canary listener."),
    cloup.option(
        "--out", metavar="DIR", help="With --count: write the page of kwire analyze for the proxied traffic, at the end and while it runs."
    ),
    cloup.option("--counts", metavar="FILE", help="With --count: keep the counts in this file, so that they survive a restart."),
    cloup.option("--every", type=click.FloatRange(1), metavar="MINUTES", default=60, show_default=True, help="Time between two pages."),
)
@cloup.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the log lines.")
@cloup.option("--check", is_flag=True, help="Check the configuration and stop.")
@cloup.option("--connect", is_flag=True, help="With --check: also ask each broker for its node id and for the other brokers.")
def proxy(
    config: str | None, listen: str | None, broker: str | None, node_id: int, advertised: str | None,
    rehearse: str | None, command_config: str | None, mode: str | None, out: str | None, counts: str | None, every: float,
    log_format: str,
    check: bool, connect: bool,
) -> None:  # fmt: skip
    """Forward connections to brokers under the rules of CONFIG (TOML), or to one broker.

    SIGTERM stops it when the answers are out; SIGHUP reads CONFIG again.

    \b
    Examples:
      kwire proxy --listen :19092 --broker kafka-1:9092 --advertised localhost:19092
      kwire proxy --listen :19092 --broker kafka-1:9092 --advertised localhost:19092 --rehearse 4.3 --break
      kwire proxy proxy.toml --rehearse 4.3 --count --out rehearsal/
      kwire proxy proxy.toml --check --connect
    """
    import asyncio
    import logging

    from kwire.cli.log_lines import JsonFormatter, LineFormatter
    from kwire.cli.proxy_check import check_brokers, log_check
    from kwire.cli.proxy_start import announce, bypass_warning
    from kwire.cli.rehearsal_page import RehearsalPage
    from kwire.cli.terminal import volume, warn
    from kwire.proxy.config import ListenerConfig, ProxyConfig, RehearsalConfig
    from kwire.proxy.config_file import check_config, load_config
    from kwire.proxy.rules.rehearsal import RehearsalRule
    from kwire.proxy.server import ProxyServer

    if (config is None) == (listen is None or broker is None):
        raise click.UsageError("give a configuration file, or --listen and --broker.")
    if mode is not None and rehearse is None:
        raise click.UsageError("--count and --break go with --rehearse.")
    if out is not None and (rehearse is None or mode == "break"):
        raise click.UsageError("--out goes with --rehearse and --count.")
    if counts is not None and (rehearse is None or mode == "break"):
        raise click.UsageError("--counts goes with --rehearse and --count.")
    if connect and not check:
        raise click.UsageError("--connect goes with --check.")
    login = None
    if command_config is not None:
        from kwire.cluster.client_properties import read_client_properties

        login = read_client_properties(command_config).login
    if rehearse is not None:
        context = click.get_current_context()
        rehearse = target_text(rehearse, command_config, lambda: context.with_resource(TemporaryDirectory()))
    page = RehearsalPage(out, rehearse) if out is not None and rehearse is not None and not check else None

    def read() -> ProxyConfig:
        from msgspec.structs import replace

        if config is not None:
            found = load_config(config)
        else:
            assert listen is not None
            assert broker is not None
            seen = advertised or (None if listen.startswith((":", "0.0.0.0:", "[::]:")) or listen.endswith(":0") else listen)
            found = ProxyConfig(listeners=[ListenerConfig(listen=listen, broker=broker, node_id=node_id, advertised=seen)])
            check_config(found)
        if rehearse is not None:
            rehearsal = RehearsalConfig(release=rehearse, mode="break" if mode == "break" else "count", counts_file=counts)
            found = replace(found, rehearsal=rehearsal)
        if page is not None:
            if found.tap is not None:
                raise InputError("--out has its own tap: remove [tap]")
            found = replace(found, tap=page.tap())
        return found

    wanted = read()
    bypassed = bypass_warning(wanted)
    if check:
        if bypassed:
            warn(bypassed)
        listeners, answered = len(wanted.listeners) + len(wanted.sni_listeners), ""
        if connect:
            found = check_brokers(wanted, login)
            for note in found.notes:
                warn(note)
            if found.wrong:
                raise InputError("; ".join(sorted(found.wrong)))
            answered = f", {found.brokers} broker{'s' * (found.brokers != 1)} reached"
        click.echo(f"{config or 'configuration'}: valid ({listeners} listener{'s' * (listeners != 1)}{answered})")
        return
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if log_format == "json" else LineFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO - 10 * volume(), handlers=[handler])

    def ready(server: ProxyServer) -> None:
        announce(server)
        if bypassed:
            logging.getLogger("kwire.proxy").warning("%s", bypassed)
        beside.append(asyncio.get_running_loop().create_task(log_check(server.config, login)))
        ports.extend(server.ports)
        if page is not None:
            beside.append(asyncio.get_running_loop().create_task(page.keep_up(ports, every * 60)))

    ports: list[int] = []
    beside: list[asyncio.Task[None]] = []
    server = ProxyServer(wanted)
    asyncio.run(server.run(ready, read if config is not None else None))
    for rule in server.rules.rules:
        if isinstance(rule, RehearsalRule) and rule.mode == "count":
            _tell(rule)
    if page is not None:
        page.finish(ports)
        click.echo(f"Report: {page.path}")


def _tell(rule: RehearsalRule) -> None:
    from kwire.schema import catalog

    rejected, others = rule.counts.read()
    click.echo(f"Requests that {rule.release.title} would reject: {sum(rejected.values()) + others:,}")
    for sender, count in rejected.most_common():
        library = f"{sender.software_name} {sender.software_version}".strip() or "library not sent"
        api = f"{catalog().api_name(sender.api_key)} v{sender.api_version}"
        click.echo(f"  {sender.client_id or '(no client id)'} ({library}, {sender.address}): {api}, {count:,} times")
