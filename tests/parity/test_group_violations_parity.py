"""Groups whose protocol types and names do not fit, seen by a tap: the same violations from both twins, both values named (KIP-559)."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import kwire
from kwire import messages
from one_connection import CLIENT, SERVER, read_connection

JOIN, SYNC = 11, 14


def join(*names: str, **more: Any) -> Any:
    protocol = messages.JoinGroupRequest.JoinGroupRequestProtocol
    return messages.JoinGroupRequest(group_id="g", protocol_type="consumer", protocols=[protocol(name=name) for name in names], **more)


def joined(kind: str | None, name: str | None, code: int = 0) -> Any:
    return messages.JoinGroupResponse(error_code=code, protocol_type=kind, protocol_name=name, member_id="m")


def sync(kind: str | None, name: str | None) -> Any:
    return messages.SyncGroupRequest(group_id="g", protocol_type=kind, protocol_name=name)


def synced(kind: str | None, name: str | None, code: int = 0) -> Any:
    return messages.SyncGroupResponse(error_code=code, protocol_type=kind, protocol_name=name)


# version, request, response, and what a tap says of them
TALK: list[tuple[int, int, Any, Any, list[tuple[str, str]]]] = [
    (JOIN, 7, join("range", "sticky"), joined("consumer", "sticky"), []),
    (JOIN, 7, join("range"), joined(None, "range"), []),
    (JOIN, 5, join("range"), joined(None, "range"), []),
    (JOIN, 7, join("range"), joined("connect", "range"), [
        ("group_protocol_inconsistent",
         "The response to JoinGroup v7 of group 'g' has protocol type 'connect', the request has 'consumer'."),
    ]),
    (JOIN, 9, join("range", "sticky"), joined("consumer", "mine"), [
        ("group_protocol_inconsistent",
         "The response to JoinGroup v9 of group 'g' has protocol name 'mine', the request has 'range', 'sticky'."),
    ]),
    (JOIN, 4, join("range"), joined(None, "", 79), []),
    (JOIN, 2, join("range", "sticky"), joined(None, "", 23), [
        ("group_protocol_refused",
         "JoinGroup v2 of group 'g' was rejected with INCONSISTENT_GROUP_PROTOCOL; the member has 'consumer' with 'range', 'sticky'."),
    ]),
    (SYNC, 5, sync("consumer", "range"), synced("consumer", "range"), []),
    (SYNC, 5, sync("consumer", "range"), synced(None, None), []),
    (SYNC, 4, sync(None, None), synced(None, None), []),
    (SYNC, 5, sync(None, "range"), synced(None, None, 23), [
        ("group_protocol_missing",
         "SyncGroup v5 of group 'g' must have a protocol type and name; the type is null, the name is 'range'."),
        ("group_protocol_refused",
         "SyncGroup v5 of group 'g' was rejected with INCONSISTENT_GROUP_PROTOCOL; the member has null with 'range'."),
    ]),
    (SYNC, 5, sync("consumer", "range"), synced("connect", "sticky"), [
        ("group_protocol_inconsistent",
         "The response to SyncGroup v5 of group 'g' has protocol type 'connect', the request has 'consumer'."),
        ("group_protocol_inconsistent", "The response to SyncGroup v5 of group 'g' has protocol name 'sticky', the request has 'range'."),
    ]),
    (SYNC, 5, sync("consumer", "range"), synced(None, None, 27), []),
]  # fmt: skip


Exchange = tuple[int, int, Any, Any, list[tuple[str, str]]]


def violations(twin: str, talk: list[Exchange]) -> list[tuple[str, str]]:
    """The rule and the sentence of each violation of a talk on one connection."""
    frames = []
    for number, (key, version, request, response, _) in enumerate(talk):
        tags = b"\0" * (version >= {JOIN: 6, SYNC: 4}[key])
        head = struct.pack(">hhih", key, version, number, 3) + b"app" + tags
        frames.append((CLIENT, head + kwire.encode(request, version)))
        frames.append((SERVER, struct.pack(">i", number) + tags + kwire.encode(response, version)))
    batches = read_connection(frames, twin).violations.take(whole=True)
    return [(row["rule"], row["explanation"]) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("twin", ["pure", "native"])
def test_K559_42_what_does_not_fit_is_told_with_both_values(twin: str) -> None:
    assert violations(twin, TALK) == [each for *_, told in TALK for each in told]
    # each on a connection of its own: a finding leaves the state of its connection changed
    for exchange in TALK:
        assert violations(twin, [exchange]) == exchange[4]
