"""Contents of each field of type `bytes` or `records`: one rule per message and field, for the whole catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Contents of a field: `nested` (a decoder reads it), `opaque` (bytes to pass on) or `secret` (never shown)."""

    kind: Literal["nested", "opaque", "secret"]
    holds: str  # a key of `nested_bytes.DECODERS`, or the name of the contents
    described_by: tuple[tuple[str, str], ...] = ()  # attributes of `Known` and the fields that set them, in the nearest struct that has one
    hashed: bool = False  # the secret cannot be guessed, so its hash may be shown


_TYPE: Final = ("protocol_type", "protocol_type")


def _group(holds: str, assignor: str) -> Rule:
    return Rule("nested", holds, (_TYPE, ("protocol_name", assignor)))


_METADATA: Final = "group metadata"
_ASSIGNMENT: Final = "group assignment"
_BATCHES: Final = Rule("nested", "record batches")
# The hash by which a broker knows a delegation token is the token's password for SCRAM (KIP-48).
_TOKEN: Final = Rule("secret", "HMAC of a delegation token", hashed=True)
_SALT: Final = Rule("secret", "salt of a SCRAM credential")
_REMOTE: Final = Rule("opaque", "private segment data of the remote storage plug-in")


def _rules() -> Iterator[tuple[str, str, Rule]]:
    # record batches
    yield "ProduceRequest", "topic_data.partition_data.records", _BATCHES
    yield "FetchResponse", "responses.partitions.records", _BATCHES
    yield "ShareFetchResponse", "responses.partitions.records", _BATCHES
    yield "FetchSnapshotResponse", "topics.partitions.unaligned_records", Rule("opaque", "part of a snapshot file, cut at any byte")
    # classic groups (KIP-559)
    yield "JoinGroupRequest", "protocols.metadata", _group(_METADATA, "name")
    yield "JoinGroupResponse", "members.metadata", _group(_METADATA, "protocol_name")
    yield "SyncGroupRequest", "assignments.assignment", _group(_ASSIGNMENT, "protocol_name")
    yield "SyncGroupResponse", "assignment", _group(_ASSIGNMENT, "protocol_name")
    yield "DescribeGroupsResponse", "groups.members.member_metadata", _group(_METADATA, "protocol_data")
    yield "DescribeGroupsResponse", "groups.members.member_assignment", _group(_ASSIGNMENT, "protocol_data")
    yield "GroupMetadataValue", "members.subscription", _group(_METADATA, "protocol")
    yield "GroupMetadataValue", "members.assignment", _group(_ASSIGNMENT, "protocol")
    # A classic member of a consumer group (KIP-848): there is no other protocol type then.
    yield (
        "ConsumerGroupMemberMetadataValue",
        "classic_member_metadata.supported_protocols.metadata",
        Rule("nested", "consumer metadata", (("protocol_name", "name"),)),
    )
    yield "ConsumerProtocolSubscription", "user_data", Rule("nested", "user data")
    yield "ConsumerProtocolAssignment", "user_data", Rule("opaque", "user data; Kafka's own assignors leave it empty")
    yield "ConnectProtocolMetadata", "allocation", Rule("nested", "connect assignment")
    # authentication
    yield "SaslAuthenticateRequest", "auth_bytes", Rule("secret", "SASL token of the client")
    yield "SaslAuthenticateResponse", "auth_bytes", Rule("secret", "SASL token of the server")
    yield "CreateDelegationTokenResponse", "hmac", _TOKEN
    yield "RenewDelegationTokenRequest", "hmac", _TOKEN
    yield "ExpireDelegationTokenRequest", "hmac", _TOKEN
    yield "DescribeDelegationTokenResponse", "tokens.hmac", _TOKEN
    yield "AlterUserScramCredentialsRequest", "upsertions.salt", _SALT
    yield "AlterUserScramCredentialsRequest", "upsertions.salted_password", Rule("secret", "salted password")
    yield "UserScramCredentialRecord", "salt", _SALT
    yield "UserScramCredentialRecord", "stored_key", Rule("secret", "stored key of a SCRAM credential")
    yield "UserScramCredentialRecord", "server_key", Rule("secret", "server key of a SCRAM credential")
    # requests that a broker hands on to the controller (KIP-590)
    yield "EnvelopeRequest", "request_data", Rule("nested", "request frame")
    yield "EnvelopeRequest", "request_principal", Rule("nested", "principal")
    yield "EnvelopeRequest", "client_host_address", Rule("nested", "address")
    yield "EnvelopeResponse", "response_data", Rule("nested", "response frame")
    # the rest
    yield "PushTelemetryRequest", "metrics", Rule("nested", "metrics", (("compression_type", "compression_type"),))
    for name in ("RemoteLogSegmentMetadataRecord", "RemoteLogSegmentMetadataUpdateRecord", "RemoteLogSegmentMetadataSnapshotRecord"):
        yield name, "custom_metadata", _REMOTE


RULES: Final[dict[tuple[str, str], Rule]] = {(message, path): rule for message, path, rule in _rules()}
