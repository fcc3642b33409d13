"""The text forms of request logs: one real line of each, value by value, and lines that are broken."""

from __future__ import annotations

from datetime import timezone

import pytest

from kwire.capture.request_logs.entry import LogEntry, UnreadableLine, connection_name
from kwire.capture.request_logs.lines import read_line
from kwire.capture.request_logs.text_values import MAX_DEPTH, TextFault, read_value

# The line of KIP-511.
OF_24 = (
    "[2019-07-02 14:11:16,137] DEBUG Completed request:RequestHeader(apiKey=FIND_COORDINATOR, apiVersion=2, clientId=consumer-1, "
    "correlationId=11) -- {coordinator_key=console-consumer-17661,coordinator_type=0},response:{throttle_time_ms=0,error_code=15,"
    "error_message=null,coordinator={node_id=-1,host=,port=-1}} from connection 192.168.12.241:9092-192.168.12.241:52149-3;totalTime:3.187,"
    "requestQueueTime:0.137,localTime:2.899,remoteTime:0.0,throttleTime:0.098,responseQueueTime:0.048,sendTime:0.124,"
    "securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,listener:PLAINTEXT,"
    "clientInformation:ClientInformation(softwareName=apache-kafka-java, softwareVersion=2.4.0)(kafka.request.logger)"
)
# Lines of brokers of 0.9, 0.10.2 and 0.11.
OF_09 = (
    "[2026-11-21 10:19:29,388] Completed request:Name: ProducerRequest; Version: 1; CorrelationId: 3; ClientId: depot; RequiredAcks: 1; "
    "AckTimeoutMs: 30000 ms; TopicAndPartition: [works.raw,0] -> 267,[works.raw,1] -> 256 from connection "
    "127.0.0.1:20092-127.0.0.1:47958;totalTime:4,requestQueueTime:1,localTime:2,remoteTime:0,responseQueueTime:0,sendTime:1,"
    "securityProtocol:PLAINTEXT,principal:User:ANONYMOUS"
)
OF_09_NEWER_API = (
    "[2026-11-21 10:19:30,100] Completed request:{api_key=10,api_version=0,correlation_id=2,client_id=depot} -- {group_id=g-depot} from "
    "connection 127.0.0.1:20092-127.0.0.1:47972;totalTime:18,requestQueueTime:1,localTime:16,remoteTime:0,responseQueueTime:0,sendTime:1,"
    "securityProtocol:PLAINTEXT,principal:User:ANONYMOUS"
)
OF_010 = (
    "[2026-11-21 10:24:50,886] Completed request:{api_key=0,api_version=2,correlation_id=4,client_id=agg} -- {acks=-1,timeout=30000,"
    "partitionSizes=[site.raw-1=314,site.raw-0=443,site.clean-0=12]} from connection 127.0.0.1:19792-127.0.0.1:42716;totalTime:25,"
    "requestQueueTime:0,localTime:25,remoteTime:0,responseQueueTime:2,sendTime:0,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,"
    "listener:PLAINTEXT"
)
OF_011 = (
    "[2026-11-21 10:23:53,622] Completed request:{api_key=18,api_version=0,correlation_id=0,client_id=agg} -- {} from connection "
    "127.0.0.1:19692-127.0.0.1:47214;totalTime:16.172000,requestQueueTime:1.034000,localTime:13.815000,remoteTime:0.000000,"
    "throttleTime:12.967000,responseQueueTime:0.973000,sendTime:0.418000,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,"
    "listener:PLAINTEXT"
)


def entry_of(line: str) -> LogEntry:
    found = read_line(line, 7)
    assert found is not None
    return found


@pytest.mark.requirement("K511-36")
def test_the_line_of_the_proposal() -> None:
    entry = entry_of(OF_24)
    assert entry == LogEntry(
        line=7,
        api_key=10,
        api_version=2,
        correlation_id=11,
        client_id="consumer-1",
        connection=connection_name("192.168.12.241:9092-192.168.12.241:52149-3"),
        form="text",
        request={"coordinator_key": "console-consumer-17661", "coordinator_type": "0"},
        response={
            "throttle_time_ms": "0",
            "error_code": "15",
            "error_message": None,
            "coordinator": {"node_id": "-1", "host": "", "port": "-1"},
        },
        level="DEBUG",
        logged_us=1_562_076_676_137_000,  # 2019-07-02T14:11:16.137Z
        total_us=3187,
        queue_us=137,
        local_us=2899,
        remote_us=0,
        principal=None,
        software=("apache-kafka-java", "2.4.0"),
    )


@pytest.mark.requirement("K511-37")
def test_a_line_without_client_information_has_no_software() -> None:
    """As brokers up to 2.3 write it."""
    entry = entry_of(OF_24.replace(",clientInformation:ClientInformation(softwareName=apache-kafka-java, softwareVersion=2.4.0)", " "))
    assert entry.software is None
    assert entry.response is not None


def test_the_first_form_of_09() -> None:
    entry = entry_of(OF_09)
    assert (entry.api_key, entry.api_version, entry.correlation_id, entry.client_id) == (0, 1, 3, "depot")
    assert entry.connection == ("127.0.0.1", 20092, "127.0.0.1", 47958, "")
    assert entry.request is not None
    assert entry.request["acks"] == "1"
    assert entry.request["topicData"] == [{"name": "works.raw"}]  # two partitions, one topic
    assert entry.response is None
    assert (entry.total_us, entry.queue_us, entry.local_us, entry.remote_us) == (4000, 1000, 2000, 0)
    assert (entry.principal, entry.software) == (None, None)


@pytest.mark.parametrize(
    ("head", "key", "topics"),
    [
        ("Name: TopicMetadataRequest; Version: 0; CorrelationId: 0; ClientId: depot; Topics: a,b", 3, ["a", "b"]),
        ("Name: TopicMetadataRequest; Version: 0; CorrelationId: 0; ClientId: depot; Topics: ", 3, []),
        ("Name: OffsetFetchRequest; Version: 1; CorrelationId: 7; ClientId: d; GroupId: g; RequestInfo: [w.r,1],[w.r,0]", 9, ["w.r"]),
        (
            "Name: OffsetCommitRequest; Version: 2; CorrelationId: 12; ClientId: d; GroupId: g; GroupGenerationId: 1; MemberId: m; "
            "RetentionMs: -1; RequestInfo: [a,0] -> [OffsetMetadata[13,NO_METADATA],CommitTime -1,ExpirationTime -1],"
            "[b,1] -> [OffsetMetadata[12,NO_METADATA],CommitTime -1,ExpirationTime -1]",
            8,
            ["a", "b"],
        ),
    ],
)
def test_topics_of_the_first_form(head: str, key: int, topics: list[str]) -> None:
    entry = entry_of(f"Completed request:{head} from connection 10.0.0.1:9092-10.0.0.2:5000;totalTime:1,requestQueueTime:0")
    assert entry.api_key == key
    assert entry.request is not None
    assert entry.request["Topics"] == [{"name": topic} for topic in topics]


def test_controllers_write_the_first_form_without_spaces() -> None:
    entry = entry_of(
        "[2026-11-21 10:19:24,879] Completed request:Name:UpdateMetadataRequest;Version:1;Controller:2;ControllerEpoch:1;CorrelationId:0;"
        "ClientId:2;AliveBrokers:2 : (EndPoint(127.0.0.1,20092,PLAINTEXT));PartitionState: from connection "
        "127.0.0.1:20092-127.0.0.1:47930;totalTime:25,requestQueueTime:14,localTime:10,remoteTime:0,responseQueueTime:0,sendTime:1"
    )
    assert (entry.api_key, entry.api_version, entry.correlation_id, entry.client_id) == (6, 1, 0, "2")


def test_the_second_form_of_09() -> None:
    entry = entry_of(OF_09_NEWER_API)
    assert (entry.api_key, entry.api_version, entry.correlation_id, entry.client_id) == (10, 0, 2, "depot")
    assert entry.request == {"group_id": "g-depot"}


def test_produce_of_010_by_topic() -> None:
    entry = entry_of(OF_010)
    assert entry.request == {
        "acks": "-1",
        "timeout": "30000",
        "topicData": [
            {
                "name": "site.raw",
                "partitionData": [{"index": "1", "recordsSizeInBytes": "314"}, {"index": "0", "recordsSizeInBytes": "443"}],
            },
            {"name": "site.clean", "partitionData": [{"index": "0", "recordsSizeInBytes": "12"}]},
        ],
    }


def test_decimal_signs_of_any_locale() -> None:
    """0.11 formats its numbers as the broker's locale says."""
    german = OF_011.replace("16.172000", "16,172000").replace("1.034000", "1,034000")
    for line in (OF_011, german):
        entry = entry_of(line)
        assert (entry.total_us, entry.queue_us, entry.local_us) == (16_172, 1_034, 13_815)


def test_a_principal_may_hold_commas() -> None:
    entry = entry_of(OF_24.replace("principal:User:ANONYMOUS", "principal:User:CN=billing,OU=Shop,O=Example"))
    assert entry.principal == "User:CN=billing,OU=Shop,O=Example"
    assert entry.software == ("apache-kafka-java", "2.4.0")


def test_what_a_client_chose_does_not_look_like_structure() -> None:
    """A body that holds the words of the frame around it: what stands last counts."""
    name = " from connection 1.1.1.1:1-2.2.2.2:2;totalTime:9"
    entry = entry_of(OF_09_NEWER_API.replace("client_id=depot", f"client_id=x{name}"))
    assert entry.connection == ("127.0.0.1", 20092, "127.0.0.1", 47972, "")
    assert entry.client_id == f"x{name}"


def test_json_in_the_metadata_of_an_offset_is_text() -> None:
    partition = '{partition=0,offset=4,metadata={"consumer_id": "a", "hostname": "b"}}'
    entry = entry_of(
        f"Completed request:{{api_key=8,api_version=1,correlation_id=0,client_id=pykafka}} -- {{group_id=g,topics=[{{topic=t,partitions=["
        f"{partition}]}}]}} from connection 10.0.0.1:9092-10.0.0.2:5000;totalTime:1"
    )
    assert entry.request is not None
    assert entry.request["topics"][0]["partitions"][0]["metadata"] == '{"consumer_id": "a", "hostname": "b"}'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a=1,b=[x,y],c={d=null}}", {"a": "1", "b": ["x", "y"], "c": {"d": None}}),
        ("MetadataRequestData(topics=[Topic(name='a, b')], all=true)", {"topics": [{"name": "a, b"}], "all": "true"}),
        ("{m=java.nio.HeapByteBuffer[pos=0 lim=20 cap=20],n=}", {"m": "java.nio.HeapByteBuffer[pos=0 lim=20 cap=20]", "n": ""}),
        ("{}", {}),
        ("[]", []),
        ("[it's]", ["it's"]),
        ("{name='it's',x=1}", {"name": "it's", "x": "1"}),
    ],
)
def test_values(text: str, value: object) -> None:
    assert read_value(text) == (value, len(text))


@pytest.mark.parametrize("text", ["{a=1", "[x", "{=1}", "{a=[1}", "{a='x", "{a=b[c}", "[" * (MAX_DEPTH + 2), "{a=" * (MAX_DEPTH + 2)])
def test_what_does_not_balance_is_no_value(text: str) -> None:
    with pytest.raises(TextFault):
        read_value(text)


def test_a_body_that_cannot_be_read_costs_the_body_only() -> None:
    entry = entry_of(OF_24.replace("coordinator_type=0}", "coordinator_type=0"))
    assert entry.request is None
    assert entry.response is not None
    assert (entry.api_key, entry.total_us) == (10, 3187)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (OF_24[:200], "ends before its connection"),
        (OF_24.replace("FIND_COORDINATOR", "FIND_NOBODY"), "no release of Kafka has an api 'FIND_NOBODY'"),
        (OF_24.replace("192.168.12.241:9092-", "nowhere-"), "is no connection"),
        (OF_24.replace("apiVersion=2", "apiVersion=70000"), "api version is not a number of 16 bits"),
        (OF_24.replace("correlationId=11", "correlationId=99999999999"), "correlation id is not a number of 32 bits"),
        (OF_24.replace("RequestHeader(", "Header("), "its header is in none of the known forms"),
        (OF_24.replace("totalTime:3.187", "totalTime:soon"), "its total time is not a number"),
        (OF_24.replace("securityProtocol:PLAINTEXT,", "and so on,"), "does not end as an entry does"),
        ("Completed request:", "ends before its connection"),
    ],
)
def test_broken_lines_say_why(line: str, reason: str) -> None:
    with pytest.raises(UnreadableLine, match=reason):
        read_line(line, 1, timezone.utc)


@pytest.mark.requirement("K511-40")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("127.0.0.1:9092-127.0.0.1:50000-0", ("127.0.0.1", 9092, "127.0.0.1", 50000, "-0")),
        ("127.0.0.1:9092-127.0.0.1:50000-2-17", ("127.0.0.1", 9092, "127.0.0.1", 50000, "-2-17")),
        ("127.0.0.1:9092-127.0.0.1:50000", ("127.0.0.1", 9092, "127.0.0.1", 50000, "")),
        ("0:0:0:0:0:0:0:1:9092-0:0:0:0:0:0:0:1:50000-3", ("::1", 9092, "::1", 50000, "-3")),
        ("[fe80:0:0:0:0:0:0:1%eth0]:9092-[2001:db8:0:0:0:0:0:2]:50000-1-3", ("fe80::1", 9092, "2001:db8::2", 50000, "-1-3")),
        ("10.0.0.1:65535-10.0.0.2:1-2147483647", ("10.0.0.1", 65535, "10.0.0.2", 1, "-2147483647")),
    ],
)
def test_names_of_connections(text: str, name: tuple[str, int, str, int, str]) -> None:
    assert connection_name(text) == name


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1:9092", "127.0.0.1-127.0.0.1", "1.2.3.4:99999-1.2.3.4:1-0", "a b:1-c:2", "1.2.3.4:1-1.2.3.4:1-x"]
)
def test_what_is_no_connection(text: str) -> None:
    with pytest.raises(UnreadableLine):
        connection_name(text)
