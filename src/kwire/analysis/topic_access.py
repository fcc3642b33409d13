"""Rows of `topic_access`: which client uses which topic, in which direction, how much and how.

Produce 13, Fetch 13 and all of share groups name topics by id alone (KIP-516). Their names come from whatever message gave both, in any
file, before or after; rows of one topic that are known by name here and by id there become one. A topic that was made again has two ids and
two rows; where a row has no id, it belongs to the name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from kwire.analysis.partials import Partial
from kwire.analysis.plain_rows import rows_of
from kwire.analysis.shown_ids import ShownIds
from kwire.schema import error_name
from kwire.tables.schemas import TOPIC_ACCESS

__all__ = ["topic_access"]

# Codecs by number, as the attributes of a record batch have them (CompressionType).
_CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
_SUMS: Final = ("requests", "errors", "unseen_requests", "records", "batches", "bytes")
_OF_CLIENT: Final = ("client_key", "software_name", "software_version", "principal", "address")
_Place = tuple[str, str | None, str, str | None, str | None]


class _TopicNames:
    """Resolves ids, and finds the one id of a topic that is named only."""

    def __init__(self, partial: Partial) -> None:
        self.name_of: dict[str, str] = {}
        ids: dict[str, set[str]] = defaultdict(set)
        for row in rows_of(partial["topic_names"], "topic_id", "topic"):
            self.name_of[row["topic_id"]] = row["topic"]
            ids[row["topic"]].add(row["topic_id"])
        self._only_id = {topic: next(iter(found)) for topic, found in ids.items() if len(found) == 1}

    def resolve(self, topic: str | None, topic_id: str | None) -> tuple[str | None, str | None]:
        if topic is None:
            return self.name_of.get(topic_id or ""), topic_id
        return topic, topic_id or self._only_id.get(topic)


def _of_known(which: Callable[[list[Any]], Any], *values: Any) -> Any:
    """A request log knows neither batches nor, always, times: null where nobody knows."""
    known = [value for value in values if value is not None]
    return which(known) if known else None


def topic_access(partial: Partial) -> pa.Table:
    """Make the table.

    Args:
        partial: merged parts.
    """
    shown, names = ShownIds(partial), _TopicNames(partial)

    def place_of(row: dict[str, Any]) -> _Place:
        key = row["client_key"]
        return (key, shown(key, row["client_id"]), row["direction"], *names.resolve(row["topic"], row["topic_id"]))

    found: dict[_Place, dict[str, Any]] = {}
    for row in rows_of(partial["topic_use"]):
        known = found.setdefault(place_of(row), row)
        if known is not row:
            for name in _SUMS:
                known[name] = _of_known(sum, known[name], row[name])
            known["max_batch_bytes"] = _of_known(max, known["max_batch_bytes"], row["max_batch_bytes"])
            known["first_seen"] = _of_known(min, known["first_seen"], row["first_seen"])
            known["last_seen"] = _of_known(max, known["last_seen"], row["last_seen"])
    marks: dict[_Place, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in rows_of(partial["topic_marks"]):
        marks[place_of(row)][row["mark"]].add(row["value"])
    who = _Clients(partial)
    groups: dict[tuple[str, str | None], set[str]] = defaultdict(set)
    for row in rows_of(partial["group_use"]):
        groups[row["client_key"], shown(row["client_key"], row["client_id"])].add(row["group_id"])
    rows = []
    for place in sorted(found, key=lambda place: tuple("" if part is None else part for part in place)):
        key, client_id, direction, topic, topic_id = place
        row, mark = found[place], marks[place]
        rows.append(
            row
            | who.columns(key)
            | {
                "client_key": key,
                "client_id": client_id,
                "group_ids": sorted(groups[key, client_id]) if direction == "fetch" else [],
                "topic": topic,
                "topic_id": topic_id,
                "error_names": sorted(error_name(code) for code in mark["error_codes"]),
                "magic": sorted(mark["magic"]),
                "compression": sorted(_CODECS[codec] if codec < len(_CODECS) else f"unknown {codec}" for codec in mark["compression"]),
                "acks": sorted(mark["acks"]),
                "partitions": sorted(mark["partitions"]),
            }
        )
    return pa.Table.from_pylist([{name: row[name] for name in TOPIC_ACCESS.names} for row in rows], schema=TOPIC_ACCESS)


class _Clients:
    """What the rows of a client key say of the client."""

    def __init__(self, partial: Partial) -> None:
        self._of: dict[str, dict[str, Any]] = {}
        for row in rows_of(partial["identities"], *_OF_CLIENT):
            known = self._of.setdefault(
                row["client_key"],
                {
                    "software_name": row["software_name"],
                    "software_version": row["software_version"],
                    "principals": set(),
                    "addresses": set(),
                },
            )
            known["principals"].add(row["principal"])
            known["addresses"].add(row["address"])

    def columns(self, key: str) -> dict[str, Any]:
        known = self._of.get(key, {"software_name": None, "software_version": None, "principals": (), "addresses": ()})
        lists = {name: sorted(value for value in known[name] if value is not None) for name in ("principals", "addresses")}
        return {**known, **lists}
