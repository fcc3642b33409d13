"""Events of `Connection` and its summary.

Times are nanoseconds since 1970 UTC. Text from the wire is untrusted: escape it before showing it. Except for the payload of `MessageSeen`,
no event holds a SASL token, a password or a record payload.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

__all__ = [
    "Asked", "Body", "BrokerNode", "BrokersLearned", "ConnectionSummary", "Direction", "Event", "FrameSeen", "GroupMember", "GroupStep",
    "IdentityChanged", "IdentitySource", "MessageSeen", "MetricsPushed", "PartitionUse", "RequestCompleted", "RequestState", "Role",
    "Severity", "StepKind", "TopicsNamed", "TopicsUsed", "VersionsLearned", "ViolationFound",
]  # fmt: skip

Direction = Literal["request", "response"]
Severity = Literal["error", "warning", "info"]
RequestState = Literal["answered", "no_response_expected", "unanswered", "abandoned", "unseen", "orphan_response"]
Body = Literal["decoded", "truncated", "malformed", "unsupported", "skipped"]
Role = Literal["client", "broker", "controller"]
IdentitySource = Literal["api_versions", "not_sent", "not_observed"]
StepKind = Literal["join", "sync", "leave", "heartbeat_error", "offset_commit_error", "consumer_heartbeat"]


@dataclass(slots=True)
class RequestCompleted:
    """Row of table `requests`, without the columns of the capture.

    A row is emitted when its outcome is known: on the answer, with acks 0, or given up at a gap, the close or the end. Rows are in the
    order of completion.

    Attributes:
        request_index: position among the requests of the connection, from 0; -1 for an orphan response.
        api_key, api_name, api_version: from the header; the name is None for an unknown key. All None for an orphan.
        header_version: None if the API or its version is unknown.
        correlation_id: None if the header was cut before it.
        client_id: client id of this request; None if null or unreadable.
        client_instance_id: id in force at the request, in Kafka's 22 letters.
        software_name, software_version: in force at the request; as in the broker's log, an ApiVersions request has the values in force
            before it. `unknown` if the client sent none; None if not captured.
        principal: in force at the request, in Kafka's form `User:alice`; None without authentication.
        request_time, response_time: arrival of the last byte of the frame; None if not seen.
        latency_us: microseconds from request to response, None across a gap.
        request_bytes, response_bytes: size of the frame on the wire, with its 4-byte length and lost bytes.
        error_code: the response's top-level code if it is not 0, else the first non-zero code inside, in the order of the wire; None
            without a readable response, without a code in the schema, and if a cut hides the code that decides.
        throttle_time_ms, acks, first_topic, topic_count, group_id, transactional_id, rack_id, max_wait_ms: None if the schema has no such
            field, or if it was not seen.
        state: `answered`; `no_response_expected`: a Produce with acks 0; `abandoned`: the client closed before the whole answer came;
            `unseen`: the answer, or the acks field, may be in bytes missing from the capture; `unanswered`: the server sent no answer
            although its bytes were captured; `orphan_response`: a response without a request. A response cut off by the end of the
            connection or capture counts as an answer.
        body: how the request's body was read; `skipped` for an orphan.
        packet_number, stream_offset: position of the first byte of the request's frame; for an orphan, of the response's.
    """

    request_index: int
    api_key: int | None = None
    api_name: str | None = None
    api_version: int | None = None
    header_version: int | None = None
    correlation_id: int | None = None
    client_id: str | None = None
    client_instance_id: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    principal: str | None = None
    request_time: int | None = None
    response_time: int | None = None
    latency_us: int | None = None
    request_bytes: int | None = None
    response_bytes: int | None = None
    error_code: int | None = None
    throttle_time_ms: int | None = None
    acks: int | None = None
    first_topic: str | None = None
    topic_count: int | None = None
    group_id: str | None = None
    transactional_id: str | None = None
    rack_id: str | None = None
    max_wait_ms: int | None = None
    state: RequestState = "unanswered"
    body: Body = "skipped"
    packet_number: int = 0
    stream_offset: int = 0


@dataclass(slots=True)
class ViolationFound:
    """Violation of a rule of `kwire.protocol.rules`.

    Attributes:
        direction: side that broke the rule.
        request_index: its request, None without one.
        packet_number, stream_offset, time: position in that direction.
        software_name, client_id: values of the connection so far.
        explanation: one sentence; wire text in it is escaped and shortened.
    """

    rule: str
    severity: Severity
    direction: Direction
    request_index: int | None
    packet_number: int
    stream_offset: int
    time: int
    software_name: str | None
    client_id: str | None
    explanation: str


@dataclass(slots=True)
class VersionsLearned:
    """Version ranges in the readable part of an ApiVersions response.

    Attributes:
        versions: (lowest, highest) by API key.
        error_code: 35 for the fallback answer, which lists only ApiVersions or nothing.
        complete: False if the response was cut.
    """

    request_index: int
    time: int
    versions: dict[int, tuple[int, int]]
    error_code: int
    complete: bool


@dataclass(slots=True)
class BrokerNode:
    """Broker node named in a response."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(slots=True)
class BrokersLearned:
    """Nodes in a Metadata, DescribeCluster or FindCoordinator response, with cluster and controller id if present."""

    request_index: int
    time: int
    source: str
    nodes: list[BrokerNode]
    cluster_id: str | None
    controller_id: int | None


@dataclass(slots=True)
class IdentityChanged:
    """Client identity in force from this request on."""

    request_index: int
    time: int
    software_name: str | None
    software_version: str | None
    client_instance_id: str | None
    principal: str | None


class PartitionUse(NamedTuple):
    """Use of one partition by a request and its response; counts include whole record batches only."""

    topic: str | None
    topic_id: str | None  # by version instead of the name, in Kafka's 22 letters
    partition: int
    error_code: int | None = None  # of the response
    records: int = 0
    batches: int = 0
    bytes: int = 0
    largest: int = 0  # bytes of the largest batch
    magics: int = 0  # bit 2 for magic 2
    codecs: int = 0  # bit 4 for zstd
    unseen: bool = False  # more may have travelled, in missing bytes of the message with the records


@dataclass(slots=True)
class TopicsUsed:
    """Produce, Fetch or ShareFetch request and its response; each partition is listed once."""

    request_index: int
    time: int  # of the request
    direction: Literal["produce", "fetch"]
    client_id: str | None
    acks: int | None
    error_code: int  # above the partitions, 0 without one
    uses: list[PartitionUse]


@dataclass(slots=True)
class TopicsNamed:
    """Topic names by topic id (in Kafka's 22 letters), from one message that has both."""

    time: int
    names: dict[str, str]


class GroupMember(NamedTuple):
    """Group member in the leader's JoinGroup response, or in a request of a leader or an administrator."""

    member_id: str
    group_instance_id: str | None = None
    subscription: tuple[str, ...] | None = None
    reason: str | None = None
    error_code: int = 0


@dataclass(slots=True)
class GroupStep:
    """Request of a group member and the coordinator's answer."""

    kind: StepKind
    protocol: Literal["classic", "consumer", "share", "streams"]  # KIP-848, KIP-932, KIP-1071
    request_index: int
    time: int
    response_time: int | None
    client_id: str | None
    group_id: str
    member_id: str | None  # after the answer
    group_instance_id: str | None = None
    generation: int | None = None  # of the answer, or the member epoch
    protocol_type: str | None = None
    protocol_name: str | None = None  # assignor chosen, or asked for
    leader: str | None = None
    subscription: list[str] | None = None  # sorted; a regular expression as `regex:...`; None if not sent
    assignment: list[tuple[str, list[int]]] | None = None  # topic or topic id; None if not sent
    members: list[GroupMember] = field(default_factory=list)  # for `join` in the leader's response, for `leave` those that leave
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    error_code: int = 0
    reason: str | None = None  # KIP-800


@dataclass(slots=True)
class MetricsPushed:
    """PushTelemetry request (KIP-714); its points are those of `kwire.protocol.telemetry.decode_metrics`."""

    request_index: int
    time: int
    client_id: str | None
    software_name: str | None
    software_version: str | None
    principal: str | None
    client_instance_id: str
    subscription_id: int
    terminating: bool
    points: list[dict[str, Any]]


@dataclass(slots=True)
class FrameSeen:
    """Position and kind of a frame in its direction, if `frames` is set. Bytes in no frame were not understood."""

    direction: Direction
    # `token` has no Kafka header; of `length` only that is readable; PROXY headers have no length
    kind: Literal["request", "response", "token", "length", "proxy"]
    stream_offset: int  # of the first byte of the length
    length: int  # bytes behind that
    request_index: int | None = None
    api_key: int | None = None
    api_version: int | None = None
    sasl_mechanism: str | None = None


class Asked(NamedTuple):
    """Selection of the frames of one message; a refused ApiVersions request is answered in version 0 (KIP-511)."""

    direction: Direction
    api_key: int
    api_version: int


@dataclass(slots=True)
class MessageSeen:
    """Frame of the selected message. A response has its request, if known; a request has no response."""

    row: RequestCompleted
    payload: bytes  # without its length; of a damaged frame, the bytes before the loss
    time: int  # arrival of its last byte
    packet_number: int
    stream_offset: int  # of its length


Event = (
    RequestCompleted
    | ViolationFound
    | VersionsLearned
    | BrokersLearned
    | IdentityChanged
    | TopicsUsed
    | TopicsNamed
    | GroupStep
    | MetricsPushed
    | FrameSeen
    | MessageSeen
)


@dataclass(slots=True)
class ConnectionSummary:
    """Values of table `connections`.

    Attributes:
        protocol: `kafka`, `tls`, `http`, `http2`, `ssh`, `postgres`, `zookeeper`, `smb`, ..., `silent` without a byte, `unknown`.
        state: `complete` (both sides ended), `joined_late`, `open`, `reset`.
        closed_by: side that closed first; None while open.
        request_frames, response_frames: whole and damaged frames.
        request_bytes, response_bytes: bytes seen, without `bytes_lost`.
        bytes_opaque: bytes of foreign protocols and of ranges without a frame.
        gaps: lost ranges in both directions.
        requests, unanswered: rows so far; `unanswered` counts rows in that state only.
        proxied_address: client address of a PROXY header, `address:port`.
        tls_version, tls_sni, tls_ja3, tls_ja4: from a ClientHello.
        tls_cipher, tls_alpn, tls_client_subject, tls_decrypted, bytes_decrypted: set by the reader of TLS
            (`kwire.tables.encrypted_connection`).
        sasl_mechanism, attempted_principal: attempts of the client, including failed ones; `principal` only after success.
        software_name, software_version: at the end; see `RequestCompleted`.
        client_id: most frequent non-empty client id; on a tie, the first.
        first_seen, last_seen: None if no byte was captured.
        advertised: ranges of the last complete ApiVersions response, None without one.
    """

    protocol: str
    state: Literal["complete", "joined_late", "open", "reset"]
    closed_by: Literal["client", "server"] | None
    first_seen: int | None
    last_seen: int | None
    request_frames: int
    response_frames: int
    request_bytes: int
    response_bytes: int
    bytes_lost: int
    bytes_opaque: int
    gaps: int
    requests: int
    unanswered: int
    last_api_name: str | None
    proxied_address: str | None
    tls_version: str | None
    tls_sni: str | None
    tls_ja3: str | None
    sasl_mechanism: str | None
    attempted_principal: str | None
    principal: str | None
    auth_failures: int
    software_name: str | None
    software_version: str | None
    identity_source: IdentitySource
    client_id: str | None
    client_instance_id: str | None
    role: Role
    advertised: dict[int, tuple[int, int]] | None
    tls_ja4: str | None = None
    tls_cipher: str | None = None
    tls_alpn: str | None = None
    tls_client_subject: str | None = None
    tls_decrypted: str | None = None
    bytes_decrypted: int = 0
