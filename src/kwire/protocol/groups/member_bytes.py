"""Metadata, assignments and user data of members of classic groups, by protocol type (KIP-559).

Bytes of the consumer protocol begin with their version. As in Kafka's ConsumerProtocol, a version above the newest is read as the newest,
and trailing bytes are ignored; they are counted, and in a known version they are a violation. kafka-go and kafkajs 1 write subscriptions of
version 1 that end before OwnedPartitions, pykafka assignments that end before the user data. Kafka rejects these; a tap reads them up to
their end. Unknown types stay opaque.

`decode_` functions have the parameter `strict`: if True, they raise `WireError` where Kafka rejects the bytes; if False, they never raise
for bytes and return an `Opaque` for unreadable parts. `read_` functions never raise and also return the anomalies.
"""

from __future__ import annotations

from typing import Any, Final

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.group_definitions import compiled_groups
from kwire.errors import Fault, WireError, wire_error
from kwire.protocol.embedded import PREFIX, Embedded, message_or_raise, opaque, prefix_of, read_embedded

__all__ = [
    "PROTOCOL_TYPES", "USER_DATA", "decode_assignment", "decode_group_assignment", "decode_group_metadata", "decode_subscription",
    "decode_user_data", "read_assignment", "read_group_assignment", "read_group_metadata", "read_subscription", "read_user_data",
]  # fmt: skip

# protocol type -> message of a member's metadata, message of its assignment
PROTOCOL_TYPES: Final = {
    "consumer": ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment"),
    "connect": ("ConnectProtocolMetadata", "ConnectProtocolAssignment"),
}
# assignor -> message of the user data in its subscriptions, versions to try, the newest first (nothing in the bytes names their version)
USER_DATA: Final = {"sticky": ("StickyAssignorUserData", (1, 0)), "cooperative-sticky": ("CooperativeStickyAssignorUserData", (0,))}
_NULL_BYTES: Final = b"\xff\xff\xff\xff"  # null of a field of type bytes


def _source_of(name: str) -> CompiledCatalog:
    own = compiled_groups()
    return own if name in own.catalog else compiled()


def _read(name: str, data: Any, strict: bool) -> Embedded:
    source = _source_of(name)
    try:
        version = prefix_of(data, name, "version")
    except WireError as error:
        return opaque(data, error)
    newest = source.message(name).valid_versions.highest
    if version < 0:
        reason = f"version {version} of {name} is negative"
        return opaque(data, wire_error(Fault.UNSUPPORTED_VERSION, 0, "version", name, None, version, reason), version)
    reading = read_embedded(source, name, min(version, newest), data, PREFIX, strict)
    if reading.read_as is None:
        reading = _without_last_fields(source, name, data, reading)
    if reading.violation is not None and reading.extra and (strict or version > newest):
        reading = reading._replace(violation=None)
    return reading._replace(version=version)


def _without_last_fields(source: CompiledCatalog, name: str, data: Any, failed: Embedded) -> Embedded:
    """Read bytes that end exactly before a field: use the newest version without that field, or null user data."""
    error = failed.violation
    assert error is not None
    assert failed.version is not None
    if error.code != Fault.TRUNCATED or error.offset != memoryview(data).nbytes:
        return failed
    tries = [(version, data) for version in range(failed.version - 1, -1, -1)]
    if error.path == "user_data":
        tries.append((0, bytes(data) + _NULL_BYTES))
    for version, whole in tries:
        shorter = read_embedded(source, name, version, whole, PREFIX, False)
        if shorter.read_as is not None and not shorter.extra:
            return shorter._replace(violation=error)
    return failed


def read_subscription(data: Any) -> Embedded:
    """Read a consumer's subscription, version first (`ConsumerProtocol.deserializeSubscription`); never raise for bytes."""
    return _read("ConsumerProtocolSubscription", data, False)


def decode_subscription(data: Any, *, strict: bool = True) -> Any:
    """Decode a consumer's subscription, as in JoinGroup, to a `ConsumerProtocolSubscription`.

    Arguments:
        data: version and message; any contiguous buffer.
        strict: if False, return unknown tags, trailing bytes and unreadable bodies instead of raising.

    Raises:
        WireError: Kafka rejects the bytes.
    """
    return message_or_raise(_read("ConsumerProtocolSubscription", data, strict), strict)


def read_assignment(data: Any) -> Embedded:
    """Read a consumer's assignment, version first (`ConsumerProtocol.deserializeAssignment`); never raise for bytes."""
    return _read("ConsumerProtocolAssignment", data, False)


def decode_assignment(data: Any, *, strict: bool = True) -> Any:
    """Decode a consumer's assignment, as in SyncGroup; arguments and errors as in `decode_subscription`."""
    return message_or_raise(_read("ConsumerProtocolAssignment", data, strict), strict)


def _read_of_type(protocol_type: str | None, which: int, data: Any, strict: bool) -> Embedded:
    if not memoryview(data).nbytes:
        return Embedded(None)  # a member that waits for its assignment, a group without members' metadata
    names = PROTOCOL_TYPES.get(protocol_type or "")
    if names is None:
        what = "no protocol type is known" if protocol_type is None else f"the layout of protocol type {protocol_type[:64]!r} is not known"
        return opaque(data, wire_error(Fault.UNKNOWN_API, 0, "protocol_type", "", None, None, what))
    return _read(names[which], data, strict)


def read_group_metadata(protocol_type: str | None, data: Any) -> Embedded:
    """Read a member's metadata in JoinGroup, by the group's protocol type; never raise for bytes."""
    return _read_of_type(protocol_type, 0, data, False)


def decode_group_metadata(protocol_type: str | None, data: Any, *, strict: bool = True) -> Any:
    """Decode a member's metadata in JoinGroup (KIP-559); None for empty bytes.

    Arguments:
        protocol_type: type of the group: `consumer`, `connect`; None if unknown.
        data: any contiguous buffer.
        strict: if False, return unknown tags, trailing bytes and unreadable bodies instead of raising.

    Raises:
        UnknownApi: unknown layout of the type.
        WireError: the bytes break a rule of the type's layout.
    """
    return message_or_raise(_read_of_type(protocol_type, 0, data, strict), strict)


def read_group_assignment(protocol_type: str | None, data: Any) -> Embedded:
    """Read a member's assignment in SyncGroup, by the group's protocol type; never raise for bytes."""
    return _read_of_type(protocol_type, 1, data, False)


def decode_group_assignment(protocol_type: str | None, data: Any, *, strict: bool = True) -> Any:
    """Decode a member's assignment in SyncGroup; arguments and errors as in `decode_group_metadata`."""
    return message_or_raise(_read_of_type(protocol_type, 1, data, strict), strict)


def _read_user_data(assignor: str | None, data: Any, strict: bool) -> Embedded:
    if not memoryview(data).nbytes:
        return Embedded(None)
    found = USER_DATA.get(assignor or "")
    if found is None:
        what = "no assignor is known" if assignor is None else f"the layout of the user data of assignor {assignor[:64]!r} is not known"
        return opaque(data, wire_error(Fault.UNKNOWN_API, 0, "protocol_name", "", None, None, what))
    name, versions = found
    readings = [read_embedded(compiled_groups(), name, version, data, 0, strict) for version in versions]
    # The data of version 0 is version 1 without its last field, so bytes that fit one to the end fit no other.
    whole = next((each for each in readings if each.violation is None), None)
    reading = whole or next((each for each in readings if each.read_as is not None), readings[0])
    if strict and reading.extra:
        reading = reading._replace(violation=None)  # the assignors do not look behind what they read
    return reading._replace(version=reading.read_as)


def read_user_data(assignor: str | None, data: Any) -> Embedded:
    """Read the user data of a subscription, by the name of the assignor; never raise for bytes."""
    return _read_user_data(assignor, data, False)


def decode_user_data(assignor: str | None, data: Any, *, strict: bool = True) -> Any:
    """Decode an assignor's user data in a subscription; None for empty bytes.

    Arguments:
        assignor: name of the protocol in JoinGroup: `sticky`, `cooperative-sticky`; None if unknown.
        data: any contiguous buffer.
        strict: if False, return unknown tags, trailing bytes and unreadable bodies instead of raising.

    Returns:
        A message: `sticky` has `previous_assignment` and `generation` (-1 in version 0, before Kafka 2.3), `cooperative-sticky` has
        `generation`.

    Raises:
        UnknownApi: unknown layout of the assignor's user data.
        WireError: the bytes break a rule of the layout.
    """
    return message_or_raise(_read_user_data(assignor, data, strict), strict)
