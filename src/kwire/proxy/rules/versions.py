"""`[versions]`: limits the advertised versions and features to those of an older release.

Clients then behave as with that release. Requests that it does not accept are still forwarded to the broker; `[rehearsal]` rejects them.
"""

from __future__ import annotations

from collections.abc import Iterable

from kwire.codec import VersionLimits
from kwire.protocol.relay import RelayRule
from kwire.proxy.rules.api_versions_answer import limited_answers
from kwire.proxy.rules.rule import Peer

__all__ = ["VersionsRule"]


class VersionsRule:
    name = "versions"

    def __init__(self, cap: str) -> None:
        self._limits = VersionLimits.of_release(cap)

    def relay_rules(self) -> Iterable[RelayRule]:
        return limited_answers(self._limits)

    def connected(self, peer: Peer) -> None: ...
