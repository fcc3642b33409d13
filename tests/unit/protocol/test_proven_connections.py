"""A connection is Kafka when a request of it reads to its end, or a response answers one; until then it has no rows and breaks no rule."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from kafka_bytes import framed, head, heartbeat, ok
from kwire.capture.packet_columns import ACK, FIN, SYN
from kwire.codec.impl import load_twin
from kwire.protocol.tracking.direction_detection import MAX_UNPROVEN
from made_packets import CLIENT, SERVER, Packets
from read_by_twins import read_connections, sink_tables

SHAKE: Packets = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b"")]
ENDS: Packets = [(CLIENT, FIN | ACK, b""), (SERVER, FIN | ACK, b"")]
PORT = (9092,)

# Made by hand after each protocol's specification; a client's first bytes and the server's answer.
ZOOKEEPER = "0000002c 00000000 0000000000000000 00007530 0000000000000000 00000010" + 16 * "00"
FOREIGN = {
    "zookeeper": (ZOOKEEPER, "00000024 00000000 00007530 0100abcdef000001 00000010" + 16 * "11"),
    "zookeeper with the flag for read-only": (ZOOKEEPER.replace("2c", "2d", 1) + "00", ""),
    "smb": ("00000044 fe534d42 4000" + 62 * "00", "00000044 fe534d42 4000" + 62 * "00"),
    "smb 1": ("00000023 ff534d42 72" + 30 * "00", ""),
    "smb behind a session request of NetBIOS": ("81000044 20" + 67 * "43", "82000000"),
    "kerberos": ("000000a3 6a81a0 30819d a103020105 a20302010a" + 147 * "00", "0000004a 7e48 3046 a003020105 a10302011e" + 60 * "00"),
    "pulsar": ("0000000f 0000000b 0802 1207 0a0568656c6c6f", "0000000e 0000000a 0803 1a06 0a0468656c6c"),
    "thrift": ("00000014 80010001 00000003 676574 00000000 0b0001 0000", "0000000f 80010002 00000003 676574 00000000"),
    "thrift in the compact protocol": ("00000008 822100 03676574 00", "00000008 824100 03676574 00"),
    "thrift without frames": ("80010001 00000003 676574 00000000 00", "80010002 00000003 676574 00000000 00"),
    # https://www.postgresql.org/docs/current/protocol-message-formats.html: length 8, code 1234.5678 and its neighbours
    "postgres CancelRequest": ("00000008 04d2162e", ""),
    "postgres SSLRequest": ("00000008 04d2162f", "4e"),
    "postgres GSSENCRequest": ("00000008 04d21630", ""),
    "openwire": ("0000001c 01 4163746976654d51 0000000c" + 15 * "00", "0000001c 01 4163746976654d51 0000000c" + 15 * "00"),
}


def read(twin: str, *pieces: tuple[int, bytes], ports: tuple[int, ...] = (), snaplen: int = 1 << 16) -> dict[str, list[dict[str, Any]]]:
    data: Packets = [(side, ACK, piece) for side, piece in pieces if piece]
    return sink_tables(read_connections([[*SHAKE, *data, *ENDS]], twin, snaplen=snaplen, ports=ports))


def said(tables: dict[str, list[dict[str, Any]]]) -> tuple[str, list[tuple[str, str]], list[str]]:
    requests = [(row["body"], row["state"]) for row in tables["requests"] if row["state"] != "orphan_response"]
    return tables["connections"][0]["protocol"], requests, [row["rule"] for row in tables["violations"]]


@pytest.mark.parametrize("name", FOREIGN)
def test_other_protocols_are_named_by_their_first_bytes(name: str, twin: str) -> None:
    asked, answer = map(bytes.fromhex, FOREIGN[name])
    for pieces in ([asked], [asked[:5], asked[5:]], [asked[:9], asked[9:]]):
        tables = read(twin, *((CLIENT, piece) for piece in pieces), (SERVER, answer), (CLIENT, asked))
        assert said(tables) == (name.partition(" ")[0], [], [])
        row = tables["connections"][0]
        assert (row["client_id"], row["software_name"], row["last_api_name"], row["request_frames"]) == (None, None, None, 0)


def operation(number: int, kind: int) -> bytes:
    """A request of ZooKeeper behind the first: its number where Kafka has key and version, its kind where that has the correlation id."""
    return framed(number.to_bytes(4, "big") + kind.to_bytes(4, "big") + (10).to_bytes(4, "big") + b"/brokers/i" + b"\0")


def result(number: int) -> bytes:
    return framed(number.to_bytes(4, "big") + bytes(7) + b"\7" + bytes(4) + b"node")


def test_frames_that_read_as_a_known_api_are_no_kafka_without_a_body(twin: str) -> None:
    """Number 4 answers number 4 by chance too: kind and number are the same."""
    talk = [piece for number in (1, 2, 3, 4, 5) for piece in ((CLIENT, operation(number, 4)), (SERVER, result(number)))]
    tables = read(twin, *talk)
    assert said(tables) == ("unknown", [], [])
    row = tables["connections"][0]
    assert (row["request_frames"], row["response_frames"], row["client_id"]) == (0, 0, None)
    assert tables["counts"][0]["bytes_opaque"] == sum(len(data) for _, data in talk)
    assert said(read(twin, *talk, ports=PORT))[0] == "kafka"  # who names the port says that this is Kafka


def test_a_request_that_nobody_can_read_waits_for_proof(twin: str) -> None:
    broken = framed(head(3, 1, 7) + b"\0\0\0\5\0\1t")  # Metadata v1 that claims five topics
    newer = framed(head(18, 99, 7) + b"\0")
    refused = framed(bytes.fromhex("00000007 0023 00000001 0012 0000 0003"))
    assert said(read(twin, (CLIENT, broken))) == ("unknown", [], [])
    assert said(read(twin, (CLIENT, broken), ports=PORT)) == ("kafka", [("malformed", "abandoned")], ["body_too_short"])
    assert said(read(twin, (CLIENT, broken), (CLIENT, heartbeat(8)))) == (
        "kafka", [("malformed", "abandoned"), ("decoded", "abandoned")], ["body_too_short"],
    )  # fmt: skip
    assert said(read(twin, (CLIENT, newer))) == ("unknown", [], [])
    assert said(read(twin, (CLIENT, newer), (SERVER, refused))) == (
        "kafka", [("unsupported", "answered")], ["api_versions_refused", "api_versions_unreleased"],
    )  # fmt: skip
    assert said(read(twin, (CLIENT, heartbeat(8)))) == ("kafka", [("decoded", "abandoned")], [])


def test_apis_of_vendors_are_known_by_their_header(twin: str) -> None:
    assert said(read(twin, (CLIENT, framed(head(10018, 0, 1) + b"\0\1"))))[:2] == ("kafka", [("unsupported", "abandoned")])
    assert said(read(twin, (CLIENT, framed(head(10018, 0, 1, b"\1\2\3") + b"\0\1")))) == ("unknown", [], [])


def test_requests_cut_by_snaplen_need_an_answer_or_a_second_one_of_the_client(twin: str) -> None:
    cut, other = heartbeat(0), heartbeat(1, b"ppa")
    assert said(read(twin, (CLIENT, cut), snaplen=20)) == ("unknown", [], [])
    assert said(read(twin, (CLIENT, cut), (CLIENT, other), snaplen=20))[0] == "unknown"
    assert said(read(twin, (CLIENT, cut), (CLIENT, cut), snaplen=20))[:2] == ("kafka", [("truncated", "abandoned")] * 2)
    assert said(read(twin, (CLIENT, cut), (SERVER, ok(0)), snaplen=20))[:2] == ("kafka", [("truncated", "answered")])


def test_an_answer_in_another_protocol_is_the_last_word(twin: str) -> None:
    broken = framed(head(3, 1, 7) + b"\0\0\0\5\0\1t")
    refusal = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    assert said(read(twin, (CLIENT, broken), (SERVER, refusal))) == ("http", [], [])
    assert said(read(twin, (CLIENT, heartbeat(1)), (SERVER, refusal)))[::2] == ("kafka", ["response_not_kafka"])


def test_what_waits_is_bounded_and_pickled(twin: str) -> None:
    detector = load_twin("protocol", "direction_detection", twin).DirectionDetector(40000, 9092)  # type: ignore[arg-type]
    detector.opened(0, 0)
    assert detector.receive(0, framed(b"") * 3, 1) == []
    detector = pickle.loads(pickle.dumps(detector))
    assert [type(event).__name__ for event in detector.receive(0, heartbeat(1), 2) + detector.receive(1, ok(1), 3)] == [
        "ViolationFound", "ViolationFound", "ViolationFound", "IdentityChanged", "RequestCompleted",
    ]  # fmt: skip
    detector = load_twin("protocol", "direction_detection", twin).DirectionDetector(40000, 9092)  # type: ignore[arg-type]
    detector.opened(0, 0)
    for _ in range(MAX_UNPROVEN + 1):
        assert detector.receive(0, framed(b""), 1) == []
    assert detector.receive(0, heartbeat(1), 2) + detector.receive(1, ok(1), 3) + detector.finish(4) == []
    assert (detector.summary().protocol, detector.summary().request_frames) == ("unknown", 0)
    assert len(pickle.dumps(detector)) < 5000
