"""Who writes a topic and who reads it: client -> topic -> client, as far as the captures show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kwire.report.analysis_folder import AnalysisFolder

__all__ = ["NAMELESS", "ClientTopics", "Topic", "TopicUse", "read_lineage", "topics_by_client"]

NAMELESS: Final = "without a name"
"""What a client is called that sends an empty client id."""

_COLUMNS: Final = (
    "client_key", "client_id", "group_ids", "topic", "topic_id", "direction", "requests", "errors", "records", "bytes", "compression",
    "magic", "first_seen", "last_seen",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicUse:
    """What one client does with one topic, in one direction; `groups` are those it reads with. Volumes are None where none was seen."""

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
class Topic:
    """A topic with its writers and readers, the busiest first.

    Attributes:
        name: the topic, or the words ``id`` and its id where no message in sight tells the name.
        resolved: whether `name` is the topic's name.
        formats: compression codecs, and message formats below v2, of what was written.
    """

    name: str
    resolved: bool
    writers: tuple[TopicUse, ...]
    readers: tuple[TopicUse, ...]
    formats: tuple[str, ...]

    @property
    def records_written(self) -> int | None:
        return _seen([one.records for one in self.writers])

    @property
    def records_read(self) -> int | None:
        return _seen([one.records for one in self.readers])

    @property
    def bytes_written(self) -> int | None:
        return _seen([one.bytes for one in self.writers])


@dataclass(frozen=True, slots=True)
class ClientTopics:
    """The topics of one client."""

    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def read_lineage(folder: AnalysisFolder) -> tuple[Topic, ...]:
    """All topics, the busiest first."""
    rows: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for row in folder.rows("topic_access", _COLUMNS):
        nameless = f"id {row['topic_id']}" if row["topic_id"] else "unknown topic"
        rows[row["topic"] or nameless, bool(row["topic"])].append(row)
    topics = [_topic(name, resolved, of_topic) for (name, resolved), of_topic in rows.items()]
    return tuple(sorted(topics, key=lambda topic: (-(topic.records_written or 0) - (topic.records_read or 0), topic.name)))


def _topic(name: str, resolved: bool, rows: list[dict[str, Any]]) -> Topic:
    written = [row for row in rows if row["direction"] == "produce"]
    codecs = {"uncompressed" if codec == "none" else codec for row in written for codec in row["compression"] or ()}
    old = {f"message format v{magic}" for row in written for magic in row["magic"] or () if magic < 2}
    return Topic(
        name=name,
        resolved=resolved,
        writers=_uses(written),
        readers=_uses(row for row in rows if row["direction"] != "produce"),
        formats=tuple(sorted(codecs | old)),
    )


def _seen(volumes: list[int | None]) -> int | None:
    """The sum of what was seen; None where several did something and none of it was seen."""
    known = [volume for volume in volumes if volume is not None]
    return sum(known) if known or not volumes else None


def _uses(rows: Iterable[dict[str, Any]]) -> tuple[TopicUse, ...]:
    uses = [
        TopicUse(
            client_key=row["client_key"] or "",
            client=row["client_id"] or NAMELESS,
            groups=tuple(row["group_ids"] or ()),
            requests=row["requests"] or 0,
            errors=row["errors"] or 0,
            records=row["records"],
            bytes=row["bytes"],
            first_seen=row["first_seen"],
            last_seen=row["last_seen"],
        )
        for row in rows
    ]
    return tuple(sorted(uses, key=lambda use: (-(use.records or 0), use.client)))


def topics_by_client(topics: Iterable[Topic]) -> dict[str, ClientTopics]:
    """The topics that each client key writes and reads, in the order of `topics`, and the groups it reads with."""
    writes, reads, groups = (defaultdict[str, dict[str, None]](dict) for _ in range(3))
    for topic in topics:
        for use in topic.writers:
            writes[use.client_key][topic.name] = None
        for use in topic.readers:
            reads[use.client_key][topic.name] = None
            groups[use.client_key].update(dict.fromkeys(use.groups))
    return {key: ClientTopics(*(tuple(found.get(key, ())) for found in (writes, reads, groups))) for key in writes.keys() | reads.keys()}
