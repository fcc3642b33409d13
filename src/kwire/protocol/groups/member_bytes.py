"""What the members of classic groups write into metadata, assignments and user data, by protocol type (KIP-559).

Bytes of the consumer protocol begin with their version. As Kafka's ConsumerProtocol does, a version above the newest is read as the newest,
and bytes behind the message are ignored; they are counted, and behind a known version they are a violation. kafka-go and kafkajs 1 write
subscriptions of version 1 that end before OwnedPartitions, pykafka assignments that end before the user data: Kafka refuses them, a tap
reads what is there. Types are an open list: what is not known here stays opaque, nothing is guessed.

Every `decode_` function takes `strict`: True raises `WireError` where Kafka refuses the bytes, False never raises for bytes and gives an
`Opaque` for what cannot be read. The `read_` functions never raise and say also what was wrong.
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
USER_DATA: Final = {
    "sticky": ("StickyAssignorUserData", (1, 0)),
    "cooperative-sticky": ("CooperativeStickyAssignorUserData", (0,)),
}
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
    """The reading of bytes that end exactly before a field: in the newest version without it, or with null user data."""
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
    """Read a consumer's subscription, version first (`ConsumerProtocol.deserializeSubscription`); never raises for bytes."""
    return _read("ConsumerProtocolSubscription", data, False)


def decode_subscription(data: Any, *, strict: bool = True) -> Any:
    """Decode a consumer's subscription, as JoinGroup carries it.

    Arguments:
        data: version and message; any contiguous buffer.
        strict: see the module.

    Returns:
        A `ConsumerProtocolSubscription`.

    Raises:
        WireError: Kafka refuses the bytes.
    """
    return message_or_raise(_read("ConsumerProtocolSubscription", data, strict), strict)


def read_assignment(data: Any) -> Embedded:
    """Read a consumer's assignment, version first (`ConsumerProtocol.deserializeAssignment`); never raises for bytes."""
    return _read("ConsumerProtocolAssignment", data, False)


def decode_assignment(data: Any, *, strict: bool = True) -> Any:
    """Decode a consumer's assignment, as SyncGroup carries it; arguments and errors as in `decode_subscription`."""
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
    """Read what a member of a group sends in JoinGroup, by the group's protocol type; never raises for bytes."""
    return _read_of_type(protocol_type, 0, data, False)


def decode_group_metadata(protocol_type: str | None, data: Any, *, strict: bool = True) -> Any:
    """Decode what a member of a group sends in JoinGroup (KIP-559).

    Arguments:
        protocol_type: of the group: `consumer`, `connect`; None where it is unknown.
        data: the bytes; any contiguous buffer.
        strict: see the module.

    Returns:
        A message; None for empty bytes.

    Raises:
        UnknownApi: the layout of the type is not known.
        WireError: the bytes break a rule of the type's layout.
    """
    return message_or_raise(_read_of_type(protocol_type, 0, data, strict), strict)


def read_group_assignment(protocol_type: str | None, data: Any) -> Embedded:
    """Read what SyncGroup assigns to a member, by the group's protocol type; never raises for bytes."""
    return _read_of_type(protocol_type, 1, data, False)


def decode_group_assignment(protocol_type: str | None, data: Any, *, strict: bool = True) -> Any:
    """Decode what SyncGroup assigns to a member; arguments and errors as in `decode_group_metadata`."""
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
    """Read the user data of a subscription, by the name of the assignor; never raises for bytes."""
    return _read_user_data(assignor, data, False)


def decode_user_data(assignor: str | None, data: Any, *, strict: bool = True) -> Any:
    """Decode the user data that an assignor puts into a subscription.

    Arguments:
        assignor: name of the protocol in JoinGroup: `sticky`, `cooperative-sticky`; None where it is unknown.
        data: the bytes; any contiguous buffer.
        strict: see the module.

    Returns:
        A message: `previous_assignment` and `generation` of `sticky`, whose version 0 (Kafka before 2.3) has no generation and gives -1;
        `generation` of `cooperative-sticky`; None for empty bytes.

    Raises:
        UnknownApi: the layout of the assignor's user data is not known.
        WireError: the bytes break a rule of the layout.
    """
    return message_or_raise(_read_user_data(assignor, data, strict), strict)
