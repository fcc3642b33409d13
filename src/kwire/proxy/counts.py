"""What a proxy counts about connections; about exchanges its relays count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from kwire.protocol.relay import CloseReason
from kwire.proxy.rules.rule import Peer

__all__ = ["OTHER", "ConnectionCounts", "Ending", "capped", "software_of"]

Ending: TypeAlias = (
    Literal["ended", "client_broke", "broker_broke", "broker_unreachable", "first_frame_late", "stopped", "too_many", "rule"] | CloseReason
)
"""Why a connection is over: both sides ended, a socket's fault, a limit, `rule` for a frame that no rule could settle, or the relay's."""

OTHER: Final = "other"
_MOST_SOFTWARE: Final = 200


class ConnectionCounts:
    """Of one proxy since its start.

    Attributes:
        opened: connections of clients by node id.
        ended: by node id and why.
    """

    __slots__ = ("ended", "opened")

    def __init__(self) -> None:
        self.opened: Counter[int] = Counter()
        self.ended: Counter[tuple[int, Ending]] = Counter()


def software_of(peers: Iterable[Peer]) -> Counter[tuple[str, ...]]:
    """Connected clients by software name and version, `unknown` where they send none (KIP-511), and node id."""
    found: Counter[tuple[str, ...]] = Counter()
    for peer in peers:
        found[peer.software_name or "unknown", peer.software_version or "unknown", str(peer.node_id)] += 1
    return capped(found, _MOST_SOFTWARE, 2)


def capped(counts: Counter[tuple[str, ...]], most: int, texts: int) -> Counter[tuple[str, ...]]:
    """Counts whose clients' texts are replaced by `other` in all but the most frequent: a client may send any text.

    Arguments:
        counts: by labels, of which the first are the clients'.
        most: combinations of texts that keep them.
        texts: how many labels are texts of clients.
    """
    sums: Counter[tuple[str, ...]] = Counter()
    for labels, count in counts.items():
        sums[labels[:texts]] += count
    kept = {labels for labels, _ in sums.most_common(most)}
    found: Counter[tuple[str, ...]] = Counter()
    for labels, count in counts.items():
        found[labels if labels[:texts] in kept else (OTHER,) * texts + labels[texts:]] += count
    return found
