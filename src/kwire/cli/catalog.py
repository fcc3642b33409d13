"""`kwire catalog`: Kafka's messages over all their versions, and changes of a release on the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
import cloup

from kwire.cli.catalog_options import catalog_options, chosen_catalog, doubts_told
from kwire.cli.catalog_targets import add_command, targets_command
from kwire.cli.completion import complete_api, complete_catalog, complete_release

if TYPE_CHECKING:
    from kwire.schema.listing import MessageRows
    from kwire.schema.release_diff import ApiChange, MessageChange

__all__ = ["catalog"]


@cloup.group(short_help="Kafka's messages in all versions, and changes between releases.")
def catalog() -> None:
    """Show what Kafka's messages are, over every version ever released.

    \b
    Examples:
      kwire catalog list
      kwire catalog show Metadata
      kwire catalog diff 3.9 4.1
      kwire catalog show OffsetDelete --catalog kip-1313
    """


def _plain(value: object) -> Any:
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


@catalog.command("list", short_help="All APIs.")
@cloup.option("--release", metavar="R", shell_complete=complete_release, help="Only messages that this Kafka release accepts (3.9, 4.0.0).")
@catalog_options
@cloup.option("--json", "as_json", is_flag=True, help="JSON lines.")
def list_command(release: str | None, catalog_name: str | None, dialects: tuple[str, ...], as_json: bool) -> None:
    """List all APIs: key, name, every version ever released, and what the newest release, or R, accepts; or the APIs of a catalog.

    \b
    Examples:
      kwire catalog list --release 4.1
      kwire catalog list --catalog kafka-clients-4.1.0.jar
    """
    from kwire.cli.tables import print_table
    from kwire.schema import releases
    from kwire.schema.listing import list_apis

    known = chosen_catalog(catalog_name, dialects)
    if release is not None and known is not None:
        raise click.UsageError("--release is about the built-in catalog; the APIs of a release alone are those of --catalog R.")
    rows = list_apis(release, known)
    if as_json:
        _print_json(rows)
        return
    if known is not None:
        print_table(
            ["key", "api", "versions", "unstable", "flexible since", "answered by"],
            [(row.api_key, row.name, str(row.request_versions), _or_none(row.unstable), row.flexible_since, row.listeners) for row in rows],
        )
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


@catalog.command("releases", short_help="The Kafka releases that kwire knows.")
@cloup.option("--json", "as_json", is_flag=True, help="JSON lines.")
def releases_command(as_json: bool) -> None:
    """List the Kafka releases that kwire knows, oldest first: what --to, --from and --release take.

    \b
    Examples:
      kwire catalog releases
      kwire catalog releases --json | tail -n 1
    """
    from kwire.cli.tables import print_table
    from kwire.cli.terminal import json_line
    from kwire.schema import releases

    minors: dict[str, list[str]] = {}
    for release in releases():
        minors.setdefault(release.minor, []).append(release.name)
    if as_json:
        for minor, names in minors.items():
            click.echo(json_line({"minor": minor, "releases": names}))
        return
    print_table(["version", "releases"], [(minor, ", ".join(names)) for minor, names in minors.items()])


@catalog.command("show", short_help="The fields of an API or a message.")
@cloup.argument("api", metavar="API", shell_complete=complete_api)
@cloup.option("--version", type=click.IntRange(0), metavar="N", help="Only the fields of this version.")
@catalog_options
@cloup.option("--json", "as_json", is_flag=True, help="JSON lines, one per message.")
def show_command(api: str, version: int | None, catalog_name: str | None, dialects: tuple[str, ...], as_json: bool) -> None:
    """Show the fields of API: an API by name or key, or any message by name.

    \b
    Examples:
      kwire catalog show Metadata
      kwire catalog show 18 --version 3
      kwire catalog show ConsumerProtocolSubscription
      kwire catalog show PushTelemetry --dialect kip-714-draft
    """
    from kwire.schema.listing import show

    rows = show(api, version, chosen_catalog(catalog_name, dialects))
    if as_json:
        _print_json(rows)
        return
    for row in rows:
        _show(row)


def _show(row: MessageRows) -> None:
    from kwire.cli.tables import print_table
    from kwire.cli.terminal import console

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
                None if field.tag is None else f"{field.tag} ({field.tagged_versions})",
                field.default,
                field.entity_type,
            )
            for field in row.fields
        ],
    )


@catalog.command("diff", short_help="Changes between two Kafka releases, jars, folders or dialects.")
@cloup.argument("older", metavar="A", shell_complete=complete_catalog)
@cloup.argument("newer", metavar="B", shell_complete=complete_catalog)
@cloup.option("--fields", is_flag=True, help="Also the fields that new versions bring or drop.")
@cloup.option("--json", "as_json", is_flag=True, help="JSON lines, one an API or a message, with the fields.")
def diff_command(older: str, newer: str, fields: bool, as_json: bool) -> None:
    """Show what changes on the wire from A to B, each a release, a jar or a folder of Kafka's message definitions, or a dialect.

    For two releases: APIs, versions that brokers accept, and deprecations. For others: differences of the definitions, and versions whose
    layout differs. A dialect is combined with the definitions that it is compared with.

    \b
    Examples:
      kwire catalog diff 3.9 4.1 --fields
      kwire catalog diff 4.1 kip-1313
      kwire catalog diff 4.1 my-fork/clients/src/main/resources/common/message
    """
    from kwire.cli.tables import print_table
    from kwire.cli.terminal import console, printable
    from kwire.schema.catalog_diff import compare

    with doubts_told():
        found = compare(older, newer)
    if as_json:
        _print_json(found.apis)
        _print_json(found.messages)
        return
    titles = [printable(found.older), printable(found.newer)]
    if not found.apis and not found.messages:
        console().print(f"No wire changes from {titles[0]} to {titles[1]}.", markup=False, highlight=False)
        return
    # the end of ZooKeeper is one change, not one of every api
    shared = {kind for api in found.apis for kind in api.listeners_before} & {kind for api in found.apis for kind in api.listeners_after}
    rows = [(api.api_key, api.name, _or_none(api.before) or "-", _or_none(api.after) or "-", _change(api, shared)) for api in found.apis]
    if rows:
        print_table(["key", "api", *titles, "what changes"], rows, styles={"-": "dim"})
    if found.messages:
        print_table(
            ["message", *titles, "what changes"],
            [(each.name, _or_none(each.before) or "-", _or_none(each.after) or "-", _change_of(each)) for each in found.messages],
            styles={"-": "dim"},
        )
    changed = [each for api in found.apis for each in api.fields] + [each for message in found.messages for each in message.fields]
    if fields and changed:
        print_table(
            ["message", "version", "change", "field", "type"],
            [(each.message, each.version, each.detail or each.change, each.path or None, each.type or None) for each in changed],
        )


def _change_of(message: MessageChange) -> str:
    if message.change != "changed":
        return "new message" if message.change == "added" else "the message is gone"
    return _count(len(message.fields))


def _count(fields: int) -> str:
    return f"{fields} field{'s' if fields > 1 else ''} (--fields)" if fields else ""


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
    renamed = sum(each.change == "renamed" for each in api.fields)
    if renamed:
        said.append(f"renames {_count(renamed)}")
    old = [each for each in api.fields if each.version not in api.versions_added and each.change != "renamed"]
    if old:
        said.append(f"differs in {_span(tuple(sorted({each.version for each in old})))}")
    return "; ".join(said)


def _span(versions: tuple[int, ...]) -> str:
    parts: list[list[int]] = []
    for version in versions:
        if parts and version == parts[-1][1] + 1:
            parts[-1][1] = version
        else:
            parts.append([version, version])
    return ", ".join(f"v{low}" if low == high else f"v{low}-v{high}" for low, high in parts)


@catalog.command("tags", short_help="Every tagged field.")
@catalog_options
@cloup.option("--json", "as_json", is_flag=True, help="JSON lines.")
def tags_command(catalog_name: str | None, dialects: tuple[str, ...], as_json: bool) -> None:
    """List every tagged field of every message: tag number, type, versions.

    \b
    Example:
      kwire catalog tags
    """
    from kwire.cli.tables import print_table
    from kwire.schema.listing import list_tagged_fields

    rows = list_tagged_fields(chosen_catalog(catalog_name, dialects))
    if as_json:
        _print_json(rows)
        return
    print_table(
        ["message", "field", "tag", "type", "versions"], [(row.message, row.path, row.tag, row.type, str(row.versions)) for row in rows]
    )


catalog.add_command(targets_command)
catalog.add_command(add_command)
