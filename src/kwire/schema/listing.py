"""Rows of the catalog for display: apis, fields of one api, tagged fields."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from kwire.errors import InputError
from kwire.schema.model import NO_VERSIONS, Catalog, Field, Message, Versions
from kwire.schema.release_table import LISTENERS, Release, releases
from kwire.schema.stored import catalog

__all__ = ["ApiRow", "FieldRow", "MessageRows", "TaggedFieldRow", "find_messages", "list_apis", "list_tagged_fields", "show"]

_LISTENER_NAMES = {"zk_broker": "zkBroker", "broker": "broker", "controller": "controller"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRow:
    """An api."""

    api_key: int
    name: str
    former_names: tuple[str, ...]  # names in older releases, `AlterIsr` of `AlterPartition`
    request_versions: Versions  # every version ever released
    response_versions: Versions
    accepted: Versions | None  # versions that the release accepts on any kind of node; None without the api or without a release
    flexible_since: int | None  # first version with compact lengths and tagged fields, or None
    listeners: tuple[str, ...]  # kinds of node that answer it in that release (`zkBroker`, `broker`, `controller`)
    deprecated: Versions | None  # versions that the release marks deprecated, or None
    unstable: Versions | None  # versions that only `unstable.api.versions.enable` opens, or None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """A field of a message, in wire order; fields of its struct follow one level deeper."""

    depth: int  # 0 at the top
    path: str  # `Topics.Partitions.LeaderId`
    name: str
    type: str
    versions: Versions
    nullable_versions: Versions
    tagged_versions: Versions
    tag: int | None
    default: str | None
    ignorable: bool
    entity_type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRows:
    """A message and its fields."""

    name: str
    kind: str
    api_key: int | None
    topic: str | None
    valid_versions: Versions
    flexible_versions: Versions
    header_versions: tuple[tuple[Versions, int], ...]  # header version by range of versions; empty without a header
    notes: tuple[str, ...]
    version: int | None  # the one version of the fields, None for all
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedFieldRow:
    message: str
    path: str
    tag: int
    type: str
    versions: Versions


def list_apis(release: str | None = None, known: Catalog | None = None) -> list[ApiRow]:
    """Return every api of a catalog, by key.

    Args:
        release: only apis that it accepts, with its listeners and deprecations; else all apis ever, and the newest release's.
        known: a catalog without release (`accepted` and `deprecated` are None); the built-in one by default.
    """
    if known is not None:
        return [_api_row(known, request, response) for request, response in _apis(known)]
    known = catalog()
    of = releases().newest if release is None else releases().resolve(release)
    return [
        _api_row(known, request, response, of)
        for request, response in _apis(known)
        if release is None or of.accepts_anywhere(request.api_key or 0) is not None
    ]


def _apis(known: Catalog) -> Iterator[tuple[Message, Message]]:
    for key in known.api_keys:
        request, response = known.request(key), known.response(key)
        if request is not None and response is not None and (request.valid_versions or response.valid_versions):
            yield request, response


def _api_row(known: Catalog, request: Message, response: Message, of: Release | None = None) -> ApiRow:
    key = request.api_key
    assert key is not None
    accepted = None if of is None else of.accepts_anywhere(key)
    if of is None:
        listeners, unstable = request.listeners, request.unstable_versions or None
    else:
        listeners = tuple(_LISTENER_NAMES[each] for each in LISTENERS if each in of.listeners and of.accepts(key, each) is not None)
        unstable = _above(accepted, of.accepts_anywhere(key, unstable=True))
    return ApiRow(
        api_key=key,
        name=request.name.removesuffix("Request"),
        former_names=_former_names(known, request),
        request_versions=request.valid_versions,
        response_versions=response.valid_versions,
        accepted=accepted,
        flexible_since=request.flexible_versions.lowest if request.flexible_versions else None,
        listeners=listeners,
        deprecated=None if of is None else of.deprecated(key),
        unstable=unstable,
    )


def _above(stable: Versions | None, unstable: Versions | None) -> Versions | None:
    if unstable is None or stable is None:
        return unstable
    return Versions(stable.highest + 1, unstable.highest) if unstable.highest > stable.highest else None


def _former_names(known: Catalog, request: Message) -> tuple[str, ...]:
    note = f"The name since then is {request.name}."
    same_key = (known[name] for name in known if name.endswith("Request") and name != request.name)
    return tuple(each.name.removesuffix("Request") for each in same_key if each.api_key == request.api_key and note in each.notes)


def find_messages(text: str, known: Catalog | None = None) -> list[Message]:
    """Return request and response of an api (by name or key), or one message, ignoring case; an InputError names similar ones."""
    known = catalog() if known is None else known
    wanted = text.strip()
    if wanted.isdecimal():
        of_key = [known.request(int(wanted)), known.response(int(wanted))]
        if found := [message for message in of_key if message is not None]:
            return found
        raise InputError(f"No api has the key {wanted}; the highest is {max(known.api_keys, default=0)}.")
    names = {name.lower(): name for name in known}
    for candidates in ([wanted], [f"{wanted}Request", f"{wanted}Response"], [f"{wanted}Key", f"{wanted}Value"], [f"{wanted}Record"]):
        if found := [known[names[each.lower()]] for each in candidates if each.lower() in names]:
            return found
    apis = {name.lower().removesuffix("request"): name.removesuffix("Request") for name in known}
    near = difflib.get_close_matches(wanted.lower(), [*apis, *names], n=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(dict.fromkeys(apis.get(each) or names[each] for each in near))}?" if near else "."
    raise InputError(f"No api or message is called {wanted!r}{hint}")


def _rows(message: Message, version: int | None) -> Iterator[FieldRow]:
    def walk(fields: tuple[Field, ...], depth: int, path: str) -> Iterator[FieldRow]:
        for field in fields:
            if version is not None and version not in field.versions:
                continue
            here = f"{path}{field.name}"
            yield FieldRow(
                depth=depth,
                path=here,
                name=field.name,
                type=field.type,
                versions=field.versions,
                nullable_versions=field.nullable_versions,
                tagged_versions=field.tagged_versions if field.tag is not None else NO_VERSIONS,
                tag=field.tag,
                default=field.default,
                ignorable=field.ignorable,
                entity_type=field.entity_type,
            )
            if field.is_struct:
                yield from walk(message.structs[field.element_type].fields, depth + 1, f"{here}.")

    return walk(message.fields, 0, "")


def show(text: str, version: int | None = None, known: Catalog | None = None) -> list[MessageRows]:
    """Return the fields of an api's request and response, or of one message: `Metadata`, `3`, `ConsumerProtocolSubscription`."""
    found = find_messages(text, known)
    for message in found:
        if version is not None and version not in message.valid_versions:
            raise InputError(f"{message.name} has no version {version}, only {message.valid_versions}.")
    return [
        MessageRows(
            name=message.name,
            kind=message.kind,
            api_key=message.api_key,
            topic=message.topic,
            valid_versions=message.valid_versions,
            flexible_versions=message.flexible_versions,
            header_versions=message.header_versions,
            notes=message.notes,
            version=version,
            fields=tuple(_rows(message, version)),
        )
        for message in found
    ]


def list_tagged_fields(known: Catalog | None = None) -> list[TaggedFieldRow]:
    """Return every tagged field of a catalog (by default the built-in one), by message and tag."""
    known = catalog() if known is None else known
    rows = [
        TaggedFieldRow(message=name, path=row.path, tag=row.tag, type=row.type, versions=row.tagged_versions)
        for name in sorted(known)
        for row in _rows(known[name], None)
        if row.tag is not None
    ]
    return sorted(rows, key=lambda row: (row.message, row.path.rpartition(".")[0], row.tag))
