"""`[rehearsal]`: simulates a later release for clients before the brokers are upgraded.

With `break`, ApiVersions advertises the release's versions that the broker also supports. A request in a version that the release rejects
closes the connection, as its brokers do; so does a GSSAPI token without SaslHandshake from 4.0 on (KAFKA-18339). With `count`, frames stay
unchanged, and requests that the release would reject are counted by client.

It cannot simulate versions that only the later release has, other broker defaults, or message formats on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import kwire
from kwire.codec import VersionLimits
from kwire.errors import InputError
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.protocol.relay.moves import api_text
from kwire.proxy.rules.api_versions_answer import API_VERSIONS, limited_answers
from kwire.proxy.rules.rejected_counts import Rejected, RejectedCounts
from kwire.proxy.rules.rule import ConnectionRule, Peer, Refusal
from kwire.schema import Release, Target, Versions, catalog, releases

__all__ = ["RehearsalMode", "RehearsalRule"]

RehearsalMode = Literal["count", "break"]


class RehearsalRule:
    """The rule; `release` is a release, or a file with the answer of another broker to ApiVersions (`kwire.analysis.targets`).

    Attributes:
        counts: rejected requests; with `break`, the first one closes its connection and is logged.
    """

    name = "rehearsal"

    def __init__(self, release: str, mode: RehearsalMode, counts_file: str | None = None) -> None:
        self.release = _release(release)
        self.mode: RehearsalMode = mode
        self.raw_gssapi = mode == "count" or self.release.takes_raw_gssapi
        self.counts = RejectedCounts(self.release.name, counts_file if mode == "count" else None)

    def relay_rules(self) -> Iterator[RelayRule]:
        for key, versions in self._rejects():
            yield RelayRule("request", key, versions, CALL)
        if self.mode == "break":
            yield from limited_answers(VersionLimits.of_release(self.release))

    def _rejects(self) -> Iterable[tuple[int, list[int]]]:
        for message in catalog().messages.values():
            key = message.api_key
            # a broker answers any version of ApiVersions (KIP-511)
            if message.kind != "request" or key is None or key == API_VERSIONS:
                continue
            accepted = self.release.accepts(key)
            if accepted is not None and self.mode == "count" and isinstance(self.release, Target):
                accepted = Versions(accepted.lowest, Versions.OPEN)  # clients that negotiate would use a lower version
            refused = [version for version in message.valid_versions if accepted is None or version not in accepted]
            if refused:
                yield key, refused

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Rehearsing(self, peer)


def _release(text: str) -> Release:
    try:
        return releases().resolve(text)
    except InputError:
        if not Path(text).is_file():
            raise
    from kwire.analysis.targets import read_target  # pyarrow comes with it

    return read_target(text)


class _Rehearsing(ConnectionRule):
    def __init__(self, rule: RehearsalRule, peer: Peer) -> None:
        self._rule = rule
        self._peer = peer

    def request(self, held: Held, frame: bytes) -> Refusal | None:
        peer = self._peer
        client_id = kwire.peek_header(frame, strict=False).client_id or ""
        self._rule.counts.count(
            Rejected(peer.software_name, peer.software_version, client_id, peer.address, held.api_key, held.api_version)
        )
        if self._rule.mode == "count":
            return None
        return Refusal(f"{self._rule.release.title} rejects {api_text(held.api_key, held.api_version)}")
