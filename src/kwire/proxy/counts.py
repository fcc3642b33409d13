"""Counts of connections; exchanges are counted by relays."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from kwire.protocol.capped_counts import capped
from kwire.protocol.relay import CloseReason
from kwire.proxy.admission import TurnedAway
from kwire.proxy.rules.rule import Peer

__all__ = ["TLS_FAILED", "ConnectionCounts", "Ending", "software_of"]

TLS_FAILED: Final = "TLS failed: "

Ending: TypeAlias = (
    Literal[
        "ended",
        "client_broke",
        "broker_broke",
        "broker_unreachable",
        "tls_failed",
        "first_frame_late",
        "stopped",
        "rule",
        "fault",
    ]
    | TurnedAway
    | CloseReason
)
"""Reason for the end of a connection: both sides ended, a fault of a socket or of TLS, a limit, `rule` for a frame that a rule could not
process, `fault` for an error in kwire with its traceback in the log, or a relay's reason."""

_MOST_SOFTWARE: Final = 200
_IN_SSL: Final = re.compile(r"^\[\w+: \w+\] | \(_ssl\.c:\d+\)$")  # around the text of OpenSSL, by Python


class ConnectionCounts:
    """Counts since the start of a proxy, by tenant, node id and reason of the end; thread-safe."""

    __slots__ = ("_handshakes", "_lock", "ended", "opened")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.opened: Counter[tuple[str, int]] = Counter()
        self.ended: Counter[tuple[str, int, Ending]] = Counter()
        self._handshakes: Counter[tuple[str, str]] = Counter()

    def count_opened(self, tenant: str, node_id: int) -> None:
        with self._lock:
            self.opened[tenant, node_id] += 1

    def count_ended(self, tenant: str, node_id: int, ending: Ending) -> None:
        with self._lock:
            self.ended[tenant, node_id, ending] += 1

    def count_handshake(self, tenant: str, cause: str) -> None:
        with self._lock:
            self._handshakes[tenant, _IN_SSL.sub("", cause)] += 1

    def read(self) -> tuple[Counter[tuple[str, int]], Counter[tuple[str, int, Ending]]]:
        with self._lock:
            return self.opened.copy(), self.ended.copy()

    def failed_handshakes(self) -> Counter[tuple[str, str]]:
        """Return the number of failed TLS handshakes of clients by tenant and cause, a text of OpenSSL or of the system."""
        with self._lock:
            return self._handshakes.copy()


def software_of(peers: Iterable[Peer]) -> Counter[tuple[str, ...]]:
    """Count connected clients by software name and version (`unknown` if not sent, KIP-511), tenant and node id."""
    found: Counter[tuple[str, ...]] = Counter()
    for peer in peers:
        found[peer.software_name or "unknown", peer.software_version or "unknown", peer.tenant, str(peer.node_id)] += 1
    return capped(found, _MOST_SOFTWARE, 2)
