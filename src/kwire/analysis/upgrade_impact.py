"""Table `upgrade_impact`: every use of an api judged for every target release, with evidence, basis and cure.

Uses that are alike are judged once (`kwire.analysis.judged_cases`); the rows are then put together as columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.client_groups import ClientGroup, ClientGroups
from kwire.analysis.judged_cases import Cases, Program
from kwire.analysis.partials import Partial
from kwire.analysis.plain_rows import rows_of
from kwire.analysis.row_sums import Ints, codes_of
from kwire.analysis.shown_ids import ShownIds
from kwire.analysis.value_lists import lists_of
from kwire.tables.schemas import API_USAGE, LONG, TEXT, TEXTS, UPGRADE_IMPACT

__all__ = ["upgrade_impact"]

_Evidence = tuple[str | None, int | None]
_Use = tuple[str, str | None, int, int]

_WHO: Final = ("client_key", "client_id")
_SOFTWARE: Final = ("software_name", "software_version")
_EVIDENCE: Final = ("evidence_connection_id", "evidence_request_index")
_COUNTS: Final = ("requests", "errors", "disconnects")
# Rows to be: columns of a use, whose it is (the number of a client key and id), and where in `Cases.table` its verdict stands.
_ROWS: Final = pa.schema(
    [
        *(UPGRADE_IMPACT.field(name) for name in (*API_USAGE.names, *_EVIDENCE)),
        pa.field("client", LONG),
        pa.field("judged", LONG),
    ]
)


def upgrade_impact(
    partial: Partial, usage: pa.Table, groups: ClientGroups, targets: Sequence[str], lines: Mapping[str, str]
) -> pa.Table:  # fmt: skip
    """Make the table.

    Args:
        partial: merged parts.
        usage: rows of `kwire.analysis.usage_rows.USAGE`.
        groups: the programs behind the keys.
        targets: releases to judge for, such as `4.3.1`.
        lines: by server, the release line that it seems to be, such as `4.3`.
    """
    shown, cases, identities = ShownIds(partial), Cases(targets), partial["identities"]
    ids = pa.concat_arrays([_flat(usage, "client_id"), shown.column(identities)])
    numbers, first = codes_of(pa.concat_arrays([_flat(usage, "client_key"), _flat(identities, "client_key")]), ids)
    clients, of_identities = numbers[: len(usage)], numbers[len(usage) :]
    heads = _taken(usage, first[: int(clients.max(initial=-1)) + 1])
    found_groups = [groups.of(*who) for who in _pairs(heads, _WHO)]
    sent = _pairs(heads, _SOFTWARE)
    programs = [cases.program(Program.of(group, *software)) for group, software in zip(found_groups, sent, strict=True)]
    apis = lists_of(clients, _flat(usage, "api_name"), len(heads), TEXTS).to_pylist()
    seen = _seen_rows(usage, clients, np.array(programs, np.int64), _refusals(partial, shown, lines), cases, targets)
    rows = pa.concat_tables([seen, _unseen_rows(heads, found_groups, programs, apis, cases, len(targets))])
    judged = cases.table().take(rows.column("judged"))
    found: dict[str, Any] = {name: rows.column(name) for name in _ROWS.names} | {name: judged.column(name) for name in judged.column_names}
    inside = of_identities < len(heads)
    for name, column in (("addresses", "address"), ("principals", "principal")):
        values = _flat(identities, column).filter(pa.array(inside))
        found[name] = lists_of(of_identities[inside], values, len(heads), TEXTS).take(rows.column("client"))
    nothing = pa.nulls(len(rows), TEXT)
    return pa.table([found.get(name, nothing) for name in UPGRADE_IMPACT.names], schema=UPGRADE_IMPACT)


def _flat(table: pa.Table, column: str) -> Any:
    return table.column(column).combine_chunks()


def _taken(table: pa.Table, rows: Ints) -> pa.Table:
    at: Any = pa.array(rows)
    return table.take(at)


def _pairs(table: pa.Table, columns: tuple[str, str]) -> list[tuple[Any, Any]]:
    left, right = (table.column(name).to_pylist() for name in columns)
    return list(zip(left, right, strict=True))


def _seen_rows(
    usage: pa.Table, clients: Ints, programs: Ints, refused: dict[_Use, dict[str, _Evidence]], cases: Cases, targets: Sequence[str]
) -> pa.Table:
    """A row for each use that was seen and each target; of a key that no release has there is nothing to say."""
    at = np.flatnonzero(pc.is_valid(_flat(usage, "api_name")).to_numpy(zero_copy_only=False))
    chosen, clients = _taken(usage, at), clients[at]
    refusing = _refusing(chosen, refused)
    lines = [(), *dict.fromkeys(tuple(by_line) for by_line in refusing.values())]
    numbers = np.zeros(len(chosen), np.int64)
    for row, by_line in refusing.items():
        numbers[row] = lines.index(tuple(by_line))
    always: Any = pc.equal(_flat(chosen, "unsupported"), _flat(chosen, "requests"))
    names = ("api_key", "api_name", "api_version", "broker_highest")
    of_use = [_flat(chosen, name) for name in names]
    alike, first = codes_of(pa.array(programs[clients]), *of_use, always, pa.array(numbers))
    columns = (column.take(pa.array(first)).to_pylist() for column in (*of_use, always))
    found = [
        cases.seen(int(programs[clients[row]]), key, name, version, highest, lines[numbers[row]], is_always)
        for row, key, name, version, highest, is_always in zip(first, *columns, strict=True)
    ]
    of_row = np.array(found, np.int64)[alike]
    count = len(targets)
    rows = _taken(chosen.select(_ROWS.names[:-2]), np.repeat(np.arange(len(chosen)), count))
    rows = rows.append_column("client", pa.array(np.repeat(clients, count)))
    rows = rows.append_column("judged", pa.array((of_row[:, None] * count + np.arange(count)).reshape(-1)))
    evidence = {
        row * count + place: by_line[line]
        for row, by_line in refusing.items()
        for place, target in enumerate(targets)
        if (line := cases.refusing_line(tuple(by_line), target)) is not None and cases.basis(int(of_row[row]), place) == "observed_refusal"
    }
    return _with_evidence(rows, evidence).cast(_ROWS)


def _refusing(rows: pa.Table, refused: dict[_Use, dict[str, _Evidence]]) -> dict[int, dict[str, _Evidence]]:
    """The rows that were refused, with the lines that did so."""
    if not refused:
        return {}
    keys = pa.array(sorted({use[0] for use in refused}), TEXT)
    at: Any = np.flatnonzero(pc.is_in(_flat(rows, "client_key"), value_set=keys).to_numpy(zero_copy_only=False))
    columns = (rows.column(name).take(pa.array(at)).to_pylist() for name in (*_WHO, "api_key", "api_version"))
    return {row: refused[use] for row, use in zip(at.tolist(), zip(*columns, strict=True), strict=True) if use in refused}


def _with_evidence(rows: pa.Table, evidence: Mapping[int, _Evidence]) -> pa.Table:
    """Rows some of which have evidence of their own, by row."""
    if not evidence:
        return rows
    at = sorted(evidence)
    mask = np.zeros(len(rows), np.bool_)
    mask[at] = True
    for name, values in zip(_EVIDENCE, zip(*(evidence[row] for row in at), strict=True), strict=True):
        index = rows.schema.get_field_index(name)
        column: Any = _flat(rows, name)
        rows = rows.set_column(index, name, pc.replace_with_mask(column, pa.array(mask), pa.array(values, column.type)))
    return rows


def _unseen_rows(
    heads: pa.Table, groups: Sequence[ClientGroup], programs: Sequence[int], apis: Sequence[Sequence[str]], cases: Cases, count: int
) -> pa.Table:
    """A row for what a client's library is known to send although it was not seen, and each target that refuses it.

    Args:
        heads: of each client key and id the first row of `USAGE`.
        groups, programs, apis: the program behind each, its number, and the names of the apis that it used.
        cases: that judge.
        count: how many targets.
    """
    found = [
        (client, use, use.case * count + place)
        for client, (group, program, of_client) in enumerate(zip(groups, programs, apis, strict=True))
        if group.role == "client"
        for use in cases.unseen(program, frozenset(group.versions).union(of_client))
        for place in use.refusing
    ]
    clients = pa.array([client for client, _, _ in found], LONG)
    of_clients = heads.select([*_WHO, *_SOFTWARE, *_EVIDENCE]).take(clients)
    zeros = pa.array(np.zeros(len(found), np.int64))
    columns: dict[str, Any] = {name: of_clients.column(name) for name in of_clients.column_names} | dict.fromkeys(_COUNTS, zeros)
    for name in ("api_key", "api_name", "api_version"):
        columns[name] = pa.array([getattr(use, name) for _, use, _ in found], _ROWS.field(name).type)
    columns |= {"error_names": pa.array([[]] * len(found), TEXTS), "client": clients, "judged": pa.array([at for _, _, at in found], LONG)}
    return pa.table([columns.get(field.name, pa.nulls(len(found), field.type)) for field in _ROWS], schema=_ROWS)


def _refusals(partial: Partial, shown: ShownIds, lines: Mapping[str, str]) -> dict[_Use, dict[str, _Evidence]]:
    """Refused uses by release line of the broker; of each line the first."""
    found: dict[_Use, dict[str, _Evidence]] = defaultdict(dict)
    parts = sorted(  # a request log may have no times
        rows_of(partial["refusals"]), key=lambda part: (part["first_seen"] is None, part["first_seen"], part["evidence_connection_id"])
    )
    for part in parts:
        line = lines.get(part["server"])
        if line is not None and part["api_key"] is not None and part["api_version"] is not None:
            use = (part["client_key"], shown(part["client_key"], part["client_id"]), part["api_key"], part["api_version"])
            found[use].setdefault(line, (part["evidence_connection_id"], part["evidence_request_index"]))
    return found
