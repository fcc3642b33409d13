"""Sums over the requests of a series; texts are replaced by integers, so each text is processed once, not once per row.

A *use* is a program (client key and id, software, server), an api with its version, and an hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Ints, taken
from kwire.analysis.latency_buckets import bucket_of
from kwire.analysis.row_sums import Connections, Found, codes_of, unnamed_ids
from kwire.protocol.expected_errors import are_errors
from kwire.tables import SeriesRows, SeriesView
from kwire.tables.schemas import INT, LONG, TEXT, TIME

__all__ = ["RequestSums"]

_Use = tuple[int, int, int | None, str | None, int | None]  # code of the program, api, version, name, hour

_SUMS: Final = ("requests", "errors", "request_bytes", "response_bytes", "throttle_ms", "wanted", "answered", "unseen")
# Produce with acks=0, and responses without a request, want no answer; any other state does, whatever became of it.
_WANT_NOTHING: Final = pa.array(["no_response_expected", "orphan_response"])
_SASL_HANDSHAKE: Final = 17
_NEVER: Final = np.iinfo(np.int64).max
_BEFORE: Final = np.iinfo(np.int64).min
# Pairs that wait to be counted, before equal ones become one.
_WAITING: Final = 1 << 20
_NO_EVIDENCE: Final = (_NEVER, True, "", True, 0)


class _Counts:
    def __init__(self) -> None:
        self._pairs: list[Ints] = []
        self._counts: list[Ints] = []
        self._waiting = 0

    def add(self, left: Ints, right: Ints) -> None:
        """Count pairs; both numbers are below 2**31."""
        found = pa.array(left << 32 | right).value_counts()  # by hash; to sort them takes four times as long
        self._pairs.append(found.field("values").to_numpy())
        self._counts.append(found.field("counts").to_numpy())
        self._waiting += len(found)
        if self._waiting > _WAITING:
            self._settle()

    def _settle(self) -> None:
        if self._pairs:
            pairs, place = np.unique(np.concatenate(self._pairs), return_inverse=True)
            counts = np.bincount(place, np.concatenate(self._counts), len(pairs)).astype(np.int64)
            self._pairs, self._counts = [pairs], [counts]
        self._waiting = 0  # what is settled is what is different, and may be more than the limit

    def found(self) -> tuple[Ints, Ints, Ints]:
        self._settle()
        if not self._pairs:
            nothing = np.empty(0, np.int64)
            return nothing, nothing, nothing
        return self._pairs[0] >> 32, self._pairs[0] & 0xFFFFFFFF, self._counts[0]


class RequestSums:
    """Sums over the requests of some connections, batch by batch, for `kwire.analysis.partials`."""

    def __init__(self, rows: SeriesRows | SeriesView) -> None:
        self.join = Connections(rows)
        self._uses: dict[_Use, int] = {}
        self._sums = np.zeros((64, len(_SUMS)), np.int64)
        self._first = np.full(64, _NEVER, np.int64)
        self._last = np.full(64, _BEFORE, np.int64)
        self._evidence: list[tuple[int, bool, str, bool, int]] = []
        self._latencies = _Counts()  # use, bucket
        self._active = _Counts()  # use, row of the connection
        self._errors = _Counts()  # use, error
        self._groups = _Counts()  # program, group
        self._names: dict[str | None, int] = {}
        self.handshaken = np.zeros(len(self.join.table), np.bool_)
        self._unanswered = np.full(len(self.join.table), -1, np.int64)  # by row of the connection, the last such request

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows of `requests`; skip those without an api key."""
        if batch.column("api_key").null_count:
            batch = batch.filter(pc.is_valid(batch.column("api_key")))
        if not batch.num_rows:
            return
        rows = self.join.rows_of(batch.column("connection_id"))
        at = rows.fill_null(-1).to_numpy().astype(np.int64)
        who = np.where(at < 0, -1, self.join.programs[at])
        self._see_unanswered(batch, at)
        self.handshaken[at[(batch.column("api_key").to_numpy() == _SASL_HANDSHAKE) & (at >= 0)]] = True
        time = batch.column("request_time").cast(LONG)
        bare: Any = batch.column("request_time").cast(pa.timestamp("us"))  # in no zone: to round in one takes ten times as long
        hour = pc.floor_temporal(bare, unit="hour").cast(LONG)
        local, first = codes_of(pa.array(who), batch.column("api_key"), batch.column("api_version"), batch.column("api_name"), hour)
        use = self._use_of(who, batch, hour, first)
        wrong = are_errors(*(batch.column(name).fill_null(0).to_numpy() for name in ("api_key", "error_code")))
        self._add_sums(batch, local, use, wrong)
        self._add_times(batch, time, local, use)
        of_row = use[local]
        latency = batch.column("latency_us")
        known = pc.is_valid(latency).to_numpy(zero_copy_only=False)
        buckets = bucket_of(latency.fill_null(0).to_numpy())
        self._latencies.add(of_row[known], buckets[known].astype(np.int64))
        self._active.add(of_row, at + 1)
        failed: Any = pa.array(wrong)
        self._errors.add(of_row[wrong], self._named(batch.column("error_name").filter(failed)))
        group = batch.column("group_id")
        named: Any = pc.fill_null(pc.not_equal(group, pa.scalar("")), pa.scalar(False))
        self._groups.add(who[named.to_numpy(zero_copy_only=False)] + 1, self._named(group.filter(named)))

    def _use_of(self, who: Ints, batch: pa.RecordBatch, hour: Any, first: Ints) -> Ints:
        """Return the numbers of the uses of a batch; `first` has one row of each."""
        at: Any = pa.array(first)
        columns = [batch.column(name).take(at).to_pylist() for name in ("api_key", "api_version", "api_name")]
        keys = zip(who[first].tolist(), *columns, hour.take(at).to_pylist(), strict=True)
        use = np.array([self._uses.setdefault(key, len(self._uses)) for key in keys], np.int64)
        while len(self._uses) > len(self._first):
            size = len(self._first)
            self._sums = np.concatenate([self._sums, np.zeros((size, len(_SUMS)), np.int64)])
            self._first = np.concatenate([self._first, np.full(size, _NEVER, np.int64)])
            self._last = np.concatenate([self._last, np.full(size, _BEFORE, np.int64)])
        self._evidence += [_NO_EVIDENCE] * (len(self._uses) - len(self._evidence))
        return use

    def _add_sums(self, batch: pa.RecordBatch, local: Ints, use: Ints, wrong: Any) -> None:
        sizes = [batch.column(name).fill_null(0).to_numpy() for name in ("request_bytes", "response_bytes")]
        throttled = np.maximum(batch.column("throttle_time_ms").fill_null(0).to_numpy(), 0)
        state = batch.column("state")
        wants: Any = pc.invert(pc.is_in(state, value_set=_WANT_NOTHING))
        fates = [wants, *(pc.equal(state, pa.scalar(each)) for each in ("answered", "unseen"))]
        states = [fate.fill_null(False).to_numpy(zero_copy_only=False) for fate in fates]
        values = (None, wrong, *sizes, throttled, *states)
        for number, value in enumerate(values):
            # doubles are exact up to 2**53, and a batch has no such sum
            self._sums[use, number] += np.bincount(local, value, len(use)).astype(np.int64)

    def _add_times(self, batch: pa.RecordBatch, time: Any, local: Ints, use: Ints) -> None:
        """Record first and last time and the first request of each use; requests without a time are last."""
        earliest = time.fill_null(_NEVER).to_numpy()
        first = np.full(len(use), _NEVER, np.int64)
        np.minimum.at(first, local, earliest)
        last = np.full(len(use), _BEFORE, np.int64)
        np.maximum.at(last, local, time.fill_null(_BEFORE).to_numpy())
        self._first[use] = np.minimum(self._first[use], first)
        self._last[use] = np.maximum(self._last[use], last)
        rows = np.flatnonzero(earliest == first[local])
        at: Any = pa.array(rows)
        names = (batch.column(name).take(at).to_pylist() for name in ("connection_id", "request_index"))
        for number, when, connection, index in zip(use[local[rows]].tolist(), earliest[rows].tolist(), *names, strict=True):
            evidence = (when, connection is None, connection or "", index is None, index or 0)
            if evidence < self._evidence[number] or self._evidence[number] is _NO_EVIDENCE:
                self._evidence[number] = evidence

    def _see_unanswered(self, batch: pa.RecordBatch, at: Ints) -> None:
        waited: Any = pc.fill_null(pc.equal(batch.column("state"), pa.scalar("unanswered")), pa.scalar(False))
        rows = np.flatnonzero(waited.to_numpy(zero_copy_only=False) & (at >= 0))
        if len(rows):
            index = batch.column("request_index").fill_null(-1).to_numpy().astype(np.int64)
            np.maximum.at(self._unanswered, at[rows], index[rows])

    def told_apart(self, refusals: pa.Table) -> Any:
        """Return the kind of each refusal; `disconnected` only if the server closed while a request waited for its answer.

        A connection that the server closed after Produce with acks=0, or one with a gap, does not prove a refusal: `closed`.
        """
        kinds: Any = refusals.column("refusal").combine_chunks()
        at = self.join.rows_of(refusals.column("connection_id")).fill_null(-1).to_numpy().astype(np.int64)
        gaps: Any = self.join.table.column("gaps")
        whole = gaps.fill_null(0).to_numpy() == 0
        index = refusals.column("request_index").to_numpy()
        proven = (at >= 0) & (self._unanswered[at] >= index) & whole[at] if len(at) else np.zeros(0, np.bool_)
        closed = pc.and_(pc.equal(kinds, pa.scalar("disconnected")), pa.array(~proven))
        return pc.if_else(closed, pa.scalar("closed"), kinds)

    def _named(self, texts: Any) -> Ints:
        found = texts.dictionary_encode(null_encoding="encode")
        numbers = [self._names.setdefault(name, len(self._names)) for name in found.dictionary.to_pylist()]
        return np.array(numbers, np.int64)[found.indices.to_numpy()] if numbers else np.empty(0, np.int64)

    def found(self) -> Iterator[Found]:
        uses = self._places()
        size = len(self._uses)
        counted = {name: pa.array(self._sums[:size, number]) for number, name in enumerate(_SUMS)}
        evidence = self._evidence
        yield "usage", {
            **uses, **counted, "first_seen": _times(self._first[:size], _NEVER), "last_seen": _times(self._last[:size], _BEFORE),
            "evidence_connection_id": pa.array([None if one[1] else one[2] for one in evidence], TEXT),
            "evidence_request_index": pa.array([None if one[3] else one[4] for one in evidence], LONG),
        }  # fmt: skip
        use, _row, _count = self._active.found()
        hourly = uses | {"client_id": unnamed_ids(uses)}
        yield "hourly", {**hourly, **counted, "connections": pa.array(np.bincount(use, minlength=size).astype(np.int64))}
        use, bucket, count = self._latencies.found()
        buckets = {"bucket": pa.array(bucket), "requests": pa.array(count)}
        yield "latency", taken(uses, use) | buckets
        yield "hourly_latency", taken(hourly, use) | buckets
        names: Any = pa.array(list(self._names), TEXT)
        use, error, count = self._errors.found()
        yield "error_names", {**taken(uses, use), "error_name": names.take(pa.array(error)), "requests": pa.array(count)}
        who, group, count = self._groups.found()
        programs = self.join.columns_of(who - 1)
        yield "group_use", {**programs, "group_id": names.take(pa.array(group)), "requests": pa.array(count)}

    def _places(self) -> dict[str, Any]:
        keys = list(zip(*self._uses, strict=True)) or [()] * len(_Use.__args__)  # type: ignore[attr-defined]
        programs = self.join.columns_of(np.array(keys[0], np.int64))
        return {
            **programs, "api_key": pa.array(keys[1], INT), "api_version": pa.array(keys[2], INT), "api_name": pa.array(keys[3], TEXT),
            "hour": pa.array(keys[4], LONG).cast(TIME),
        }  # fmt: skip


def _times(values: Ints, unknown: int) -> Any:
    return pa.array(values, LONG, mask=values == unknown).cast(TIME)
