"""Merging of client keys into programs, because a key is made from one connection and a program may have several.

A program that sends its name only on some connections, or before the capture began, has several keys. So a key without a name is replaced
by the key of another connection with the same client id and principal from the same address. Conversely, a key ignores digits of client ids
(`kwire.tables.client_keys`), in which two programs without a name may differ. So client ids that use different versions of an API get
separate keys.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import aggregated, flat, rows_of, with_columns
from kwire.analysis.key_buckets import BY_CLIENT
from kwire.analysis.partials import Partial, reduce_rows
from kwire.analysis.row_sums import codes_of
from kwire.analysis.shown_ids import MAX_IDS
from kwire.tables.schemas import TEXT

__all__ = ["KEYED", "Moves", "Program", "moved_rows", "moved_tables", "united"]

KEYED: Final = ("connections", "requests", "violations", "telemetry", "group_events")
"""Tables of rows with a client key."""

_WHO: Final = ("client_key", "client_id")
_SOFTWARE: Final = ("software_name", "software_version")
_UNKNOWN: Final = "unknown"


class Program(NamedTuple):
    client_key: str
    software_name: str | None
    software_version: str | None


Moves = dict[tuple[str, str | None], Program]
"""Programs by key and client id; None means all other ids of a replaced key."""


@dataclass(slots=True)
class _Connections:
    program: Program
    client_id: str
    principal: str | None
    first_seen: int | None = None
    addresses: set[str] = field(default_factory=set)

    @property
    def rank(self) -> tuple[Any, ...]:
        """Return the sort key: named, unnamed, then unobserved clients, each by time."""
        name = self.program.software_name
        return (name is None) + (name in (None, _UNKNOWN)), self.first_seen is None, self.first_seen or 0, self.program.client_key


def united(partial: Partial) -> tuple[Partial, Moves]:
    """Return merged sums by program, and the replaced keys."""
    moves = _moves(partial)
    if not moves:
        return partial, moves
    return partial | {name: reduce_rows(name, _moved(partial[name], moves)) for name in BY_CLIENT}, moves


def moved_rows(rows: pa.RecordBatch, moves: Moves) -> pa.RecordBatch:
    """Return rows of a table of `KEYED` with the keys of their programs; the same object if nothing changes."""
    at = _programs_at(rows.column("client_key"), rows.column("client_id"), moves)
    if at is None:
        return rows
    return with_columns(rows, {"client_key": pc.coalesce(at["client_key"], rows.column("client_key"))})


def moved_tables(tables: Mapping[str, pa.Table], moves: Moves) -> dict[str, pa.Table]:
    return {
        name: pa.Table.from_batches([moved_rows(batch, moves) for batch in table.to_batches()], table.schema) if name in KEYED else table
        for name, table in tables.items()
    }


def _programs_at(keys: Any, ids: Any, moves: Moves) -> dict[str, Any] | None:
    """Return the new program of each row as columns, null if unchanged; None if no row changes."""
    codes, first = codes_of(keys, ids)
    numbers: Any = pa.array(codes)
    pairs = zip(*(column.take(pa.array(first)).to_pylist() for column in (keys, ids)), strict=True)
    found = [moves.get((key, client_id)) or moves.get((key, None)) for key, client_id in pairs]
    if not any(found):
        return None
    columns = zip(*(one or (None,) * len(Program._fields) for one in found), strict=True)
    return {name: pa.array(column, TEXT).take(numbers) for name, column in zip(Program._fields, columns, strict=True)}


def _moved(table: pa.Table, moves: Moves) -> pa.Table:
    keys, ids = (flat(table, name) for name in _WHO)
    at = _programs_at(keys, ids, moves)
    if at is None:
        return table
    stays: Any = pc.is_null(at["client_key"])
    there = {name: program for name, program in at.items() if name in table.column_names}
    return with_columns(table, {name: pc.if_else(stays, flat(table, name), program) for name, program in there.items()})


def _moves(partial: Partial) -> Moves:
    identities = partial["identities"]
    unknown: Any = _UNKNOWN
    names: Any = pc.fill_null(identities.column("software_name"), unknown)
    unnamed = identities.filter(pc.equal(names, pa.scalar(_UNKNOWN)))
    if not len(unnamed):
        return {}
    moves = dict(_split(partial, pc.unique(unnamed.column("client_key"))))
    identities = identities.filter(pc.is_in(identities.column("client_id"), value_set=pc.unique(unnamed.column("client_id"))))
    by_id: dict[tuple[str, str | None], dict[Program, _Connections]] = defaultdict(dict)
    all_ids: dict[str, set[str | None]] = defaultdict(set)
    for row in rows_of(identities, *_WHO, *_SOFTWARE, "principal", "address", "first_seen"):
        key, client_id, principal = row["client_key"], row["client_id"], row["principal"]
        all_ids[key].add(client_id)
        if client_id is None:
            continue  # nothing was sent, so any program fits
        program = moves.get((key, client_id)) or Program(key, *(row[name] for name in _SOFTWARE))
        found = by_id[client_id, principal].setdefault(program, _Connections(program, client_id, principal))
        found.addresses.add(row["address"])
        found.first_seen = min((time for time in (found.first_seen, row["first_seen"]) if time is not None), default=None)
    keys_of = {(program.client_key, client_id): key for (key, client_id), program in moves.items()}
    for connections in by_id.values():
        for one, better in _same_program(sorted(connections.values(), key=lambda each: each.rank)):
            key = one.program.client_key
            moves[keys_of.get((key, one.client_id), key), one.client_id] = better
    for key, ids in all_ids.items():
        targets = [moves.get((key, client_id)) for client_id in sorted(ids, key=str)]
        if targets[0] is not None and all(targets):
            moves[key, None] = targets[0]
    return moves


def _same_program(ranked: list[_Connections]) -> Iterator[tuple[_Connections, Program]]:
    """Pair connections without a name with their program, which has connections from all their addresses."""
    for place, one in enumerate(ranked):
        if one.rank[0]:
            better = next((each for each in ranked[:place] if each.rank[0] < one.rank[0] and each.addresses >= one.addresses), None)
            if better is not None:
                yield one, better.program


def _split(partial: Partial, unnamed: Any) -> Iterator[tuple[tuple[str, str | None], Program]]:
    """Return a separate key for each client id that uses other versions than the ids before it."""
    usage = partial["usage"]
    mine = usage.filter(pc.and_(pc.is_in(usage.column("client_key"), value_set=unnamed), pc.is_valid(usage.column("client_id"))))
    distinct = aggregated(mine, (*_WHO, *_SOFTWARE, "api_key", "api_version"))
    uses: dict[tuple[Any, ...], dict[str, dict[int, set[int]]]] = defaultdict(dict)
    for row in rows_of(distinct):
        of_id = uses[row["client_key"], row["software_name"], row["software_version"]].setdefault(row["client_id"], defaultdict(set))
        of_id[row["api_key"]].add(row["api_version"])
    for (key, *software), by_id in uses.items():
        if not 1 < len(by_id) <= MAX_IDS:
            continue
        alike: list[tuple[str, list[dict[int, set[int]]]]] = []
        for client_id, versions in sorted(by_id.items()):
            first, members = next((each for each in alike if all(_agree(versions, other) for other in each[1])), (client_id, []))
            if not members:
                alike.append((first, members))
            members.append(versions)
            if first != alike[0][0]:
                own = hashlib.blake2b(f"{key} {first}".encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
                yield (key, client_id), Program(own, *software)


def _agree(one: Mapping[int, set[int]], other: Mapping[int, set[int]]) -> bool:
    return all(one[api] <= other[api] or one[api] >= other[api] for api in one.keys() & other.keys())
