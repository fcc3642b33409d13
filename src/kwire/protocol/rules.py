"""The rules whose breach is a row of table `violations`, as data: id, severity, and the sentence that explains the breach."""

from __future__ import annotations

from typing import Final, NamedTuple

from kwire.errors import Fault
from kwire.protocol.events import Severity

__all__ = ["RULES", "Rule", "explain", "rule_of_fault", "shown"]

_LONGEST_SHOWN: Final = 60  # characters of wire text in a sentence


class Rule(NamedTuple):
    """A rule of the wire.

    Attributes:
        id: the value of column `rule`.
        severity: `error`: the peer cannot be understood or breaks the protocol; `warning`: readable, yet
            wrong; `info`: legal, worth knowing.
        sentence: with the names in braces filled in by `explain`.
    """

    id: str
    severity: Severity
    sentence: str


RULES: Final[dict[str, Rule]] = {
    rule.id: rule
    for rule in (
        # framing
        Rule("frame_length_negative", "error", "The frame length is {length}, which is negative."),
        Rule("frame_length_too_large", "error", "The frame length {length} is above the limit of {limit} bytes."),
        Rule("frame_too_short", "error", "A frame of {length} bytes is too short for its header."),
        Rule("frame_unfinished", "info", "The connection ended after {have} of the {length} bytes of a frame."),
        Rule("frame_border_lost", "warning", "No frame begins here although one should: {reason}."),
        # headers
        Rule("header_malformed", "error", "The request header cannot be read: {reason}."),
        Rule("client_id_not_utf8", "warning", "The client id is not UTF-8: {text}."),
        Rule("unknown_api_key", "error", "No Kafka release has an api with key {api_key}."),
        Rule("negative_version", "error", "{api} is asked in version {version}, which is negative."),
        Rule("unsupported_version", "error", "No Kafka release has {api} v{version}; the versions are {versions}."),
        Rule("api_versions_unreleased", "info", "No Kafka release has ApiVersions v{version}; brokers answer with error 35."),
        # bodies, one rule a fault of the codec
        Rule("body_too_short", "error", "The body of {message} ends before a value does: {reason}."),
        Rule("varint_too_long", "error", "A varint in {message} is longer than 32 bits: {reason}."),
        Rule("length_impossible", "error", "A length or count in {message} is impossible: {reason}."),
        Rule("string_not_utf8", "error", "A string in {message} is not UTF-8: {reason}."),
        Rule("null_not_allowed", "error", "A field of {message} is null that may not be: {reason}."),
        Rule("trailing_bytes", "warning", "{message} is followed by bytes that belong to nothing: {reason}."),
        Rule("tag_not_valid", "error", "A tagged field of {message} is not valid in this version: {reason}."),
        Rule("body_malformed", "error", "{message} cannot be read: {reason}."),
        Rule("tags_out_of_order", "warning", "The tagged fields of {message} are not in ascending order: {tags}."),
        Rule("tag_repeated", "warning", "Tag {tag} occurs more than once in {message}."),
        # identity and negotiation
        Rule(
            "client_software_invalid",
            "error",
            "Kafka refuses client software {name} {version} with error 42 for its {faulty}.",
        ),
        Rule("api_versions_out_of_order", "error", "ApiVersions was sent between SaslHandshake and the end of authentication."),
        Rule("api_versions_key_repeated", "warning", "The ApiVersions response lists api key {api_key} more than once."),
        Rule("api_versions_refused", "info", "The broker does not have ApiVersions v{version} and answered in version 0 with error 35."),
        # pairing
        Rule("correlation_id_negative", "info", "The correlation id {correlation_id} is negative, which is legal and rare."),
        Rule("response_without_request", "error", "A response with correlation id {correlation_id} came although no request was waiting."),
        Rule("response_unknown_correlation_id", "error", "No waiting request has the response's correlation id {correlation_id}."),
        Rule("response_repeated", "error", "The request with correlation id {correlation_id} was answered a second time."),
        Rule(
            "response_out_of_order",
            "error",
            "The response with correlation id {correlation_id} came behind responses to later requests, {later} of them.",
        ),
        Rule("response_not_kafka", "error", "The server does not answer in Kafka's protocol but in {protocol}."),
        # TLS
        Rule("tls_handshake_failed", "warning", "The TLS handshake failed: {reason}."),
        Rule("tls_keys_do_not_fit", "warning", "The key log has secrets of this connection, and none of its records opens with them."),
        Rule("tls_certificate_expired", "warning", "The {side}'s certificate was not valid then: it is from {begin} to {end}."),
        Rule("tls_version_old", "warning", "The connection is at {version}, which is below TLS 1.2."),
        Rule("tls_renegotiated", "info", "The TLS handshake was renegotiated."),
        Rule("tls_unverified", "info", "{size} bytes were deciphered of records whose end is missing: nothing vouches for them."),
        # groups (KIP-559)
        Rule("group_protocol_missing", "error", "{request} has to tell protocol type and name; the type is {type}, the name is {name}."),
        Rule(
            "group_protocol_inconsistent",
            "error",
            "The response to {request} tells protocol {what} {told}, the request has {known}.",
        ),
        Rule("group_protocol_refused", "warning", "{request} was refused with INCONSISTENT_GROUP_PROTOCOL; the member has {offered}."),
        # telemetry (KIP-714)
        Rule("telemetry_cut", "warning", "A push of {size} bytes holds {held} metric points; the first {kept} of them are kept."),
        # record batches inside Produce requests and Fetch responses
        Rule("batch_length_impossible", "error", "A record batch of {message} has the length {length}, impossible in {available} bytes."),
        Rule("batch_magic_unknown", "error", "A record batch of {message} has magic {magic}."),
        Rule("batch_codec_unknown", "error", "A record batch of {message} names compression codec {codec}."),
        Rule("batch_count_impossible", "error", "A record batch of {message} has the record count {count} in {available} bytes."),
        Rule("batch_payload_unreadable", "error", "The {codec} payload of a record batch of {message} is not {codec}."),
        Rule("batch_record_impossible", "error", "A record of a batch of {message} has the length {length} in {available} bytes."),
        Rule("batch_unpacks_too_large", "warning", "A record batch of {message} says that its {size} bytes unpack to {unpacked}."),
        Rule("batch_partial", "info", "The {message} ends in a part of a record batch, which the client fetches again."),
        Rule("batch_refused", "error", "The broker refused a record batch with {error}."),
    )
}

_BY_FAULT: Final[dict[Fault, str]] = {
    Fault.TRUNCATED: "body_too_short",
    Fault.BAD_VARINT: "varint_too_long",
    Fault.BAD_LENGTH: "length_impossible",
    Fault.BAD_UTF8: "string_not_utf8",
    Fault.NULL_NOT_ALLOWED: "null_not_allowed",
    Fault.TRAILING_BYTES: "trailing_bytes",
    Fault.BAD_TAG: "tag_not_valid",
}


def rule_of_fault(fault: Fault) -> str:
    """The rule that a body breaks in which the codec found this fault."""
    return _BY_FAULT.get(fault, "body_malformed")


def shown(text: str | bytes) -> str:
    """Text from the wire as it may stand in a sentence: quoted, escaped, shortened."""
    cut = text[:_LONGEST_SHOWN]
    return ascii(cut) + ("..." if len(text) > len(cut) else "")


def explain(rule: str, **facts: object) -> str:
    """The sentence of a rule with its facts; strings from the wire must have gone through `shown`."""
    return RULES[rule].sentence.format(**facts)
