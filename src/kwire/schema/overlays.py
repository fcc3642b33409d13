"""Overlays: definitions applied on top of a catalog, which stays unchanged.

Messages that an overlay *extends* keep the base's versions and get higher ones; those it *replaces* are the overlay's; those it *adds*
must not be in the base. A bump gives every request of the base one more version, with the fields of the last one and a newer request
header. If the base already has a change (a release that adopted the proposal), the base's definition is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kwire.errors import InputError
from kwire.schema.layout import fields_at, wire_shape
from kwire.schema.model import NO_VERSIONS, Catalog, Field, MadeMessages, Message, Struct, Versions

__all__ = ["Bump", "Overlay", "OverlaidCatalog"]


@dataclass(frozen=True, slots=True)
class Bump:
    """One more version of every request and its response."""

    request_header: int  # request header of the new versions
    exempt: Mapping[str, str]  # apis without one, by name (`SaslHandshake`), and why


@dataclass(frozen=True)
class Overlay:
    """Changes to a base catalog: a dialect's name, and definitions by message name."""

    name: str  # of the dialect
    extends: Mapping[str, Message] = field(default_factory=dict)
    replaces: Mapping[str, Message] = field(default_factory=dict)
    adds: Mapping[str, Message] = field(default_factory=dict)
    bump: Bump | None = None

    @property
    def messages(self) -> dict[str, Message]:
        return {**self.extends, **self.replaces, **self.adds}

    def with_api_keys(self, api_keys: Mapping[str, int]) -> Overlay:
        """Return the overlay with other keys for apis that it replaces or adds; unknown names are ignored."""

        def moved(messages: Mapping[str, Message]) -> dict[str, Message]:
            return {
                name: replace(message, api_key=api_keys.get(_api_of(message), message.api_key)) if _is_api(message) else message
                for name, message in messages.items()
            }

        return replace(self, replaces=moved(self.replaces), adds=moved(self.adds))


def _is_api(message: Message) -> bool:
    return message.kind in ("request", "response")


def _api_of(message: Message) -> str:
    return message.name.removesuffix("Request").removesuffix("Response")


class _Messages(MadeMessages):
    def __init__(self, base: Catalog, overlay: Overlay) -> None:
        super().__init__()
        self._base = base
        self._overlay = overlay
        self._own = {**overlay.replaces, **overlay.adds}

    def _make(self, name: str) -> Message:
        if name in self._own:
            return self._own[name]
        below = self._base[name]
        over = self._overlay.extends.get(name)
        found = below if over is None else _extended(below, over, self._overlay.name, self._base.name)
        return _bumped(below, self._base, self._overlay.bump) if found is below and self._overlay.bump is not None else found

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._base

    def __iter__(self) -> Iterator[str]:
        yield from self._base
        yield from (name for name in self._own if name not in self._base)


class OverlaidCatalog(Catalog):
    """Catalog with an overlay on it, which may not add a message or take an api key of the base."""

    def __init__(self, base: Catalog, overlay: Overlay) -> None:
        self.base = base
        self.overlay = overlay
        self.name = overlay.name if base.name == "kwire" else f"{overlay.name} on {base.name}"
        self.messages = _Messages(base, overlay)
        for name in overlay.adds:
            if name in base:
                raise InputError(f"{base.name} has a {name} already, so {overlay.name} cannot add it.")
        own = {**overlay.replaces, **overlay.adds}
        self._own = {kind: {each.api_key: name for name, each in own.items() if each.kind == kind} for kind in ("request", "response")}
        for kind, find in (("request", base.request), ("response", base.response)):
            for key, name in self._own[kind].items():
                taken = None if key is None else find(key)
                if taken is not None and taken.name not in own:
                    raise InputError(f"{base.name} has {taken.name} under api key {key}, so {overlay.name} cannot have {name} there.")

    def _find(self, kind: str, api_key: int) -> Message | None:
        own = self._own[kind].get(api_key)
        if own is not None:
            return self.messages[own]
        # what the overlay replaces is no longer found under the key that it had
        below = self.base.request(api_key) if kind == "request" else self.base.response(api_key)
        return None if below is None or below.name in self.overlay.replaces else self.messages[below.name]

    @property
    def api_keys(self) -> list[int]:
        return sorted(key for key in {*self.base.api_keys, *self._own["request"]} if key is not None and self.request(key) is not None)

    def __reduce__(self) -> tuple[Any, ...]:
        return OverlaidCatalog, (self.base, self.overlay)


def _extended(base: Message, over: Message, overlay: str, of: str) -> Message:
    """Return the overlay's definition without versions below the base's, or the base's if it has all; their bytes must be equal."""
    if not base.valid_versions or base.valid_versions.highest >= over.valid_versions.highest:
        return base
    for version in base.valid_versions:
        if wire_shape(fields_at(base, version)) != wire_shape(fields_at(over, version)):
            raise InputError(f"{base.name} v{version} of {of} has other fields than {overlay} knows, so it cannot be extended.")
    return replace(
        over,
        api_key=base.api_key,
        valid_versions=Versions(base.valid_versions.lowest, over.valid_versions.highest),
        listeners=base.listeners,
        unstable_versions=base.unstable_versions,
        topic=base.topic,
        notes=base.notes,
    )


def _bumped(message: Message, base: Catalog, bump: Bump) -> Message:
    """Return the message with one more version, if it is the base's for its api key and its request has no such header yet."""
    if not _is_api(message) or message.api_key is None:
        return message
    found = base.request(message.api_key) if message.kind == "request" else base.response(message.api_key)
    request = base.request(message.api_key)
    if found is None or found.name != message.name or request is None or not request.valid_versions or not message.valid_versions:
        return message  # an older name of the api, or an api that the release has dropped
    if _api_of(request) in bump.exempt or request.header_versions[-1][1] >= bump.request_header:
        return message
    last = message.valid_versions.highest
    new = max(request.valid_versions.highest, last) + 1

    def grown(versions: Versions) -> Versions:
        """Extend a range that includes the last version; ranges that a later release would begin there (`ReleaseCatalog`) stay."""
        if last in versions:
            return Versions(versions.lowest, max(versions.highest, new))
        return NO_VERSIONS if versions.lowest > last else versions

    def field_of(each: Field) -> Field:
        return replace(
            each,
            versions=grown(each.versions),
            nullable_versions=grown(each.nullable_versions),
            tagged_versions=grown(each.tagged_versions),
            flexible_versions=None if each.flexible_versions is None else grown(each.flexible_versions),
            fields=tuple(field_of(inner) for inner in each.fields),
        )

    clipped = ((Versions(of.lowest, min(of.highest, last)), header) for of, header in message.header_versions)
    *headers, newest = [each for each in clipped if each[0]]
    if message.kind == "request":
        headers += [newest, (Versions(new, Versions.OPEN), bump.request_header)]
    else:
        headers.append((Versions(newest[0].lowest, Versions.OPEN), newest[1]))
    return replace(
        message,
        valid_versions=Versions(message.valid_versions.lowest, new),
        flexible_versions=grown(message.flexible_versions),
        fields=tuple(field_of(each) for each in message.fields),
        header_versions=tuple(headers),
        common_structs={
            name: Struct(struct.name, grown(struct.versions), tuple(field_of(each) for each in struct.fields))
            for name, struct in message.common_structs.items()
        },
    )
