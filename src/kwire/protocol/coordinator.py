"""Records of Kafka's internal topics: group, transaction and share coordinators, KRaft metadata, remote log metadata.

`__consumer_offsets`, `__transaction_state` and `__share_group_state` have keys (2-byte type, message) and values (2-byte version, message);
a null value is a tombstone. Up to 3.9 Kafka called the type the version of the key; the bytes are the same. `__cluster_metadata` and
`__remote_log_metadata` have no keys; a value is a frame version (1), type and version as varints, and a message
(`AbstractApiMessageSerde`).

Every release adds types, and these topics may hold foreign records. Strict reading raises `UnknownApi` for an unknown type and
`UnsupportedVersion` for an unknown version, lenient reading returns an `Opaque`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from kwire.codec._pure.primitives import Break, read_varint
from kwire.codec.classes import compiled
from kwire.errors import Fault, InputError, WireError, wire_error
from kwire.protocol.embedded import PREFIX, Embedded, message_or_raise, opaque, prefix_of, read_embedded
from kwire.schema import Kind, catalog

__all__ = [
    "TOPICS",
    "CoordinatorRecord",
    "decode_key",
    "decode_value",
    "key_message",
    "read_key",
    "read_record",
    "read_value",
    "value_message",
]

_KEYED: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state")
_FRAMED: Final = ("__cluster_metadata", "__remote_log_metadata")
TOPICS: Final = (*_KEYED, *_FRAMED)

_FRAME_VERSION: Final = 1  # the preview in 2.8 wrote 0, which no later release reads
# The one record that Kafka's classes give no type: it was in 3.9, and gone when 4.0 brought types. Its key's version says 9.
_SHARE_GROUP_PARTITION_METADATA: Final = 9
_SUFFIXES: Final = ("Key", "Value", "Record")


@cache
def _messages() -> dict[tuple[str, Kind, int], str]:
    known = catalog()
    found: dict[tuple[str, Kind, int], str] = {}
    for name in known:
        if name.endswith(_SUFFIXES):  # spares parsing the other definitions
            message = known[name]
            # QuotaRecord had the number of ClientQuotaRecord in the preview of 2.8 alone.
            if message.topic is not None and message.api_key is not None and name != "QuotaRecord":
                found[message.topic, message.kind, message.api_key] = name
    return found


def _check(topic: str) -> None:
    if topic not in TOPICS:
        raise InputError(f"{topic!r} is not a topic whose records kwire knows; those are {', '.join(TOPICS)}.")


def read_key(topic: str, data: Any, *, strict: bool = False) -> Embedded:
    """Read the key of a record; never raise for bytes. Arguments as in `decode_key`; `version` of the result is the record type."""
    _check(topic)
    if data is None:
        return Embedded(None)
    if topic in _FRAMED:
        reason = f"records of {topic} have no key"
        return opaque(data, wire_error(Fault.UNKNOWN_API, 0, "", "", None, None, reason))
    try:
        type_id = prefix_of(data, "", "type")
    except WireError as error:
        return opaque(data, error)
    found = key_message(topic, type_id)
    if found is None:
        return opaque(data, _unknown_type(topic, type_id, 0), type_id)
    return read_embedded(compiled(), *found, data, PREFIX, strict)._replace(version=type_id)


def key_message(topic: str, type_id: int) -> tuple[str, int] | None:
    """Return the name and version of the message in keys of a type of record, None for an unknown type."""
    name = _messages().get((topic, "coordinator-key", type_id))
    return None if name is None else (name, 0 if 0 in catalog()[name].valid_versions else type_id)


def value_message(topic: str, type_id: int | None, version: int) -> str | None:
    """Return the name of the message in values of a type of record, None for an unknown type; the version may be unknown."""
    name = None if type_id is None else _messages().get((topic, "coordinator-value", type_id))
    # 0.8.2 to 3.9 wrote newer values under the old type of key too
    return "OffsetCommitValue" if name == "LegacyOffsetCommitValue" and version > 0 else name


def decode_key(topic: str, data: Any, *, strict: bool = True) -> Any:
    """Decode the key of a record of an internal topic.

    Arguments:
        topic: name, such as `__consumer_offsets`.
        data: whole key, type first; any contiguous buffer, or None for a null key.
        strict: raise for bytes that cannot be read; else return an `Opaque`.

    Returns:
        A message whose class is the kind of record: `OffsetCommitKey`, `GroupMetadataKey`; None for a null key.

    Raises:
        UnknownApi: no release has this type of record.
        WireError: the bytes break a rule.
        InputError: unknown topic.
    """
    return message_or_raise(read_key(topic, data, strict=strict), strict)


def read_value(topic: str, type_id: int | None, data: Any, *, strict: bool = False) -> Embedded:
    """Read the value of a record; never raise for bytes. Arguments as in `decode_value`."""
    _check(topic)
    if data is None:
        return Embedded(None)
    if topic in _FRAMED:
        return _read_framed(topic, data, strict)
    if type_id is None and topic == "__consumer_offsets":
        type_id = _SHARE_GROUP_PARTITION_METADATA
    name = value_message(topic, type_id, 0)
    if name is None:
        return opaque(data, _unknown_type(topic, type_id, 0))
    try:
        version = prefix_of(data, name, "version")
    except WireError as error:
        return opaque(data, error)
    name = value_message(topic, type_id, version) or name
    if version not in catalog()[name].valid_versions:
        return opaque(data, _unknown_version(name, type_id, version, 0), version)
    return read_embedded(compiled(), name, version, data, PREFIX, strict)


def decode_value(topic: str, type_id: int | None, data: Any, *, strict: bool = True) -> Any:
    """Decode the value of a record of an internal topic.

    Arguments:
        topic: name, such as `__consumer_offsets`.
        type_id: type of its key; None for `ShareGroupPartitionMetadataValue`, whose key has none. Ignored for `__cluster_metadata` and
            `__remote_log_metadata`, whose values hold it.
        data: whole value, version first; any contiguous buffer, or None for a tombstone.
        strict: raise for bytes that cannot be read; else return an `Opaque`.

    Returns:
        A message; None for a tombstone.

    Raises:
        UnknownApi: no release has this type of record.
        UnsupportedVersion: no release has this version of the value.
        WireError: the bytes break a rule.
        InputError: unknown topic.
    """
    return message_or_raise(read_value(topic, type_id, data, strict=strict), strict)


def _unknown_type(topic: str, type_id: int | None, offset: int) -> WireError:
    what = "no type of record is given" if type_id is None else f"no release writes records of type {type_id}"
    return wire_error(Fault.UNKNOWN_API, offset, "type", "", type_id, None, f"{what} to {topic}")


def _unknown_version(name: str, type_id: int | None, version: int, offset: int) -> WireError:
    reason = f"version {version} of {name} is not known, only {catalog()[name].valid_versions}"
    return wire_error(Fault.UNSUPPORTED_VERSION, offset, "version", name, type_id, version, reason)


def _varint(data: memoryview, offset: int, path: str) -> tuple[int, int]:
    try:
        return read_varint(data, offset, len(data))
    except Break as fault:
        error = wire_error(fault.code, offset, path)
    raise error


def _read_framed(topic: str, data: Any, strict: bool) -> Embedded:
    view = memoryview(data).cast("B")
    try:
        frame, type_at = _varint(view, 0, "frame_version")
        if frame != _FRAME_VERSION:
            reason = f"frame version {frame} of metadata records is not known, only {_FRAME_VERSION}"
            raise wire_error(Fault.UNSUPPORTED_VERSION, 0, "frame_version", "", None, frame, reason)
        type_id, version_at = _varint(view, type_at, "type")
        version, start = _varint(view, version_at, "version")
    except WireError as error:
        return opaque(data, error)
    # This fallback is there for labels, not for brokers: no broker writes remote log metadata into `__cluster_metadata`. But both have this
    # frame and types from 0 on, and the vectors made by Kafka's own classes, against which we are held, label 68 lines of the other topic
    # as `__cluster_metadata`. So a value that does not fit the message of cluster metadata to the last byte is tried as one of the other
    # topic; not the other way round, where the beginning of a RemotePartitionDeleteMetadataRecord is a whole TopicRecord.
    names = [_messages().get((each, "metadata", type_id)) for each in (_FRAMED if topic == _FRAMED[0] else (topic,))]
    readings = [_read_version(name, type_id, version, data, version_at, start, strict) for name in names if name is not None]
    if not readings:
        return opaque(data, _unknown_type(topic, type_id, type_at), version)
    return next((each for each in readings if each.violation is None), readings[0])


def _read_version(name: str, type_id: int, version: int, data: Any, version_at: int, start: int, strict: bool) -> Embedded:
    if version not in catalog()[name].valid_versions:
        return opaque(data, _unknown_version(name, type_id, version, version_at), version)
    return read_embedded(compiled(), name, version, data, start, strict)


class CoordinatorRecord(NamedTuple):
    """Decoded record of an internal topic.

    Attributes:
        type_id: type of the record, None if the key ends before it or is unreadable.
        key: message, or `Opaque`; None in a topic without keys.
        value: message, or `Opaque`; None for a tombstone.
        key_version, value_version: versions in which key and value were read; None for an unread one.
    """

    type_id: int | None
    key: Any
    value: Any
    key_version: int | None
    value_version: int | None
    violations: tuple[WireError, ...]


def read_record(topic: str, key: Any, value: Any) -> CoordinatorRecord:
    """Read a whole record; never raise for bytes.

    Arguments:
        topic: name, such as `__consumer_offsets`.
        key, value: contiguous buffers, None for null.

    Raises:
        InputError: unknown topic.
    """
    first = read_key(topic, key)
    type_id = first.version
    if topic in _KEYED and type_id is None and value is not None:
        second = opaque(value, _unknown_type(topic, None, 0))
    else:
        second = read_value(topic, type_id, value)
    if topic in _FRAMED and second.read_as is not None:
        type_id = catalog()[type(second.message).layout.name].api_key
    violations = tuple(each.violation for each in (first, second) if each.violation is not None)
    return CoordinatorRecord(type_id, first.message, second.message, first.read_as, second.read_as, violations)
