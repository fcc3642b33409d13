"""Remedies for a client that a release rejects: a newer library, another configuration, or a proxy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from kwire.analysis.library_profiles import Fix
from kwire.analysis.verdicts import Answers, Judgement, TargetRange, Use
from kwire.schema.release_table import release_key
from kwire.schema.version_numbers import version_numbers

__all__ = ["NOTHING", "Remedy", "Software", "remedy_of"]

_UNKNOWN_LIBRARY: Final = "Identify the library and upgrade it"
# Features that brokers of 4.x finalize with their clusters (KIP-1022); while one is off, they offer these APIs and reject their use.
_FEATURES: Final = {"ConsumerGroup": "group.version", "Share": "share.version", "StreamsGroup": "streams.version"}
_CLASSIC: Final = frozenset({"ConsumerGroupHeartbeat", "StreamsGroupHeartbeat"})
_UNTIL_THEN: Final = "until then, a proxy can translate"
# What a client does without where brokers of another kind lack an api.
_TRANSACTIONS: Final = "transactions: remove transactional.id from the producer's configuration"
_SHARE: Final = "share groups: consume with KafkaConsumer instead of KafkaShareConsumer"
_STREAMS: Final = "the Streams rebalance protocol: set group.protocol=classic"
_LACKING: Final = {
    "InitProducerId": "the idempotent producer: set enable.idempotence=false, and use no transactions",
    **dict.fromkeys(("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "TxnOffsetCommit"), _TRANSACTIONS),
    **dict.fromkeys(("ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge", "ShareGroupDescribe"), _SHARE),
    **dict.fromkeys(("StreamsGroupHeartbeat", "StreamsGroupDescribe"), _STREAMS),
    "ConsumerGroupHeartbeat": "the consumer protocol of KIP-848: set group.protocol=classic",
    "GetTelemetrySubscriptions": "client metrics: set enable.metrics.push=false",
    "PushTelemetry": "client metrics: set enable.metrics.push=false",
    "DeleteRecords": "the deletion of records: shorten retention.ms of the topic instead",
    "IncrementalAlterConfigs": "incremental changes of configurations: use AlterConfigs, or the tools of the service",
}
# Settings that other libraries than Java's and librdkafka call otherwise.
_SETTINGS: Final = {
    "enable.idempotence=false": {
        "aiokafka": "enable_idempotence=False",
        "franz-go": "kgo.DisableIdempotentWrite()",
        "kafka-python": "enable_idempotence=False",
        "kafkajs": "idempotent: false",
        "sarama": "Producer.Idempotent = false",
    },
    "transactional.id": {
        "aiokafka": "transactional_id",
        "franz-go": "kgo.TransactionalID",
        "kafka-python": "transactional_id",
        "kafkajs": "transactionalId",
        "sarama": "Producer.Transaction.ID",
    },
    "enable.metrics.push=false": {"franz-go": "kgo.DisableClientMetrics()"},
}


@dataclass(frozen=True, slots=True)
class Software:
    """Client library, with the newest possible version as numbers; None if unknown."""

    name: str | None
    version: tuple[int, ...] | None
    fixes: tuple[Fix, ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Fix in one or two sentences, with the required library version or value of a setting."""

    text: str | None = None
    version: str | None = None
    kind: Literal["library", "config", "proxy"] | None = None


NOTHING: Final = Remedy()
_TO_CLASSIC: Final = Remedy("Set group.protocol=classic in the client's configuration before the rollback.", "classic", "config")
_TO_SEE_SERVICE: Final[dict[Answers, Remedy]] = {
    "none": Remedy("Find out why no broker answers this client, then capture it again."),
    "unseen": Remedy("Capture both directions of this client's connections."),
    "opened": Remedy("Capture this client while it works."),
    "login_refused": Remedy("Correct the client's credentials, then capture it again."),
    "mechanism_refused": Remedy("Configure a SASL mechanism that the brokers enable, then capture the client again."),
}


def remedy_of(use: Use, judgement: Judgement, target: TargetRange, software: Software) -> Remedy:
    """Return the fix for a judged use of an API; `NOTHING` if every release in the catalog accepts the client unchanged."""
    if judgement.basis == "removed_feature":
        upgrade = _UNKNOWN_LIBRARY if software.name is None else f"Upgrade or configure {software.name}"
        return Remedy(f"{upgrade} so that it sends SaslHandshake before its GSSAPI tokens.")
    if judgement.verdict == "breaks":
        return _of_refused(use, target, software)
    if judgement.verdict == "unknown" and target.off_by_default:
        return _TO_CLASSIC
    if judgement.basis == "broker_ceiling":
        return Remedy(
            "Look up the library's version, or capture the client with a newer broker: the capture does not show its own maximum."
        )
    return _TO_SEE_SERVICE.get(use.answers, NOTHING) if judgement.verdict == "unknown" else NOTHING


def _of_refused(use: Use, target: TargetRange, software: Software) -> Remedy:
    accepts = target.accepts
    if accepts is None and not target.is_release:
        return _of_lacking(use, target, software)
    if (target.since is not None and use.api_name in _CLASSIC) or target.off_by_default:
        return _TO_CLASSIC
    if target.since is not None:
        return Remedy(f"Before the rollback, turn off the feature that uses {use.api_name}.")
    if use.api_name == "ApiVersions" and accepts:
        return Remedy(f"Use a version of {software.name or 'its library'} that asks for ApiVersions v{accepts[1]} or earlier there.")
    feature = next((name for prefix, name in _FEATURES.items() if use.api_name.startswith(prefix)), None)
    if feature and accepts and accepts[0] <= use.api_version <= accepts[1] and release_key(target.release) >= (4,):
        return Remedy(f"Enable {feature} on the brokers (kafka-features.sh upgrade --feature {feature}=1): {use.api_name} needs it.")
    fix = next((each for each in software.fixes if not each.apis or use.api_name in each.apis), None)
    if fix is not None and not target.beyond and not (fix.kind == "library" and _has(software, fix.version)):
        return Remedy(fix.remedy, fix.version, fix.kind)
    upgrade = _UNKNOWN_LIBRARY if software.name is None else f"Upgrade {software.name}"
    if accepts is None:
        return Remedy(f"{upgrade} to a version that does not need {use.api_name}.")
    if use.api_version > accepts[1]:
        return Remedy(f"{upgrade} to a version that negotiates (ApiVersions); {_UNTIL_THEN}.")
    if use.api_version >= accepts[0]:
        return Remedy(f"Find out why the broker rejects {use.api_name}: {target.supports} this version.")
    return Remedy(f"{upgrade} to a version that sends {use.api_name} v{accepts[0]} or later; {_UNTIL_THEN}.")


def _of_lacking(use: Use, target: TargetRange, software: Software) -> Remedy:
    feature = _LACKING.get(use.api_name)
    if feature is None:
        return Remedy(f"Turn off the feature that uses {use.api_name}: {target.name} does not have it.")
    for setting, names in _SETTINGS.items():
        feature = feature.replace(setting, names.get(software.name or "", setting))
    return Remedy(f"{target.name} lacks {feature}.")


def _has(software: Software, version: str | None) -> bool:
    return version is not None and software.version is not None and software.version >= version_numbers(version)
