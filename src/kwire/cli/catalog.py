"""`kwire catalog`: Kafka's messages over all their versions, and what a release changes on the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kwire.schema.listing import FieldRow, MessageRows
    from kwire.schema.release_diff import ApiChange

__all__ = ["catalog"]


@click.group(short_help="Kafka's messages over all versions, and what releases change.")
def catalog() -> None:
    """Show what Kafka's messages are, over every version ever released.

    \b
    Examples:
      kwire catalog list
      kwire catalog show Metadata
      kwire catalog diff 3.9 4.1
    """


def _plain(value: object) -> Any:
    """Rows as JSON: versions in Kafka's notation."""
    from dataclasses import fields, is_dataclass

    from kwire.schema import Versions

    if isinstance(value, Versions):
        return str(value) if value else None
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _print_json(rows: Iterable[object]) -> None:
    from kwire.cli.terminal import json_line

    for row in rows:
        click.echo(json_line(_plain(row)))


@catalog.command("list", short_help="All apis.")
@click.option("--release", metavar="R", help="Only what this Kafka release accepts (3.9, 4.0.0).")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
def list_command(release: str | None, as_json: bool) -> None:
    """List all apis: key, name, every version ever released, and what the newest release, or R, accepts.

    \b
    Example:
      kwire catalog list --release 4.1
    """
    from kwire.cli.terminal import print_table
    from kwire.schema import releases
    from kwire.schema.listing import list_apis

    rows = list_apis(release)
    if as_json:
        _print_json(rows)
        return
    of = (releases().newest if release is None else releases().resolve(release)).name
    print_table(
        ["key", "api", "versions ever", f"accepted by {of}", "deprecated", "flexible since", "answered by"],
        [
            (
                row.api_key,
                row.name,
                str(row.request_versions),
                _or_none(row.accepted),
                _or_none(row.deprecated),
                row.flexible_since,
                row.listeners,
            )
            for row in rows
        ],
    )


def _or_none(versions: object) -> str | None:
    return str(versions) if versions else None


@catalog.command("show", short_help="The fields of an api or a message.")
@click.argument("api", metavar="API")
@click.option("--version", type=click.IntRange(0), metavar="N", help="Only the fields of this version.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines, one a message.")
def show_command(api: str, version: int | None, as_json: bool) -> None:
    """Show the fields of API: an api by name or key, or any message by name.

    \b
    Examples:
      kwire catalog show Metadata
      kwire catalog show 18 --version 3
      kwire catalog show ConsumerProtocolSubscription
    """
    from kwire.schema.listing import show

    rows = show(api, version)
    if as_json:
        _print_json(rows)
        return
    for row in rows:
        _show(row)


def _show(row: MessageRows) -> None:
    from kwire.cli.terminal import console, print_table

    facts = [f"versions {row.valid_versions}"]
    if row.api_key is not None and row.kind in ("request", "response"):
        facts.insert(0, f"api key {row.api_key}")
    if row.topic:
        facts.append(f"in topic {row.topic}")
    facts.append(f"flexible {row.flexible_versions}" if row.flexible_versions else "never flexible")
    facts += [f"header {header} for {versions}" for versions, header in row.header_versions]
    console().print(row.name, style="bold")
    console().print(f"  {', '.join(facts)}")
    for note in row.notes:
        console().print(f"  {note}")
    print_table(
        ["field", "type", "versions", "null", "tag", "default", "is a"],
        [
            (
                "  " * field.depth + field.name,
                field.type,
                str(field.versions),
                _or_none(field.nullable_versions),
                _tag(field),
                field.default,
                field.entity_type,
            )
            for field in row.fields
        ],
    )


def _tag(field: FieldRow) -> str | None:
    return None if field.tag is None else f"{field.tag} ({field.tagged_versions})"


@catalog.command("diff", short_help="What changes between two Kafka releases.")
@click.argument("older", metavar="R1")
@click.argument("newer", metavar="R2")
@click.option("--fields", is_flag=True, help="Also the fields that new versions bring or drop.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines, one an api, with the fields.")
def diff_command(older: str, newer: str, fields: bool, as_json: bool) -> None:
    """Show what changes on the wire from release R1 to R2: apis, versions that are accepted, deprecations.

    \b
    Example:
      kwire catalog diff 3.9 4.1 --fields
    """
    from kwire.cli.terminal import console, print_table
    from kwire.schema.release_diff import diff

    found = diff(older, newer)
    if as_json:
        _print_json(found.apis)
        return
    if not found.apis:
        console().print(f"Nothing changes on the wire from {found.older} to {found.newer}.")
        return
    # the end of ZooKeeper is one change, not one of every api
    shared = {kind for api in found.apis for kind in api.listeners_before} & {kind for api in found.apis for kind in api.listeners_after}
    print_table(
        ["key", "api", found.older, found.newer, "what changes"],
        [(api.api_key, api.name, _or_none(api.before) or "-", _or_none(api.after) or "-", _change(api, shared)) for api in found.apis],
        styles={"-": "dim"},
    )
    changed = [each for api in found.apis for each in api.fields]
    if fields and changed:
        print_table(
            ["message", "version", "change", "field", "type"],
            [(each.message, each.version, each.change, each.path, each.type) for each in changed],
        )


def _change(api: ApiChange, shared: set[str]) -> str:
    if api.change != "changed":
        return "new api" if api.change == "added" else "the api is gone"
    said = [
        f"{what} {_span(versions)}"
        for what, versions in (
            ("adds", api.versions_added),
            ("rejects", api.versions_removed),
            ("marks as deprecated", api.deprecated),
            ("takes back the mark on", api.undeprecated),
        )
        if versions
    ]
    for what, kinds in (
        ("now on", set(api.listeners_after) - set(api.listeners_before)),
        ("no longer on", set(api.listeners_before) - set(api.listeners_after)),
    ):
        if kinds & shared:
            said.append(f"{what} {', '.join(sorted(kinds & shared))}")
    return "; ".join(said)


def _span(versions: tuple[int, ...]) -> str:
    """`v3-v5`, `v1, v4`."""
    parts: list[list[int]] = []
    for version in versions:
        if parts and version == parts[-1][1] + 1:
            parts[-1][1] = version
        else:
            parts.append([version, version])
    return ", ".join(f"v{low}" if low == high else f"v{low}-v{high}" for low, high in parts)


@catalog.command("tags", short_help="Every tagged field.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
def tags_command(as_json: bool) -> None:
    """List every tagged field of every message: tag number, type, versions.

    \b
    Example:
      kwire catalog tags
    """
    from kwire.cli.terminal import print_table
    from kwire.schema.listing import list_tagged_fields

    rows = list_tagged_fields()
    if as_json:
        _print_json(rows)
        return
    print_table(
        ["message", "field", "tag", "type", "versions"], [(row.message, row.path, row.tag, row.type, str(row.versions)) for row in rows]
    )
