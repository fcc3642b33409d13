"""Table `upgrade_impact`: every use of an api judged for every target release, with evidence, basis and fix.

Equal uses are judged once (`kwire.analysis.judged_cases`); the rows are then put together as columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.client_groups import ClientGroups
from kwire.analysis.columns import Ints, flat, rows_of, with_columns
from kwire.analysis.judged_cases import Cases, Program
from kwire.analysis.partials import Partial
from kwire.analysis.release_ranges import accepts, line_of, target_range
from kwire.analysis.row_sums import codes_of
from kwire.analysis.shown_ids import ShownIds
from kwire.analysis.value_lists import lists_of
from kwire.schema.release_table import Release, release_key
from kwire.tables.schemas import API_USAGE, LONG, TEXT, TEXTS, UPGRADE_IMPACT

__all__ = ["upgrade_impact"]

_Evidence = tuple[str | None, int | None]
_Use = tuple[str, str | None, int, int]
_Fact = TypeVar("_Fact")

_WHO: Final = ("client_key", "client_id")
_OF_USE: Final = (*_WHO, "api_key", "api_version")
_SOFTWARE: Final = ("software_name", "software_version")
_EVIDENCE: Final = ("evidence_connection_id", "evidence_request_index")
# Rows to be: columns of a use, whose it is (the number of a client key and id), and where in `Cases.table` its verdict stands.
_ROWS: Final = pa.schema(
    [
        *(UPGRADE_IMPACT.field(name) for name in (*API_USAGE.names, *_EVIDENCE)),
        pa.field("client", LONG),
        pa.field("judged", LONG),
    ]
)


def upgrade_impact(
    partial: Partial, usage: pa.Table, groups: ClientGroups, targets: Sequence[Release], guesses: Mapping[str, str | None]
) -> pa.Table:  # fmt: skip
    """Make the table from rows of `USAGE`; `guesses` has the likely release by server."""
    known = {server: guess for server, guess in guesses.items() if guess is not None}
    cases = Cases(targets, min(known.values(), key=release_key, default=None))
    shown, identities = ShownIds(partial), partial["identities"]
    ids = pa.concat_arrays([flat(usage, "client_id"), shown.column(identities)])
    numbers, first = codes_of(pa.concat_arrays([flat(usage, "client_key"), flat(identities, "client_key")]), ids)
    clients, of_identities = numbers[: len(usage)], numbers[len(usage) :]
    heads = _taken(usage, first[: int(clients.max(initial=-1)) + 1])
    whose = zip(_pairs(heads, _WHO), _pairs(heads, _SOFTWARE), strict=True)
    programs = np.array([cases.program(Program.of(groups.of(*who), *software)) for who, software in whose], np.int64)
    rows = _rows(usage, clients, programs, _refusals(partial, shown, known), _answered(partial, shown, known), cases, targets)
    judged = cases.table().take(rows.column("judged"))
    found: dict[str, Any] = {name: rows.column(name) for name in _ROWS.names} | {name: judged.column(name) for name in judged.column_names}
    inside = of_identities < len(heads)
    for name, column in (("addresses", "address"), ("principals", "principal")):
        values = flat(identities, column).filter(pa.array(inside))
        found[name] = lists_of(of_identities[inside], values, len(heads), TEXTS).take(rows.column("client"))
    nothing = pa.nulls(len(rows), TEXT)
    return pa.table([found.get(name, nothing) for name in UPGRADE_IMPACT.names], schema=UPGRADE_IMPACT)


def _taken(table: pa.Table, rows: Ints) -> pa.Table:
    at: Any = pa.array(rows)
    return table.take(at)


def _pairs(table: pa.Table, columns: tuple[str, str]) -> list[tuple[Any, Any]]:
    left, right = (table.column(name).to_pylist() for name in columns)
    return list(zip(left, right, strict=True))


def _rows(
    usage: pa.Table,
    clients: Ints,
    programs: Ints,
    refused: Mapping[_Use, dict[str, _Evidence]],
    answered: Mapping[_Use, tuple[str, ...]],
    cases: Cases,
    targets: Sequence[Release],
) -> pa.Table:
    """Make a row for each use and target; skip API keys that no release has."""
    at = np.flatnonzero(pc.is_valid(flat(usage, "api_name")).to_numpy(zero_copy_only=False))
    chosen, clients = _taken(usage, at), clients[at]
    refusing, answering = _by_row(chosen, refused), _by_row(chosen, answered)
    lines: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {((), ()): 0}
    numbers = np.zeros(len(chosen), np.int64)
    for row in refusing.keys() | answering.keys():
        numbers[row] = lines.setdefault((tuple(refusing.get(row, ())), answering.get(row, ())), len(lines))
    by_number = list(lines)
    always: Any = pc.equal(flat(chosen, "unsupported"), flat(chosen, "requests"))
    names = ("api_key", "api_name", "api_version", "broker_highest")
    of_use = [flat(chosen, name) for name in names]
    alike, first = codes_of(pa.array(programs[clients]), *of_use, always, pa.array(numbers))
    columns = (column.take(pa.array(first)).to_pylist() for column in (*of_use, always))
    found = [
        cases.case(int(programs[clients[row]]), key, name, version, highest, by_number[numbers[row]], is_always)
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
        if (line := cases.line_of(tuple(by_line), target)) is not None and cases.basis(int(of_row[row]), place) == "observed_refusal"
    }
    return _with_evidence(rows, evidence).cast(_ROWS)


def _by_row(rows: pa.Table, uses: Mapping[_Use, _Fact]) -> dict[int, _Fact]:
    if not uses:
        return {}
    keys = pa.array(sorted({use[0] for use in uses}), TEXT)
    at: Any = np.flatnonzero(pc.is_in(flat(rows, "client_key"), value_set=keys).to_numpy(zero_copy_only=False))
    columns = (rows.column(name).take(pa.array(at)).to_pylist() for name in _OF_USE)
    return {row: uses[use] for row, use in zip(at.tolist(), zip(*columns, strict=True), strict=True) if use in uses}


def _with_evidence(rows: pa.Table, evidence: Mapping[int, _Evidence]) -> pa.Table:
    if not evidence:
        return rows
    at = sorted(evidence)
    mask = np.zeros(len(rows), np.bool_)
    mask[at] = True
    found = {}
    for name, values in zip(_EVIDENCE, zip(*(evidence[row] for row in at), strict=True), strict=True):
        column = flat(rows, name)
        found[name] = pc.replace_with_mask(column, pa.array(mask), pa.array(values, column.type))
    return with_columns(rows, found)


def _refusals(partial: Partial, shown: ShownIds, guesses: Mapping[str, str]) -> dict[_Use, dict[str, _Evidence]]:
    """Return rejected uses by minor version of the broker, the first of each."""
    found: dict[_Use, dict[str, _Evidence]] = defaultdict(dict)
    parts = sorted(  # a request log may have no times
        rows_of(partial["refusals"]), key=lambda part: (part["first_seen"] is None, part["first_seen"], part["evidence_connection_id"])
    )
    for part in parts:
        guess = guesses.get(part["server"])
        if guess is not None and part["api_key"] is not None and part["api_version"] is not None:
            use = (part["client_key"], shown(part["client_key"], part["client_id"]), part["api_key"], part["api_version"])
            found[use].setdefault(line_of(guess), (part["evidence_connection_id"], part["evidence_request_index"]))
    return found


def _answered(partial: Partial, shown: ShownIds, guesses: Mapping[str, str]) -> dict[_Use, tuple[str, ...]]:
    """Return uses that a broker answered although its release rejects or disables them, with the minor versions of these brokers.

    Uses with an answer of error 35 (UNSUPPORTED_VERSION) are left out.
    """
    errors, usage = partial["error_names"], partial["usage"]
    rejected: Any = pc.equal(errors.column("error_name"), pa.scalar("UNSUPPORTED_VERSION"))
    unsupported = {tuple(use.values()) for use in errors.filter(rejected).select(_OF_USE).to_pylist()}
    columns = [flat(usage, name) for name in ("server", "api_key", "api_version")]
    numbers, first = codes_of(*columns)
    served = zip(*(column.take(pa.array(first)).to_pylist() for column in columns), strict=True)
    refused = [
        server in guesses
        and None not in (key, version)
        and (not accepts(guesses[server], key, version) or target_range(guesses[server], key).off_by_default)
        for server, key, version in served
    ]
    chosen = np.array(refused, np.bool_)[numbers] & (flat(usage, "answered").to_numpy() > 0)
    found: dict[_Use, set[str]] = defaultdict(set)
    for part in usage.filter(pa.array(chosen)).select([*_OF_USE, "server"]).to_pylist():
        key, client_id, api_key, version, server = part.values()
        if (key, client_id, api_key, version) not in unsupported:
            found[key, shown(key, client_id), api_key, version].add(line_of(guesses[server]))
    return {use: tuple(sorted(lines)) for use, lines in found.items()}
