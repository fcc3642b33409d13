"""Report as Markdown, for a wiki, an issue or an email: the same parts as the page, with shorter lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from kwire.analysis.digests.of_clients import WORST_FIRST
from kwire.report.amounts import bytes_of, compact, count, length_of_time, moment, named, plural
from kwire.report.contents import Report
from kwire.report.group_lines import GroupLine
from kwire.report.inventory import identified_by
from kwire.report.lineage import Topic
from kwire.report.listings import Listing
from kwire.report.markdown_text import code, codes, table, words
from kwire.report.member_names import named_members
from kwire.report.owner_tasks import NO_TEAM
from kwire.report.tickets import ticket

__all__ = ["ROWS_SHOWN", "markdown"]

ROWS_SHOWN: Final = 100
"""Maximum number of rows per table; tasks are complete."""


def markdown(report: Report) -> str:
    parts = (
        _title, _changes, _upgrade, _tasks, _moves, _clients, _topics, _groups, _incidents, _encryption, _violations, _telemetry, _brokers,
    )  # fmt: skip
    return "\n".join(line for part in parts for line in part(report)) + "\n"


def _title(report: Report) -> Iterator[str]:
    sentence, reasons = report.answer.sentence, "; ".join(report.answer.reasons)
    yield f"# {words(sentence[:1].upper() + sentence[1:])}"
    yield from ("", words(f"Confidence: {report.answer.confidence}{f' ({reasons})' if reasons else ''}."))
    apart = f" Not counted as applications: {report.population.apart}." if report.population.apart else ""
    yield from ("", words(f"{report.headline}.{apart}"), "", f"**{words(report.coverage.verdict)}**", "")
    yield from (f"- {fact.about}: {words(fact.sentence)}" for fact in report.coverage.facts if fact.level != "fine")
    yield from ("", f"Made by {report.generator} on {moment(report.made)} UTC from {report.sources}.", "")


def _section(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], nothing: str, level: int = 2, lead: str = ""
) -> Iterator[str]:  # fmt: skip
    listed = list(rows)
    yield from (f"{'#' * level} {title}", "", *((lead, "") if lead and listed else ()))
    if not listed:
        yield from (nothing, "")
        return
    yield from table(headings, listed[:ROWS_SHOWN])
    if len(listed) > ROWS_SHOWN:
        yield from ("", f"These are the first {ROWS_SHOWN} of {len(listed):,}; `report.json` and the tables have all.")
    yield ""


def _listing(one: Listing, level: int = 2, lead: str = "") -> Iterator[str]:
    rows = [[code(cell) if cell and column.kind in ("ids", "whole") else words(cell) for column, cell in zip(one.columns, row, strict=True)]
            for row in one.rows]  # fmt: skip
    yield from _section(one.title, [column.title for column in one.columns], rows, one.nothing, level, lead)


def _changes(report: Report) -> Iterator[str]:
    if report.before:
        yield from ("## Before and after", "", f"Compared with {code(report.before)}.", "")
        for one in report.changes:
            yield from _listing(one, 3)


def _upgrade(report: Report) -> Iterator[str]:
    rows = []
    for target in report.matrix.targets:
        found = report.matrix.count(target)
        rows.append([words(named(report.names[target])), *(count(found[verdict]) for verdict in WORST_FIRST)])
    yield from _section("Applications by Kafka version", ["Kafka version", *WORST_FIRST], rows, "No client has a verdict.")


def _tasks(report: Report) -> Iterator[str]:
    yield from ("## Action items", "")
    if not report.tasks:
        yield from ("Nothing to do: no application breaks on these versions.", "")
    team = None
    for task in report.tasks:
        if task.team != team:
            team = task.team
            yield from (f"### {NO_TEAM if team == NO_TEAM else code(team)}", "")
        yield from (ticket(task, report.names), "", "---", "")


def _moves(report: Report) -> Iterator[str]:
    if report.moves:
        one = report.moves.listing
        yield from _listing(one, lead=words(one.lead))


def _clients(report: Report) -> Iterator[str]:
    rows = [
        [
            code(one.library) if one.library else "unknown library",
            code(one.version) if one.version else "",
            "inferred" if one.guessed else "",
            count(one.clients),
            compact(one.requests),
            ", ".join(f"{one.verdicts[name]:,} {name}" for name in WORST_FIRST if one.verdicts.get(name)),
        ]
        for one in report.libraries
    ]
    on = f"on {words(report.names[report.newest])}" if report.newest else "verdict"
    yield from _section(
        "Libraries",
        ["Library", "Version", "Identified by", "Clients", "Requests", on],
        rows,
        "No Kafka client was seen.",
    )
    each = [
        [
            codes(client.client_ids, 3),
            code(client.label),
            identified_by(client.identity_source, client.guessed),
            codes(client.addresses, 3),
            codes(client.principals, 3),
            code(client.owner) if client.owner else "",
            count(client.requests),
        ]
        for client in report.clients
        if client.kind == "application"
    ]
    yield from _section(
        "Clients", ["Client ids", "Library", "Identified by", "Addresses", "Principals", "Owner", "Requests"], each, "None.", 3
    )


def _volume(shown: Callable[[int], str], volume: int | None) -> str:
    return "not seen" if volume is None else shown(volume)


def _topics(report: Report) -> Iterator[str]:
    def row(topic: Topic) -> list[str]:
        writers, readers = ([use.client for use in uses] for uses in (topic.writers, topic.readers))
        amounts = [_volume(count, topic.records_written), _volume(bytes_of, topic.bytes_written), _volume(count, topic.records_read)]
        return [codes(writers) or "none seen", code(topic.name), codes(readers) or "none seen", *amounts]

    headings = ["Written by", "Topic", "Read by", "Records written", "Bytes written", "Records read"]
    yield from _section("Producers and consumers", headings, map(row, report.topics), "No topic was written or read in these captures.")


def _groups(report: Report) -> Iterator[str]:
    def row(group: GroupLine) -> list[str]:
        last = group.shown[-1] if group.shown else None
        diff = "".join(part for part, _ in named_members(last.diff, group.members)) if last else ""
        why = f"{moment(last.time)}: {last.reason}; {diff}" if last else ""
        return [code(group.group_id), count(group.most), count(group.again), length_of_time(group.spent), count(group.expired), words(why)]

    headings = ["Group", "Members", "Rebalances", "Time in them", "Members expired", "The last (UTC)"]
    yield from _section("Consumer groups", headings, map(row, report.groups.groups), "No consumer groups captured.")


def _incidents(report: Report) -> Iterator[str]:
    yield from ("## Operational issues", "")
    for one in report.incidents:
        if one.rows:
            yield from _listing(one, 3)
    yield from (f"- {one.nothing}" for one in report.incidents if not one.rows)
    yield ""


def _encryption(report: Report) -> Iterator[str]:
    if report.encryption:
        yield from ("## Encryption", "")
        for one in report.encryption:
            yield from _listing(one, 3) if one.rows else (f"- {one.nothing}", "")


def _violations(report: Report) -> Iterator[str]:
    rows: dict[bool, list[list[str]]] = {False: [], True: []}
    for rule in report.rules:
        first = rule.frames[0]
        packet = "" if first.packet_number is None else f", packet {first.packet_number:,}"
        proof = f"{code(first.connection_id)}{packet}" if first.connection_id else words(first.capture)
        rows[rule.of_file].append([words(rule.severity), words(rule.rule), plural(rule.times, "time"), words(first.explanation), proof])
    headings = ["Severity", "Rule", "How often", "The first", "Where"]
    yield from _section("Protocol violations", headings, rows[False], "No protocol violations.")
    if rows[True]:
        yield from _section("Problems of input files", headings, rows[True], "")


def _telemetry(report: Report) -> Iterator[str]:
    yield from _listing(report.telemetry)


def _brokers(report: Report) -> Iterator[str]:
    rows = [
        [
            "unknown" if one.node_id is None else str(one.node_id),
            code(f"{one.host}:{one.port}") if one.host else "",
            codes(one.addresses, 3),
            words(one.runs),
            code(one.cluster_id) if one.cluster_id else "",
        ]
        for one in report.brokers
    ]
    nothing = "No broker addresses captured. Capture a new client connection to see them."
    yield from _section("Brokers", ["Node", "Advertised as", "Seen at", "Kafka version", "Cluster"], rows, nothing)
