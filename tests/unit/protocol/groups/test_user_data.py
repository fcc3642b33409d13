"""User data of assignors, and what Connect's workers tell each other."""

from __future__ import annotations

import pytest

from kwire.codec.frames import Opaque
from kwire.errors import Truncated, UnknownApi, WireError
from kwire.protocol import groups


def test_sticky_user_data_is_what_kafka_wrote(vectors):
    seen = set()
    for case in vectors("groups"):
        if not case["case"].startswith("sticky-user-data"):
            continue
        reading = groups.read_user_data("sticky", bytes.fromhex(case["hex"]))
        partitions = [[each.topic, partition] for each in reading.message.previous_assignment for partition in each.partitions]
        assert sorted(partitions) == sorted(case["partitions"]), case["id"]
        assert reading.message.generation == case["generation"], case["id"]
        assert (f"sticky-user-data-v{reading.version}", reading.extra, reading.violation) == (case["case"], 0, None)
        seen.add(case["case"])
    assert seen == {"sticky-user-data-v0", "sticky-user-data-v1"}


def test_cooperative_sticky_user_data_is_what_kafka_wrote(vectors):
    read = [
        (groups.decode_user_data("cooperative-sticky", bytes.fromhex(case["hex"])).generation, case["generation"])
        for case in vectors("groups")
        if case["case"] == "cooperative-sticky-user-data"
    ]
    assert [found for found, _ in read] == [expected for _, expected in read]
    assert len(read) == 5


def test_user_data_of_other_assignors_stays_opaque():
    assert isinstance(groups.decode_user_data("stream", b"\0\0\0\x0b", strict=False), Opaque)
    assert groups.decode_user_data("range", b"") is None
    with pytest.raises(UnknownApi, match="'stream'"):
        groups.decode_user_data("stream", b"\0\0\0\x0b")
    with pytest.raises(UnknownApi, match="no assignor"):
        groups.decode_user_data(None, b"\0\0\0\x0b")


def test_sticky_user_data_cut_anywhere():
    # topics "a" and "b" with a partition each, generation 9
    data = bytes.fromhex("00000002 000161 00000001 00000000 000162 00000001 00000001 00000009")
    for end in range(1, len(data)):
        reading = groups.read_user_data("sticky", data[:end])
        if end >= len(data) - 4:  # version 0, and what may be more of it
            assert (len(reading.message.previous_assignment), reading.version) == (2, 0)
            assert reading.extra == end - (len(data) - 4)
        else:
            assert isinstance(reading.message, Opaque)
            with pytest.raises(WireError) as caught:
                groups.decode_user_data("sticky", data[:end])
            assert 0 <= caught.value.offset <= end


def test_connect_workers():
    # a worker at http://w:8083, config offset 7, version 0
    metadata = groups.decode_group_metadata("connect", bytes.fromhex("0000 000d") + b"http://w:8083" + bytes.fromhex("0000000000000007"))
    assert (metadata.url, metadata.config_offset, metadata.allocation) == ("http://w:8083", 7, None)
    # version 2: no error, leader "l" at "u", offset 7, connector "c" itself (-1) and its task 0, nothing revoked, delay 300000
    data = bytes.fromhex("0002 0000 00016c 000175 0000000000000007 00000001 000163 00000002 ffffffff 00000000 ffffffff 000493e0")
    reading = groups.read_group_assignment("connect", data)
    assert (reading.version, reading.read_as, reading.extra, reading.violation) == (2, 2, 0, None)
    found = reading.message
    assert (found.error, found.leader, found.leader_url, found.config_offset, found.revoked, found.delay) == (0, "l", "u", 7, None, 300_000)
    assert [(each.connector, each.tasks) for each in found.assignment] == [("c", (-1, 0))]


def test_connect_versions_to_come_are_read_as_the_newest():
    reading = groups.read_group_metadata("connect", bytes.fromhex("0005 000175 0000000000000007 00000000 ff"))
    assert (reading.version, reading.read_as, reading.extra, reading.violation) == (5, 2, 1, None)
    assert reading.message.allocation == b""


def test_connect_metadata_may_end_before_the_allocation():
    # Connect's schema of version 1 has a default for it; strict reading keeps to the layout.
    data = bytes.fromhex("0001 000175 0000000000000007")
    assert groups.read_group_metadata("connect", data).message.url == "u"
    with pytest.raises(Truncated, match="allocation"):
        groups.decode_group_metadata("connect", data)
