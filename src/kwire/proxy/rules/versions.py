"""`[versions]`: the broker advertises no more than an older release would, features with the ranges.

Clients then behave as towards that release. Requests that it does not accept still pass, for the broker behind takes them; a client meets
rejected requests with `[rehearsal]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import kwire
from kwire.protocol.relay import Held, RelayRule
from kwire.proxy.rules.api_versions_answer import API_VERSIONS, changed_answer, ranges_of, wanted_answers, with_ranges
from kwire.proxy.rules.rule import ConnectionRule, Peer
from kwire.schema import Release, releases
from kwire.schema.release_table import release_key

__all__ = ["VersionsRule", "limit_to_release"]

# The release that first finalizes each feature (Kafka's `Feature` enum). A client that sees one may use requests which the cap takes away:
# transaction.version 2 wants newer Produce and AddPartitionsToTxn (KIP-890).
_FEATURES_SINCE: Final = {
    "kraft.version": "3.9", "transaction.version": "4.0", "group.version": "4.0", "eligible.leader.replicas.version": "4.0",
    "share.version": "4.1", "streams.version": "4.2",
}  # fmt: skip


def limit_to_release(body: Any, release: Release) -> None:
    """Cut an ApiVersions response to what a release advertises; an api that it does not have goes.

    Arguments:
        body: an ApiVersionsResponse.
        release: the limit. `advertises` is what its brokers say, which may be more than they accept (KAFKA-18659: Produce from 0).
    """
    ranges = {}
    for key, (low, high) in ranges_of(body).items():
        limit = release.advertises(key)
        if limit is not None and max(low, limit.lowest) <= min(high, limit.highest):
            ranges[key] = max(low, limit.lowest), min(high, limit.highest)
    with_ranges(body, ranges)
    known = {name for name, since in _FEATURES_SINCE.items() if release.key >= release_key(since)} | {"metadata.version"}
    for features in (body.supported_features, body.finalized_features):
        features[:] = [each for each in features if each.name in known]


class VersionsRule(ConnectionRule):
    """The rule; it keeps nothing of a connection, so one object serves all.

    Arguments:
        cap: the release, such as `3.9`.

    Raises:
        InputError: no such release.
    """

    name = "versions"

    def __init__(self, cap: str) -> None:
        self._release = releases().resolve(cap)

    def relay_rules(self) -> Iterable[RelayRule]:
        return (wanted_answers(),)

    def connected(self, peer: Peer) -> ConnectionRule:
        return self

    def response(self, held: Held, frame: bytes) -> bytes | None:
        correlation_id, body = changed_answer(held, frame)
        limit_to_release(body, self._release)
        return kwire.encode_response(correlation_id, body, API_VERSIONS, held.api_version)
