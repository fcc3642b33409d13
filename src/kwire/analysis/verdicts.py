"""Verdicts: does a client break after an upgrade of the brokers to release R? A table of rules judges each client, api, version and
release.

A client that negotiates uses min(its own maximum, the broker's maximum). So a version below the observed broker's highest is the client's
own maximum, and a version equal to it does not show the client's maximum. The versions that a release *accepts* decide, not those that it
advertises: 4.x advertises Produce v0 to v2 for old librdkafka and closes the connection on their use (KAFKA-18659).

==============================================  ==========================================================
version v against release R                     verdict (basis)
==============================================  ==========================================================
the client is a broker or controller            compatible (inside_range): it is upgraded with the cluster
answered by a broker of R's line                compatible (inside_range), whatever the tables say of R
refused by a broker of R's line, R rejects v    breaks (observed_refusal)
the api is ApiVersions                          compatible (inside_range): error 35, and the client steps down; breaks
                                                (own_maximum) where a server of another kind is known to close instead
R does not have the api yet; clients fall back  compatible (inside_range), if the client negotiates
R does not have the api, any more or yet        breaks (own_maximum)
v within it, of a preview that R has off        unknown (inside_range), unless a broker of R's line answered it
v within what R accepts                         compatible or deprecated (inside_range)
v above it, the client negotiates               compatible (inside_range): it steps down
v above it, the client does not                 breaks (no_negotiation)
v below it, the client does not negotiate       breaks (no_negotiation)
v below it and below the broker's highest       breaks (own_maximum)
v below it and equal to the broker's highest    unknown (broker_ceiling), or what is known of the library (known_client)
GSSAPI tokens without SaslHandshake, R from 4.0  breaks (removed_feature), where no other rule says so
==============================================  ==========================================================

Only requests in the capture are judged, not other APIs that the library supports.

Compatible and deprecated become unknown for a client without any answer, because its versions then prove nothing.
Negotiation and login (ApiVersions, SaslHandshake, SaslAuthenticate) do not count as answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

__all__ = ["Answers", "Basis", "Judgement", "KnownMaximum", "LaterReleases", "TargetRange", "Use", "Verdict", "judge"]

Verdict = Literal["compatible", "deprecated", "breaks", "unknown"]
Basis = Literal[
    "observed_refusal", "own_maximum", "no_negotiation", "known_client", "broker_ceiling", "inside_range", "removed_feature"
]  # fmt: skip
Confidence = Literal["high", "medium", "low"]
Answers = Literal["some", "none", "unseen", "opened", "login_refused", "mechanism_refused"]

_API_VERSIONS: Final = "ApiVersions"
# Java clients fall back where brokers do not offer these: no telemetry (KIP-714), Metadata (KIP-966), DescribeGroups (KIP-848).
_OPTIONAL: Final = frozenset({"GetTelemetrySubscriptions", "PushTelemetry", "DescribeTopicPartitions", "ConsumerGroupDescribe"})
# Kafka's admin client asks with Metadata instead (KIP-700, KafkaAdminClient.describeCluster). Not said of rollbacks to before 2.8 yet.
_DESCRIBE_CLUSTER: Final = "DescribeCluster"
_NOT_SERVED: Final[dict[Answers, str]] = {
    "none": "no request of this client was answered, besides negotiation and login",
    "unseen": "the answers to this client are not in the capture",
    "opened": "this client sent no request besides negotiation and login",
    "login_refused": "a broker refused this client's login, and none served it",
    "mechanism_refused": "a broker refused this client's SASL mechanism, and none served it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMaximum:
    """Bounds of the highest version that a client's library can use for an api; `certain` if the client names its library."""

    library: str
    at_least: int | None
    at_most: int | None
    certain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Use of an api version by a client.

    Attributes:
        role: `client`, `broker` or `controller`.
        broker_highest: highest version that any of its brokers offers; None if unknown.
        negotiates: whether the client sends ApiVersions on any connection; None if the beginnings of its connections were not captured.
        answered_by: minor version of a broker that answered this version although its release rejects it, or disables it by default.
        refused_by: minor version, such as `4.3`, of a broker that rejected this version, by error 35 or by closing the connection.
        always_refused: whether every answer to it was error 35.
        answers: `some`: the brokers answered requests besides negotiation and login; `none`: they did not; `unseen`: the answers are not in
            the capture; `opened`: no such request was sent; `login_refused`, `mechanism_refused`: the login failed.
        raw_gssapi: whether it sends GSSAPI tokens without SaslHandshake on any connection.
    """

    api_name: str
    api_version: int
    role: str = "client"
    broker_highest: int | None = None
    negotiates: bool | None = True
    answered_by: str | None = None
    refused_by: str | None = None
    always_refused: bool = False
    known: KnownMaximum | None = None
    answers: Answers = "some"
    raw_gssapi: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRange:
    """Treatment of an api by a release.

    Attributes:
        accepts: lowest and highest version, None if the release does not have the api.
        since: first later minor version that has the api, if this release does not have it yet.
        short: short name, such as `4.3`.
        off_by_default: whether it accepts the api only if a preview is enabled.
        marks: accepted but deprecated versions, with their treatment by later releases.
        is_release: False for brokers of another kind, where what they advertise counts as accepted.
        held: whether runs of clients showed the accepted versions of such a broker.
        beyond: whether such a broker requires a later version than the newest Kafka release does.
        unread: libraries that cannot read its answers: the first such version of the api, and the library's release with the fix, as in
            `kwire.schema.Target`.
        earlier: libraries that can use versions below those it accepts, and the first release of each that can.
    """

    release: str
    accepts: tuple[int, int] | None
    since: str | None = None
    off_by_default: bool = False
    marks: Mapping[int, LaterReleases] = field(default_factory=dict)
    takes_raw_gssapi: bool = True
    short: str = ""
    is_release: bool = True
    held: bool = False
    beyond: bool = False
    unread: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    earlier: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"Kafka {self.short or self.release}" if self.is_release else self.release

    @property
    def supports(self) -> str:
        return f"{self.name} {'supports' if self.is_release or self.held else 'advertises'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterReleases:
    """Treatment of a deprecated version by later releases; a minor version is judged by its newest patch.

    Attributes:
        marked_by: releases that deprecate it, as text for a sentence.
        newest: newest known minor version, such as `4.4`.
        refusing: first later minor version that rejects it, None if all accept it.
        at_refusal: treatment of the api by that version's newest patch.
        only_patches: later patches that reject it, such as `4.0.0`, although the newest patch of that minor version accepts it again.
    """

    marked_by: tuple[str, ...]
    newest: str
    refusing: str | None = None
    at_refusal: TargetRange | None = None
    only_patches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Verdict with its basis, confidence, and reason in one sentence."""

    verdict: Verdict
    basis: Basis
    confidence: Confidence
    reason: str


def judge(use: Use, target: TargetRange) -> Judgement:
    """Judge one use of an api for one release, by the table in this module's documentation."""
    judgement = _by_version(use, target)
    if use.role != "client" or judgement.verdict == "breaks":
        return judgement
    if use.raw_gssapi and not target.takes_raw_gssapi:
        reason = f"{target.name} closes connections that begin with a GSSAPI token instead of SaslHandshake (KAFKA-18339)."
        return Judgement(verdict="breaks", basis="removed_feature", confidence="high", reason=reason)
    if use.answers == "some" or judgement.verdict == "unknown":
        return judgement
    reason = f"{judgement.reason.removesuffix('.')}, but {_NOT_SERVED[use.answers]}."
    return replace(judgement, verdict="unknown", confidence="low", reason=reason)


def _by_version(use: Use, target: TargetRange) -> Judgement:
    api, version = use.api_name, use.api_version
    if use.role != "client":
        return Judgement(
            verdict="compatible",
            basis="inside_range",
            confidence="high",
            reason=f"This is a {use.role} of the cluster and is upgraded with it.",
        )
    accepts = target.accepts
    inside = accepts is not None and accepts[0] <= version <= accepts[1]
    if use.answered_by is not None and _same_line(use.answered_by, target.release) and not inside:
        reason = f"A Kafka {use.answered_by} broker answered {api} v{version} in this capture."
        return Judgement(verdict="compatible", basis="inside_range", confidence="high", reason=reason)
    if (
        use.refused_by is not None
        and _same_line(use.refused_by, target.release)
        and (not inside or use.always_refused)
        and api != _API_VERSIONS
    ):
        reason = f"A Kafka {use.refused_by} broker rejected {api} v{version} in this capture."
        return Judgement(verdict="breaks", basis="observed_refusal", confidence="high", reason=reason)
    if api == _API_VERSIONS and target.held and not inside:
        reason = f"{target.name} closes connections that ask for ApiVersions v{version}, where Kafka answers with error 35 (KIP-511)."
        return Judgement(verdict="breaks", basis="own_maximum", confidence="high", reason=reason)
    if api == _API_VERSIONS:
        reason = f"{target.name} answers an unsupported ApiVersions version with error 35, and the client falls back (KIP-511)."
        return Judgement(verdict="compatible", basis="inside_range", confidence="high", reason=reason)
    if accepts is None:
        return _without_api(use, target)
    if inside and target.off_by_default and use.answered_by is None:
        reason = f"{target.name} has {api} as a preview that is off by default, and the capture does not show whether it is on."
        return Judgement(verdict="unknown", basis="inside_range", confidence="low", reason=reason)
    if inside:
        return _inside(use, target, accepts)
    if version > accepts[1]:
        return _above(use, target, accepts)
    return _below(use, target, accepts)


def _same_line(line: str, release: str) -> bool:
    return line.split(".")[:2] == release.split(".")[:2]


def _without_api(use: Use, target: TargetRange) -> Judgement:
    missing = f"{target.name} does not have {use.api_name}, new in Kafka {target.since}"
    has_other_way = use.api_name in _OPTIONAL or (use.api_name == _DESCRIBE_CLUSTER and not target.is_release)
    if target.since is not None and has_other_way and use.negotiates:
        return Judgement(verdict="compatible", basis="inside_range", confidence="high", reason=f"{missing}; clients do without it.")
    no_longer = "no longer supports" if target.is_release else "does not have"
    reason = f"{target.name} {no_longer} {use.api_name}." if target.since is None else f"{missing}."
    return Judgement(verdict="breaks", basis="own_maximum", confidence="high", reason=reason)


def _inside(use: Use, target: TargetRange, accepts: tuple[int, int]) -> Judgement:
    api, version = use.api_name, use.api_version
    if version in target.marks:
        reason = f"{target.supports} {api} v{version}, {_later(target.marks[version])}."
        return Judgement(verdict="deprecated", basis="inside_range", confidence="high", reason=reason)
    reason = f"{target.supports} {api} v{accepts[0]} to v{accepts[1]}; this client sends v{version}."
    return Judgement(verdict="compatible", basis="inside_range", confidence="high", reason=reason)


def _later(later: LaterReleases) -> str:
    marked = f"deprecated in {_listed(later.marked_by)}"
    if later.refusing is not None:
        return f"{marked} and rejected by Kafka {later.refusing}"
    if later.only_patches:
        return f"{marked} and rejected only by Kafka {_listed(later.only_patches)}"
    return f"{marked} and supported by all later releases up to {later.newest}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def _above(use: Use, target: TargetRange, accepts: tuple[int, int]) -> Judgement:
    api, version = use.api_name, use.api_version
    above = f"{target.supports} {api} up to v{accepts[1]}; this client sends v{version}"
    if use.negotiates:
        return Judgement(
            verdict="compatible", basis="inside_range", confidence="high", reason=f"{above} and negotiates, so it will use a lower version."
        )
    if use.negotiates is None:
        reason = f"{above}, and the beginning of its connections, which shows whether it negotiates, is not in the capture."
        return Judgement(verdict="unknown", basis="broker_ceiling", confidence="low", reason=reason)
    return Judgement(
        verdict="breaks", basis="no_negotiation", confidence="high", reason=f"{above} and never negotiates (no ApiVersions request)."
    )


def _below(use: Use, target: TargetRange, accepts: tuple[int, int]) -> Judgement:
    api, version, highest = use.api_name, use.api_version, use.broker_highest
    below = f"{target.name} requires {api} v{accepts[0]} or later; this client sends v{version}"
    if use.negotiates is False:
        reason = f"{below} and never negotiates (no ApiVersions request)."
        return Judgement(verdict="breaks", basis="no_negotiation", confidence="high", reason=reason)
    if highest is not None and version < highest:
        reason = f"{below} although the broker offers v{highest}, so v{version} is the client's own maximum."
        return Judgement(verdict="breaks", basis="own_maximum", confidence="high", reason=reason)
    known = use.known
    if known is not None and known.at_least is not None and known.at_least >= accepts[0]:
        reason = f"{below} because the broker offers no more; {known.library} supports v{known.at_least}."
        return Judgement(verdict="compatible", basis="known_client", confidence=_confidence(known), reason=reason)
    if known is not None and known.at_most is not None and known.at_most < accepts[0]:
        reason = f"{below}, and {known.library} supports v{known.at_most} at most."
        return Judgement(verdict="breaks", basis="known_client", confidence=_confidence(known), reason=reason)
    if highest is None:
        reason = f"{below}, but the broker's maximum is not in the capture and may be what limits the client."
    else:
        reason = f"{below}, which is also the broker's maximum: the client may support later versions."
    return Judgement(verdict="unknown", basis="broker_ceiling", confidence="low", reason=reason)


def _confidence(known: KnownMaximum) -> Confidence:
    return "high" if known.certain else "medium"
