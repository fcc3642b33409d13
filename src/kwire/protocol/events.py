"""Events of `Connection` and its summary.

Times are nanoseconds since 1970 UTC. Text from the wire is hostile: escape it before showing it. Except for the payload of `MessageSeen`,
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
    """Row of table `requests`, without the columns that only the series knows.

    A row comes when its outcome is known (answered, acks 0, given up at a gap, at the close or at the end), so rows come in the order of
    completion.

    Attributes:
        request_index: order of sending in the connection, from 0; -1 for an orphan response.
        api_key, api_name, api_version: from the header; the name is None for an unknown key. All None for an orphan.
        header_version: None if header or API are unknown.
        correlation_id: None if the header was cut before it.
        client_id: client id of this request, None for null and if it could not be read.
        client_instance_id: id in force at the request, in Kafka's 22 letters.
        software_name, software_version: in force at the request, so that an ApiVersions request has those in force before it, as in the
            broker's log; `unknown` if the client sent none, None if nothing was observed.
        principal: in force at the request, in Kafka's form `User:alice`; None without authentication.
        request_time, response_time: arrival of the last byte of the frame; None if not seen.
        latency_us: time between the two, None across a gap.
        request_bytes, response_bytes: size of the frame on the wire, with its 4-byte length and lost bytes.
        error_code: the response's top-level code if it is not 0, else the first non-zero code inside, in the order of the wire; None
            without a readable response, without a code in the schema, and if a cut hides the code that decides.
        throttle_time_ms, acks, first_topic, topic_count, group_id, transactional_id, rack_id, max_wait_ms: None if the schema has no such
            field, or if it was not seen.
        state: `answered`; `no_response_expected`: a Produce with acks 0; `abandoned`: the client closed before the whole answer came;
            `unseen`: an answer may lie in bytes missing from the capture, or snaplen cut away whether one was wanted; `unanswered`: the
            server was seen and gave none; `orphan_response`: a response alone. An answer that had begun when the server or the capture
            ended counts.
        body: how the request's body was read; `skipped` for an orphan.
        packet_number, stream_offset: position of the first byte of the request's frame (of an orphan: the response's).
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
    """Broken rule of `kwire.protocol.rules`.

    Attributes:
        direction: side that broke the rule.
        request_index: its request, None without one.
        packet_number, stream_offset, time: position in that direction.
        software_name, client_id: of the connection, as far as seen.
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
    """Ranges that the server advertised in an ApiVersions response, as far as it could be read.

    Attributes:
        versions: (lowest, highest) by API key.
        error_code: 35 marks the fallback answer, which lists little or nothing.
        complete: False if the response was cut.
    """

    request_index: int
    time: int
    versions: dict[int, tuple[int, int]]
    error_code: int
    complete: bool


@dataclass(slots=True)
class BrokerNode:
    """Node as a response names it."""

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
    """Use of one partition by a request and its response; the counts are of whole record batches."""

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
    """Produce, Fetch or ShareFetch request and its response; each partition once, whichever of the two names it."""

    request_index: int
    time: int  # of the request
    direction: Literal["produce", "fetch"]
    client_id: str | None
    acks: int | None
    error_code: int  # above the partitions, 0 without one
    uses: list[PartitionUse]


@dataclass(slots=True)
class TopicsNamed:
    """Names of topics by id (in Kafka's 22 letters), as a message has them together."""

    time: int
    names: dict[str, str]


class GroupMember(NamedTuple):
    """Member in the leader's JoinGroup response, or as a leader or an administrator names it."""

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
    """Message whose frames are wanted; that of a refused ApiVersions request is answered in version 0 (KIP-511)."""

    direction: Direction
    api_key: int
    api_version: int


@dataclass(slots=True)
class MessageSeen:
    """Frame of the wanted message, with its request as far as known; for a request, not its response."""

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
        requests, unanswered: rows so far; `unanswered` counts those in that state, so neither `abandoned` nor `unseen`.
        proxied_address: client address of a PROXY header, `address:port`.
        tls_version, tls_sni, tls_ja3, tls_ja4: from a ClientHello.
        tls_cipher, tls_alpn, tls_client_subject, tls_decrypted, bytes_decrypted: set by the reader of TLS
            (`kwire.tables.encrypted_connection`).
        sasl_mechanism, attempted_principal: attempts of the client, also failed ones; `principal` only after success.
        software_name, software_version: at the end; see `RequestCompleted`.
        client_id: the most frequent one that is not empty, the first of equals.
        first_seen, last_seen: None without a byte.
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
