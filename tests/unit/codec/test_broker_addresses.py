"""Addresses of brokers rewritten everywhere: which fields of the catalog are found, and what becomes of them."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.codec.broker_addresses import broker_fields
from kwire.codec.splicing import FrameSplicer
from kwire.codec.topic_fields import fields_at
from kwire.errors import EncodeError, UnsupportedVersion
from kwire.schema import catalog


@pytest.fixture(scope="session")
def splicer(codec):
    return FrameSplicer(codec.compiled)


def moved(node_id: int | None, host: str, port: int) -> tuple[str, int]:
    return f"proxy-for-{host}", 20000 + (node_id or 0)


# What is no address of a broker: where clients come from, whom an ACL lets in, where Streams applications answer.
OTHERS = {
    "GroupMetadataValue", "ConsumerGroupMemberMetadataValue", "ShareGroupMemberMetadataValue", "StreamsGroupMemberMetadataValue",
    "DescribeGroupsResponse", "ConsumerGroupDescribeResponse", "ShareGroupDescribeResponse", "StreamsGroupDescribeResponse",
    "StreamsGroupHeartbeatRequest", "StreamsGroupHeartbeatResponse", "AccessControlRecord", "AccessControlEntryRecord",
    "DescribeAclsRequest", "DescribeAclsResponse", "CreateAclsRequest", "DeleteAclsRequest", "DeleteAclsResponse",
}  # fmt: skip


def test_every_field_of_the_catalog_that_looks_like_an_address_is_told_of():
    left = set()
    for name, message in catalog().messages.items():
        for version in message.valid_versions:
            rules, uncovered = broker_fields(message, version)
            found = {*uncovered, *(path for rule in rules for path in rule.writes)}
            looks = {
                path for path, _, _ in fields_at(message, version) if "host" in path.split(".")[-1] or path.split(".")[-1].endswith("port")
            }
            if looks - found:
                left.add(name)
    assert left == OTHERS | {"EnvelopeRequest"}  # where the client of the forwarded request is


def test_messages_with_addresses():
    """Those that clients read, in the versions in which Kafka's definitions have them."""
    first = {}
    for name, message in catalog().messages.items():
        versions = [version for version in message.valid_versions if broker_fields(message, version)[0]]
        if versions and message.kind == "response":
            first[name] = versions[0]
    assert first == {
        "MetadataResponse": 0, "FindCoordinatorResponse": 0, "DescribeClusterResponse": 0, "ProduceResponse": 10, "FetchResponse": 16,
        "ShareFetchResponse": 0, "ShareAcknowledgeResponse": 0, "VoteResponse": 1, "BeginQuorumEpochResponse": 1,
        "EndQuorumEpochResponse": 1, "FetchSnapshotResponse": 1, "DescribeQuorumResponse": 2, "UpdateRaftVoterResponse": 0,
    }  # fmt: skip


ADDRESSES = {  # message -> array or struct of the addresses, attributes of node id, host and port
    "MetadataResponse": ("brokers", "MetadataResponseBroker", "node_id"),
    "DescribeClusterResponse": ("brokers", "DescribeClusterBroker", "broker_id"),
    "ProduceResponse": ("node_endpoints", "NodeEndpoint", "node_id"),
    "FetchResponse": ("node_endpoints", "NodeEndpoint", "node_id"),
    "ShareFetchResponse": ("node_endpoints", "NodeEndpoint", "node_id"),
    "ShareAcknowledgeResponse": ("node_endpoints", "NodeEndpoint", "node_id"),
    "FindCoordinatorResponse": ("coordinators", "Coordinator", "node_id"),
    "VoteResponse": ("node_endpoints", "NodeEndpoint", "node_id"),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_addresses_in_arrays(splicer, codec, name):
    """In every version that has them, the bytes are those of encoding the changed objects."""
    array, struct, node = ADDRESSES[name]
    message = codec.message_class(name)
    for version in catalog()[name].valid_versions:
        rules, _ = broker_fields(catalog()[name], version)
        if not rules or rules[0].writes[0] == "host":  # FindCoordinator up to 3
            continue
        body = message(
            **{array: [getattr(message, struct)(**{node: number, "host": f"b{number}", "port": 9092}) for number in (1, 2, 300)]}
        )
        encode = codec.compiled.encoder(name, version).encode
        data = encode(body)
        for each in getattr(body, array):
            each.host, each.port = moved(getattr(each, node), each.host, each.port)
        assert splicer.rewrite_brokers(data, moved, name=name, version=version) == encode(body), version
        plain = encode(message())
        assert splicer.rewrite_brokers(plain, moved, name=name, version=version) is plain


def test_find_coordinator_before_version_4(splicer, codec):
    message = codec.message_class("FindCoordinatorResponse")
    for version in range(4):
        encode = codec.compiled.encoder("FindCoordinatorResponse", version).encode
        data = encode(message(node_id=2, host="b2", port=9092))
        expected = encode(message(node_id=2, host="proxy-for-b2", port=20002))
        assert splicer.rewrite_brokers(data, moved, name="FindCoordinatorResponse", version=version) == expected
        none = encode(message(error_code=15, node_id=-1, host="", port=-1))  # COORDINATOR_NOT_AVAILABLE
        assert splicer.rewrite_brokers(none, moved, name="FindCoordinatorResponse", version=version) is none


def test_node_ids_of_a_struct_around(splicer, codec):
    """DescribeQuorum tells listeners by node, UpdateMetadata endpoints by broker."""
    message = codec.message_class("DescribeQuorumResponse")
    nodes = [message.Node(node_id=node, listeners=[message.Listener(name="C", host=f"c{node}", port=9093)] * 2) for node in (3, 5)]
    data = codec.compiled.encoder("DescribeQuorumResponse", 2).encode(message(nodes=nodes))
    asked: list[Any] = []
    splicer.rewrite_brokers(data, lambda *each: asked.append(each) or each[1:], name="DescribeQuorumResponse", version=2)
    assert asked == [(3, "c3", 9093), (3, "c3", 9093), (5, "c5", 9093), (5, "c5", 9093)]
    message = codec.message_class("UpdateMetadataRequest")
    brokers = [message.UpdateMetadataBroker(id=7, endpoints=[message.UpdateMetadataEndpoint(port=1, host="h", listener="L")])]
    data = codec.compiled.encoder("UpdateMetadataRequest", 5).encode(message(controller_id=1, live_brokers=brokers))
    asked.clear()
    splicer.rewrite_brokers(data, lambda *each: asked.append(each) or each[1:], name="UpdateMetadataRequest", version=5)
    assert asked == [(7, "h", 1)]


def test_no_node_id_is_made_up(splicer, codec):
    """BeginQuorumEpoch names the voter that gets it beside the endpoints of another node, the leader."""
    message = codec.message_class("BeginQuorumEpochRequest")
    endpoints = [message.LeaderEndpoint(name="C", host="leader", port=9093)]
    encode = codec.compiled.encoder("BeginQuorumEpochRequest", 1).encode
    data = encode(message(voter_id=4, leader_endpoints=endpoints))
    endpoints[0].host, endpoints[0].port = "proxy-for-leader", 20000
    expected = encode(message(voter_id=4, leader_endpoints=endpoints))
    assert splicer.rewrite_brokers(data, moved, name="BeginQuorumEpochRequest", version=1) == expected


# DescribeCluster v0: throttle, error, message, endpoint "c", controller 1, brokers 1 and 2, operations
CLUSTER = bytes.fromhex("00000000 0000 00 0263 00000001 03 00000001 026100002384 00 00 00000002 026200002384 00 00 80000000 00")


def test_mappings(splicer):
    at = {"name": "DescribeClusterResponse", "version": 0}
    wanted = CLUSTER.replace(bytes.fromhex("026100002384"), bytes.fromhex("03707100000001")).replace(
        bytes.fromhex("026200002384"), bytes.fromhex("02720000ffff")
    )
    assert splicer.rewrite_brokers(CLUSTER, {1: ("pq", 1), 2: ("r", 65535)}, **at) == wanted
    assert splicer.rewrite_brokers(CLUSTER, {("a", 9092): ["pq", 1], 2: ("r", 65535), 1: ("never", 0)}, **at) == wanted
    assert splicer.rewrite_brokers(CLUSTER, {1: ("a", 9092), ("b", 9092): ("b", 9092)}, **at) is CLUSTER
    with pytest.raises(EncodeError, match=r"no new address is given for node 2 at 'b', port 9092 in brokers\[1\]\.host"):
        splicer.rewrite_brokers(CLUSTER, {1: ("pq", 1)}, **at)


@pytest.mark.parametrize(
    ("new", "text"),
    [
        ("host:1", r"a new address is a host and a port, not str in brokers\[0\]\.host \(DescribeClusterResponse v0\)"),
        (("host",), "a host and a port, not tuple"),
        (("host", 2**31), r"2147483648 does not fit into an int32 in brokers\[0\]\.port"),
        (("host", "1"), r"expected an int, got str in brokers\[0\]\.port"),
        ((None, 1), r"null is not allowed in brokers\[0\]\.host"),
    ],
)
def test_bad_addresses(splicer, new, text):
    with pytest.raises(EncodeError, match=text):
        splicer.rewrite_brokers(CLUSTER, lambda node, host, port: new, name="DescribeClusterResponse", version=0)


def test_frames(splicer):
    frame = bytes.fromhex("00000007 00") + CLUSTER
    made = splicer.rewrite_brokers(frame, {1: ("x", 9092), 2: ("y", 9092)}, 60, 0)
    assert made == frame.replace(b"\x02a\0", b"\x02x\0").replace(b"\x02b\0", b"\x02y\0")
    request = bytes.fromhex("003c 0000 00000007 0001 63 00 00 00")  # DescribeCluster: a request has no addresses
    assert splicer.rewrite_brokers(request, {}) is request
    with pytest.raises(UnsupportedVersion):
        splicer.rewrite_brokers(frame, {}, 60, 99)


def test_a_response_in_an_envelope_is_refused(splicer, codec):
    message = codec.message_class("EnvelopeResponse")
    encode = codec.compiled.encoder("EnvelopeResponse", 0).encode
    with pytest.raises(EncodeError, match="addresses of brokers may be in here, which cannot be rewritten in response_data"):
        splicer.rewrite_brokers(encode(message(response_data=b"frame")), moved, name="EnvelopeResponse", version=0)
    empty = encode(message(response_data=None))
    assert splicer.rewrite_brokers(empty, moved, name="EnvelopeResponse", version=0) is empty


# DescribeQuorumResponse v2: no error, no message, no topics; node 1 with the listeners CONTROLLER c:9093 and BROKER b:9092
QUORUM = bytes.fromhex("0000 00 0102 00000001 030b 434f4e54524f4c4c4552 02 63 2385 0007 42524f4b4552 02 62 2384 0000 00")


def test_a_function_of_one_argument_gets_the_listener_and_the_path(splicer):
    seen: list[Any] = []

    def only_brokers(address: Any) -> tuple[str, int]:
        seen.append(tuple(address))
        return (address.host, address.port) if address.listener == "CONTROLLER" else ("proxy", 19092)

    made = splicer.rewrite_brokers(QUORUM, only_brokers, name="DescribeQuorumResponse", version=2)
    assert made == QUORUM.replace(bytes.fromhex("02 62 2384"), bytes.fromhex("06 70726f7879 4a94"))
    assert seen == [
        (1, "c", 9093, "CONTROLLER", "DescribeQuorumResponse", "nodes.listeners.host"),
        (1, "b", 9092, "BROKER", "DescribeQuorumResponse", "nodes.listeners.host"),
    ]
    seen.clear()
    splicer.rewrite_brokers(CLUSTER, only_brokers, name="DescribeClusterResponse", version=0)
    assert seen[1] == (2, "b", 9092, None, "DescribeClusterResponse", "brokers.host")


def test_a_node_id_alone_does_not_say_which_listener(splicer):
    """A broker that is a controller too has one id and two addresses: a mapping by id would give clients the broker's for both."""
    at = {"name": "DescribeQuorumResponse", "version": 2}
    with pytest.raises(EncodeError, match=r"for node 1 at 'c', port 9093, listener 'CONTROLLER' in nodes\[0\]\.listeners\[0\]\.host"):
        splicer.rewrite_brokers(QUORUM, {1: ("proxy", 19092)}, **at)
    both = {(1, "CONTROLLER"): ("c", 9093), (1, "BROKER"): ("proxy", 19092)}
    made = splicer.rewrite_brokers(QUORUM, both, **at)
    assert made == QUORUM.replace(bytes.fromhex("02 62 2384"), bytes.fromhex("06 70726f7879 4a94"))
    assert splicer.rewrite_brokers(QUORUM, {("c", 9093): ("c", 9093), ("b", 9092): ("proxy", 19092)}, **at) == made
