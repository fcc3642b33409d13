"""Index of waiting requests by correlation id, which also counts overtaken requests without scanning all.

The requests are in a list in the order of sending. The index is built when a response first violates that order, and then follows the list;
other code may append requests and remove the first one, as the native tracker does.

    ordinal      of a request in the order of sending, counted from the making of the index; found in the list by bisection
    ids          ordinals by correlation id; those of removed requests are dropped when they are met
    answered     a bit at the ordinal of each request that was answered before an earlier one
    cursors      up to where all are tokens, and up to where an overtaking response gives up nothing more

When more than half of the ordinals belong to removed requests, the index is rebuilt. So the cost of a response does not depend on the
number of waiting requests.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kwire.protocol.tracking.pairing import Waiting

__all__ = ["UNNUMBERED", "WaitingIndex"]

# The ordinal of a request that is not in an index.
UNNUMBERED: Final = -1
_SPARE: Final = 64  # ordinals of requests that have left, however few wait
_ORDINAL: Final = attrgetter("ordinal")


class WaitingIndex:
    """Index over the list of a `kwire.protocol.tracking.pairing.Pairing`, which every method takes."""

    __slots__ = ("_answered", "_counted", "_ids", "_next", "_steady", "_tokens")

    def __init__(self) -> None:
        self._ids: dict[int, list[int]] = {}
        self._next = 0  # ordinal of the next request
        self._answered = 0  # bits
        self._counted = UNNUMBERED  # ordinal of the first request if its `overtaken_by` already contains these bits
        self._steady = 0  # no request before this ordinal may be silent or is a token
        self._tokens = 0  # every request before this ordinal is a token

    def _follow(self, waiting: list[Waiting]) -> None:
        if self._next > 2 * len(waiting) + _SPARE:
            self.clear(waiting)
        begin = len(waiting)
        while begin and waiting[begin - 1].ordinal == UNNUMBERED:
            begin -= 1
        for each in waiting[begin:]:
            each.ordinal = self._next
            self._next += 1
            number = each.correlation_id
            if number is not None:
                self._ids.setdefault(number, []).append(each.ordinal)

    def clear(self, waiting: list[Waiting]) -> None:
        """Drop all ordinals; write counts based on them to the requests."""
        for each in waiting:
            if each.ordinal != UNNUMBERED:
                each.overtaken_by += self._later(each)
                each.ordinal = UNNUMBERED
        self._ids.clear()
        self._next = self._answered = self._steady = self._tokens = 0
        self._counted = UNNUMBERED

    def find(self, waiting: list[Waiting], correlation_id: int) -> int | None:
        self._follow(waiting)
        ordinals = self._ids.get(correlation_id, ())
        for left, ordinal in enumerate(ordinals):
            at = bisect_left(waiting, ordinal, key=_ORDINAL)
            if at < len(waiting) and waiting[at].ordinal == ordinal:
                del self._ids[correlation_id][:left]
                return at
        if ordinals:
            del self._ids[correlation_id]
        return None

    def possible(self, waiting: list[Waiting], correlation_id: int) -> tuple[int | None, bool]:
        """Return the position of the first request with this correlation id and no lost response, and whether there are more."""
        self._follow(waiting)
        ordinals = self._ids.get(correlation_id, [])
        found: list[int] = []
        while len(found) < 2:
            left = len(found)  # requests that have left, and lost ones, are dropped
            at = next(((n, at) for n in range(left, len(ordinals)) if (at := self._open_at(waiting, ordinals[n])) is not None), None)
            del ordinals[left : len(ordinals) if at is None else at[0]]
            if at is None:
                break
            found.append(at[1])
        return (found[0] if found else None), len(found) > 1

    def _open_at(self, waiting: list[Waiting], ordinal: int) -> int | None:
        at = bisect_left(waiting, ordinal, key=_ORDINAL)
        return at if at < len(waiting) and waiting[at].ordinal == ordinal and not waiting[at].is_lost else None

    def first_with_header(self, waiting: list[Waiting]) -> int | None:
        self._follow(waiting)
        at = bisect_left(waiting, self._tokens, key=_ORDINAL)
        while at < len(waiting) and waiting[at].row is None:
            at += 1
        self._tokens = waiting[at].ordinal if at < len(waiting) else self._next
        return at if at < len(waiting) else None

    def overtake(self, waiting: list[Waiting], found: int, response_breaks: int) -> list[Waiting]:
        """Remove requests with lost responses before the answered one at position `found`; return them in the order of sending.

        Those were sent before responses last lost their border, may have no answer, or are tokens.
        """
        self._follow(waiting)
        ordinal = waiting[found].ordinal
        lost = 0
        while lost < found and response_breaks > waiting[lost].response_breaks:  # breaks rise in the order of sending
            lost += 1
        begin = max(lost, min(bisect_left(waiting, self._steady, key=_ORDINAL), found))
        given_up = waiting[:lost]
        steady: list[Waiting] = []
        for each in waiting[begin:found]:
            (given_up if each.may_be_silent or each.row is None else steady).append(each)
        waiting[begin:found] = steady
        del waiting[:lost]
        self._steady = max(self._steady, ordinal)
        return given_up

    def take(self, waiting: list[Waiting], at: int) -> Waiting:
        answered = waiting.pop(at)
        answered.overtaken_by += self._later(answered)
        if at:
            self._answered |= 1 << answered.ordinal
            if waiting[0].ordinal == self._counted:
                waiting[0].overtaken_by += 1
        self.count_first(waiting)
        return answered

    def count_first(self, waiting: list[Waiting]) -> None:
        """Write its count to the first request. If it is 0, no later one was overtaken."""
        if self._answered and waiting:
            waiting[0].overtaken_by += self._later(waiting[0])
            self._counted = waiting[0].ordinal

    def _later(self, request: Waiting) -> int:
        if not self._answered or request.ordinal in (UNNUMBERED, self._counted):
            return 0
        return (self._answered >> (request.ordinal + 1)).bit_count()
