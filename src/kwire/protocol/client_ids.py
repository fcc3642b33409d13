"""Which client id counts for a request (KIP-1313 in two readings).

`per_request`, as every release has it: each request's own client id, null as empty. `first_wins`, as the proposal once had it: under
request header 3 the client id of a connection's first request holds for all of them, later ones are null, and another one is passed over.
"""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["WITH_INSTANCE_ID", "ClientIdPolicy", "ClientIds"]

ClientIdPolicy = Literal["per_request", "first_wins"]

WITH_INSTANCE_ID: Final = 3


class ClientIds:
    """The client ids of one connection.

    Arguments:
        policy: which reading.

    Attributes:
        first: the client id of the first request, None before there is one.
        ignored: later ids that did not count, at most `MOST_IGNORED` of them.
        bytes_sent: what client ids took on the wire, with their lengths.
    """

    MOST_IGNORED: Final = 16

    __slots__ = ("bytes_sent", "first", "ignored", "policy")

    def __init__(self, policy: ClientIdPolicy = "per_request") -> None:
        self.policy: ClientIdPolicy = policy
        self.first: str | None = None
        self.ignored: list[str] = []
        self.bytes_sent = 0

    def see(self, header_version: int, client_id: str | None) -> str:
        """The client id that counts for a request.

        Arguments:
            header_version: of the request; header 0 has no client id.
            client_id: as its header has it.
        """
        if header_version > 0:
            self.bytes_sent += 2 + len((client_id or "").encode("utf-8", "surrogateescape"))
        own = client_id or ""
        if self.first is None:
            self.first = own
        if self.policy == "per_request" or header_version < WITH_INSTANCE_ID:
            return own
        if own and own != self.first and own not in self.ignored and len(self.ignored) < self.MOST_IGNORED:
            self.ignored.append(own)
        return self.first
