"""Targets that are no Kafka release: read from files in each form, and the verdicts on what they advertise."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from kwire.analysis.judged_cases import Cases, Program
from kwire.analysis.known_clients import software_of
from kwire.analysis.named_targets import named_targets
from kwire.analysis.release_ranges import target_range
from kwire.analysis.remedies import Software, remedy_of
from kwire.analysis.targets import answer_json, read_target
from kwire.analysis.verdicts import Use, judge
from kwire.errors import InputError
from kwire.schema import Release, Target, catalog, releases

SAMPLE = Path(__file__).parents[3] / "examples" / "three-brokers.pcap.gz"
RANGES = {0: (3, 8), 1: (4, 11), 3: (0, 7), 18: (0, 2)}
# A response of ApiVersions v0 by hand: correlation id 7, no error, 4 times key, lowest, highest.
HEX = "00000007 0000 00000004 0000 0003 0008 0001 0004 000b 0003 0000 0007 0012 0000 0002"
# As org.apache.kafka.clients.NodeApiVersions prints it, of two brokers.
TOOL = """\
a:9092 (id: 1 rack: null isFenced: false) -> (
	Produce(0): 0 to 8 [usable: 8],
	Fetch(1): 4 to 11 [usable: 11],
	Metadata(3): 0 to 7 [usable: 7],
	ApiVersions(18): 0 to 2 [usable: 2],
	CreateTopics(19): 0 [usable: 0],
	ConsumerGroupHeartbeat(68): UNSUPPORTED
)
b:9092 (id: 2 rack: null isFenced: false) -> (
	Produce(0): 3 to 9 [usable: 9],
	Fetch(1): 0 to 13 [usable: 13],
	Metadata(3): 0 to 7 [usable: 7],
	ApiVersions(18): 0 to 2 [usable: 2],
	UNKNOWN(999): 0 to 1
)
"""
LISTED = {"apiKeys": [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in RANGES.items()]}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TOOL, id="kafka-broker-api-versions.sh"),
        pytest.param(HEX, id="hex"),
        pytest.param("00000022" + HEX.replace(" ", ""), id="hex-of-frame"),
        pytest.param(json.dumps({"errorCode": 0, **LISTED, "throttleTimeMs": 0}), id="response"),
        pytest.param(json.dumps({"requestHeader": {"requestApiKey": 18}, "response": LISTED}), id="entry-of-log"),
    ],
)
def test_answers_in_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other-24.3.txt"
    path.write_text(text)
    found = read_target(str(path))
    assert isinstance(found, Target)
    assert (found.name, found.ranges, found.source) == ("other-24.3", RANGES, str(path))
    path.write_text(json.dumps(answer_json(found)))
    assert read_target(str(path)) == found
    assert pickle.loads(pickle.dumps(found)) == found  # tasks of Spark take it along


def test_the_answer_of_a_release_is_the_release(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    advertised = releases()["4.1.2"].advertised()
    entries = [{"apiKey": key, "minVersion": each.lowest, "maxVersion": each.highest} for key, each in advertised.items()]
    path.write_text(json.dumps({"apiKeys": entries}))
    found = read_target(str(path))
    assert isinstance(found, Release)
    assert found == releases()["4.1.2"]
    produce = target_range(found, 0)
    assert (advertised[0].lowest, produce.accepts) == (0, (3, 13))  # KAFKA-18659


def test_a_fork_of_a_release_with_apis_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    advertised = [(key, each.lowest, each.highest) for key, each in releases()["4.1.2"].advertised().items()]
    # AutoMQ's AutomqZoneRouterRequest.json
    entries = [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, low, high in (*advertised, (515, 0, 1))]
    path.write_text(json.dumps({"apiKeys": entries}))
    assert read_target(str(path)) == releases()["4.1.2"]


def test_the_answer_of_a_target_of_kwire_is_that_target(tmp_path: Path) -> None:
    known = named_targets()["tansu-0.6.0"]
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"apiKeys": answer_json(known)["apiKeys"]}))
    assert read_target(str(path)) == known
    path.write_text(json.dumps(answer_json(known) | {"name": "ours"}))
    ours = read_target(str(path))
    assert isinstance(ours, Target)
    assert (ours.name, ours.accepted) == ("ours", known.accepted)


def test_the_brokers_of_a_capture() -> None:
    assert read_target(str(SAMPLE)).minor == "3.9"


@pytest.mark.parametrize("text", ["hello", "{}", "00 01", "[" * 100_000, '{"apiKeys": []}'])
def test_a_file_without_an_answer(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=r"notes\.txt has no answer to ApiVersions; expected"):
        read_target(str(path))


@pytest.mark.parametrize(
    "entry", [7, {"apiKey": 0}, {"apiKey": 0, "minVersion": 3, "maxVersion": 2}, {"apiKey": True, "minVersion": 0, "maxVersion": 2}]
)
def test_an_entry_without_its_numbers(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"apiKeys": [entry]}))
    with pytest.raises(InputError, match="an entry of apiKeys lacks apiKey, minVersion and maxVersion"):
        read_target(str(path))


@pytest.mark.parametrize(
    ("use", "key", "verdict", "reason", "fix"),
    [
        (
            Use(api_name="Produce", api_version=2, broker_highest=9), 0, "breaks",
            "shop requires Produce v3 or later; this client sends v2 although the broker offers v9, so v2 is the client's own maximum.",
            "Identify the library and upgrade it to a version that sends Produce v3 or later; until then, a proxy can translate.",
        ),
        (Use(api_name="Produce", api_version=3), 0, "compatible", "shop advertises Produce v3 to v8; this client sends v3.", None),
        (
            Use(api_name="Fetch", api_version=13), 1, "compatible",
            "shop advertises Fetch up to v11; this client sends v13 and negotiates, so it will use a lower version.", None,
        ),
        (
            Use(api_name="InitProducerId", api_version=1), 22, "breaks", "shop does not have InitProducerId, new in Kafka 0.11.0.",
            "shop lacks the idempotent producer: set enable.idempotence=false, and use no transactions.",
        ),
        (
            Use(api_name="ShareFetch", api_version=1), 78, "breaks", "shop does not have ShareFetch, new in Kafka 4.1.",
            "shop lacks share groups: consume with KafkaConsumer instead of KafkaShareConsumer.",
        ),
        (
            Use(api_name="DescribeLogDirs", api_version=1), 35, "breaks", "shop does not have DescribeLogDirs, new in Kafka 1.0.",
            "Turn off the feature that uses DescribeLogDirs: shop does not have it.",
        ),
        (
            Use(api_name="DescribeCluster", api_version=1), 60, "compatible",
            "shop does not have DescribeCluster, new in Kafka 2.8; clients do without it.", None,
        ),
        (
            Use(api_name="PushTelemetry", api_version=0), 72, "compatible",
            "shop does not have PushTelemetry, new in Kafka 3.7; clients do without it.", None,
        ),
    ],
)  # fmt: skip
def test_verdicts_on_what_is_advertised(use: Use, key: int, verdict: str, reason: str, fix: str | None) -> None:
    target = target_range(Target("shop", RANGES, "by hand", "2026-11-29"), key)
    judgement = judge(use, target)
    assert (judgement.verdict, judgement.reason) == (verdict, reason)
    assert remedy_of(use, judgement, target, Software(None, None, ())).text == fix


# tansu 0.6.0 advertises JoinGroup v0 to v9 and ApiVersions v0 to v4. It answers each first JoinGroup with MEMBER_ID_REQUIRED, which
# clients know from v4 on (KIP-394), and closes connections with an ApiVersions v5 that has a cluster id, as kafka-clients 4.4 sends it.
@pytest.mark.parametrize(
    ("use", "key", "verdict", "reason", "fix"),
    [
        (
            Use(api_name="JoinGroup", api_version=3, broker_highest=9), 11, "breaks",
            "tansu-0.6.0 requires JoinGroup v4 or later; this client sends v3 although the broker offers v9, "
            "so v3 is the client's own maximum.",
            "Identify the library and upgrade it to a version that sends JoinGroup v4 or later; until then, a proxy can translate.",
        ),
        (
            Use(api_name="JoinGroup", api_version=5), 11, "compatible",
            "tansu-0.6.0 supports JoinGroup v4 to v9; this client sends v5.", None,
        ),
        (
            Use(api_name="ApiVersions", api_version=5), 18, "breaks",
            "tansu-0.6.0 closes connections that ask for ApiVersions v5, where Kafka answers with error 35 (KIP-511).",
            "Use a version of its library that asks for ApiVersions v4 or earlier there.",
        ),
        (
            Use(api_name="ApiVersions", api_version=4), 18, "compatible",
            "tansu-0.6.0 answers an unsupported ApiVersions version with error 35, and the client falls back (KIP-511).", None,
        ),
    ],
)  # fmt: skip
def test_verdicts_on_what_runs_refuted(use: Use, key: int, verdict: str, reason: str, fix: str | None) -> None:
    target = target_range(named_targets()["tansu-0.6.0"], key)
    judgement = judge(use, target)
    assert (judgement.verdict, judgement.reason) == (verdict, reason)
    assert remedy_of(use, judgement, target, Software(None, None, ())).text == fix


def test_no_fix_for_kafka_where_a_target_requires_more() -> None:
    """kafka-clients 0.11.0.2 works with Kafka 4, but sends JoinGroup v2."""
    software = software_of("apache-kafka-java", "0.10.2.2", None)
    group, produce = (target_range(named_targets()["tansu-0.6.0"], key) for key in (11, 0))
    use = Use(api_name="JoinGroup", api_version=1, broker_highest=9)
    fix = "Upgrade apache-kafka-java to a version that sends JoinGroup v4 or later; until then, a proxy can translate."
    assert remedy_of(use, judge(use, group), group, software).text == fix
    use = Use(api_name="Produce", api_version=2, broker_highest=9)
    assert remedy_of(use, judge(use, produce), produce, software).version == "0.11.0.2"


@pytest.mark.parametrize(
    ("version", "api_version", "verdict"), [("1.9.2", 3, "breaks"), ("2.2.0", 3, "compatible"), ("1.3.0", 0, "compatible")]
)
def test_an_answer_that_a_library_cannot_read(version: str, api_version: int, verdict: str) -> None:
    """tansu answers ApiVersions v3 with tagged fields, which librdkafka skips wrongly before 2.2.0 (its issue 4278)."""
    cases = Cases([named_targets()["tansu-0.6.0"]])
    program = cases.program(Program(("librdkafka", version), "client", True, "some", False, None))
    cases.case(program, 18, "ApiVersions", api_version, None, ((), ()), False)
    (row,) = cases.table().to_pylist()
    assert row["verdict"] == verdict
    if verdict == "breaks":
        assert row["reason"] == "librdkafka before 2.2.0 cannot read the answer of tansu-0.6.0 to ApiVersions v3."
        assert (row["remedy"], row["cure_version"], row["cure_kind"]) == ("Upgrade librdkafka to 2.2.0 or later.", "2.2.0", "library")


@pytest.mark.parametrize(
    ("library", "version", "api", "api_version", "verdict", "reason", "fix"),
    [
        (  # runs: kafka-clients 2.4.1 fails, 2.3.1 with v8 works
            "apache-kafka-java", "2.4.1", "Metadata", 9, "breaks",
            "apache-kafka-java cannot read the answer of librdkafka-mock-2.16.0 to Metadata v9.",
            "Use a client there that asks for Metadata v8 or earlier.",
        ),
        ("apache-kafka-java", "2.3.1", "Metadata", 8, "compatible", None, None),
        ("librdkafka", "2.16.0", "Metadata", 13, "compatible", None, None),
        (
            "rskafka", None, "Metadata", 12, "unknown",
            "Most libraries cannot read the answer of librdkafka-mock-2.16.0 to Metadata v12, and no run has tried this one.",
            "Use a client there that asks for Metadata v8 or earlier.",
        ),
        (  # metadata is null there, and STRING in the schema of 0.9.0.1, NULLABLE_STRING in that of 0.10.0.1
            "apache-kafka-java", "0.9.0.1", "OffsetFetch", 1, "breaks",
            "apache-kafka-java before 0.10.0 cannot read the answer of librdkafka-mock-2.16.0 to OffsetFetch v1.",
            "Upgrade apache-kafka-java to 0.10.0 or later.",
        ),
        ("apache-kafka-java", "0.10.0.1", "OffsetFetch", 1, "compatible", None, None),
        ("sarama", "1.23.1", "OffsetFetch", 1, "compatible", None, None),
    ],
)  # fmt: skip
def test_answers_of_the_mock(
    library: str, version: str | None, api: str, api_version: int, verdict: str, reason: str | None, fix: str | None
) -> None:
    """Its Metadata answers have bytes behind their end from v9 on; runs of each library that the target names."""
    cases = Cases([named_targets()["librdkafka-mock-2.16.0"]])
    for role, wanted in (("client", verdict), ("broker", "compatible")):
        program = cases.program(Program((library, version), role, True, "some", False, None))
        case = cases.case(program, {"Metadata": 3, "OffsetFetch": 9}[api], api, api_version, None, ((), ()), False)
        row = cases.table().to_pylist()[case]
        assert row["verdict"] == wanted
        if role == "client" and reason:
            assert (row["reason"], row["remedy"]) == (reason, fix)


@pytest.mark.parametrize(
    ("version", "api_version", "verdict", "said", "cure"),
    [
        ("v1.61.1", 1, "compatible", "sarama 1.34.0 and later can use JoinGroup v1 of tansu-0.6.0.", None),
        ("v1.33.0", 1, "breaks", "sarama 1.34.0 and later can use JoinGroup v1 of tansu-0.6.0; this client is older.", "1.34.0"),
        ("dev", 1, "unknown", "can use JoinGroup v1 of tansu-0.6.0, but the version of this client is not known.", "1.34.0"),
        ("dev", 5, "compatible", "tansu-0.6.0 supports JoinGroup v4 to v9; this client sends v5.", None),
    ],
)
def test_a_library_that_can_use_earlier_versions(version: str, api_version: int, verdict: str, said: str, cure: str | None) -> None:
    """tansu answers JoinGroup below v4 with MEMBER_ID_REQUIRED too, which sarama reads from 1.34.0 on (consumer_group.go:308)."""
    cases = Cases([named_targets()["tansu-0.6.0"]])
    program = cases.program(Program(("sarama", version), "client", True, "some", False, None))
    cases.case(program, 11, "JoinGroup", api_version, 9, ((), ()), False)
    (row,) = cases.table().to_pylist()
    assert (row["verdict"], row["cure_version"]) == (verdict, cure)
    assert said in row["reason"]


@pytest.mark.parametrize(
    ("library", "api", "fix"),
    [
        ("franz-go", "InitProducerId", "the idempotent producer: set kgo.DisableIdempotentWrite(), and use no transactions."),
        ("sarama", "EndTxn", "transactions: remove Producer.Transaction.ID from the producer's configuration."),
        ("kafkajs", "EndTxn", "transactions: remove transactionalId from the producer's configuration."),
        ("aiokafka", "InitProducerId", "the idempotent producer: set enable_idempotence=False, and use no transactions."),
        ("franz-go", "PushTelemetry", "client metrics: set kgo.DisableClientMetrics()."),
        ("librdkafka", "PushTelemetry", "client metrics: set enable.metrics.push=false."),
    ],
)
def test_the_setting_of_each_library(library: str, api: str, fix: str) -> None:
    key = catalog()[f"{api}Request"].api_key
    assert key is not None
    use = Use(api_name=api, api_version=0, negotiates=False)
    target = target_range(Target("shop", RANGES, "by hand", "2026-11-29"), key)
    judgement = judge(use, target)
    assert remedy_of(use, judgement, target, Software(library, None, ())).text == f"shop lacks {fix}"


def test_names_of_targets() -> None:
    for name in ("10.0.0.1:9092", "[::1]:9092", "redpanda-24.3"):
        assert Target(name, RANGES, "", "").name == name
    for name in ("4.1", "a b", "a=b", ""):
        with pytest.raises(InputError, match="cannot name a target"):
            Target(name, RANGES, "", "")
