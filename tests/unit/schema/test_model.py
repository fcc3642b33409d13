"""Version ranges, names and structs of the model, worked out by hand."""

from __future__ import annotations

import copy
import pickle

import pytest

from kwire.schema import NO_VERSIONS, Field, Message, Struct, Versions, camel_name, snake_name


@pytest.mark.parametrize(("text", "lowest", "highest"), [("3", 3, 3), ("1-4", 1, 4), ("2+", 2, 32767), ("0-0", 0, 0), ("0+", 0, 32767)])
def test_versions_are_read_as_kafka_writes_them(text: str, lowest: int, highest: int) -> None:
    versions = Versions.parse(text)
    assert (versions.lowest, versions.highest) == (lowest, highest)
    assert lowest in versions
    assert highest in versions
    assert lowest - 1 not in versions
    assert highest + 1 not in versions
    assert versions
    assert str(versions) == ("0" if text == "0-0" else text)


@pytest.mark.parametrize("text", ["none", None])
def test_no_versions(text: str | None) -> None:
    versions = Versions.parse(text)
    assert not versions
    assert list(versions) == []
    assert 0 not in versions
    assert str(versions) == "none"
    assert versions == NO_VERSIONS


@pytest.mark.parametrize("text", ["", "x", "+", "1-", "-1", "1-x", "1,2"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        Versions.parse(text)


def test_versions_are_values() -> None:
    assert Versions(1, 4) == Versions.parse("1-4")
    assert len({Versions(1, 4), Versions(1, 4), Versions(1, 5)}) == 2
    assert repr(Versions(1, 4)) == "Versions(lowest=1, highest=4)"
    assert pickle.loads(pickle.dumps(Versions(1, 4))) == copy.deepcopy(Versions(1, 4)) == Versions(1, 4)
    assert list(Versions(1, 3)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "snake", "camel"),
    [
        ("ThrottleTimeMs", "throttle_time_ms", "throttleTimeMs"),
        ("ErrorCode", "error_code", "errorCode"),
        ("Host", "host", "host"),
        ("PartitionMaxBytes", "partition_max_bytes", "partitionMaxBytes"),
        ("topicId", "topic_id", "topicId"),
        ("KRaftVersion", "k_raft_version", "kRaftVersion"),
        ("HMAC", "hmac", "hMAC"),
    ],
)
def test_names(name: str, snake: str, camel: str) -> None:
    assert snake_name(name) == snake
    assert camel_name(name) == camel


def test_structs_are_found_by_name_in_order_of_appearance() -> None:
    every = Versions(0, 32767)
    leaf = Field("Leaf", "int32", every)
    pair = Struct("Pair", every, (leaf,))
    message = Message(
        name="Tree",
        kind="data",
        api_key=None,
        valid_versions=Versions(0, 1),
        flexible_versions=NO_VERSIONS,
        fields=(
            Field("Branches", "[]Branch", every, fields=(Field("Pairs", "[]Pair", every), leaf)),
            Field("Other", "Pair", every),
            Field("Numbers", "[]int32", every),
        ),
        common_structs={"Pair": pair},
    )
    assert list(message.structs) == ["Tree", "Branch", "Pair"]
    assert message.structs["Pair"].fields == (leaf,)
    assert [field.is_struct for field in message.fields] == [True, True, False]
    assert [field.is_array for field in message.fields] == [True, False, True]
    assert message.fields[0].element_type == "Branch"
