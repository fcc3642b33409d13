"""Who is connected: the registry, the gauge, client ids and client instance ids."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.catalog_codec import Codec
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.drafts.connected_clients import NOT_OBSERVED, UNKNOWN, ClientIds, ClientRegistry
from kwire.drafts.connection_gauge import GaugeKey, gauge_key, mbean_name
from kwire.errors import InputError
from kwire.protocol import Connection
from kwire.protocol.events import IdentityChanged
from kwire.protocol.instance_ids import new_instance_id
from kwire.protocol.negotiation import NegotiatingClient, clean_software_text, is_valid_software, is_valid_software_text, software_faults
from kwire.schema import dialect

ONE = Uuid.parse("00112233-4455-6677-8899-aabbccddeeff")
TWO = Uuid(bytes(range(16)))
METADATA, HANDSHAKE = 3, 17


def test_K511_29_a_registry_follows_trackers() -> None:
    """Two connections by their bytes: ApiVersions v3, then requests; PLAIN in between on the second."""

    def request(key: int, version: int, number: int, body: bytes) -> bytes:
        frame = key.to_bytes(2, "big") + version.to_bytes(2, "big") + number.to_bytes(4, "big") + b"\0\3app" + body
        return len(frame).to_bytes(4, "big") + frame

    def answer(number: int, body: bytes) -> bytes:
        return (4 + len(body)).to_bytes(4, "big") + number.to_bytes(4, "big") + body

    exchanges = {
        "plain": [(request(18, 3, 0, b"\0\4kgo\3v1\0"), answer(0, b"\0\0\1\0\0\0\0\0"))],
        "sasl": [
            (request(17, 1, 0, b"\0\5PLAIN"), answer(0, b"\0\0\0\0\0\1\0\5PLAIN")),
            (request(36, 0, 1, b"\0\0\0\x0a\0alice\0pwd"), answer(1, b"\0\0\xff\xff\0\0\0\0")),
            (request(12, 0, 2, b"\0\1g\0\0\0\1\0\1m"), answer(2, b"\0\0")),
            (request(12, 0, 3, b"\0\1g\0\0\0\1\0\1m"), answer(3, b"\0\0")),
        ],
    }
    clients = ClientRegistry()
    for name, played in exchanges.items():
        clients.opened(name, 0)
        connection = Connection(bodies=())
        for sent, got in played:
            assert clients.follow(name, connection.receive_request_bytes(sent, 1) + connection.receive_response_bytes(got, 2)) == []
    told = {
        each.connection: (each.software_name, each.software_version, each.principal, each.client_id, each.requests)
        for each in clients.open.values()
    }
    assert told == {"plain": ("kgo", "v1", None, "app", 1), "sasl": ("unknown", "unknown", "User:alice", "app", 4)}
    clients.closed("sasl")
    assert clients.gauge() == {GaugeKey("kgo", "v1", "", ""): 1}


def test_events_that_come_after_a_connection_closed_count_for_what_closed_gave() -> None:
    """A tracker's last event, of a request without an answer, comes when its connection closes."""
    frame = b"\0\x03\0\1\0\0\0\x05\0\3app" + b"\0\0\0\0"  # Metadata v1 of no topics
    clients, connection = ClientRegistry(), Connection(bodies=())
    clients.opened("c", 0)
    assert clients.follow("c", connection.receive_request_bytes(len(frame).to_bytes(4, "big") + frame, 1)) == []
    gone = clients.closed("c")
    assert (gone.requests, gone.client_id) == (0, "")
    last = connection.closed("request", False, 2) + connection.closed("response", False, 3)
    assert clients.follow("c", last) == []
    assert (gone.requests, gone.client_id) == (1, "app")
    named = IdentityChanged(0, 1, "java", "4.0", None, None)
    clients.follow("c", [named])
    assert (gone.software_name, len(clients.open), clients.gauge()) == ("java", 0, {})
    clients.opened("c", 4)  # another connection of this name: late events of the first are its own now
    clients.follow("c", [named])
    assert (clients.open["c"].software_version, clients.gauge()) == ("4.0", {GaugeKey("java", "4.0", "", ""): 1})


def test_events_of_a_connection_that_was_not_opened_are_refused() -> None:
    clients = ClientRegistry()
    with pytest.raises(KeyError):
        clients.follow("never", [])
    for number in range(1001):
        clients.opened(str(number), 0)
        clients.closed(str(number))
    with pytest.raises(KeyError):
        clients.follow("0", [])
    assert clients.follow("1", []) == []


def test_K511_29_three_connections_open_and_one_closes() -> None:
    clients = ClientRegistry()
    for number, (listener, principal) in enumerate((("PLAINTEXT", None), ("SSL", "User:a"), ("SASL_SSL", "User:b"))):
        clients.opened(f"c{number}", number, listener=listener, processor=str(number), principal=principal)
        clients.open[f"c{number}"].identify(f"name-{number}", f"1.{number}")
    gone = clients.closed("c1")
    assert (gone.software_name, gone.principal, len(clients.open), "c1" in clients.open) == ("name-1", "User:a", 2, False)
    assert [
        (each.connection, each.opened, each.software_name, each.software_version, each.listener, each.principal)
        for each in clients.open.values()
    ] == [
        ("c0", 0, "name-0", "1.0", "PLAINTEXT", None),
        ("c2", 2, "name-2", "1.2", "SASL_SSL", "User:b"),
    ]
    with pytest.raises(KeyError):
        clients.closed("c1")
    with pytest.raises(KeyError):
        clients.opened("c0", 9)


@pytest.mark.requirement("K511-31")
def test_K511_30_what_was_not_sent_is_unknown_and_what_was_not_seen_is_something_else() -> None:
    clients = ClientRegistry()
    assert clients.opened("c", 0).software_name == UNKNOWN == "unknown"
    clients.open["c"].identify("", "")
    assert (clients.open["c"].software_name, clients.open["c"].software_version) == ("unknown", "unknown")
    assert clients.opened("late", 0, observed=False).software_name == NOT_OBSERVED == "not_observed"


def test_K511_32_the_gauge_follows_the_connections() -> None:
    clients = ClientRegistry()
    for name in "ab":
        clients.opened(name, 0, listener="PLAINTEXT", processor="1")
    unknown, java = (GaugeKey(name, version, "PLAINTEXT", "1") for name, version in (("unknown", "unknown"), ("java", "2.4.0")))
    assert clients.gauge() == {unknown: 2}
    clients.open["a"].identify("java", "2.4.0")
    assert clients.gauge() == {unknown: 1, java: 1}
    clients.open["b"].identify("java", "2.4.0")
    assert clients.gauge() == {java: 2}
    clients.closed("a")
    clients.closed("b")
    assert clients.gauge() == {}


def test_K511_33_the_mbean_is_named_as_in_the_proposal() -> None:
    proposal = (
        "kafka.server:clientSoftwareName=apache-kafka-java,clientSoftwareVersion=2.4.0,listener=PLAINTEXT,networkProcessor=1,"
        "type=socket-server-metrics"
    )
    kafkas = (
        "kafka.server:type=socket-server-metrics,clientSoftwareName=apache-kafka-java,clientSoftwareVersion=2.4.0,listener=PLAINTEXT,"
        "networkProcessor=1"
    )
    key = GaugeKey("apache-kafka-java", "2.4.0", "PLAINTEXT", "1")
    assert mbean_name(key) == proposal
    assert gauge_key(proposal) == gauge_key(kafkas) == key
    odd = GaugeKey('a,b="c"*', "1\n2", "x:y", "back\\slash,")
    assert gauge_key(mbean_name(odd)) == odd


@pytest.mark.parametrize(
    "text", ["", "kafka.server:", "kafka.server:type=socket-server-metrics", "other:type=x", "kafka.server:type=app-info,id=1"]
)
def test_what_is_no_name_of_the_gauge(text: str) -> None:
    with pytest.raises(InputError, match="is not a name of Kafka's gauge"):
        gauge_key(text)


def test_K511_34_above_the_cap_the_rest_is_counted_together() -> None:
    clients = ClientRegistry(gauge_cap=100)
    for number in range(150):
        clients.opened(str(number), 0, listener="PLAINTEXT").identify(f"name-{number}", "1")
    counts = clients.gauge()
    other = ("other",) * 4
    assert (len(counts), counts[other], sum(counts.values())) == (101, 50, 150)
    for number in range(120):
        clients.closed(str(number))
    assert clients.gauge() == {GaugeKey(f"name-{number}", "1", "PLAINTEXT", ""): 1 for number in range(120, 150)}


@pytest.mark.parametrize(
    ("text", "proposed", "released"),
    [
        ("a", True, True), ("a.b-c", True, True), ("2.4.0", True, True), ("-a", True, False), ("a-", True, False), (".", True, False),
        ("a_b", False, False), ("RP Console", False, False), ("a+b", False, False), ("é", False, False),
        ("", False, False), ("a\n", False, False),
    ],
)  # fmt: skip
@pytest.mark.requirement("K511-23")
def test_K511_22_both_patterns(text: str, proposed: bool, released: bool) -> None:
    assert is_valid_software_text(text, "proposed") is proposed
    assert is_valid_software_text(text) is released
    assert is_valid_software(text, text) is released


def test_K511_25_names_are_cleaned_and_faults_are_named() -> None:
    assert clean_software_text("(devel)") == "devel"
    assert clean_software_text("RP Console/2.1+x") == "RP-Console-2.1-x"
    assert clean_software_text("__ é") == ""
    assert software_faults("sarama", "(devel)") == ("client_software_version",)
    assert software_faults("a_b", "") == ("client_software_name", "client_software_version")
    assert software_faults("a-", "1", "proposed") == ()


@given(st.text())
def test_K511_25_a_cleaned_name_is_valid_or_empty(text: str) -> None:
    cleaned = clean_software_text(text)
    assert not cleaned or is_valid_software_text(cleaned)


def program(**more: Any) -> NegotiatingClient:
    return NegotiatingClient(codec=Codec(dialect("kip-1313")), client_id="app", **more)


def test_K1313_21_the_id_is_there_before_any_connection() -> None:
    instance_id = new_instance_id(random.Random(1).randbytes)
    assert program(instance_id=instance_id).instance_id == instance_id != ZERO_UUID


def test_K1313_22_one_id_on_three_connections_is_one_instance() -> None:
    instance_id = new_instance_id(random.Random(1).randbytes)
    clients = ClientRegistry()
    for node in ("1", "2", "1 again"):
        machine = program(instance_id=instance_id, node=node, api_versions=6)
        (sent,) = machine.connected(0)
        header = machine.codec.peek_header(sent.data[4:])
        clients.opened(node, 0, node=node)
        assert clients.requested(clients.open[node], header.api_key, 3, header.client_id, header.client_instance_id) == []
    (connections,) = clients.instances.values()
    assert [each.node for each in connections] == ["1", "2", "1 again"]
    clients.closed("1")
    assert [each.node for each in clients.instances[instance_id]] == ["2", "1 again"]


def test_K1313_23_an_id_of_two_principals_or_programs_is_reported() -> None:
    clients = ClientRegistry()
    for name, principal, software in (("a", "User:a", "x"), ("b", "User:a", "x"), ("c", "User:b", "x"), ("d", "User:b", "y")):
        clients.opened(name, 0, principal=principal)
        clients.open[name].identify(software, "1")
    assert clients.requested(clients.open["a"], METADATA, 3, "", ONE) == clients.requested(clients.open["b"], METADATA, 3, "", ONE) == []
    for name in "cd":
        ((rule, sentence),) = clients.requested(clients.open[name], METADATA, 3, "", ONE)
        assert (rule, str(ONE) in sentence) == ("instance_id_shared", True)
        assert clients.requested(clients.open[name], METADATA, 3, "", ONE) == []
    clients.requested(clients.open["a"], METADATA, 3, "", ONE)
    (shared,) = clients.shared_instances
    assert (shared.instance_id, shared.principals, shared.software) == (ONE, ("User:a", "User:b"), ("x 1", "y 1"))


def test_the_released_form_names_the_id_in_telemetry() -> None:
    clients = ClientRegistry(most_instances=2)
    for name in "abc":
        clients.opened(name, 0, principal=f"User:{name}")
    assert clients.pushed(clients.open["a"], ZERO_UUID) == []
    assert clients.pushed(clients.open["a"], ONE) == clients.pushed(clients.open["b"], TWO) == []
    assert clients.pushed(clients.open["c"], ONE)[0][0] == "instance_id_shared"
    clients.closed("a")
    assert clients.pushed(clients.open["b"], Uuid(b"x" * 16)) == []  # the oldest id is forgotten
    assert clients.shared_instances == []


@pytest.mark.parametrize("hyphens", [True, False])
def test_K1313_24_ids_are_random_and_never_reserved(hyphens: bool) -> None:
    source = random.Random(24)
    seen = set()
    for _ in range(20_000):
        made = new_instance_id(source.randbytes, hyphens=hyphens)
        assert made[6] >> 4 == 4
        assert made[8] >> 6 == 2
        text = str(made)
        assert not text.startswith("-")
        assert hyphens or "-" not in text
        seen.add(made)
    assert len(seen) == 20_000
    # 0xf8.. begins with a hyphen: the next one is taken
    assert str(new_instance_id(_given(b"\xf8" * 16, bytes(16)))) == "AAAAAAAAQACAAAAAAAAAAA"


def _given(*values: bytes) -> Any:
    waiting = list(values)
    return lambda size: waiting.pop(0)


def test_K1313_30_the_id_is_kept_with_the_connection() -> None:
    clients = ClientRegistry()
    clients.opened("c", 0)
    clients.requested(clients.open["c"], METADATA, 3, "app", ONE)
    clients.requested(clients.open["c"], HANDSHAKE, 1, "app", ZERO_UUID)
    assert (clients.open["c"].instance_id, clients.open["c"].requests) == (ONE, 2)


@pytest.mark.requirement("K1313-26", "K1313-27", "K1313-28", "K1313-29")
def test_K1313_25_what_a_tap_reports() -> None:
    def faults(*requests: tuple[int, int, Uuid]) -> list[bool]:
        clients = ClientRegistry()
        clients.opened("c", 0)
        return [bool(clients.requested(clients.open["c"], key, header, "", instance)) for key, header, instance in requests]

    assert faults((METADATA, 3, ZERO_UUID), (METADATA, 3, ONE)) == [True, False]
    assert faults((METADATA, 3, ONE), (METADATA, 3, TWO), (METADATA, 3, ONE)) == [False, True, False]
    assert faults((METADATA, 3, ONE), (METADATA, 2, ZERO_UUID)) == [False, True]
    assert faults((METADATA, 3, ONE), (HANDSHAKE, 1, ZERO_UUID), (METADATA, 3, ONE)) == [False, False, False]
    assert faults((METADATA, 2, ZERO_UUID), (METADATA, 3, ONE), (METADATA, 3, TWO)) == [False, False, True]


def test_K1313_31_the_first_client_id_holds() -> None:
    ids = ClientIds("first_wins")
    assert [ids.see(3, each) for each in ("app", None, "", "other", "other", None)] == ["app"] * 6
    assert ids.ignored == ["other"]
    clients = ClientRegistry(client_ids="first_wins")
    clients.opened("c", 0)
    assert [clients.requested(clients.open["c"], METADATA, 3, text, ONE) for text in ("app", None)] == [[], []]
    ((rule, sentence),) = clients.requested(clients.open["c"], METADATA, 3, "other", ONE)
    assert (rule, clients.open["c"].client_id) == ("client_id_ignored", "app")
    assert "'other'" in sentence


def test_K1313_32_each_request_has_its_own_client_id() -> None:
    ids = ClientIds()
    assert [ids.see(header, each) for header, each in ((2, "a"), (3, "b"), (1, None), (3, ""))] == ["a", "b", "", ""]
    assert ids.ignored == []


@pytest.mark.parametrize(("version", "shown"), [(3, ["app", None, None]), (1, ["app", "app", "app"])])
def test_K1313_33_older_headers_always_carry_the_client_id(version: int, shown: list[str | None]) -> None:
    machine = program(instance_id=ONE, client_ids="first_wins", api_versions=6 if version == 3 else 3)
    (first,) = machine.connected(0)
    entries = "02 002f 0000 0001 00" if version == 3 else "02 002f 0000 0000 00"
    answer = bytes.fromhex(f"00000000 0000 {entries} 00000000 00")
    machine.receive(len(answer).to_bytes(4, "big") + answer, 1)
    sent = [first, *(machine.send(machine.codec.messages.OffsetDeleteRequest(), 2) for _ in range(2))]
    assert [machine.codec.peek_header(each.data[4:]).client_id for each in sent] == shown


def test_K1313_34_bytes_that_client_ids_take() -> None:
    ids = ClientIds()
    for header, each in ((2, "app"), (1, None), (0, ""), (3, "é")):
        ids.see(header, each)
    assert ids.bytes_sent == (2 + 3) + 2 + (2 + 2)


@pytest.mark.requirement("K1313-53")
def test_header_2_is_what_a_4_3_broker_gets() -> None:
    machine = program(instance_id=ONE)
    (sent,) = machine.connected(0)
    assert sent.data[4:8] == bytes.fromhex("0012 0005")
    assert bytes(ONE) not in sent.data
