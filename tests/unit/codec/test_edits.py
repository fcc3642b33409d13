"""Edits of frames, by bytes that were worked out by hand from Kafka's message definitions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kwire.codec import AddPrefix, AddressTable, Edit, EditChanges, RemovePrefix, VersionLimits, fields_about
from kwire.codec.classes import CompiledCatalog
from kwire.errors import EncodeError, Truncated, UnknownApi, UnsupportedVersion
from kwire.schema import catalog


@pytest.fixture
def edit(twin: Any) -> Any:
    source = CompiledCatalog(catalog(), twin)

    def make(direction: str, key: int, version: int, **changes: Any) -> Edit:
        return Edit(direction, key, version, EditChanges(**changes), source=source)

    return make


def edited(edit: Edit, frame: str, **named: Any) -> str:
    return b"".join(edit.pieces(bytes.fromhex(frame), **named)).hex()


def hexed(text: str) -> str:
    return bytes.fromhex(text).hex()


def test_a_prefix_is_added(edit: Any) -> None:
    request = edit("request", 3, 1, topics=AddPrefix("a."))
    assert edited(request, "0003 0001 00000007 0001 63 00000002 0001 78 0000") == hexed(
        "0003 0001 00000007 0001 63 00000002 0003 612e78 0000"  # the empty name stays
    )


def test_the_empty_group_gets_a_prefix_where_wanted(edit: Any) -> None:
    """Any tenant may commit offsets for the group with the empty id."""
    request = edit("request", 8, 0, groups=AddPrefix("a.", empty=True))
    assert edited(request, "0008 0000 00000007 ffff 0000 00000000") == hexed("0008 0000 00000007 ffff 0002 612e 00000000")


# Metadata response v9: throttle, brokers, cluster id, controller, topics (error, name, internal, partitions, operations), operations
TWO_TOPICS = (
    "00000007 00 00000000 02 00000001 03 6231 00002384 00 00 00 00000001"
    " 03 0000 05 612e7831 00 01 80000000 00 0000 04 622e79 00 02 0000 00000000 00000001 00000000 01 01 01 00 80000000 00 80000000 00"
)


def test_topics_of_others_are_dropped_with_all_that_would_change_in_them(edit: Any) -> None:
    response = edit("response", 3, 9, topics=RemovePrefix("a.", foreign="drop"), addresses=AddressTable({1: ("proxy", 19092)}))
    assert edited(response, TWO_TOPICS) == hexed(
        "00000007 00 00000000 02 00000001 06 70726f7879 00004a94 00 00 00 00000001 02 0000 03 7831 00 01 80000000 00 80000000 00"
    )


def test_a_foreign_name_that_cannot_be_dropped_is_refused(edit: Any) -> None:
    response = edit("response", 3, 9, topics=RemovePrefix("a."))
    with pytest.raises(EncodeError, match=r"a name does not begin with 'a\.' in topics\[1\]\.name \(MetadataResponse v9\)"):
        edited(response, TWO_TOPICS)
    # FindCoordinator v1 has no array: throttle, error, message, node, host, port; JoinGroup v5 says a leader outside of one
    response = edit("response", 22, 0, topics=RemovePrefix("a.", foreign="drop"))
    assert response.is_empty


def test_the_sizes_of_tagged_fields_around_an_address_follow(edit: Any) -> None:
    # Fetch v16: throttle, error, session, responses, then tag 0 with node endpoints: node, host, port, rack
    frame = "00000007 00 00000000 0000 00000000 01 01 00 0e 02 00000001 03 6231 00002384 00 00"
    response = edit("response", 1, 16, addresses=AddressTable({1: ("proxy", 19092)}))
    assert edited(response, frame) == hexed("00000007 00 00000000 0000 00000000 01 01 00 11 02 00000001 06 70726f7879 00004a94 00 00")


def test_the_listener_of_controllers_keeps_its_address(edit: Any) -> None:
    # DescribeQuorum v2: error, message, topics, nodes (node id, listeners (name, host, port as uint16))
    listeners = "03 0b 434f4e54524f4c4c4552 03 6231 2385 00 02 42 {} 00"
    frame = f"00000007 00 0000 00 01 02 00000001 {listeners} 00 00"
    response = edit("response", 55, 2, addresses=AddressTable({1: ("proxy", 19092)}))
    assert edited(response, frame.format("03 6231 2384")) == hexed(frame.format("06 70726f7879 4a94"))
    by_listener = AddressTable({(1, "B"): ("x", 1), 1: ("proxy", 19092)}, kept_listeners=())
    response = edit("response", 55, 2, addresses=by_listener)
    changed = frame.replace("03 6231 2385", "06 70726f7879 4a94").format("02 78 0001")
    assert edited(response, frame.format("03 6231 2384")) == hexed(changed)


def test_an_unknown_broker_is_refused_or_kept(edit: Any) -> None:
    response = edit("response", 3, 9, addresses=AddressTable({2: ("proxy", 19092)}))
    with pytest.raises(EncodeError, match=r"no new address is given for node 1 at 'b1', port 9092 in brokers\[0\]\.host"):
        edited(response, TWO_TOPICS)
    response = edit("response", 3, 9, addresses=AddressTable({2: ("proxy", 19092)}, unknown="keep"))
    assert edited(response, TWO_TOPICS) == hexed(TWO_TOPICS)


def test_ranges_are_cut_and_apis_without_one_are_dropped(edit: Any) -> None:
    # ApiVersions v3: error, ranges (key, lowest, highest), throttle, then tags: 1 epoch, 2 finalized features (name, highest, lowest)
    frame = (
        "00000007 0000 04 0000 0000 000d 00 0001 0004 0011 00 0013 0000 0007 00 00000000"
        " 02 01 08 0000000000000003 02 11 03 03 6661 0002 0001 00 03 6662 0001 0001 00"
    )
    limits = VersionLimits({0: (3, 9), 1: (0, 15), 19: (8, 9)}, features={"fa"}, levels={"fa": 1})
    assert edited(edit("response", 18, 3, limits=limits), frame) == hexed(
        "00000007 0000 03 0000 0003 0009 00 0001 0004 000f 00 00000000 02 01 08 0000000000000003 02 09 02 03 6661 0001 0001 00"
    )
    limits = VersionLimits({1: (0, 15)}, others=True)
    assert edited(edit("response", 18, 3, limits=limits), frame) == hexed(frame.replace("0001 0004 0011", "0001 0004 000f"))


def test_both_levels_of_a_feature_are_cut(edit: Any) -> None:
    """KRaft brokers send one level twice, and Java's admin client fails on a lowest level above the highest."""
    # as above, without ranges
    frame = "00000007 0000 01 00000000 02 01 08 0000000000000003 02 09 02 03 6661 {} 00"
    limits = VersionLimits(others=True, levels={"fa": 2})
    for levels, cut in (("0003 0003", "0002 0002"), ("0003 0001", "0002 0001"), ("0002 0002", "0002 0002"), ("0001 0001", "0001 0001")):
        assert edited(edit("response", 18, 3, limits=limits), frame.format(levels)) == hexed(frame.format(cut))


def test_limits_of_a_release() -> None:
    """Kafka 3.9 has Fetch 0 to 17 and Produce 0 to 11, and no ShareFetch (78), which came with 4.1."""
    limits = VersionLimits.of_release("3.9.2")
    assert (limits.range_of(1), limits.range_of(0), limits.range_of(78)) == ((0, 17), (0, 11), None)
    assert limits.features is not None
    assert "group.version" not in limits.features
    both = limits & VersionLimits({0: (0, 9)}, others=True, levels={"transaction.version": 1})
    assert (both.range_of(0), both.range_of(1), both.levels) == ((0, 9), (0, 17), {"transaction.version": 1})


def test_bytes_behind_the_message_stay(edit: Any) -> None:
    """librdkafka's list_topics() sends three bytes too many, which Kafka ignores."""
    frame = "0003 000c 00000003 0007 72646b61666b61 00 02 00000000000000000000000000000000 02 78 00 01 00 00 | 000000"
    request = edit("request", 3, 12, topics=AddPrefix("a."))
    assert edited(request, frame.replace("|", "")) == hexed(frame.replace("02 78", "04 612e78").replace("|", ""))


def test_length_and_correlation_id(edit: Any) -> None:
    request = edit("request", 3, 1, topics=AddPrefix("a."))
    frame = "0003 0001 00000007 0001 63 00000001 0001 78"
    framed = "00000014 0003 0001 ffffffff 0001 63 00000001 0003 612e78"
    assert edited(request, frame, correlation_id=-1, framed=True) == hexed(framed)
    untouched = edit("request", 3, 1)
    assert untouched.is_empty
    assert edited(untouched, frame, correlation_id=8, framed=True) == hexed("00000012 0003 0001 00000008 0001 63 00000001 0001 78")
    response = edit("response", 3, 9, topics=AddPrefix("b"))
    assert edited(response, TWO_TOPICS, correlation_id=9)[:8] == "00000009"


def test_error_texts(edit: Any) -> None:
    # CreateTopics v1: topics (name, error, message)
    frame = "00000007 00000001 0003 612e78 0024 0010" + b"'a.x' a. a. is.a".hex()
    response = edit("response", 19, 1, topics=RemovePrefix("a."), error_text="a.")
    assert edited(response, frame) == hexed("00000007 00000001 0001 78 0024 000a" + b"'x'   is.a".hex())
    blank = edit("response", 19, 1, topics=RemovePrefix("a."), error_text="a.", blank_errors=True)
    assert edited(blank, frame) == hexed("00000007 00000001 0001 78 0024 0000")


def test_a_key_of_find_coordinator_is_changed_by_its_type(edit: Any) -> None:
    request = edit("request", 10, 1, groups=AddPrefix("g"), transactional_ids=AddPrefix("t"))
    frame = "000a 0001 00000007 ffff 0001 78 {}"
    assert edited(request, frame.format("00")) == hexed("000a 0001 00000007 ffff 0002 6778 00")
    assert edited(request, frame.format("01")) == hexed("000a 0001 00000007 ffff 0002 7478 01")
    with pytest.raises(EncodeError, match="a coordinator of another kind"):
        edited(request, frame.format("02"))
    # from version 4 on many keys have one type, and the answer does not say it
    later = edit("request", 10, 4, groups=AddPrefix("g"), transactional_ids=AddPrefix("t"))
    with pytest.raises(EncodeError, match=r"coordinator_keys\[0\]"):
        edited(later, "000a 0004 00000007 ffff 00 00 02 02 78 00")
    same = edit("request", 10, 4, groups=AddPrefix("g"), transactional_ids=AddPrefix("g"))
    assert edited(same, "000a 0004 00000007 ffff 00 00 02 02 78 00") == hexed("000a 0004 00000007 ffff 00 00 02 03 6778 00")


def test_resources_are_changed_by_their_type(edit: Any) -> None:
    # DescribeConfigs v0: resources (type, name, names of configurations, null): a topic, a broker, a group
    frame = "0020 0000 00000007 ffff 00000003 02 {} ffffffff 04 0001 31 ffffffff 20 {} ffffffff"
    request = edit("request", 32, 0, topics=AddPrefix("t"), groups=AddPrefix("g"))
    assert edited(request, frame.format("0001 78", "0001 79")) == hexed(frame.format("0002 7478", "0002 6779"))
    strict = edit("request", 32, 0, topics=AddPrefix("t"), groups=AddPrefix("g"), other_resources="refuse")
    with pytest.raises(EncodeError, match=r"resources\[1\]\.resource_name"):
        edited(strict, frame.format("0001 78", "0001 79"))


@pytest.mark.parametrize("name", ["0000", "0001 2a", "0001 31", "0003 742e78"])
def test_the_type_of_a_configuration_decides_before_its_name(edit: Any, name: str) -> None:
    """The empty name of a broker is the default of all brokers, and CLIENT_METRICS has a subscription called `*`."""
    # IncrementalAlterConfigs v0: resources (type, name, no configurations), validate only
    frame = "002c 0000 00000007 ffff 00000001 {} {} 00000000 00"
    request = edit(
        "request", 44, 0, topics=AddPrefix("t."), groups=AddPrefix("g."), other_resources="refuse", kept_resources=frozenset((64,))
    )
    size = int(name[:4], 16) + 2
    for kind, prefix in (("02", "742e"), ("20", "672e")):
        assert edited(request, frame.format(kind, name)) == hexed(frame.format(kind, f"{size:04x} {prefix} {name[4:]}"))
    for kind in ("80", "ff", "00", "01", "03", "04", "08", "10", "7f"):
        with pytest.raises(EncodeError, match="a resource of another type"):
            edited(request, frame.format(kind, name))
    assert edited(request, frame.format("40", name)) == hexed(frame.format("40", name))


@pytest.mark.parametrize(("name", "kept"), [("00", True), ("01", True), ("02 2a", True), ("02 78", False)])
def test_only_acls_have_names_for_all_of_a_type(edit: Any, name: str, kept: bool) -> None:
    # DescribeAcls v3: type, name (null, empty, *, x), pattern (literal), principal, host, operation, permission
    frame = "001d 0003 00000007 ffff 00 {} {} 03 00 00 01 01 00"
    request = edit("request", 29, 3, topics=AddPrefix("t."))
    assert edited(request, frame.format("02", name)) == hexed(frame.format("02", name if kept else "04 742e78"))
    with pytest.raises(EncodeError, match="a resource of another type"):
        edited(request, frame.format("04", name))


def test_hidden_configurations_are_dropped_with_their_synonyms(edit: Any) -> None:
    # DescribeConfigs v4: throttle, results (error, message, type, name, entries (name, value, read-only, source, sensitive, synonyms, type,
    # documentation)); synonyms are (name, value, source)
    entry = "02 {} 02 31 00 05 00 {} 02 00 00"
    frame = "00000007 00 00000000 02 0000 00 04 02 31 {} 00 00"
    one, both = "02 02 61 02 31 05 00", "03 02 61 02 31 05 00 02 62 02 31 05 00"
    response = edit("response", 32, 4, hidden_configs=re.compile("b|c.*"))
    given = frame.format("04" + entry.format("61", both) + entry.format("62", both) + entry.format("63", one))
    assert edited(response, given) == hexed(frame.format("02" + entry.format("61", one)))


def test_the_empty_group_is_of_somebody_else_where_own_names_have_a_prefix(edit: Any) -> None:
    # ListGroups v0: error, groups (id, type)
    frame = "00000007 0000 {}"
    response = edit("response", 16, 0, groups=RemovePrefix("a.", foreign="drop", empty=True))
    assert edited(response, frame.format("00000002 0000 0000 0003 612e67 0000")) == hexed(frame.format("00000001 0001 67 0000"))
    refusing = edit("response", 16, 0, groups=RemovePrefix("a.", empty=True))
    with pytest.raises(EncodeError, match="does not begin with"):
        edited(refusing, frame.format("00000001 0000 0000"))


def test_a_pattern_of_topics_is_refused_unless_it_is_kept(edit: Any) -> None:
    # ConsumerGroupHeartbeat v1: group, member, epoch, instance, rack, timeout, topics, pattern, assignor, partitions
    frame = "0044 0001 00000007 ffff 00 02 67 02 6d 00000000 00 00 00000001 00 {} 00 00 00"
    request = edit("request", 68, 1, topics=AddPrefix("t"), groups=AddPrefix("g"))
    assert edited(request, frame.format("00")) == hexed(frame.format("00").replace("02 67", "03 6767"))
    with pytest.raises(EncodeError, match="subscribed_topic_regex"):
        edited(request, frame.format("03 2e2a"))
    kept = edit("request", 68, 1, topics=AddPrefix("t"), uncovered="keep")
    assert edited(kept, frame.format("03 2e2a")) == hexed(frame.format("03 2e2a"))


def test_faults(edit: Any) -> None:
    request = edit("request", 3, 1, topics=AddPrefix("a."))
    with pytest.raises(Truncated, match=r"in topics \(MetadataRequest v1\)"):
        edited(request, "0003 0001 00000007 0001 63 00000001")
    with pytest.raises(Truncated):
        edited(request, "0003 0001 0000")
    with pytest.raises(UnsupportedVersion, match=r"api 3 v2 in an edit of api 3 v1"):
        edited(request, "0003 0002 00000007 0001 63 00000000")
    with pytest.raises(EncodeError, match="the text has 32768 bytes"):
        edited(edit("request", 3, 1, topics=AddPrefix("x" * 32767)), "0003 0001 00000007 0001 63 00000001 0001 78")
    with pytest.raises(UnknownApi):
        edit("request", 9999, 0)
    with pytest.raises(UnsupportedVersion):
        edit("response", 3, 99)


def test_edits_are_joined_unless_they_disagree(edit: Any) -> None:
    one = edit("response", 3, 9, topics=RemovePrefix("a.", foreign="drop"))
    other = edit("response", 3, 9, addresses=AddressTable({1: ("proxy", 19092)}))
    both = one.joined(other)
    assert edited(both, TWO_TOPICS) == edited(other, edited(one, TWO_TOPICS))
    assert one.joined(edit("response", 3, 9, topics=RemovePrefix("b."))) is None
    assert one.joined(edit("response", 3, 8, topics=RemovePrefix("a.", foreign="drop"))) is None


def test_what_a_message_has() -> None:
    assert fields_about("request", 0, 12).topics == ("topic_data.name",)
    assert fields_about("request", 0, 13)[:2] == ((), ("topic_data.topic_id",))
    assert fields_about("response", 1, 15).addresses == ()
    assert fields_about("response", 1, 16).addresses == ("node_endpoints.host",)
    assert fields_about("request", 10, 4).keys == ("coordinator_keys",)
    assert fields_about("request", 28, 3).transactional_ids == ("transactional_id",)
    assert fields_about("request", 11, 5).topics == ("protocols.metadata",)
    assert fields_about("response", 19, 5).error_texts == ("topics.error_message",)
    assert fields_about("request", 68, 1).uncovered == ("subscribed_topic_regex",)
    with pytest.raises(ValueError, match="a direction"):
        fields_about("both", 0, 0)
