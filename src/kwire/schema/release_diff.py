"""Differences between two Kafka releases: apis, versions, deprecations and fields of new versions. See `kwire.schema.catalog_diff` for
others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kwire.schema.layout import LayoutField, fields_at
from kwire.schema.model import Field, Message, Versions
from kwire.schema.release_table import Release, name_in, releases
from kwire.schema.stored import catalog

__all__ = ["ApiChange", "FieldChange", "MessageChange", "ReleaseDiff", "diff", "field_changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """Field that a new version adds or removes, or that two catalogs define or name differently."""

    message: str
    path: str  # `Topics.TopicId`; empty for the message itself
    change: Literal["added", "removed", "changed", "renamed"]
    version: int  # version of the change; the lowest one if both have it
    type: str
    detail: str | None = None  # for `changed` and `renamed`: `int32 before`, `renamed from GenerationId`; else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiChange:
    """Changes of one api, by its versions and kinds of node that a release accepts (None or empty without the api)."""

    api_key: int
    name: str
    change: Literal["added", "removed", "changed"]
    before: Versions | None
    after: Versions | None
    versions_added: tuple[int, ...]  # that only one release accepts
    versions_removed: tuple[int, ...]
    deprecated: tuple[int, ...] = ()  # marked so by only one release, and accepted by the newer one
    undeprecated: tuple[int, ...] = ()
    listeners_before: tuple[str, ...] = ()  # `zk_broker`, `broker`, `controller`
    listeners_after: tuple[str, ...] = ()
    fields: tuple[FieldChange, ...]  # field changes of the added versions, and renamed fields of others


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageChange:
    """Changes of a message that is not a request or response; a version range is None if the catalog does not have it."""

    name: str
    change: Literal["added", "removed", "changed"]
    before: Versions | None
    after: Versions | None
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseDiff:
    """Changes between two releases or catalogs: apis by key, then other messages by name, which releases do not list."""

    older: str
    newer: str
    apis: tuple[ApiChange, ...]
    messages: tuple[MessageChange, ...] = ()


def _paths(fields: tuple[LayoutField, ...], path: str = "") -> Iterator[tuple[str, str]]:
    for field in fields:
        yield f"{path}{field.name}", field.type
        yield from _paths(field.fields, f"{path}{field.name}.")


def field_changes(message: Message | None, versions: list[int]) -> Iterator[FieldChange]:
    """Yield the changes of each version against the one before it."""
    if message is None:
        return
    for version in versions:
        if version not in message.valid_versions or version - 1 not in message.valid_versions:
            continue
        before, after = dict(_paths(fields_at(message, version - 1))), dict(_paths(fields_at(message, version)))
        for path, type_ in after.items():
            if path not in before:
                yield FieldChange(message=message.name, path=path, change="added", version=version, type=type_)
        for path, type_ in before.items():
            if path not in after:
                yield FieldChange(message=message.name, path=path, change="removed", version=version, type=type_)


def _renames(message: Message | None, versions: set[int], older: Release, newer: Release) -> Iterator[FieldChange]:
    def walk(fields: tuple[Field, ...], path: str, present: set[int]) -> Iterator[FieldChange]:
        for field in fields:
            there = {version for version in present if version in field.versions}
            before, after = name_in(field, older.minor), name_in(field, newer.minor)
            if before != after and there:
                detail = f"renamed from {before}"
                yield FieldChange(
                    message=found.name, path=f"{path}{after}", change="renamed", version=min(there), type=field.type, detail=detail
                )
            if field.is_struct:
                yield from walk(found.structs[field.element_type].fields, f"{path}{after}.", there)

    if message is not None:
        found = message
        yield from walk(found.fields, "", {version for version in versions if version in found.valid_versions})


def diff(older: str, newer: str) -> ReleaseDiff:
    """Compare the accepted and deprecated versions of two releases, in any order, without unstable versions."""
    known = catalog()
    one, other = releases().resolve(older), releases().resolve(newer)
    changes = []
    for key in sorted({*one.api_keys, *other.api_keys}):
        before, after = one.accepts_anywhere(key), other.accepts_anywhere(key)
        if before is None and after is None:
            continue
        old, new = set(before or ()), set(after or ())
        marked_before, marked_after = set(one.deprecated(key) or ()), set(other.deprecated(key) or ())
        listeners = [tuple(each for each in release.listeners if release.accepts(key, each) is not None) for release in (one, other)]
        kinds_gone = set(one.listeners) ^ set(other.listeners)  # the end of ZooKeeper is one change, not one of every api
        moved = (set(listeners[0]) ^ set(listeners[1])) - kinds_gone
        messages = known.request(key), known.response(key)
        renames = [change for message in messages for change in _renames(message, old & new, one, other)]
        if old == new and marked_before & new == marked_after & new and not moved and not renames:
            continue
        added = sorted(new - old)
        changes.append(
            ApiChange(
                api_key=key,
                name=known.api_name(key) or str(key),
                change="added" if before is None else "removed" if after is None else "changed",
                before=before,
                after=after,
                versions_added=tuple(added),
                versions_removed=tuple(sorted(old - new)),
                deprecated=tuple(sorted((marked_after - marked_before) & new)),
                undeprecated=tuple(sorted((marked_before - marked_after) & new)),
                listeners_before=listeners[0],
                listeners_after=listeners[1],
                fields=(*renames, *(change for message in messages for change in field_changes(message, added if before else []))),
            )
        )
    return ReleaseDiff(older=one.name, newer=other.name, apis=tuple(changes))
