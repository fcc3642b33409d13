"""The draft of KIP-35 at work: BrokerMetadata, tags and the global protocol version; and what one broker's versions come to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kwire.codec.catalog_codec import Codec
from kwire.drafts.broker_metadata import BrokerMetadata, DraftBroker
from kwire.drafts.broker_tags import BUILTIN_TAGS, Endpoint, format_tag, parse_tag, user_tags
from kwire.drafts.node_addresses import NodeAddresses, NodeMismatch
from kwire.drafts.protocol_versions import ProtocolRange, chosen_versions, protocol_range, protocol_registry, protocol_text
from kwire.errors import InputError
from kwire.protocol.events import BrokerNode, BrokersLearned
from kwire.protocol.negotiation import BrokerVersions, NegotiatingBroker, NegotiatingClient, NoCommonVersion
from kwire.protocol.negotiation.outcomes import Answered, Over, Send
from kwire.protocol.negotiation.version_choice import clamped, common_ranges
from kwire.schema import Catalog, Versions, catalog, definition_of, dialect, parse_definition, release_catalog, releases

CODEC = Codec(dialect("kip-35-draft"))
KEY = 20035
RANGES = {3: (0, 9), 18: (0, 3), KEY: (0, 0)}
NODES = [DraftBroker(each, f"host{each}", 9092, 1, 24, {"broker.id": str(each)}) for each in (1, 2, 3)]


def draft_broker(**more: Any) -> NegotiatingBroker:
    metadata = BrokerMetadata(CODEC, NODES[1], NODES)
    return NegotiatingBroker(RANGES, codec=CODEC, unsupported="empty_answer", answers={KEY: metadata.answer}, **more)


def told(client: NegotiatingClient, broker: NegotiatingBroker, sent: Send) -> Any:
    (back,) = (each for each in broker.receive(sent.data, 0) if isinstance(each, Send))
    (answered,) = client.receive(back.data, 0)
    assert isinstance(answered, Answered)
    return answered.response.body


def joined(broker: NegotiatingBroker) -> NegotiatingClient:
    client = NegotiatingClient(codec=CODEC, empty_answers=True, api_versions=3)
    (sent,) = client.connected(0)
    (back,) = (each for each in broker.receive(sent.data, 0) if isinstance(each, Send))
    client.receive(back.data, 0)
    return client


@pytest.mark.requirement("K35-4")
@pytest.mark.parametrize(
    ("asked", "named"),
    [([], [1, 2, 3]), ([-1], [2]), ([3, 1], [3, 1]), ([9], []), ([9, 3], [3]), ([-1, 3], [2, 3]), ([2, -1, 2], [2])],
)
def test_K35_2_which_brokers_are_told(asked: list[int], named: list[int]) -> None:
    broker = draft_broker()
    client = joined(broker)
    body = told(client, broker, client.send(CODEC.messages.BrokerMetadataRequest(node_ids=asked), 1))
    assert [each.node_id for each in body.brokers] == named
    assert all(
        (each.host, each.protocol_version_max, each.tags[0].value) == (f"host{each.node_id}", 24, str(each.node_id))
        for each in body.brokers
    )


def test_K35_5_the_key_is_advertised_with_the_dialect_and_unknown_without_it() -> None:
    client = joined(draft_broker())
    assert client.versions is not None
    assert client.versions.supports("BrokerMetadata")
    released = NegotiatingBroker({3: (0, 9), 18: (0, 3)})
    (sent,) = NegotiatingClient(codec=CODEC, api_versions=3).connected(0)
    answer = released.receive(sent.data, 0)[-1]
    assert isinstance(answer, Send)
    assert KEY.to_bytes(2, "big") not in answer.data
    frame = bytes.fromhex("0000000f 4e43 0000 00000007 0001 63 00000000")
    (over,) = released.receive(frame, 0)
    assert isinstance(over, Over)
    assert over.reason == "unknown_api"


def test_K35_43_the_released_form_is_the_same_with_the_dialect_loaded() -> None:
    plain, loaded = NegotiatingBroker({18: (0, 3)}), NegotiatingBroker({18: (0, 3)}, codec=CODEC)
    for frame in (
        "00000025 0012 0003 00000001 0001 63 00 12 6170616368652d6b61666b612d6a617661 06 322e342e30 00",
        "0000000b 0012 03e7 00000001 ffff 00",
    ):
        assert plain.receive(bytes.fromhex(frame), 0) == loaded.receive(bytes.fromhex(frame), 0)


@pytest.mark.requirement("K35-6", "K35-7", "K35-8", "K35-9", "K35-10", "K35-11", "K35-12")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("broker.id", 3), ("broker.version", "0.9.0.0-SNAPSHOT-d12ca4f"), ("broker.version.int", 0x00090000),
        ("compression.codecs", {1: "gzip", 2: "snappy", 3: "lz4"}), ("message.max.bytes", 1000000), ("message.formats", ("v1", "v2")),
        ("endpoints", (Endpoint("plaintext", "host", 9092), Endpoint("ssl", "host", 9192))),
    ],
)  # fmt: skip
def test_the_proposals_examples_of_tags(name: str, value: Any) -> None:
    assert parse_tag(name, BUILTIN_TAGS[name].example) == value
    assert format_tag(name, value) == BUILTIN_TAGS[name].example


def test_K35_12_an_ssl_endpoint_is_found() -> None:
    endpoints = parse_tag("endpoints", "PLAINTEXT://[::1]:9092,ssl://[fe80::1]:9192")
    assert [each for each in endpoints if each.protocol == "ssl"] == [Endpoint("ssl", "fe80::1", 9192)]
    assert format_tag("endpoints", endpoints) == "plaintext://[::1]:9092,ssl://[fe80::1]:9192"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("broker.id", "three"), ("broker.version.int", "9"), ("compression.codecs", "gzip"), ("compression.codecs", "1="),
        ("message.max.bytes", ""), ("endpoints", "host:9092"), ("endpoints", "ssl://host"), ("endpoints", "ssl://host:0"),
    ],
)  # fmt: skip
def test_K35_9_a_bad_value_is_one_sentence(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"^Tag {name} has the value "):
        parse_tag(name, value)


def test_K35_13_every_builtin_tag_is_documented() -> None:
    assert len(BUILTIN_TAGS) == 7
    for name, tag in BUILTIN_TAGS.items():
        assert tag.name == name
        assert tag.meaning.endswith(".")
        assert ":" in tag.meaning
        assert tag.format(tag.parse(tag.example)) == tag.example


def test_K35_14_tags_from_configuration() -> None:
    lines = [
        "broker.id=1",
        "tag.aws.zone = eu-central-1",
        "  tag.rack = r8a9",
        "tag.cluster = kafka3",
        "# tag.off = 1",
        "tag.empty =",
        "tag.rack=r9",
    ]
    assert user_tags(lines) == {"aws.zone": "eu-central-1", "rack": "r9", "cluster": "kafka3", "empty": ""}
    with pytest.raises(InputError, match="without a name"):
        user_tags(["tag. = x"])


def test_K35_15_a_builtin_tag_is_not_the_users() -> None:
    with pytest.raises(InputError, match=r"gives the tag broker\.id, which is the broker's own"):
        user_tags(["tag.broker.id = 7"])


def test_K35_16_unknown_tags_are_text() -> None:
    assert parse_tag("aws.zone", "eu-central-1") == format_tag("aws.zone", "eu-central-1") == "eu-central-1"


@pytest.mark.requirement("K35-32")
def test_K35_28_every_version_of_every_request_has_its_number() -> None:
    registry = protocol_registry()
    assert [entry.added for entry in registry] == list(range(1, len(registry) + 1))
    listed = Counter((entry.api_key, entry.api_version) for entry in registry)
    taken = {
        (key, version)
        for release in releases()
        for key in release.api_keys
        if (versions := release.accepts_anywhere(key)) is not None
        for version in versions
    }
    assert listed == Counter(taken)
    # the eleven first apis of 0.8.0 come first; ApiVersions came with 0.10.0
    assert registry[0].api_key == 0
    assert next(entry.added for entry in registry if entry.api_key == 18) > protocol_range("0.9").highest


def test_K35_29_added_deprecated_removed() -> None:
    produce = {entry.api_version: entry for entry in protocol_registry() if entry.api_key == 0}
    for entry in protocol_registry():
        steps = [each for each in (entry.added, entry.deprecated, entry.removed) if each is not None]
        assert steps == sorted(steps)
    # KIP-896: marked in 3.7, gone in 4.0
    assert protocol_range("3.6").highest < (produce[2].deprecated or 0) <= protocol_range("3.7").highest
    assert protocol_range("3.9").highest < (produce[2].removed or 0) <= protocol_range("4.0").highest
    assert produce[3].removed is None


def test_K35_30_in_the_drafts_words() -> None:
    entry = next(each for each in protocol_registry() if (each.api_key, each.api_version) == (0, 2))
    assert protocol_text(entry) == (
        f"ProduceRequest v2:\n    Added in ProtocolVersion: {entry.added}\n    Deprecated in ProtocolVersion: {entry.deprecated}\n"
        f"    Removed in ProtocolVersion: {entry.removed}"
    )
    assert protocol_text(protocol_registry()[-1]).count("\n") == 1


@pytest.mark.parametrize("release", ["0.8", "0.9", "0.11", "2.4", "3.9", "4.4"])
def test_K35_34_the_range_of_a_release_gives_its_versions(release: str) -> None:
    asked = releases().resolve(release)
    chosen = chosen_versions(protocol_range(release))
    highest = {key: versions.highest for key in asked.api_keys if (versions := asked.accepts_anywhere(key)) is not None}
    assert chosen == {key: version for key, version in highest.items() if catalog().request(key) is not None}


def test_K35_34_a_smaller_range_and_an_older_client_get_less() -> None:
    first = chosen_versions(ProtocolRange(1, 1))
    assert first == {0: 0}
    old = chosen_versions(protocol_range("4.4"), release_catalog("2.4.1"))
    assert old[18] == 3
    assert 60 not in old


@pytest.mark.parametrize(
    ("ours", "theirs", "chosen"),
    [
        ((0, 5), (0, 9), 5),
        ((0, 9), (0, 5), 5),
        ((3, 9), (0, 3), 3),
        ((0, 3), (3, 9), 3),
        ((0, 2), (3, 9), None),
        ((4, 9), (0, 3), None),
        ((0, 9), None, None),
    ],
)
def test_K35_36_the_highest_version_that_both_have(ours: tuple[int, int], theirs: tuple[int, int] | None, chosen: int | None) -> None:
    versions = BrokerVersions({} if theirs is None else {3: theirs}, own={3: ours}, node="broker 1")
    assert versions.supports("Metadata") is (chosen is not None)
    if chosen is not None:
        assert versions.choose("Metadata") == versions.choose(3) == chosen
        return
    with pytest.raises(NoCommonVersion) as refused:
        versions.choose("Metadata")
    assert (refused.value.api, refused.value.ours, refused.value.theirs) == ("Metadata", Versions(*ours), theirs and Versions(*theirs))
    assert str(refused.value).startswith("broker 1 ")


def test_names_of_apis_are_checked() -> None:
    with pytest.raises(InputError, match="has no api 'Nonsense'"):
        BrokerVersions({}).choose("Nonsense")
    with pytest.raises(NoCommonVersion, match="does not have 9999, and the client has none"):
        BrokerVersions({}).choose(9999)


def test_K35_37_inside_the_range_is_not_always_taken() -> None:
    new, old = BrokerVersions(releases()["4.1.0"].advertised()), BrokerVersions(releases()["3.9.1"].advertised())
    assert [new.standing("Produce", version) for version in (0, 2, 3, 20)] == ["refused", "refused", "supported", "outside"]
    assert [old.standing("Produce", version) for version in (0, 2, 3)] == ["deprecated", "deprecated", "supported"]
    assert (new.supports("Produce", 2), old.supports("Produce", 2)) == (False, True)
    assert BrokerVersions({0: (0, 2)}).standing("Fetch", 0) == "outside"


def test_K35_38_what_three_nodes_agree_on() -> None:
    nodes = [
        BrokerVersions(ranges)
        for ranges in ({0: (0, 9), 1: (0, 5), 2: (4, 7)}, {0: (3, 13), 1: (6, 9), 2: (0, 5)}, {0: (0, 7), 1: (0, 9), 2: (1, 4)})
    ]
    assert common_ranges(nodes) == {0: Versions(3, 7), 2: Versions(4, 4)}
    assert common_ranges([*nodes, BrokerVersions({})]) == common_ranges([]) == {}


def test_K35_41_unknown_apis_are_shown_and_not_passed_on() -> None:
    ranges = {3: (0, 99), 18: (0, 3), 84: (0, 0), 9999: (0, 1)}
    versions = BrokerVersions(ranges, release_catalog("2.4.1"))
    assert versions.unknown == {84: Versions(0, 0), 9999: Versions(0, 1)}
    assert versions.ranges[9999] == Versions(0, 1)
    assert clamped(ranges, release_catalog("2.4.1")) == {3: Versions(0, 9), 18: Versions(0, 3)}
    assert clamped({3: (90, 99)}, catalog()) == {}


def learned(*nodes: BrokerNode, source: str = "Metadata", cluster_id: str | None = "k") -> BrokersLearned:
    return BrokersLearned(0, 0, source, list(nodes), cluster_id, None)


@pytest.mark.requirement("K35-42")
def test_K35_17_an_address_becomes_a_node() -> None:
    cluster = NodeAddresses()
    assert (cluster.node_of("b1", 9092), cluster.label("b1", 9092)) == (None, "bootstrap")
    cluster.learn(learned(BrokerNode(2, "b2", 9092, "r2"), BrokerNode(1, "b1", 9092, "r1")))
    assert (cluster.label("b1", 9092), cluster.label("b1", 9093), cluster.cluster_id) == ("1", "bootstrap", "k")
    cluster.learn(learned(BrokerNode(2, "b2", 9093), source="FindCoordinator", cluster_id=None))
    assert (cluster.node_of("b2", 9092), cluster.node_of("b2", 9093), cluster.cluster_id) == (None, 2, "k")
    assert cluster.nodes == [BrokerNode(1, "b1", 9092, "r1"), BrokerNode(2, "b2", 9093, "r2")]


def test_two_nodes_that_change_places() -> None:
    cluster = NodeAddresses()
    cluster.learn(learned(BrokerNode(1, "a", 1), BrokerNode(2, "b", 1)))
    cluster.learn(learned(BrokerNode(1, "b", 1), BrokerNode(2, "a", 1)))
    assert (cluster.node_of("a", 1), cluster.node_of("b", 1)) == (2, 1)


def test_K35_18_an_address_that_answers_for_another_node() -> None:
    cluster = NodeAddresses()
    assert cluster.answered("b1", 9092, 7) is None
    cluster.learn(learned(BrokerNode(1, "b1", 9092)))
    assert cluster.answered("b1", 9092, 1) is None
    assert cluster.answered("b1", 9092, 7) == cluster.answered("b1", 9092, 7) == NodeMismatch("b1", 9092, 1, 7)
    assert len(cluster.mismatches) == 1


def test_K511_46_a_newer_version_is_never_read_with_an_older_definition() -> None:
    """A catalog that ends at version 3 does not read version 4, though the fields are the same."""
    definitions = [definition_of(catalog()[f"ApiVersions{kind}"]) for kind in ("Request", "Response")]
    older = Catalog("older", {each["name"]: parse_definition({**each, "validVersions": "0-3"}, "x") for each in definitions})
    codec = Codec(older)
    frame = bytes.fromhex("0012 0004 00000001 0001 63 00 02 61 02 31 00")
    request = codec.decode_request(frame, strict=False)
    assert (request.header.client_id, type(request.body).__name__, request.body.data) == ("c", "Opaque", bytes.fromhex("02 61 02 31 00"))
    with pytest.raises(ValueError, match=r"version 4 of ApiVersionsRequest is not known, only 0-3"):
        codec.decode_request(frame)
