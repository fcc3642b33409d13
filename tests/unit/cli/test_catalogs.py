"""`--catalog` and `--dialect`, and `kwire catalog diff` between catalogs of any kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kwire.cli.entry import commands

G6 = "00000028 002f 0001 00000007 ffff 00112233445566778899aabbccddeeff 00 02 67 02 02 74 02 00000000 00 00 00"
PING: dict[str, Any] = {
    "apiKey": 900, "type": "request", "name": "PingRequest", "validVersions": "0-1", "flexibleVersions": "1+", "listeners": ["broker"],
    "fields": [{"name": "Text", "type": "string", "versions": "0+"}],
}  # fmt: skip
PONG: dict[str, Any] = {**PING, "type": "response", "name": "PingResponse"}


def run(*arguments: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(commands, [*arguments], input=given)


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def pings(tmp_path: Path) -> str:
    return written(tmp_path / "pings", PING, PONG)


def written(folder: Path, *definitions: dict[str, Any]) -> str:
    folder.mkdir()
    for each in definitions:
        (folder / f"{each['name']}.json").write_text(json.dumps(each))
    return str(folder)


def test_decode_with_a_dialect() -> None:
    (line,) = rows(run("decode", "--dialect", "kip-1313", given=G6))
    assert line["requestHeader"]["clientInstanceId"] == "ABEiM0RVZneImaq7zN3u_w"
    assert line["request"] == {"groupId": "g", "topics": [{"name": "t", "partitions": [{"partitionIndex": 0}]}]}
    off = run("decode", given=G6)
    assert off.exit_code == 1
    assert json.loads(off.stdout)["error"]["code"] == "UNSUPPORTED_VERSION"


def test_decode_with_a_catalog_of_ones_own(pings: str) -> None:
    (line,) = rows(run("decode", "--catalog", pings, given="0384 0001 00000007 000163 00 0261 00"))
    assert line["requestHeader"]["requestApiKeyName"] == "PING"
    assert line["request"] == {"text": "a"}
    answer = run("decode", "--catalog", pings, "--response", "--api-key", "900", "--api-version", "0", given="00000007 000162")
    assert rows(answer)[0]["response"] == {"text": "b"}
    (line,) = rows(run("decode", "--catalog", pings, "--dialect", "kip-1313", given="0384 0002 00000007 000163" + "00" * 17 + "0261 00"))
    assert (line["requestHeader"]["clientInstanceId"], line["request"]) == ("AAAAAAAAAAAAAAAAAAAAAA", {"text": "a"})


def test_decode_a_capture_with_a_dialect() -> None:
    """Released frames are the same with the dialect on."""
    capture = Path(__file__).parents[2] / "captures" / "data" / "telemetry.pcapng.gz"
    plain, other = (run("decode", str(capture), *options).stdout for options in ((), ("--dialect", "kip-1313")))
    assert plain.count("\n") > 10
    assert plain == other


def test_decode_as_a_release_would() -> None:
    produce = "0000 0000 00000007 000163 0001 00000000 00000000"
    assert run("decode", given=produce).exit_code == 0
    refused = run("decode", "--catalog", "4.1", given=produce)
    assert "version 0 of ProduceRequest is not known, only 3-13" in refused.stderr


def test_show_list_and_tags_of_a_catalog(pings: str) -> None:
    shown = rows(run("catalog", "show", "OffsetDelete", "--catalog", "kip-1313", "--json"))
    assert [message["valid_versions"] for message in shown] == ["0-1", "0-1"]
    assert shown[0]["header_versions"] == [["0", 1], ["1+", 3]]
    assert "BrokerMetadataResponse" in run("catalog", "show", "20035", "--dialect", "kip-35-draft").stdout
    assert [row["name"] for row in rows(run("catalog", "list", "--catalog", pings, "--json"))] == ["Ping"]
    assert "Ping" in run("catalog", "list", "--catalog", pings).stdout
    accepted = {row["name"]: row["request_versions"] for row in rows(run("catalog", "list", "--catalog", "4.0.0", "--json"))}
    assert (accepted["Produce"], "LeaderAndIsr" in accepted) == ("3-12", False)
    assert rows(run("catalog", "tags", "--catalog", pings, "--json")) == []
    both = run("catalog", "list", "--release", "4.0", "--catalog", pings)
    assert both.exit_code == 2
    assert "--release is about the built-in catalog" in both.stderr


def test_diff_of_a_release_and_a_dialect() -> None:
    """The dialect is laid on the release."""
    found = {row.get("name"): row for row in rows(run("catalog", "diff", "4.3.1", "kip-1313", "--json"))}
    assert found["DeleteGroups"]["versions_added"] == [3]
    assert [(each["version"], each["detail"]) for each in found["DeleteGroups"]["fields"]] == [(3, "header 3, 2 before")]
    gone = [(each["path"], each["change"]) for each in found["GetTelemetrySubscriptions"]["fields"] if each["path"]]
    assert gone == [("ClientInstanceId", "removed")] * 2
    assert found["RequestHeader"]["after"] == "1-3"
    assert "SaslHandshake" not in found
    assert not {"LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"} & set(found)
    back = {row.get("name"): row for row in rows(run("catalog", "diff", "kip-1313", "4.3.1", "--json"))}
    assert back["DeleteGroups"]["versions_removed"] == [3]
    assert "kip-1313 on 4.3.1" in run("catalog", "diff", "4.3.1", "kip-1313").stdout


def test_diff_of_two_dialects() -> None:
    text = run("catalog", "diff", "kip-714-draft", "kip-35-draft", "--fields").stdout
    assert "new api" in text
    assert "BrokerMetadata" in text
    assert "differs in v0" in text
    assert "string before" in text


def test_diff_of_folders(pings: str, tmp_path: Path) -> None:
    text = {"name": "Text", "type": "string", "versions": "0+", "nullableVersions": "1+"}
    late = {"name": "Late", "type": "int64", "versions": "2+"}
    record = {"type": "data", "name": "PingRecord", "validVersions": "0", "flexibleVersions": "0+", "fields": []}
    newer = written(tmp_path / "newer", {**PING, "validVersions": "1-2", "fields": [text, late]}, {**PONG, "validVersions": "1-2"}, record)
    ping, other = rows(run("catalog", "diff", pings, newer, "--json"))
    assert (ping["name"], ping["before"], ping["after"]) == ("Ping", "0-1", "1-2")
    assert (ping["versions_added"], ping["versions_removed"]) == ([2], [0])
    assert [(each["path"], each["change"], each["version"], each["detail"]) for each in ping["fields"]] == [
        ("Text", "changed", 1, "nullable now"),
        ("Late", "added", 2, None),
    ]
    assert other == {"name": "PingRecord", "change": "added", "before": None, "after": "0", "fields": []}
    told = run("catalog", "diff", pings, newer).stdout
    assert "adds v2; rejects v0; differs in v1" in told
    assert "new message" in told
    assert run("catalog", "diff", pings, pings).stdout == "No wire changes from pings to pings.\n"


def test_a_release_and_its_definitions_are_one(tmp_path: Path) -> None:
    """`kwire catalog diff 4.4 kafka-clients-4.4.0.jar` says nothing: a part of the jar's definitions, under their names of that time."""
    fields = [
        {"name": "TransactionalId", "type": "string", "versions": "0+"}, {"name": "ProducerId", "type": "int64", "versions": "0+"},
        {"name": "ProducerEpoch", "type": "int16", "versions": "0+"}, {"name": "OldNameOfIt", "type": "string", "versions": "0+"},
    ]  # fmt: skip
    request = {
        "type": "request", "apiKey": 25, "name": "AddOffsetsToTxnRequest", "validVersions": "0-4", "flexibleVersions": "3+",
        "fields": fields,
    }  # fmt: skip
    response = {
        "type": "response", "apiKey": 25, "name": "AddOffsetsToTxnResponse", "validVersions": "0-4", "flexibleVersions": "3+",
        "fields": [{"name": "ThrottleTimeMs", "type": "int32", "versions": "0+"}, {"name": "ErrorCode", "type": "int16", "versions": "0+"}],
    }  # fmt: skip
    found = rows(run("catalog", "diff", "4.1", written(tmp_path / "4.1", request, response), "--json"))
    assert [row["change"] for row in found if row["name"] == "AddOffsetsToTxn"] == []
    assert {row["change"] for row in found} == {"removed"}


def test_what_is_no_catalog(tmp_path: Path) -> None:
    for arguments in (("catalog", "diff", "3.9", "nope"), ("catalog", "show", "3", "--catalog", "nope"), ("decode", "--catalog", "nope")):
        result = run(*arguments)
        assert result.exit_code == 1
        assert result.stderr == (
            "kwire: unknown catalog 'nope': expected a Kafka release (3.9, 4.0.2), a dialect (kip-1313, kip-35-draft, kip-714-draft), "
            "a folder or a jar.\n"
        )
    (tmp_path / "x.jar").write_text("no jar")
    assert "is neither a folder of message definitions nor a jar." in run("catalog", "list", "--catalog", str(tmp_path / "x.jar")).stderr
    assert "kwire has no dialect 'kip-9'" in run("decode", "--dialect", "kip-9", given="00").stderr
    uneven = written(tmp_path / "uneven", PING, {**PONG, "validVersions": "0"})
    result = run("catalog", "list", "--catalog", uneven)
    assert result.exit_code == 0
    assert "PingRequest has versions 0-1, but PingResponse has 0." in result.stderr
