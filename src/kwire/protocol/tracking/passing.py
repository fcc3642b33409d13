"""Bodies that a connection skips (`Connection(bodies=...)`), so that they cost a proxy no time or memory."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Final

from kwire.codec.classes import compiled
from kwire.codec.plan import Plan
from kwire.errors import Fault, WireError
from kwire.protocol.sasl import SaslState
from kwire.protocol.tracking.pairing import Pairing
from kwire.protocol.tracking.prefix_reading import read_damaged
from kwire.protocol.tracking.reading import REQUEST_HEAD, header_reader, peek_correlation_id, released_header

__all__ = ["NEEDED_BODIES", "PRODUCE", "Passing", "plan_up_to_acks", "read_acks"]

PRODUCE: Final = 0
_SOME_HEADER: Final = 64  # bytes; most request headers are shorter
_RESPONSE_HEAD: Final = 4  # correlation id
# SaslHandshake, ApiVersions, SaslAuthenticate, GetTelemetrySubscriptions: who the client is follows from them, so they are always read.
NEEDED_BODIES: Final = frozenset((17, 18, 36, 71))


@cache
def plan_up_to_acks(version: int) -> Plan:
    plan = compiled().plan("ProduceRequest", version, ("acks",))
    first = plan.blocks[0]
    count = next(n for n in range(1, first.untagged + 1) if plan.attribute(0, first.first + n - 1) == "acks")
    return plan._replace(flexible=False, blocks=(first._replace(untagged=count, tagged=0), *plan.blocks[1:]))


def read_acks(payload: bytes, offset: int, version: int) -> tuple[int, int] | None:
    """Return the acks of a Produce request of a released version, and the offset behind them; None if `payload` ends before them."""
    read = read_damaged(plan_up_to_acks(version), payload, offset)
    return (read.message.acks, read.end) if read.error is None else None


class Passing:
    __slots__ = ("_pairing", "_sasl", "bodies")

    def __init__(self, bodies: Collection[int] | None, sasl: SaslState, pairing: Pairing) -> None:
        self.bodies = None if bodies is None else NEEDED_BODIES | frozenset(bodies)
        self._sasl = sasl
        self._pairing = pairing

    def reads(self, api_key: int | None) -> bool:
        return self.bodies is None or api_key in self.bodies

    def request_head(self, payload: bytes) -> int:
        """Return the number of bytes to keep of an incomplete request, 0 for all; see `FrameSplitter`."""
        if self._sasl.raw:
            return 0
        if len(payload) < REQUEST_HEAD.size:
            return REQUEST_HEAD.size
        key, version, _ = REQUEST_HEAD.unpack_from(payload)
        if self.reads(key) or not released_header(key, version)[0]:
            return 0
        try:
            _, offset = header_reader().read(payload, strict=False)
        except WireError as error:
            # Twice as much each time, so that a long client id in small pieces is not read again with each.
            return max(2 * len(payload), _SOME_HEADER) if error.code is Fault.TRUNCATED else 0
        if key != PRODUCE:
            return int(offset)
        found = read_acks(payload, offset, version)
        return max(2 * len(payload), _SOME_HEADER) if found is None else found[1]

    def response_head(self, payload: bytes) -> int:
        """Do the same for a response: keep only its correlation id if the next waiting request has it and is skipped."""
        waiting = self._pairing.waiting
        if not waiting or waiting[0].row is None or waiting[0].row.body != "skipped" or self._pairing.holds:
            return 0
        number = peek_correlation_id(payload)
        return _RESPONSE_HEAD if number is None or number == waiting[0].row.correlation_id else 0
