"""Differences between two catalogs: releases, jars, folders, dialects.

Releases are compared by what their brokers accept (`kwire.schema.release_diff`), others by definition: valid versions, fields of new
versions, and versions that differ between forks or previews.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from kwire.schema.header_versions import header_version_of
from kwire.schema.layout import LayoutField, fields_at, paired_fields, wire_shape
from kwire.schema.model import NO_VERSIONS, Catalog, Message, Versions
from kwire.schema.named_catalogs import ReleaseCatalog, named_catalog
from kwire.schema.overlays import OverlaidCatalog
from kwire.schema.release_diff import ApiChange, FieldChange, MessageChange, ReleaseDiff, diff, field_changes

__all__ = ["compare", "diff_catalogs"]

Change = Literal["added", "removed", "changed"]


def compare(older: str, newer: str) -> ReleaseDiff:
    """Compare two catalogs by name; a dialect is applied to a catalog of another kind: ``compare("4.1", "kip-1313")``."""
    one, other = named_catalog(older), named_catalog(newer)
    if isinstance(other, OverlaidCatalog) and not isinstance(one, OverlaidCatalog):
        other = OverlaidCatalog(one, other.overlay)
    elif isinstance(one, OverlaidCatalog) and not isinstance(other, OverlaidCatalog):
        one = OverlaidCatalog(other, one.overlay)
    return diff_catalogs(one, other)


def _root(known: Catalog) -> Catalog:
    while isinstance(known, OverlaidCatalog):
        known = known.base
    return known


def diff_catalogs(one: Catalog, other: Catalog) -> ReleaseDiff:
    """Compare two catalogs.

    If one is a release, only apis and stable versions are compared, and shared versions by their bytes, as releases have only the newest
    names.
    """
    if isinstance(one, ReleaseCatalog) and isinstance(other, ReleaseCatalog):
        return diff(one.name, other.name)
    roots = _root(one), _root(other)
    released = roots[0] is not roots[1] and any(isinstance(root, ReleaseCatalog) for root in roots)
    return ReleaseDiff(
        older=one.name, newer=other.name, apis=tuple(_apis(one, other, released)), messages=() if released else tuple(_messages(one, other))
    )


def _apis(one: Catalog, other: Catalog, released: bool) -> Iterator[ApiChange]:
    for key in sorted({*one.api_keys, *other.api_keys}):
        before, after = one.request(key), other.request(key)
        old, new = _versions(before, released), _versions(after, released)
        fields: tuple[FieldChange, ...] = ()
        if old and new:  # a response does not say which of its versions are unstable
            fields = (*_fields(before, after, old, new, released), *_fields(one.response(key), other.response(key), old, new, released))
        if not fields and (old == new or not (old or new)):
            continue
        named = after if new or not old else before
        assert named is not None
        yield ApiChange(
            api_key=key,
            name=named.name.removesuffix("Request"),
            change=_change(old, new),
            before=old or None,
            after=new or None,
            versions_added=tuple(sorted({*new} - {*old})),
            versions_removed=tuple(sorted({*old} - {*new})),
            fields=fields,
        )


def _messages(one: Catalog, other: Catalog) -> Iterator[MessageChange]:
    names = {name for known in (one, other) for name in known if known[name].kind not in ("request", "response")}
    for name in sorted(names):
        before, after = one.messages.get(name), other.messages.get(name)
        old, new = _versions(before, False), _versions(after, False)
        fields = tuple(_fields(before, after, old, new, False)) if old and new else ()
        if old != new or fields:
            yield MessageChange(name=name, change=_change(old, new), before=old or None, after=new or None, fields=fields)


def _change(old: Versions, new: Versions) -> Change:
    return "changed" if old and new else "added" if new else "removed"


def _versions(message: Message | None, stable: bool) -> Versions:
    if message is None:
        return NO_VERSIONS
    versions = message.valid_versions
    if stable and message.unstable_versions and message.unstable_versions.lowest in versions:
        return Versions(versions.lowest, message.unstable_versions.lowest - 1)
    return versions


def _fields(before: Message | None, after: Message | None, old: Versions, new: Versions, released: bool) -> Iterator[FieldChange]:
    """Yield the differences of common versions, then the changes of new versions."""
    if before is None or after is None:
        return
    seen: set[tuple[str, str, str | None]] = set()
    both = [version for version in new if version in old and version in before.valid_versions and version in after.valid_versions]
    for version in both:
        if released and _bytes_of(before, version) == _bytes_of(after, version):
            continue
        for change in _at(before, after, version):
            if released and change.change == "renamed":
                continue
            said = change.path, change.change, change.detail
            if said not in seen:  # told of the first version that has it
                seen.add(said)
                yield change
    added = [version for version in new if version not in old]
    for version in added:
        if version in after.valid_versions and version - 1 in after.valid_versions:
            yield from _header_change(after, version - 1, after, version)
    yield from field_changes(after, added)


def _bytes_of(message: Message, version: int) -> object:
    header = header_version_of(message.header_versions, version) if message.header_versions else None
    return header, message.is_flexible(version), wire_shape(fields_at(message, version))


def _header_change(before: Message, old: int, after: Message, new: int) -> Iterator[FieldChange]:
    if before.header_versions and after.header_versions:
        headers = header_version_of(before.header_versions, old), header_version_of(after.header_versions, new)
        if headers[0] != headers[1]:
            detail = f"header {headers[1]}, {headers[0]} before"
            yield FieldChange(message=after.name, path="", change="changed", version=new, type="", detail=detail)


def _at(before: Message, after: Message, version: int) -> Iterator[FieldChange]:
    """Yield the differences of one version in layout or in rules for writing."""

    def said(change: Change | Literal["renamed"], path: str, type_: str, detail: str | None = None) -> FieldChange:
        return FieldChange(message=after.name, path=path, change=change, version=version, type=type_, detail=detail)

    yield from _header_change(before, version, after, version)
    if before.is_flexible(version) != after.is_flexible(version):
        yield said("changed", "", "", "flexible now" if after.is_flexible(version) else "not flexible now")
    old = dict(_by_new_path(fields_at(before, version), fields_at(after, version)))
    new = dict(_by_new_path(fields_at(after, version), fields_at(after, version)))
    for path, field in new.items():
        if path not in old:
            yield said("added", path, field.type)
        else:
            if old[path].name != field.name:
                yield said("renamed", path, field.type, f"renamed from {old[path].name}")
            yield from (said("changed", path, field.type, detail) for detail in _details(old[path], field))
    yield from (said("removed", path, field.type) for path, field in old.items() if path not in new)
    common = [[path for path in side if path in old and path in new] for side in (old, new)]
    if common[0] != common[1]:
        yield said("changed", "", "", "another order of fields")


def _by_new_path(fields: tuple[LayoutField, ...], new: tuple[LayoutField, ...], path: str = "") -> Iterator[tuple[str, LayoutField]]:
    newer = {field.name: found for field, found in paired_fields(fields, new)}
    for field in fields:
        found = newer.get(field.name)
        here = f"{path}{field.name if found is None else found.name}"
        yield here, field
        yield from _by_new_path(field.fields, () if found is None else found.fields, f"{here}.")


def _details(old: LayoutField, new: LayoutField) -> Iterator[str]:
    def wire_type(field: LayoutField) -> str:
        # Names of structs are nobody's business on the wire, nor is it that bytes hold records.
        return ("[]" if field.type.startswith("[]") else "") + "struct" if field.fields else field.type.replace("records", "bytes")

    if wire_type(old) != wire_type(new):
        yield f"{old.type} before"
    if old.nullable != new.nullable:
        yield "nullable now" if new.nullable else "not nullable now"
    if old.tag != new.tag:
        before, after = ("untagged" if field.tag is None else f"tag {field.tag}" for field in (old, new))
        yield f"{after}, {before} before"
    if old.compact != new.compact:
        yield "compact now" if new.compact else "not compact now"
    if old.default != new.default:
        yield f"default {new.default}, {old.default} before"
    if old.ignorable != new.ignorable:
        yield "ignorable now" if new.ignorable else "not ignorable now"
