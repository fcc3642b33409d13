"""`kwire decode`: frames in hex and raw, and captures in the form of the broker's request log."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from kwire.capture.request_logs.json_entries import in_names_of
from kwire.cli.decode import frames_of
from kwire.cli.entry import commands

CAPTURES = Path(__file__).parents[2] / "captures" / "data"
TRUTH = json.loads((CAPTURES / "truth.json").read_text())

# ApiVersions v3, correlation id 7, client id "foo", no tags; software "kafka-go" "1.2", no tags
REQUEST = bytes.fromhex("0012 0003 00000007 0003 666f6f 00 09 6b61666b612d676f 04 312e32 00")
SAID = {
    "requestHeader": {
        "requestApiKey": 18, "requestApiVersion": 3, "correlationId": 7, "clientId": "foo", "requestApiKeyName": "API_VERSIONS",
    },
    "request": {"clientSoftwareName": "kafka-go", "clientSoftwareVersion": "1.2"},
}  # fmt: skip
# ApiVersions v0: correlation id 7, error 0, one range: api 3, versions 0 to 5
RESPONSE = bytes.fromhex("00000007 0000 00000001 0003 0000 0005")


def run(*arguments: str, data: bytes | None = None) -> Result:
    return CliRunner().invoke(commands, ["decode", *arguments], input=data)


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_request_in_hex() -> None:
    prefixed = len(REQUEST).to_bytes(4, "big") + REQUEST
    for text in (REQUEST.hex(), REQUEST.hex(" "), REQUEST.hex(":"), f"\n{REQUEST.hex().upper()}\n\n", prefixed.hex()):
        result = run(data=f"{text}\n{REQUEST.hex()}".encode())
        assert result.exit_code == 0
        assert lines(result) == [SAID, SAID]


def test_raw_frames(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(REQUEST)
    (tmp_path / "two").write_bytes(2 * (len(REQUEST).to_bytes(4, "big") + REQUEST))
    assert lines(run(str(tmp_path / "one"))) == [SAID]
    assert lines(run(str(tmp_path / "two"))) == [SAID, SAID]


def test_a_response() -> None:
    result = run("--response", "--api-key", "18", "--api-version", "0", data=RESPONSE.hex().encode())
    assert lines(result) == [
        {"responseHeader": {"correlationId": 7}, "response": {"errorCode": 0, "apiKeys": [{"apiKey": 3, "minVersion": 0, "maxVersion": 5}]}}
    ]


def test_a_fault_is_told_with_its_place_and_the_rest_is_decoded() -> None:
    result = run(data=f"{REQUEST[:-3].hex()}\n{REQUEST.hex()}\n{REQUEST[:3].hex()}\n".encode())
    first, second, third = lines(result)
    assert first["at"] == "line 1"
    assert first["requestHeader"] == SAID["requestHeader"]
    assert first["request"] is None
    assert first["error"]["code"] == "TRUNCATED"
    assert first["error"]["path"] == "client_software_version"
    assert second == SAID
    assert third["at"] == "line 3"
    assert third["error"]["code"] == "TRUNCATED"
    assert result.exit_code == 1
    assert result.stderr.startswith("kwire: 2 of 3 frames of standard input cannot be decoded; first line 1: ")


def test_half_a_byte_and_nothing_at_all() -> None:
    half = run(data=b"0012\n123\n")
    assert half.exit_code == 1
    assert "Line 2 of standard input has 3 hex digits; a byte has two." in half.stderr
    nothing = run(data=b" \n")
    assert nothing.exit_code == 1
    assert "standard input is empty" in nothing.stderr


def test_a_length_is_told_from_an_api_key() -> None:
    # api key 0 (Produce) version 9 reads as a length of 9: a frame of exactly 13 bytes would be ambiguous, any other is not
    frame = bytes.fromhex("0000 0009 00000001 0001 61 00")
    assert list(frames_of(frame, "x")) == [("byte 0", frame)]


def blanked(size: int) -> str:
    return base64.b64encode(b"x" * size).decode()


def test_secrets_are_left_out() -> None:
    # SaslAuthenticate v0, correlation id 1, no client id, token "\0user\0secret"
    token = b"\0user\0secret"
    frame = bytes.fromhex("0024 0000 00000001 ffff") + len(token).to_bytes(4, "big") + token
    assert lines(run(data=frame.hex().encode()))[0]["request"] == {"authBytes": blanked(len(token))}
    shown = run("--show-secrets", data=frame.hex().encode())
    assert lines(shown)[0]["request"] == {"authBytes": base64.b64encode(token).decode()}
    # IncrementalAlterConfigs v0: topic "t", ssl.key.password and retention.ms
    name, other = b"ssl.key.password", b"retention.ms"
    configs = bytes.fromhex("00000002") + b"".join(
        len(key).to_bytes(2, "big") + key + b"\0" + len(value).to_bytes(2, "big") + value
        for key, value in ((name, b"hunter2"), (other, b"60"))
    )
    frame = bytes.fromhex("002c 0000 00000001 ffff 00000001 02 0001 74") + configs + b"\0"
    values = {config["name"]: config["value"] for config in lines(run(data=frame.hex().encode()))[0]["request"]["resources"][0]["configs"]}
    assert values == {"ssl.key.password": "xxxxxxx", "retention.ms": "xx"}, "any value may be a secret"
    # SaslAuthenticate v1, response: no error, a token of the server
    response = bytes.fromhex("00000001 0000 ffff 00000003 763d78 0000000000000000")
    (entry,) = lines(run("--response", "--api-key", "36", "--api-version", "1", data=response.hex().encode()))
    assert entry["response"]["authBytes"] == blanked(3)


def test_a_fault_behind_a_secret_is_that_of_the_frame() -> None:
    # RenewDelegationToken v1, an HMAC of 4 bytes, cut in its period: the body is null, and blanking moves no fault
    frame = bytes.fromhex("0027 0001 00000001 0001 31 00000004 deadbeef 00000000")
    (hidden,), (shown,) = (lines(run(*options, data=frame.hex().encode())) for options in ((), ("--show-secrets",)))
    assert hidden == shown
    assert hidden["request"] is None
    assert (hidden["error"]["code"], hidden["error"]["path"]) == ("TRUNCATED", "renew_period_ms")
    # a byte behind the message: the body is shown without its secret
    frame = bytes.fromhex("0027 0001 00000001 0001 31 00000004 deadbeef 0000000000000001 aa")
    (entry,) = lines(run(data=frame.hex().encode()))
    assert entry["request"] == {"hmac": blanked(4), "renewPeriodMs": 1}
    assert entry["error"]["code"] == "TRAILING_BYTES"


def test_a_capture_becomes_the_request_log() -> None:
    """Each request once, under Kafka's names, with the response that answers it."""
    capture = CAPTURES / "seed.pcap.gz"
    found = lines(run(str(capture), "--port", "20192"))
    counted: dict[str, int] = {}
    for entry in found:
        head = entry["requestHeader"]
        name = head["requestApiKeyName"].replace("_", "").lower()
        counted[f"{name} v{head['requestApiVersion']}"] = counted.get(f"{name} v{head['requestApiVersion']}", 0) + 1
        assert entry["request"] is not None
        assert (entry["response"] is not None) == (entry["state"] == "answered")
    assert counted == {name.lower(): count for name, count in TRUTH["seed.pcap"]["requests_whole_by_api_version"].items()}
    produced = next(entry for entry in found if entry["requestHeader"]["requestApiKeyName"] == "PRODUCE" and entry["response"])
    partition = produced["request"]["topicData"][0]["partitionData"][0]
    assert "records" not in partition
    assert partition["recordsSizeInBytes"] > 0


def test_a_capture_from_standard_input_and_its_damage() -> None:
    capture = (CAPTURES / "hostile-requests.pcap.gz").read_bytes()
    result = run("-", "--port", "20192", data=capture)
    assert result.exit_code == 0
    broken = [entry for entry in lines(result) if "error" in entry]
    assert {"UNKNOWN_API", "TRUNCATED", "BAD_VARINT"} <= {entry["error"]["code"] for entry in broken}
    assert "Traceback" not in result.stderr


def test_the_request_in_an_envelope_is_a_request_of_its_own() -> None:
    # Envelope v0, correlation id 1, client id "1": the request above, no principal, address 127.0.0.1 (KIP-590)
    inner = bytes((len(REQUEST) + 1,)) + REQUEST
    envelope = bytes.fromhex("003a 0000 00000001 0001 31 00") + inner + bytes.fromhex("00 05 7f000001 00")
    (entry,) = lines(run(data=envelope.hex().encode()))
    assert entry["request"]["requestData"] == SAID
    # its answer does not say what it answers, and may hold a value of a configuration
    answer = bytes.fromhex("00000001 00") + bytes((len(RESPONSE) + 1,)) + RESPONSE + bytes.fromhex("0000 00")
    (entry,) = lines(run("--response", "--api-key", "58", "--api-version", "0", data=answer.hex().encode()))
    assert entry["response"]["responseData"] == base64.b64encode(RESPONSE[:4] + b"x" * (len(RESPONSE) - 4)).decode()


def test_share_fetches_are_logged_with_empty_records() -> None:
    # version 1, one topic: a partition with 3 bytes of records, and one with none
    head, current = "00000015 00 00000000 0000 00 00007530 02" + "17" * 16, "00000000 00000000 00"
    partitions = f"03 00000000 0000 00 0000 00 {current} 04616263 01 00  00000001 0000 00 0000 00 {current} 01 01 00"
    (entry,) = lines(run("--response", "--api-key", "78", "--api-version", "1", data=f"{head}{partitions} 00 01 00".encode()))
    # in the log of a broker of 4.3.1: "currentLeader":{...},"records":"","acquiredRecords":[...]
    with_records, without = entry["response"]["responses"][0]["partitions"]
    assert list(with_records)[-3:] == ["currentLeader", "records", "acquiredRecords"]
    assert with_records["records"] == ""
    assert without["records"] == ""


def test_fields_have_the_names_of_the_brokers_release() -> None:
    # "generationId" is what brokers of 3.9.2 and 4.3.1 log, which have TxnOffsetCommit up to versions 4 and 5; 4.4.0 has version 6
    written = {"groupId": "totals", "generationIdOrMemberEpoch": 1, "memberId": "m", "topics": [{"name": "orders", "partitions": []}]}
    former = {"groupId": "totals", "generationId": 1, "memberId": "m", "topics": [{"name": "orders", "partitions": []}]}
    assert in_names_of({28: 5}, written, 28) == in_names_of({28: 4}, written, 28) == former
    assert in_names_of({28: 6}, written, 28) == in_names_of({}, written, 28) == written
    assert in_names_of({8: 8}, written, 8) == former  # 3.5, as OffsetCommitRequest.json of 3.5.2 has it
    assert in_names_of({8: 9}, written, 8) == written
    assert in_names_of({8: 8, 1: 18}, written, 8) == written  # a later broker without OffsetCommit v9: 3.5 has no Fetch v18
    candidate = {"topics": [{"partitions": [{"partitionIndex": 0, "replicaEpoch": 3, "replicaId": 2, "lastOffset": 9}]}]}
    expected = {"topics": [{"partitions": [{"partitionIndex": 0, "candidateEpoch": 3, "candidateId": 2, "lastOffset": 9}]}]}
    assert in_names_of({52: 1}, candidate, 52) == expected  # 3.9
    assert in_names_of({52: 2}, candidate, 52) == candidate


def test_text_that_is_not_hex() -> None:
    done = CliRunner().invoke(commands, ["decode"], input=b"0012\nzz\n")
    assert done.exit_code == 1
    assert "Line 2 of standard input is not hex: 'zz'" in done.stderr
