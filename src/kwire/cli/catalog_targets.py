"""`kwire catalog targets` and `kwire catalog add`: brokers and services other than Kafka releases, by name."""

from __future__ import annotations

import click
import cloup

__all__ = ["add_command", "targets_command"]


@click.command("targets", cls=cloup.Command, short_help="Brokers and services that --to takes by name.")
@cloup.option("--json", "as_json", is_flag=True, help="JSON lines, with the versions by API key.")
def targets_command(as_json: bool) -> None:
    """List brokers and services other than Kafka releases that --to takes by name: the date and source of their answer to ApiVersions.

    An answer older than a year is stale: ask a broker instead (--to HOST:PORT).

    \b
    Examples:
      kwire catalog targets
      kwire analyze kafka.pcap --out report/ --to redpanda-24.3.1
    """
    from kwire.analysis.named_targets import is_stale, named_targets
    from kwire.analysis.targets import answer_json
    from kwire.cli.tables import print_table
    from kwire.cli.terminal import json_line

    found = named_targets().values()
    if as_json:
        for each in found:
            click.echo(json_line(answer_json(each)))
        return
    print_table(
        ["target", "APIs", "date", "age", "source"],
        [(each.name, len(each.ranges), each.date, "stale" if is_stale(each) else "", each.source) for each in found],
    )


@click.command("add", cls=cloup.Command, short_help="Keep the answer of a broker under a name, for --to.")
@cloup.argument("name", metavar="NAME")
@cloup.argument("file", metavar="FILE")
def add_command(name: str, file: str) -> None:
    """Keep the answer of a broker to ApiVersions under NAME, in the user's configuration (~/.config/kwire/targets).

    FILE is the response as JSON or hex, a capture or request log with it, or what the tool of Kafka for it prints:
    `kafka-broker-api-versions.sh`.

    \b
    Example:
      kwire catalog add our-service api-versions.txt
    """
    from kwire.analysis.named_targets import add_target

    made = add_target(name, file)
    click.echo(f"{made.name}: {len(made.ranges)} APIs, of {made.date}; --to {made.name} judges them")
