"""`kwire broker`: commands that ask a running cluster."""

from __future__ import annotations

import click

from kwire.cli.telemetry import telemetry

__all__ = ["broker"]


@click.group(short_help="Ask a running cluster: metrics that clients push (KIP-714).")
def broker() -> None:
    """Commands for a running cluster.

    \b
    Example:
      kwire broker telemetry list --bootstrap-server localhost:9092
    """


broker.add_command(telemetry)
