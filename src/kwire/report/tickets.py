"""Task as the text of a ticket, in Markdown that is readable as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kwire.report.amounts import named, plural
from kwire.report.lineage import ClientTopics
from kwire.report.markdown_text import code, codes, words
from kwire.report.owner_tasks import NO_TEAM, OwnerTask
from kwire.report.verdicts import Finding

__all__ = ["cure_sentence", "deadline_sentence", "outcome", "ticket", "what_to_do"]


_REJECT: Final = {"breaks": "reject", "unknown": "may reject"}


def outcome(task: OwnerTask, names: Mapping[str, str]) -> str:
    """Return the outcome for a client, such as "breaks on Kafka 4.0"."""
    verb = {"breaks": "breaks on", "unknown": "may break on"}.get(task.verdict, "is deprecated by")
    said = f"{verb} {named(names.get(task.first_release, task.first_release))}"
    if task.step == "today":
        return f"{said}, and your brokers {_REJECT[task.verdict]} it today"
    return f"{said} and breaks on Kafka {task.refused_by}" if task.refused_by else said


def deadline_sentence(task: OwnerTask, names: Mapping[str, str]) -> str:
    if task.step == "today":
        return f"none, the brokers {_REJECT[task.verdict]} this client today"
    first, move = names.get(task.first_release, task.first_release), "move"
    if task.step == "rollback":
        first, move = names.get(task.since, task.since), "roll back"
    if task.verdict == "breaks":
        return f"before the brokers {move} to {named(first)}, which rejects this client"
    if task.verdict == "unknown":
        return f"before the brokers {move} to {named(first)}, which may reject this client: the capture does not show it"
    if not task.refused_by:
        return f"before a later release rejects this client; {named(first)} announces it"
    return f"before the brokers move to Kafka {task.refused_by}, which rejects this client; {named(first)} still accepts it"


def cure_sentence(cure: tuple[str, str, str]) -> str:
    remedy, version, kind = cure
    if not version or version.removesuffix(".0") in remedy:  # 1.16 is 1.16.0 in words
        return remedy
    more = f"Set to {version}." if kind == "config" else f"From version {version} on."
    return f"{remedy} {more}".strip()


def what_to_do(task: OwnerTask) -> list[str]:
    """Return the fixes as sentences; if there are none, how to find one."""
    if task.cures:
        return [cure_sentence(cure) for cure in task.cures]
    if task.verdict == "unknown":
        return ["Identify the library and its version; a capture of the beginning of its connections shows them."]
    return ["Identify the library and upgrade it."]


def ticket(task: OwnerTask, names: Mapping[str, str]) -> str:
    return "\n".join(_lines(task, names))


def _lines(task: OwnerTask, names: Mapping[str, str]) -> Iterator[str]:
    yield f"**Kafka client {code(task.name)} {words(outcome(task, names))}**"
    yield ""
    if task.team != NO_TEAM:
        yield f"- Team: {code(task.team)}" + (f", {code(task.contact)}" if task.contact else "")
    software = code(task.software) if task.library else "unknown library"
    yield f"- Library: {software}" + (f" ({task.identity})" if task.identity else "")
    if task.principals:
        yield f"- Principal: {codes(task.principals)}"
    if task.addresses:
        yield f"- Address: {codes(task.addresses)}"
    yield from _topics(task.topics)
    yield f"- Deadline: {words(deadline_sentence(task, names))}"
    yield ""
    yield "What to do:"
    yield ""
    yield from (f"- {words(sentence)}" for sentence in what_to_do(task))
    yield ""
    yield "Why, and the proof:"
    yield ""
    for finding in task.findings:
        if finding.verdict == task.verdict:
            yield f"- {_proof(finding)}"


def _topics(topics: ClientTopics) -> Iterator[str]:
    if topics.writes:
        yield f"- Writes: {codes(topics.writes)}"
    if topics.reads:
        yield f"- Reads: {codes(topics.reads)}" + (f" as group {codes(topics.groups)}" if topics.groups else "")


def _proof(finding: Finding) -> str:
    name = finding.api_name if finding.api_version is None else f"{finding.api_name} v{finding.api_version}"
    parts = [words(finding.reason or f"{name}.")]
    seen = plural(finding.requests, "request") if finding.requests else "Not seen in the capture"
    if finding.evidence_connection_id:
        request = "" if finding.evidence_request_index is None else f", request {finding.evidence_request_index:,}"
        parts.append(f"{seen}; the first on {code(finding.evidence_connection_id)}{request}.")
    else:
        parts.append(f"{seen}.")
    return " ".join(parts)
