"""Additional rows of exchanges: topics used, steps of groups, metrics pushed.

Topics are summed up per connection: one row per topic, direction and client id at its end. Steps and metrics become rows at once.
`kwire.analysis` makes `topic_access` and `group_events` of `topic_use` and `group_steps`, which are not tables of the analysis.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import pyarrow as pa

from kwire.json_encoding import encode_json
from kwire.protocol.events import GroupStep, MetricsPushed, PartitionUse, TopicsUsed
from kwire.tables.column_builder import ColumnBuilder
from kwire.tables.columns import GROUP_STEP_COLUMNS, TOPIC_USE_COLUMNS
from kwire.tables.schemas import TELEMETRY, schema_from

__all__ = ["GROUP_STEPS", "JSON", "OBSERVED", "TOPIC_USE", "ObservedRows", "TopicSum", "TopicSums", "spelled"]

TOPIC_USE: Final = schema_from(TOPIC_USE_COLUMNS)
GROUP_STEPS: Final = schema_from(GROUP_STEP_COLUMNS)

OBSERVED: Final[dict[str, pa.Schema]] = {"telemetry": TELEMETRY, "topic_use": TOPIC_USE, "group_steps": GROUP_STEPS}

JSON: Final = partial(encode_json, ascii_only=False)
_Place = tuple[str, str | None, str | None, str | None]


class TopicSum:
    __slots__ = ("acks", "batches", "bytes", "codecs", "errors", "first", "largest", "last", "magics", "partitions", "records", "refused",
                 "requests", "seen", "unseen")  # fmt: skip

    def __init__(self, time: int | None) -> None:
        self.requests = self.errors = self.records = self.batches = self.bytes = self.largest = 0
        self.magics = self.codecs = 0
        self.seen = self.unseen = 0  # requests of which all that travelled was seen, or not
        self.first: int | None = time
        self.last: int | None = time
        self.acks: set[int] = set()
        self.partitions: set[int] = set()
        self.refused: set[int] = set()

    def volume(self) -> tuple[int | None, ...]:
        """Return the captured records, batches, bytes and the bytes of the largest batch; null if nothing was captured whole."""
        if self.unseen and not self.seen:
            return None, None, None, None
        return self.records, self.batches, self.bytes, self.largest

    def add(self, use: PartitionUse) -> None:
        self.records += use.records
        self.batches += use.batches
        self.bytes += use.bytes
        self.largest = max(self.largest, use.largest)
        self.magics |= use.magics
        self.codecs |= use.codecs
        self.partitions.add(use.partition)
        if use.error_code:
            self.errors += 1
            self.refused.add(use.error_code)


class TopicSums:
    """Topics used on one connection: sums by direction, name, id and client id, in the order of first use."""

    __slots__ = ("sums",)

    def __init__(self) -> None:
        self.sums: dict[_Place, TopicSum] = {}

    def add(self, event: TopicsUsed) -> None:
        counted: set[_Place] = set()
        unseen = {(event.direction, use.topic, use.topic_id, event.client_id) for use in event.uses if use.unseen}
        for use in event.uses:
            place = (event.direction, use.topic, use.topic_id, event.client_id)
            if place not in counted:
                counted.add(place)
                found = self.request(place, event.time, event.acks)
                if place in unseen:
                    found.seen -= 1
                    found.unseen += 1
            self.sums[place].add(use)

    def request(self, place: _Place, time: int | None, acks: int | None) -> TopicSum:
        """Count a request that used a topic, as fully captured, and return the sum, to which the caller adds its partitions.

        Time is in nanoseconds since 1970 (lines of a request log may have none); acks has the value of a Produce, else None.
        """
        found = self.sums.get(place)
        if found is None:
            found = self.sums[place] = TopicSum(time)
        found.requests += 1
        found.seen += 1
        if time is not None:
            if found.first is None or time < found.first:
                found.first = time
            if found.last is None or time > found.last:
                found.last = time
        if acks is not None:
            found.acks.add(acks)
        return found

    def plain(self) -> list[tuple[Any, ...]]:
        """Return the sums as plain values in the order of first use; times in nanoseconds."""
        return [
            (
                direction, topic, topic_id, client_id, each.requests, each.errors, each.records, each.batches, each.bytes, each.largest,
                each.first, each.last, each.magics, each.codecs, each.seen, each.unseen, sorted(each.acks), sorted(each.partitions),
                sorted(each.refused),
            )
            for (direction, topic, topic_id, client_id), each in self.sums.items()
        ]  # fmt: skip

    def put_back(self, sums: list[tuple[Any, ...]]) -> None:
        self.sums = {}
        for direction, topic, topic_id, client_id, *numbers, acks, partitions, refused in sums:
            each = self.sums[direction, topic, topic_id, client_id] = TopicSum(0)
            (
                each.requests, each.errors, each.records, each.batches, each.bytes, each.largest, each.first, each.last, each.magics,
                each.codecs, each.seen, each.unseen,
            ) = numbers  # fmt: skip
            each.acks, each.partitions, each.refused = set(acks), set(partitions), set(refused)

    def rows(self, connection_id: str) -> list[tuple[Any, ...]]:
        return [
            (
                connection_id, client_id, direction, topic, topic_id, each.requests, each.errors, *each.volume(), _us(each.first),
                _us(each.last), _bits(each.magics), _bits(each.codecs), sorted(each.acks), sorted(each.partitions), sorted(each.refused),
                each.unseen,
            )
            for (direction, topic, topic_id, client_id), each in self.sums.items()
        ]  # fmt: skip


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def spelled(assignment: list[tuple[str, list[int]]]) -> list[str]:
    return [f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in assignment]


class ObservedRows:
    def __init__(self, series: str) -> None:
        self.series = series
        self.builders = {name: ColumnBuilder(schema) for name, schema in OBSERVED.items()}

    def end(self, connection_id: str, sums: TopicSums) -> None:
        for row in sums.rows(connection_id):
            self.builders["topic_use"].add(row)

    def step(self, capture: str, connection_id: str, step: GroupStep) -> None:
        members = JSON([list(member) for member in step.members]) if step.members else None
        assignment = None if step.assignment is None else spelled(step.assignment)
        self.builders["group_steps"].add(
            (
                self.series, capture, connection_id, None, step.request_index, step.client_id, step.group_id, step.kind, step.protocol,
                step.member_id, step.group_instance_id, step.generation, step.protocol_type, step.protocol_name, step.leader,
                step.subscription, assignment, members, step.session_timeout_ms, step.rebalance_timeout_ms, step.error_code, step.reason,
                step.time // 1000, None if step.response_time is None else step.response_time // 1000,
            )
        )  # fmt: skip

    def metrics(self, capture: str, connection_id: str, pushed: MetricsPushed) -> None:
        """Add rows of `telemetry`; a push with unreadable points is one row without a metric."""
        head = (
            self.series, capture, connection_id, None, pushed.request_index, pushed.client_instance_id, pushed.software_name,
            pushed.software_version, pushed.client_id, pushed.principal, pushed.subscription_id, pushed.terminating,
        )  # fmt: skip
        time = _us(pushed.time)
        for point in pushed.points:
            value = point["value"]
            self.builders["telemetry"].add(
                (
                    *head, point["metric"], point["type"], point["temporality"], None if value is None else float(value), point["count"],
                    None if point["buckets"] is None else encode_json(point["buckets"]), _labels(point["attributes"]),
                    _labels(point["resource"]), _us(point["start_time_unix_nano"]), _us(point["time_unix_nano"]) or time,
                )
            )  # fmt: skip
        if not pushed.points:
            self.builders["telemetry"].add((*head, *[None] * 9, time))


def _labels(labels: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((key, value if isinstance(value, str) else JSON(value)) for key, value in labels.items())


def _us(time_ns: int | None) -> int | None:
    return None if time_ns is None else min(time_ns // 1000, (1 << 63) - 1) or None
