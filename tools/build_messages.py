"""Builds `schema/messages/*.json` and `schema/index.json` from the message definitions inside Kafka's jars."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from build_releases import ask
from kafka_jars import DEFINITION_JARS, definition_jars, fetch
from kwire.schema.definitions import definition_of
from kwire.schema.layout import LayoutField, fields_at
from kwire.schema.loader import load
from kwire.schema.model import Field, Message, Versions
from kwire.schema.release_table import release_key
from merge_definitions import Source, check, merge, with_former_names

# Two releases had this record before it was dropped, in two forms, and neither ever left preview. The form of 3.9 counts: 4.0 already
# had ShareGroupStatePartitionMetadata to replace it.
FORM_THAT_COUNTS = {"ShareGroupPartitionMetadataValue": "3.9.2"}


def _housed(message: Message, artifact: str) -> Message:
    """Set the internal topic of a definition's records, and the kind that older releases did not write."""
    topic = DEFINITION_JARS[artifact][2]
    if topic is None or (message.kind == "data" and artifact == "kafka-storage"):
        return message
    if message.name.startswith("TransactionLog"):
        topic = "__transaction_state"
    kind = message.kind
    if kind == "data":
        # Up to 3.9 coordinator records were plain data, a key had its record type as version.
        kind = "coordinator-key" if message.name.endswith("Key") else "coordinator-value"
    return replace(message, kind=kind, topic=topic)


def sources(releases: Iterable[str], cache: Path) -> dict[str, list[Source]]:
    """Return the definitions of each message, newest release first."""
    releases = list(releases)
    paths = fetch(definition_jars(releases), cache)
    found: dict[str, list[Source]] = defaultdict(list)
    for (artifact, release), path in paths.items():
        for message in load(path).messages.values():
            found[message.name].append(Source(release, _housed(message, artifact)))
    for each in found.values():
        counts = FORM_THAT_COUNTS.get(each[0].message.name)
        each.sort(key=lambda source: (source.release != counts, releases.index(source.release)))
    return found


_CODED_TYPES = {"BOOLEAN": "bool", "RECORDS": "bytes"}


def coded_layouts(releases: Iterable[str], cache: Path) -> dict[tuple[str, int | None], list[tuple[str, int, tuple[LayoutField, ...]]]]:
    """Return requests and responses that releases before 2.8 define in code: by kind and api key, release, version and fields."""

    def field_of(name: str, kind: str, inner: list[Any]) -> LayoutField:
        array, scalar = "[]" if kind.startswith("[]") else "", kind.removeprefix("[]").removeprefix("COMPACT_").removeprefix("NULLABLE_")
        words = "".join(word[:1].upper() + word[1:] for word in re.findall("[A-Za-z0-9]+", name))  # there is an "offsets'"
        type_ = array + _CODED_TYPES.get(scalar, scalar.lower())
        return LayoutField(words, type_, False, None, False, None, False, None, False, tuple(field_of(*each) for each in inner))

    found: dict[tuple[str, int | None], list[tuple[str, int, tuple[LayoutField, ...]]]] = defaultdict(list)
    asked = [release for release in releases if (0, 9) <= release_key(release) < (2, 8)]
    for fact in ask(asked, cache, oracle="SchemaNames.java") if asked else ():
        fields = tuple(field_of(*each) for each in fact["fields"] if not each[1].startswith("TAGGED_FIELDS"))
        place = "request" if fact["is_request"] else "response", fact["api_key"]
        found[place].append((fact["release"], fact["version"], fields))
    return found


def build(releases: Iterable[str], cache: Path) -> dict[str, Message]:
    """Merge every message of these releases (newest first) and prove it against each of them. Raises MergeError: the definitions cannot be
    merged into one, or the merged one is not what its sources say."""
    releases = list(releases)
    coded = coded_layouts(releases, cache)
    merged: dict[str, Message] = {}
    newest: dict[tuple[str, int], tuple[tuple[int, ...], str]] = {}
    for name, each in sorted(sources(releases, cache).items()):
        living = [source for source in each if source.message.valid_versions]
        if not living:
            continue
        message, taken = merge(each)
        notes = check(message, taken, each)
        defined = [(each.release, version, fields_at(each.message, version)) for each in living for version in each.message.valid_versions]
        message = with_former_names(message, defined, coded[message.kind, message.api_key])
        if message.kind == "coordinator-key":
            message, note = _typed_key(message, each)
            notes[:0] = note
        merged[name] = replace(_announced(message), notes=tuple(notes))
        if message.kind in ("request", "response") and message.api_key is not None:
            place = message.kind, message.api_key
            newest[place] = max(newest.get(place, ((), "")), (release_key(living[0].release), name))
    for name, message in merged.items():
        key = merged.get(name.removesuffix("Value") + "Key")
        if message.kind == "coordinator-value" and message.api_key is None and key is not None:
            merged[name] = replace(message, api_key=key.api_key)
        current = newest.get((message.kind, -1 if message.api_key is None else message.api_key))
        if current is not None and current[1] != name:
            merged[name] = replace(message, notes=(*message.notes, f"The name since then is {current[1]}."))
    return merged


def _announced(message: Message) -> Message:
    """Add request header 3, which KIP-1313 announces and no release has yet: brokers and taps must read it before bodies need it."""
    if message.name != "RequestHeader" or 3 in message.valid_versions:
        return message
    instance = Field("ClientInstanceId", "uuid", Versions.parse("3+"), ignorable=True)
    return replace(
        message,
        valid_versions=Versions(message.valid_versions.lowest, 3),
        unstable_versions=Versions(3, 3),
        fields=(*message.fields, instance),
    )


def _typed_key(message: Message, each: list[Source]) -> tuple[Message, list[str]]:
    """Set the record type of a key as its api key, with a note on its former place (KAFKA-18616 moved it)."""
    old = [source for source in each if source.message.api_key is None]
    if not old:
        return message, []
    record_type = old[0].message.valid_versions.highest
    if message.api_key is None:
        message = replace(message, api_key=record_type)
    if record_type == 0:
        return message, []
    since = "later" if len(old) < len(each) else "in later keys"
    return message, [
        f"Up to {old[0].release} the record type is the version of the message, {since} the version is 0; the bytes are the same."
    ]


def write(messages: dict[str, Message], folder: Path) -> None:
    """Write one file per message and the index; remove other messages."""
    target = folder / "messages"
    target.mkdir(exist_ok=True)
    for path in target.glob("*.json"):
        if path.stem not in messages:
            path.unlink()
    for name, message in messages.items():
        (target / f"{name}.json").write_text(_text(definition_of(message)), "utf-8")
    # An api key that was given to a message under a new name is found by the last entry: the name with the highest version.
    order = sorted(messages.values(), key=lambda m: (m.kind, -1 if m.api_key is None else m.api_key, m.valid_versions.highest, m.name))
    rows = ",\n".join(f' "{m.name}": {json.dumps([m.kind, m.api_key])}' for m in order)
    (folder / "index.json").write_text(f"{{\n{rows}\n}}\n", "utf-8")


def _text(value: object, indent: str = "") -> str:
    """Return JSON with one line per field that has no fields of its own."""
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
