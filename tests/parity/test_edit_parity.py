"""Edits, twin against twin: any frame, whole or damaged, becomes the same bytes or the same fault; the relay sends what `pieces` gives."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Any, Final

import pytest

from kafka_bytes import Frames
from kwire.codec import AddPrefix, AddressTable, Edit, EditChanges, RemovePrefix, VersionLimits
from kwire.codec.broker_addresses import BrokerAddress
from kwire.codec.impl import load_twin
from kwire.errors import EncodeError, WireError
from kwire.protocol.relay import RelayPlan, RelayRule

BORDERS = (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF)
NAMES = {"foo": "bar", "topic": "a-much-longer-name-of-a-topic", "": "named", "group": ""}
SHARED = frozenset((0, 1, 3, 9, 10, 11, 14, 15, 18, 32, 55, 60, 66))  # apis that stand for the others without --whole


def upper(name: str) -> str:
    return name.upper()


def shifted(found: BrokerAddress) -> tuple[str, int]:
    return f"{found.path}.{found.listener}", found.port - 1


def tenant(added: str) -> EditChanges:
    names = AddPrefix(added, empty=True)
    return EditChanges(topics=names, groups=names, transactional_ids=names, error_text="e", protocol_type="consumer")


def stripped(removed: str, foreign: Any) -> EditChanges:
    names = RemovePrefix(removed, foreign=foreign, empty=foreign != "keep")
    return EditChanges(
        topics=names, groups=names, transactional_ids=names, addresses=AddressTable({1: ("proxy", 19092), -1: ("", 1)}, unknown="keep"),
        limits=VersionLimits({0: (1, 3), 1: (4, 11), 18: (0, 1)}, foreign == "keep", features=("foo", "feature"), levels={"foo": 1}),
        error_text=removed, blank_errors=foreign == "drop", uncovered="keep",
        hidden_configs=re.compile("n.*"), other_resources="refuse", kept_resources=frozenset((1, 4)),
    )  # fmt: skip


ODD_ADDRESSES: Final = AddressTable({(1, "name"): ("h" * 130, 65536), 1: ("", 0), 0: ("a", 9092)}, kept_listeners=())

CHANGES: Final = {
    "added": tenant("acme."),
    "long": tenant("p" * 200),
    "dropped": stripped("f", "drop"),
    "kept": stripped("t", "keep"),
    "refused": stripped("n", "refuse"),
    "mapped": EditChanges(
        topics=NAMES, groups=NAMES,
        addresses=ODD_ADDRESSES, uncovered="keep", other_resources="refuse", protocol_type="consumer",
    ),
    "functions": EditChanges(topics=upper, transactional_ids=upper, addresses=shifted, limits=VersionLimits({400: (0, 0)}, True)),
}  # fmt: skip


@pytest.fixture(scope="session")
def edits(reference_codec: Any, native_codec: Any) -> Any:
    """Both twins' edits, made when first asked for."""
    made: dict[Any, tuple[Edit, Edit]] = {}

    def get(kind: str, key: int, version: int, which: str) -> tuple[Edit, Edit]:
        found = made.get((kind, key, version, which))
        if found is None:
            sources = reference_codec.compiled, native_codec.compiled
            pure, native = (Edit(kind, key, version, CHANGES[which], source=source) for source in sources)
            found = made[kind, key, version, which] = pure, native
        return found

    return get


def outcome(edit: Edit, frame: bytes, **named: Any) -> Any:
    try:
        return b"".join(edit.pieces(frame, **named))
    except WireError as error:
        return type(error).__name__, error.code, error.offset, error.path, error.message, str(error)
    except EncodeError as error:
        return type(error).__name__, error.path, error.message, str(error)


def mutated(frame: bytes, chance: random.Random) -> bytes:
    made = bytearray(frame)
    for _ in range(chance.choice((1, 1, 2, 8))):
        made[chance.randrange(len(made))] = chance.choice((*BORDERS, chance.randrange(256)))
    if chance.random() < 0.2:
        del made[chance.randrange(len(made)) :]
    if chance.random() < 0.2:
        made += b"\0\1\2"
    return bytes(made)


@cache
def plan_of(edit: Edit) -> RelayPlan:
    return RelayPlan([RelayRule(edit.direction, edit.api_key, (edit.api_version,), edit)])  # type: ignore[arg-type]


def relayed(edit: Edit, frame: bytes, cut: int, plan: RelayPlan | None = None) -> bytes | None:
    """What a native relay makes of it, None where it closes; its plan may have rules for other frames too."""
    relay = load_twin("protocol", "relay", "native").Relay(plan_of(edit) if plan is None else plan)
    if edit.direction == "request":
        framed = len(frame).to_bytes(4, "big") + frame
        moves = [relay.from_client(framed[:cut], 1), relay.from_client(framed[cut:], 1)]
        return None if relay.closing else b"".join(b"".join(each.to_server) for each in moves)
    request = edit.api_key.to_bytes(2, "big") + edit.api_version.to_bytes(2, "big") + frame[:4] + b"\xff\xff\0\0"
    relay.from_client(len(request).to_bytes(4, "big") + request, 1)
    framed = len(frame).to_bytes(4, "big") + frame
    moves = [relay.from_server(framed[:cut], 1), relay.from_server(framed[cut:], 1)]
    return None if relay.closing else b"".join(b"".join(each.to_client) for each in moves)


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("which", CHANGES)
def test_whole_and_damaged_frames(which: str, kind: str, frames: Frames, edits: Any, request: pytest.FixtureRequest) -> None:
    """Frames of every api and version, as Kafka's classes write them, and each of them damaged three times."""
    chance = random.Random(714)
    whole = request.config.getoption("--whole")
    seen = set()
    apis = [(number, key, version) for number, (key, version) in enumerate(frames.apis) if whole or key in SHARED]
    # one plan for all: the table of a plan, over all apis and versions, takes longer to make than its edits
    plan = RelayPlan([RelayRule(kind, key, (version,), edits(kind, key, version, which)[1]) for _, key, version in apis])  # type: ignore[arg-type]
    for number, key, version in apis:
        pure, native = edits(kind, key, version, which)
        assert pure.is_empty == native.is_empty
        for case in range(len(frames.bodies[key, version, kind])):
            frame = frames.frame((key, version), kind, case, number)
            for each in (frame, mutated(frame, chance), mutated(frame, chance), mutated(frame, chance)):
                expected = outcome(pure, each)
                assert outcome(native, each) == expected, (key, version, each.hex())
                seen.add(type(expected))
                if native.is_empty or each[:4] != frame[:4] or len(each) < 8 or (key == 0 and kind == "response"):
                    continue
                sent = relayed(native, each, chance.randrange(4 + len(each)), plan)
                if isinstance(expected, bytes) and len(expected) >= 8 and (key, kind) != (17, "request"):
                    error_35 = key == 18 and kind == "response" and version and each[4:6] == b"\0\x23"
                    malformed = key == 0 and sent is None  # the acks cannot be read
                    assert sent == len(expected).to_bytes(4, "big") + expected or error_35 or malformed, (key, version, each.hex())
    assert bytes in seen


@pytest.mark.parametrize("size", [100, 4000, 4092, 4100, 20_000])
def test_long_frames_keep_their_stretches(size: int, edits: Any) -> None:
    """Pieces of a Produce whose records are views of the frame, in both twins, cut anywhere by the relay."""
    records = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    length = (len(records) + 1) & 0x7F | 0x80, (len(records) + 1) >> 7
    varint = bytes([length[0], length[1]]) if length[1] < 128 else bytes([length[0], length[1] & 0x7F | 0x80, length[1] >> 7])
    head = (
        bytes.fromhex("0000 0009 00000007 0001 63 00") + bytes.fromhex("00 ffff 00007530 02 07") + b"orders" + bytes.fromhex("02 00000000")
    )
    frame = head + (varint if size > 126 else bytes([len(records) + 1])) + records + b"\0\0\0"
    wanted = frame.replace(b"\7orders", b"\x0cacme.orders")
    for edit in edits("request", 0, 9, "added"):
        pieces = edit.pieces(frame)
        assert b"".join(pieces) == wanted
        assert any(isinstance(each, memoryview) for each in pieces) == (size >= 512)
    for cut in (1, 4, 12, 30, 60, len(frame) - 1, len(frame) + 3):
        assert relayed(edits("request", 0, 9, "added")[1], frame, cut) == len(wanted).to_bytes(4, "big") + wanted
