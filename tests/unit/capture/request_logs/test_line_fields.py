"""What the fast path reads of a line around its bodies, where these end, and which of them it knows again; values worked out by hand."""

from __future__ import annotations

import json
from datetime import timezone

import pytest

from kwire.capture.request_logs.entry import LogEntry
from kwire.capture.request_logs.typed_lines import line_reader
from kwire.tables.request_logs.exchange_kinds import wanted_bodies
from log_line_paths import WHOLE, both, with_bodies

REQUEST = '{"replicaId":-1,"maxWaitMs":500,"rackId":"","topics":[]}'
RESPONSE = '{"throttleTimeMs":7,"errorCode":0,"responses":[]}'


def entry_of(line: str) -> LogEntry | None:
    return line_reader(timezone.utc, wanted_bodies)(line.encode(), 1)


def changed(before: str, after: str) -> LogEntry | None:
    assert WHOLE.count(before) == 1
    return entry_of(WHOLE.replace(before, after))


@pytest.mark.parametrize("body", ["{", '{"x":[}', '{"x":"}', '{"x":"\\"}', '{"x"}', "{]", '{"rackId":""'])
def test_a_body_that_is_no_json_takes_the_fallback(body: str) -> None:
    assert entry_of(with_bodies(1, 12, body, RESPONSE)) is None
    assert entry_of(with_bodies(1, 12, REQUEST, body)) is None
    assert entry_of(with_bodies(18, 4, '{"clientSoftwareName":"n","clientSoftwareVersion":"1"}', body)) is None


@pytest.mark.parametrize("body", ["5", "true", "[]", '"text"', "null"])
def test_what_is_not_an_object_is_no_body(body: str) -> None:
    entry = entry_of(with_bodies(1, 12, body, body))
    assert entry is not None
    assert (entry.request, entry.response) == (None, None)


def test_bodies_may_be_null_or_missing() -> None:
    entries = [entry_of(with_bodies(1, 12, "null", "null")), entry_of(WHOLE[: WHOLE.index('"request":')] + WHOLE[WHOLE.index('"conn') :])]
    assert [(entry.request, entry.response) for entry in entries if entry] == [(None, None)] * 2


@pytest.mark.parametrize("version", [3, 4])
def test_an_api_versions_request_that_the_broker_could_not_read_is_empty(version: int) -> None:
    entry = entry_of(with_bodies(18, version, "{}", '{"errorCode":35,"apiKeys":[]}'))
    assert entry is not None
    assert (entry.request, entry.response) == ({}, b'{"errorCode":35,"apiKeys":[]}')


def test_an_api_versions_request_without_fields_is_a_message() -> None:
    entry = entry_of(with_bodies(18, 2, "{}", '{"errorCode":0,"apiKeys":[]}'))
    assert entry is not None
    assert entry.request != {}


def test_records_of_share_groups_are_logged_as_an_empty_text() -> None:
    """As 4.1 writes them: for other fetches there is a size in their place."""
    partition = (
        '{"partitionIndex":3,"errorCode":0,"errorMessage":null,"acknowledgeErrorCode":0,"acknowledgeErrorMessage":null,'
        '"currentLeader":{"leaderId":0,"leaderEpoch":0},"records":"","acquiredRecords":[]}'
    )
    response = (
        '{"throttleTimeMs":0,"errorCode":0,"errorMessage":null,"acquisitionLockTimeoutMs":1,"responses":'
        f'[{{"topicId":"F45jo_wlTvGx11r3ZKoMng","partitions":[{partition}]}}],"nodeEndpoints":[]}}'
    )
    request = (
        '{"groupId":"g","memberId":"m","shareSessionEpoch":0,"maxWaitMs":5,"minBytes":1,"maxBytes":9,"maxRecords":1,"batchSize":1,'
        '"topics":[],"forgottenTopicsData":[]}'
    )
    entry = entry_of(with_bodies(78, 1, request, response))
    assert entry is not None
    assert [(each.partition_index, each.records) for each in entry.response.responses[0].partitions] == [(3, b"")]


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("0", 0), ("3", 3000), ("0.5", 500), ("1.5e-3", 2), ("1e3", 1_000_000), ("1E+3", 1_000_000), ("12.345678901234", 12_346),
        ("123456789.123456", 123_456_789_123), ("0.00000000000000000001", 0), ("12.3456789012345678901", 12_346), ("-0", 0),
        ("100000000000", 100_000_000_000_000), ("316224000000", 316_224_000_000_000), ("316224000000.1", None), ("-1", None),
        ("-0.001", None), ("99999999999999999999", None), ("1e400", "refused"), ("null", None), (".5", "refused"),
        ("01", "refused"), ("1.", "refused"), ("+1", "refused"), ("1e", "refused"), ("1e+", "refused"), ("-", "refused"),
        ("NaN", "refused"), ("true", "refused"), ('"3"', "refused"), ("1 2", "refused"), ("nullx", "refused"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("name", "attribute"), [("totalTimeMs", "total_us"), ("requestQueueTimeMs", "queue_us"),
                                                 ("localTimeMs", "local_us"), ("remoteTimeMs", "remote_us")])  # fmt: skip
def test_durations_are_numbers_of_milliseconds(name: str, attribute: str, text: str, microseconds: int | str | None) -> None:
    before = next(part for part in WHOLE.split(",") if part.startswith(f'"{name}"'))
    entry = changed(before, f'"{name}":{text}')
    assert ("refused" if entry is None else getattr(entry, attribute)) == microseconds


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("null", None), ("-2147483648", -2147483648), ("2147483647", 2147483647), ("2147483648", "refused"), ("-0", 0),
     ("-2147483649", "refused"), ("1.0", "refused"), ("1e1", "refused"), ("9" * 30, "refused"), ("true", "refused")],
)  # fmt: skip
def test_a_correlation_id_has_32_bits(text: str, number: int | str | None) -> None:
    entry = changed('"correlationId":7', f'"correlationId":{text}')
    assert ("refused" if entry is None else entry.correlation_id) == number


@pytest.mark.parametrize(
    ("text", "client_id"),
    [('"b"', "b"), ("null", None), ('"a\\u0041"', "aA"), ('"\\""', '"'), ('"é"', "é"), ('""', ""), ("1", "refused"), ('"\t"', "refused"),
     ('"\\x"', "refused"), ('"\\ud800"', "refused")],
)  # fmt: skip
def test_a_client_id_is_a_text_or_null(text: str, client_id: str | None) -> None:
    entry = changed('"clientId":"a"', f'"clientId":{text}')
    assert ("refused" if entry is None else entry.client_id) == client_id


def test_a_client_id_that_is_no_utf8_takes_the_fallback() -> None:
    assert both(WHOLE.encode().replace(b'"clientId":"a"', b'"clientId":"\xff"'))[0] is None


@pytest.mark.parametrize(("text", "principal"), [('"User:b"', "User:b"), ("null", None), ('""', None), ('"User:ANONYMOUS"', None)])
def test_of_the_principal_anonymous_is_none(text: str, principal: str | None) -> None:
    entry = changed('"principal":"User:alice"', f'"principal":{text}')
    assert entry is not None
    assert entry.principal == principal


SOFTWARE = '{"softwareName":"sarama","softwareVersion":"v1.50.3"}'


@pytest.mark.parametrize(
    ("text", "software"),
    [(SOFTWARE, ("sarama", "v1.50.3")), ("null", None), (SOFTWARE.replace("{", '{"x":1,'), ("sarama", "v1.50.3")), ("{}", "refused"),
     ("5", "refused"), (SOFTWARE.replace('"sarama"', "null"), "refused"), (SOFTWARE.replace("}", ",}"), "refused")],
)  # fmt: skip
def test_software_is_a_name_and_a_version(text: str, software: tuple[str, str] | str | None) -> None:
    entry = changed(f'"clientInformation":{SOFTWARE}', f'"clientInformation":{text}')
    assert ("refused" if entry is None else entry.software) == software


@pytest.mark.parametrize("flag", [True, False])
def test_flags(flag: bool) -> None:
    word = json.dumps(flag)
    line = WHOLE.replace('"isForwarded":false', f'"isForwarded":{word}').replace(
        '"clientId"', f'"requestApiVersionDeprecated":{word},"clientId"'
    )
    entry = entry_of(line)
    assert entry is not None
    assert (entry.is_forwarded, entry.deprecated) == (flag, flag)
    assert entry_of(line.replace(f'Deprecated":{word}', 'Deprecated":null')) is None
    assert entry_of(line.replace(f'Deprecated":{word}', f'Deprecated":{word}e')) is None


@pytest.mark.parametrize("blank", [" ", "\t", "\r", "\n", " \n "])
def test_blanks_may_stand_between_the_parts(blank: str) -> None:
    at = WHOLE.index(',"clientId"')
    behind = WHOLE[at:]
    for sign in ",:{}":
        behind = behind.replace(sign, f"{blank}{sign}{blank}")
    behind = behind.replace(f"9092-10{blank}", "9092-10").replace("é", "")
    line = WHOLE[:at] + behind
    for address in ("10.0.0.1:9092", "10.0.0.2:50000", "User:alice"):
        line = line.replace(address.replace(":", f"{blank}:{blank}"), address)
    entry = entry_of(line)
    assert entry is not None
    assert entry._replace(request=None, response=None) == entry_of(WHOLE)._replace(request=None, response=None)  # type: ignore[union-attr]
    assert entry.response.error_code == 0
    assert entry_of(line.replace(f'"connection"{blank}:', '"connection"\0:')) is None


@pytest.mark.parametrize("name", ["connection", "requestHeader"])
def test_a_line_without_its_connection_or_its_header_takes_the_fallback(name: str) -> None:
    assert entry_of(WHOLE.replace(f'"{name}"', '"x"')) is None


def test_of_members_that_come_twice_the_last_counts() -> None:
    entry = changed('"connection":', f'"request":{REQUEST.replace("500", "9")},"response":{RESPONSE},"principal":"x","connection":')
    assert entry is not None
    assert (entry.request.max_wait_ms, entry.response.throttle_time_ms, entry.principal) == (9, 7, "User:alice")
    header = '"requestHeader":{"requestApiKey":%s,"requestApiVersion":%s},"connection":'
    again = changed('"connection":', header % (1, 12))
    assert again is not None
    assert (again.correlation_id, again.client_id) == (None, None)
    assert changed('"connection":', header % ("null", 12)) is None
    assert changed('"connection":', '"requestHeader":{"clientId":"b"},"connection":') is None


@pytest.mark.parametrize("member", ['"time":"2026-01-01T00:00:00Z"', '"state":"unanswered"'])
def test_what_kwire_decode_says_takes_the_fallback(member: str) -> None:
    assert changed('"connection":', f'{member},"connection":') is None


def test_names_may_have_escapes() -> None:
    entry = changed('"clientId"', '"client\\u0049d"')
    assert entry is not None
    assert entry.client_id == "a"


@pytest.mark.parametrize("bad", ["1e", "1e+", "{]", '{"x":01}', '"\\x"', "[1,]"])
def test_a_value_that_does_not_count_has_to_be_json(bad: str) -> None:
    assert entry_of(with_bodies(1, 12, f'{bad},"request":{REQUEST}', RESPONSE)) is None
    assert changed('"listener":"EXT"', f'"listener":{bad}') is None
    assert changed('"requestApiKeyName":"FETCH"', f'"requestApiKeyName":{bad}') is None
