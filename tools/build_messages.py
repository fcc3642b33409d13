"""Builds `schema/messages/*.json` and `schema/index.json` from the message definitions inside Kafka's jars."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kafka_jars import DEFINITION_JARS, definition_jars, fetch
from kwire.schema.loader import load
from kwire.schema.model import Message
from merge_definitions import Source, check, merge


def _housed(message: Message, artifact: str, topic: str | None) -> Message:
    """The definition with the internal topic of its records, and with the kind and type number that older releases did not write."""
    if message.kind != "metadata" and not artifact.endswith("-coordinator"):
        return message
    kind = message.kind
    if kind == "data":
        # Up to 3.9 coordinator records were plain data, a key had its record type as version.
        kind = "coordinator-key" if message.name.endswith("Key") else "coordinator-value"
    return replace(message, kind=kind, topic=topic)


def sources(releases: Iterable[str], cache: Path) -> dict[str, list[Source]]:
    """The definitions of each message, newest release first."""
    releases = list(releases)
    paths = fetch(definition_jars(releases), cache)
    found: dict[str, list[Source]] = defaultdict(list)
    for (artifact, release), path in paths.items():
        for message in load(path).messages.values():
            found[message.name].append(Source(release, _housed(message, artifact, DEFINITION_JARS[artifact][1])))
    for each in found.values():
        each.sort(key=lambda source: releases.index(source.release))
    return found


def build(releases: Iterable[str], cache: Path) -> dict[str, Message]:
    """Merge every message of these releases (newest first) and prove it against each of them.

    Raises:
        MergeError: the definitions cannot be merged into one, or the merged one is not what its sources say.
    """
    merged: dict[str, Message] = {}
    for name, each in sorted(sources(releases, cache).items()):
        if not any(source.message.valid_versions for source in each):
            continue
        message, taken = merge(each)
        notes = check(message, taken, each)
        if message.kind == "coordinator-key":
            message, note = _typed_key(message, each)
            notes[:0] = note
        merged[name] = replace(message, notes=tuple(notes))
    for name, message in merged.items():
        key = merged.get(name.removesuffix("Value") + "Key")
        if message.kind == "coordinator-value" and message.api_key is None and key is not None:
            merged[name] = replace(message, api_key=key.api_key)
    return merged


def _typed_key(message: Message, each: list[Source]) -> tuple[Message, list[str]]:
    """A key with its record type as api key, and the note about where it stood before."""
    old = {source.message.valid_versions.highest: source.release for source in reversed(each) if source.message.api_key is None}
    if not old:
        return message, []
    record_type, release = next(iter(old.items()))
    if message.api_key is None:
        message = replace(message, api_key=record_type)
    if record_type == 0:
        return message, []
    return message, [
        f"Up to {release} the record type was the version of the message; from 4.0 on the version is 0. The bytes are the same."
    ]


def write(messages: dict[str, Message], folder: Path) -> None:
    """Write one file per message and the index; what is there and not wanted is removed."""
    target = folder / "messages"
    target.mkdir(exist_ok=True)
    for path in target.glob("*.json"):
        if path.stem not in messages:
            path.unlink()
    for name, message in messages.items():
        (target / f"{name}.json").write_text(_text(message.to_definition()), "utf-8")
    # An api key that was given to a message under a new name is found by the last entry: the name with the highest version.
    order = sorted(messages.values(), key=lambda m: (m.kind, -1 if m.api_key is None else m.api_key, m.valid_versions.highest, m.name))
    rows = ",\n".join(f' "{m.name}": {json.dumps([m.kind, m.api_key])}' for m in order)
    (folder / "index.json").write_text(f"{{\n{rows}\n}}\n", "utf-8")


def _text(value: object, indent: str = "") -> str:
    """JSON with one line per field that has no fields of its own."""
    if isinstance(value, dict):
        plain = json.dumps(value)
        if "fields" not in value and "notes" not in value and len(plain) < 200:
            return plain
        rows = [f"{indent}  {json.dumps(key)}: {_text(each, indent + '  ')}" for key, each in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}" + ("\n" if not indent else "")
    if isinstance(value, list) and value and isinstance(value[0], (dict, str)) and len(json.dumps(value)) > 100:
        rows = [f"{indent}  {_text(each, indent + '  ')}" for each in value]
        return "[\n" + ",\n".join(rows) + f"\n{indent}]"
    return json.dumps(value)
