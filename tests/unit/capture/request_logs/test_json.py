"""The JSON form of request logs, bare and inside layouts; the fields are those of a line that a broker of 4.3 wrote."""

from __future__ import annotations

import json
from datetime import timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kwire.capture.request_logs.entry import LogEntry, UnreadableLine
from kwire.capture.request_logs.lines import is_log_head, read_line, starts_entry

LINE: dict[str, Any] = {
    "isForwarded": False,
    "requestHeader": {
        "requestApiKey": 0,
        "requestApiVersion": 2,
        "correlationId": 5,
        "clientId": "legacy-billing-082",
        "requestApiKeyName": "PRODUCE",
        "requestApiVersionDeprecated": True,
    },
    "request": {"acks": 1, "timeoutMs": 30000, "topicData": []},
    "response": {"responses": [], "throttleTimeMs": 0},
    "connection": "127.0.0.1:19092-127.0.0.1:45600-1",
    "totalTimeMs": 31.34,
    "requestQueueTimeMs": 1.317,
    "localTimeMs": 28.772,
    "remoteTimeMs": 0.0,
    "throttleTimeMs": 0,
    "responseQueueTimeMs": 0.958,
    "sendTimeMs": 0.291,
    "securityProtocol": "SASL_SSL",
    "principal": "User:payments",
    "listener": "CLIENTS",
    "clientInformation": {"softwareName": "sarama", "softwareVersion": "v1.50.3"},
    "temporaryMemoryBytes": 1456,
    "messageConversionsTime": 0.174,
}
MARKED = f"Completed request:{json.dumps(LINE)}"


def changed(**values: Any) -> str:
    return json.dumps(LINE | values)


def entry_of(line: str, **options: Any) -> LogEntry:
    found = read_line(line, 1, **options)
    assert found is not None
    return found


@pytest.mark.requirement("K511-38")
def test_every_field() -> None:
    entry = entry_of(json.dumps(LINE))
    assert (entry.api_key, entry.api_version, entry.correlation_id, entry.client_id) == (0, 2, 5, "legacy-billing-082")
    assert entry.connection == ("127.0.0.1", 19092, "127.0.0.1", 45600, "-1")
    assert (entry.request, entry.response, entry.form) == (LINE["request"], LINE["response"], "json")
    assert (entry.total_us, entry.queue_us, entry.local_us, entry.remote_us) == (31_340, 1_317, 28_772, 0)
    assert (entry.principal, entry.software) == ("User:payments", ("sarama", "v1.50.3"))
    assert (entry.is_forwarded, entry.deprecated) == (False, True)
    assert (entry.logged_us, entry.arrived_us, entry.level) == (None, None, None)


def test_fields_of_a_later_kafka_change_nothing() -> None:
    assert entry_of(changed(somethingNew=[1])) == entry_of(json.dumps(LINE))


@pytest.mark.requirement("K511-39")
def test_an_absent_flag_is_false() -> None:
    header = {name: value for name, value in LINE["requestHeader"].items() if name != "requestApiVersionDeprecated"}
    assert entry_of(changed(requestHeader=header)).deprecated is False
    assert entry_of(json.dumps({name: value for name, value in LINE.items() if name != "isForwarded"})).is_forwarded is False


def test_the_answer_to_acks_0_is_no_object() -> None:
    assert entry_of(changed(response="")).response is None


def test_nobody_is_no_principal() -> None:
    assert entry_of(changed(principal="User:ANONYMOUS")).principal is None


@pytest.mark.parametrize(
    ("line", "logged_us", "level"),
    [
        (f"[2026-11-21 10:24:46,660] DEBUG {MARKED} (kafka.request.logger)", 1_795_256_686_660_000, "DEBUG"),
        (f"[2026-11-21 10:24:46,660] INFO {MARKED} (kafka.request.logger)", 1_795_256_686_660_000, "INFO"),
        (f"2026-11-21T12:24:46.660123+02:00 DEBUG kafka.request.logger - {MARKED}", 1_795_256_686_660_123, "DEBUG"),
        (f"2026-11-21T10:24:46.660123456Z stdout F [2026-11-21 12:24:46,659] DEBUG {MARKED}", 1_795_256_686_660_123, "DEBUG"),
        (f"10:24:46 {MARKED}", None, None),
        (f"[2026-02-30 10:24:46,660] {MARKED}", None, None),
        (json.dumps({"@timestamp": "2026-11-21T10:24:46.660Z", "log.level": "DEBUG", "message": MARKED}), 1_795_256_686_660_000, "DEBUG"),
        (json.dumps({"timeMillis": 1_795_256_686_660, "level": "DEBUG", "msg": MARKED}), 1_795_256_686_660_000, "DEBUG"),
        (
            json.dumps({"instant": {"epochSecond": 1_795_256_686, "nanoOfSecond": 660_000_000}, "message": MARKED}),
            1_795_256_686_660_000,
            None,
        ),
        (json.dumps({"log": f"[2026-11-21 10:24:46,660] DEBUG {MARKED} (kafka.request.logger)\n"}), 1_795_256_686_660_000, "DEBUG"),
    ],
)
def test_layouts(line: str, logged_us: int | None, level: str | None) -> None:
    entry = entry_of(line)
    assert (entry.logged_us, entry.level) == (logged_us, level)
    assert (entry.api_key, entry.correlation_id, entry.software) == (0, 5, ("sarama", "v1.50.3"))


def test_local_times_are_read_in_the_zone_that_is_named() -> None:
    """11:24 in Berlin's winter is 10:24 UTC; a stamp with its own zone stays."""
    line = f"[2026-11-21 11:24:46,660] DEBUG {MARKED}"
    assert entry_of(line, zone=ZoneInfo("Europe/Berlin")).logged_us == 1_795_256_686_660_000
    assert entry_of(f"2026-11-21T10:24:46.660Z {line}", zone=ZoneInfo("Europe/Berlin")).logged_us == 1_795_256_686_660_000


def test_a_line_of_kwire_decode_has_when_the_request_came() -> None:
    entry = entry_of(changed(time="2026-11-21T10:24:46.660000Z", state="answered"))
    assert entry.arrived_us == 1_795_256_686_660_000
    assert entry.state == "answered"


def test_half_a_surrogate_pair_is_no_text() -> None:
    """JSON may hold it, UTF-8 may not."""
    line = json.dumps(LINE).replace("legacy-billing-082", "a\\ud800b")
    assert entry_of(line).client_id == "a?b"
    assert entry_of(line.replace("\\ud800", "\\ud83d\\ude00")).client_id == "a😀b"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (json.dumps(LINE)[:300], "its JSON cannot be read"),
        (MARKED[:300], "its JSON cannot be read"),
        ('Completed request:{"a":1}', "has no requestHeader"),
        (changed(connection=None), "names no connection"),
        (changed(connection="x"), "is no connection"),
        (changed(requestHeader={"requestApiKey": "x", "requestApiVersion": 1}), "api key is not a number"),
        (changed(requestHeader={"requestApiKey": 1, "requestApiVersion": 1.5}), "api version is not a number"),
        (changed(requestHeader={"requestApiKey": 1, "requestApiVersion": True}), "api version is not a number"),
        (changed(requestHeader={"requestApiKey": 40_000, "requestApiVersion": 1}), "api key is not a number"),
        (changed(requestHeader={"requestApiKey": 1, "requestApiVersion": 1, "correlationId": 1 << 40}), "correlation id is not a number"),
        ('{"requestHeader":' + "[" * 200_000, "nests too deep"),
        (changed(requestHeader={"requestApiKey": 77777}).replace("77777", "9" * 10_000), "api key is not a number"),
    ],
)
def test_broken_lines_say_why(line: str, reason: str) -> None:
    with pytest.raises(UnreadableLine, match=reason):
        read_line(line, 1, timezone.utc)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 1e300, "soon", True, None, [], {}])
def test_durations_that_are_none(value: Any) -> None:
    assert entry_of(changed(totalTimeMs=value)).total_us is None


@pytest.mark.parametrize(
    "values", [{"clientInformation": "x"}, {"clientInformation": {"softwareName": 1, "softwareVersion": 2}}, {"principal": 7}]
)
def test_parts_of_the_wrong_type_are_not_known(values: dict[str, Any]) -> None:
    entry = entry_of(changed(**values))
    assert entry.software is None or entry.principal is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[2026-11-21 10:24:46,660] INFO Log directory is fine (kafka.log.LogManager)",
        "java.io.IOException: Connection reset by peer",
        "\tat kafka.network.Processor.poll(SocketServer.scala:1104)",
        '{"level":"INFO","message":"started"}',
        "{}",
        "[]",
        "{a=1}",
        '"requestHeader"',
    ],
)
def test_lines_of_others(line: str) -> None:
    assert read_line(line, 1, timezone.utc) is None


def test_what_a_file_is_told_by() -> None:
    log = f"some lines\nof others\n{MARKED}\n".encode()
    assert is_log_head(log)
    assert is_log_head(json.dumps(LINE).encode())
    assert not is_log_head(b"time,client\n1,2\n")
    assert is_log_head(bytes(5000) + log)  # as logrotate's copytruncate leaves it
    assert not is_log_head(bytes(range(256)) * 16 + log)  # something binary that happens to hold the words
    assert starts_entry(json.dumps(LINE)[:40])
    assert not starts_entry('{"level":"INFO"}')
