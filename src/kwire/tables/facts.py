"""Facts of a series besides its rows: advertised version ranges, nodes of the cluster, refused requests.

They are small tables that are merged by concatenation; `kwire.analysis` uses them for brokers and verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from kwire.protocol.events import BrokersLearned, TopicsNamed, VersionsLearned
from kwire.tables.schemas import INT, TEXT, TIME, schema_named

__all__ = ["ADVERTISED", "FACT_SCHEMAS", "NODES", "REFUSALS", "TOPIC_NAMES", "SeriesFacts", "empty_table", "table_of"]

ADVERTISED: Final = schema_named("server api_key min_version max_version first_seen last_seen", min_version=INT, max_version=INT)
NODES: Final = schema_named("node_id host port rack cluster_id first_seen last_seen")
REFUSALS: Final = schema_named("connection_id server request_index api_key api_version refusal", refusal=TEXT)
"""`refusal` is `disconnected` or `unsupported_version`."""
TOPIC_NAMES: Final = schema_named("topic_id topic first_seen last_seen")
FACT_SCHEMAS: Final = {"advertised": ADVERTISED, "nodes": NODES, "refusals": REFUSALS, "topic_names": TOPIC_NAMES}

# What a server answers to ApiVersions: of each API the lowest and the highest version.
Answer = tuple[tuple[int, tuple[int, int]], ...]

_EMPTY: Final[dict[int, tuple[pa.Schema, pa.Table]]] = {}  # by identity: to hash a schema takes as long as to make the table


class SeriesFacts:
    """Collector of these facts; its size depends only on the cluster.

    An answer with error 35 lists only the versions for a retry (KIP-511), so it does not give the server's ranges.
    """

    __slots__ = ("_advertised", "_latest", "_nodes", "_topics", "refusals")

    def __init__(self) -> None:
        # by server, each distinct answer with the times of the first and the last: a server says the same a thousand times
        self._advertised: dict[str, dict[Answer, list[int | None]]] = {}
        # by server its latest answer, which request logs have as one object as long as it stays the same
        self._latest: dict[str, tuple[dict[int, tuple[int, int]], list[int | None]]] = {}
        self._nodes: dict[tuple[int, str, int], list[Any]] = {}
        self._topics: dict[tuple[str, str], list[int | None]] = {}
        self.refusals: list[tuple[str, str, int, int | None, int | None, str]] = []

    def learn_versions(self, server: str, event: VersionsLearned) -> list[int | None] | None:
        """Widen the range that `server` advertises; of a truncated answer, use the readable part.

        The caller updates the returned first and last time if it gets the same answer again. Returns None for an answer without ranges.
        """
        if event.error_code:
            return None
        time = _us(event.time)
        answer, seen = self._latest.get(server, ({}, []))
        if answer is not event.versions:
            seen = self._advertised.setdefault(server, {}).setdefault(tuple(event.versions.items()), [time, time])
            self._latest[server] = event.versions, seen
        seen[:] = [_least(seen[0], time), _greatest(seen[1], time)]
        return seen

    def learn_nodes(self, event: BrokersLearned) -> list[list[Any]]:
        """Add nodes, with the latest known rack and cluster id; return rack, cluster id, first and last time of each."""
        time = _us(event.time)
        learned: list[list[Any]] = []
        for node in event.nodes:
            if node.node_id < 0 or not node.host:  # FindCoordinator answers -1 and "" while there is no coordinator
                continue
            seen = self._nodes.setdefault((node.node_id, node.host, node.port), [None, None, time, time])
            seen[0] = node.rack or seen[0]
            seen[1] = event.cluster_id or seen[1]
            seen[2:] = [_least(seen[2], time), _greatest(seen[3], time)]
            learned.append(seen)
        return learned

    def learn_topics(self, event: TopicsNamed) -> list[list[int | None]]:
        """Add names of topic ids, and return first and last time of each; a recreated topic has a new id."""
        time = _us(event.time)
        learned: list[list[int | None]] = []
        for place in event.names.items():
            seen = self._topics.setdefault(place, [time, time])
            seen[:] = [_least(seen[0], time), _greatest(seen[1], time)]
            learned.append(seen)
        return learned

    def node_of(self, address: str, port: int) -> int | None:
        """Find the node at an address, by address and port, or by a port that only one node has."""
        exact = {node for node, host, at in self._nodes if at == port and host == address}
        found = exact or {node for node, _host, at in self._nodes if at == port}
        return found.pop() if len(found) == 1 else None

    def tables(self) -> dict[str, pa.Table]:
        nodes = [(*key, *seen) for key, seen in sorted(self._nodes.items())]
        rows = {
            "nodes": nodes,
            "refusals": sorted(self.refusals, key=lambda row: (row[0], row[2])),
            "topic_names": [(*place, *seen) for place, seen in sorted(self._topics.items())],
        }
        advertised = [_ranges(server, answers) for server, answers in sorted(self._advertised.items())]
        found = {name: table_of(FACT_SCHEMAS[name], some) for name, some in rows.items()}
        return {"advertised": pa.concat_tables(advertised) if advertised else empty_table(ADVERTISED), **found}


def _ranges(server: str, answers: Mapping[Answer, Sequence[int | None]]) -> pa.Table:
    if len(answers) == 1:  # nearly all servers say the same for as long as they run, and brokers of a release all say the same
        ((answer, (first, last)),) = answers.items()
        columns = _columns_of(answer)
        count = len(columns[0])
        times = (pa.repeat(pa.scalar(time, TIME), count) for time in (first, last))
        return pa.Table.from_arrays([pa.repeat(pa.scalar(server, TEXT), count), *columns, *times], schema=ADVERTISED)
    ranges: dict[int, list[Any]] = {}
    for answer, (first, last) in answers.items():
        for key, (low, high) in answer:
            seen = ranges.setdefault(key, [low, high, first, last])
            seen[:] = [min(seen[0], low), max(seen[1], high), _least(seen[2], first), _greatest(seen[3], last)]
    return table_of(ADVERTISED, [(server, key, *seen) for key, seen in sorted(ranges.items())])


@lru_cache(64)
def _columns_of(answer: Answer) -> tuple[Any, Any, Any]:
    rows = sorted((key, low, high) for key, (low, high) in answer)
    return tuple(pa.array([row[place] for row in rows], pa.int32()) for place in range(3))  # type: ignore[return-value]


def _us(time_ns: int | None) -> int | None:
    return None if time_ns is None else time_ns // 1000


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _greatest(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a cached empty table, because Arrow takes 10 us per empty column, which matters for a series of a few kilobytes."""
    found = _EMPTY.get(id(schema))
    if found is None:
        found = _EMPTY[id(schema)] = schema, schema.empty_table()
    return found[1]


def table_of(schema: pa.Schema, rows: list[tuple[Any, ...]]) -> pa.Table:
    if not rows:
        return empty_table(schema)
    columns = list(zip(*rows, strict=True))
    return pa.Table.from_arrays([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)
