"""`kwire catalog`: Kafka's messages over all their versions, and what a release changes on the wire."""

from __future__ import annotations

import click

__all__ = ["catalog"]


@click.group(short_help="Kafka's messages and releases.")
def catalog() -> None:
    """Show what Kafka's messages are, over every version ever released.

    \b
    Examples:
      kwire catalog list
      kwire catalog show Metadata
      kwire catalog diff 3.9 4.1
    """
