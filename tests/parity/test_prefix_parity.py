"""Messages that were cut: what was whole is given, by both twins alike."""

from __future__ import annotations

import random
from typing import Any

from damaged_bytes import BORDERS
from kwire.codec.prefix import PrefixReader
from kwire.errors import Fault, TrailingBytes, Truncated, WireError


def is_prefix(part: Any, whole: Any) -> bool:
    """All that `part` holds is in `whole`; in lists only the last may be less than there."""
    if hasattr(part, "slot_names"):
        return all(is_prefix(getattr(part, name), getattr(whole, name)) for name in part.slot_names if hasattr(part, name))
    if isinstance(part, (list, tuple)) and isinstance(whole, (list, tuple)) and type(part) is type(whole):
        last = len(part) - 1
        return last < len(whole) and all(
            is_prefix(each, whole[index]) if index == last else each == whole[index] for index, each in enumerate(part)
        )
    return bool(part == whole)


def count_values(value: Any) -> int:
    if hasattr(value, "slot_names"):
        return sum(count_values(getattr(value, name)) for name in value.slot_names if hasattr(value, name))
    return sum(map(count_values, value)) if isinstance(value, (list, tuple)) else 1


def fault_of(codec: Any, name: str, version: int, data: Any) -> WireError | None:
    try:
        codec.decode(name, data, version)
    except WireError as error:
        return error
    return None


def test_cut_at_every_byte(native_codec, reference_codec, vectors, share):
    ours, theirs = PrefixReader(native_codec.compiled), PrefixReader(reference_codec.compiled)
    for case in share((case for case in vectors("messages-sample") if case["case"] in ("full", "unknown-tags")), 7):
        data, name, version = bytes.fromhex(case["hex"]), case["message"], case["version"]
        if not 0 < len(data) <= 90 or version % 4 == 3:
            continue
        whole = native_codec.decode(name, data, version)
        assert ours.decode_prefix(name, data, version) == (whole, None)
        known = 0
        for end in range(len(data)):
            message, error = ours.decode_prefix(name, data[:end], version)
            assert isinstance(error, Truncated), (name, version, end)
            assert error.offset <= end
            assert is_prefix(message, whole), (name, version, end)
            if not native_codec.compiled.message(name).is_flexible(version):  # there a tagged section's defaults come late
                assert count_values(message) >= known
                known = count_values(message)
            other, other_error = theirs.decode_prefix(name, data[:end], version)
            assert (repr(message), str(error)) == (repr(other), str(other_error))


def test_mutated(native_codec, reference_codec, vectors, share):
    chance = random.Random(82)
    ours, theirs = PrefixReader(native_codec.compiled), PrefixReader(reference_codec.compiled)
    for case in share(vectors("messages-sample"), 5):
        data, name, version = bytearray.fromhex(case["hex"]), case["message"], case["version"]
        if not 0 < len(data) <= 300 or version % 3:
            continue
        for _ in range(3):
            data[chance.randrange(len(data))] = chance.choice(BORDERS)
        message, error = ours.decode_prefix(name, data, version)
        other, other_error = theirs.decode_prefix(name, data, version)
        assert (repr(message), str(error)) == (repr(other), str(other_error))
        strict = fault_of(native_codec, name, version, data)
        assert (strict is None) == (error is None)
        if strict is not None and strict.code not in (Fault.TRUNCATED, Fault.BAD_TAG):  # a count is not held against the bytes left here
            assert (error.code, error.offset, error.path) == (strict.code, strict.offset, strict.path)


def test_a_metadata_response_cut_in_its_second_topic(codec):
    """MetadataResponse v1, byte by byte: a broker, the controller, two topics of one and two partitions; cut in the last one's leader."""
    partition = "0000000000000000000300000001000000030000000100000003"
    head = "000000010000000300016100002384ffff0000000300000002"
    first = "00000001780000000001" + partition
    second = "00000001790100000002" + partition + "0005000000010000"
    data = bytes.fromhex(head + first + second)
    message, error = PrefixReader(codec.compiled).decode_prefix("MetadataResponse", data, 1)
    assert (error.code, error.offset, error.path) == (Fault.TRUNCATED, len(data) - 2, "topics[1].partitions[1].leader_id")
    assert (message.controller_id, message.brokers[0].host, message.brokers[0].rack) == (3, "a", None)
    assert [topic.name for topic in message.topics] == ["x", "y"]
    assert [len(topic.partitions) for topic in message.topics] == [1, 2]
    assert message.topics[1].partitions[0].isr_nodes == (3,)
    cut = message.topics[1].partitions[1]
    assert (cut.error_code, cut.partition_index) == (5, 1)
    assert not hasattr(cut, "leader_id")
    assert not hasattr(cut, "isr_nodes")
    assert cut.leader_epoch == -1  # the version has none


def test_huge_counts_cost_nothing(codec):
    read = PrefixReader(codec.compiled).decode_prefix
    message, error = read("MetadataRequest", bytes.fromhex("7fffffff000161"), 0)
    assert [getattr(topic, "name", None) for topic in message.topics] == ["a", None]
    assert (error.offset, error.path) == (7, "topics[1].name")
    message, error = read("ApiVersionsResponse", bytes.fromhex("0000ffffffff0700030000000c000012"), 3)
    assert [(each.api_key, each.max_version) for each in message.api_keys[:1]] == [(3, 12)]
    assert message.api_keys[1].api_key == 18
    assert error.path == "api_keys[1].min_version"


def test_bytes_left_over(codec):
    message, error = PrefixReader(codec.compiled).decode_prefix("HeartbeatResponse", bytes.fromhex("001900"), 0)
    assert message.error_code == 25
    assert isinstance(error, TrailingBytes)
    assert error.offset == 2


def test_projection(codec):
    data = bytes.fromhex("00000000000200030000000c0012000000")
    message, error = PrefixReader(codec.compiled).decode_prefix("ApiVersionsResponse", data, 0, fields=("api_keys.max_version",))
    assert [each.max_version for each in message.api_keys if hasattr(each, "max_version")] == [12]
    assert not hasattr(message, "error_code")
    assert error.path == "api_keys[1].max_version"
