"""Builds `schema/messages/*.json` and `schema/index.json` from the message definitions inside Kafka's jars."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kafka_jars import DEFINITION_JARS, definition_jars, fetch
from kwire.schema.loader import load
from kwire.schema.model import Field, Message, Versions
from kwire.schema.release_table import release_key
from merge_definitions import Source, check, merge

# Two releases had this record before it was dropped, in two forms, and neither ever left preview. The form of 3.9 counts: 4.0 already
# had ShareGroupStatePartitionMetadata to replace it.
FORM_THAT_COUNTS = {"ShareGroupPartitionMetadataValue": "3.9.2"}


def _housed(message: Message, artifact: str) -> Message:
    """The definition with the internal topic of its records, and with the kind that older releases did not write."""
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
    """The definitions of each message, newest release first."""
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


def build(releases: Iterable[str], cache: Path) -> dict[str, Message]:
    """Merge every message of these releases (newest first) and prove it against each of them.

    Raises:
        MergeError: the definitions cannot be merged into one, or the merged one is not what its sources say.
    """
    merged: dict[str, Message] = {}
    newest: dict[tuple[str, int], tuple[tuple[int, ...], str]] = {}
    for name, each in sorted(sources(releases, cache).items()):
        living = [source for source in each if source.message.valid_versions]
        if not living:
            continue
        message, taken = merge(each)
        notes = check(message, taken, each)
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
    """Request header 3, which KIP-1313 announces and no release has yet: brokers and taps must read it before bodies need it."""
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
    """A key with its record type as api key, and the note about where it stood before (KAFKA-18616 moved it)."""
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
