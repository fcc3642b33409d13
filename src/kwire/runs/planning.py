"""Planning of a run's tasks: series, their shares, and the parts that an earlier run has read.

A series is one task if other series keep the machines busy; small series are packed, several per task (`kwire.runs.packing`).
If there are more cores than series, the connections of a series are divided into shares, and packets are routed to them in a first step
(`kwire.capture.dividing.packet_routing`). For two shares this costs as much as two tasks that scan all packets, for more it costs less.
Some packets cannot be routed: those of encrypted connections with key logs, of several points, and of grown files. The task of each share
scans these. Connections are never divided, so the rows equal those of a single task. benchmarks/costs.md has the figures.

Tasks are imported on demand because they import all of `kwire.analysis`; the data source plans without it, in processes that Spark starts
for each query.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kwire.capture.files.capture_points import is_of_points
from kwire.capture.files.inputs import CaptureFile
from kwire.capture.files.series import Series
from kwire.capture.tls.session_keys import current_tls_options
from kwire.errors import InputError
from kwire.runs.divided_files import unpacked_bytes
from kwire.runs.grown_files import check_beginning, grown_since, new_names, place, present_names, read_again, same_points
from kwire.runs.packing import pack_limit, packs_of, repacked
from kwire.runs.parts import STATE
from kwire.tables.schemas import VIOLATIONS
from kwire.tables.series import no_kafka

if TYPE_CHECKING:
    from kwire.runs.series_task import Earlier, SeriesFiles, SeriesTask

__all__ = [
    "MAX_ROUTED_SHARES",
    "MAX_SCANNING_SHARES",
    "SHARE_BYTES",
    "Plan",
    "SeriesPlan",
    "plan_of",
    "still_written",
]

MAX_SCANNING_SHARES: Final = 16
"""Largest number of tasks that scan the same series; more would spend most time on packets of other tasks."""

MAX_ROUTED_SHARES: Final = 2048
"""Largest number of tasks of one series to which packets are routed; with more, the blocks become too small."""

SHARE_BYTES: Final = 32 << 20
"""Unpacked bytes of a series that justify another task."""


@dataclass(frozen=True, slots=True)
class SeriesPlan:
    """Plan of one series in a run.

    The tasks of its other shares have the numbers after `number`. `earlier` has the state of an earlier run by share. `read_before` is the
    number of bytes of the first fresh file that an earlier run has read; None for a new file. A `packed` series shares its number with
    others. With `by_hosts`, a share has all connections between two hosts (`kwire.capture.carry.is_of_share`).
    """

    name: str
    number: int
    shares: int
    files: tuple[tuple[str, int], ...]
    fresh: tuple[str, ...]
    disorder: str
    earlier: tuple[Earlier, ...] = ()
    routed: bool = False
    read_before: int | None = None
    point_sizes: tuple[int, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    packed: bool = False
    by_hosts: bool = False

    @property
    def fresh_bytes(self) -> int:
        read = unpacked_bytes(self.fresh[0], self.read_before) if self.read_before else 0
        return sum(unpacked_bytes(*file) for file in self._fresh_files) - read

    @property
    def _fresh_files(self) -> tuple[tuple[str, int], ...]:
        return self.files[len(self.files) - len(self.fresh) :]

    def files_read(self, skipped: Collection[str]) -> tuple[tuple[str, int], ...]:
        """Return the file entries for the next run; if the newest file could not be read, it keeps its former entry."""
        if not self.fresh or self.fresh[-1] not in skipped:
            return self.files
        known = self.files[:-1]
        return known if self.read_before is None or len(self.fresh) > 1 else (*known, (self.files[-1][0], self.read_before))

    def fresh_of(self) -> SeriesFiles:
        from kwire.runs.series_task import SeriesFiles

        sizes = tuple(size for _, size in self._fresh_files)
        return SeriesFiles(self.name, self.fresh, self.disorder, sizes, self.read_before, self.point_sizes, self.renamed)


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a run.

    `kept` parts of the earlier analysis stay; `by_day` are parts of `client_hourly` that stay if their day gets no new sums; `divided` has
    new tasks for packs that have grown too large.
    """

    run: int
    series: list[SeriesPlan] = field(default_factory=list)
    kept: tuple[str, ...] = ()
    by_day: tuple[str, ...] = ()
    divided: frozenset[int] = frozenset()

    def tasks(self, model: Mapping[str, Any]) -> tuple[list[SeriesTask], list[list[SeriesTask]]]:
        """Return the tasks that read files directly, and by series the tasks with routed packets; all have the fields of `model`."""
        from kwire.runs.series_task import SeriesTask

        packs: dict[int, list[SeriesPlan]] = {}
        renewed = self.renewed()
        for each in self.series:
            if each.number in renewed:
                packs.setdefault(each.number, []).append(each)
        found: list[SeriesTask] = []
        routed = []
        for number, members in packs.items():
            first, files = members[0], tuple(each.fresh_of() for each in members)
            earlier = first.earlier or (None,) * first.shares
            shares = [
                SeriesTask(number=number + share, members=files, share=(share, first.shares), earlier=earlier[share], **model)
                for share in range(first.shares)
            ]
            if first.routed:
                routed.append(shares)
            else:
                found += shares
        return found, routed

    def renewed(self) -> set[int]:
        """Return the numbers of series with new data; all series of a pack are included."""
        return {each.number for each in self.series if each.fresh} | self.divided

    def entries(self, parts: Iterable[str], skipped: Collection[str] = (), unread: Collection[str] = ()) -> list[dict[str, Any]]:
        """Return the entries of series in the manifest, which the next run continues from.

        That run retries the newest of a series' `skipped` files; `unread` packed series stay in their packs.
        """
        by_task: dict[tuple[int, bool], list[str]] = defaultdict(list)
        for part in parts:
            table, _, name = part.partition("/")
            kind, _, rest = name.rpartition("/")[2].partition("-")
            if rest[:5].isdigit() and kind in ("state", "open"):
                by_task[int(rest[:5]), table == STATE].append(name if table == STATE else part)
        entries = []
        for each in self.series:
            tasks = range(each.number, each.number + each.shares)
            states = [name for task in tasks for name in by_task[task, True]]
            if len(states) == each.shares:  # else nothing of it could be read, and the next run tries again
                is_unread = each.packed and each.name in unread
                entries.append(
                    {
                        "name": each.name,
                        "number": each.number,
                        "shares": each.shares,
                        "files": [] if is_unread else [list(file) for file in each.files_read(skipped)],
                        "states": states,
                        "waiting": [sorted(by_task[task, False]) for task in tasks],
                        "packed": each.packed,
                        "by_hosts": each.by_hosts,
                    }
                )
        return entries

    def without_kafka(self, captures: pa.Table, ports: Iterable[int]) -> list[pa.RecordBatch]:
        """Return the violations of series in which several tasks together found no request."""
        found = []
        for each in self.series:
            rows = [row for row in captures.to_pylist() if row["series"] == each.name] if each.shares > 1 else []
            packets = sum(row["packets"] or 0 for row in rows)
            if packets and not any(row["requests"] for row in rows):
                text = no_kafka(packets, ports)
                row = dict.fromkeys(VIOLATIONS.names) | {
                    "series": each.name, "capture": rows[0]["capture"], "rule": "no_kafka", "severity": "warning", "explanation": text,
                    "count": 1,
                }  # fmt: skip
                found.append(pa.RecordBatch.from_pylist([row], schema=VIOLATIONS))
        return found


def plan_of(
    series: Sequence[Series], slots: int, earlier: Mapping[str, Any] | None = None, *, packing: bool = True, routing: bool = True
) -> Plan:
    """Plan a run.

    Args:
        series: all series.
        slots: number of tasks that can run at once.
        earlier: manifest of the analysis to append to, None for a new one.
        packing: whether small series share tasks; not possible if a later run may replace a series, as with captures of several points.
        routing: whether a step before the tasks can route packets.

    Raises:
        InputError: a file read before has changed, a new file belongs before those already read, or files of captures of several points are
            missing.
    """
    entries: Sequence[Mapping[str, Any]] = (earlier or {}).get("series", ())
    replaced = read_again(series, entries, (earlier or {}).get("series_rule", "points"))
    hashes = {place(row["capture"]): row["sha256"] or "" for row in (earlier or {}).get("captures", ())}
    matched = _matched(series, [entry for entry in entries if entry not in replaced], hashes)
    found = [_known(given, entry, hashes) for given, entry in matched]
    number = max((entry["number"] + entry["shares"] for entry in entries), default=0)
    first_divided = number
    found, number = repacked(found, slots, number)
    divided = frozenset(range(first_divided, number))
    fresh = [each for each in series if all(each is not given for given, _ in matched)]
    total = sum(unpacked_bytes(file.location, file.size) for each in fresh for file in each.pieces)
    small: list[SeriesPlan] = []
    for each in fresh:
        size = sum(unpacked_bytes(file.location, file.size) for file in each.pieces)
        shares = 1 if len(series) >= slots or not total else max(1, min(size // SHARE_BYTES, -(-slots * size // total)))
        files = tuple((place(file.location), file.size) for file in each.pieces)
        fresh_files = tuple(file.location for file in each.pieces)
        by_hosts = bool(current_tls_options().key_logs)  # connections of two hosts resume each other's TLS sessions
        routed = routing and not by_hosts and _is_routed(fresh_files, shares)
        shares = min(shares, MAX_ROUTED_SHARES if routed else MAX_SCANNING_SHARES)
        planned = SeriesPlan(
            each.name, number, shares, files, fresh_files, each.disorder, routed=routed, point_sizes=each.pieces[0].sizes,
            by_hosts=by_hosts,
        )  # fmt: skip
        if packing and shares == 1 and not routed:
            small.append(planned)
            continue
        found.append(planned)
        number += shares
    sizes = [each.fresh_bytes for each in small]
    for pack in packs_of(sizes, [each.name for each in small], pack_limit(sizes, slots)):
        found += [replace(small[index], number=number, packed=len(pack) > 1) for index in pack]
        number += 1
    plan = Plan(0 if earlier is None else earlier["run"] + 1, found, divided=divided)
    by_day = () if earlier is None or replaced else earlier["parts"].get("client_hourly", ())
    return replace(plan, kept=_kept(plan, earlier, replaced), by_day=tuple(by_day))


def _is_routed(files: Sequence[str], shares: int) -> bool:
    return shares > 1 and not any(map(is_of_points, files))  # points are read side by side, so they cannot be divided


def _matched(
    series: Sequence[Series], entries: Sequence[Mapping[str, Any]], hashes: Mapping[str, str]
) -> list[tuple[Series | None, Mapping[str, Any]]]:
    """Pair each series of the earlier run with its present files; a series of one file had that file's name."""
    by_file = {place(file.location): each for each in series for file in each.pieces}
    by_name = {each.name: each for each in series}
    found: list[tuple[Series | None, Mapping[str, Any]]] = []
    for entry in entries:
        given = next((by_file[location] for location, _ in entry["files"] if location in by_file), by_name.get(entry["name"]))
        found.append((given or same_points(series, entry) or _rolled_alone(series, entry, hashes), entry))
    return found


def _rolled_alone(series: Sequence[Series], entry: Mapping[str, Any], hashes: Mapping[str, str]) -> Series | None:
    """Find the series of a single log that was rolled."""
    known = [(location, size) for location, size in entry["files"]]
    if not known:
        return None
    folder = known[-1][0].rpartition("/")[0]
    for each in series if known[-1][1] else ():
        if (
            folder == place(each.pieces[0].location).rpartition("/")[0]
            and present_names(each.pieces, known, hashes.get(known[-1][0], "")) != known
        ):
            return each
    return None


def still_written(plan: Plan) -> list[str]:
    """Return sentences about files that grew while they were read; only the newest of a series or point is checked."""
    return [
        f"{location} has grown while it was read: its first {size:,} bytes are in the analysis, "
        f"{more:,} more are left for a run with --append."
        for each in plan.series
        if each.fresh
        for location, size, more in grown_since(each.fresh[-1], each.files[-1][1], each.point_sizes)
    ]


def _known(series: Series | None, entry: Mapping[str, Any], hashes: Mapping[str, str]) -> SeriesPlan:
    from kwire.runs.series_task import Earlier

    earlier = tuple(Earlier(state, tuple(waiting)) for state, waiting in zip(entry["states"], entry["waiting"], strict=True))
    pieces: Sequence[CaptureFile] = () if series is None else series.pieces
    known_files: list[tuple[str, int]] = [(location, size) for location, size in entry["files"]]
    newest = known_files[-1][0] if known_files else None
    if any(is_of_points(file.location) for file in pieces):  # the same as before: `read_again` has looked
        by_hosts = bool(entry.get("by_hosts"))
        return SeriesPlan(entry["name"], entry["number"], entry["shares"], tuple(known_files), (), "", earlier, by_hosts=by_hosts)
    sha256 = hashes.get(newest or "", "")
    before, known_files = known_files, present_names(pieces, known_files, sha256)
    newest = known_files[-1][0] if known_files else None
    read = dict(known_files)
    grown: int | None = None
    fresh: list[CaptureFile] = []
    for file in pieces:
        known = read.get(place(file.location))
        if known is None:
            fresh.append(file)
        elif known < file.size and place(file.location) == newest:
            check_beginning(file.location, known, sha256)
            grown = known
            fresh.append(file)
        elif known != file.size:
            raise InputError(
                f"{file.location} has changed since it was read: {known:,} bytes then, {file.size:,} now; "
                "--append cannot add a file that has been rewritten."
            )
        elif fresh:
            raise InputError(f"{fresh[0].location} belongs before {file.location}, which was read already; use --overwrite.")
    kept = known_files if grown is None else known_files[:-1]
    files = (*kept, *((place(file.location), file.size) for file in fresh))
    disorder = "" if series is None else series.disorder
    locations = tuple(file.location for file in fresh)
    packed = bool(entry.get("packed"))
    by_hosts = bool(entry.get("by_hosts"))  # packets are routed by connection
    routed = grown is None and not packed and not by_hosts and _is_routed(locations, entry["shares"])
    renamed = new_names(before, known_files)
    return SeriesPlan(
        entry["name"], entry["number"], entry["shares"], files, locations, disorder, earlier, routed, grown, renamed=renamed, packed=packed,
        by_hosts=by_hosts,
    )  # fmt: skip


def _kept(plan: Plan, earlier: Mapping[str, Any] | None, replaced: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the parts that stay: settled rows, and rows of series without new files. The driver rewrites its own parts."""
    if earlier is None:
        return ()
    from kwire.runs.sums_files import is_sums

    # of a series of which nothing could be read nothing is known: it is read from its beginning
    stay = [entry for entry in earlier["series"] if entry not in replaced]
    known = {entry["number"] + share for entry in stay for share in range(entry["shares"])}
    again = plan.renewed()
    renewed = {each.number + share for each in plan.series if each.number in again for share in range(each.shares)}
    kept = []
    for table, names in earlier["parts"].items():
        for name in names:
            kind, _, rest = name.rpartition("/")[2].partition("-")
            if not rest[:5].isdigit() or int(rest[:5]) not in known:
                continue
            settled = kind == "part" if table != STATE else is_sums(f"{table}/{name}")
            if settled or int(rest[:5]) not in renewed:
                kept.append(f"{table}/{name}")
    return tuple(kept)
