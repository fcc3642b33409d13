"""Control records: ends of transactions, and KRaft's records in a log."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kwire.errors import EncodeError, Fault, raise_for

if TYPE_CHECKING:
    from kwire.codec._pure.records import Record

__all__ = ["Control", "control_record", "read_control"]

# Kafka's ControlRecordType: name, and the message in the value.
_TYPES: Final = {
    0: ("ABORT", "EndTxnMarker"),
    1: ("COMMIT", "EndTxnMarker"),
    2: ("LEADER_CHANGE", "LeaderChangeMessage"),
    3: ("SNAPSHOT_HEADER", "SnapshotHeaderRecord"),
    4: ("SNAPSHOT_FOOTER", "SnapshotFooterRecord"),
    5: ("KRAFT_VERSION", "KRaftVersionRecord"),
    6: ("KRAFT_VOTERS", "VotersRecord"),
}
_KEY: Final = struct.Struct(">hh")
_END: Final = struct.Struct(">hi")


class Control(NamedTuple):
    """Content of a control record.

    Attributes:
        control_type: Kafka's name, ``UNKNOWN`` for a type that Kafka does not have.
        version: version of the key; newer versions only add fields.
        coordinator_epoch: coordinator epoch of a transaction's end, else None.
        message: message in the value of a KRaft record, else None.
    """

    control_type_id: int
    control_type: str
    version: int
    coordinator_epoch: int | None
    message: Any


def read_control(record: Record) -> Control:
    """Read a record of a batch whose `is_control` is true.

    Arguments:
        record: one of the batch's records.

    Raises:
        WireError: key or value are too short; offsets count from their first byte.
    """
    key, value = record.key or b"", record.value or b""
    if len(key) < _KEY.size:
        raise_for(Fault.TRUNCATED, 0, "key", reason="a control record's key has 4 bytes")
    version, type_id = _KEY.unpack_from(key)
    name, message = _TYPES.get(type_id, ("UNKNOWN", ""))
    if message == "EndTxnMarker":
        # Kafka reads any version by the first one's fields: 2-byte version, 4-byte epoch.
        if len(value) < _END.size:
            raise_for(Fault.TRUNCATED, 0, "value", reason="the end of a transaction has 6 bytes")
        return Control(type_id, name, version, _END.unpack_from(value)[1], None)
    if not message:
        return Control(type_id, name, version, None, None)
    from kwire.codec.decoding import decode

    # Written and read as version 0, whatever the version inside says.
    return Control(type_id, name, version, None, decode(message, value, 0))


def control_record(
    control_type: str, *, coordinator_epoch: int | None = None, message: Any = None, offset: int = -1, timestamp: int = -1
) -> Record:
    """Create a record for a batch with `is_control`, like Kafka's EndTransactionMarker and ControlRecordUtils; see `read_control`.

    Arguments:
        control_type: Kafka's name: ``COMMIT``, ``ABORT``, ``LEADER_CHANGE`` ...
        coordinator_epoch: epoch of the transaction coordinator, only for ``COMMIT`` and ``ABORT``.
        message: message such as `LeaderChangeMessage`, only for KRaft's types.
        offset, timestamp: values of the record.

    Raises:
        EncodeError: unknown type, or content of another type.
    """
    from kwire.codec.encoding import encode
    from kwire.codec.records.reading import record_reader

    types = {name: (type_id, of) for type_id, (name, of) in _TYPES.items()}
    if control_type not in types:
        raise EncodeError(f"unknown control type, there are {', '.join(types)}", path="control_type")
    type_id, of = types[control_type]
    if of == "EndTxnMarker":
        if type(coordinator_epoch) is not int or not 0 <= coordinator_epoch < 1 << 31:
            raise EncodeError(f"{control_type} has the coordinator's epoch, a whole number from 0 to 2147483647", path="coordinator_epoch")
        if message is not None:
            raise EncodeError(f"{control_type} has no message", path="message")
        value = _END.pack(0, coordinator_epoch)
    else:
        if coordinator_epoch is not None:
            raise EncodeError(f"{control_type} has no coordinator epoch", path="coordinator_epoch")
        if type(message).__name__ != of:
            raise EncodeError(f"{control_type} has a {of}, not a {type(message).__name__}", path="message")
        value = encode(message, 0)
    record: Record = record_reader().Record(offset, timestamp, -1, _KEY.pack(0, type_id), value)
    return record
