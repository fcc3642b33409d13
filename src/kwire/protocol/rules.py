"""Rules of table `violations`: id, severity, and a sentence."""

from __future__ import annotations

from typing import Final, NamedTuple

from kwire.errors import Fault
from kwire.protocol.events import Severity

__all__ = ["RULES", "Rule", "explain", "rule_of_fault", "shown"]

_LONGEST_SHOWN: Final = 60  # characters of wire text in a sentence


class Rule(NamedTuple):
    """Rule of the wire."""

    id: str
    severity: Severity  # `error`: the peer breaks the protocol; `warning`: readable, yet wrong; `info`: legal, worth knowing
    sentence: str  # `explain` fills in the names in braces


RULES: Final[dict[str, Rule]] = {
    rule.id: rule
    for rule in (
        # framing
        Rule("frame_length_negative", "error", "The frame length is {length}, which is negative."),
        Rule("frame_length_too_large", "error", "The frame length {length} is above the limit of {limit} bytes."),
        Rule("frame_too_short", "error", "A frame of {length} bytes is too short for its header."),
        Rule("frame_unfinished", "info", "The connection ended after {have} of the {length} bytes of a frame."),
        Rule("frame_border_lost", "warning", "Expected a frame here: {reason}."),
        # headers
        Rule("header_malformed", "error", "The request header is malformed: {reason}."),
        Rule("client_id_not_utf8", "warning", "The client id is not UTF-8: {text}."),
        Rule("unknown_api_key", "error", "No Kafka release has an API with key {api_key}."),
        Rule("unreleased_api_key", "info", "No Kafka release has an API with key {api_key}; {offer}."),
        Rule("negative_version", "error", "The request has a negative version: {api} v{version}."),
        Rule("unsupported_version", "error", "No Kafka release supports {api} v{version} (supported: {versions})."),
        Rule("api_versions_unreleased", "info", "No Kafka release supports ApiVersions v{version}; brokers answer with error 35."),
        # bodies, one rule a fault of the codec
        Rule("body_too_short", "error", "The body of {message} is too short: {reason}."),
        Rule("varint_too_long", "error", "A varint in {message} is longer than 32 bits: {reason}."),
        Rule("length_impossible", "error", "A length or count in {message} is invalid: {reason}."),
        Rule("string_not_utf8", "error", "A string in {message} is not UTF-8: {reason}."),
        Rule("null_not_allowed", "error", "A field of {message} is null and not nullable: {reason}."),
        Rule("trailing_bytes", "warning", "{message} has {reason}."),
        Rule("tag_not_valid", "error", "{message} has an invalid tagged field: {reason}."),
        Rule("body_malformed", "error", "{message} is malformed: {reason}."),
        Rule("tags_out_of_order", "warning", "The tagged fields of {message} are not in ascending order: {tags}."),
        Rule("tag_repeated", "warning", "Tag {tag} occurs more than once in {message}."),
        # identity and negotiation
        Rule("client_software_invalid", "error", "Brokers reject client software {name} {version} with error 42 (invalid {faulty})."),
        Rule("api_versions_out_of_order", "error", "ApiVersions was sent between SaslHandshake and the end of authentication."),
        Rule("api_versions_key_repeated", "warning", "The ApiVersions response lists API key {api_key} more than once."),
        Rule("api_versions_refused", "info", "The broker does not support ApiVersions v{version} and answered in version 0 with error 35."),
        # pairing
        Rule("correlation_id_negative", "info", "The correlation id {correlation_id} is negative, which is legal but rare."),
        Rule("response_without_request", "error", "Response with correlation id {correlation_id}, but no request was in flight."),
        Rule("response_unknown_correlation_id", "error", "No request in flight has the response's correlation id {correlation_id}."),
        Rule("response_repeated", "error", "The request with correlation id {correlation_id} was answered twice."),
        Rule(
            "response_out_of_order",
            "error",
            "The response with correlation id {correlation_id} came after {later} responses to later requests.",
        ),
        Rule("response_not_kafka", "error", "The server answers in {protocol}, not in Kafka's protocol."),
        # TLS
        Rule("tls_handshake_failed", "warning", "The TLS handshake failed: {reason}."),
        Rule("tls_keys_do_not_fit", "warning", "The key log has secrets for this connection, but they decrypt none of its records."),
        Rule("tls_certificate_expired", "warning", "The {side}'s certificate was not valid at that time (valid from {begin} to {end})."),
        Rule("tls_version_old", "warning", "The connection uses {version}, which is below TLS 1.2."),
        Rule("tls_renegotiated", "info", "The TLS handshake was renegotiated."),
        Rule("tls_unverified", "info", "{size} bytes were decrypted without verification, from records whose end is missing."),
        # groups (KIP-559)
        Rule("group_protocol_missing", "error", "{request} must have a protocol type and name; the type is {type}, the name is {name}."),
        Rule("group_protocol_inconsistent", "error", "The response to {request} has protocol {what} {sent}, the request has {known}."),
        Rule("group_protocol_refused", "warning", "{request} was rejected with INCONSISTENT_GROUP_PROTOCOL; the member has {offered}."),
        # telemetry (KIP-714)
        Rule("telemetry_cut", "warning", "A push of {size} bytes has {held} metric points; only the first {kept} are kept."),
        # record batches inside Produce requests and Fetch responses
        Rule("batch_length_impossible", "error", "A record batch of {message} has the length {length}, but only {available} bytes follow."),
        Rule("batch_magic_unknown", "error", "A record batch of {message} has the unknown magic {magic}."),
        Rule("batch_codec_unknown", "error", "A record batch of {message} has the unknown compression codec {codec}."),
        Rule("batch_count_impossible", "error", "A record batch of {message} claims {count} records in {available} bytes."),
        Rule("batch_payload_unreadable", "error", "The {codec} payload of a record batch of {message} is not {codec}."),
        Rule("batch_record_impossible", "error", "A record of a batch of {message} claims {length} of {available} bytes."),
        Rule("batch_unpacks_too_large", "warning", "A record batch of {message} claims to decompress from {size} bytes to {unpacked}."),
        Rule("batch_partial", "info", "The {message} ends inside a record batch, which the client fetches again."),
        Rule("batch_refused", "error", "The broker rejected a record batch with {error}."),
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
    return _BY_FAULT.get(fault, "body_malformed")


def shown(text: str | bytes) -> str:
    """Return text from the wire for a sentence: quoted, escaped, shortened."""
    cut = text[:_LONGEST_SHOWN]
    return ascii(cut) + ("..." if len(text) > len(cut) else "")


def explain(rule: str, **facts: object) -> str:
    """Return the sentence of a rule, filled with its facts; escape strings from the wire with `shown` first."""
    return RULES[rule].sentence.format(**facts)
