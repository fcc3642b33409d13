"""Coverage of the traffic: limits of the report, as sentences with a warning level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.partial_sight import DEPRECATED_ONLY
from kwire.report.amounts import bytes_of, length_of_time, moment, moment_after, plural, share
from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.encryption import HOW_TO_READ, unread_clients
from kwire.report.fleet import Fleet, read_fleet
from kwire.report.inventory import Population
from kwire.report.records import record
from kwire.report.wire_text import SENTENCE, visible

__all__ = ["TARGET", "Coverage", "Fact", "Level", "headline", "read_coverage"]

Level = Literal["fine", "note", "warning"]

TARGET: Final = "Target"
_SHORT_CAPTURE: Final = timedelta(hours=24)
_FILE_RULES: Final[dict[str, tuple[Level, str, str]]] = {
    "capture_unreadable": ("warning", "Unreadable", "Unreadable traffic is missing here ({})."),
    "capture_cut": ("warning", "Cut short", "Not whole: {}."),
    "capture_damaged": ("warning", "Damaged", "{} of files are not packet records; their contents are missing here."),
    "capture_link_type": ("warning", "Link types", "Packets are missing here: {}."),
    "series_order": ("warning", "Order", "The order of files is in doubt."),
    "series_connections": ("warning", "Open connections", "More were open at the same time than kwire keeps."),
    "capture_empty": ("note", "Empty", "Without a packet or a request: {}."),
    "capture_times": ("note", "Several times", "Packets 30 days apart or more: {}."),
    "log_line_unreadable": ("warning", "Lines", "Lines of request logs cannot be read."),
    "log_line_torn": ("note", "Torn", "A request log ends inside a line."),
}
_LOGS: Final = ("request_log", DEPRECATED_ONLY)
_CLIENTS_NAMED: Final = 3  # in a sentence; the list of the page has them all
_LONGEST_PACKET: Final = 65_535  # a snap length of this and more cuts nothing
_COUNTERS: Final = (
    "packets", "packets_dropped", "bytes", "bytes_cut", "bytes_damaged", "bytes_lost", "bytes_opaque", "bytes_decrypted", "connections",
    "connections_refused", "joined_late", "one_way", "requests", "unanswered", "unseen",
)  # fmt: skip
_OPAQUE_NAMES: Final = {"tls": "TLS", "http": "HTTP", "ssh": "SSH", "unknown": "of an unknown protocol"}
_READABLE: Final = frozenset(("kafka", "silent", "proxy"))  # the last two: nothing sent, or nothing behind a PROXY header


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Sentence about the input; `level` states whether it limits the conclusions."""

    level: Level
    about: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureFile:
    name: str
    source: str
    start: datetime | None
    end: datetime | None
    packets: int | None
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Input of the analysis: its sums (null counts as 0), its limits, and its first files."""

    start: datetime | None
    end: datetime | None
    totals: dict[str, int]
    facts: tuple[Fact, ...]
    files: tuple[CaptureFile, ...]
    file_count: int

    @property
    def level(self) -> Level:
        levels = {fact.level for fact in self.facts}
        return "warning" if "warning" in levels else "note" if "note" in levels else "fine"

    @property
    def verdict(self) -> str:
        warnings = sum(fact.level == "warning" for fact in self.facts)
        if warnings:
            found = "1 thing limits" if warnings == 1 else f"{warnings} things limit"
            return f"Read with care: {found} what this report can say."
        if self.level == "note":
            return "No data loss detected. The notes list the limits of these captures."
        return "The captures were read completely; the report covers their time only."

    @property
    def length(self) -> timedelta | None:
        return None if self.start is None or self.end is None else self.end - self.start


def read_coverage(folder: AnalysisFolder, fleet: Fleet | None = None, *, files_shown: int = 100) -> Coverage:
    """Sum up the captures of an analysis and list their gaps."""
    table = folder.read("captures", ["capture", "source", "start", "end", "snaplen", *_COUNTERS])
    totals = {name: pc.sum(table[name]).as_py() or 0 for name in _COUNTERS}
    times = folder.time_range()
    names = ["capture", "source", "start", "end", "packets", "bytes"]
    shown = table.select(names).sort_by([("start", "ascending"), ("capture", "ascending")]).slice(0, files_shown)
    files = tuple(record(CaptureFile, row, name=row["capture"] or "", size=row["bytes"]) for row in shown.to_pylist())
    snaplens = sorted(value for value in table["snaplen"].unique().to_pylist() if value)
    facts: list[Fact] = []
    if not table.num_rows:
        facts.append(_warning("Input", "No capture was read."))
    else:
        facts += _facts_of_time(times)
        facts += _facts_of_files(folder, totals)
        facts += _facts_of_logs(table)
        packets = table.filter(pc.invert(pc.is_in(table["source"], value_set=pa.array(_LOGS))))
        if packets.num_rows:
            unknown = packets["packets_dropped"].null_count
            facts += _facts_of_loss(totals, unknown_drops=unknown, files=packets.num_rows, snaplens=snaplens)
            facts += _facts_of_connections(totals, _protocols(folder))
            facts += _facts_of_encryption(totals, unread_clients(folder))
            facts += _facts_of_volumes(folder)
        facts += _facts_of_identity(read_fleet(folder) if fleet is None else fleet)
        facts += _facts_of_targets(folder.manifest())
    return Coverage(
        start=times and times[0], end=times and times[1], totals=totals, facts=tuple(facts), files=files, file_count=table.num_rows
    )


def _facts_of_targets(manifest: Mapping[str, Any]) -> list[Fact]:
    told = "answers as no Kafka release: it is judged by the versions that it advertises, and may accept fewer."
    others, answered = (found if isinstance(found := manifest.get(name), list) else [] for name in ("targets", "answered"))
    named = [[visible(str(each.get(name))) for name in ("name", "source", "date")] for each in others if isinstance(each, dict)]
    facts = [_note(TARGET, f"{name} (from {source}, {date}) {told}") for name, source, date in named]
    return facts + [_fine(TARGET, f"The target answers as Kafka {visible(str(each))}, whose accepted versions count.") for each in answered]


def headline(coverage: Coverage, seen: Population) -> str:
    """Write one line: ``26 clients in 1 file, 152 connections, 615 requests, 52 s from 2026-11-21 10:22:10 UTC``."""
    counts = [(coverage.file_count, "file"), (coverage.totals["connections"], "connection"), (coverage.totals["requests"], "request")]
    covered = "" if coverage.length is None else f", {length_of_time(coverage.length)} from {moment(coverage.start)} UTC"
    return f"{plural(seen.clients, 'client')} in {', '.join(plural(*each) for each in counts)}{covered}"


def _protocols(folder: AnalysisFolder) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows_of(folder.digest, "streams"):
        found[row["protocol"]] += row["connections"]
    return found


def _fact(level: Level, about: str, *sentences: str) -> Fact:
    return Fact(level=level, about=about, sentence=" ".join(filter(None, sentences)))


_fine, _note, _warning = partial(_fact, "fine"), partial(_fact, "note"), partial(_fact, "warning")


def _facts_of_time(times: tuple[datetime, datetime] | None) -> list[Fact]:
    if times is None:
        return [_warning("Time", "The input has no timestamps.")]
    first, last = times
    covered = f"The captures cover {length_of_time(last - first)}, from {moment(first)} to {moment_after(last, first)} UTC."
    silent = "A client that was silent in this time is not in the report"
    if last - first < _SHORT_CAPTURE:
        return [_note("Time", covered, f"{silent}: nightly and monthly jobs need a longer capture.")]
    return [_fine("Time", covered, f"{silent}.")]


def _facts_of_files(folder: AnalysisFolder, totals: dict[str, int]) -> list[Fact]:
    said: dict[str, list[str]] = {}
    for row in rows_of(folder.digest, "rule_frames", pc.field("rule").isin(list(_FILE_RULES))):
        name = f"{visible(row['capture'])}: " if row["capture"] and row["capture"] not in (row["explanation"] or "") else ""
        said.setdefault(row["rule"], []).append(name + visible(row["explanation"] or "", SENTENCE))
    counts: Counter[str] = Counter()
    for row in rows_of(folder.digest, "rules", pc.field("rule").isin(list(_FILE_RULES))):
        counts[row["rule"]] += row["rows"]
    facts: list[Fact] = []
    for rule, (level, about, sentence) in _FILE_RULES.items():
        found = said.get(rule)
        if found:
            more = f"And {counts[rule] - 3:,} more, see Problems of input files." if counts[rule] > 3 else ""
            count = bytes_of(totals["bytes_damaged"]) if rule == "capture_damaged" else plural(counts[rule], "file")
            facts.append(_fact(level, about, sentence.format(count), *found[:3], more))
    return facts


def _facts_of_logs(captures: pa.Table) -> list[Fact]:
    logs = captures.filter(pc.is_in(captures["source"], value_set=pa.array(_LOGS)))
    if not logs.num_rows:
        return []
    missing = "requests that a broker refused or never answered, SASL exchanges and sizes are not in them, nor when a connection ends."
    facts = [_note("Request logs", f"{plural(logs.num_rows, 'file')} of request logs: {missing}")]
    deprecated = logs.filter(pc.equal(logs["source"], pa.scalar(DEPRECATED_ONLY)))
    if deprecated.num_rows:
        which = f"{plural(deprecated.num_rows, 'file')} of request logs {'holds' if deprecated.num_rows == 1 else 'hold'}"
        only = "requests of deprecated versions alone, as the request logger writes them at level INFO."
        unseen = "Clients that were seen nowhere else have no totals and are not cleared; who is not listed may still be there."
        facts.append(_warning("Deprecated only", which, only, unseen))
    untimed = logs.filter(pc.and_(pc.is_null(logs["start"]), pc.greater(logs["requests"], pa.scalar(0))))
    if untimed.num_rows:
        lacks = "has" if untimed.num_rows == 1 else "have"
        facts.append(_note("Times", f"{plural(untimed.num_rows, 'file')} of request logs {lacks} no times, only durations."))
    if logs.num_rows < captures.num_rows:
        facts.append(_note("Both", "Captures and request logs were read together: a request that is in both counts twice."))
    return facts


def _facts_of_loss(totals: dict[str, int], *, unknown_drops: int, files: int, snaplens: list[int]) -> list[Fact]:
    facts: list[Fact] = []
    dropped, packets = totals["packets_dropped"], totals["packets"]
    if dropped:
        lost = f"The capturing machine dropped {plural(dropped, 'packet')} ({share(dropped, dropped + packets)} of all)."
        facts.append(_warning("Drops", lost, "Requests in them are missing from every number here."))
    elif unknown_drops:
        whole = "The files do" if files > 1 else "The file does"
        which = whole if unknown_drops == files else f"{unknown_drops:,} of {plural(files, 'file')} do"
        facts.append(_note("Drops", f"{which} not record whether packets were dropped while capturing."))
    else:
        facts.append(_fine("Drops", "No packet was dropped while capturing."))
    if totals["bytes_cut"]:
        limits = " and ".join(f"{value:,}" for value in snaplens if value < _LONGEST_PACKET)
        limit = f" (snap length {limits} bytes)" if limits else ""
        cut = f"{bytes_of(totals['bytes_cut'])} were cut off the packets when capturing{limit}."
        facts.append(_warning("Cuts", cut, "Requests are still named and counted; their inner fields may be missing."))
    else:
        facts.append(_fine("Cuts", "Packets were captured at full length."))
    if totals["bytes_lost"]:
        lost = f"{bytes_of(totals['bytes_lost'])} are missing inside connections (gaps)."
        facts.append(_warning("Gaps", lost, "Requests and answers in a gap are not counted; times across one are not given."))
    else:
        facts.append(_fine("Gaps", "No connection has a gap."))
    return facts


def _facts_of_connections(totals: dict[str, int], protocols: Counter[str]) -> list[Fact]:
    facts: list[Fact] = []
    strangers = {name: number for name, number in protocols.most_common() if name not in _READABLE}
    opaque = bytes_of(totals["bytes_opaque"])
    unsaid = "Who speaks there, and with which versions, this report cannot say."
    if strangers:
        named = ", ".join(f"{number:,} {_OPAQUE_NAMES.get(name) or visible(name)}" for name, number in strangers.items())
        closed = f"{plural(sum(strangers.values()), 'connection')} could not be read as Kafka ({named}): {opaque} are opaque."
        facts.append(_warning("Opaque", closed, unsaid))
    elif totals["bytes_opaque"]:
        facts.append(_warning("Opaque", f"{opaque} could not be read as Kafka.", unsaid))
    else:
        facts.append(_fine("Opaque", "Everything on the captured ports is readable Kafka traffic."))
    if totals["joined_late"]:
        late = f"{totals['joined_late']:,} of {plural(totals['connections'], 'connection')} were open before the capture began."
        facts.append(_note("Late joins", late, "Libraries name themselves once, at the beginning, so the name may be missing there."))
    if totals["connections_refused"]:
        refused = f"{totals['connections_refused']:,} of {plural(totals['connections'], 'connection attempt')} were refused:"
        facts.append(_note("Refused", refused, "the server answered with a reset (RST)."))
    if totals["one_way"]:
        single = f"{plural(totals['one_way'], 'connection')} {'was' if totals['one_way'] == 1 else 'were'} captured in one direction only:"
        unseen = "where the answers' direction is not in the capture, there are no errors, no times and no proof that a client works."
        facts.append(_warning("One direction", single, unseen))
    if totals["unanswered"]:
        never = f"{plural(totals['unanswered'], 'request')} of {totals['requests']:,} got no answer in the capture:"
        facts.append(_note("Unanswered", never, "the server closed the connection, or the capture ended before it answered."))
    if totals["unseen"]:
        unseen = f"Whether {plural(totals['unseen'], 'request')} of {totals['requests']:,} got an answer is not in the capture:"
        facts.append(_note("Unseen", unseen, "the answers' direction, the packets or the end of the request are missing."))
    return facts


def _facts_of_encryption(totals: dict[str, int], unread: Counter[str]) -> list[Fact]:
    facts: list[Fact] = []
    if totals["bytes_decrypted"]:
        facts.append(_fine("Decrypted", f"{bytes_of(totals['bytes_decrypted'])} behind TLS were decrypted with the secrets given."))
    if unread:
        named = ", ".join(visible(address) for address, _ in unread.most_common(_CLIENTS_NAMED))
        more = f" and {len(unread) - _CLIENTS_NAMED:,} more" if len(unread) > _CLIENTS_NAMED else ""
        speak = f"{plural(unread.total(), 'connection')} of {plural(len(unread), 'client address', 'client addresses')} stay encrypted"
        facts.append(_warning("Encrypted", f"{speak}: {named}{more}.", HOW_TO_READ))
    return facts


def _facts_of_volumes(folder: AnalysisFolder) -> list[Fact]:
    unseen = sum(row["number"] for row in rows_of(folder.digest, "totals", pc.field("what") == "unseen_requests"))
    if not unseen:
        return []
    cut = f"What {plural(unseen, 'request')} wrote or read is not in the capture, or not whole:"
    return [_note("Volumes", cut, "records and bytes of their topics count complete record batches only.")]


def _facts_of_identity(fleet: Fleet) -> list[Fact]:
    found: Counter[str] = Counter()
    for group in fleet.applications:
        found[group.identity_source] += group.clients
    if not found:
        return [_warning("Clients", "No Kafka client was seen.")]
    clients = plural(found.total(), "client")
    facts: list[Fact] = []
    if found["not_observed"]:
        late = f"For {found['not_observed']:,} of {clients} the exchange in which a library names itself is not in the capture."
        facts.append(_note("Identity", late))
    if found["not_sent"] or found["fingerprint"]:
        number = found["not_sent"] + found["fingerprint"]
        unnamed = f"{number:,} of {clients} {'sends' if number == 1 else 'send'} no library name (it came with Kafka 2.4)"
        told = f", {found['fingerprint']:,} of them inferred from the versions they use." if found["fingerprint"] else "."
        facts.append(_note("Unnamed", unnamed + told, "The client id, the address and the principal lead to their owners."))
    return facts or [_fine("Identity", "Every client names its library and version.")]
