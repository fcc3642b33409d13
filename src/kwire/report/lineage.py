"""Writers and readers of topics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.records import record

__all__ = ["NAMELESS", "ClientTopics", "SideRisk", "Topic", "TopicUse", "read_lineage", "read_topics_of_clients", "topics_at_risk"]

NAMELESS: Final = "without a name"
"""Name of a client that sends an empty client id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicUse:
    """Use of one topic by one client in one direction; `groups` has its consumer groups. Amounts are None if unknown."""

    client_key: str
    client: str
    groups: tuple[str, ...]
    requests: int
    errors: int
    records: int | None
    bytes: int | None
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRisk:
    """Producers or consumers of a topic: their number, and how many break or might break."""

    clients: int
    breaks: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Topic with its writers and readers, the busiest first; an unresolved topic is named ``id`` plus its id.

    Attributes:
        writers, readers: listed ones, of `writing` and `reading`; one for each client id of a client.
        formats: compression codecs, and message formats below v2, of written batches.
        records_written, bytes_written, records_read: None if there was traffic but no whole batch.
    """

    name: str
    resolved: bool
    writers: tuple[TopicUse, ...]
    readers: tuple[TopicUse, ...]
    formats: tuple[str, ...]
    producers: SideRisk
    consumers: SideRisk
    writing: int
    reading: int
    records_written: int | None
    bytes_written: int | None
    records_read: int | None

    @property
    def breaks(self) -> int:
        return self.producers.breaks + self.consumers.breaks

    @property
    def unknown(self) -> int:
        return self.producers.unknown + self.consumers.unknown

    @property
    def worst(self) -> str:
        """Verdict of its worst client; ``compatible`` also if no client was judged."""
        return "breaks" if self.breaks else "unknown" if self.unknown else "compatible"

    @property
    def is_stopped(self) -> bool:
        return any(side.clients and side.breaks == side.clients for side in (self.producers, self.consumers))


def topics_at_risk(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    """Sort topics by their breaking clients: topics that stop first, then those that lose most, then the busiest."""
    return tuple(sorted(topics, key=lambda one: (not one.is_stopped, -one.breaks, -one.unknown)))


@dataclass(frozen=True, slots=True)
class ClientTopics:
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def read_lineage(folder: AnalysisFolder) -> tuple[Topic, ...]:
    uses: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(folder.digest, "topic_uses"):
        uses[_key(row)].append(row)
    formats: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows_of(folder.digest, "topic_formats"):
        formats[_key(row)].append(row["format"])
    topics = [_topic(row, uses[key], formats[key]) for row in folder.digest["topics"].to_pylist() if (key := _key(row)) in uses]
    return tuple(sorted(topics, key=lambda topic: (-(topic.records_written or 0) - (topic.records_read or 0), topic.name)))


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["topic"] or "", row["topic_id"] or ""


def _name(row: dict[str, Any]) -> str:
    topic, topic_id = _key(row)
    return topic or (f"id {topic_id}" if topic_id else "unknown topic")


def _topic(row: dict[str, Any], uses: list[dict[str, Any]], formats: list[str]) -> Topic:
    return Topic(
        name=_name(row),
        resolved=bool(row["topic"]),
        writers=_uses(use for use in uses if use["direction"] == "produce"),
        readers=_uses(use for use in uses if use["direction"] != "produce"),
        formats=tuple(sorted(formats)),
        producers=_side(row, "writers"),
        consumers=_side(row, "readers"),
        writing=row["writing_rows"],
        reading=row["reading_rows"],
        records_written=_seen(row["records_written"], row["writing_rows"]),
        bytes_written=_seen(row["bytes_written"], row["writing_rows"]),
        records_read=_seen(row["records_read"], row["reading_rows"]),
    )


def _side(row: dict[str, Any], name: str) -> SideRisk:
    return SideRisk(clients=row[name], breaks=row[f"{name}_break"], unknown=row[f"{name}_unknown"])


def _seen(volume: int | None, rows: int) -> int | None:
    """Return a sum: None if there was traffic but no known amount, 0 if there was no traffic."""
    return 0 if volume is None and not rows else volume


def _uses(rows: Iterable[dict[str, Any]]) -> tuple[TopicUse, ...]:
    uses = [record(TopicUse, row, client=row["client_id"] or NAMELESS, groups=tuple(row["group_ids"] or ())) for row in rows]
    return tuple(sorted(uses, key=lambda use: (-(use.records or 0), use.client)))


def read_topics_of_clients(folder: AnalysisFolder) -> dict[str, ClientTopics]:
    """Read the topics of each listed client, the busiest first, and its consumer groups."""
    order = {
        _key(row): (-(row["records_written"] or 0) - (row["records_read"] or 0), _name(row)) for row in folder.digest["topics"].to_pylist()
    }
    writes, reads, groups = (defaultdict[str, dict[str, None]](dict) for _ in range(3))
    rows = sorted(rows_of(folder.digest, "topics_of_clients"), key=lambda row: order[_key(row)])
    for row in rows:
        key, name = row["client_key"] or "", _name(row)
        if row["direction"] == "produce":
            writes[key][name] = None
        else:
            reads[key][name] = None
            groups[key].update(dict.fromkeys(row["group_ids"] or ()))
    return {key: ClientTopics(*(tuple(found.get(key, ())) for found in (writes, reads, groups))) for key in writes.keys() | reads.keys()}
