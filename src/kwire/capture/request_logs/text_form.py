"""The text forms of a request log, which brokers up to 2.7 write.

====================  ==============================================================================================
0.9, old apis         ``Name: ProducerRequest; Version: 1; CorrelationId: 2; ClientId: a; RequiredAcks: 1; ...``
0.9 to 0.11           ``{api_key=10,api_version=0,correlation_id=2,client_id=a} -- {group_id=g}``
1.0 to 2.7            ``RequestHeader(apiKey=PRODUCE, apiVersion=5, clientId=a, correlationId=4) -- {acks=1,...},response:{...}``
behind each           `` from connection 10.0.0.1:9092-10.0.0.2:50000-0;totalTime:1.2,...,principal:User:a,listener:PLAINTEXT,...``
====================  ==============================================================================================
"""

from __future__ import annotations

import re
from typing import Any, Final

from kwire.capture.request_logs.entry import LogEntry, UnreadableLine, api_key_of, connection_name, int_of
from kwire.capture.request_logs.text_values import TextFault, read_value
from kwire.capture.request_logs.times import duration_us

__all__ = ["is_unfinished", "read_text_entry"]

_LIST_OFFSETS: Final = 2
_ANONYMOUS: Final = "User:ANONYMOUS"

_NUMBER: Final = r"(-?[0-9]+(?:[.,][0-9]+)?)"
# From the right, since a body may hold anything, these words too.
_FRAME: Final = re.compile(r"(.*) from connection (\S+);totalTime:(.*)", re.DOTALL)
_TIMES: Final = re.compile(rf"{_NUMBER}((?:,[a-zA-Z]+Time:{_NUMBER})*)")
_TIME: Final = re.compile(rf",([a-zA-Z]+)Time:{_NUMBER}")
_TAIL: Final = re.compile(
    r"(?:,securityProtocol:\w*)?"
    r"(?:,principal:(?P<principal>.*?))?"
    r"(?:,listener:[^,]*)?"
    r"(?:,clientInformation:ClientInformation\(softwareName=(?P<name>.*?), softwareVersion=(?P<version>.*?)\))?"
    r"(?P<other>(?:,(?:temporaryMemoryBytes|messageConversionsTime):[^,]*)*)",
    re.DOTALL,
)
# The logger's name at the end of a line, as Kafka's own layouts write it.
_LOGGER: Final = re.compile(r"\s*\([\w$-]+(?:\.[\w$-]+)+\)\s*$")

_HEADER: Final = re.compile(
    r"RequestHeader\(apiKey=(\w+), apiVersion=(-?[0-9]+), clientId=(.*?), correlationId=(-?[0-9]+)(?:, headerVersion=-?[0-9]+)?\) -- ",
    re.DOTALL,
)
_STRUCT_HEADER: Final = re.compile(
    r"\{api_key=(-?[0-9]+),api_version=(-?[0-9]+),correlation_id=(-?[0-9]+)(?:,client_id=(.*?))?\} -- ", re.DOTALL
)
_NAMED_HEADER: Final = re.compile(
    r"Name:\s?(\w+);\s?Version:\s?(-?[0-9]+);(.*?)\s?CorrelationId:\s?(-?[0-9]+);(?:\s?ClientId:\s?([^;]*?)(?:;|$))?(.*)", re.DOTALL
)
_NAMED_APIS: Final = {
    "ProducerRequest": 0, "FetchRequest": 1, "OffsetRequest": 2, "TopicMetadataRequest": 3, "LeaderAndIsrRequest": 4,
    "StopReplicaRequest": 5, "UpdateMetadataRequest": 6, "ControlledShutdownRequest": 7, "OffsetCommitRequest": 8, "OffsetFetchRequest": 9,
    "ConsumerMetadataRequest": 10, "GroupCoordinatorRequest": 10,
}  # fmt: skip
_PARTITION: Final = re.compile(r"(?:^|,)\s?\[([A-Za-z0-9._-]+),([0-9]+)\](?= ->|,|$)")
_SIZE: Final = re.compile(r"(.+)-([0-9]+)=(-?[0-9]+)")


def is_unfinished(text: str) -> bool:
    """Tell whether an entry continues in the next line, because a text in its body contains a line break."""
    return " from connection " not in text or ";totalTime:" not in text


def read_text_entry(text: str, line: int) -> LogEntry:
    """Read the text behind ``Completed request:``."""
    frame = _FRAME.fullmatch(text)
    if frame is None:
        raise UnreadableLine("the line ends before its connection and times")
    description, connection, tail = frame.groups()
    return _with_tail(_described(description, line, connection), _LOGGER.sub("", tail))


def _described(text: str, line: int, connection: str) -> LogEntry:
    name = connection_name(connection)
    if (header := _HEADER.match(text)) is not None:
        key, version, client, correlation = api_key_of(header[1]), header[2], header[3], header[4]
        client_id = None if client == "null" else client
    elif (header := _STRUCT_HEADER.match(text)) is not None:
        key, version, correlation = int_of(header[1], 16, "api key"), header[2], header[3]
        client_id = None if header[4] in (None, "null") else header[4]
    elif (header := _NAMED_HEADER.fullmatch(text)) is not None and header[1] in _NAMED_APIS:
        key, version, correlation, client_id = _NAMED_APIS[header[1]], header[2], header[4], header[5]
    else:
        raise UnreadableLine("its header is in none of the known forms")
    request, response = (_named_body(key, header[6]), None) if header.re is _NAMED_HEADER else _bodies(text[header.end() :])
    if key == _LIST_OFFSETS and request is not None and request.get("topics") == []:
        del request["topics"]  # those of version 0 are printed as none
    return LogEntry(
        line=line,
        api_key=key,
        api_version=int_of(version, 16, "api version"),
        correlation_id=int_of(correlation, 32, "correlation id"),
        client_id=client_id,
        connection=name,
        form="text",
        request=request,
        response=response,
    )


def _bodies(text: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    request, end = _body(text, 0)
    if not text.startswith(",response:", end):
        end = text.rfind(",response:")
    response = None if end < 0 else _body(text, end + len(",response:"))[0]
    if request is not None and isinstance(sizes := request.pop("partitionSizes", None), list):
        request["topicData"] = _sized_topics(sizes)
    return request, response


def _body(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    try:
        value, end = read_value(text, at)
    except TextFault:
        return None, at
    return (value if isinstance(value, dict) else None), end


def _sized_topics(sizes: list[Any]) -> list[dict[str, Any]]:
    """Read ``[orders-0=149,orders-1=20]`` of a Produce request, by topic as on the wire."""
    topics: dict[str, list[dict[str, Any]]] = {}
    for each in sizes:
        found = _SIZE.fullmatch(each) if isinstance(each, str) else None
        if found is not None:
            topics.setdefault(found[1], []).append({"index": found[2], "recordsSizeInBytes": found[3]})
    return [{"name": name, "partitionData": partitions} for name, partitions in topics.items()]


def _named_body(key: int, text: str) -> dict[str, Any]:
    """Read the body of 0.9's old form: ``RequiredAcks: 1; AckTimeoutMs: 30000 ms; TopicAndPartition: [orders,0] -> 135``."""
    body: dict[str, Any] = {}
    for part in text.split(";"):
        name, sign, value = part.strip().partition(":")
        if sign:
            body[name] = value.strip()
    if "RequiredAcks" in body:
        body["acks"] = body.pop("RequiredAcks")
    if key == 3 and "Topics" in body:
        body["Topics"] = [{"name": topic} for topic in body["Topics"].split(",") if topic]
    elif (partitions := body.pop("TopicAndPartition", None)) is not None:
        body["topicData"] = [{"name": topic} for topic in _named_topics(partitions)]
    elif (partitions := body.pop("RequestInfo", None)) is not None:
        body["Topics"] = [{"name": topic} for topic in _named_topics(partitions)]
    return body


def _named_topics(partitions: str) -> list[str]:
    return list(dict.fromkeys(found[1] for found in _PARTITION.finditer(partitions)))


def _with_tail(entry: LogEntry, text: str) -> LogEntry:
    times = _TIMES.match(text)
    if times is None:
        raise UnreadableLine("its total time is not a number")
    known = {found[1]: found[2] for found in _TIME.finditer(times[2])}
    tail = _TAIL.fullmatch(text, times.end())
    if tail is None:
        raise UnreadableLine("the line does not end as an entry does")
    return entry._replace(
        total_us=duration_us(times[1]),
        queue_us=duration_us(known.get("requestQueue")),
        local_us=duration_us(known.get("local")),
        remote_us=duration_us(known.get("remote")),
        principal=None if tail["principal"] in (None, "", _ANONYMOUS) else tail["principal"],
        software=None if tail["name"] is None else (tail["name"], tail["version"]),
    )
